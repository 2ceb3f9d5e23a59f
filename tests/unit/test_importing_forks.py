"""Sessions of Claude Code and Codex that go on from another: each turn once, in whatever order the files come."""

from __future__ import annotations

import itertools
import json
import uuid
from typing import TYPE_CHECKING, Any

import pytest
from foreign import event, item, lines, rollout, said, stored

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


# Codex

A_MINUTE = 60_000  # milliseconds
TALKS = {
    "first": [(1, "user", "I moved to Lisbon."), (1, "assistant", "Noted."), (2, "user", "Go on.")],
    "second": [(4, "user", "Go on."), (4, "assistant", "Noted."), (5, "user", "My cat is Tom.")],
    "third": [(7, "user", "Go on."), (7, "assistant", "My cat is Tom.")],
}
MADE = {"first": 0, "second": 3, "third": 6}  # minutes


def dated(minute: float) -> str:
    """Return an id that tells the minute it was made in, as Codex draws them for sessions and turns."""
    made = f"{1_780_000_000_000 + int(minute * A_MINUTE):012x}"
    return f"{made[:8]}-{made[8:]}-7bd1-b629-d067f98a68f7"


def turns_of(name: str) -> list[dict[str, Any]]:
    """Return what one session of the three said itself, in both logs, each turn announced."""
    found = []
    for minute, role, words in TALKS[name]:
        kind = "user_message" if role == "user" else "agent_message"
        found += [
            rollout("event_msg", minute, type="task_started", turn_id=dated(minute)),
            rollout("turn_context", minute, turn_id=dated(minute), model="m"),
            rollout("event_msg", minute, type=kind, message=words),
            item(minute, role, words),
        ]
    return found


def rollouts(home: Path, names: tuple[str, ...], *, copied: int = 99) -> Path:
    """Return a folder of three rollouts, each but the first beginning with `copied` lines of the one before."""
    made = home / "rollouts"
    made.mkdir()
    before: list[dict[str, Any]] = []
    for file, name in zip(names, TALKS, strict=True):
        meta = rollout("session_meta", MADE[name], id=dated(MADE[name]))
        copy = [{**one, "timestamp": f"2026-05-28T20:{MADE[name] + 40}:00Z"} for one in before]
        before = [meta, *copy[:copied], *turns_of(name)]
        (made / f"{file}.jsonl").write_text(lines(*before))
    return made


@pytest.mark.parametrize("order", list(itertools.permutations("abc")))
def test_a_forked_rollout_adds_what_was_said_in_it(desk: Desk, order: tuple[str, ...]) -> None:
    """What three rollouts repeat of one another is told of the session that said it; the same words said again stay."""
    made = rollouts(desk.home, order)
    tried = take_in(desk, made, dry_run=True)
    done = take_in(desk, made)
    assert (done.turns, tried.turns, done.unread) == (8, 8, 0)
    for name, talk in TALKS.items():
        session = dated(MADE[name])
        assert said(desk, session) == [(role, words) for _, role, words in talk]
    again = take_in(desk, made)
    assert (again.turns, again.repeated) == (0, 17)


def test_the_words_of_a_rollout_that_is_gone_come_from_its_fork(desk: Desk) -> None:
    """A fork alone gives what it repeats too, at the times its turns began, and no more when its source comes later."""
    made = rollouts(desk.home, ("a", "b", "c"))
    assert take_in(desk, made / "b.jsonl").turns == 6
    times = [turn.at for turn in stored(desk, dated(0))]
    assert [(at - times[0]).total_seconds() for at in times] == [0, 0, 60]
    assert take_in(desk, made / "a.jsonl").turns == 0


def test_a_rollout_that_only_names_its_source_is_one_talk(desk: Desk) -> None:
    """A fork that repeats nothing, as Codex makes them now, gives its own turns to its own session."""
    made = rollouts(desk.home, ("a", "b", "c"), copied=0)
    assert take_in(desk, made).turns == 8
    assert said(desk, dated(3)) == [(role, words) for _, role, words in TALKS["second"]]


@pytest.mark.parametrize("turn", ["1", "", None, 7, ["x"], "ffffffff-ffff-7fff-bfff-ffffffffffff"])
def test_turns_whose_ids_tell_no_time_stay_where_they_stand(desk: Desk, turn: object) -> None:
    """A rollout whose turns have other ids is one talk of its own session, whatever sessions it names."""
    events = [
        rollout("session_meta", 0, id=dated(3)),
        rollout("session_meta", 0, id=dated(0)),
        rollout("turn_context", 1, turn_id=turn),
        item(1, "user", "I moved to Lisbon."),
    ]
    path = desk.home / "rollout.jsonl"
    path.write_text(lines(*events))
    assert take_in(desk, path).turns == 1
    assert said(desk, dated(3)) == [("user", "I moved to Lisbon.")]
