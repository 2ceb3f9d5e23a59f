"""Step 6: sessions are summarised as they go; entries and summaries of a period become its digest.

In: turns of sessions that were extracted but not summarised, the entries found in them, the state of every entry. Out:
sections in `summaries/YYYY-MM-DD_<session>.md`, by the model or by rule, and `digests/today.md`, `week.md` and
`longterm.md`, which no model has a hand in. No index, no git.

The order of a summary: the turns past the last summarised ordinal are grouped (`core.sessions.summary.groups`); the
model is asked, under no lock; each group's section is appended under its file's lock, unless its turns are summarised
there by now, and synced. The last line of a section says which turns it covers, so there is nothing else to remember.
Digests are compiled from the state and the summaries and replaced when their bytes differ.

What the model may read of a turn is decided by `core.sessions.active_text`. An answer that cannot be used (empty, cut
off, a web page, a refusal, longer than the turns, or saying nothing that they say) is never kept: the rule writes that
section. A model that cannot be reached leaves the turns of the present day for the next run, which resumes there; those
of days that are over the rule writes, so that no outage keeps a day without a summary. A group of which something is
forgotten is the rule's too: whatever a model wrote of it would be hidden whole.

What a crash leaves: a section whole or, torn, without its last line; the next run summarises those turns again and
readers pass the torn one over. Two runs at once agree on the first turn of a group, whose day names the file, and the
second to hold its lock writes nothing. A digest is the old one or the new one, and derived: delete it, and the next run
brings back the same bytes.

Next: `dream` for closed days, `publish`, which shows lines of today and the week.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from reverie import layout
from reverie.core.due import Due
from reverie.core.fold import EntryState
from reverie.core.forgetting.mask import Mask
from reverie.core.glance.digest_lines import Period, Request, compile_digest, periods
from reverie.core.records import SessionLine, Turn
from reverie.core.sessions.active_text import NOTHING_FORGOTTEN, Readable
from reverie.core.sessions.summary import groups, section_of, told_section
from reverie.core.where import Where
from reverie.errors import ModelFailed
from reverie.index.state import State
from reverie.model.asking import Model
from reverie.model.summarising import OWN_FAULT
from reverie.model.summarising import summarise as ask
from reverie.store import sessions, stream, summaries
from reverie.store.workspace import Workspace

_TAIL_BYTES = 16_384


class Summarised(msgspec.Struct, frozen=True, kw_only=True):
    """How many sections were written, how many by the model, for which sessions, what went wrong, what became due."""

    sections: int = 0
    by_model: int = 0
    sessions: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    due: Due = Due()


class Digested(msgspec.Struct, frozen=True, kw_only=True):
    """The paths of the digests whose bytes changed, the sections written before, problems, and what became due."""

    changed: tuple[str, ...] = ()
    sections: int = 0
    problems: tuple[str, ...] = ()
    due: Due = Due()


def summarise(
    ws: Workspace,
    state: State,
    *,
    masked: Mask = NOTHING_FORGOTTEN,
    names: Iterable[str] | None = None,
    model: Model | None = None,
) -> Summarised:
    """Summarise what is new in the named sessions (all when None), where enough of it is extracted.

    Raises StoreUnwritable or Busy; what was summarised until then stays.
    """
    if not ws.settings.enabled:
        return Summarised()
    paths = sessions.files(ws) if names is None else [sessions.path_of(name) for name in names]
    covered = summaries.covered(ws)
    writing = _Writing(ws, state, masked=masked, model=model)
    for path in paths:
        start = covered.get(path.rsplit("/", 1)[-1].removesuffix(".jsonl"), -1) + 1
        if _reaches(ws, path, start):
            writing.session(sessions.open_file(ws, path), start)
    return writing.done


def digest(ws: Workspace, state: State, *, masked: Mask = NOTHING_FORGOTTEN) -> Digested:
    """Compile the three digests, and replace those whose bytes differ. Raises StoreUnwritable or Busy."""
    today = ws.today
    changed: list[str] = []
    for period in periods(today, ws.settings.summaries):
        requests = _requests(ws, state, period, masked) if period.since else ()
        text = compile_digest(
            period,
            state.each(period.since, period.until),
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


class _Writing:
    """One call of `summarise`: what was written so far, and the model while it can be asked."""

    def __init__(self, ws: Workspace, state: State, *, masked: Mask, model: Model | None) -> None:
        self._ws, self._state, self._masked, self._model = ws, state, masked, model
        self._away = False  # the model could not be reached; what can wait waits for the next run
        self.done = Summarised()

    def session(self, found: sessions.Session, start: int) -> None:
        """Write the sections of one session that are complete."""
        ws, name = self._ws, found.state.name
        # A turn that nobody has extracted yet would be summarised without what it says.
        stop = self._state.mark(name)
        turns = [turn for turn in found.turns if start <= turn.n < stop]
        ended = not found.state.open and stop >= found.state.turns
        every = ws.settings.summaries.turns_per_summary
        ready = groups(turns, every=every, calendar=ws.calendar, today=ws.today, ended=ended)
        states = self._state.states(Where(session=name)) if ready else []
        readable = Readable(name, ws.settings, self._masked)
        for group in ready:
            section, by_model = self._section(group, states, readable)
            if not section:
                return  # it waits for the model, and what follows waits for it
            if not summaries.append(ws, name, section, day=ws.calendar.day(group[0].at)):
                return  # another process is at it; what it leaves is for the next run
            self._note(name, by_model=by_model)

    def _section(
        self, group: Sequence[Turn], states: Sequence[EntryState], readable: Readable
    ) -> tuple[str, bool]:
        """Return the section that stands for a group and whether the model wrote it; an empty one is to wait."""
        clean = readable.turns(group)
        if self._model is not None and clean and readable.whole(group):
            told = self._asked(self._model, group, clean, readable)
            if told:
                return told, True
            if self._away and self._ws.calendar.day(group[-1].at) >= self._ws.today:
                return "", False
        own = {turn.n for turn in clean}

        def line(turn: Turn, text: str) -> str:
            return readable.line(text) if turn.n in own else ""

        return section_of(group, states, clean=line), False

    def _asked(self, model: Model, group: Sequence[Turn], clean: Sequence[Turn], readable: Readable) -> str:
        """Return the model's section, empty when there is none that can be kept."""
        if self._away:
            return ""
        ws = self._ws
        try:
            items = ask(model, clean, calendar=ws.calendar, nonce=ws.new_id(), keep=readable.line)
        except ModelFailed as error:
            self._away = error.kind not in OWN_FAULT
            problems = dict.fromkeys((*self.done.problems, f"summaries: {error}"))
            self.done = msgspec.structs.replace(self.done, problems=tuple(problems))
            return ""
        return told_section(group, items, by=model.name)

    def _note(self, session: str, *, by_model: bool) -> None:
        self.done = msgspec.structs.replace(
            self.done,
            sections=self.done.sections + 1,
            by_model=self.done.by_model + by_model,
            sessions=tuple(dict.fromkeys((*self.done.sessions, session))),
            due=Due(digest=True),
        )


def _requests(ws: Workspace, state: State, period: Period, masked: Mask) -> Iterator[Request]:
    """Yield what users asked for in the period, as the summaries have it."""
    for path in summaries.files(ws, period.since, period.until):
        summary = summaries.read(ws, path)
        for section in summaries.shown(summary, state.find(summary.entries), masked=masked):
            yield from (Request(section.at, item.request, path) for item in section.items if item.request)
