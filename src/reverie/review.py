"""Everything that wants a person's word, as one stream.

Owns gathering what waits and carrying out a verdict; promises that each item says what accepting and rejecting it do;
never decides for the person.

What waits: edits inside MEMORY.md's block, proposed skills, skills whose procedure no longer holds, proposed edits of
USER.md and SOUL.md, what a host's own model dreamt or read before a person accepted that once, pairs of entries that
contradict each other, statements hidden because something like them was forgotten, entries and raw history that no
dream could process, and records in quarantine. The caller brings the forgotten ones, and carries out the verdict on
them and on a host's.

A proposal is for the file as it stood. Once somebody changed that file the proposal is stale: it is shown as such, and
not carried out over their words. What a person accepted is in the history at once, as theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from reverie import layout
from reverie.core.formats import framing
from reverie.core.records import Event, JournalRecord, Outcome
from reverie.errors import Conflict, InvalidRecord, NotFound, UsageError
from reverie.index.state import State
from reverie.store import history, journal, notes, pages, quarantine, stream
from reverie.store.dreams import installing, reviews
from reverie.store.versions.git import History
from reverie.store.workspace import Workspace

Topic = Literal[
    "memory-edit",
    "core-edit",
    "skill",
    "skill-removal",
    "page-edit",
    "host-dream",
    "host-extraction",
    "contradiction",
    "forgotten",
    "unprocessable",
    "quarantine",
]

_SHOWN = 2_000  # characters of a record
GUESTS = ("host-dream", "host-extraction")
WRITING = ("memory-edit", "core-edit", "skill", "page-edit")  # whose text a file gets once it is accepted

_VERDICTS: dict[str, tuple[str, str]] = {
    "memory-edit": ("the text goes into the agent's note of today, to be extracted", "the text is let go"),
    "core-edit": ("the file becomes the proposed text", "the file stays as it is"),
    "skill": ("the skill is written", "the skill is not written"),
    "skill-removal": (
        "the skill is removed; its versions are in the history",
        "the skill stays, and is not asked about again",
    ),
    "page-edit": ("the page becomes the proposed text", "the page stays as it is"),
    "host-dream": (
        "the run is installed, and later ones of a host's model are at once",
        "the run is let go; its entries are pending",
    ),
    "host-extraction": (
        "the entries are stored, and what a host's model reads later is at once",
        "the entries are let go; the turns are unread",
    ),
    "contradiction": (
        "the later statement replaces the earlier",
        "both stand, and are not asked about again",
    ),
    "forgotten": ("it is remembered again", "it stays forgotten, and is not asked about again"),
    "unprocessable": ("the next dream tries again", "it is left as it is: no page cites it, recall finds it"),
    "quarantine": (
        "the record is queued again as it is",
        "the record is dropped; its bytes stay in quarantine",
    ),
}


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that waits: what it is about, its text, why it waits, and what each verdict does.

    `stale` is a proposal whose file was changed since: it can only be rejected.
    """

    id: str
    topic: Topic
    place: str
    text: str
    why: str
    stale: bool = False

    @property
    def accepting(self) -> str:
        """What accepting does."""
        if self.stale:
            return f"nothing: {self.place} was changed since; take over by hand what you want, then reject"
        return _VERDICTS[self.topic][0]

    @property
    def rejecting(self) -> str:
        """What rejecting does."""
        return _VERDICTS[self.topic][1]


def items(ws: Workspace, state: State, *, forgotten: Sequence[Item] = ()) -> list[Item]:
    """Return everything that waits for a word: proposals, contradictions, what is forgotten, then quarantine."""
    found = [
        Item(
            id=one.id,
            topic=one.topic,
            place=one.path,
            text=one.text,
            why=one.why,
            stale=reviews.is_stale(ws, one),
        )
        for one in reviews.waiting(ws)
    ]
    for event in state.conflicts():
        pair = state.find([event.other, event.entry])
        text = "\n".join(f"{one.entry.day}: {one.entry.text}" for one in pair.values())
        found.append(Item(id=event.id, topic="contradiction", place=event.entry, text=text, why=event.why))
    found += forgotten
    found += _unprocessable(ws, state)
    found += [
        Item(
            id=one.id,
            topic="quarantine",
            place=f"{one.source}:{one.offset}",
            text=one.text[:_SHOWN],
            why=one.reason,
        )
        for one in quarantine.listed(ws)
    ]
    return found


def pick(waiting: Sequence[Item], item_id: str) -> Item:
    """Return the one of `waiting` whose id begins with `item_id`; raises NotFound or UsageError."""
    found = [item for item in waiting if item_id and item.id.startswith(item_id)]
    if not found:
        message = f"nothing waits under {item_id!r}: `reverie review list` shows what does"
        raise NotFound(message)
    if len(found) > 1:
        message = f"{item_id!r} begins the ids of {len(found)} items: give more digits"
        raise UsageError(message)
    return found[0]


