"""Erasing in one workspace what was erased in another: the copies that were given to it, and words that reached it.

In: the copies or texts that are gone elsewhere, and the state here. Out: the files of this workspace without them. No
model, and the locks of this workspace alone.

Only what came from there goes. What somebody says here of their own accord (another entry, a turn of the user's) stays,
with the words wherever they stand, and the answer names it: one's erase must not take another's memory.

What survives a crash here is what survives one in an erase: its record, and the next write finishes it. The order for
it lies with who gave it, until all of it is done; doing it again finds nothing.

Next: `publish` here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

import msgspec

from reverie.core.forgetting.erasure import Eraser, Erasure
from reverie.core.forgetting.mask import LEAST
from reverie.core.formats import framing
from reverie.core.records import Entry, Remember
from reverie.core.sessions.active_window import unread
from reverie.core.text.phrases import by_first, find, phrase, weight, words
from reverie.errors import InvalidRecord
from reverie.index.state import State
from reverie.store import journal, quarantine, sessions
from reverie.store.forgotten import erasing, letting_go
from reverie.store.workspace import Workspace


class Along(NamedTuple):
    """What became of it: the files that changed, or would; the places that still hold it, each with why."""

    places: tuple[str, ...] = ()
    leftovers: tuple[str, ...] = ()


def said_by(ws: Workspace, state: State, copies: Collection[str]) -> tuple[str, ...]:
    """Return the texts of copies, stored here, waiting for the drain, or set aside when they were refused."""
    waiting = [record.entry for record in journal.waiting(ws).records if isinstance(record, Remember)]
    found = {entry.id: entry for entry in (*waiting, *_set_aside(ws)) if entry.id in copies}
    for copy in copies:
        if (entry := state.known(copy)) is not None:
            found[copy] = entry
    texts = (entry.text for entry in found.values())
    return tuple(dict.fromkeys(text for text in texts if _is_telling(text)))


def erase_along(ws: Workspace, state: State, wanted: Erasure, *, dry_run: bool = False) -> Along:
    """Take out of every file here what `wanted` names, but for what is said here of somebody's own accord.

    Raises StoreUnwritable, and Busy while a dream or a drain is under way.
    """
    own = list(_own(ws, state, wanted))
    kept, spared = {text for text, _ in own}, tuple(dict.fromkeys(where for _, where in own))
    erasure = msgspec.structs.replace(wanted, texts=tuple(one for one in wanted.texts if one not in kept))
    eraser = Eraser(erasure, ws.calendar)
    places = tuple(erasing.affected(ws, eraser))
    if dry_run or not (places or erasing.holding(ws, eraser)):
        return Along(places, spared)
    state.close()
    changed, left = letting_go.erase(ws, what="erase", erasure=erasure)
    return Along(changed, (*left, *spared))


def _own(ws: Workspace, state: State, wanted: Erasure) -> Iterator[tuple[str, str]]:
    """Yield each text that is said here by others than those that go, with where, as the beginning of a remedy."""
    phrases = {text: by_first([phrase(text)]) for text in wanted.texts}
    for one in state.states():
        entry = one.entry
        if entry.id not in wanted.stubs:
            said = words(f"{entry.text}\n{entry.evidence}")
            yield from (
                (text, f"entry {entry.id}, which is nobody's copy: `reverie erase {entry.id}`")
                for text, sought in phrases.items()
                if find(said, sought)
            )
    for name in sessions.names(ws) if phrases else ():
        for turn in sessions.read(ws, name):
            if turn.role == "user":
                said = words(unread(turn))
                yield from (
                    (text, f"{sessions.path_of(name)}, where the user says it in turn {turn.n}")
                    for text, sought in phrases.items()
                    if find(said, sought)
                )


def _set_aside(ws: Workspace) -> Iterator[Entry]:
    """Yield the entries among what was refused."""
    for one in quarantine.listed(ws):
        lines, _ = framing.read(one.raw + b"\n")
        for line in lines:
            try:
                yield framing.decode(line, Remember).entry
            except InvalidRecord:
                continue


def _is_telling(text: str) -> bool:
    """Whether a text may be looked for wherever it stands."""
    return weight(phrase(text)) >= LEAST or any(map(str.isdigit, text))
