"""Following a transcript that another program writes: what it gained becomes turns, exactly once.

In: the path of a transcript, JSON lines that grow. Out: its new turns in their sessions' files, redacted and synced,
and the byte up to which it was read. No model, no index. The other way in is `capture`; both make the same turns.

The order, for each piece of the transcript:

1. whole lines past the remembered byte are read and made into turns, under no lock
2. under the write lock, if nobody read on meanwhile: the turns are appended, synced, then the new byte is noted

What a crash leaves: before 2, nothing; within it, turns whose byte is not noted, which are appended again, and readers
take each id once. Of two hooks at once one appends and the other finds the byte moved. A line without its end waits for
it. A transcript that was cut or replaced is read from its beginning, and the turns known by their ids are passed over;
so are those that a forked session repeats from the one it goes on from, and what stands before one of them. A line that
cannot be read is set aside. What is said while capture is paused or off is passed over for good.

Next: `extract`.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from reverie import layout
from reverie.core.formats import framing
from reverie.core.records import Turn
from reverie.core.sessions.injected import spans_of
from reverie.core.sessions.intake import cleaned, problem
from reverie.errors import NotFound, UnsafePath, UsageError
from reverie.importers import claude_code
from reverie.importers.forked import Forked
from reverie.importers.taken import Passed
from reverie.importers.turns import Defaults
from reverie.store import quarantine, sessions, stream
from reverie.store.beginnings import beginnings
from reverie.store.hosts import hooks
from reverie.store.hosts.hooks import Position
from reverie.store.workspace import Workspace

MOST = 2 << 20  # bytes read at one call; about a second, so that a hook keeps its host waiting no longer
_PIECE = 1 << 20
_LINE = 24 << 20  # bytes of the longest line that is decoded
_HEAD = 256  # bytes by which a transcript is known again
_KEPT = 100_000  # bytes of a line that cannot be read that are set aside
_SOURCES = 500  # sessions, those that changed last, among which is looked for the one a session goes on from

Rendered = Callable[[str], tuple[str, ...]]


class Followed(msgspec.Struct, frozen=True, kw_only=True):
    """What was taken in: how many turns, of which sessions, lines set aside, and bytes left for another call."""

    turns: int = 0
    sessions: tuple[str, ...] = ()
    unread: int = 0
    left: int = 0


class _Piece(msgspec.Struct):
    """What a stretch of a transcript holds: where it ends, turns by session, lines to be set aside.

    `copies` has by session the other one in which, by what the host says, so many of its turns were said.
    """

    end: int
    copies: dict[str, tuple[str, int]] = msgspec.field(default_factory=dict)
    turns: dict[str, list[Turn]] = msgspec.field(default_factory=dict)
    aside: list[stream.Damaged] = msgspec.field(default_factory=list)


def follow(ws: Workspace, path: str, session: str, *, rendered: Rendered, most: int = MOST) -> Followed:
    """Take in what a transcript gained, at most about `most` bytes of it; `session` is for lines that name none.

    `rendered` tells what a session was shown, which is no new word when it comes back. Raises NotFound, UnsafePath for
    what is no plain file, StoreUnwritable, Busy.
    """
    done = Followed()
    with _opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        noted = hooks.read(ws).positions.get(path, Position())
        place = noted.at if noted.at <= size and noted.head == _head(file, noted.at) else 0
        before = _Before(ws, session, anew=not place, sources=noted.sources if place else ())
        while place < size and most > 0:
            piece = _read(ws, file, place, default=session)
            for name, turns in piece.turns.items():
                said = turns[_followed(ws, path, piece.copies.get(name)) :]
                piece.turns[name] = _marked(before.fresh(said), rendered)
            # A line that has no end yet is not counted among what is left.
            ends = size if piece.end > place else place
            after = Position(piece.end, ends, _head(file, piece.end), before.sources)
            if after == noted or not _keep(ws, path, piece, before=noted, after=after):
                break  # there is nothing new, or another hook reads on
            done = _sum(done, piece)
            most, ended = most - (piece.end - place), piece.end == place
            place, noted = piece.end, after
            if ended:
                break
    return msgspec.structs.replace(done, left=noted.left)


def waiting(ws: Workspace, *, grown: bool = False) -> list[str]:
    """Return the transcripts of which bytes are left that a call had no time for; with `grown`, those written since."""
    found = []
    for path, one in hooks.read(ws).positions.items():
        if one.left or (grown and _size(path) > one.size):
            found.append(path)
    return found


def _size(path: str) -> int:
    """Return a transcript's length in bytes, 0 for one that is not there."""
    try:
        return Path(path).stat().st_size
    except (OSError, ValueError):
        return 0


def _opened(path: str) -> BinaryIO:
    """Open a transcript; raises NotFound, UnsafePath.

    A path that a hook was handed may be anything. Lines that cannot be read are kept, so another file's would be, too.
    """
    try:
        # Looked at before it is opened: a pipe would keep its reader waiting.
        if not stat.S_ISREG(Path(path).lstat().st_mode):
            raise UnsafePath(f"the transcript {path[:200]!r} is no plain file")
        if Path(path).suffix != ".jsonl":
            raise UnsafePath(f"the transcript {path[:200]!r} is no .jsonl file")
        return Path(path).open("rb")
    except (OSError, ValueError) as error:
        raise NotFound(f"the transcript {path[:200]!r} cannot be read: {error}") from error


def _head(file: BinaryIO, at: int) -> str:
    """Return a digest of the beginning of a transcript that was read up to `at`."""
    file.seek(0)
    return hashlib.sha256(file.read(min(at, _HEAD))).hexdigest()[:16] if at else ""


