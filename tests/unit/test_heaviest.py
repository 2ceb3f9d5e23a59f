"""MEMORY.md from the entries that weigh most is MEMORY.md from all of them."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from desk import NOON, Desk
from memory_states import KINDS

from reverie import layout
from reverie.core.categories import CATEGORIES
from reverie.core.fold import fold
from reverie.core.glance.memory_file import compile_memory, wanted
from reverie.core.glance.memory_pages import Sources
from reverie.core.glance.standing import PROTECTED_FROM, Shortlist, may_stand, standing
from reverie.core.records import Entry, Event, Remember
from reverie.core.settings.value import FactSettings, PublishSettings, Settings
from reverie.core.significance import faded
from reverie.index.heaviest import shortlist
from reverie.store import journal, stream

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MANY = 6_000
HAPPENINGS = (
    "pin",
    "hide",
    "feedback",
    "repeat",
    "supersede",
    "correct",
    "complete",
    "cancel",
    "use",
    "judge",
    "confirm",
)


def lived(desk: Desk) -> None:
    """Fill the desk with entries of every kind, weight and age, and with what happens to entries."""
    lots, ws = random.Random(7), desk.memory.opened.ws
    names = [*KINDS, *CATEGORIES]
    ids = [f"{lots.getrandbits(64):016x}" for _ in range(MANY)]
    for number, one in enumerate(ids):
        at = NOON - timedelta(hours=lots.randrange(24 * 40), seconds=lots.randrange(3600))
        entry = Entry(
            id=one,
            text=f"Thing number {number} " + "long " * lots.choice([0, 0, 0, 3, 400]),
            at=at,
            day=ws.calendar.day(at),
            category=lots.choice(names),
            sig=lots.choice([None, 0.1, 0.3, 0.3, 0.5, 0.7, 0.9, round(lots.random(), 2)]),
            until=lots.choice([*[""] * 9, "2026-06-30", "2026-08", "soon"]),
            due=lots.choice([*[""] * 30, "2026-06-30", "2026-07-20"]),
            origin=lots.choice(["user", "agent", "web"]),
            status=lots.choice([*["active"] * 9, "discussed"]),
        )
        journal.append(ws, Remember(id=f"{number:016x}", at=NOON, entry=entry))
    events = []
    for number in range(900):
        kind, entry, other = lots.choice(HAPPENINGS), lots.choice(ids), lots.choice(ids)
        linked = other if kind in {"repeat", "supersede", "correct"} and other != entry else ""
        value = lots.choice(["0.95", "0.2", "more", "wrong"]) if kind == "feedback" else "0.4"
        at = NOON - timedelta(minutes=number)
        events.append(
            Event(
                id=f"{number + 1:016x}", at=at, kind=kind, entry=entry, other=linked, value=value, by="user"
            )
        )
    stream.append_all(ws, layout.EVENTS, events)


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """A desk with a long life behind it, drained but for the last few hundred entries."""
    folder: Path = tmp_path_factory.mktemp("full")
    with Desk(folder) as desk:
        lived(desk)
        desk.memory.drain()
        for number in range(300):
            desk.remember(f"Waiting number {number}", sig=0.2 + number / 500)
        yield desk


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["lean", "balanced", "rich", "max-context", "claude-code"])
@pytest.mark.parametrize("days", [0, 40, 400])
def test_the_heaviest_make_the_same_file(full: Desk, preset: str, days: int) -> None:
    """At each preset and on any day the file, and the report of what was left out, are those of the whole store."""
    state, calendar = full.memory.opened.state_now(), full.memory.opened.ws.calendar
    settings = Settings(publish=PublishSettings(budget_preset=preset, commitments=days == 40))
    day = calendar.day(NOON + timedelta(days=days))
    everything = state.states()
    page = "".join(f"- Said of it `mem_id: {one.entry.id}`\n" for one in everything[:: MANY // 9])
    sources = Sources(overview=f"## Things\n\n{page}", today="", week="")
    cited, most = wanted(sources, settings)
    assert most < len(everything)
    few = shortlist(state, cited, most=most, now=calendar.start(day), facts=settings.facts, calendar=calendar)
    if days == 0:
        assert few.beyond  # else this would compare a thing with itself
    told: dict[str, Any] = {"day": day, "calendar": calendar, "settings": settings}
    ours = compile_memory(few, sources, **told)
    theirs = compile_memory(Shortlist(states=everything), sources, **told)
    assert ours.inner == theirs.inner
    assert ours.problem == theirs.problem
    assert len(ours.left_out) == len(theirs.left_out)
    assert set(ours.left_out) == set(theirs.left_out)
    assert set(ours.protected_out) == set(theirs.protected_out)


def test_only_what_may_fit_is_read(full: Desk) -> None:
    """Asked for ten, ten of the heaviest are decoded, besides promises and what waits for the drain."""
    state, calendar = full.memory.opened.state_now(), full.memory.opened.ws.calendar
    few = shortlist(state, (), most=10, now=NOON, facts=FactSettings(), calendar=calendar)
    besides = {one.entry.id for one in (*state.promises(), *state.queued())}
    assert len([one for one in few.states if one.entry.id not in besides]) <= 10
    assert len(few.beyond) > 500


def test_what_is_kept_beside_an_entry_is_what_its_state_says(full: Desk) -> None:
    """Each row's columns equal what the rules say of the folded state, for entries with and without events."""
    state = full.memory.opened.state_now()
    rows = state.db.execute(
        "SELECT id, shown, standing, confirmed, observed, uses FROM entry WHERE NOT masked"
    ).fetchall()
    known = state.find(row[0] for row in rows)
    for one, *kept in rows:
        folded = fold(known[one].entry, state.events(one))
        assert folded == known[one]
        expected = (
            may_stand(folded),
            standing(folded),
            folded.confirmed.timestamp(),
            folded.observations,
            folded.uses,
        )
        assert tuple(kept) == expected


def test_the_protected_are_never_taken_for_faded(full: Desk) -> None:
    """A thousand days on, only protected entries, promises and what does not decay are ranked at all."""
    state, calendar = full.memory.opened.state_now(), full.memory.opened.ws.calendar
    now = NOON + timedelta(days=1000)
    few = shortlist(state, (), most=0, now=now, facts=FactSettings(), calendar=calendar)
    assert not any(faded(one, now, facts=FactSettings()) for one in state.find(few.beyond).values())
    assert all(standing(one) >= PROTECTED_FROM for one in state.find(few.protected_beyond).values())
