"""Who may do what: the tokens of a server, each bound to a root, to workspaces, to people and to a right.

Owns `tokens.json` in the user's configuration and the file of the first token beside it, both 0600; promises that a
token is kept as its SHA-256 alone (the first one aside, which programs of the same user read from its file), that
telling a right token from a wrong one takes the same time wherever they differ, and that one which was removed or has
expired opens nothing from the next request on; never prints a token but to whoever has just made it.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import shlex
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import msgspec

from reverie.errors import BadSettings, Conflict, DamagedFile, NewerFormat, NotFound, UsageError
from reverie.store.filesystem.disk import Disk
from reverie.surface.http.hosted import candidates

Right = Literal["read", "write", "admin"]

TOKENS = "tokens.json"
FIRST = "first"  # the name of the grant that is made at a server's first start
ALL = "*"
AGENT = ""  # among people: the agent's own memory
VERSION = 1

_RIGHTS: tuple[Right, ...] = ("read", "write", "admin")
_BEGINS = "rev_"
_OTHERS = 0o077


class Grant(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one token opens: `workspaces` by folder or agent, `people` by name; `*` stands for all.

    Among people, "" is the agent's own memory. `admin` may all that `write` may, `write` all that `read` may. `file` is
    where the token itself stands, for the first one alone.
    """

    name: str
    digest: str
    right: Right
    root: str
    made: datetime
    workspaces: tuple[str, ...] = (ALL,)
    people: tuple[str, ...] = (ALL,)
    expires: datetime | None = None
    file: str = ""

    def may(self, right: Right) -> bool:
        """Tell whether it has the right, or a greater one."""
        return _RIGHTS.index(self.right) >= _RIGHTS.index(right)

    def reaches(self, workspace: str) -> bool:
        """Tell whether it opens anything of the workspace in the folder of that name."""
        return ALL in self.workspaces or any(workspace in candidates(one) for one in self.workspaces)

    def knows(self, person: str) -> bool:
        """Tell whether it opens a person's memory, or with "" the agent's own."""
        return ALL in self.people or person in self.people

    def allows(self, right: Right, *, workspace: str, person: str = AGENT) -> bool:
        """Tell whether it opens that memory for that."""
        return self.may(right) and self.reaches(workspace) and self.knows(person)


class _Kept(msgspec.Struct, frozen=True, kw_only=True):
    """`tokens.json`."""

    version: int = VERSION
    tokens: tuple[Grant, ...] = ()


def _now() -> datetime:
    return datetime.now(UTC)


def _new_token() -> str:
    return _BEGINS + secrets.token_urlsafe(32)


