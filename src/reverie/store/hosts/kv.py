"""An adapter's own values: what a host keeps under a key, in one append-only file.

Owns `.state/kv.jsonl`; promises that what `append` returned from is on disk, that of two processes at once each sees
what the other stored before it decides, that a line which was overwritten or deleted goes with the next tidying and no
other line ever does, and that the values are not read again as long as nothing was added; never looks into a value.

The order of a write: under the file's lock the file is read to its end, the lines are made, appended and synced. A
crash leaves some first lines of a batch, each whole, or none. Tidying puts a new file in the place of the old one, as
`Disk.rewrite` does: a crash leaves the one or the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from weakref import WeakKeyDictionary

from reverie import layout
from reverie.core.formats import framing
from reverie.core.formats.key_values import Item, Name, fold, name_of, readable
from reverie.core.records import KeyValue
from reverie.errors import InvalidRecord
from reverie.store import stream
from reverie.store.filesystem.extending import TailView
from reverie.store.workspace import Workspace

DEAD = 262_144  # bytes of lines that no longer count, from which on the file is worth tidying
_SEEN = 256  # bytes that tell whether a file was only added to: the number of one that is gone is given again


class Table:
    """The keys of a workspace with their lines, as far as the file was read; goes on when it is read on."""

    def __init__(self, inode: int = -1) -> None:
        """Hold nothing yet of the file with that inode."""
        self.inode, self.end, self.size, self.mtime = inode, 0, 0, 0
        self.seen = b""
        self.weighed = 0  # up to where it was last asked whether tidying is worth it
        self.items: dict[Name, Item] = {}

    def living(self, now: datetime) -> list[Item]:
        """Return the items that have not ended, in the order their keys were first stored."""
        return [item for item in self.items.values() if item.lives(now)]

    def get(self, name: Name, now: datetime) -> Item | None:
        """Return an item by its name; None when there is none, or it has ended."""
        item = self.items.get(name)
        return item if item is not None and item.lives(now) else None


_tables: WeakKeyDictionary[Workspace, Table] = WeakKeyDictionary()


def table(ws: Workspace) -> Table:
    """Return the values as the file says now; raises NewerFormat, UnsafePath."""
    status = ws.disk.stat(layout.KV)
    if status is None:
        return Table()
    known = _tables.get(ws)
    if known is not None and known.inode == status.st_ino:
        if (known.size, known.mtime) == (status.st_size, status.st_mtime_ns):
            return known
        data = ws.disk.read_from(layout.KV, known.end - len(known.seen))
        if data.startswith(known.seen):
            return _taken(ws, known, data[len(known.seen) :])
    return _taken(ws, Table(status.st_ino), ws.disk.read(layout.KV) or b"")


def append(ws: Workspace, make: Callable[[Table], Sequence[KeyValue]]) -> None:
    """Append what `make` says to the values that there are under the file's lock, with one write and one sync.

    `make` may be called again. Raises StoreUnwritable, Busy, InvalidRecord, NewerFormat; then nothing was stored.
    """

    def build(tail: TailView) -> bytes:
        # Under the lock, so the file read here is the one that is appended to, unless it is about to be made.
        now = table(ws) if tail.size else Table()
        return b"".join(framing.frame(line) for line in make(now))

    ws.disk.append_under(layout.KV, build)
    now = table(ws)
    if (
        now.end - now.weighed >= DEAD // 4
    ):  # looking at every key after every write would be the cost of the write
        now.weighed = now.end
        if wasted(now) > DEAD:
            tidy(ws)


def wasted(now: Table) -> int:
    """Return how many bytes of the file stand for nothing, 0 while they are fewer than those that do."""
    dead = now.end - sum(item.size for item in now.items.values())
    return dead if 2 * dead > now.end else 0


def tidy(ws: Workspace) -> int:
    """Drop the lines that were overwritten, deleted or have ended, and return how many bytes that saved.

    Lines that cannot be read stay where they are, and so do members that this version does not know.
    """
    saved = [0]

    def build(old: bytes | None) -> bytes | None:
        saved[0] = 0
        new = _tidied(old or b"", ws.clock())
        if old is None or new == old:
            return None
        saved[0] = len(old) - len(new)
        return new

    ws.disk.rewrite(layout.KV, build)
    return saved[0]


def _tidied(data: bytes, now: datetime) -> bytes:
    lines, damage = framing.read(data)
    items: dict[Name, Item] = {}
    standing: dict[Name, list[int]] = {}  # where the lines of each key stand that still count
    opaque: list[framing.Line | framing.Damage] = [*damage]
    for line in lines:
        try:
            said = framing.decode(line, KeyValue)
        except InvalidRecord:
            opaque.append(line)
            continue
        if not readable(said):
            opaque.append(line)
            continue
        name = name_of(said)
        fold(items, [(line.end - line.offset, said)])
        before = standing.get(name, [])
        standing[name] = [*before[:1], line.offset] if said.touch else [line.offset]
    kept = {
        at for name, places in standing.items() if name in items and items[name].lives(now) for at in places
    }
    wanted = [*opaque, *(line for line in lines if line.offset in kept)]
    pieces = [data[one.offset : one.end] for one in sorted(wanted, key=lambda one: one.offset)]
    whole = [piece if piece.endswith(b"\n") else piece + b"\n" for piece in pieces[:-1]]
    return b"".join([*whole, *pieces[-1:]])


def _taken(ws: Workspace, now: Table, data: bytes) -> Table:
    """Take in the bytes that stand behind the end of a table, and keep it for the next look."""
    status = ws.disk.stat(layout.KV)
    read: stream.Read[KeyValue] = stream.parse(layout.KV, data, kind=KeyValue, start=now.end)
    sizes, before = [], now.end
    for end, line in read.values:
        if readable(line):
            sizes.append((end - before, line))
        before = end
    fold(now.items, sizes)
    now.size, now.mtime = now.end + len(data), status.st_mtime_ns if status is not None else 0
    whole = len(data) - (now.size - read.end)
    now.seen = (now.seen + data[:whole])[-_SEEN:]
    now.end = read.end
    if status is not None and status.st_ino == now.inode:
        _tables[ws] = now
    return now
