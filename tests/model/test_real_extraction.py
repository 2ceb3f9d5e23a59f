"""Extraction by a real, small model that invents freely: whatever it replies, only what was said is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest
from ledger import NOON, opened, reading

from reverie.capture import capture
from reverie.core.records import Extraction, Turn
from reverie.core.settings.model import ExtractionSettings
from reverie.extract import extract
from reverie.model.access import Access
from reverie.model.asking import Model, Reply, Request
from reverie.model.providers import open_model
from reverie.store import history, journal

if TYPE_CHECKING:
    from pathlib import Path

    from reverie.model.local import LocalServer

SAID = ("Hi! I'm Priya and I work at Kestrel Analytics as a nurse.", "I moved to Lisbon on 3 May 2026.")
MOST = 160  # tokens of a reply: a small model does not know when to stop


class Short:
    """A model whose replies are kept short."""

    def __init__(self, inner: Model) -> None:
        """Ask `inner`."""
        self.inner, self.name = inner, inner.name

    def complete(self, request: Request) -> Reply:
        """Ask for a short reply."""
        return self.inner.complete(msgspec.structs.replace(request, max_tokens=MOST))


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_small_model_reads_everything_and_makes_nothing_up(
    llama_server: LocalServer, tmp_path: Path
) -> None:
    """Each turn is read or kept raw, exactly once; each entry quotes its turn and names nobody the turns do not."""
    model = open_model("smollm2", Access(base_url=llama_server.base_url, timeout=300.0))
    assert model is not None
    ws = opened(tmp_path, extraction=ExtractionSettings(tries=1))
    for text in SAID:
        capture(ws, "s1", Turn(role="user", content=text, at=NOON))
    for _ in range(8):
        done = extract(ws, reading(ws), model=Short(model))
        if not done.spans and not done.problems:
            break
    records = [one for one in journal.waiting(ws).records if isinstance(one, Extraction)]
    spans = sorted((one.start, one.stop) for one in records)
    assert [n for start, stop in spans for n in range(start, stop)] == list(range(len(SAID)))
    raw = {int(one.turns) for one in history.read(ws)}
    assert raw == {one.start for one in records if one.extractor == "raw/1"}
    for entry in (entry for one in records for entry in one.entries):
        assert entry.evidence in SAID[int(entry.turns)]
        assert not any(name in entry.text for name in ("Petrova", "Quillworks", "Porto", "Ornella", "2019"))
