"""What hooks of a coding agent left behind: how far its transcripts were read, and what went wrong.

Owns `.state/counters/hooks.json`; promises that two hooks at once lose neither's note; a lost file costs reading the
transcripts once more, of which every turn is known by its id. Never holds a word of what was said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime

import msgspec

from reverie import layout
from reverie.core.formats import framing
from reverie.store.workspace import Workspace

PATH = layout.counters_file("hooks")
KEPT = 500  # transcripts whose position is remembered, those read last
_LONGEST = 500  # characters of a trouble


class Position(msgspec.Struct, frozen=True, omit_defaults=True):
    """How far a transcript was read: the byte, how long it was then, and a digest of its beginning.

    `sources` are the sessions of which it repeats what was said, as far as it was read.
    """

    at: int = 0
    size: int = 0
    head: str = ""
    sources: tuple[str, ...] = ()

    @property
    def left(self) -> int:
        """How many bytes were there and not read."""
        return max(0, self.size - self.at)


class Trouble(msgspec.Struct, frozen=True):
    """What went wrong in the last hook of an event, and when."""

    what: str
    when: datetime


class Hooks(msgspec.Struct, frozen=True, omit_defaults=True, tag="hooks"):
    """Positions by the path of the transcript, the one read last at the end, and troubles by event."""

    positions: dict[str, Position] = {}
    troubles: dict[str, Trouble] = {}


def read(ws: Workspace) -> Hooks:
    """Return what is known; a missing or damaged file counts as new."""
    return _decoded(ws.disk.read(PATH))


def reached(ws: Workspace, transcript: str, position: Position) -> None:
    """Note how far a transcript was read."""

    def change(old: Hooks) -> Hooks:
        others = {path: one for path, one in old.positions.items() if path != transcript}
        kept = dict(list({**others, transcript: position}.items())[-KEPT:])
        return msgspec.structs.replace(old, positions=kept)

    _change(ws, change)


def expected(ws: Workspace, transcript: str) -> None:
    """Note that a session has a transcript, which is not there yet."""
    if transcript not in read(ws).positions:
        reached(ws, transcript, Position())


def gone(ws: Workspace, transcript: str) -> None:
    """Forget the position of a transcript that is no longer there."""

    def change(old: Hooks) -> Hooks:
        kept = {path: one for path, one in old.positions.items() if path != transcript}
        return msgspec.structs.replace(old, positions=kept)

    _change(ws, change)


def went(ws: Workspace, event: str, what: str) -> None:
    """Note what went wrong in a hook, or with an empty `what` that the last one of this event went well."""

    def change(old: Hooks) -> Hooks:
        others = {name: one for name, one in old.troubles.items() if name != event}
        if what:
            others[event] = Trouble(" ".join(what.split())[:_LONGEST], ws.clock())
        return msgspec.structs.replace(old, troubles=others)

    if what or event in read(ws).troubles:
        _change(ws, change)


def told(ws: Workspace) -> Iterator[tuple[str, str]]:
    """Yield what needs attention, each with its remedy."""
    known = read(ws)
    for event, trouble in known.troubles.items():
        yield (
            f"the hook {event} failed at {trouble.when:%Y-%m-%d %H:%M} UTC: {trouble.what}",
            "mend the cause; the next hook of this kind takes this line away",
        )
    left = sum(one.left for one in known.positions.values())
    if left:
        yield f"{left:,} bytes of transcripts are not read yet", "each further hook reads on"


def _change(ws: Workspace, change: Callable[[Hooks], Hooks]) -> None:
    def build(old: bytes | None) -> bytes | None:
        before = _decoded(old)
        after = change(before)
        return None if after == before else framing.frame(after)

    ws.disk.rewrite(PATH, build)


def _decoded(data: bytes | None) -> Hooks:
    return framing.last(data, Hooks) or Hooks()
