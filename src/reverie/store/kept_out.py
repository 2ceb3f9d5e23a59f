"""How often secrets were taken out of what was stored, and how much was left out for its topic.

Owns `.state/counters/kept_out.json`; promises that counting never fails the write it counts, and that processes which
count at once lose none; a lost file costs the numbers. Never holds a word of what was kept out, nor a topic.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress

import msgspec

from reverie import layout
from reverie.core.forgetting.exclusions import excluded_by
from reverie.core.formats import framing
from reverie.core.records import Entry, Turn
from reverie.errors import Busy, StoreUnwritable, UnsafePath
from reverie.store.workspace import Workspace

PATH = layout.counters_file("kept_out")
_MARK = re.compile(r"\[redacted:([\w-]{1,40})\]")


class KeptOut(msgspec.Struct, frozen=True, omit_defaults=True, tag="kept_out"):
    """Since the day `since`: of how many turns and explicit writes a secret of each kind was taken out, and `excluded`.

    That counts turns and paragraphs of notes that named an excluded topic when they were read, with what was found
    elsewhere and explicit writes that were refused for one.
    """

    since: str = ""
    redacted: dict[str, int] = {}
    excluded: int = 0


def counted(ws: Workspace) -> KeptOut:
    """Return what was counted; a missing or damaged file counts as new."""
    return _decoded(ws.disk.read(PATH))


def redacted(ws: Workspace, kinds: Iterable[str]) -> None:
    """Count one secret of each of these kinds; most writes have none, and cost nothing."""
    if found := list(kinds):
        _add(ws, found, 0)


def excluded(ws: Workspace, number: int = 1) -> None:
    """Count what was left out for its topic."""
    if number:
        _add(ws, (), number)


def on_topic(ws: Workspace, turns: Iterable[Turn]) -> int:
    """Return how many of some turns name an excluded topic, which was withheld from whoever read them."""
    topics = ws.settings.exclusions
    return sum(bool(excluded_by(turn.content, topics)) for turn in turns) if topics else 0


def marks(entry: Entry, said: Iterable[str]) -> frozenset[str]:
    """Return the kinds of secrets whose marks stand in an entry and in nothing of what was `said`."""
    stored = (entry.text, entry.evidence, *entry.tags, entry.who, entry.about)
    return frozenset(_MARK.findall("\n".join(stored))) - frozenset(_MARK.findall("\n".join(said)))


def taken(ws: Workspace, entry: Entry, said: Iterable[str]) -> tuple[str, ...]:
    """Count what was taken out of an entry made from what was `said`, and return the kinds, sorted."""
    found = sorted(marks(entry, said))
    redacted(ws, found)
    return tuple(found)


def _add(ws: Workspace, kinds: Iterable[str], number: int) -> None:
    def more(data: bytes | None) -> bytes:
        known = _decoded(data)
        sums = dict(known.redacted)
        for kind in kinds:
            sums[kind] = sums.get(kind, 0) + 1
        return framing.frame(KeptOut(known.since or ws.today, sums, known.excluded + number))

    with suppress(StoreUnwritable, UnsafePath, Busy):  # what it counts is stored
        ws.disk.rewrite(PATH, more)


def _decoded(data: bytes | None) -> KeptOut:
    return framing.last(data, KeptOut) or KeptOut()