def _known(ws: Workspace, session: str) -> set[str]:
    """Return the ids of the turns that a session has; what was erased from one is not to come back."""
    return {turn.id for turn in sessions.read(ws, session)}


def _read(ws: Workspace, file: BinaryIO, at: int, *, default: str) -> _Piece:
    """Return the turns of whole lines from `at` on, and where the last of them ends."""
    file.seek(at)
    data = file.read(_PIECE)
    end = data.rfind(b"\n") + 1
    while not end and len(data) < _LINE and (more := file.read(_PIECE)):
        found = more.find(b"\n") + 1
        end = len(data) + found if found else 0
        data += more
    piece = _Piece(at + end)
    if not end:
        if len(data) >= _LINE:
            piece.end = _end_of_line(file, at + len(data))
            _set_aside(piece, ws, at, raw=data, why=f"a line of more than {_LINE:,} bytes")
        return piece
    defaults = Defaults(default, ws.clock().replace(microsecond=0), ws.calendar)
    place = at
    for line in data[:end].split(b"\n"):
        if raw := line.strip():
            try:
                value = msgspec.json.decode(raw)
                _take(piece, ws, claude_code.event(value, defaults))
                _note_copies(piece, value)
            except (*framing.NO_JSON, UsageError) as error:
                _set_aside(piece, ws, place, raw=raw, why=str(error))
        place += len(line) + 1
    return piece


def _end_of_line(file: BinaryIO, at: int) -> int:
    """Return where the line ends that reaches beyond `at`; where the file does, when it has no end yet: it is lost."""
    file.seek(at)
    while data := file.read(_PIECE):
        found = data.find(b"\n")
        if found >= 0:
            return at + found + 1
        at += len(data)
    return at


def _take(piece: _Piece, ws: Workspace, found: Iterator[Any]) -> None:
    """Keep the turns of one event that may be stored; raises UsageError for one that may not."""
    settings = ws.settings
    for turn in found:
        if isinstance(turn, Passed):
            continue
        if why := problem(turn, limit=settings.max_turn_bytes):
            raise UsageError(why)
        clean = cleaned(turn, allow=settings.redaction_allow) if settings.redaction else turn
        piece.turns.setdefault(clean.session, []).append(clean)


def _note_copies(piece: _Piece, value: Any) -> None:  # noqa: ANN401 - foreign JSON
    """Note that the turns up to an answer that was asked for in another session were said there."""
    told = value if isinstance(value, dict) else {}
    session, source = told.get("sessionId"), told.get("requestSessionId")
    if isinstance(session, str) and isinstance(source, str) and source != session:
        piece.copies[session] = (source, len(piece.turns.get(session, ())))


def _followed(ws: Workspace, path: str, copies: tuple[str, int] | None) -> int:
    """Return how many turns are copies from a transcript that was followed: each was stored, or off the record."""
    if copies is None or "/" in copies[0]:
        return 0
    source = hooks.read(ws).positions.get(str(Path(path).with_name(f"{copies[0]}.jsonl")), Position())
    return copies[1] if source.at and not source.left else 0


def _set_aside(piece: _Piece, ws: Workspace, place: int, *, raw: bytes, why: str) -> None:
    piece.aside.append(stream.Damaged("transcript", place, ws.clean_raw(raw[:_KEPT]), why))


class _Before:
    """What a transcript repeats: its session's own turns when it is read anew, and at its beginning another's."""

    def __init__(self, ws: Workspace, session: str, *, anew: bool, sources: tuple[str, ...]) -> None:
        """Begin where the transcript was read up to within what it repeats of `sources`, or at its beginning."""
        self._ws, self._own = ws, _known(ws, session) if anew else set()
        self.sources = sources  # the sessions that what was read last is repeated from
        self._looks = anew or bool(sources)
        self._forked: Forked | None = None

    def fresh(self, turns: list[Turn]) -> list[Turn]:
        """Return the turns that are new."""
        if self._looks and turns:
            if self._forked is None:
                begun = beginnings(self._ws, _SOURCES)
                self._forked = Forked(begun, lambda name: _known(self._ws, name), sources=self.sources)
            copied = [place for place, turn in enumerate(turns, 1) if self._forked.copied(turn)]
            # A copy is one stretch: what stands between was off the record there.
            turns = turns[copied[-1] :] if copied else turns
            self._looks = not turns  # else the session goes on by itself
            self.sources = self._forked.sources if self._looks else ()
        return [turn for turn in turns if turn.id not in self._own]


def _marked(turns: list[Turn], rendered: Rendered) -> list[Turn]:
    """Return the turns with the spans marked that their session was shown."""
    shown = rendered(turns[0].session) if turns else ()
    if not shown:
        return turns
    return [msgspec.structs.replace(one, injected=spans_of(one.content, shown)) for one in turns]


def _sum(done: Followed, piece: _Piece) -> Followed:
    """Return what was taken in so far and with a piece."""
    named = [name for name, turns in piece.turns.items() if turns]
    return Followed(
        turns=done.turns + sum(map(len, piece.turns.values())),
        sessions=tuple(dict.fromkeys((*done.sessions, *named))),
        unread=done.unread + len(piece.aside),
    )


def _keep(ws: Workspace, path: str, piece: _Piece, *, before: Position, after: Position) -> bool:
    """Append a piece's turns and note how far it reaches; False when somebody else noted something meanwhile."""
    on = ws.settings.enabled and ws.disk.glance(layout.PAUSED) is None
    with ws.writing("hook"):
        if hooks.read(ws).positions.get(path, Position()) != before:
            return False
        for session, turns in piece.turns.items():
            if on and turns:
                sessions.append_many(ws, session, turns)
        hooks.reached(ws, path, after)
    if on and piece.aside:
        quarantine.set_aside(ws, piece.aside)
    return True
