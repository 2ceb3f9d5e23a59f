"""Letting go: forgetting by provenance, erasing for good, and topics that are never stored.

In: entries a person wants gone. Out: tombstones, from which `mask_of` makes the one mask that every reader passes; on
`erase`, files that hold the text no longer. No model.

Forgotten are the entry, its observations (what was merged with it, and what says it in the same words), its evidence in
its turns, and so every line that cites it and every summary and history record that covers those turns. The bytes stay
until `erase`, and the answer says where.

The order of a forget, under the write lock:

1. what will be written is synced to `.state/erase.json`, without readable text
2. the tombstones are appended, synced: from here on every reader hides it
3. an event `forget` is appended for each entry, and lines that name one leave the digests and MEMORY.md
4. the record of 1 is removed

What a crash leaves: before 2, nothing is forgotten; after it, everything is hidden; either way the next write appends
what is missing. An erase forgets first and then follows `store.forgotten.erasing`, which is finished in the same way.

Next: `publish`, at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import msgspec

from reverie import layout
from reverie.core.due import Due
from reverie.core.fold import EntryState
from reverie.core.forgetting.erasure import Eraser, Erasure
from reverie.core.forgetting.exclusions import excluded_by
from reverie.core.forgetting.letting_go import Naming, circle, out_of_sight, says_more, sharing
from reverie.core.forgetting.mask import Mask, Why
from reverie.core.forgetting.saying import Saying
from reverie.core.records import Entry, Tombstone, Turn
from reverie.core.settings.keys import is_plain
from reverie.errors import Busy, NotFound, UsageError
from reverie.index.state import State
from reverie.store import journal, provenance, sessions, topics
from reverie.store.forgotten import erasing, letting_go, tombstones
from reverie.store.forgotten.letting_go import Forgetting
from reverie.store.workspace import Workspace


class Forgotten(msgspec.Struct, frozen=True, kw_only=True):
    """What a forget took: every id it reached, where bytes remain until `erase`, and entries that say it and more.

    `similar` stay as they are; a person may want to look at them. `problems` say which copies in shared workspaces
    could not be withdrawn yet. `turns` counts those that were named themselves, and count as never said; of a restore
    those that were said after all. `still` says what else names those whom it was about.
    """

    ids: tuple[str, ...] = ()
    turns: int = 0
    places: tuple[str, ...] = ()
    similar: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    still: tuple[Naming, ...] = ()
    due: Due = Due()


class Erased(msgspec.Struct, frozen=True, kw_only=True):
    """What an erase took: the ids, the files that changed (or, on a dry run, would), and what could not be cleaned.

    `turns` counts those that went whole, `said` those of which the sentences went that say whom a filter is about.
    `still` says what names them all the same, `elsewhere` what no erase reaches.
    """

    ids: tuple[str, ...] = ()
    turns: int = 0
    said: int = 0
    places: tuple[str, ...] = ()
    leftovers: tuple[str, ...] = ()
    still: tuple[Naming, ...] = ()
    elsewhere: str = erasing.ELSEWHERE
    due: Due = Due()


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A statement that is hidden because something like it was forgotten, and that may be meant anew.

    `why` says by what it was known: `words`, the same, said later; `alike`, other words for it; `place`, the evidence.
    """

    entry: Entry
    tombstone: str
    why: Why


# The mask


def mask_of(ws: Workspace) -> Mask:
    """Return the mask, made anew only when tombstones were added; raises DamagedFile, NewerFormat."""
    return tombstones.mask(ws)


# Forgetting


def forget(
    ws: Workspace, state: State, ids: Sequence[str], *, dry_run: bool = False, by: str = "user"
) -> Forgotten:
    """Forget the entries with these full ids; on return every reader hides them.

    With `dry_run` nothing is written, and the answer says what would be. Raises NotFound, StoreUnwritable, Busy.
    """
    states = state.states()
    meant = circle(_entries(state, ids), states, hidden=())
    similar = [
        one.entry.id for one in states if one.entry.id not in meant and says_more(one.entry, meant.values())
    ]
    if not meant:
        return Forgotten()
    done = Forgotten(ids=tuple(meant), places=_places(ws, state, meant), similar=tuple(similar))
    if dry_run:
        return done
    _forget(ws, state, meant, states, by)
    return msgspec.structs.replace(done, due=Due(publish=True, digest=True))


