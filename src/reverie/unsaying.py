"""Turns that are let go of by themselves, whether or not an entry was read from them.

In: ids of turns as recall shows them, the session that a filter names, or the name of whom it is about. Out: turns that
count as never said (`retract`), or that are erased whole; and of turns that say a name, the sentences that say it.

What is erased of a turn for a name are its sentences, for the rest of it is about something else. A sentence on which
an entry rests that stays is kept, and the answer names that entry. A turn that was named goes whole, with the entries
that rest on it alone; its words elsewhere go too where no other turn says them.

What a crash leaves: of a forget, and of what an erase does first, what it leaves of a retraction; after that what it
leaves of an erase. Done again, it finds what is left.

Next: `publish`, at once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence

import msgspec

from reverie import forget as forgetting
from reverie import unforget
from reverie.company import share_all
from reverie.core.due import Due
from reverie.core.entries import derived_id
from reverie.core.forgetting.erasure import Eraser, Erasure
from reverie.core.forgetting.exclusions import excluded_by
from reverie.core.forgetting.letting_go import Naming
from reverie.core.forgetting.saying import TURN, Claims, Saying, says, sentences_naming, spoken
from reverie.core.records import Turn
from reverie.core.text.phrases import BORDERLESS, phrase, weight
from reverie.core.where import Where
from reverie.errors import NotFound
from reverie.following import follow, planned
from reverie.opening import Opened
from reverie.retract import Retracted, retract, would
from reverie.store import provenance, sessions
from reverie.store.workspace import Workspace

Placed = tuple[str, Turn]  # a turn, with its session


def turns_of(ws: Workspace, ids: Sequence[str]) -> list[Placed]:
    """Return the turns with these whole ids, taken back or not, each with its session; raises NotFound."""
    found: dict[str, list[Placed]] = {one: [] for one in ids}
    for session, turn in _every(ws) if ids else ():
        known = found.get(TURN + derived_id(session, turn.id, turn.role, turn.content))
        if known is not None:
            known.append((session, turn))
    for one, turns in found.items():
        if not turns:
            message = f"no turn has the id {one[:40]!a}: `reverie recall --kind turn` shows whole ids"
            raise NotFound(message)
    return [turn for turns in found.values() for turn in turns]


def unsay(
    opened: Opened, turns: Sequence[Placed], *, done: forgetting.Forgotten, dry_run: bool
) -> forgetting.Forgotten:
    """Forget turns: they count as never said, and entries that rest on them alone go along.

    The answer adds that to what was `done`. Raises StoreUnwritable, Busy.
    """
    taken = _taken(opened, turns, dry_run=dry_run)
    entries = [entry for one in taken for entry in one.entries]
    known = opened.state_now().known_of(entries).values()
    places = {*done.places, *(sessions.path_of(session) for session, _ in turns)}
    return msgspec.structs.replace(
        done,
        ids=tuple(dict.fromkeys((*done.ids, *entries))),
        turns=sum(len(one.turns) for one in taken),
        places=tuple(sorted(places | provenance.places_of(opened.ws, known))),
        due=Due(publish=True, digest=True),
    )


def erase(
    opened: Opened,
    ids: Sequence[str],
    *,
    turns: Sequence[str] = (),
    where: Where | None = None,
    dry_run: bool = False,
) -> forgetting.Erased:
    """Erase entries by their full ids, and turns: those named, and what a filter reaches; here and where it follows to.

    Raises NotFound, StoreUnwritable, and Busy while a dream or drain is under way.
    """
    ws = opened.writable
    if ws.settings.index_url and not dry_run:
        opened.index.reset()  # what lies at another address does not go with the folder
    opened.drop_index()  # the erase removes these files; what was open would go on holding the text
    named = turns_of(ws, turns)
    whole = [*named, *unforget.turns_of(ws, where)]
    taken = _taken(opened, whole, dry_run=dry_run)
    ids = list(dict.fromkeys((*ids, *(entry for one in taken for entry in one.entries))))
    state = opened.state_now()
    gone = forgetting.erasure_of(ws, state, ids, turns=whole).stubs
    names = _names(opened, gone, where)
    said = _said(opened, gone, named=named, where=where)
    planned_ = forgetting.erasure_of(ws, state, ids, turns=whole, said=said)
    done = forgetting.erase(ws, state, ids, turns=whole, said=said, dry_run=dry_run)
    opened.drop_index()
    told = () if dry_run else share_all(opened).problems
    along = planned(opened, planned_) if dry_run else follow(opened)
    return msgspec.structs.replace(
        done,
        places=(*done.places, *along.places),
        leftovers=(*done.leftovers, *along.leftovers, *told),
        still=tuple(_still(opened, names, erasure=planned_)),
    )


# Inside


def _every(ws: Workspace) -> Iterator[Placed]:
    """Yield every turn with its session, taken back or not."""
    for name in sessions.names(ws):
        yield from ((name, turn) for turn in sessions.read(ws, name))


def _taken(opened: Opened, turns: Iterable[Placed], *, dry_run: bool) -> list[Retracted]:
    """Take back turns, session by session, or say what that would take; those taken back before stay so."""
    by_session: dict[str, set[str]] = {}
    for session, turn in turns:
        by_session.setdefault(session, set()).add(turn.id)
    state, ws = opened.state_now(), opened.ws if dry_run else opened.writable
    act = would if dry_run else retract

    def chosen(ids: Container[str]) -> Callable[[list[Turn]], list[Turn]]:
        return lambda turns: [turn for turn in turns if turn.id in ids]

    return [act(ws, state, session, choose=chosen(ids)) for session, ids in by_session.items()]


def _said(
    opened: Opened, gone: Container[str], *, named: Sequence[Placed], where: Where | None
) -> list[Saying]:
    """Return what goes of turns that are not whole gone, and the words of `named` ones that no other turn says."""
    ws, state = opened.ws, opened.state_now()
    found = []
    if where is not None and where.about and not msgspec.structs.replace(where, about="").of_entries:
        kept = (one.entry for one in forgetting.named_by(state, where.about) if one.entry.id not in gone)
        found = list(_naming(ws, Claims(kept), where=where))
    texts = [text for _, turn in named for text in spoken(turn) if weight(phrase(text)) >= BORDERLESS]
    if texts:
        places = {(session, turn.id) for session, turn in named}
        kept = (one.entry for one in state.states() if one.entry.id not in gone)
        own = set(_own(ws, Claims(kept).without(texts), places=places))
        whole = [Saying(session, turn, tuple(own.intersection(spoken(turn)))) for session, turn in named]
        found += [one for one in whole if one.texts]
    return found


def _naming(ws: Workspace, claims: Claims, *, where: Where) -> Iterator[Saying]:
    for session, turn in _every(ws):
        if where.session in {"", session} and where.within(ws.calendar.day(turn.at)):
            texts = claims.without(sentences_naming(turn, where.about))
            if texts:
                yield Saying(session, turn, texts)


def _own(ws: Workspace, texts: Iterable[str], *, places: Container[tuple[str, str]]) -> Iterator[str]:
    """Yield those of the texts that are said in these places alone."""
    others = [turn for session, turn in _every(ws) if (session, turn.id) not in places]
    for text in dict.fromkeys(texts):
        eraser = Eraser(Erasure(id="", stubs={}, texts=(text,)), ws.calendar)
        if not any(eraser.holds(other) for turn in others for other in spoken(turn)):
            yield text


def _names(opened: Opened, gone: Collection[str], where: Where | None) -> list[str]:
    """Return whom a filter, and the entries that go, are about."""
    asked = where.about if where is not None else ""
    every = (asked, *(one.about for one in opened.state_now().known_of(list(gone)).values()))
    return [name for name in dict.fromkeys(every) if name.strip()]


def _still(opened: Opened, names: Iterable[str], erasure: Erasure) -> Iterator[Naming]:
    """Yield what says names once an erasure is done, whether it is or is only planned."""
    eraser, state = Eraser(erasure, opened.ws.calendar), opened.state_now()
    own = {(span.session, span.turn) for span in erasure.turns}
    whole = {(span.session, span.turn) for span in erasure.whole}

    def left(session: str, turn: Turn, *, name: str) -> bool:
        place = (session, turn.id)
        texts = (eraser.text(text, own=place in own) for text in spoken(turn))
        return place not in whole and says(turn, name) and any(excluded_by(one, (name,)) for one in texts)

    for name in names:
        entries = [one.entry.id for one in forgetting.named_by(state, name)]
        found = Naming(
            name=name,
            entries=tuple(one for one in entries if one not in erasure.stubs),
            turns=sum(left(session, turn, name=name) for session, turn in _every(opened.ws)),
        )
        if found.entries or found.turns:
            yield found
