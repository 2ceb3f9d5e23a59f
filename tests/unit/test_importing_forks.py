"""Sessions of Claude Code that go on from another, imported: each turn once, in whatever order the files come."""

from __future__ import annotations

import itertools
import json
import uuid
from typing import TYPE_CHECKING, Any

import pytest
from foreign import event, lines, said

from reverie.importing import Wish

if TYPE_CHECKING:
    from pathlib import Path

    from desk import Desk

    from reverie.importers.taken import Imported

FIRST, SECOND, THIRD = ("I moved to Lisbon.", "I prefer tea."), ("My cat is Tom.",), ("My dog is Rex.",)


def spoken(start: int, *said: str) -> list[dict[str, Any]]:
    """Return lines that a user said, with ids as the host draws them."""
    return [{**event(start + n, "user", one), "uuid": str(uuid.uuid4())} for n, one in enumerate(said)]


def folder(home: Path, names: tuple[str, ...]) -> Path:
    """Return a folder of three sessions, each going on from the one before, called so that they come in this order."""
    made = home / "projects"
    made.mkdir()
    first = spoken(0, *FIRST)
    second = [*first, *spoken(3, *SECOND)]
    third = [*second, *spoken(5, *THIRD)]
    for name, session, events in zip(names, ("s1", "s2", "s3"), (first, second, third), strict=True):
        (made / f"{name}.jsonl").write_text(lines(*({**one, "sessionId": session} for one in events)))
    return made


def take_in(desk: Desk, made: Path, **wish: Any) -> Imported:
    """Import the folder."""
    return desk.memory.import_(made, wish=Wish(**wish))


@pytest.mark.parametrize("order", list(itertools.permutations("abc")))
def test_a_fork_adds_what_was_said_in_it(desk: Desk, order: tuple[str, ...]) -> None:
    """Of three sessions that repeat one another every turn is stored once, as a dry run says, and none again."""
    made = folder(desk.home, order)
    tried = take_in(desk, made, dry_run=True)
    done = take_in(desk, made)
    assert (done.turns, tried.turns) == (4, 4)
    assert tried.passed == done.passed
    stored = [words for name in ("s1", "s2", "s3") for _, words in said(desk, name)]
    assert sorted(stored) == sorted((*FIRST, *SECOND, *THIRD))
    again = take_in(desk, made)
    assert again.turns == 0
    assert again.repeated + sum(again.passed.values()) == 9


def test_files_that_come_one_by_one_are_known(desk: Desk) -> None:
    """A fork that is imported after, or before, the session it goes on from adds its own words alone."""
    made = folder(desk.home, ("a", "b", "c"))
    for name in ("b", "a", "c"):
        take_in(desk, made / f"{name}.jsonl")
    assert [said(desk, name) for name in ("s1", "s2", "s3")] == [
        [],
        [("user", one) for one in (*FIRST, *SECOND)],
        [("user", one) for one in THIRD],
    ]


def test_ids_that_are_counted_up_say_nothing(desk: Desk) -> None:
    """Two sessions of a host that counts its ids are two sessions, though the ids are the same."""
    for name in ("s1", "s2"):
        path = desk.home / f"{name}.jsonl"
        path.write_text(
            json.dumps({**event(0, "user", f"Said in {name}."), "uuid": "1", "sessionId": name}) + "\n"
        )
        assert take_in(desk, path).turns == 1