def decide(ws: Workspace, state: State, item: Item, *, accept: bool) -> None:
    """Carry out a person's word on an item; raises Conflict when it is a proposal that became stale.

    The effect is written before the verdict, so that a crash between leaves the item waiting and the effect, which is
    the same when it happens again.
    """
    if item.topic == "quarantine":
        _decide_quarantine(ws, item, accept=accept)
    elif item.topic == "contradiction":
        _decide_contradiction(ws, state, item, accept=accept)
    elif item.topic == "unprocessable":
        if accept:
            _try_again(ws, state, item)
        else:
            reviews.settle(ws, item.id, accepted=False)
    else:
        if accept and item.topic not in GUESTS:
            _carry_out(ws, item)
        reviews.settle(ws, item.id, accepted=accept)


def _carry_out(ws: Workspace, item: Item) -> None:
    """Do what accepting a proposal does."""
    if item.topic == "memory-edit":
        # Once: after a crash before the verdict it is accepted again.
        notes.add(ws, ws.today, item.text.strip(), once=True)
    elif item.topic == "skill-removal":
        _remove(ws, item)
    else:
        _put(ws, item)


def _remove(ws: Workspace, item: Item) -> None:
    """Remove a skill, and note that in the history; raises Conflict when somebody changed the file since."""
    if reviews.is_stale(ws, _proposal(ws, item)):
        message = f"{item.place} was changed since this was asked: remove it by hand if you want, then reject"
        raise Conflict(message)
    ws.disk.remove(item.place)
    _commit(ws)


def _put(ws: Workspace, item: Item) -> None:
    """Write the proposed text into its file and the history, unless somebody changed the file since."""
    if not pages.is_tracked(ws, item.place):
        raise InvalidRecord(f"{item.place!r} is no file that may be proposed: reject it")
    wanted = item.text.encode("utf-8", "replace")
    proposal = _proposal(ws, item)

    def build(old: bytes | None) -> bytes | None:
        if reviews.is_stale(ws, proposal):
            message = f"{item.place} was changed since this was proposed: take over by hand what you want, then reject"
            raise Conflict(message)
        return None if old == wanted else wanted

    ws.disk.rewrite(item.place, build)
    _commit(ws)


def _proposal(ws: Workspace, item: Item) -> reviews.Proposal:
    return next(one for one in reviews.waiting(ws) if one.id == item.id)


def _commit(ws: Workspace) -> None:
    """Take what a person just accepted into the history as theirs."""
    history = History(ws)
    with ws.writing("review"):
        installing.commit_people(history, pages.people_changes(ws, history), at=ws.clock())


def _unprocessable(ws: Workspace, state: State) -> list[Item]:
    """Return the entries and raw records that no dream could process and nobody left at that, as items."""
    found, others = state.unprocessable(), state.unprocessable_records()
    texts = {id_: one.entry.text for id_, one in state.find({one.entry for one in found}).items()}
    texts |= {
        id_: one.content[:_SHOWN] for id_, one in history.named(ws, {one.entry for one in others}).items()
    }
    asked = reviews.failures(ws, (one for one in (*found, *others) if one.entry in texts))
    return [
        Item(id=item, topic="unprocessable", place=one.entry, text=texts[one.entry], why=one.reason)
        for item, one in asked.items()
    ]


def _try_again(ws: Workspace, state: State, item: Item) -> None:
    """Make an entry that no dream could process pending again, each part of it that failed."""
    again = [
        Outcome(
            run=one.run,
            entry=one.entry,
            part=one.part,
            parts=one.parts,
            outcome="pending",
            at=ws.clock(),
            reason="a person asked for another try",
        )
        for one in state.outcomes(item.place)
        if one.outcome == "unprocessable"
    ]
    stream.append_all(ws, layout.OUTCOMES, again)


def _decide_quarantine(ws: Workspace, item: Item, *, accept: bool) -> None:
    """Queue a rejected record again, or drop it; raises InvalidRecord when it is no record of the journal."""
    rejected = quarantine.find(ws, item.id)
    if accept:
        lines, _ = framing.read(rejected.raw)
        if not lines:
            message = (
                f"{item.place} holds no whole record: mend the text and send it again, then reject this one"
            )
            raise InvalidRecord(message)
        record: JournalRecord = framing.decode(lines[0], JournalRecord)
        journal.append(ws, record)
    quarantine.settle(ws, rejected, "retried" if accept else "dropped")


def _decide_contradiction(ws: Workspace, state: State, item: Item, *, accept: bool) -> None:
    """Let the later statement replace the earlier one, or take the conflict back."""
    event = next(one for one in state.events(item.place) if one.id == item.id)
    verdict = (
        Event(
            id=ws.new_id(), at=ws.clock(), kind="supersede", entry=event.entry, other=event.other, by="person"
        )
        if accept
        else Event(id=ws.new_id(), at=ws.clock(), kind="undo", entry=event.entry, of=event.id, by="person")
    )
    stream.append(ws, layout.EVENTS, verdict)
