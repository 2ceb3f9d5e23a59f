"""Counting tokens: by a real vocabulary where one is found, by the estimate everywhere else, never over the network."""

from __future__ import annotations

import base64
import hashlib
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import reverie
from reverie.context import ContextRequest
from reverie.core.records import Draft
from reverie.core.text.tokens import estimate
from reverie.model import counting
from reverie.opening import Opening

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = (
    "Dana prefers calls before noon.",
    "用户喜欢喝茶，不加糖。",
    "x = parse_invoice_v2(7)\n\n\n",
    "",
    "\ud800 a",
)


def test_without_a_vocabulary_the_estimate_counts(tmp_path: Path) -> None:
    """Where no file is found nothing is fetched, and the estimate counts."""
    assert counting.counter(str(tmp_path)) is estimate


def test_without_the_library_the_estimate_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A vocabulary without tiktoken to read it is no reason to fail."""
    monkeypatch.setattr(counting, "find_spec", lambda _: None)
    assert counting.counter(str(tmp_path)) is estimate


def test_a_file_that_is_not_the_known_vocabulary_is_not_used(tmp_path: Path) -> None:
    """A file under the right name with other bytes counts nothing."""
    for vocabulary in counting.VOCABULARIES:
        (tmp_path / vocabulary.file).write_bytes(b"YQ== 0\n")
    assert counting.counter(str(tmp_path)) is estimate


def test_a_vocabulary_counts_as_its_tokeniser_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a vocabulary each text counts the tokens that byte pairs give: here single bytes, and "th" and "the"."""
    pytest.importorskip("tiktoken")
    tokens = [bytes([n]) for n in range(256)] + [b"th", b"the"]
    data = b"".join(base64.b64encode(token) + b" %d\n" % rank for rank, token in enumerate(tokens))
    digest = hashlib.sha256(data).hexdigest()
    known = counting.VOCABULARIES[0]._replace(digest=digest)
    monkeypatch.setattr(counting, "VOCABULARIES", (known,))
    (tmp_path / known.file).write_bytes(data)
    count = counting.counter(str(tmp_path))
    assert [count(text) for text in ("the", "then", "茶", "")] == [1, 2, 3, 0]
    for text in TEXTS:
        assert count(text) >= 0


def test_tiktoken_is_not_imported_before_it_counts(tmp_path: Path) -> None:
    """P-20: looking for a vocabulary does not load the library."""
    code = (
        "import sys; from reverie.model.counting import counter; counter(sys.argv[1]);"
        " print('tiktoken' in sys.modules)"
    )
    done = subprocess.run(
        (sys.executable, "-c", code, str(tmp_path)), capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


def test_a_context_is_counted_by_the_vocabulary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`context` keeps its budget by the real tokeniser that is found in the folder a variable names."""
    pytest.importorskip("tiktoken")
    data = b"".join(base64.b64encode(bytes([n])) + b" %d\n" % n for n in range(256))
    known = counting.VOCABULARIES[0]._replace(digest=hashlib.sha256(data).hexdigest())
    monkeypatch.setattr(counting, "VOCABULARIES", (known,))
    (tmp_path / known.file).write_bytes(data)
    places = {"path": tmp_path / "agent", "config_dir": tmp_path / "config"}
    with reverie.init(Opening(**places, environment={"TIKTOKEN_CACHE_DIR": str(tmp_path)})) as memory:
        for n in range(40):
            memory.remember(f"Fact {n} about tea", Draft(origin="user"))
        made = memory.context(ContextRequest(query="tea", budget=3_000))
    assert len(made.text.encode()) == made.tokens <= 3_000  # each byte is a token of this vocabulary
    assert made.ids
