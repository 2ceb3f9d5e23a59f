"""Days of many thousand entries: the digests are chosen from all of them and hold few of them."""

from __future__ import annotations

import weakref
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import msgspec
import pytest
from ledger import NOON, caught_up, keep, opened, state_of
from memory_states import CALENDAR, STORE

from reverie.core.days import day_after
from reverie.core.fold import fold
from reverie.core.glance.budget import Budget
from reverie.core.glance.digest_lines import Request, compile_digest, periods
from reverie.core.records import Entry
from reverie.core.settings.value import FactSettings, SummarySettings
from reverie.drain import drain
from reverie.index import by_day
from reverie.remember import happen

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from reverie.core.fold import EntryState
    from reverie.core.glance.digest_lines import Period

TODAY = "2026-07-02"
AT = datetime(2026, 7, 2, 9, tzinfo=UTC)


class Watched(str):
    """Words of which one can tell whether anybody still holds the entry they are of."""

    __slots__ = ("__weakref__",)


def many(number: int, watched: list[weakref.ref[Watched]]) -> Iterator[EntryState]:
    """Yield so many states of today, each weighing more than the one before, and watch them."""
    for place in range(number):
        text = Watched(f"Fact {place}")
        watched.append(weakref.ref(text))
        entry = Entry(id=f"{place:016x}", day=TODAY, at=AT, text=text, sig=0.5 + place / number / 4)
        del text
        state = fold(entry, ())
        del entry
        yield state
        del state


def compiled(period: Period, states: Iterable[EntryState], requests: Iterable[Request] = ()) -> str:
    """Return the digest of a period."""
    now = CALENDAR.start(TODAY)
    return compile_digest(period, states, requests=requests, now=now, facts=FactSettings(), calendar=CALENDAR)


def test_of_many_entries_those_are_held_that_can_be_shown() -> None:
    """However many entries a day has, no more of them are held than the tokens of its digest could show."""
    watched: list[weakref.ref[Watched]] = []
    held: list[int] = []

    def counted() -> Iterator[EntryState]:
        for state in many(4_000, watched):
            if len(watched) % 500 == 0:
                held.append(sum(one() is not None for one in watched))
            yield state

    text = compiled(periods(TODAY, SummarySettings(max_today_tokens=100))[0], counted())
    assert "Fact 3999" in text
    assert len(held) == 8
    assert max(held) < 250


@pytest.mark.parametrize("tokens", [100, 300, 2_000])
def test_few_that_are_held_are_enough(monkeypatch: pytest.MonkeyPatch, tokens: int) -> None:
    """A digest is the one that a choice among everything gives, requests beside entries, long lines among short."""
    states = [
        msgspec.structs.replace(
            one,
            entry=msgspec.structs.replace(
                one.entry, day=TODAY, text=one.entry.text * (80 if place % 50 == 0 else 1)
            ),
        )
        for place, one in enumerate(STORE)
    ]
    requests = [
        Request(f"2026-07-02T09:{place % 60:02}:00Z", f"Ask {place}", "summaries/s.md")
        for place in range(300)
    ]
    settings = SummarySettings(max_today_tokens=tokens, max_week_tokens=tokens)
    for period in periods(TODAY, settings)[:2]:
        few = compiled(period, iter(states), iter(requests))
        with monkeypatch.context() as patch:
            patch.setattr(Budget, "most_lines", lambda *_: 1_000_000)
            assert compiled(period, states, requests) == few
        if period.name == "today":
            assert len(few) > tokens


@pytest.mark.parametrize("at_once", [1, 2, 3, 1_000])
def test_days_are_read_in_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    """What stands in the logs, in the events alone and in the queue comes once each, a page of it at a time."""
    monkeypatch.setattr(by_day, "AT_ONCE", at_once)
    ws = opened(tmp_path)
    state = state_of(ws)
    kept = [keep(ws, f"Fact {n}", at=NOON - timedelta(days=n % 3)).id for n in range(7)]
    drain(ws)
    kept += [keep(ws, "Send the quote", due="2026-07-10").id, keep(ws, "Waits for the drain").id]
    happen(ws, "hide", kept[0])
    caught_up(ws, state)
    pages: list[int] = []
    real = state._rows  # noqa: SLF001 - what is asked of the database is the fact

    def rows(query: str, values: Sequence[object] = ()) -> list[object]:
        found = real(query, values)
        pages.append(len(found) if "LIMIT" in query else 0)
        return found

    monkeypatch.setattr(state, "_rows", rows)
    found = [one.entry.id for one in state.each("", "9999-12-31")]
    assert sorted(found) == sorted(kept)
    assert max(pages) <= at_once
    today = ws.today
    assert {one.entry.day for one in state.each(today, today)} == {today}
    before = [one.entry.id for one in state.pending(before=today)]
    days = {one.entry.id: (one.entry.day, at) for at, one in enumerate(state.states())}
    assert before == sorted((one for one in kept[:7] if days[one][0] <= day_after(today, -1)), key=days.get)
    state.close()
