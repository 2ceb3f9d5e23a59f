"""Opening what is imported: a file, or the members of a ZIP archive, as streams of bytes.

Owns the limits of archives; promises that nothing is unpacked to disk, that a member's name is only a label, and that
an archive that unpacks to far more than it weighs is refused; never reads a file whole.
"""

from __future__ import annotations

import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import BinaryIO

import msgspec

from reverie import layout
from reverie.errors import UsageError
from reverie.importers.pieces import plain
from reverie.importers.taken import Passed

MAX_MEMBERS = 10_000
MAX_RATIO = 200  # unpacked bytes for each packed one; text in JSON stays below 20
_CHUNK = 256 << 10
_SLACK = 1 << 20  # a small archive may be as dense as it likes
_END = b"PK\x05\x06"
_END_TAIL = 65_557  # the end record with the longest comment
_ENTRY_BYTES = 1_000  # of the directory for each member: its name and what else it tells
_TALKS = re.compile(r"conversations(?:[-_]\d+)?\.json", re.IGNORECASE)
_BESIDE = re.compile(
    r"memories\.json", re.IGNORECASE
)  # what claude.ai remembered itself, beside the conversations


class Member(msgspec.Struct, frozen=True):
    """One stream of what is imported: a label, and its bytes in UTF-8."""

    label: str
    chunks: Iterator[bytes]


class Broken(UsageError):
    """A member of an archive cannot be unpacked; the others may."""


def members(file: BinaryIO, label: str) -> Iterator[Member | Passed]:
    """Yield the streams in an open file: itself, or those in an archive that are read, and tell of each other one.

    Raises UsageError.
    """
    if not is_archive(file):
        yield Member(PurePosixPath(label).stem, plain(_chunks(file)))
        return
    _look(file)
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
        raise UsageError(f"the archive cannot be read: {error}") from error
    with archive:
        chosen, other = _chosen(archive.infolist())
        if len(archive.infolist()) > MAX_MEMBERS:
            raise UsageError(f"the archive has more than {MAX_MEMBERS:,} members")
        if not chosen:
            raise UsageError("the archive holds no conversations: a conversations.json or *.jsonl is wanted")
        limit = _Limit(_size(file) * MAX_RATIO + _SLACK)
        for info in chosen:
            yield Member(_stem(info.filename), plain(_unpacked(archive, info, limit)))
        yield from [Passed("a file of the archive without conversations")] * other


def is_archive(file: BinaryIO) -> bool:
    """Whether an open file is a ZIP archive; it stands at its beginning afterwards."""
    file.seek(0)
    head = file.read(4)
    file.seek(0)
    return head in {b"PK\x03\x04", _END}


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    while chunk := file.read(_CHUNK):
        yield chunk


def _size(file: BinaryIO) -> int:
    return file.seek(0, 2)


def _look(file: BinaryIO) -> None:
    """Refuse an archive whose directory alone would fill the memory, before it is read."""
    size = _size(file)
    file.seek(max(0, size - _END_TAIL))
    tail = file.read()
    at = tail.rfind(_END)
    if at < 0 or at + 22 > len(tail):
        raise UsageError("the archive is cut off: its end is missing")
    count, directory = struct.unpack_from("<HI", tail, at + 10)
    if count > MAX_MEMBERS or directory > MAX_MEMBERS * _ENTRY_BYTES:
        raise UsageError(f"the archive has more than {MAX_MEMBERS:,} members")
    file.seek(0)


def _chosen(listed: list[zipfile.ZipInfo]) -> tuple[list[zipfile.ZipInfo], int]:
    """Return the members to be read, by name, and how many are not.

    Read are conversations.json and its shards, with what stands beside them, or else all JSON.
    """
    files = sorted((one for one in listed if not one.is_dir()), key=lambda one: one.filename)
    named = [(PurePosixPath(one.filename).name, one) for one in files]
    chosen = [one for name, one in named if _TALKS.fullmatch(name)]
    if chosen:
        chosen += [one for name, one in named if _BESIDE.fullmatch(name)]
    else:
        chosen = [one for one in files if one.filename.lower().endswith((".jsonl", ".json"))]
    return chosen, len(files) - len(chosen)


def _stem(name: str) -> str:
    return PurePosixPath(name.replace("\\", "/")).stem or "member"


class _Limit:
    """How many bytes an archive may still unpack to."""

    def __init__(self, left: int) -> None:
        """Allow `left` bytes."""
        self.left = left

    def take(self, size: int) -> None:
        """Count bytes; raises UsageError when there are too many."""
        self.left -= size
        if self.left < 0:
            raise UsageError(
                f"the archive unpacks to more than {MAX_RATIO} times its size: it is no conversation export"
            )


def _unpacked(archive: zipfile.ZipFile, info: zipfile.ZipInfo, limit: _Limit) -> Iterator[bytes]:
    """Yield a member's bytes; raises Broken when it is damaged or locked."""
    if info.flag_bits & 1:
        raise Broken(f"{info.filename[:80]!r} is locked with a password: unlock the archive first")
    try:
        with archive.open(info) as stream:
            while chunk := stream.read(_CHUNK):
                limit.take(len(chunk))
                yield chunk
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError) as error:
        raise Broken(f"{info.filename[:80]!r} cannot be unpacked: {error}") from error


def listed(folder: Path) -> tuple[str, list[Path]]:
    """Return what a folder holds, `vault` or `sessions`, and its files in order; raises UsageError for neither.

    Names that begin with a dot are left out, so are folders that are workspaces, and links are not followed.
    """
    own = {path.parent for path in folder.rglob(layout.STATE)}
    files = [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and not path.is_symlink()
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
        and own.isdisjoint(path.parents)
    ]
    notes = [path for path in files if path.suffix.lower() == ".md"]
    sessions = [path for path in files if path.suffix.lower() == ".jsonl"]
    if notes and ((folder / ".obsidian").is_dir() or not sessions):
        return "vault", notes
    if sessions:
        return "sessions", sessions
    raise UsageError(
        f"{folder} is no export and holds nothing else to import: give a folder of .jsonl sessions or .md notes"
    )
