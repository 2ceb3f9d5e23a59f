"""How the derived state sees the canonical files, and how far it has read each.

Owns the protocol of reading and the value of a position; never opens a file itself.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import Any, NamedTuple, Protocol


class Files(Protocol):
    """What folding reads files through: `disk.Disk`, or a test's. Paths are relative to the workspace."""

    def read(self, path: str) -> bytes | None:
        """Return the file's bytes, or None when it is absent."""

    def read_from(self, path: str, offset: int) -> bytes:
        """Return the bytes from `offset` on."""

    def pieces(self, path: str, offset: int = 0) -> Generator[bytes, None, None]:
        """Yield the bytes from `offset` on, a piece at a time."""

    def list(self, path: str) -> list[str]:
        """Return the sorted names in a folder."""

    def statuses(self, path: str) -> Sequence[tuple[str, Any]]:
        """Return path and status of everything in a folder, sorted."""

    def walk(self, path: str) -> Iterator[str]:
        """Yield the paths of all files beneath a folder."""

    def walk_statuses(self, path: str) -> Iterator[tuple[str, Any]]:
        """Yield path and status of each file beneath a folder, sorted."""

    def stat(self, path: str) -> Any:  # noqa: ANN401 - os.stat_result or None
        """Return the file's status, or None when it is absent."""


class Position(NamedTuple):
    """How far a file was folded: bytes, what tells whether they are still the same, and where a log is read on."""

    size: int
    mtime: int
    inode: int
    crc: int
    context: bytes = b""
