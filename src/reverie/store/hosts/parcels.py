"""What is on its way in or out of a workspace: an upload, or an export that is being sent, in a folder of its own.

Owns those folders, beneath a root and never in a workspace, 0700 and under random names; promises that each is removed
when its parcel ends and, after a crash, at the next `sweep`, that an archive's names are used as paths only inside a
parcel and only where they lead nowhere else, and that what unpacks is bounded; never reads a memory.
"""

from __future__ import annotations

import os
import secrets
import shutil
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from reverie.errors import StoreUnwritable, UnsafePath, UsageError
from reverie.store.filesystem.disk import Disk
from reverie.store.filesystem.paths import parts, refusal

FOLDER = ".transit"
MEMBERS = 100_000  # files of one archive
RATIO = 200  # how many times larger an archive may unpack than it is
LARGEST = 500_000_000  # bytes of one file in it, which is held in memory
_PIECE = 1 << 20


def sweep(root: Path) -> int:
    """Remove what parcels of an earlier process left, and return how many; call it where no parcel is on its way."""
    folder = root / FOLDER
    left = [one for one in folder.iterdir() if not one.is_symlink()] if folder.is_dir() else []
    for one in left:
        shutil.rmtree(one, ignore_errors=True)
    return len(left)


class Parcel:
    """One folder for the time that something is on its way; entered, it is there, and left, it is gone."""

    def __init__(self, root: Path) -> None:
        """Make nothing yet."""
        self.folder = root / FOLDER / secrets.token_hex(8)
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        """Make the folder; raises StoreUnwritable."""
        try:
            os.makedirs(self.folder.parent, mode=0o700, exist_ok=True)
            os.mkdir(self.folder, mode=0o700)
        except OSError as error:
            raise refusal(error, FOLDER, doing="make") from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove it with all that is in it."""
        if self._file is not None:
            with suppress(OSError):  # on a full disk, for what it could not write before
                self._file.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def add(self, name: str, data: bytes) -> None:
        """Append to the one file that comes in; raises StoreUnwritable, UnsafePath for a name that is no file's."""
        try:
            if self._file is None:
                if len(parts(name)) != 1:
                    raise UnsafePath("the upload has no name of a file: use letters, digits, dots")
                descriptor = os.open(self.folder / name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
                self._file = os.fdopen(descriptor, "wb")
            self._file.write(data)
        except OSError as error:
            raise refusal(error, name) from error

    def arrived(self, name: str) -> Path:
        """Return the file that came in, whole; empty when nothing came."""
        self.add(name, b"")
        if self._file is not None:
            try:
                self._file.flush()
            except OSError as error:
                raise refusal(error, name) from error
        return self.folder / name

    def unpacked(self, archive: Path, mark: str) -> Path | None:
        """Return the folder an archive unpacks to, None when it is none that holds the file `mark` at its top.

        Raises UsageError for one that is too large, UnsafePath for a name that leads elsewhere.
        """
        if not zipfile.is_zipfile(archive):
            return None
        target = self.folder / "unpacked"
        try:
            with zipfile.ZipFile(archive) as packed:
                members = [one for one in packed.infolist() if not one.is_dir()]
                if all(one.filename != mark for one in members):
                    return None
                _bounded(members, archive.stat().st_size)
                disk = Disk(target, durability="os")
                disk.make_folder("")
                for one in members:
                    with packed.open(one) as file:
                        disk.replace(one.filename, file.read(one.file_size + 1)[: one.file_size])
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
            raise UsageError(f"the archive cannot be read: {error}") from error
        except OSError as error:
            raise refusal(error, "the archive") from error
        return target


def _bounded(members: list[zipfile.ZipInfo], size: int) -> None:
    """Raise UsageError for an archive of too many files, or one that grows too large."""
    whole = sum(one.file_size for one in members)
    if len(members) > MEMBERS or whole > RATIO * size or any(one.file_size > LARGEST for one in members):
        raise UsageError(
            f"the archive unpacks to {len(members):,} files of {whole:,} bytes, which is too much"
        )


def zipped(folder: Path) -> Iterator[bytes]:
    """Yield a ZIP archive of everything in a folder, piece by piece; raises StoreUnwritable."""
    out = _Pieces()
    try:
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(folder.rglob("*")):
                if path.is_file():
                    with path.open("rb") as file, archive.open(str(path.relative_to(folder)), "w") as member:
                        while data := file.read(_PIECE):
                            member.write(data)
                            yield out.take()
        yield out.take()
    except OSError as error:
        raise StoreUnwritable(f"the export cannot be sent: {error.strerror}; try again") from error


class _Pieces:
    """What an archive is written to: it keeps what was written until it is taken, and cannot go back."""

    def __init__(self) -> None:
        self._data = bytearray()

    def write(self, data: bytes, /) -> int:
        """Keep some bytes."""
        self._data += data
        return len(data)

    def flush(self) -> None:
        """Do nothing: there is nothing behind it."""

    def close(self) -> None:
        """Do nothing, as above."""

    def take(self) -> bytes:
        """Return what was written since."""
        taken, self._data = bytes(self._data), bytearray()
        return taken
