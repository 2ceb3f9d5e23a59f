"""Check on what was begun and not finished: named, and settled by a repair when it cannot be read."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from desk import Desk, days_ago

from reverie import layout
from reverie.core.forgetting.erasure import Erasure
from reverie.core.formats import framing
from reverie.core.records import Run
from reverie.errors import DamagedFile, DrainFailed
from reverie.store.intents import DrainIntent, InstallIntent


@pytest.fixture
def lived(desk: Desk) -> Desk:
    """A workspace that dreamt once."""
    desk.clock.set(days_ago(3))
    desk.remember("User likes jasmine tea in the morning", category="preference")
    desk.memory.drain()
    desk.clock.set(days_ago(0))
    desk.memory.dream(now=True)
    return desk


def _places(desk: Desk) -> list[tuple[str, str]]:
    """Return place and severity of each finding."""
    return [(one.place, one.severity) for one in desk.memory.check()]


NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
BEGUN = {
    layout.DRAIN_INTENT: DrainIntent(
        id="d" * 16, at=NOON, segments=(), days={}, events=0, stored_from=0, stored_to=0
    ),
    layout.INSTALL_INTENT: InstallIntent(
        run=Run(run="dream:1", kind="dream", started=NOON, ended=NOON, dreamer="rules-1", result="nothing"),
        files=(),
        outcomes=(),
    ),
    layout.ERASE_INTENT: Erasure(id="e" * 16, stubs={}, texts=(), own=(), turns=()),
}


@pytest.mark.parametrize("path", BEGUN)
def test_an_interrupted_write_is_found(lived: Desk, path: str) -> None:
    """An intent that a crash left is found, with the way to finish it."""
    (lived.root / path).write_bytes(framing.frame(BEGUN[path]))
    (lived.root / path).chmod(0o600)
    assert _places(lived) == [(path, "warning")]


@pytest.mark.parametrize("path", BEGUN)
@pytest.mark.parametrize("data", [b"{}\n", b"", bytes(80), b'{"v":1,"type":"dra'])
def test_an_intent_that_cannot_be_read_is_an_error(lived: Desk, path: str, data: bytes) -> None:
    """What was begun and cannot be told is an error, for nothing is written until it is settled."""
    (lived.root / path).write_bytes(data)
    (lived.root / path).chmod(0o600)
    assert _places(lived) == [(path, "error")]


@pytest.mark.parametrize("path", [layout.DRAIN_INTENT, layout.INSTALL_INTENT])
def test_a_repair_settles_an_intent_that_cannot_be_read(lived: Desk, path: str) -> None:
    """A repair keeps the damaged bytes aside and lets writing go on, with every queued record stored once."""
    lived.remember("Rex is a dog")
    (lived.root / path).write_bytes(b"junk\n")
    (lived.root / path).chmod(0o600)
    with pytest.raises((DamagedFile, DrainFailed)):
        lived.memory.drain() if path == layout.DRAIN_INTENT else lived.memory.dream(now=True)
    assert lived.memory.check(repair=True) == ()
    assert not (lived.root / path).exists()
    assert b"junk" in b"".join(file.read_bytes() for file in (lived.root / layout.QUARANTINE).iterdir())
    lived.memory.drain()
    assert [one.entry.text for one in lived.memory.list()].count("Rex is a dog") == 1
    assert lived.memory.check() == ()
