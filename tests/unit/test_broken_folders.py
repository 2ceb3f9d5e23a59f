"""What is said about entries holds though the journal's folders are gone or are none, and nothing is lost by it."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from reverie import layout
from reverie.errors import DrainFailed, NotFound, UnsafePath

if TYPE_CHECKING:
    from desk import Desk

JOURNAL = [".journal", layout.SEGMENTS, layout.DRAINING, layout.JOURNAL_ARCHIVE]


def memory_md(desk: Desk) -> str:
    """Return MEMORY.md as it stands."""
    return desk.text(layout.MEMORY)


@pytest.mark.parametrize("how", ["a file", "missing"])
@pytest.mark.parametrize("broken", JOURNAL)
def test_what_is_said_about_entries_needs_no_journal(desk: Desk, broken: str, how: str) -> None:
    """Forget, hide, correct, judge and publish work without the journal; put back, all that waited is there."""
    tea, rum = desk.remember("User likes amber tea", sig=0.8), desk.remember("User owns a yacht", sig=0.8)
    job, gone = desk.remember("User works at Google", sig=0.8), desk.remember("User had a cat", sig=0.8)
    desk.memory.drain()
    desk.memory.forget([gone])
    waits = desk.remember("The office closes at six")
    (desk.root / broken).rename(desk.home / "aside")
    if how == "a file":
        (desk.root / broken).write_text("no folder")
    memory = desk.again()
    memory.forget([tea])
    memory.hide([rum])
    memory.correct(job, "User works at Acme", why="change")
    memory.judge(job, 0.3, why="it was long ago")
    memory.forget([gone], restore=True)
    memory.publish()
    for text in ("amber tea", "yacht", "Google"):
        assert text not in memory_md(desk)
    assert "User works at Acme" in memory_md(desk)
    assert "User had a cat" in memory_md(desk)
    if how == "a file":
        (desk.root / broken).unlink()
    shutil.rmtree(desk.root / broken, ignore_errors=True)
    (desk.home / "aside").rename(desk.root / broken)
    again = desk.again()
    assert again.drain().refused == 0
    assert again.check() == ()
    shown = {state.entry.text for state in again.list()}
    assert shown == {"User works at Acme", "User had a cat", "The office closes at six"}
    assert again.get(waits).current
    with pytest.raises(NotFound, match="is forgotten"):
        again.get(tea)


@pytest.mark.parametrize("broken", [".journal", layout.SEGMENTS])
def test_what_would_be_queued_is_refused_with_its_remedy(desk: Desk, broken: str) -> None:
    """Feedback and an ordinary write into a queue that is no folder are an error which says what to do."""
    tea = desk.remember("User likes amber tea")
    desk.memory.drain()
    shutil.rmtree(desk.root / broken)
    (desk.root / broken).write_text("no folder")
    memory = desk.again()
    for write in (lambda: memory.feedback(tea, "more"), lambda: desk.remember("Something new", memory)):
        with pytest.raises((DrainFailed, UnsafePath), match="is not a folder; move it away") as told:
            write()
        assert told.value.exit_code in {2, 71}
    assert (desk.root / broken).read_text() == "no folder"


@pytest.mark.parametrize("broken", [layout.NOTEBOOK, layout.COUNTERS])
def test_a_word_holds_though_memory_md_cannot_follow(desk: Desk, broken: str) -> None:
    """A forget and a correction are done when MEMORY.md cannot be compiled; it is told, and follows once it can."""
    tea, job = desk.remember("User likes amber tea", sig=0.8), desk.remember("User works at Google", sig=0.8)
    desk.memory.drain()
    desk.memory.publish()
    (desk.root / broken).rename(desk.home / "aside")
    (desk.root / broken).write_text("no folder")
    memory = desk.again()
    done = memory.forget([tea])
    assert done.ids == (tea,)
    assert any(f"MEMORY.md: {broken} is not a folder; move it away" in told for told in done.problems)
    new = memory.correct(job, "User works at Acme", why="mistake").id
    assert [state.entry.id for state in memory.list()] == [new]
    (desk.root / broken).unlink()
    (desk.home / "aside").rename(desk.root / broken)
    again = desk.again()
    again.publish()
    assert "amber tea" not in memory_md(desk)
    assert "User works at Acme" in memory_md(desk)
