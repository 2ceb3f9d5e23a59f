"""The tombstones of a workspace, and the key their hashes are made with.

Owns `.state/tombstones.jsonl` and `.state/key`; promises that the key is made once, from the system's own randomness,
and that a tombstone which was written is there after a crash; never holds what was forgotten.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from weakref import WeakKeyDictionary

from reverie import layout
from reverie.core.forgetting.mask import Mask, merged
from reverie.core.records import Tombstone
from reverie.errors import DamagedFile
from reverie.store import stream
from reverie.store.workspace import Workspace

_KEY = re.compile(rb"[0-9a-f]{64}\n?")
_KEY_BYTES = 32
_masks: WeakKeyDictionary[Workspace, tuple[tuple[int, int, int], Mask]] = WeakKeyDictionary()


def key(ws: Workspace) -> bytes:
    """Return the workspace's key, empty when there is none; raises DamagedFile for a file that holds none."""
    data = ws.disk.read(layout.KEY)
    if data is None:
        return b""
    if _KEY.fullmatch(data) is None:
        message = (
            f"{layout.KEY} holds no key: restore it from a backup, for without it forgotten words show again"
        )
        raise DamagedFile(message)
    return bytes.fromhex(data.decode())


def made_key(ws: Workspace) -> bytes:
    """Return the workspace's key, made when there is none yet; raises DamagedFile, StoreUnwritable."""
    if ws.disk.size(layout.KEY) is None:
        fresh = secrets.token_hex(_KEY_BYTES).encode() + b"\n"
        # Under the file's lock: two processes that forget at once must not hash with different keys.
        ws.disk.rewrite(layout.KEY, lambda old: fresh if old is None else None)
    return key(ws)


def read(ws: Workspace) -> list[Tombstone]:
    """Return the tombstones, lifted ones too, each once."""
    found: stream.Read[Tombstone] = stream.read(ws, layout.TOMBSTONES, Tombstone)
    return merged(found.records)


def append(ws: Workspace, tombstones: Sequence[Tombstone]) -> None:
    """Store tombstones, or additions to some, with one write and one sync."""
    stream.append_all(ws, layout.TOMBSTONES, tombstones)


def mask(ws: Workspace) -> Mask:
    """Return the mask, made anew only when a file it is made from changed; raises DamagedFile, NewerFormat."""
    stamp = _stamp(ws)
    known = _masks.get(ws)
    if known is None or known[0] != stamp:
        found = read(ws) if stamp[0] else []
        known = _masks[ws] = (stamp, Mask(found, key(ws) if found else b""))
    return known[1]


def _stamp(ws: Workspace) -> tuple[int, int, int]:
    """Return what changes whenever the tombstones or the key do: sizes, and the time of the tombstones."""
    status = ws.disk.glance(layout.TOMBSTONES)
    if status is None:
        return (0, 0, 0)
    key_file = ws.disk.glance(layout.KEY)
    return (status.st_size, status.st_mtime_ns, key_file.st_size if key_file else 0)
