"""What a person does with a memory: look back, give their word, keep it well.

Verbs of `reverie.Memory`, each one line to a step. What an agent and its host do all day is in `memory`, what is said
about entries in `word`.

Owns which steps run together; promises that a verb reads the files as they are at that moment; never does a step's work
itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import msgspec

from reverie import company, following, steps, unforget
from reverie import forget as forgetting
from reverie.core.dreams.dreamt import Dreamt
from reverie.core.due import Due
from reverie.core.partly import Partly
from reverie.core.records import Run
from reverie.core.scopes import Member
from reverie.core.text.plural import many
from reverie.drain import drain
from reverie.errors import Conflict, DrainFailed, UsageError
from reverie.importers.taken import Fact, Imported
from reverie.index.entry_rows import cites_wrong
from reverie.index.state import State
from reverie.publish import note
from reverie.reaching import around_of
from reverie.reindex import Reindexed, drop
from reverie.store.forgotten.letting_go import look_through
from reverie.store.intents import settle_damaged
from reverie.store.workspace import Workspace
from reverie.why import Behind
from reverie.word import Word

_FORGOTTEN = "[forgotten]"
_QUEUED = 12_000_000  # bytes of memory, about, of imported facts that may wait for the drain
_RECORD = 600  # of them, beside the words of each


class Care(Word):
    """The verbs by which a person looks back on runs, gives their word, and keeps the files well."""

    # Look back, and give a word

    def log(self, *, limit: int = 50) -> list[Run]:
        """Return the latest runs, newest first.

        >>> memory.log()
        []
        """
        return steps.undo.log(self.opened.ws, limit=limit)

    def diff(self, run: str) -> str:
        """Return what a run changed, as a unified diff; raises NotFound.

        >>> memory.dream(now=True).run and memory.diff(memory.log()[0].run)
        ''
        """
        return steps.undo.diff(self.opened.ws, run, masked=self.opened.mask.text)

    def behind(self, hit: str) -> Behind:
        """Return what stands behind a hit of recall that is no entry, by its whole id; raises NotFound.

        >>> memory.behind("page:9f86d081884c7d65")
        Traceback (most recent call last):
        reverie.errors.NotFound: ...
        """
        return company.behind(self.opened, hit)

    def undo(self, run: str, *, retry: bool = False) -> Run:
        """Take one run's changes back; with `retry` its entries are dreamt of again. Raises NotFound, Conflict.

        >>> memory.undo("dream:20260701-030000")
        Traceback (most recent call last):
        reverie.errors.NotFound: ...
        """
        done = steps.undo.undo(self.opened.writable, run, retry=retry, masked=self.opened.mask.text)
        self._act(Due(publish=True))
        return done

    def restore(self, when: str) -> Run:
        """Put the notebook back to how it stood at an instant (RFC 3339) or after a run; what is forgotten stays so.

        >>> memory.restore("2020-01-01T00:00:00Z")
        Traceback (most recent call last):
        reverie.errors.NotFound: ...
        """
        done = steps.undo.restore(self.opened.writable, when, masked=self.opened.mask.text)
        self._act(Due(publish=True))
        return done

    def review(self, item: str = "", *, accept: bool | None = None) -> list[steps.review.Item]:
        """Return what waits for a person's word, or one item of it, or give the word on that item.

        Raises NotFound, and UsageError for a word on no item.

        >>> memory.review()
        []
        """
        if accept is not None and not item:
            raise UsageError("name the item: `reverie review list` shows what waits")
        state = self.opened.state_now()
        waiting = steps.review.items(self.opened.ws, state, forgotten=self._forgotten(state))
        if not item:
            return self._readable(waiting)
        found = steps.review.pick(waiting, item)
        if accept is None:
            return self._readable([found])
        ws = self.opened.writable
        if accept and found.topic in steps.review.WRITING and self._says_forgotten(found.text):
            message = (
                f"{found.id} would write what was forgotten since: reject it, and write by hand what you want"
            )
            raise Conflict(message)
        if found.topic == "forgotten":
            if accept:
                unforget.restore(ws, state, [found.id])
                self.opened.search_anew()
            else:
                forgetting.leave(ws, state, found.id)
        else:
            steps.review.decide(ws, state, found, accept=accept)
        self._act(Due(digest=True, publish=True))
        return self._readable([found])

    # Care

    def status(self) -> steps.status.Status:
        """Return where everything stands, and what needs attention with its remedy.

        >>> memory.status().problems
        ()
        """
        state, opened, partly = self.opened.state_now(), self.opened, Partly()
        asked = partly.get(lambda: len(forgetting.questions(opened.ws, state)), 0)
        apart = [
            *partly.each(lambda: company.troubles(opened)),
            *partly.each(lambda: following.troubles(opened)),
        ]
        seen = steps.status.status(opened.ws, state, trusted=opened.trusted, asked=asked, partly=partly)
        return msgspec.structs.replace(seen, problems=(*seen.problems, *apart)) if apart else seen

    def members(self, *, add: str = "", remove: str = "") -> list[Member]:
        """Return who may give to this workspace and read it along, after adding or removing one, by id or folder.

        >>> memory.members(add="f2a74de452e6b438")[0].id
        'f2a74de452e6b438'
        """
        return company.members(self.opened, add=add, remove=remove)

    def check(self, *, repair: bool = False) -> tuple[steps.check.Finding, ...]:
        """Verify every invariant of the files; `repair` mends only what is derived and finishes what was interrupted.

        >>> memory.check()
        ()
        """
        if repair:
            self.opened.trusted_or_raise()
            settle_damaged(self.opened.ws)  # else nothing could be written, the repair not either
        ws = self.opened.writable if repair else self.opened.ws
        return steps.check.check(ws, self.opened.state_now, repair=repair)

    def reindex(self) -> Reindexed:
        """Throw the derived files away and build them again from the canonical ones.

        >>> memory.reindex().entries
        1
        """
        self.opened.drop_index()
        dropped = drop(self.opened.writable)
        entries, rows = self.opened.rebuild()
        return msgspec.structs.replace(dropped, entries=entries, rows=rows)

    def lint(
        self, *, fix: bool = False, due: bool = False, editorial: bool | None = None
    ) -> steps.lint.Linted:
        """Look the notebook over, log that, and with `fix` mend what is safe; `due`: only when it is time. Raises Busy.

        `editorial`: the model that dreams looks the pages over, too, and edits them; by default when it is time.

        >>> memory.lint().findings
        ()
        """
        ws, look, masked = self.opened.writable, self.opened.state_now, self.opened.mask.text
        done = steps.lint.lint(ws, look, masked=masked, fix=fix, due=due)
        wanted = due and ws.settings.lint.editorial if editorial is None else editorial
        if wanted and not done.waits:
            edited = steps.editorial.edit(ws, around_of(self.opened), done.findings)
            if editorial or edited.problem != steps.editorial.NO_MODEL:
                done = msgspec.structs.replace(done, edited=edited)
        self._act(Due(publish=bool(done.mended) or bool(done.edited and done.edited.pages)))
        return done

    def export(self, target: Path) -> steps.transfer.Exported:
        """Write everything to an empty folder, loss-free.

        >>> memory.export(folder / "copy").files > 0
        True
        """
        return steps.transfer.export(self.opened.ws, target, still=self.opened.trusted)

    def import_(
        self, source: Path, *, session: str = "", wish: steps.importing.Wish | None = None
    ) -> Imported:
        """Take in conversations, another memory, a vault or an export; what cannot be read is set aside and reported.

        `wish` says more than `session`: a dry run, or whom to tell how far it is. Raises NotFound, UsageError.

        >>> memory.import_(conversation).turns
        2
        """
        ws, wanted = self.opened.writable, wish or steps.importing.Wish(session=session)
        if source.is_dir() and (source / steps.transfer.MANIFEST).exists():
            return self._take_in(steps.transfer.verified(source), dry_run=wanted.dry_run)

        done = steps.importing.import_source(ws, source, wanted, keep=self._kept(ws, dry_run=wanted.dry_run))
        if not done.dry_run:
            look_through(ws, self.opened.mask, done.sessions)
        return done

    # Inside

    def _unsaid(self, done: Dreamt) -> Dreamt:
        """Take off the pages what was found never to be true, and return what the dream did with that."""
        if not cites_wrong(self.opened.state.db):
            return done
        ws, look, masked = self.opened.writable, self.opened.state_now, self.opened.mask.text
        told = steps.lint.unsay(ws, look, masked=masked)
        if not told.mended:
            return done
        pages = tuple(
            sorted({*done.pages, *(one.page.removeprefix(f"{ws.notebook}/") for one in told.mended)})
        )
        reason = f"{many(len(told.mended), 'line')} that never held taken off {many(len(pages), 'page')}"
        return replace(done, reason=reason, runs=(told.run, *done.runs), pages=pages, due=Due(publish=True))

    def _kept(self, ws: Workspace, *, dry_run: bool) -> steps.importing.Keep:
        """Return how an import keeps facts; the queue is drained whenever it took many, for it is held in memory."""
        queued = 0

        def keep(facts: Sequence[Fact]) -> Sequence[steps.stating.Fate]:
            nonlocal queued
            if not queued:
                self.opened.state_now()  # what was drained is folded here, where nobody waits for the lock
            told = steps.stating.keep(
                ws, facts, known=lambda ids: self.opened.state_now().known_of(ids), dry_run=dry_run
            )
            new = [len(fact.text) for fact, fate in zip(facts, told, strict=True) if fate is True]
            queued += sum(new) + _RECORD * len(new)
            if queued > _QUEUED and not dry_run:
                queued = 0
                with suppress(DrainFailed):  # the queue is intact, and the next drain says why
                    done = drain(ws)
                    note(ws, pressing=done.due.publish)
            return told

        return keep

    def _take_in(self, found: steps.transfer.Export, *, dry_run: bool) -> Imported:
        """Take in an export: whole where this workspace holds nothing else, else what is missing."""
        ws = self.opened.writable
        if steps.transfer.fits(ws, found):
            return steps.transfer.planned(found) if dry_run else steps.transfer.put(ws, found)
        steps.transfer.all_sealed(found)
        done = steps.merging.merge(
            ws, self.opened.state_now(), found.disk, mask=self.opened.mask, dry_run=dry_run
        )
        if dry_run:
            return done.planned
        if done.forgotten:
            self.forget(done.forgotten)
        self._act(Due(digest=True, publish=True))
        return done.imported

    def _readable(self, items: list[steps.review.Item]) -> list[steps.review.Item]:
        """Return items without the words of what is forgotten, but for those that ask about it."""
        return [
            msgspec.structs.replace(one, text=_FORGOTTEN)
            if one.topic != "forgotten" and self._says_forgotten(one.text)
            else one
            for one in items
        ]

    def _says_forgotten(self, text: str) -> bool:
        """Tell whether a text, or a line of it, says what is forgotten."""
        mask = self.opened.mask
        return mask.text(text) or any(mask.text(line) for line in text.splitlines() if line.strip())

    def _forgotten(self, state: State) -> list[steps.review.Item]:
        """Return the hidden statements a person is asked about, as items."""
        return [
            steps.review.Item(
                id=one.entry.id,
                topic="forgotten",
                place=one.entry.day,
                text=one.entry.text,
                why=f"something like it was forgotten ({one.why})",
            )
            for one in forgetting.questions(self.opened.ws, state)
        ]
