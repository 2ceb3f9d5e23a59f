"""What of the workspace's place can be wrong: the folder, the disk it lies on, who made it.

Owns these looks; promises to write nothing, not even a file to try; never opens a memory.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from reverie import layout
from reverie.core.text.plural import many
from reverie.errors import NotAWorkspace
from reverie.opening import open_workspace
from reverie.store.filesystem.surroundings import is_conflict_copy, warnings
from reverie.surface.doctor.symptoms import Patient, Symptom, typed

_SCARCE, _NEARLY_NONE = 500_000_000, 50_000_000  # bytes
_FEW_FILES = 2_000
_FOLDERS = (*layout.FOLDERS, layout.STATE, layout.COUNTERS)


def workspace(patient: Patient) -> Iterator[Symptom]:
    """Look whether the workspace is there, is this user's own, and can be written."""
    try:
        opened = open_workspace(patient.opening)
    except NotAWorkspace as error:
        yield _wrong(
            str(patient.opening.folder()), str(error), f"run `reverie init {typed(patient.opening.folder())}`"
        )
        return
    root, trusted = opened.ws.root, opened.trusted
    copies = [one for one in opened.ws.disk.walk("") if is_conflict_copy(one)]
    opened.close()
    if not trusted:
        what = "it was not made by this user's installation, so it is read-only"
        yield _wrong(str(root), what, f"look through it, then run `reverie trust {typed(root)}`")
    shut = [one for one in _folders(root) if not (os.access(one, os.W_OK | os.X_OK) or _is_read_only(one))]
    if shut:
        more = f", nor can {len(shut) - 1} more" if shut[1:] else ""
        what = f"the folder cannot be written{more}"
        yield _wrong(str(shut[0]), what, f"run `chmod u+rwx {' '.join(map(typed, shut))}`")
    if copies:
        yield Symptom(
            part="workspace",
            place=str(root / copies[0]),
            what=f"a sync program left {many(len(copies), 'conflict copy')}: what one has more is not served",
            remedy=f"run `reverie -w {typed(root)} check`, which names each, and merge them",
        )
    yield from _versioned(root)


def disk(patient: Patient) -> Iterator[Symptom]:
    """Look at the file system below the workspace: how much is free, and what of it does not keep its promises."""
    root = _there(patient.opening.folder())
    free = shutil.disk_usage(root).free
    if free < _SCARCE:
        severe = free < _NEARLY_NONE
        yield Symptom(
            part="disk",
            place=str(root),
            what=f"only {free / 1_000_000:,.0f} MB are free",
            remedy="free some space: a full disk loses nothing, but nothing can be stored either",
            severity="error" if severe else "warning",
        )
    sealed = next((one for one in _folders(root) if _is_read_only(one)), None)
    if sealed is not None:
        yield Symptom(
            part="disk",
            place=str(sealed),
            what="the file system is read-only: reading goes on, and nothing can be stored",
            remedy="mount it for writing, or choose another folder",
            severity="error",
        )
    yield from _file_system(root)
    yield from (Symptom(part="disk", place=str(root), what=one, remedy="move it: docs/how-to/move-and-trust.md")
                for one in warnings(root))  # fmt: skip


def _file_system(root: Path) -> Iterator[Symptom]:
    """Yield what the file system itself tells."""
    if hasattr(os, "statvfs"):
        told = os.statvfs(root)
        if told.f_files and told.f_favail < _FEW_FILES:
            yield Symptom(
                part="disk",
                place=str(root),
                what=f"only {told.f_favail:,} more files can be made",
                remedy="remove files you do not need",
                severity="error",
            )
    if (root / layout.STATE).is_dir() and (root / layout.STATE.upper()).is_dir():
        yield Symptom(
            part="disk",
            place=str(root),
            what="names that differ in capitals alone are one file here",
            remedy="nothing of Reverie's own is lost by that; take care when two of your pages differ so",
            severity="note",
        )


def _versioned(root: Path) -> Iterator[Symptom]:
    """Yield whether a repository around the workspace would take the memory in."""
    inside = next((one for one in (root, *root.parents) if (one / ".git").exists()), None)
    ignored = root / layout.GITIGNORE
    if inside is not None and not (ignored.is_file() and ignored.read_text("utf-8", "replace").strip()):
        yield Symptom(
            part="workspace",
            place=str(ignored),
            what=f"the repository at {inside} would take the memory in with the next `git add`",
            remedy=f"run `reverie init {typed(root)}`, which writes the file again",
        )


def _folders(root: Path) -> list[Path]:
    """Return the folders of a workspace that are there, itself first."""
    return [one for one in (root / name for name in ("", *_FOLDERS)) if one.exists()]


def _is_read_only(folder: Path) -> bool:
    """Tell whether a folder lies on a file system mounted for reading alone, where no permission helps."""
    return hasattr(os, "statvfs") and bool(os.statvfs(folder).f_flag & os.ST_RDONLY)


def _there(folder: Path) -> Path:
    """Return the folder, or the first above it that is there."""
    return next(one for one in (folder, *folder.parents) if one.exists())


def _wrong(place: str, what: str, remedy: str) -> Symptom:
    return Symptom(part="workspace", place=place, what=what, remedy=remedy, severity="error")
