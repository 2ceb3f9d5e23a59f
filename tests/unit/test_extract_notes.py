"""Notes read by a model: paragraph by paragraph, without doubles, however often they are edited."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from answering import always, but_for, records, texts, unread, word_for_word
from ledger import clock, opened, reading

from reverie.core.sessions.extracting import Extracted
from reverie.errors import ModelFailed
from reverie.extract import extract
from reverie.model.asking import Request
from reverie.store import tries
from reverie.store.workspace import Workspace
from reverie.testing import ScriptedModel


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """Return an empty workspace."""
    return opened(tmp_path)


def note_file(ws: Workspace, text: str) -> None:
    """Write the note of the day."""
    (ws.root / "notes").mkdir(exist_ok=True)
    (ws.root / "notes/2026-07-01.md").write_text(text, encoding="utf-8")


def test_an_edited_note_gives_a_model_only_what_is_new(ws: Workspace) -> None:
    """Paragraphs that gave entries are not asked about again, whatever words a model would find now (M-11, P-09)."""
    note_file(ws, "Deployed version 2.\n\nDana prefers calls.")
    model = always()
    assert extract(ws, reading(ws), model=model).entries == 2
    assert extract(ws, reading(ws), model=model) == Extracted()
    note_file(ws, "Deployed version 2.\n\nDana prefers calls.\n\nThe server moved to Oslo.")
    assert extract(ws, reading(ws), model=model).entries == 1
    assert [line["text"] for line in unread(model.requests[-1])] == ["The server moved to Oslo."]
    assert {entry.origin for record in records(ws) for entry in record.entries} == {"agent"}
    assert {entry.session for record in records(ws) for entry in record.entries} == {""}


def test_a_long_note_is_read_in_pieces_that_are_kept(ws: Workspace) -> None:
    """What was read of a note before its model failed is not read again, and the note is done when all is."""
    note_file(ws, "\n\n".join(f"Shelf {n} holds {n + 3} boxes." for n in range(60)))
    failing = ScriptedModel([word_for_word, ModelFailed("down", kind="down")])
    assert extract(ws, reading(ws), model=failing).entries == 40
    clock(ws).advance(minutes=5)
    model = always()
    assert extract(ws, reading(ws), model=model).entries == 20
    assert len(unread(model.requests[0])) == 20
    clock(ws).advance(minutes=5)
    assert extract(ws, reading(ws), model=model) == Extracted()
    assert len(set(texts(ws))) == 60


def test_a_paragraph_that_cannot_be_read_does_not_hold_up_its_note(ws: Workspace) -> None:
    """It is tried, halved out, told in the status, and stays in its file; the others become entries (R-11)."""
    note_file(ws, "Shelf 1 holds 4 boxes.\n\na poison word\n\nShelf 2 holds 5 boxes.")
    for _ in range(12):
        clock(ws).advance(minutes=5)
        extract(ws, reading(ws), model=always(but_for("poison")))
    assert texts(ws) == ["Shelf 1 holds 4 boxes.", "Shelf 2 holds 5 boxes."]
    assert [one.what for one in tries.read(ws).given_up] == ["a paragraph of notes/2026-07-01.md"]


def test_two_readings_of_a_note_at_once_store_one(ws: Workspace) -> None:
    """The slower of two readings of a note finds it read and stores nothing (P-02)."""
    note_file(ws, "\n\n".join(f"Shelf {n} holds {n + 3} boxes." for n in range(50)))

    def slow(request: Request) -> str:
        fast = opened(ws.root, first=1 << 32)
        extract(fast, reading(fast), model=always())
        return word_for_word(request)

    extract(ws, reading(ws), model=ScriptedModel([slow]))
    assert Counter(texts(ws)) == Counter(f"Shelf {n} holds {n + 3} boxes." for n in range(50))
