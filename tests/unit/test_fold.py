"""Tests of the fold: what all events on an entry amount to, whatever order and groups they come in."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.fold import KINDS, PROTECTED, REPEAT_CAP, effective, fold, undone
from reverie.core.records import Entry, Event

AT = datetime(2026, 7, 1, 12, tzinfo=UTC)
ONE, TWO = "1" * 16, "2" * 16
ENTRY = Entry(
    id=ONE, text="Water the plants", at=AT, day="2026-07-01", category="commitment", due="2026-07-03"
)


def event(number: int, kind: str, *, minutes: int | None = None, **fields: object) -> Event:
    """Return an event on the entry, a minute after the one numbered before it."""
    at = AT + timedelta(minutes=number if minutes is None else minutes)
    return Event(**{"id": f"{number:016x}", "at": at, "kind": kind, "entry": ONE, **fields})


def events() -> st.SearchStrategy[list[Event]]:
    """Any events on the entry, some at the same instant, some undoing others."""

    def made(drawn: list[tuple[str, int, str, int, bool]]) -> list[Event]:
        found = []
        for number, (kind, minutes, value, of, other) in enumerate(drawn):
            names = {"entry": TWO, "other": ONE} if other else {"entry": ONE, "other": TWO}
            when = "2026-08-01" if kind == "reschedule" else ""
            undoes = f"{of:016x}" if kind == "undo" else ""
            found.append(event(number, kind, minutes=minutes, value=value, of=undoes, when=when, **names))
        return found

    values = st.sampled_from(["helpful", "wrong", "outdated", "more", "less", "0.3", "0.95"])
    kinds = st.sampled_from(sorted(KINDS))
    drawn = st.tuples(kinds, st.integers(0, 5), values, st.integers(0, 20), st.booleans())
    return st.lists(drawn, max_size=20).map(made)


@given(found=events(), seed=st.randoms(use_true_random=False), every=st.sampled_from(["", "week"]))
def test_any_order_and_grouping_folds_to_the_same_state(found: list[Event], seed: object, every: str) -> None:
    """However events are shuffled, repeated and grouped by drains, the state is one."""
    entry = Entry(
        id=ONE, text="Water", at=AT, day="2026-07-01", category="commitment", due="2026-07-03", every=every
    )
    whole = fold(entry, found)
    shuffled = [*found, *found[: len(found) // 2]]
    seed.shuffle(shuffled)  # type: ignore[attr-defined]
    assert fold(entry, shuffled) == whole
    assert 0.0 <= whole.sig <= 1.0


@given(found=events())
def test_every_event_can_be_undone(found: list[Event]) -> None:
    """Undoing any event gives the state without it, and undoing that gives the state with it."""
    for one in (one for one in found if one.kind != "undo"):
        rest = [other for other in found if one.id not in (other.id, other.of) and other.kind != "undo"]
        plain = [*rest, one]
        back = event(100, "undo", of=one.id)
        assert fold(ENTRY, [*plain, back]) == fold(ENTRY, rest)
        assert fold(ENTRY, [*plain, back, event(101, "undo", of=back.id)]) == fold(ENTRY, plain)


def test_an_undo_counts_whatever_its_time_and_id() -> None:
    """At one instant, with ids in any order, an undone undo leaves the event standing."""
    pin = event(9, "pin", minutes=0)
    back = event(1, "undo", minutes=0, of=pin.id)
    again = event(5, "undo", minutes=0, of=back.id)
    assert not fold(ENTRY, [pin, back]).pinned
    assert fold(ENTRY, [pin, back, again]).pinned
    assert undone([pin, back, again]) == {back.id}


def test_undos_in_a_circle_undo_nothing() -> None:
    """Two undos of each other, which no program writes, leave the rest as it is."""
    circle = [event(1, "undo", of=f"{2:016x}"), event(2, "undo", of=f"{1:016x}")]
    assert [one.kind for one in effective([*circle, event(3, "pin")])] == ["pin"]


@pytest.mark.parametrize("kind", ["commitment", "supersede", "correct"])
def test_undoing_what_stored_an_entry_hides_it(kind: str) -> None:
    """When the event that stored an entry is undone the entry is hidden, and can be brought back."""
    stored = event(1, kind, body=ENTRY, other=TWO if kind != "commitment" else "")
    back = event(2, "undo", of=stored.id)
    assert fold(ENTRY, [stored]).current
    assert fold(ENTRY, [stored, back]).hidden
    assert fold(ENTRY, [stored, back, event(3, "unhide")]).current


def test_an_undone_pin_keeps_its_text() -> None:
    """A text that was stored as a pin stays, unpinned, when the pin is undone."""
    stored = event(1, "pin", body=ENTRY)
    state = fold(ENTRY, [stored, event(2, "undo", of=stored.id)])
    assert not state.pinned
    assert state.current


def test_a_judge_stands_beside_the_writer() -> None:
    """An outside judge's significance is kept with its reason and moves nothing the writer gave."""
    own = Entry(id=ONE, text="x", at=AT, day="2026-07-01", sig=0.8)
    state = fold(own, [event(1, "judge", value="0.3", by="other", why="said in passing")])
    assert (state.sig, state.judged, state.judged_by, state.judged_why) == (
        0.8,
        0.3,
        "other",
        "said in passing",
    )