class Tokens:
    """The tokens for one root, read anew whenever their file has changed."""

    def __init__(
        self,
        config: Path,
        root: Path,
        *,
        clock: Callable[[], datetime] = _now,
        new_token: Callable[[], str] = _new_token,
    ) -> None:
        """Bind to the folder of the user's configuration; nothing is read or made yet."""
        self._disk, self._root = Disk(config), os.path.realpath(root)
        self._clock, self._new_token = clock, new_token
        self._read: tuple[tuple[int, ...], tuple[Grant, ...]] = ((), ())

    def first(self) -> Path:
        """Return the file in which the root's first token stands, made, with an admin's right, where it is not there.

        Raises StoreUnwritable, BadSettings for a file that others may read.
        """
        self._disk.make_folder("")
        made = self._new_token()
        found: list[str] = []

        def build(old: bytes | None) -> bytes | None:
            kept = _parsed(old, self._place)
            mine = next((one for one in kept.tokens if one.file and one.root == self._root), None)
            found[:] = [mine.file if mine else self._free_file(kept)]
            if mine and self._stands(mine):
                return None
            grant = Grant(
                name=mine.name if mine else _free_name(FIRST, kept),
                digest=_digest(made),
                right="admin",
                root=self._root,
                made=self._clock(),
                file=found[0],
            )
            others = tuple(one for one in kept.tokens if one is not mine)
            found.append(made)
            return _written(_Kept(tokens=(*others, grant)))

        self._disk.rewrite(TOKENS, build)
        if len(found) > 1:
            self._disk.replace(found[0], made.encode() + b"\n")
        self._own(found[0])
        self._own(TOKENS)
        return self._disk.root / found[0]

    def add(
        self,
        name: str,
        right: Right,
        *,
        workspaces: tuple[str, ...] = (ALL,),
        people: tuple[str, ...] = (ALL,),
        expires: datetime | None = None,
    ) -> str:
        """Make a token and return it, which is the only time it is told; raises UsageError, Conflict."""
        if not name.strip() or right not in _RIGHTS or not workspaces or not people:
            raise UsageError(
                "a token needs a name, one right of read, write, admin, a workspace, and a person or *"
            )
        made = self._new_token()
        grant = Grant(
            name=name,
            digest=_digest(made),
            right=right,
            root=self._root,
            made=self._clock(),
            workspaces=workspaces,
            people=people,
            expires=expires,
        )

        def build(old: bytes | None) -> bytes:
            kept = _parsed(old, self._place)
            if any(one.name == name for one in kept.tokens):
                raise Conflict(
                    f"there is a token called {name[:80]!r} already: remove it, or use another name"
                )
            return _written(_Kept(tokens=(*kept.tokens, grant)))

        self._disk.make_folder("")
        self._disk.rewrite(TOKENS, build)
        return made

    def remove(self, name: str) -> None:
        """Have a token open nothing any more; raises NotFound."""

        def build(old: bytes | None) -> bytes:
            kept = _parsed(old, self._place)
            left = tuple(one for one in kept.tokens if one.name != name)
            if len(left) == len(kept.tokens):
                raise NotFound(f"there is no token called {name[:80]!r}: `reverie token list` names them")
            return _written(_Kept(tokens=left))

        self._disk.make_folder("")
        self._disk.rewrite(TOKENS, build)

    def grants(self) -> tuple[Grant, ...]:
        """Return what the tokens of every root open; raises DamagedFile, NewerFormat, BadSettings."""
        seen = self._disk.glance(TOKENS) if self._disk.root.is_dir() else None
        if seen is None:
            self._read = ((), ())
            return ()
        stamp = (seen.st_mtime_ns, seen.st_ino, seen.st_size, seen.st_ctime_ns)
        if self._read[0] != stamp:
            self._own(TOKENS)
            self._read = (stamp, _parsed(self._disk.read(TOKENS), self._place).tokens)
        return self._read[1]

    def grant(self, token: str) -> Grant | None:
        """Return what a token opens beneath this root; None for one that is unknown, expired or another root's."""
        digest, now = _digest(token), self._clock()
        found: Grant | None = None
        for one in self.grants():  # each is compared, so that the time tells nothing
            same = hmac.compare_digest(one.digest.encode(), digest.encode())
            if same and one.root == self._root and (one.expires is None or now < one.expires):
                found = one
        return found

    @property
    def _place(self) -> str:
        return str(self._disk.root / TOKENS)

    def _stands(self, grant: Grant) -> bool:
        """Tell whether the token can be read where the grant says."""
        text = self._disk.read(grant.file)
        return text is not None and _digest(text.decode("utf-8", "replace").strip()) == grant.digest

    def _free_file(self, kept: _Kept) -> str:
        """Return a name for the first token's file: `token`, and with the root's hash where another root has that."""
        taken = {one.file for one in kept.tokens}
        return "token" if "token" not in taken else f"token-{_digest(self._root)[:8]}"

    def _own(self, name: str) -> None:
        """Raise BadSettings for a file that others than its owner may read."""
        seen = self._disk.stat(name)
        if seen is not None and seen.st_mode & _OTHERS and os.name == "posix":
            place = self._disk.root / name
            raise BadSettings(
                f"{place} may be read by others: run `chmod 600 {shlex.quote(str(place))}`, and make new tokens"
            )


def _parsed(data: bytes | None, place: str) -> _Kept:
    if data is None:
        return _Kept()
    try:
        kept = msgspec.json.decode(data, type=_Kept)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise DamagedFile(
            f"{place} is damaged ({error}): restore it, or remove it and make new tokens"
        ) from error
    if kept.version > VERSION:
        raise NewerFormat(f"{place} was written by a newer version: upgrade to read it")
    return kept


def _written(kept: _Kept) -> bytes:
    return msgspec.json.format(msgspec.json.encode(kept), indent=2) + b"\n"


def _free_name(name: str, kept: _Kept) -> str:
    taken = {one.name for one in kept.tokens}
    return next(one for one in (name, *(f"{name}-{n}" for n in range(2, len(taken) + 3))) if one not in taken)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
