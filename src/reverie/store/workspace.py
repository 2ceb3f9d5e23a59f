"""One agent's memory as an open folder: where it is, how it writes, what time it is there.

Owns what every store module needs and the marker that makes a folder a workspace; promises that an open workspace
has its folders and that a newer format is refused; never reads the environment or the clock itself.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast

import msgspec

from reverie import layout
from reverie.core.days import Calendar
from reverie.core.formats import framing
from reverie.core.secrets.redact import redact
from reverie.core.secrets.redact_json import redact_json
from reverie.errors import DamagedFile, InvalidRecord, NotAWorkspace, UsageError
from reverie.store.filesystem.disk import Disk
from reverie.store.filesystem.lock import Locks

if TYPE_CHECKING:
    from reverie.core.settings.value import Settings


class Identity(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`.state/workspace.json`: a workspace's id, its agent's name, when it was made, and the seal of its maker.

    `seal` is HMAC-SHA-256 of the id under the user's own key: a workspace that came with somebody's repository
    does not carry it and stays read-only until trusted.
    """

    id: str
    agent: str
    created: datetime
    seal: str = ""
    person: str = ""


class End(msgspec.Struct, frozen=True):
    """How a session's file ended: its size, the ordinal that follows, and whether the session was paused."""

    size: int
    following: int
    paused: bool = False


class Sent(msgspec.Struct):
    """At which bytes of a session's file the lines begin that hold an id, of the first `size` bytes."""

    size: int = 0
    at: dict[bytes, list[int]] = {}


class Workspace:
    """An open workspace: its folder, disk, locks, settings, calendar, clock and source of ids.

    The store modules are functions over it. `clock` returns the present instant in UTC, `new_id` a fresh id of 16
    hex digits; both are injected so that tests decide them. `segment` is the journal segment this process appends
    to, empty until it first writes; `ends` says for each session's file spoken in how it ended when this process last
    wrote to it, `sent` for each that turns with ids came to where those stand. `expected` is who it will be, while it
    is yet to be made.
    """

    def __init__(
        self,
        root: Path,
        settings: Settings,
        *,
        clock: Callable[[], datetime],
        new_id: Callable[[], str],
        disk: Disk | None = None,
        may_be_missing: bool = False,
    ) -> None:
        """Bind the folder `root`, which need not exist yet; nothing is read or written.

        One that `may_be_missing` reads as an empty folder while it is.
        """
        self.root = root
        self.settings = settings
        self.disk = disk or Disk(
            root,
            durability=settings.durability,
            wait=settings.lock_wait_seconds,
            may_be_missing=may_be_missing,
        )
        self.locks = Locks(root)
        self.calendar = Calendar(settings.zone or "UTC", settings.day_starts_at)
        self.clock = clock
        self.new_id = new_id
        self.notebook = settings.notebook_path or layout.NOTEBOOK
        self.segment = ""
        self.ends: dict[str, End] = {}
        self.sent: dict[str, Sent] = {}
        self.expected: Identity | None = None

    @property
    def today(self) -> str:
        """The present logical day."""
        return self.calendar.day(self.clock())

    def clean(self, text: str) -> str:
        """Return `text` without secrets, as everything must be that is written; as it is where redaction is off.

        Raises UsageError for what is no text.
        """
        if not isinstance(cast("object", text), str):  # Python calls with anything
            message = f"a text is needed, not {type(text).__name__}: give what is to be written as a str"
            raise UsageError(message)
        if not text or not self.settings.redaction:
            return text
        return redact(text, allow=self.settings.redaction_allow).text

    def clean_raw(self, data: bytes) -> bytes:
        """Return the bytes of what may be JSON without the secrets in its strings; without any, the same bytes."""
        if not self.settings.redaction:
            return data
        found = redact_json(data.decode("utf-8", "replace"), allow=self.settings.redaction_allow)
        return found.text.encode("utf-8", "replace") if found.kinds else data

    def identity(self) -> Identity:
        """Return who this workspace is; raises NotAWorkspace, NewerFormat or DamagedFile."""
        data = self.disk.read(layout.ORIGIN)
        if data is None and self.expected is not None:
            return self.expected
        if data is None:
            message = f"{self.root} is no workspace: run `reverie init {shlex.quote(str(self.root))}` to make one there"
            raise NotAWorkspace(message)
        lines, damaged = framing.read(data)
        if lines and not damaged:
            with suppress(InvalidRecord):
                return framing.decode(lines[-1], Identity, path=layout.ORIGIN)
        message = f"{self.root / layout.ORIGIN} is damaged: restore it from a backup, or run `reverie trust`"
        raise DamagedFile(message)

    def found(self, identity: Identity) -> None:
        """Make the folder a workspace, or write its identity anew; members that this version does not know stay."""
        self.make_folders()
        lines, _ = framing.read(self.disk.read(layout.ORIGIN) or b"")
        before: dict[str, object] = {}
        with suppress(InvalidRecord):
            before = framing.decode(lines[-1], dict[str, object]) if lines else {}
        own = {"v", "crc", *Identity.__struct_fields__}
        unknown = {name: value for name, value in before.items() if name not in own}
        self.disk.replace(layout.ORIGIN, framing.frame({**msgspec.to_builtins(identity), **unknown}))

    def writing(self, what: str) -> AbstractContextManager[None]:
        """Hold the write lock while doing `what`; raises Busy when another process keeps it too long."""
        return self.locks.write(self.settings.lock_wait_seconds, what=what)

    def make_folders(self) -> None:
        """Make again whichever of a workspace's folders is missing; existing ones are not touched."""
        for folder in layout.FOLDERS:
            self.disk.make_folder(folder)
