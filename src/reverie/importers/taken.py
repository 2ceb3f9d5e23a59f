"""What an importer finds in a foreign file, and what became of it.

Owns the values that pass between importers and the step that stores; promises that everything a file holds is one of
four things: a turn, a fact, something passed over on purpose, or something that could not be read; never stores
anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import msgspec

from reverie.core.records import Turn
from reverie.importers.turns import Skipped


class Fact(msgspec.Struct, frozen=True, kw_only=True):
    """A statement another memory had stored: its words, its key there, when it was written, by and about whom."""

    text: str
    key: str
    at: datetime | None = None
    who: str = ""
    about: str = ""
    tags: tuple[str, ...] = ()


class Passed(msgspec.Struct, frozen=True):
    """Something that is no speech, or not to be remembered: why, in words that can be counted."""

    reason: str


Found = Turn | Fact | Passed | Skipped


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """How far an import is: bytes of the source read, bytes there are, turns and facts seen."""

    done: int
    total: int
    seen: int


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """What an import did, or would do in a dry run.

    `turns` and `facts` were stored, `repeated` were there before, `files` are pages or an export's files, `passed`
    counts by reason what was left out on purpose, `unread` what could not be read; the first thousand of those are
    `skipped`, and all of them are set aside.
    """

    format: str
    turns: int = 0
    facts: int = 0
    repeated: int = 0
    sessions: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    unread: int = 0
    passed: Mapping[str, int] = {}
    files: int = 0
    dry_run: bool = False