def test_a_judge_counts_where_the_writer_gave_none_and_never_protects() -> None:
    """Without a writer's word the judge's is where the significance begins, below the protected level."""
    plain = Entry(id=ONE, text="x", at=AT, day="2026-07-01")
    assert fold(plain, [event(1, "judge", value="0.3")]).sig == 0.3
    assert fold(plain, [event(1, "judge", value="1")]).sig == REPEAT_CAP < PROTECTED
    assert fold(plain, [event(1, "feedback", value="0.95"), event(2, "judge", value="0.1")]).sig == 0.95


def test_uses_move_no_significance() -> None:
    """A thousand uses are counted and weigh nothing (R-31)."""
    state = fold(ENTRY, [event(number, "use") for number in range(1_000)])
    assert state.uses == 1_000
    assert state.sig == fold(ENTRY, ()).sig


def test_what_was_replaced_says_until_when_it_held() -> None:
    """A superseded entry held until the new one is true from, else until that was said (P-10)."""
    new = Entry(id=TWO, text="new", at=AT + timedelta(days=1), day="2026-07-02", since="2026-06-15")
    link = {"entry": TWO, "other": ONE}
    assert fold(ENTRY, [event(1, "supersede", body=new, **link)]).replaced == "2026-06-15"
    assert (
        fold(ENTRY, [event(1, "supersede", when="2026-07-02T08:00:00Z", **link)]).replaced
        == "2026-07-02T08:00:00Z"
    )
    assert fold(ENTRY, [event(1, "correct", **link)]).replaced == ""


def test_a_kept_promise_comes_again() -> None:
    """Kept, a recurring promise is due at the event's date, or without one at the next of its series."""
    weekly = Entry(
        id=ONE, text="Water", at=AT, day="2026-07-01", category="commitment", due="2026-07-03", every="week"
    )
    state = fold(weekly, [event(1, "complete", when="2026-07-10")])
    assert (state.due, state.kept, state.open_commitment) == ("2026-07-10", "2026-07-03", True)
    assert fold(weekly, [event(1, "complete")]).due == "2026-07-10"
    assert not fold(weekly, [event(1, "complete"), event(2, "cancel")]).open_commitment


@pytest.mark.parametrize(
    ("due", "every"), [("soon", "week"), ("2026-07", "week"), ("2026-07-03", "sometimes"), ("", "week")]
)
def test_a_series_of_nonsense_is_kept_once(due: str, every: str) -> None:
    """A hand-written line whose series means nothing is done when it is done."""
    odd = Entry(id=ONE, text="x", at=AT, day="2026-07-01", category="commitment", due=due, every=every)
    assert fold(odd, [event(1, "complete")]).done
