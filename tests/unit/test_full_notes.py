"""Notes that are full: what is added goes into a further one, once, and nobody's words end up where none are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie import review
from reverie.review import Item
from reverie.store import notes

if TYPE_CHECKING:
    from desk import Desk

EDIT = "Dana really prefers evenings"
FULL = "x" * (notes.LARGEST - 5)


def test_an_accepted_edit_goes_where_it_is_read(desk: Desk) -> None:
    """Where the note of today is full, an accepted edit of MEMORY.md goes into a further one."""
    desk.write("notes/2026-07-01.md", FULL)
    item = Item(id="e" * 16, topic="memory-edit", place="MEMORY.md", text=EDIT, why="it stood in the block")
    review.decide(desk.memory.opened.ws, desk.memory.opened.state_now(), item, accept=True)
    assert desk.text("notes/2026-07-01.md") == FULL
    assert desk.text("notes/2026-07-01-2.md") == f"{EDIT}\n\n"


def test_what_is_added_once_stands_once(desk: Desk) -> None:
    """Added once more after a crash, a text is found where it stands, behind a full note too."""
    ws = desk.memory.opened.ws
    desk.write("notes/2026-07-01.md", FULL)
    paths = [notes.add(ws, "2026-07-01", EDIT, once=once) for once in (True, True, False)]
    assert paths == ["notes/2026-07-01-2.md"] * 3
    assert desk.text("notes/2026-07-01-2.md") == f"{EDIT}\n\n" * 2
