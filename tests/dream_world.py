"""A workspace for tests of the dream: daily logs as the drain writes them, a clock that stands, a state that looks."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from reverie import layout
from reverie.core.formats import daylog
from reverie.core.records import Entry, Event, Outcome
from reverie.core.settings.value import DreamSettings, Settings
from reverie.dream import Dreamt, Reach, Wish, dream
from reverie.index.state import State
from reverie.store import pages, stream
from reverie.store.dreams.dream_views import Veil
from reverie.store.workspace import Identity, Workspace
from reverie.testing import FixedClock, counter_ids

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from reverie.store.filesystem.disk import Disk

NIGHT = datetime(2026, 7, 2, 3, tzinfo=UTC)


def entry(number: int, text: str, *, day: str = "2026-07-01", **fields: Any) -> Entry:
    """Return an entry of a session, said at noon of its day."""
    at = fields.pop("at", datetime.fromisoformat(f"{day}T12:00:00+00:00"))
    fields.setdefault("session", "s1")
    fields.setdefault("origin", "user")
    return Entry(id=f"{number:016x}", text=text, at=at, day=day, **fields)


TEA = entry(1, "User likes green tea", category="preference")
WORK = entry(2, "User works at Google", category="work")
DANA = [
    entry(n, f"Dana from Zephyr {what}", about="Dana") for n, what in ((3, "reads email"), (4, "calls early"))
]
DAY = [TEA, WORK, *DANA]
PREFERENCES = "3_Personal/Preferences.md"


def open_world(
    root: Path, *, disk: Disk | None = None, now: datetime = NIGHT, **dream_settings: Any
) -> Workspace:
    """Open a workspace in `root`, made when it is none."""
    ws = Workspace(
        root,
        Settings(dream=DreamSettings(**dream_settings)),
        clock=FixedClock(now),
        new_id=counter_ids(),
        disk=disk,
    )
    if ws.disk.size(layout.ORIGIN) is None:
        ws.found(Identity(id="1" * 16, agent="test", created=now))
        pages.bootstrap(ws)
    return ws


def log(ws: Workspace, entries: Iterable[Entry]) -> None:
    """Append entries to the daily logs of their days."""
    days: dict[str, list[Entry]] = {}
    for one in entries:
        days.setdefault(one.day, []).append(one)
    for day, those in sorted(days.items()):
        first = ws.disk.size(layout.log_file(day)) is None
        text = daylog.render(those, ws.calendar, first=first, day=day)
        ws.disk.append(layout.log_file(day), text.encode())


def happened(
    ws: Workspace, kind: str, one: Entry, other: Entry | None = None, *, at: datetime = NIGHT
) -> None:
    """Append an event."""
    event = Event(id=ws.new_id(), at=at, kind=kind, entry=one.id, other=other.id if other else "", by="test")
    stream.append(ws, layout.EVENTS, event)


def look_at(ws: Workspace) -> State:
    """Return the state, caught up."""
    state = State(ws.root, ws.disk, calendar=ws.calendar, notebook=ws.notebook)
    state.catch_up(lambda _: False)
    return state


def run(
    ws: Workspace,
    *,
    now: bool = True,
    dry: bool = False,
    most: int = 0,
    day: str = "",
    masked: Callable[[str], bool] = lambda _: False,
    linking: bool = False,
    **reach: Any,
) -> Dreamt:
    """Dream once, with a state of its own; `most`: one batch of so many; `linking`: any entries may be alike."""
    states: list[State] = []

    def look() -> State:
        states.append(look_at(ws))
        return states[-1]

    try:
        alike = (lambda _: states[-1].states()) if linking else None
        around = Reach(look=look, veil=Veil(masked), alike=alike, **reach)
        return dream(ws, around, Wish(now=now, dry_run=dry, day=day, most=most))
    finally:
        for state in states:
            state.close()


def page(ws: Workspace, path: str) -> str:
    """Return a page of the notebook."""
    return (ws.root / ws.notebook / path).read_text(encoding="utf-8")


def outcomes(ws: Workspace) -> dict[str, Outcome]:
    """Return the outcome of each entry; none has two."""
    found = stream.read(ws, layout.OUTCOMES, Outcome).records
    assert len({(one.entry, one.part) for one in found}) == len(found)
    return {one.entry: one for one in found}


def bytes_of(ws: Workspace) -> dict[str, bytes]:
    """Return every file but the derived index and the locks."""
    return {
        path: ws.disk.read(path) or b""
        for path in ws.disk.walk("")
        if not path.startswith((layout.INDEX, layout.LOCKS))
    }


def failing(word: str) -> Callable[[str], bool]:
    """Return a mask that refuses what holds a word: a fault the dreamer cannot see coming."""
    return lambda text: word in text


def later(ws: Workspace, **by: float) -> None:
    """Let time pass."""
    assert isinstance(ws.clock, FixedClock)
    ws.clock.advance(**by)
