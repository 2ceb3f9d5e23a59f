"""START HERE. `Memory` is one agent's memory: open it, and every verb is one line to a step below.

The life of a turn, in reading order: `capture`, `remember`, `extract`, `drain`, `compact`, `digest`, `dream`,
`publish`. What else one does with a memory: `recall`, `context`, `why`, `forget`, `undo`, `review`, `lint`,
`consolidate`, `reindex`, `check`, `transfer`. `opening` builds what a Memory holds; `care` has the verbs people use.

Owns which steps run together; promises that a verb reads the files as they are at that moment, whoever wrote them;
never does a step's work itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

import msgspec

from reverie import capture as capturing
from reverie import remember as remembering
from reverie import steps
from reverie.capture import Captured
from reverie.company import asked, chain, with_others
from reverie.context import Context, ContextRequest, context
from reverie.core.dreams.dreamt import Dreamt, Wish
from reverie.core.due import Due
from reverie.core.due_list import DueList, due_lines
from reverie.core.fold import EntryState
from reverie.core.records import Draft, Origin, Turn
from reverie.core.sessions.extracting import Extracted
from reverie.core.sessions.pipeline import Moment
from reverie.core.text.tokens import terms
from reverie.core.where import Where
from reverie.drain import Drained, drain
from reverie.errors import Busy, ModelFailed, StoreUnwritable, UnsafePath
from reverie.lending import Lending
from reverie.opening import Opened
from reverie.reaching import reach_of
from reverie.recall import Ask, Found, keep_log
from reverie.remember import Remembered
from reverie.store.dreams import runs
from reverie.why import Why


class Memory(Lending):
    """One agent's memory, open on its folder; closes what it opened when used as a context manager.

    >>> memory.remember("Dana prefers calls before noon", Draft(category="preference")).queued
    True
    >>> memory.recall("when to call Dana?").hits[0].text
    'Dana prefers calls before noon'
    """

    def __init__(self, opened: Opened) -> None:
        """Take what `reverie.open` or `reverie.init` opened; nothing is read before it is needed."""
        super().__init__(opened)
        self._shown: list[tuple[str, ...]] = []

    def __enter__(self) -> Self:
        """Return the memory itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Write what recalls have shown, and close the index; the files need no closing.

        >>> memory.close()
        """
        shown, self._shown = self._shown, []
        try:
            if shown and self.opened.trusted:
                # A folder that cannot be written is no reason to fail what was only read.
                with suppress(StoreUnwritable, Busy, UnsafePath):
                    keep_log(self.opened.ws, shown)
                self._keep_fresh()
        finally:
            self.opened.close()

    @property
    def root(self) -> Path:
        """The workspace's folder."""
        return self.opened.ws.root

    def person(self, name: str) -> Memory:
        """Return the memory of one person, a workspace of its own that also recalls the agent's.

        >>> memory.person("Dana").remember("Prefers tea").queued
        True
        """
        return Memory(self.opened.person(name))

    # Write

    def capture(self, session: str, turn: Turn) -> Captured:
        """Store one turn of a session; on return it is on disk. Raises InvalidRecord, StoreUnwritable, Busy.

        >>> memory.capture("s1", Turn(role="user", content="I moved to Lisbon.", at=now)).n
        0
        """
        return capturing.capture(self._events(), session, turn, rendered=self.opened.rendered(session))

    def end(self, session: str) -> Due:
        """Close a session, and return what that makes due.

        >>> memory.end("s1").drain
        True
        """
        return capturing.end(self._events(), session)

    def pause(self, session: str | None = None) -> None:
        """Keep a session, or with none named everything, off the record.

        >>> memory.pause("s1")
        """
        capturing.pause(self._events(), session)

    def resume(self, session: str | None = None) -> None:
        """Take `pause` back.

        >>> memory.resume("s1")
        """
        capturing.resume(self._events(), session)

    def remember(self, text: str, draft: Draft | None = None) -> Remembered:
        """Store `text` as an entry; on return it is on disk. Raises InvalidRecord, Conflict, StoreUnwritable, Busy.

        >>> memory.remember("Send Dana the quote", Draft(due="2026-07-10")).queued
        False
        """
        ws, wanted = self._storing(Draft() if draft is None else draft)
        if wanted.pin:
            self._must_be_pinned(remembering.entry_of(ws, text, wanted))
        return self._stored(remembering.remember(ws, text, wanted, known=self.opened.known), text)

    def note(self, text: str) -> str:
        """Append to the agent's note of the day, which extraction reads.

        >>> memory.note("Deployed v2.")
        'notes/2026-07-01.md'
        """
        return remembering.note(self._events(), text)

    def correct(
        self, entry: str, text: str, *, why: Literal["change", "mistake"], by: Origin = "user"
    ) -> Remembered:
        """Put `text` in the place of an entry: it changed, or never was true.

        >>> memory.correct(tea, "User likes coffee", why="mistake").queued
        False
        """
        done = remembering.correct(self._events(), self._known(entry).entry, text, why=why, origin=by)
        self._told(done.due)
        return done

    def feedback(self, entry: str, value: str, *, why: str = "", by: Origin = "agent") -> str:
        """Queue a judgement on an entry for the next drain.

        >>> len(memory.feedback(tea, "helpful"))
        16
        """
        known = self._known(entry).entry
        return remembering.feedback(self.opened.writable, known.id, value, why=why, by=by)

    def pin(self, entry: str, *, unpin: bool = False) -> None:
        """Keep an entry in MEMORY.md and every context, or no longer; raises UsageError for a stranger's words.

        >>> memory.pin(tea)
        """
        if not unpin:
            self._must_be_pinned(self._known(entry).entry)
        self._happen("unpin" if unpin else "pin", entry)

    def due(self) -> DueList:
        """Return the open promises: overdue, today, upcoming, undated.

        >>> [due.part for due in memory.due().lines]
        ['upcoming']
        """
        promises, ws = self.opened.state_now().promises(), self.opened.ws
        return due_lines(promises, ws.clock(), calendar=ws.calendar)

    def done(self, entry: str, *, cancelled: bool = False, until: str = "") -> None:
        """Say that a promise is kept, cancelled, or due `until` another time; one that comes again is due anew.

        >>> memory.done(quote)
        """
        state = self._known(entry, among="due")
        if remembering.settle(self._events(), state, cancelled=cancelled, until=until):
            self._told()

    # Read

    def recall(self, query: str, *, k: int = 10, where: Where | None = None) -> Found:
        """Return what is known about `query`, best first.

        >>> [hit.text for hit in memory.recall("tea").hits]
        ['User likes tea']
        """
        return self.ask(Ask(query=query, k=k, where=where or Where()))

    def ask(self, ask: Ask) -> Found:
        """Return what answers a question with all its options.

        >>> memory.ask(Ask(query="tea", kinds=("turn",))).hits
        ()
        """
        found = asked(self.opened, ask)
        self._shown.append(tuple(hit.id for hit in found.hits))
        return with_others(self.opened, found, ask=ask)

    def context(self, request: ContextRequest | None = None) -> Context:
        """Return what a host puts into its prompt, within a token budget.

        >>> memory.context(ContextRequest(budget=2_000)).tokens <= 2_000
        True
        """
        wanted = request or ContextRequest()
        self.opened.trusted_or_raise()
        if wanted.session:
            self.compact(wanted.session)
        self.opened.read_left(self._act)
        self._keep_fresh()
        state = self.opened.state_now()
        k = self.opened.ws.settings.context.relevant_hits
        # A turn may be a mere "?!", to which no memory answers.
        hits = self.recall(wanted.query, k=k).hits if terms(wanted.query) else ()
        opened = self.opened
        return context(opened.ws, state, wanted, hits=hits, masked=opened.mask, count=opened.count)

    def list(self, where: Where | None = None) -> list[EntryState]:
        """Return the entries `where` admits, by day; what has faded only with `include_faded`.

        >>> memory.list(Where(category="decision"))
        []
        """
        return self._listed(where or Where())

    def get(self, entry: str) -> EntryState:
        """Return one entry by its id or the beginning of it, one read `along` too; raises NotFound, AmbiguousId.

        >>> memory.get(tea).sig
        0.6
        """
        return self._seen(entry)[1]

    def why(self, entry: str) -> Why:
        """Return the chain page → entry → turn behind an entry.

        >>> memory.why(tea).turns
        ()
        """
        return chain(self.opened, entry)

    # One stage each

    def extract(self, sessions: Iterable[str] | None = None, *, moment: Moment = "hand") -> Extracted:
        """Read unread turns and notes into the journal; at another `moment`, of those sessions that are due then.

        >>> memory.extract().entries
        0
        """
        ws, asks, model = self.opened.writable, self.opened.reading(), self.opened.model("extraction")
        done = steps.extract.extract(ws, asks, model=model, names=sessions, moment=moment)
        self._act(done.due)
        return done

    def drain(self) -> Drained:
        """Store what is queued in the daily logs; raises DrainFailed with the queue intact.

        >>> memory.drain().stored
        2
        """
        return self._drained(drain(self.opened.writable))

    def compact(
        self, session: str, messages: Sequence[Turn | Mapping[str, Any]] = (), *, budget: int | None = None
    ) -> steps.compact.Compacted:
        """Move the oldest turns of a long session into the history.

        `messages` is the prompt of a host; what of it is not captured yet is captured first. Raises BudgetOverflow when
        `budget` is given and what cannot be archived alone exceeds it.

        >>> memory.compact("s1").archived
        0
        """
        ws, model = self.opened.writable, self.opened.model("summary")
        window = steps.compact.window_of(ws, session, messages) if messages else None
        for turn in window.fresh if window else ():
            self.capture(session, turn)
        if steps.compact.is_over(ws, session, budget=budget, fixed=window.fixed if window else 0):
            with suppress(ModelFailed):  # turns that left are read as well, when the model is back
                self.extract([session])
        masked = self.opened.mask
        return steps.compact.compact(ws, session, budget=budget, window=window, model=model, masked=masked)

    def digest(self) -> steps.digest.Digested:
        """Summarise sessions and write today, week and long-term anew.

        >>> len(memory.digest().changed)
        3
        """
        ws, state = self.opened.writable, self.opened.state_now()
        masked, model = self.opened.mask, self.opened.model("summary")
        told = steps.digest.summarise(ws, state, masked=masked, model=model)
        done = steps.digest.digest(ws, state, masked=masked)
        return msgspec.structs.replace(done, sections=told.sections, problems=told.problems)

    def dream(self, *, now: bool = False, dry_run: bool = False, day: str = "", most: int = 0) -> Dreamt:
        """Fold closed days into the notebook, in one commit or none; of one `day`, or `most` entries. Raises Busy.

        >>> memory.dream(now=True).result
        'nothing'
        """
        wish = Wish(now=now, dry_run=dry_run, day=day, most=most)
        done = steps.dream.dream(self.opened.writable, reach_of(self.opened), wish)
        done = done if dry_run else self._unsaid(done)
        self._act(done.due)
        return done

    def compact_all(self) -> steps.compact.Compacted:
        """Compact every session over its budget, and return what moved into the history.

        >>> memory.compact_all().archived
        0
        """
        return sum((self.compact(name) for name in self.opened.sessions()), steps.compact.Compacted())

    def consolidate(self, plan: steps.consolidate.Plan | None = None) -> steps.consolidate.Consolidated:
        """Run everything that is due, in order, the drain first; raises DrainFailed with the queue intact.

        >>> print(memory.consolidate(Plan(drain_only=True)))
        consolidation: agent=... facts_added=0 watermark=n/a dry_run=False drain_only=True promote_only=False
        """
        wanted = plan or steps.consolidate.Plan()
        ws = self.opened.ws if wanted.dry_run else self.opened.writable
        found, agent = steps.consolidate.waiting(ws) if wanted.dry_run else None, self.opened.identity.agent
        mark = runs.watermark(ws)
        done = steps.consolidate.consolidate(self, wanted, agent=agent, watermark=mark, waiting=found)
        if not wanted.dry_run:
            steps.consolidate.remember_run(ws, done)
            if wanted == steps.consolidate.Plan():
                self.opened.embed()
        return done
