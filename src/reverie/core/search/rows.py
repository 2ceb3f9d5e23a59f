"""What the search index holds: one row for each thing recall can find.

Owns the shape of a row and of a filter; promises that a row names the file it came from, so that it can be made
again from it; never reads a file.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import msgspec

Kind = Literal["entry", "page", "core", "history", "turn", "value"]
KINDS: tuple[Kind, ...] = ("entry", "page", "core", "history", "turn", "value")


class Row(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One entry, paragraph of a page or core file, history record, turn, or value of an adapter's store.

    `id` is unique in the workspace. `source` is the workspace-relative file it was read from and `place` a number
    within that file (line, ordinal or cursor, as the reader of that kind defines). `n` is the ordinal of a turn
    in `session`. `person` is who said it; `about`, whom it concerns. `day` is the logical day of `at`. Of a value,
    `scope` is its namespace (`core.formats.key_values.scope_of`) and `status` the instant it ends, empty for never.
    """

    id: str
    kind: Kind
    source: str
    text: str
    at: datetime
    day: str
    heading: str = ""
    category: str = ""
    tags: tuple[str, ...] = ()
    session: str = ""
    n: int = -1
    person: str = ""
    about: str = ""
    role: str = ""
    origin: str = ""
    scope: str = ""
    status: str = ""
    sig: float | None = None
    since: str = ""
    until: str = ""
    place: int = 0
    digest: str = ""


class Filter(msgspec.Struct, frozen=True, kw_only=True):
    """Which rows a search may return; an empty field allows all.

    Values of one field are alternatives, and all fields must hold, except `tags`: a row must carry every one.
    `since` and `until` are logical days, both included.
    """

    kinds: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    persons: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    since: str = ""
    until: str = ""

    @property
    def alternatives(self) -> dict[str, tuple[str, ...]]:
        """The values that are given of each member of which a row has one, by the member's name."""
        named = {
            "kind": self.kinds,
            "session": self.sessions,
            "person": self.persons,
            "category": self.categories,
            "scope": self.scopes,
        }
        return {name: values for name, values in named.items() if values}

    def allows(self, row: Row) -> bool:
        """Return whether `row` passes."""
        return (
            (not self.kinds or row.kind in self.kinds)
            and (not self.sessions or row.session in self.sessions)
            and (not self.persons or row.person in self.persons)
            and (not self.categories or row.category in self.categories)
            and (not self.scopes or row.scope in self.scopes)
            and set(self.tags) <= set(row.tags)
            and (not self.since or row.day >= self.since)
            and (not self.until or row.day <= self.until)
        )


class Candidate(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A row a search found, with its keyword score and what is known about it besides its text.

    `lexical` is comparable within one search only. `similarity` is the cosine of the row's vector and the query's,
    -1 to 1, None when one of them has no vector. `standing` is one of `current`, `superseded`, `wrong`,
    `faded`, `done` and `discussed`; `sig` is the significance after feedback and decay, None when the row has none.
    """

    row: Row
    lexical: float
    similarity: float | None = None
    sig: float | None = None
    standing: str = "current"
