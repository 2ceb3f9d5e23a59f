"""What a workspace lies in: file systems and folders on which its promises do not hold.

Owns telling network file systems and folders that a sync program watches; promises a warning, never a refusal; never
writes.
"""

from __future__ import annotations

from pathlib import Path

NETWORK = frozenset(
    ("9p", "afs", "cifs", "fuse.sshfs", "ncpfs", "nfs", "nfs4", "smb3", "smbfs", "fuse.rclone")
)
SYNCED = (
    "Dropbox",
    "OneDrive",
    "Google Drive",
    "GoogleDrive",
    "iCloud Drive",
    "Mobile Documents",
    "Syncthing",
    "Nextcloud",
)
CONFLICTS = ("conflicted copy", ".sync-conflict-", "(case conflict)", "_conflict-", " (conflict)")


def warnings(root: Path, *, mounts: Path = Path("/proc/mounts")) -> list[str]:
    """Return what is wrong with the place of `root`, as sentences; nothing where that cannot be told."""
    found = []
    if (kind := _file_system(root, mounts)) in NETWORK:
        found.append(
            f"{root} lies on a network file system ({kind}), whose locks and syncs may not hold: keep it local"
        )
    watched = [name for name in SYNCED if name in root.parts]
    if watched:
        found.append(
            f"{root} lies in a folder that {watched[0]} syncs: two machines writing it make conflict copies"
        )
    return found


def is_conflict_copy(path: str) -> bool:
    """Whether a file's name is one that sync programs give to the loser of a conflict."""
    name = path.rsplit("/", 1)[-1].lower()
    return any(mark in name for mark in CONFLICTS)


def _file_system(root: Path, mounts: Path) -> str:
    """Return the type of the file system that holds `root`, empty where `/proc/mounts` does not tell."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    real = root.resolve()
    best, kind = -1, ""
    for line in lines:
        fields = line.split(" ")
        point = Path(fields[1].replace("\\040", " ")) if len(fields) > 2 else None  # noqa: PLR2004 - point and type
        if point is not None and (real == point or point in real.parents) and len(point.parts) > best:
            best, kind = len(point.parts), fields[2]
    return kind
