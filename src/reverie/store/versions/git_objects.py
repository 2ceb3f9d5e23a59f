"""Git's three kinds of object as bytes: blob, tree, commit.

Owns their encodings and the checks on reading; promises that what is written is byte for byte what git writes, and
that an object which does not hash to its name, is too large or is malformed is refused; never touches the disk.

An object is `KIND SIZE NUL CONTENT`, named by its SHA-1 and stored compressed. A tree's content is
`MODE SP NAME NUL` and 20 bytes of id an entry, ordered as if a folder's name ended in `/`.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Mapping
from datetime import UTC, datetime

import msgspec

from reverie import layout
from reverie.errors import DamagedFile, UsageError

OBJECTS = f"{layout.OBJECTS}/objects"  # the folder of the loose ones, and of packs
FILE = "100644"
FOLDER = "40000"
BLOBS = frozenset({FILE, "100755", "100664"})
MAX_BYTES = 128 * 1024 * 1024  # a larger object is refused: a few bytes can decompress to all of memory

IDENTITY = "Reverie"
_ID = re.compile(r"[0-9a-f]{40}")
_LOOSE = re.compile(rf"{OBJECTS}/([0-9a-f]{{2}})/([0-9a-f]{{38}})")
_HEADER = re.compile(rb"(blob|tree|commit|tag) (0|[1-9][0-9]{0,15})\x00")
_TREE_ROW = re.compile(rb"([0-7]{1,6}) ([^\x00]+)\x00(.{20})", re.DOTALL)
_SIGNATURE = re.compile(r"(.*) <([^<>]*)> (-?\d{1,12}) [+-]\d{4}")
_NOT_IN_NAMES = re.compile(r"[<>\x00-\x1f\x7f]+")

Changes = dict[str, "bytes | Changes | None"]  # a file's content, what changes in a folder, None to remove


class Entry(msgspec.Struct, frozen=True):
    """One entry of a tree: its mode and the id of its blob or tree."""

    mode: str
    id: str


class CommitInfo(msgspec.Struct, frozen=True):
    """A commit as stored. `author` is a name; `at` is UTC, whole seconds; `parent` is empty for the first."""

    id: str
    tree: str
    parent: str
    author: str
    at: datetime
    message: str


def is_id(text: str) -> bool:
    """Tell whether the text is an object id: 40 lower-case hex digits."""
    return _ID.fullmatch(text) is not None


def loose_path(name: str) -> str:
    """Return where an object lies that is in no pack."""
    return f"{OBJECTS}/{name[:2]}/{name[2:]}"


def loose_name(path: str) -> str:
    """Return the name of the object whose path that is, empty when it is the path of none."""
    match = _LOOSE.fullmatch(path)
    return match[1] + match[2] if match else ""


def object_id(kind: str, content: bytes) -> str:
    """Return the id of an object."""
    return hashlib.sha1(_framed(kind, content), usedforsecurity=False).hexdigest()


def pack(kind: str, content: bytes) -> bytes:
    """Return the bytes of a loose object file."""
    return zlib.compress(_framed(kind, content), 1)


def unpack(name: str, data: bytes, *, kind: str) -> bytes:
    """Return the content of the loose object `name`; raises DamagedFile unless it is a sound object of that kind."""
    decompressor = zlib.decompressobj()
    try:
        framed = decompressor.decompress(data, MAX_BYTES + 64)
    except zlib.error as error:
        raise _damaged(name, "it does not decompress") from error
    if decompressor.unconsumed_tail or not decompressor.eof or decompressor.unused_data:
        raise _damaged(name, "it is cut short, too large, or followed by other bytes")
    header = _HEADER.match(framed)
    if (
        header is None
        or header.group(1).decode() != kind
        or int(header.group(2)) != len(framed) - header.end()
    ):
        raise _damaged(name, f"its header is not that of a {kind}")
    if hashlib.sha1(framed, usedforsecurity=False).hexdigest() != name:
        raise _damaged(name, "its content does not hash to its name")
    return framed[header.end() :]


def encode_tree(entries: dict[str, Entry]) -> bytes:
    """Return a tree's content; raises UsageError for a name no tree may hold."""
    rows: list[tuple[bytes, bytes]] = []
    for name, entry in entries.items():
        if not _is_name(name):
            message = f"{name!r} cannot be the name of a file in the history"
            raise UsageError(message)
        raw = name.encode("utf-8", "surrogateescape")
        row = entry.mode.encode() + b" " + raw + b"\0" + bytes.fromhex(entry.id)
        rows.append((raw + b"/" if entry.mode == FOLDER else raw, row))
    return b"".join(row for _, row in sorted(rows))


