"""Reading what lies beneath the workspace.

Owns reads, looks and listings; promises to take no lock and change nothing; never follows a link.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Generator, Iterator

from reverie.errors import UnsafePath
from reverie.store.filesystem.paths import Tree, objection, parts, place, refusal
from reverie.store.filesystem.syscalls import READ

TEMPORARY = ".~reverie-"  # how the names of unfinished replacements begin; never listed
_NO_TEXT = "has a name that is no UTF-8; rename it"
PIECE = 1 << 20
_MOST = 4_000_000_000  # bytes read at once: more fill the memory, and twice what an import takes of one file


def read(tree: Tree, path: str, *, offset: int = 0) -> bytes | None:
    """Return the file's bytes from `offset` on; None when absent."""
    fd = _opened(tree, path)
    if fd is None:
        return None
    try:
        return whole(tree, fd, path=path, offset=offset)
    finally:
        tree.ops.close(fd)


def pieces(tree: Tree, path: str, *, offset: int = 0, size: int = PIECE) -> Generator[bytes, None, None]:
    """Yield the file's bytes from `offset` on, `size` at a time, of the file that was there at the first."""
    fd = _opened(tree, path)
    if fd is None:
        return
    try:
        yield from _each(tree, fd, path=path, offset=offset, size=size)
    finally:
        tree.ops.close(fd)


def whole(tree: Tree, fd: int, *, path: str, offset: int = 0) -> bytes:
    """Return the bytes of an open file from `offset` on; `path` is for the message.

    Raises UnsafePath when they are more than any file of a memory has, as those of one that is all holes.
    """
    if tree.ops.fstat(fd).st_size - offset > _MOST:
        raise UnsafePath(f"{path} is longer than {_MOST / 1e9:.0f} GB; move it out of the workspace")
    return b"".join(_each(tree, fd, path=path, offset=offset))


def _opened(tree: Tree, path: str) -> int | None:
    """Return a descriptor of the file, to be closed by the caller; None when absent."""
    names, _ = place(path)
    folder = tree.folder(names)
    if folder is None:
        return None
    try:
        return tree.file(folder, path, flags=READ)
    except FileNotFoundError:
        return None
    finally:
        tree.ops.close(folder)


def _each(tree: Tree, fd: int, *, path: str, offset: int, size: int = PIECE) -> Iterator[bytes]:
    while data := piece(tree, fd, path=path, size=size, offset=offset):
        yield data
        offset += len(data)


def piece(tree: Tree, fd: int, *, path: str, size: int, offset: int) -> bytes:
    """Return up to `size` bytes of an open file from `offset`."""
    try:
        return tree.ops.read(fd, size, offset=offset)
    except OSError as error:
        raise refusal(error, path, doing="read") from error


def look(tree: Tree, path: str) -> os.stat_result | None:
    """Return what lies at `path`, whatever it is; None when absent."""
    names = parts(path)
    folder = tree.folder(names[:-1])
    if folder is None:
        return None
    try:
        return tree.ops.stat(names[-1], folder=folder) if names else tree.ops.fstat(folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise refusal(error, path, doing="look at") from error
    finally:
        tree.ops.close(folder)


def glance(tree: Tree, path: str) -> os.stat_result | None:
    """Return what lies at `path`, links above its end followed; None when absent."""
    try:
        return tree.ops.look(f"{tree.root}/{path}")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise refusal(error, path, doing="look at") from error


def size(tree: Tree, path: str) -> int | None:
    """Return the length in bytes of a file that may be opened; None when absent."""
    info = look(tree, path)
    if info is None:
        return None
    if reason := objection(tree.ops, info):
        raise UnsafePath(f"{path} {reason}")
    return info.st_size


def names(tree: Tree, path: str) -> list[str]:
    """Return the sorted names in the folder, unfinished replacements left out; empty when absent.

    A name that is no UTF-8 is left out, too: no record, index or page could hold it. `scan` tells of it.
    """
    folder = tree.folder(parts(path))
    if folder is None:
        return []
    try:
        return [name for name in _names(tree, folder, path) if _is_text(name)]
    finally:
        tree.ops.close(folder)


def statuses(tree: Tree, path: str) -> list[tuple[str, os.stat_result]]:
    """Return path and status of everything in the folder that `names` tells, opening the folder once."""
    folder = tree.folder(parts(path))
    if folder is None:
        return []
    try:
        return [(where, info) for where, info in _statuses(tree, folder, path) if _is_text(where)]
    finally:
        tree.ops.close(folder)


def scan(tree: Tree, path: str) -> Iterator[tuple[str, os.stat_result, str]]:
    """Yield each file beneath the folder, sorted, with why it may not be opened (the end of a sentence, or "")."""
    folder = tree.folder(parts(path))
    if folder is None:
        return
    found: list[tuple[str, os.stat_result, str]] = []
    try:
        _scan(tree, folder, path, found)
    finally:
        tree.ops.close(folder)
    yield from found


def _scan(tree: Tree, folder: int, path: str, found: list[tuple[str, os.stat_result, str]]) -> None:
    """Add what lies beneath an open folder; each folder is opened from its parent, once."""
    for where, info in _statuses(tree, folder, path):
        if not _is_text(where):
            found.append((where.encode("utf-8", "backslashreplace").decode(), info, _NO_TEXT))
            continue
        is_folder = stat.S_ISDIR(info.st_mode)
        reason = objection(tree.ops, info, folder=is_folder)
        if reason or not is_folder:
            found.append((where, info, reason))
            continue
        child = tree.child(folder, where.rpartition("/")[2], where=where)
        if child is None:
            continue  # removed since it was looked at
        try:
            _scan(tree, child, where, found)
        finally:
            tree.ops.close(child)


def _is_text(name: str) -> bool:
    """Tell whether a name can be written down: bytes that are no UTF-8 come as halves of surrogates."""
    if name.isascii():
        return True
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _statuses(tree: Tree, folder: int, path: str) -> list[tuple[str, os.stat_result]]:
    found, before, look = [], f"{path}/" if path else "", tree.ops.stat
    for name in _names(tree, folder, path):
        where = before + name
        try:
            found.append((where, look(name, folder=folder)))
        except FileNotFoundError:
            continue  # removed since it was listed
        except OSError as error:
            raise refusal(error, where, doing="look at") from error
    return found


def _names(tree: Tree, folder: int, path: str) -> list[str]:
    try:
        return sorted(name for name in tree.ops.names(folder) if not name.startswith(TEMPORARY))
    except OSError as error:
        raise refusal(error, path, doing="list") from error
