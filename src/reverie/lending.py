"""The verbs by which a host's own model dreams and reads turns, where the host has a model and the memory has none.

Verbs of `reverie.Memory`, each a few lines to a step: a run of a dream in several calls, and a span of turns in two.

Owns when such a model may work and when a person looks at what it did first; promises that it is asked for nothing
unless the user's own settings allow it (`mcp.host_model`), that until a person accepted its work once in this workspace
nothing it did takes effect without their word, and that what it did is judged like a run of our own; never gives it
skills, SOUL.md, or a word that is forgotten.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from reverie import steps
from reverie.care import Care
from reverie.core.checked import Checked
from reverie.core.dreams.dreamt import Dreamt, Wish
from reverie.core.sessions.handed import Handed, Lent, Submitted
from reverie.core.text.plural import many
from reverie.errors import Conflict, InvalidRecord, UsageError
from reverie.later import later
from reverie.reaching import reach_of
from reverie.store.dreams import lease, reviews, runs
from reverie.store.hosts import lent
from reverie.store.workspace import Workspace

if TYPE_CHECKING:
    from reverie.model import extraction, extraction_request
    from reverie.store.dreams import dreaming, driven, wanted
else:
    dreaming, wanted = later("reverie.store.dreams.dreaming"), later("reverie.store.dreams.wanted")
    driven = later("reverie.store.dreams.driven")
    extraction = later("reverie.model.extraction")
    extraction_request = later("reverie.model.extraction_request")

_NAME = 60  # characters of what a model calls itself


class Lending(Checked, Care):
    """The verbs for a model that the host brings."""

    # A dream

    def dream_start(
        self, *, now: bool = False, day: str = "", most: int = 0, by: str = "host"
    ) -> steps.dream.Started | Dreamt:
        """Hand out a batch to dream, with what is asked and a run's name, or say why there is none. Raises Busy.

        >>> memory.dream_start().reason
        'no entry of a closed day is pending'
        """
        wish = Wish(now=now, day=day, most=most)
        return steps.dream.start(self._lendable, reach_of(self.opened, guest=True), wish, holder=_named(by))

    def dream_step(self, run: str, tool: str, *, arguments: Mapping[str, Any]) -> str:
        """Use one tool in a run: read, list, search, recall, write, edit or settle. Raises Conflict, Busy.

        >>> memory.dream_step("dream:20260701-030000", "list", arguments={})
        Traceback (most recent call last):
        reverie.errors.Conflict: ...
        """
        reach = reach_of(self.opened, guest=True, driven=self._driven)
        return steps.dream.step(self._lendable, reach, run, tool=tool, arguments=arguments)

    def dream_finish(self, run: str, *, give_up: bool = False) -> Dreamt:
        """Judge and install a run, or put it before a person; with `give_up` nothing of it is kept. Raises Conflict.

        >>> memory.dream_finish("dream:20260701-030000")
        Traceback (most recent call last):
        reverie.errors.Conflict: ...
        """
        ws = self._lendable
        hold = not reviews.accepts_guests(ws)
        reach = reach_of(self.opened, guest=True, driven=self._driven)
        done = steps.dream.end(ws, reach, run, clean=not give_up, hold=hold)
        self._act(done.due)
        return done

    # An extraction

    def extract_start(self, *, session: str = "", by: str = "host") -> Handed | None:
        """Hand out turns to read, of one session or of any, with what is asked; None when all are read. Raises Busy.

        >>> memory.extract_start() is None
        True
        """
        ws = self._lendable
        _must_not_wait(ws)
        names = (session,) if session else ()
        while (
            out := steps.handing.hand_out(ws, self.opened.reading(), names=names, by=_named(by))
        ) is not None:
            if out.text:
                return out
            self._read(lent.find(ws, out.handle), ())
        return None

    def extract_submit(self, handle: str, entries: Sequence[Any]) -> Submitted:
        """Store what was found in turns that were handed out, or put it before a person; raises Conflict.

        An entry is an object of the form that was handed out; each is looked at by itself, and what is none refused.

        Where no item can be used, the turns stay unread and handed out, so that it can be done again.

        >>> memory.extract_submit("extract:0123456789abcdef", [])
        Traceback (most recent call last):
        reverie.errors.Conflict: ...
        """
        ws = self._lendable
        out = lent.find(ws, handle)
        refused = steps.handing.verdicts(ws, self.opened.reading(), out, items=entries)
        good = [steps.handing.plain(one) for place, one in enumerate(entries) if place not in refused]
        if entries and not good:
            lent.take(ws, msgspec.structs.replace(out, until=wanted.until(ws)))
            return Submitted(refused=refused, reason="no item can be used; the turns are unread")
        if reviews.accepts_guests(ws):
            return msgspec.structs.replace(self._read(out, good), refused=refused)
        _must_not_wait(ws)
        return Submitted(refused=refused, review=_put_before(ws, out, good), reason="a person is asked first")

    # A person's word

    def review(self, item: str = "", *, accept: bool | None = None) -> list[steps.review.Item]:
        """Return what waits for a person's word, or one item of it, or give the word on that item.

        >>> memory.review()
        []
        """
        if item and accept is not None:
            waiting = [one for one in reviews.waiting(self.opened.ws) if one.id.startswith(item)]
            if len(waiting) == 1 and waiting[0].topic in steps.review.GUESTS:
                self._decided(waiting[0], accept=accept)
        return super().review(item, accept=accept)

    # Inside

    @cached_property
    def _driven(self) -> driven.Driven:
        """The run that was driven here last, so that its next step need not do again the steps before it."""
        return driven.Driven()

    @property
    def _lendable(self) -> Workspace:
        """The workspace, where a host's model may work in it; raises UsageError, Untrusted."""
        if not self.opened.ws.settings.mcp.host_model:
            message = (
                "a host's own model may not work here: set `mcp.host_model` to true in your own config.toml,"
                " or say --set mcp.host_model=true"
            )
            raise UsageError(message)
        return self.opened.writable

    def _read(self, out: Lent, items: Sequence[Mapping[str, Any]]) -> Submitted:
        """Store what was found in a span and give it back."""
        ws, text = self.opened.writable, msgspec.json.encode({extraction_request.NAMED: items}).decode()
        model = extraction.Submission(out.by, text)
        done = steps.extract.extract(
            ws, self.opened.reading(), model=model, names=[out.session], upto=out.stop
        )
        lent.give_back(ws, out.handle)
        self._act(done.due)
        reason = "" if done.spans else "; ".join(done.problems) or "the turns were read meanwhile"
        return Submitted(read=bool(done.spans), entries=done.entries, links=done.links, reason=reason)

    def _decided(self, proposal: reviews.Proposal, *, accept: bool) -> None:
        """Carry out a person's word on what a host's model did; the verdict itself is recorded after that."""
        ws = self.opened.writable
        if proposal.topic == reviews.GUEST_EXTRACTION:
            out, items = _taken_up(proposal)
            if accept:
                self._read(out, items)
            lent.give_back(ws, out.handle)
        elif accept and not _landed(ws, proposal.path):
            lease.take(ws, proposal.path, holder="a person", until=wanted.until(ws))
            self._act(steps.dream.end(ws, reach_of(self.opened, guest=True), proposal.path).due)
        elif not accept and _landed(ws, proposal.path):
            message = (
                f"{proposal.path} is installed: accept this, and `reverie undo {proposal.path}` takes it back"
            )
            raise Conflict(message)
        else:
            with lease.driving(ws, "review", run=proposal.path):
                dreaming.close(ws, proposal.path)
            lease.release(ws, proposal.path)


