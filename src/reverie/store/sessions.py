"""Session files: every turn of a conversation, append-only.

Owns `sessions/<name>.jsonl`; promises that ordinals count up and are never reused, not even one of a line that was
damaged since (there they skip some), and that a turn sent again is read once; never rewrites a turn.

A file opens with the session's full name. Each line carries the ordinal it takes or that comes next, so an append
reads the tail alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import datetime
from functools import lru_cache, partial
from typing import Literal

import msgspec

from reverie import layout
from reverie.core.formats import framing
from reverie.core.formats.stretches import stretches
from reverie.core.records import Opened, SessionLine, Switched, Turn
from reverie.core.sessions.pipeline import Talk
from reverie.core.text.names import safe_name
from reverie.errors import InvalidRecord
from reverie.store import kept_out, stream
from reverie.store.filesystem.extending import TailView
from reverie.store.workspace import End, Workspace

_TAIL_BYTES = 4_096  # each line in it is verified, for the sake of the last
_GLANCE_BYTES = 16_384  # of a file's end, among which its last line mostly is
_LINE_BYTES = 100  # no turn's line is shorter
_ENDS = 256  # sessions whose end is remembered


class SessionState(msgspec.Struct, frozen=True, kw_only=True):
    """Where a session stands: how many turn ordinals it has used, and whether it is open, paused, or off."""

    name: str
    turns: int = 0
    open: bool = True
    paused: bool = False
    last: datetime | None = None


class Session(msgspec.Struct, frozen=True):
    """A session read whole: its turns in order, its state, and the lines that could not be read.

    `again` are turns under ordinals that the file had used before them, as where two copies of it were merged as text,
    until a line that opens the file anew goes on above them. `size` is how many bytes were read.
    """

    turns: list[Turn]
    state: SessionState
    damaged: list[stream.Damaged]
    again: list[Turn] = []
    size: int = 0


@lru_cache(maxsize=256)
def path_of(session: str) -> str:
    """Return the file of the session with the full name `session`."""
    return layout.session_file(safe_name(session))


def append(ws: Workspace, session: str, turn: Turn) -> Turn | None:
    """Append `turn` and return it as stored: with its session, its ordinal, and an id if it had none.

    None when the session is paused: nothing was stored. A turn to a session that was ended opens it again. Raises
    StoreUnwritable or Busy; then nothing was stored either.
    """
    path = path_of(session)
    numbers: list[int] = []
    turn_id = turn.id or ws.new_id()

    def build(tail: TailView) -> bytes:
        head, following, paused = _end(ws, path, tail) or _read_end(tail, session, at=turn.at)
        if paused:
            return b""
        numbers[:] = [following]
        # The session's name stands once, in the first line; repeating it would only make each line longer.
        line = head + framing.frame(msgspec.structs.replace(turn, session="", id=turn_id, n=following))
        _note_end(ws, path, End(tail.start + len(line), following + 1))
        return line

    ws.disk.append_under(path, build)
    if not numbers:
        return None
    kept_out.redacted(ws, turn.redacted)
    return msgspec.structs.replace(turn, session=session, id=turn_id, n=numbers[0])


def append_many(ws: Workspace, session: str, turns: Sequence[Turn]) -> int:
    """Append turns that have ids with one write and one sync, and return how many: none when the session is paused.

    Raises StoreUnwritable or Busy; then nothing was stored.
    """
    return append_each(ws, {session: turns})[session]


def append_each(ws: Workspace, batches: Mapping[str, Sequence[Turn]]) -> dict[str, int]:
    """Append turns that have ids to many sessions, and return how many of each are on disk: none where it is paused.

    Raises StoreUnwritable or Busy; then nothing was acknowledged, and whole turns of some sessions may be there.
    """
    stored = dict.fromkeys(batches, 0)
    builds = {path_of(name): partial(_appended, ws, name, turns, stored) for name, turns in batches.items()}
    if len(builds) == 1:
        for path, build in builds.items():
            ws.disk.append_under(path, build)
    else:
        ws.disk.append_each(builds)
    written = (turn for name, turns in batches.items() for turn in turns[: stored[name]])
    kept_out.redacted(ws, (kind for turn in written for kind in turn.redacted))
    return stored


def _appended(
    ws: Workspace, session: str, turns: Sequence[Turn], stored: dict[str, int], tail: TailView
) -> bytes:
    """Return the lines that turns add to their session's file, none where it is paused, and note how many they are."""
    path, stored[session] = path_of(session), 0
    if not turns:
        return b""
    head, following, paused = _end(ws, path, tail) or _read_end(tail, session, at=turns[0].at)
    if paused:
        return b""
    data = head + b"".join(
        framing.frame(msgspec.structs.replace(turn, session="", n=n))
        for n, turn in enumerate(turns, following)
    )
    stored[session] = len(turns)
    _note_end(ws, path, End(tail.start + len(data), following + len(turns)))
    return data