def _forget(
    ws: Workspace, state: State, meant: dict[str, Entry], states: Sequence[EntryState], by: str
) -> None:
    """Do steps 1 to 4 for all of `meant`, and mark in the state what the mask hides of `states` now."""
    with ws.writing("forget"):
        letting_go.finish(ws)
        new = provenance.tombstones_of(ws, meant, spared=sharing(meant, states), by=by)
        intent = Forgetting(id=ws.new_id(), tombstones=new, entries=tuple(meant), by=by)
        letting_go.begin(ws, intent)
        letting_go.carry_out(ws, intent)
    mask = mask_of(ws)
    state.remask([one.entry.id for one in states if mask(one.entry)], masked=True)


def questions(ws: Workspace, state: State) -> list[Question]:
    """Return the hidden statements that a person should be asked about: `restore` or `leave` each.

    What merely came back (an old record read again, in the same words) stays hidden without a question.
    """
    mask = mask_of(ws)
    found: list[Question] = []
    for entry in _hidden(ws, state) if mask else ():
        why, tomb = mask.why(entry), mask.tombstone(entry)
        if tomb is not None and (why in {"alike", "place"} or (why == "words" and entry.at > tomb.at)):
            found.append(Question(entry=entry, tombstone=tomb.id, why=why))
    return found


def leave(ws: Workspace, state: State, entry_id: str, *, by: str = "user") -> None:
    """Leave a hidden statement forgotten, and ask no more about it; raises NotFound."""
    question = next((one for one in questions(ws, state) if one.entry.id == entry_id), None)
    if question is None:
        message = f"nothing is asked about {entry_id}: `reverie review list` shows what is"
        raise NotFound(message)
    line = Tombstone(id=question.tombstone, at=ws.clock(), entries=(entry_id,), by=by)
    tombstones.append(ws, [line])


def similar(ws: Workspace, state: State) -> list[Entry]:
    """Return the shown entries said since that hold every telling word of something forgotten, in whatever order."""
    mask = mask_of(ws)
    if not mask:
        return []
    first = min(tomb.at for tomb in mask.tombstones)
    shown = (one.entry for one in state.states() if one.entry.at >= first)
    return [
        entry for entry in shown if (tomb := mask.contained(entry.text)) is not None and entry.at >= tomb.at
    ]


def finish(ws: Workspace) -> None:
    """Finish a forget or an erase that was interrupted; one that another process is at is left to it."""
    if ws.disk.size(layout.ERASE_INTENT) is None:
        return
    with suppress(Busy):
        if isinstance(letting_go.pending(ws), Erasure):
            letting_go.erase(ws, what="finish an erase")
        else:
            with ws.writing("forget"):
                letting_go.finish(ws)


# Erasing


def erase(
    ws: Workspace,
    state: State,
    ids: Sequence[str],
    *,
    turns: Sequence[tuple[str, Turn]] = (),
    said: Sequence[Saying] = (),
    dry_run: bool = False,
) -> Erased:
    """Remove the text of entries, forgotten ones too, from every file of the workspace, for good.

    `turns`, each with its session, were taken back: they go whole, with the entries that went with them then. What is
    `said` goes out of its turns, and wherever else it stands.
    Raises NotFound, StoreUnwritable, and Busy while a dream or drain is under way. `dry_run` names the files that hold
    it and changes nothing.
    """
    gone = {(session, turn.id) for session, turn in turns}
    along = [
        tomb for tomb in mask_of(ws).tombstones if any((one.session, one.turn) in gone for one in tomb.spans)
    ]
    taken = [entry for tomb in along if not tomb.keyed for entry in tomb.entries]
    meant = _with_companions(ws, state, list(dict.fromkeys((*ids, *taken))))
    erasure = provenance.erasure_of(ws, meant, retracted=turns, said=said)
    partly = sum((one.session, one.turn.id) not in gone for one in said)
    if dry_run or not (meant or turns or said):
        eraser = Eraser(erasure, ws.calendar)
        places = tuple(erasing.affected(ws, eraser))
        left = tuple(erasing.leftovers(ws, eraser, planned=places))
        return Erased(ids=tuple(meant), turns=len(turns), said=partly, places=places, leftovers=left)
    mask = mask_of(ws)
    if any(mask.why(entry) != "id" for entry in meant.values()):
        _forget(ws, state, meant, state.states(), "user")
    _hide(ws, said, "user")
    state.close()
    places, left = letting_go.erase(ws, what="erase", erasure=erasure)
    unlocated = [
        f"{sessions.path_of(span.session)} (turn {span.n}: in words that were not recorded)"
        for span in erasure.turns
        if not span.digest
    ]
    return Erased(
        ids=tuple(meant),
        turns=len(turns),
        said=partly,
        places=places,
        leftovers=(*left, *unlocated),
        due=Due(publish=True, digest=True),
    )


