"""Whether a workspace was made, or trusted, by the user who opens it.

Owns the user's key and the seal it puts on a workspace's id; promises that without this key no workspace can carry a
valid seal, that the key is made once, whole and for its owner alone, and that asking makes nothing; never proves that
a workspace's content is unchanged, nor where it lies: a sealed folder may be moved.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from pathlib import Path

from reverie.errors import DamagedFile, StoreUnwritable, UnsafePath
from reverie.store.filesystem.disk import Disk
from reverie.store.workspace import Identity

KEY = "key"

_BYTES = 32
_WRITTEN = re.compile(rb"[0-9a-f]{64}\n?")


def seal(config_dir: Path, workspace_id: str) -> str:
    """Return the seal of this user on a workspace: HMAC-SHA-256 of its id, 64 hex digits.

    Makes the user's key at first use. Raises StoreUnwritable, UnsafePath, or DamagedFile when the key is none.
    """
    disk = Disk(config_dir)
    disk.make_folder("")
    key = _key(disk)
    if key is None:
        # Under the file's lock, so that two processes at their first use end up with one key.
        disk.rewrite(KEY, lambda old: secrets.token_hex(_BYTES).encode() + b"\n" if old is None else None)
        key = _key(disk)
    if key is None:  # a seal without a key would be one that everybody can make
        raise StoreUnwritable(f"{disk.root / KEY} was removed as soon as it was made; try again")
    return _seal(key, workspace_id)


def is_sealed(config_dir: Path, identity: Identity) -> bool:
    """Tell whether the workspace carries this user's seal; False where the user has no key yet.

    Raises UnsafePath, StoreUnwritable, or DamagedFile when the key cannot be used.
    """
    disk = Disk(config_dir)
    key = _key(disk) if disk.root.is_dir() else None
    return key is not None and hmac.compare_digest(
        _seal(key, identity.id).encode(), identity.seal.encode("utf-8", "replace")
    )


def _key(disk: Disk) -> bytes | None:
    """Return the user's key, None when there is none."""
    place = disk.root / KEY
    try:
        data = disk.read(KEY)
    except (StoreUnwritable, UnsafePath) as error:  # which name a file within its folder
        raise type(error)(f"the user's key, {place}: {error}") from error
    if data is None:
        return None
    if not _WRITTEN.fullmatch(data):
        # A new key in its place would silently disown every workspace this user has.
        raise DamagedFile(
            f"{place} is damaged: restore it from a backup, or remove it and trust each workspace again"
        )
    return bytes.fromhex(data.decode())


def _seal(key: bytes, workspace_id: str) -> str:
    return hmac.new(key, workspace_id.encode(), hashlib.sha256).hexdigest()
