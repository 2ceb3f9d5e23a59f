"""The fields of a daily log's line: `(name:: value)`, one table of them.

Owns the fields' names, their order and how each value is written; promises that a value reads back equal, and
that `flaw` names whatever could not; never looks at text, headings or evidence (`core.formats.daylog` does).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from operator import attrgetter
from typing import Any, get_args

import msgspec

from reverie.core.days import format_instant, parse_instant
from reverie.core.formats.daylog_text import decode_items, decode_value, encode_items, encode_value
from reverie.core.records import Entry, Origin, Scope, Status
from reverie.core.text.names import valid_category
from reverie.errors import UsageError

_ID = re.compile(r"[0-9a-f]{16}")
_SCORE = re.compile(r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,3})?", re.ASCII)
_UNSCORED = "-"
_SCOPES, _ORIGINS, _STATUSES = get_args(Scope), get_args(Origin), get_args(Status)
_STARE = 5


class Field(msgspec.Struct, frozen=True):
    """One field: its name in the file, the entry's attribute, how it is written and read.

    `read` raises ValueError for what is no such value.
    """

    name: str
    attribute: str
    write: Callable[[Any], str]
    read: Callable[[str], Any]


def is_id(text: str) -> bool:
    """Tell whether `text` is an entry's id: 16 lower-case hex digits."""
    return _ID.fullmatch(text) is not None


def _read_score(written: str) -> float:
    score = float(written) if _SCORE.fullmatch(written) else -1.0
    if not 0 <= score <= 1:
        raise ValueError(written)
    return score


def _read_word(words: tuple[str, ...]) -> Callable[[str], str]:
    def read(written: str) -> str:
        return words[words.index(written)]  # ValueError when it is none of them

    return read


def _read_instant(written: str) -> Any:  # noqa: ANN401 - the table's readers share one type
    try:
        return parse_instant(written)
    except UsageError as error:
        raise ValueError(written) from error


def _write_stare(stare: tuple[float | None, ...]) -> str:
    return " ".join(_UNSCORED if score is None else repr(score) for score in stare)


def _read_stare(written: str) -> tuple[float | None, ...]:
    scores = tuple(None if word == _UNSCORED else _read_score(word) for word in written.split())
    if len(scores) != _STARE:
        raise ValueError(written)
    return scores


def _read_ids(written: str) -> tuple[str, ...]:
    ids = decode_items(written)
    if not all(map(is_id, ids)):
        raise ValueError(written)
    return ids


# In the order in which they are written.
FIELDS = (
    Field("sig", "sig", repr, _read_score),
    Field("conf", "conf", repr, _read_score),
    Field("session", "session", encode_value, decode_value),
    Field("turns", "turns", encode_value, decode_value),
    Field("at", "at", format_instant, _read_instant),
    Field("who", "who", encode_value, decode_value),
    Field("about", "about", encode_value, decode_value),
    Field("from", "since", encode_value, decode_value),
    Field("until", "until", encode_value, decode_value),
    Field("due", "due", encode_value, decode_value),
    Field("every", "every", encode_value, decode_value),
    Field("scope", "scope", str, _read_word(_SCOPES)),
    Field("origin", "origin", str, _read_word(_ORIGINS)),
    Field("owner", "owner", encode_value, decode_value),
    Field("status", "status", str, _read_word(_STATUSES)),
    Field("stare", "stare", _write_stare, _read_stare),
    Field("supersedes", "supersedes", encode_items, _read_ids),
    Field("tags", "tags", encode_items, decode_items),
)
BY_NAME = {field.name: field for field in FIELDS}

# The heading says the session and, for most entries, the instant; tags mostly stand between backticks.
_OPTIONAL = tuple(field for field in FIELDS if field.name not in ("session", "at", "tags"))
_values = attrgetter(*(field.attribute for field in _OPTIONAL))
_DEFAULTS = _values(Entry(id="", text="", at=parse_instant("2000-01-01T00:00:00Z"), day=""))
_BEFORE_AT = frozenset(field.name for field in FIELDS[: FIELDS.index(BY_NAME["at"])])


def write_fields(entry: Entry, *, at: bool, tags: bool) -> str:
    """Return the fields of `entry` that differ from the format's defaults, each behind a blank.

    `at` and `tags` say whether those two stand among them.
    """
    written = []
    values = _values(entry)
    if values != _DEFAULTS:
        for field, value, default in zip(_OPTIONAL, values, _DEFAULTS, strict=True):
            if value != default:
                written.append((field.name, field.write(value)))
    if at:
        earlier = sum(name in _BEFORE_AT for name, _ in written)
        written.insert(earlier, ("at", format_instant(entry.at)))
    if tags:
        written.append(("tags", encode_items(entry.tags)))
    return "".join([f" ({name}:: {value})" for name, value in written])


def flaw(entry: Entry) -> str:
    """Return why `entry` cannot stand in a daily log, or an empty text when it can.

    A drain asks before it writes: the entry is set aside and its neighbours are written.
    """
    if not _ID.fullmatch(entry.id):
        return "the id is not 16 lower-case hex digits"
    if not entry.text:
        return "the text is empty"
    if valid_category(entry.category) != entry.category:
        return f"the category {entry.category!r} is no slug"
    if entry.at.tzinfo is None:
        return "the instant has no zone"
    if _values(entry) == _DEFAULTS and not entry.tags:
        return ""
    return _flaw_in_fields(entry)


def _flaw_in_fields(entry: Entry) -> str:
    for score in (entry.sig, entry.conf, *(entry.stare or ())):
        if score is not None and not 0 <= score <= 1:
            return f"the score {score!r} is not between 0 and 1"
    if entry.stare is not None and len(entry.stare) != _STARE:
        return "stare has not five scores"
    if entry.scope not in _SCOPES or entry.origin not in _ORIGINS or entry.status not in _STATUSES:
        return "scope, origin or status is none that exists"
    if not all(map(is_id, entry.supersedes)):
        return "supersedes holds what is no id"
    if not all(entry.tags):
        return "a tag is empty"
    return ""
