"""Packs that a person's own `git gc` made in `.history`, taken apart again.

Owns reading a pack and the ref that git packed with it; promises that every object of a pack lies loose and synced
before the pack goes, so that no version is lost, that an object is named by the hash of what it holds, whatever the
pack says, and that a pack which cannot be read is left as it is; never runs git, and never heeds a packed ref while
there is a loose one.

The order: each object, loose; then, under the write lock, the ref where it is missing, and the pack's files. A crash
between any two leaves the pack, and taking it apart again writes what is missing.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from typing import Literal

import msgspec

from reverie import layout
from reverie.errors import DamagedFile
from reverie.store.versions import git_objects
from reverie.store.versions.git import MAIN, PACKED_REFS, PACKS, History
from reverie.store.workspace import Workspace

_PACK = re.compile(r"(pack-[0-9a-f]{40})\.pack")
_REF = re.compile(rb"^([0-9a-f]{40}) refs/heads/main$", re.MULTILINE)
_KINDS = {1: "commit", 2: "tree", 3: "blob", 4: "tag"}
_BY_PLACE, _BY_NAME = 6, 7  # deltas, by where the object lies that they change, or by its name
_HEADER, _TRAILER = 12, 20  # bytes before the first object and behind the last
_READ = 4_096  # bytes decompressed at a time: what lies behind an object is not copied with it


REMEDY = (
    "remove nothing: the next `reverie lint`, `undo` or dream takes it apart; what still stands here after that is"
    " damaged: restore .history from a backup"
)


class _Packed(msgspec.Struct, frozen=True):
    """One object of a pack: where it begins and ends, its kind or the object it changes, and its bytes."""

    start: int
    end: int
    kind: str
    base: int | str
    data: bytes


def packs(ws: Workspace) -> tuple[str, ...]:
    """Return the whole packs in `.history`, by their paths; one that git still writes has no index yet."""
    names = set(ws.disk.list(PACKS))
    found = (_PACK.fullmatch(name) for name in sorted(names))
    return tuple(f"{PACKS}/{one[0]}" for one in found if one is not None and f"{one[1]}.idx" in names)


def take_apart(ws: Workspace) -> int:
    """Make every pack loose objects again, and return how many packs that were; raises Busy.

    A pack that cannot be read stays, and `check` names it.
    """
    done = []
    for path in packs(ws):
        try:
            _loosen(ws, ws.disk.read(path) or b"")
        except DamagedFile:
            continue
        done.append(path.rpartition("/")[2].removesuffix(".pack"))
    if not done:
        return 0
    with ws.writing("history"):
        ref = _REF.search(ws.disk.read(PACKED_REFS) or b"")
        if ws.disk.size(MAIN) is None and ref is not None:
            ws.disk.replace(MAIN, ref[1] + b"\n")
        for path in [f"{PACKS}/{one}" for one in ws.disk.list(PACKS) if one.partition(".")[0] in done]:
            ws.disk.remove(path)
    return len(done)


def troubles(ws: Workspace) -> Iterator[tuple[str, str, str, Literal["error", "warning"]]]:
    """Yield what is wrong with the history: the place, what it is, the remedy and how grave it is."""
    history, packed = History(ws), packs(ws)
    for path in packed:
        yield path, "`git gc` packed the history, which is read loose", REMEDY, "warning"
    for path, sentence in () if packed else history.verify():
        yield path, sentence, "restore .history from a backup", "error"
    for path in () if packed else history.foreign():
        said = "the history never makes such a file, and heeds none"
        yield f"{layout.OBJECTS}/{path}", said, "remove it, unless you know why it is there", "warning"


def _loosen(ws: Workspace, pack: bytes) -> None:
    """Store each object of a pack by itself; raises DamagedFile when one cannot be read."""
    names: dict[int | str, tuple[str, str]] = {}  # where an object lies, or its name -> its name and kind
    waiting: dict[int | str, list[_Packed]] = {}
    for one in _objects(pack):
        if one.kind:
            name = _stored(ws, one.kind, one.data)
            names[one.start] = names[name] = (name, one.kind)
        else:
            waiting.setdefault(one.base, []).append(one)
    reached = list(names)
    while reached:
        place = reached.pop()
        name, kind = names[place]
        for one in waiting.pop(place, []):
            data = patched(_held(ws, name, kind), one.data)
            made = _stored(ws, kind, data)
            names[one.start] = names[made] = (made, kind)
            reached += [one.start, made]
    if waiting:
        raise DamagedFile("a pack of the history lacks what its objects are made from")


def _stored(ws: Workspace, kind: str, content: bytes) -> str:
    """Store an object unless it lies there soundly, and return its name."""
    name = git_objects.object_id(kind, content)
    try:
        _held(ws, name, kind)
    except DamagedFile:
        ws.disk.replace(git_objects.loose_path(name), git_objects.pack(kind, content))
    return name


def _held(ws: Workspace, name: str, kind: str) -> bytes:
    return git_objects.unpack(name, ws.disk.read(git_objects.loose_path(name)) or b"", kind=kind)


def _objects(pack: bytes) -> Iterator[_Packed]:
    """Yield the objects of a pack as they lie there; raises DamagedFile."""
    if pack[:4] != b"PACK" or int.from_bytes(pack[4:8]) not in (2, 3):
        raise DamagedFile("a pack of the history is none")
    place = _HEADER
    try:
        for _ in range(int.from_bytes(pack[8:12])):
            one = _object_at(pack, place)
            yield one
            place = one.end
    except (IndexError, zlib.error) as error:
        raise DamagedFile("a pack of the history is cut or changed") from error
    if place != len(pack) - _TRAILER:
        raise DamagedFile("a pack of the history holds more than it says")


def _object_at(pack: bytes, start: int) -> _Packed:
    byte, place = pack[start], start + 1
    number = (byte >> 4) & 7
    while byte & 0x80:  # its length, which decompressing tells as well
        byte, place = pack[place], place + 1
    base: int | str = ""
    if number == _BY_PLACE:
        byte, place = pack[place], place + 1
        back = byte & 0x7F
        while byte & 0x80:
            byte, place = pack[place], place + 1
            back = ((back + 1) << 7) | (byte & 0x7F)
        base = start - back
    elif number == _BY_NAME:
        base, place = pack[place : place + 20].hex(), place + 20
    elif number not in _KINDS:
        raise DamagedFile(f"a pack of the history holds an object of kind {number}")
    data, end = _inflated(pack, place)
    return _Packed(start, end, _KINDS.get(number, ""), base, data)


def _inflated(pack: bytes, place: int) -> tuple[bytes, int]:
    """Return the bytes compressed from `place` on, and where they end."""
    stream, parts, size = zlib.decompressobj(), list[bytes](), 0
    while not stream.eof:
        piece = pack[place : place + _READ]
        if not piece:
            raise DamagedFile("a pack of the history is cut short")
        parts.append(stream.decompress(piece, git_objects.MAX_BYTES))
        size += len(parts[-1])
        if size > git_objects.MAX_BYTES or stream.unconsumed_tail:
            raise DamagedFile("a pack of the history holds an object that is too large")
        place += len(piece) - len(stream.unused_data)
    return b"".join(parts), place


def patched(base: bytes, delta: bytes) -> bytes:
    """Return what a delta makes of `base`; raises DamagedFile for one that was made for other bytes."""
    try:
        old, place = _number(delta, 0)
        new, place = _number(delta, place)
        if old != len(base) or new > git_objects.MAX_BYTES:
            raise DamagedFile("a delta in a pack of the history belongs to another object")
        parts: list[bytes] = []
        left = new
        while place < len(delta):
            parts_of, place = _instruction(base, delta, place)
            left -= len(parts_of)
            if left < 0:
                break
            parts.append(parts_of)
    except IndexError as error:
        raise DamagedFile("a delta in a pack of the history is cut short") from error
    if left:
        raise DamagedFile("a delta in a pack of the history does not give what it says")
    return b"".join(parts)


def _instruction(base: bytes, delta: bytes, place: int) -> tuple[bytes, int]:
    """Return what one instruction adds (a piece of `base`, or bytes of its own), and where the next one stands."""
    code, place = delta[place], place + 1
    if not code & 0x80:
        return delta[place : place + code], place + code
    values = [0, 0]  # offset and length
    for bit in range(7):
        if code & (1 << bit):
            values[bit > 3] |= delta[place] << 8 * (bit if bit <= 3 else bit - 4)  # noqa: PLR2004 - bits 0 to 3 are of the offset
            place += 1
    return base[values[0] : values[0] + (values[1] or 0x10000)], place


def _number(delta: bytes, place: int) -> tuple[int, int]:
    """Return a number written seven bits a byte, lowest first, and where it ends."""
    value = shift = 0
    while True:
        byte, place = delta[place], place + 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return value, place
