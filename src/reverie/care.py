"""What a person does with a memory: let go, look back, give their word, keep it well.

The second half of the verbs of `reverie.Memory`, each one line to a step. The first half, what an agent and its host do
all day, is in `memory`.

Owns which steps run together; promises that a verb reads the files as they are at that moment; never does a step's work
itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from reverie import forget as forgetting
from reverie import remember as remembering
from reverie import review as reviewing
from reverie import undo as undoing
from reverie.check import Finding, check
from reverie.core.due import Due
from reverie.core.fold import EntryState
from reverie.core.records import Run
from reverie.digest import digest
from reverie.forget import Erased, Forgotten
from reverie.index.state import State
from reverie.lint import Linted, lint, log_line
from reverie.opening import Opened
from reverie.publish import Published, publish, waits
from reverie.reindex import Reindexed, drop
from reverie.review import Item
from reverie.status import Status, status
from reverie.store.intents import settle_damaged
from reverie.transfer import Exported, Imported, export, import_file


class Care:
    """The verbs by which a person lets go of memories, looks back on runs, and keeps the files well."""

    def __init__(self, opened: Opened) -> None:
        """Take what `reverie.open` opened."""
        self.opened = opened

    # Let go

    def hide(self, entries: Sequence[str], *, unhide: bool = False) -> int:
        """Take entries out of recall and MEMORY.md, reversibly, and return how many.

        >>> memory.hide([tea])
        1
        """
        for entry in self._ids(entries):
            remembering.happen(self.opened.writable, "unhide" if unhide else "hide", entry)
        self._act(Due(publish=True), at_once=True)
        return len(entries)

    def forget(self, entries: Sequence[str], *, dry_run: bool = False, restore: bool = False) -> Forgotten:
        """Forget entries and the words they came from, or take that back; the answer says where bytes remain.

        >>> memory.forget([tea], dry_run=True).ids == (tea,)
        True
        """
        ws, state = self.opened.writable, self.opened.state_now()
        if restore:
            ids = tuple(forgetting.ids_of(ws, state, entry) for entry in entries)
            shown = ids if dry_run else forgetting.restore(ws, state, ids)
            self.opened.search_anew()
            done = Forgotten(ids=shown, due=Due(digest=True, publish=not dry_run))
        else:
            known = [state.get(entry).entry for entry in entries]
            done = forgetting.forget(ws, state, self._ids(entries), dry_run=dry_run)
            self.opened.unsearch(known)
        self._act(done.due, at_once=True)
        return done

    def forgotten(self, prefix: str) -> str:
        """Return the full id of the forgotten entry that `prefix` names, or nothing when it is not forgotten.

        >>> memory.forgotten(tea)
        ''
        """
        mask = self.opened.mask
        ids = {one for tomb in mask.tombstones for one in tomb.entries if prefix and one.startswith(prefix)}
        return ids.pop() if len(ids) == 1 else ""

    def erase(self, entries: Sequence[str], *, dry_run: bool = False) -> Erased:
        """Remove the text of entries from every file of the workspace, for good; raises Busy while a dream runs.

        >>> memory.erase([tea], dry_run=True).leftovers
        ()
        """
        state = self.opened.state_now()
        ws = self.opened.writable
        ids = [forgetting.ids_of(ws, state, entry) for entry in entries]
        if ws.settings.index_url and not dry_run:
            self.opened.index.reset()  # what lies at another address does not go with the folder
        self.opened.drop_index()  # the erase removes these files; what was open would go on holding the text
        done = forgetting.erase(ws, self.opened.state_now(), ids, dry_run=dry_run)
        self.opened.drop_index()
        self._act(done.due, at_once=True)
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

    # Look back, and give a word

    def log(self, *, limit: int = 50) -> list[Run]:
        """Return the latest runs, newest first.

        >>> memory.log()
        []
        """
        return undoing.log(self.opened.ws, limit=limit)

    def diff(self, run: str) -> str:
        """Return what a run changed, as a unified diff; raises NotFound.

        >>> memory.dream(now=True).run and memory.diff(memory.log()[0].run)
        ''
        """
        return undoing.diff(self.opened.ws, run, masked=self.opened.mask.text)

    def undo(self, run: str, *, retry: bool = False) -> Run:
        """Take one run's changes back; with `retry` its entries are dreamt of again. Raises NotFound, Conflict.

        >>> memory.undo("dream:20260701-030000")
        Traceback (most recent call last):
        reverie.errors.NotFound: ...
        """
        done = undoing.undo(self.opened.writable, run, retry=retry, masked=self.opened.mask.text)
        self._act(Due(publish=True))
        return done

    def restore(self, when: str) -> Run:
        """Put the notebook back to how it stood at an instant (RFC 3339) or after a run; what is forgotten stays so.

        >>> memory.restore("2020-01-01T00:00:00Z")
        Traceback (most recent call last):
        reverie.errors.NotFound: ...
        """
        done = undoing.restore(self.opened.writable, when, masked=self.opened.mask.text)
        self._act(Due(publish=True))
        return done

    def review(self, item: str = "", *, accept: bool | None = None) -> list[Item]:
        """Return what waits for a person's word, or one item of it, or give the word on that item.

        >>> memory.review()
        []
        """
        state = self.opened.state_now()
        waiting = reviewing.items(self.opened.ws, state, forgotten=self._forgotten(state))
        if not item:
            return waiting
        found = reviewing.pick(waiting, item)
        if accept is None:
            return [found]
        ws = self.opened.writable
        if found.topic == "forgotten":
            if accept:
                forgetting.restore(ws, state, [found.id])
                self.opened.search_anew()
            else:
                forgetting.leave(ws, state, found.id)
        else:
            reviewing.decide(ws, state, found, accept=accept)
        self._act(Due(digest=True, publish=True))
        return [found]

    # Care

    def status(self) -> Status:
        """Return where everything stands, and what needs attention with its remedy.

        >>> memory.status().problems
        ()
        """
        state = self.opened.state_now()
        asked = len(forgetting.questions(self.opened.ws, state))
        return status(self.opened.ws, state, trusted=self.opened.trusted, asked=asked)

    def check(self, *, repair: bool = False) -> tuple[Finding, ...]:
        """Verify every invariant of the files; `repair` mends only what is derived and finishes what was interrupted.

        >>> memory.check()
        ()
        """
        if repair:
            self.opened.trusted_or_raise()
            settle_damaged(self.opened.ws)  # else nothing could be written, the repair not either
        ws = self.opened.writable if repair else self.opened.ws
        return check(ws, self.opened.state_now(), repair=repair)

    def reindex(self) -> Reindexed:
        """Throw the derived files away and build them again from the canonical ones.

        >>> memory.reindex().entries
        1
        """
        self.opened.drop_index()
        dropped = drop(self.opened.writable)
        entries, rows = self.opened.rebuild()
        return msgspec.structs.replace(dropped, entries=entries, rows=rows)

    def lint(self) -> Linted:
        """Look the notebook over for what is stale, broken, contradicted, orphaned or forgotten, and log that.

        >>> memory.lint().findings
        ()
        """
        ws = self.opened.writable
        done = lint(ws, self.opened.state_now(), masked=self.opened.mask.text)
        log_line(ws, done)
        return done

    def export(self, target: Path) -> Exported:
        """Write everything to an empty folder, loss-free.

        >>> memory.export(folder / "copy").files > 0
        True
        """
        return export(self.opened.ws, target)

    def import_(self, source: Path, *, session: str = "") -> Imported:
        """Take in a conversation file or an export; what cannot be read is set aside and reported.

        >>> memory.import_(conversation).turns
        2
        """
        return import_file(self.opened.writable, source, session=session)

    def publish(self, *, at_once: bool = True) -> Published:
        """Compile MEMORY.md within its budget; without `at_once`, at most once a minute and if refreshing is on.

        >>> memory.publish().changed
        True
        """
        ws = self.opened.writable
        if waits(ws, at_once=at_once):
            return Published(waits=True)
        return publish(ws, self.opened.state_now().states(), keep=self.opened.keep_edit, at_once=at_once)

    # Inside

    def _forgotten(self, state: State) -> list[Item]:
        """Return the hidden statements a person is asked about, as items."""
        return [
            Item(
                id=one.entry.id,
                topic="forgotten",
                place=one.entry.day,
                text=one.entry.text,
                why=f"something like it was forgotten ({one.why})",
            )
            for one in forgetting.questions(self.opened.ws, state)
        ]

    def _ids(self, entries: Sequence[str]) -> list[str]:
        """Return the full ids that prefixes name."""
        state = self.opened.state_now()
        return [state.get(entry).entry.id for entry in entries]

    def _happen(self, kind: str, entry: str, when: str = "") -> None:
        """Record an event on the entry that a prefix names."""
        known = self.opened.state_now().get(entry).entry.id
        remembering.happen(self.opened.writable, kind, known, when=when)
        self._act(Due(publish=True))

    def _act(self, due: Due, *, at_once: bool = False) -> None:
        """Do what a step found due and a verb does on the spot: digests, then MEMORY.md, at most once a minute."""
        if not due.publish or waits(self.opened.writable, at_once=at_once):
            return  # reading every entry for it, several times a minute, would be what the minute is there to spare
        if due.digest:
            digest(self.opened.writable, self.opened.state_now(), masked=self.opened.mask)
        self.publish(at_once=at_once)