def _named(by: str) -> str:
    """Return what a model calls itself as it may stand in a record."""
    name = "".join(char for char in " ".join(by.split()) if char.isprintable())[:_NAME].strip()
    return name or "host"


def _landed(ws: Workspace, run: str) -> bool:
    """Whether a run was installed already, by a verdict that a crash cut short."""
    return any(one.run == run and one.result == "productive" for one in runs.read(ws))


def _must_not_wait(ws: Workspace) -> None:
    for one in reviews.waiting(ws):
        if one.topic == reviews.GUEST_EXTRACTION:
            message = f"what was read last waits for a person's word: `reverie review show {one.id}`"
            raise Conflict(message)


def _put_before(ws: Workspace, out: Lent, items: Sequence[Mapping[str, Any]]) -> str:
    """Put what was found in a span before a person, leave the span to it until then, and return the item's id."""
    lines = [out, *items]
    text = "\n".join(msgspec.json.encode(one).decode() for one in lines)
    found = f"{many(len(items), 'entry')} in turns {out.start}-{out.stop - 1} of {out.session}"
    who = extraction_request.extractor(out.by)
    why = f"{who} found {found}, and nothing of a host's own model was accepted here yet"
    review = reviews.propose(ws, reviews.GUEST_EXTRACTION, out.handle, text=text, why=why)
    patience = timedelta(days=ws.settings.dream.max_wait_days)
    lent.take(ws, msgspec.structs.replace(out, until=ws.clock() + patience))
    return review


def _taken_up(proposal: reviews.Proposal) -> tuple[Lent, list[dict[str, Any]]]:
    """Return what a proposal of entries says; raises InvalidRecord for one that somebody damaged."""
    head, *lines = proposal.text.split("\n")
    try:
        out = msgspec.json.decode(head, type=Lent)
        return out, [msgspec.json.decode(one, type=dict[str, Any]) for one in lines]
    except (msgspec.MsgspecError, RecursionError) as error:
        message = f"{proposal.id} cannot be read: reject it"
        raise InvalidRecord(message) from error
