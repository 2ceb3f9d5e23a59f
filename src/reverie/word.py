"""What is said about entries: let go of, judged, used, taken back; and MEMORY.md, which follows at once.

The verbs of `reverie.Memory` by which anyone says something about what is remembered, each one line to a step. Those of
a turn's life are in `memory`, those that keep the files well in `care`.

Owns naming entries by id or by filter, and when MEMORY.md is compiled; promises that a verb reads the files as they
are at that moment; never does a step's work itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import msgspec

from reverie import company, steps, unforget, unsaying
from reverie import forget as forgetting
from reverie import remember as remembering
from reverie.company import share_all
from reverie.core.due import Due
from reverie.core.fold import EntryState, fold
from reverie.core.forgetting.saying import apart
from reverie.core.records import Draft, Entry, Event, Origin
from reverie.core.significance import faded
from reverie.core.where import Where, must_narrow, one_or_more, repeats
from reverie.drain import Drained
from reverie.errors import ReverieError
from reverie.following import follow
from reverie.index.entry_rows import event_named
from reverie.index.heaviest import choosing
from reverie.index.state import State
from reverie.naming import still_named
from reverie.opening import Opened
from reverie.publish import Published, is_stale, must_hold, note, publish, waits
from reverie.store.workspace import Workspace


class Word:
    """The verbs by which one lets go of entries, judges them, and takes back what was said of them."""

    def __init__(self, opened: Opened) -> None:
        """Take what `reverie.open` opened."""
        self.opened = opened

    # Let go

    def hide(
        self,
        entries: Sequence[str] = (),
        *,
        where: Where | None = None,
        unhide: bool = False,
        dry_run: bool = False,
    ) -> int:
        """Take entries, named or all that `where` admits, out of recall and MEMORY.md, reversibly; return how many.

        >>> memory.hide(where=Where(category="preference"), dry_run=True)
        1
        >>> memory.hide([tea])
        1
        """
        meant = self.hideable(entries, where=where, unhide=unhide)
        if meant and not dry_run:
            for state in meant:
                remembering.happen(self._events(), "unhide" if unhide else "hide", state.entry.id)
            self._act(Due(publish=True), at_once=True)
        return len(meant)

    def hideable(
        self, entries: Sequence[str] = (), *, where: Where | None = None, unhide: bool = False
    ) -> list[EntryState]:
        """Return the entries that `hide` would take out of sight, or bring back: of a filter those it would change.

        >>> [state.entry.text for state in memory.hideable([tea])]
        ['User likes tea']
        """
        if where is not None:
            seen = unhide or where.include_hidden
            where = msgspec.structs.replace(where, include_previous=True, include_hidden=seen)
        return [one for one in self._meant(entries, where) if where is None or not unhide or one.hidden]

    def forget(
        self,
        entries: Sequence[str] = (),
        *,
        where: Where | None = None,
        dry_run: bool = False,
        restore: bool = False,
    ) -> forgetting.Forgotten:
        """Forget entries and the words they came from, or take that back; the answer says where bytes remain.

        They are named, or all that `where` admits, hidden, faded and superseded ones too; the same filter restores
        them, and the turns of its session that were taken back. A turn is named by the id that recall gives it.

        >>> memory.forget([tea], dry_run=True).ids == (tea,)
        True
        """
        ws, state = self._events(), self.opened.state_now()
        must_narrow(entries, where)
        turns, named = apart(one_or_more(entries))
        said = unsaying.turns_of(ws, turns)
        if restore:
            ids = [unforget.named(ws, state, one) for one in named]
            back = unforget.restore(ws, state, ids, turns=said, where=where, dry_run=dry_run)
            due = Due(digest=True, publish=True)
            done = forgetting.Forgotten(ids=back.entries, turns=back.turns, due=due)
            if not dry_run:
                self.opened.search_anew()
        else:
            meant = [one.entry for one in self._meant(named, where.everything if where else None)]
            done = forgetting.forget(ws, state, [entry.id for entry in meant], dry_run=dry_run)
            done = unsaying.unsay(self.opened, said, done=done, dry_run=dry_run) if said else done
            self.opened.unsearch(meant)
            done = msgspec.structs.replace(done, still=still_named(self.opened, done.ids, where=where))
        if dry_run:
            return done
        problems = (*share_all(self.opened).problems, *self._told(done.due, at_once=True))
        return msgspec.structs.replace(done, problems=problems)

    def gone(self, where: Where | None = None) -> list[unforget.Gone]:
        """Return what is forgotten and not erased, without its words: of all, or of what a filter admits.

        >>> memory.gone()
        []
        """
        return unforget.gone(self.opened.ws, self.opened.state_now(), where)

    def forgotten(self, prefix: str) -> str:
        """Return the full id of the forgotten entry that `prefix` names, or nothing when it is not forgotten.

        >>> memory.forgotten(tea)
        ''
        """
        return unforget.id_of(self.opened.ws, prefix)

    def erase(
        self, entries: Sequence[str] = (), *, where: Where | None = None, dry_run: bool = False
    ) -> forgetting.Erased:
        """Remove the text of entries from every file of the workspace, for good; raises Busy while a dream runs.

        They are named, or all that `where` admits, forgotten, hidden, faded and superseded ones too, with the turns of
        its session, or what turns say of whom it is about; a turn may be named by the id that recall gives it. It also
        goes from people's and shared workspaces, by a later drain where need be.

        >>> memory.erase([tea], dry_run=True).leftovers
        ()
        """
        turns, named = apart(one_or_more(entries))
        if where is None:
            ids = [self.forgotten(entry) or self._known(entry).entry.id for entry in named]
        else:
            shown = (one.entry.id for one in self._meant(entries, where.everything))
            ids = [*shown, *(one.id for one in self.gone(where))]
        done = unsaying.erase(self.opened, ids, turns=turns, where=where, dry_run=dry_run)
        if not dry_run:
            self._told(done.due, at_once=True)  # an erase has cleaned the file itself
        return done

    def exclude(self, topic: str, *, remove: bool = False, preview: bool = False) -> list[EntryState]:
        """Never store a topic again, and return the entries that name it already, which stay.

        >>> [state.entry.text for state in memory.exclude("tea", preview=True)]
        ['User likes tea']
        """
        named = forgetting.named_by(self.opened.state_now(), topic)
        if not preview:
            forgetting.exclude(self.opened.writable, topic, remove=remove)
        return named

    # Say what it is worth, and take back what was said

    def history(self, entry: str) -> list[Event]:
        """Return what happened to an entry, oldest first, each event with the id that `take_back` takes.

        >>> [event.kind for event in memory.history(tea)]
        []
        """
        opened, state = self._seen(entry)
        return sorted(opened.state_now().events(state.entry.id), key=lambda event: (event.at, event.id))

    def take_back(self, event: str, *, why: str = "") -> str:
        """Undo one event by its id or the beginning of it, and return the id of the entry it happened to.

        A forget is taken back whole, as by `forget(restore=True)`. Raises NotFound, AmbiguousId, UsageError.

        >>> memory.pin(tea); memory.take_back(memory.history(tea)[-1].id) == tea
        True
        """
        state = self.opened.state_now()
        one = event_named(state.db, event)
        if one.kind in {"forget", "restore"}:
            self.forget([one.entry], restore=one.kind == "forget")
        else:
            remembering.take_back(self._events(), one, state.events(one.entry), why=why)
            self._told(at_once=True)
        return one.entry

    def judge(self, entry: str, value: float, *, why: str = "", by: Origin = "other") -> None:
        """Say how much an entry matters in an outside judge's eyes, 0 to 1, beside the writer's own word.

        >>> memory.judge(tea, 0.3, why="said in passing")
        """
        remembering.judge(self._events(), self._known(entry), value, why=why, by=by)
        self._told()

    def used(self, entries: Sequence[str]) -> int:
        """Say that entries were of use: among equals they come first from then on. Return how many.

        >>> memory.used([tea])
        1
        """
        meant = self._meant(entries, None)
        for state in meant:
            remembering.happen(self._events(), "use", state.entry.id, by="agent")
        return len(meant)

    # MEMORY.md

    def publish(self, *, at_once: bool = True) -> Published:
        """Compile MEMORY.md within its budget; without `at_once`, at most once a minute and if refreshing is on.

        >>> memory.publish().changed
        True
        """
        if waits(self._events(), at_once=at_once):
            return Published(waits=True)
        return self._compiled(self.opened.state_now(), at_once=at_once)

    # Inside

    def _compiled(self, state: State, *, at_once: bool) -> Published:
        """Compile MEMORY.md from a state."""
        ws, keep = self._events(), self.opened.keep_edit
        choose = choosing(state, ws.calendar.start(ws.today), facts=ws.settings.facts, calendar=ws.calendar)
        return publish(ws, choose, keep=keep, at_once=at_once)

    def _known(self, entry: str, *, among: str = "recall") -> EntryState:
        """Return the entry that a prefix names; raises NotFound, which says so when it is forgotten, AmbiguousId."""
        return company.known(self.opened, entry, among=among)

    def _seen(self, entry: str) -> tuple[Opened, EntryState]:
        """Return the entry that a prefix names, one's own or one that is read along, and the workspace it is in."""
        return company.seen(self.opened, entry)

    def _meant(self, entries: Sequence[str], where: Where | None) -> list[EntryState]:
        """Return the entries that prefixes name, each once, or all a filter admits; raises UsageError for both."""
        must_narrow(entries, where)
        if where is not None:
            return self.opened.state_now().states(where)
        named = (self._known(entry) for entry in one_or_more(entries))
        return list({state.entry.id: state for state in named}.values())

    def _listed(self, where: Where) -> list[EntryState]:
        """Return what a filter admits, of a session its repeats too; what has faded only where it says so."""
        before = where.include_previous or bool(where.session)
        wanted = msgspec.structs.replace(where, limit=0, include_previous=before)
        every = self.opened.state_now().states(wanted)
        found = [state for state in every if where.admits(state) or (where.session and repeats(state))]
        if not where.include_faded:
            now, facts = where.as_of or self.opened.ws.clock(), self.opened.ws.settings.facts
            found = [state for state in found if not faded(state, now, facts=facts)]
        return found[-where.limit :] if where.limit else found

    def _happen(self, kind: str, entry: str) -> None:
        """Record an event on the entry that a prefix names."""
        remembering.happen(self._events(), kind, self._known(entry).entry.id)
        self._told()

    def _drained(self, done: Drained) -> Drained:
        """Give what is of scope `team` away, and do what a drain found due; all is stored, so no failure is raised."""
        problems = done.problems
        try:
            problems += (*share_all(self.opened).problems, *follow(self.opened).leftovers)
            self._act(done.due)
        except ReverieError as error:
            problems += (str(error),)
        return msgspec.structs.replace(done, problems=problems)

    def _act(self, due: Due, *, at_once: bool = False) -> None:
        """Do what a step found due and a verb does on the spot: digests, then MEMORY.md, at most once a minute.

        What is not shown at once is noted, and shown by the first verb that finds it has waited long enough.
        """
        ws = self._events()
        # Reading every entry for it, several times a minute, would be what the minute is there to spare.
        shown = due.publish and not waits(ws, at_once=at_once)
        if due.skills or shown:
            state = self.opened.state_now()  # once for all: it looks at every page
            if due.skills:
                steps.skills.learn(ws, state, masked=self.opened.mask.text)
            if shown and due.digest:
                steps.digest.digest(ws, state, masked=self.opened.mask)
            if shown:
                self._compiled(state, at_once=at_once)
        if not shown and (due.publish or due.digest):
            note(ws, pressing=due.publish)
            self._refresh()

    def _must_be_pinned(self, entry: Entry) -> None:
        """Raise UsageError for a stranger's words, and BudgetOverflow when MEMORY.md cannot show one more pin."""
        remembering.must_be_pinnable(entry)
        pins = [one for one in self.opened.state_now().pins() if one.current and one.entry.id != entry.id]
        must_hold(self.opened.ws, [*pins, msgspec.structs.replace(fold(entry, ()), pinned=True)])

    def _storing(self, draft: Draft) -> tuple[Workspace, Draft]:
        """Return where a draft is stored, and the draft; raises what `Opened.writable` does."""
        return self._events() if remembering.at_once(draft) else self.opened.writable, draft

    def _events(self) -> Workspace:
        """Return where turns, notes and events are appended, which wait for nobody to mend the queue or the drain."""
        try:
            return self.opened.writable
        except remembering.UNFINISHED:
            return self.opened.ws

    def _told(self, due: Due = Due(publish=True), *, at_once: bool = False) -> tuple[str, ...]:
        """Have MEMORY.md follow what is stored whether or not that can be done now; return what kept it from that."""
        try:
            self._act(due, at_once=at_once)
        except ReverieError as error:
            self._noted(due)
            return (f"MEMORY.md: {error}",)
        return ()

    def _stored(self, done: remembering.Remembered, text: str) -> remembering.Remembered:
        """Return what became of a text, with whether it is hidden for something like it was forgotten."""
        self._noted(done.due)
        return msgspec.structs.replace(done, asked=bool(done.id) and self.opened.mask.text(text))

    def _noted(self, due: Due) -> None:
        """Note that MEMORY.md is due, by a write which must not fail because that cannot be noted."""
        with suppress(ReverieError):
            if due.publish:
                note(self.opened.ws, pressing=True)

    def _keep_fresh(self) -> None:
        """Compile MEMORY.md when it is older than it may be; what is asked is answered where that fails, too."""
        with suppress(ReverieError):
            self._refresh()

    def _refresh(self) -> None:
        """Compile MEMORY.md when a change or the day has made it older than it may be."""
        if self.opened.trusted and is_stale(self.opened.ws):
            self.publish(at_once=False)