def decode_tree(name: str, content: bytes) -> dict[str, Entry]:
    """Return a tree's entries by file name; raises DamagedFile for a name that would lead elsewhere."""
    entries: dict[str, Entry] = {}
    place = 0
    while place < len(content):
        row = _TREE_ROW.match(content, place)
        if row is None:
            raise _damaged(name, "it is no tree")
        entry = row.group(2).decode("utf-8", "surrogateescape")
        if not _is_name(entry) or entry in entries:
            raise _damaged(name, f"it names {entry!r}")
        entries[entry] = Entry(row.group(1).decode(), row.group(3).hex())
        place = row.end()
    return entries


def nested(changes: Mapping[str, bytes | None]) -> Changes:
    """Return changes by path as folders in folders; raises UsageError for a file that is a folder, too."""
    root: Changes = {}
    for path, data in changes.items():
        *folders, name = path.split("/")
        here = root
        for folder in folders:
            below = here.setdefault(folder, {})
            if below is None:  # the file that stood there goes, and a folder takes its name
                below = here[folder] = {}
            if not isinstance(below, dict):
                message = f"{path!r} lies beneath a file of the same change"
                raise UsageError(message)
            here = below
        if isinstance(here.get(name), dict):
            if data is None:
                continue
            message = f"{path!r} is both a file and a folder of the same change"
            raise UsageError(message)
        here[name] = data
    return root


def encode_commit(tree: str, parent: str, *, message: str, author: str, at: datetime) -> bytes:
    """Return a commit's content: `author` wrote the change at `at`, Reverie commits it."""
    stamp = f"{int(at.timestamp())} +0000"
    lines = [f"tree {tree}"]
    if parent:
        lines.append(f"parent {parent}")
    lines += (f"author {_signature(author)} {stamp}", f"committer {_signature(IDENTITY)} {stamp}", "")
    text = message.replace("\0", " ").rstrip() + "\n"
    return "\n".join((*lines, text)).encode("utf-8", "backslashreplace")


def decode_commit(name: str, content: bytes) -> CommitInfo:
    """Return a commit; of several parents the first. Raises DamagedFile when it has no tree or author."""
    head, _, message = content.decode("utf-8", "replace").partition("\n\n")
    fields: dict[str, str] = {}
    for line in head.split("\n"):
        key, _, value = line.partition(" ")
        fields.setdefault(key, value)
    signature = _SIGNATURE.fullmatch(fields.get("author", ""))
    tree, parent = fields.get("tree", ""), fields.get("parent", "")
    if not is_id(tree) or (parent and not is_id(parent)) or signature is None:
        raise _damaged(name, "it is no commit")
    at = datetime.fromtimestamp(int(signature.group(3)), UTC)
    return CommitInfo(name, tree, parent, signature.group(1), at, message.removesuffix("\n"))


def _framed(kind: str, content: bytes) -> bytes:
    return b"%s %d\0%s" % (kind.encode(), len(content), content)


def _is_name(name: str) -> bool:
    # git itself refuses `.git` in any case: a checkout of such a tree would be configured by it.
    return bool(name) and "/" not in name and "\0" not in name and name.casefold() not in {".", "..", ".git"}


def _signature(author: str) -> str:
    name = _NOT_IN_NAMES.sub(" ", author).strip() or "unknown"
    return f"{name} <{'-'.join(name.lower().split())}@localhost>"


def _damaged(name: str, reason: str) -> DamagedFile:
    return DamagedFile(f"history object {name} is damaged: {reason}; restore it from a backup")
