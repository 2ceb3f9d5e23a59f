"""Links: the guard's verdict on two entries becomes one event, the same each time."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from desk import NOON

from reverie.core.fold import EntryState, fold
from reverie.core.guard.links import links_of
from reverie.core.records import Entry, Event


def _entry(number: int, text: str, *, minutes: int = 0, **fields: Any) -> Entry:
    told = {"category": "work", "origin": "user", **fields}
    return Entry(
        id=f"{number:016x}", text=text, at=NOON + timedelta(minutes=minutes), day="2026-07-01", **told
    )


def _state(entry: Entry, **changes: Any) -> EntryState:
    return EntryState(entry=entry, sig=0.5, confirmed=entry.at, **changes)


def _links(new: Entry, *others: EntryState) -> list[Event]:
    return links_of(new, others, at=NOON + timedelta(days=1), by="test")


OLD = _entry(1, "User works at Acme")
NEW = _entry(2, "User now works at Globex", minutes=5)


def test_a_change_supersedes() -> None:
    """A new employer replaces the old one, and the event says when it was said (R-01)."""
    (link,) = _links(NEW, _state(OLD))
    assert (link.kind, link.entry, link.other, link.by) == ("supersede", NEW.id, OLD.id, "test")
    assert link.when == "2026-07-01T12:05:00Z"
    assert fold(OLD, [link]).superseded_by == NEW.id
    assert fold(NEW, [link]).current


def test_the_same_pair_gives_the_same_link() -> None:
    """A link looked for again has the same id, whenever and by whom, so that it counts once."""
    (first,) = _links(NEW, _state(OLD))
    (again,) = links_of(NEW, [_state(OLD)], at=NOON + timedelta(days=9), by="other")
    assert first.id == again.id
    assert fold(OLD, [first, again]) == fold(OLD, [first])


def test_a_repeat_is_linked_once() -> None:
    """What was said three times is one memory with three observations, below the protected level (R-03)."""
    same = [_entry(n, "User prefers window seats", minutes=n) for n in (1, 2, 3)]
    first = _state(same[0])
    (second,) = _links(same[1], first)
    (third,) = _links(same[2], first, _state(same[1], merged_into=same[0].id))
    assert {second.kind, third.kind} <= {"repeat", "strengthen"}
    assert (second.other, third.other) == (same[0].id, same[0].id)
    assert fold(same[0], [second, third]).observations == 3
    two = _links(_entry(9, "User prefers window seats", minutes=9), first, _state(same[1]))
    assert len(two) == 1


def test_every_current_predecessor_is_superseded() -> None:
    """A change is linked to each current entry that it replaces."""
    other = _entry(3, "User works at Initech", minutes=1)
    assert {link.other for link in _links(NEW, _state(OLD), _state(other))} == {OLD.id, other.id}


@pytest.mark.parametrize(
    "old",
    [
        _state(OLD, superseded_by="f" * 16),
        _state(OLD, wrong=True),
        _state(OLD, ended=True),
        _state(OLD, hidden=True),
        _state(OLD, forgotten=True),
        _state(_entry(1, "User works at Acme", status="discussed")),
        _state(NEW),
    ],
)
def test_what_does_not_stand_is_not_linked(old: EntryState) -> None:
    """What is replaced, wrong, hidden, forgotten, merely discussed, or the entry itself gets no link."""
    assert _links(NEW, old) == []


def test_what_arrives_late_is_replaced_by_what_was_said_since() -> None:
    """An employer of before, heard of after the new one, is history from the start, and until when it held is told."""
    (link,) = _links(OLD, _state(NEW))
    assert (link.kind, link.entry, link.other, link.when) == (
        "supersede",
        NEW.id,
        OLD.id,
        "2026-07-01T12:05:00Z",
    )
    assert link == _links(NEW, _state(OLD))[0]
    assert fold(OLD, [link]).superseded_by == NEW.id
    assert fold(NEW, [link]).current
    again = _entry(3, "User works at Acme", minutes=-9)
    (repeat,) = _links(again, _state(OLD))
    assert (repeat.kind, repeat.entry, repeat.other) == ("repeat", again.id, OLD.id)
    assert fold(OLD, [repeat]).confirmed == OLD.at


def test_a_promise_is_not_kept_before_it_was_made() -> None:
    """What was said earlier tells of no keeping, and merely discussed words that arrive late are linked to nothing."""
    promise = _state(_entry(1, "User will send Dana the quote", category="commitment", due="2026-07-10"))
    assert _links(_entry(2, "User sent Dana the quote", minutes=-5), promise) == []
    assert _links(_entry(1, "User works at Acme", status="discussed"), _state(NEW)) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("User likes tea", "User likes coffee"),
        ("The rent is 900 euros", "The deposit is 1800 euros"),
        ("Dana lives in Lisbon", "Lev lives in Porto"),
        ("User likes tea", "The build takes nine minutes"),
    ],
)
def test_what_stands_side_by_side_is_not_folded(old: str, new: str) -> None:
    """Two statements that can both hold are neither merged nor replaced."""
    kinds = {link.kind for link in _links(_entry(2, new, minutes=1), _state(_entry(1, old)))}
    assert kinds <= {"conflict"}


def test_nothing_is_linked_with_nothing() -> None:
    """Without others there is no link."""
    assert _links(NEW) == []