def switch(ws: Workspace, session: str, to: Literal["end", "pause", "resume"]) -> None:
    """Record that the session was ended, paused or resumed; what already holds is not written again."""
    at = ws.clock()

    def build(tail: TailView) -> bytes:
        head, last, following = _last(tail, session, at=at)
        before = isinstance(last, Switched) and last.paused
        paused = to == "pause" or (before and to == "end")
        if isinstance(last, Switched) and last.to == to and before == paused:
            return b""
        return head + framing.frame(Switched(to=to, at=at, n=following, paused=paused))

    ws.disk.append_under(path_of(session), build)


def reached(ws: Workspace, session: str) -> tuple[int | None, datetime | None]:
    """Return how many ordinals a session has used and when it last spoke, by its file's end; None for a torn one."""
    path = path_of(session)
    size = ws.disk.size(path) or 0
    if not size:
        return 0, None
    start = max(0, size - _GLANCE_BYTES)
    lines: stream.Read[SessionLine] = stream.parse(path, ws.disk.read_from(path, start), kind=SessionLine)
    if not lines.records or lines.values[-1][0] != size - start:
        return None, None
    last = lines.records[-1]
    return (last.n + 1 if isinstance(last, Turn) else last.n), last.at


def lift(ws: Workspace, session: str, *, to: int, size: int) -> None:
    """Let the next ordinal be at least `to`: what was read under lower ones stood in a file that is gone.

    Nothing is done to a file that has other than `size` bytes: what it gained is to be read under the ordinals it has.
    """
    at = ws.clock()

    def build(tail: TailView) -> bytes:
        head, last, following = _last(tail, session, at=at)
        if following > to or tail.size != size:
            return b""
        # Whether it is paused or ended is what the last line says.
        stands = (
            framing.frame(msgspec.structs.replace(last, at=at, n=to)) if isinstance(last, Switched) else b""
        )
        return head + framing.frame(Opened(session=session, at=at, n=to)) + stands

    ws.disk.append_under(path_of(session), build)


def read(ws: Workspace, session: str, *, start: int = 0, stop: int | None = None) -> list[Turn]:
    """Return the turns with ordinals in `[start, stop)`, in order, each id once."""
    return [turn for turn in load(ws, session).turns if turn.n >= start and (stop is None or turn.n < stop)]


def each(ws: Workspace, session: str) -> Iterator[Turn]:
    """Yield every turn as its line has it, one sent twice twice, holding some megabytes of the file at a time."""
    path = path_of(session)
    with closing(ws.disk.pieces(path)) as pieces:
        for stretch in stretches(pieces):
            lines: stream.Read[SessionLine] = stream.parse(path, stretch, kind=SessionLine)
            yield from (line for line in lines.records if isinstance(line, Turn))


def load(ws: Workspace, session: str) -> Session:
    """Return the whole session; an absent one is empty and open."""
    return _load(ws, path_of(session), session=session)


def names(ws: Workspace) -> list[str]:
    """Return the full names of all sessions, sorted."""
    return sorted(state.name for state in states(ws))


def states(ws: Workspace) -> list[SessionState]:
    """Return the state of every session, in the order of their file names."""
    return [_load(ws, path, session="").state for path in files(ws)]


def talks(ws: Workspace, mark: Callable[[str], int], *, within: int | None = None) -> Iterator[Talk]:
    """Yield every session as the table of triggers sees it; `mark` says how far one was read.

    With `within`, only those whose files changed last, the newest first, as far as they have so many bytes together.
    """
    for path in files(ws) if within is None else _newest(ws, within):
        whole = _load(ws, path, session="")
        one, read_to = whole.state, mark(whole.state.name)
        if whole.again:
            read_to = min(read_to, *(turn.n for turn in whole.again))
        yield Talk(session=one.name, turns=one.turns, read=read_to, open=one.open, last=one.last)