def erasure_of(
    ws: Workspace,
    state: State,
    ids: Sequence[str],
    *,
    turns: Sequence[tuple[str, Turn]] = (),
    said: Sequence[Saying] = (),
) -> Erasure:
    """Return what an erase of the entries with these full ids, and of turns, takes; raises NotFound."""
    return provenance.erasure_of(ws, _with_companions(ws, state, ids), retracted=turns, said=said)


def _hide(ws: Workspace, said: Sequence[Saying], by: str) -> None:
    """Hide what is said in turns wherever it comes back, as steps 1 to 4 hide entries."""
    if not any(one.texts for one in said):
        return
    with ws.writing("forget"):
        letting_go.finish(ws)
        new = provenance.tombstones_of_said(ws, said, by=by)
        intent = Forgetting(id=ws.new_id(), tombstones=new, entries=(), by=by)
        letting_go.begin(ws, intent)
        letting_go.carry_out(ws, intent)


# Exclusions


def named_by(state: State, topic: str) -> list[EntryState]:
    """Return the entries that name `topic` on word borders: what the exclusion would have kept out."""
    return [one for one in state.states() if excluded_by(f"{one.entry.text} {one.entry.evidence}", (topic,))]


def exclude(ws: Workspace, topic: str, *, remove: bool = False) -> None:
    """Never store `topic` again, or store it again, from this call on; entries that name it already stay.

    Raises UsageError for an empty topic, NotFound for one that this workspace does not exclude, BadSettings when
    `reverie.toml` cannot be edited.
    """
    wanted = " ".join(topic.split())
    if not wanted:
        message = "the topic is empty: name a word or a few"
        raise UsageError(message)
    if not is_plain(wanted):  # `reverie.toml` would be refused, and with it every verb
        message = "the topic holds a control character or half a character: write words"
        raise UsageError(message)
    topics.change(ws, wanted, remove=remove)
    others = tuple(one for one in ws.settings.exclusions if one != wanted)
    ws.settings = replace(ws.settings, exclusions=others if remove else (*others, wanted))


# Inside


def _entries(state: State, ids: Sequence[str]) -> list[Entry]:
    found: list[Entry] = []
    for one in ids:
        entry = state.known(one)
        if entry is None:
            message = f"no entry has the id {one or '(empty)'}: `reverie list` shows ids"
            raise NotFound(message)
        found.append(entry)
    return found


def _with_companions(ws: Workspace, state: State, ids: Sequence[str]) -> dict[str, Entry]:
    """Return the entries meant with what was or would be forgotten along with them, forgotten ones included."""
    hidden = _hidden(ws, state)
    queued = {entry.id: entry for entry in hidden}
    tombs = mask_of(ws).tombstones
    named = {one: [entry for tomb in tombs if one in tomb.entries for entry in tomb.entries] for one in ids}
    wanted = dict.fromkeys(entry for one in ids for entry in (one, *named[one]))
    known = [found for one in wanted if (found := state.known(one) or queued.get(one)) is not None]
    missing = [one for one in ids if all(one != entry.id for entry in known)]
    if missing:
        _entries(state, missing)
    return circle(known, state.states(), hidden=hidden)


def _hidden(ws: Workspace, state: State) -> list[Entry]:
    """Return the entries that the mask hides, stored or still queued."""
    return out_of_sight(state.masked(), journal.waiting(ws).records, masked=mask_of(ws))


def _places(ws: Workspace, state: State, meant: dict[str, Entry]) -> tuple[str, ...]:
    """Return the files that hold the bytes of the entries, as far as their provenance tells."""
    found = provenance.places_of(ws, meant.values())
    pages = {page for entry in meant for page, _ in state.cited_on(entry)}
    found |= pages | ({layout.OBJECTS} if pages else set())
    if any(event.body is not None for entry in meant for event in state.events(entry)):
        found.add(layout.EVENTS)
    return tuple(sorted(found))
