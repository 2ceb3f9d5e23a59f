"""Step 6: sessions are summarised as they go; entries and summaries of a period become its digest.

In: turns of sessions that were extracted but not summarised, the entries found in them, the state of every entry. Out:
sections in `summaries/YYYY-MM-DD_<session>.md`, and `digests/today.md`, `week.md` and `longterm.md`. By rule, without a
model; no index, no git.

The order of a summary: the turns past the last summarised ordinal are grouped (`core.summary.groups`); each group's
section is appended under its file's lock, unless its turns are summarised there by now, and synced. The last line of a
section says which turns it covers, so there is nothing else to remember. Digests are compiled from the state and the
summaries and replaced when their bytes differ.

What a crash leaves: a section whole or, torn, without its last line; the next run summarises those turns again and
readers pass the torn one over. Two runs at once agree on the first turn of a group, whose day names the file, and the
second to hold its lock writes nothing. A digest is the old one or the new one, and derived: delete it, and the next run
brings back the same bytes.

Next: `dream` for closed days, `publish`, which shows lines of today and the week.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from reverie import layout
from reverie.core.digest_lines import Period, Request, compile_digest, periods
from reverie.core.due import Due
from reverie.core.exclusions import excluded_by
from reverie.core.forgetting import Mask
from reverie.core.records import SessionLine, Turn
from reverie.core.redact import redact
from reverie.core.summary import groups, section_of
from reverie.core.where import Where
from reverie.index.state import State
from reverie.store import sessions, stream, summaries
from reverie.store.workspace import Workspace

_TAIL_BYTES = 16_384
NOTHING_FORGOTTEN = Mask()


class Summarised(msgspec.Struct, frozen=True, kw_only=True):
    """How many sections were written, for which sessions, and what became due."""

    sections: int = 0
    sessions: tuple[str, ...] = ()
    due: Due = Due()


class Digested(msgspec.Struct, frozen=True, kw_only=True):
    """The paths of the digests whose bytes changed, and what became due."""

    changed: tuple[str, ...] = ()
    due: Due = Due()


def summarise(
    ws: Workspace, state: State, *, masked: Mask = NOTHING_FORGOTTEN, names: Iterable[str] | None = None
) -> Summarised:
    """Summarise what is new in the named sessions (all when None), where enough of it is extracted.

    Raises StoreUnwritable or Busy; what was summarised until then stays.
    """
    if not ws.settings.enabled:
        return Summarised()
    paths = sessions.files(ws) if names is None else [sessions.path_of(name) for name in names]
    covered = summaries.covered(ws)
    done: dict[str, int] = {}
    for path in paths:
        start = covered.get(path.rsplit("/", 1)[-1].removesuffix(".jsonl"), -1) + 1
        if _reaches(ws, path, start):
            session, written = _session(ws, state, sessions.open_file(ws, path), start, masked)
            if written:
                done[session] = written
    return Summarised(sections=sum(done.values()), sessions=tuple(done), due=Due(digest=bool(done)))


def digest(ws: Workspace, state: State, *, masked: Mask = NOTHING_FORGOTTEN) -> Digested:
    """Compile the three digests, and replace those whose bytes differ. Raises StoreUnwritable or Busy."""
    today = ws.today
    states = state.states()
    changed: list[str] = []
    for period in periods(today, ws.settings.summaries):
        requests = list(_requests(ws, state, period, masked)) if period.since else []
        text = compile_digest(
            period,
            states,
            requests=requests,
            now=ws.calendar.start(today),
            facts=ws.settings.facts,
            calendar=ws.calendar,
        )
        path = layout.digest_file(period.name)
        data = text.encode("utf-8", "surrogatepass")
        if ws.disk.read(path) != data:
            ws.disk.replace(path, data)
            changed.append(path)
    return Digested(changed=tuple(changed), due=Due(publish=bool(changed)))


def _reaches(ws: Workspace, path: str, start: int) -> bool:
    """Whether the session may hold turns from `start` on: its last line says so, without reading all of it."""
    size = ws.disk.size(path) or 0
    found: stream.Read[SessionLine] = stream.parse(
        path, ws.disk.read_from(path, max(0, size - _TAIL_BYTES)), kind=SessionLine
    )
    if not found.records:
        return size > 0  # a line longer than what was looked at
    last = found.records[-1]
    return last.n + isinstance(last, Turn) > start


def _session(
    ws: Workspace, state: State, found: sessions.Session, start: int, masked: Mask
) -> tuple[str, int]:
    """Write the sections of one session that are complete; return its name and how many were written."""
    name = found.state.name
    # A turn that nobody has extracted yet would be summarised without what it says.
    stop = state.mark(name)
    turns = [turn for turn in found.turns if start <= turn.n < stop]
    ended = not found.state.open and stop >= found.state.turns
    ready = groups(
        turns,
        every=ws.settings.summaries.turns_per_summary,
        calendar=ws.calendar,
        today=ws.today,
        ended=ended,
    )
    if not ready:
        return name, 0
    states = state.states(Where(session=name))

    def clean(turn: Turn, text: str) -> str:
        """Return the text without secrets; nothing for an excluded topic or what is forgotten."""
        if not text or masked.turn(name, turn.id) or masked.text(text):
            return ""
        if excluded_by(text, ws.settings.exclusions):
            return ""
        return redact(text, allow=ws.settings.redaction_allow).text if ws.settings.redaction else text

    for written, group in enumerate(ready):
        section = section_of(group, states, clean=clean)
        if not summaries.append(ws, name, section, day=ws.calendar.day(group[0].at)):
            return name, written  # another process is at it; what it leaves is for the next run
    return name, len(ready)


def _requests(ws: Workspace, state: State, period: Period, masked: Mask) -> Iterator[Request]:
    """Yield what users asked for in the period, as the summaries have it."""
    for path in summaries.files(ws, period.since, period.until):
        summary = summaries.read(ws, path)
        for section in summaries.shown(summary, state.find(summary.entries), masked=masked):
            yield from (Request(section.at, item.text, path) for item in section.items if item.turn >= 0)