def _newest(ws: Workspace, within: int) -> Iterator[str]:
    for path, status in ws.disk.newest_first(files(ws)):
        within -= status.st_size
        if within < 0:
            return
        yield path


def files(ws: Workspace) -> list[str]:
    """Return the paths of all session files that may be opened, sorted."""
    return [
        path for path in ws.disk.walk(layout.SESSIONS) if path.endswith(".jsonl") and path.count("/") == 1
    ]  # fmt: skip


def open_file(ws: Workspace, path: str) -> Session:
    """Return the session stored at `path`."""
    return _load(ws, path, session="")


def _end(ws: Workspace, path: str, tail: TailView) -> tuple[bytes, int, bool] | None:
    """Return what `_read_end` would find where this process knows it: nobody has written to the file since."""
    end = ws.ends.get(path)
    if end is None or not tail.same or end.size != tail.size or tail.start != tail.size:
        return None
    return b"", end.following, end.paused


def _note_end(ws: Workspace, path: str, end: End) -> None:
    """Remember how the file will end once what is being built was appended; its size tells whether it was."""
    if len(ws.ends) >= _ENDS:
        ws.ends.clear()
    ws.ends[path] = end


def _read_end(tail: TailView, session: str, *, at: datetime) -> tuple[bytes, int, bool]:
    """Return what must stand before the next line, the ordinal it takes, and whether the session is paused."""
    head, last, following = _last(tail, session, at=at)
    return head, following, isinstance(last, Switched) and last.paused


def _last(tail: TailView, session: str, *, at: datetime) -> tuple[bytes, SessionLine, int]:
    """Return what must stand before the next line, the last readable line, and the ordinal that follows.

    What must stand before is the first line of a new file, else nothing. Looks at ever more of the file's end until a
    line can be read: a line may be long, and the last may be torn. What cannot be read behind it may have been turns,
    as many as its bytes could hold.
    """
    window, rest = _TAIL_BYTES, 0
    while tail.size:
        start = max(0, tail.size - window)
        lines, _ = framing.read(tail.read(start, tail.size - start))
        for line in reversed(lines):
            try:
                last = framing.decode(line, SessionLine)
            except InvalidRecord:
                continue
            rest = tail.size - start - line.end
            return b"", last, (last.n + 1 if isinstance(last, Turn) else last.n) + _held(rest)
        if start == 0:
            rest = tail.size
            break
        window *= 8
    opened = Opened(session=session, at=at, n=_held(rest))
    return framing.frame(opened), opened, opened.n


def _held(size: int) -> int:
    """Return how many turns `size` unreadable bytes can have been."""
    return -(-size // _LINE_BYTES)


def identity(turn: Turn) -> tuple[str, ...]:
    """Return what makes two stored turns one: the id and what was said.

    A host that sends a turn again is told from one that gives a new turn an old id, whose words must not vanish.
    """
    return (turn.id, turn.role, turn.call, turn.content)


def _load(ws: Workspace, path: str, *, session: str) -> Session:
    """Return the session at `path`; `session` is its name when the first line does not say it."""
    data = ws.disk.read_from(path, 0)
    lines: stream.Read[SessionLine] = stream.parse(path, data, kind=SessionLine)
    turns: list[Turn] = []
    again: list[Turn] = []
    seen: set[tuple[str, ...]] = set()
    name, is_open, paused, used, last = session, True, False, 0, None
    for line in lines.records:
        last = line.at
        if isinstance(line, Opened):
            again = again if line.n < used else []
            name, used = line.session, max(used, line.n)
        elif isinstance(line, Switched):
            is_open, paused, used = line.to != "end", line.paused, max(used, line.n)
        else:
            is_open, paused, before, used = True, False, used, max(used, line.n + 1)
            if identity(line) not in seen:
                seen.add(identity(line))
                turns.append(line)
                if line.n < before:
                    again.append(line)
    ended = lines.values[-1][0] if lines.values else 0
    used += _held(sum(len(piece.raw) for piece in lines.damaged if piece.offset >= ended))
    state = SessionState(name=name, turns=used, open=is_open, paused=paused, last=last)
    return Session(_in_order(turns, name), state, lines.damaged, _in_order(again, name), len(data))


def _in_order(turns: Iterable[Turn], session: str) -> list[Turn]:
    """Return turns by their ordinals, each with its session's name."""
    return [msgspec.structs.replace(turn, session=session) for turn in sorted(turns, key=lambda turn: turn.n)]
