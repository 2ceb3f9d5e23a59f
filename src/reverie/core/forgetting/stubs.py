"""What stands where an entry was erased, in its log, its records and the pages that cited it.

Owns the stub and the taking out of citing lines; promises that a neighbour's line keeps every byte; never decides what
is erased.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from typing import Any

from reverie.core.days import Calendar
from reverie.core.forgetting.mask import ERASED, ERASED_CATEGORY
from reverie.core.formats import daylog
from reverie.core.formats.utf8 import to_bytes, to_text

_ID = re.compile(r"(?<![0-9a-f])[0-9a-f]{16}(?![0-9a-f])")
_BULLET = re.compile(r"\s*(?:[-+*]|\d{1,9}[.)])\s")
_FENCE = re.compile(r"---[ \t]*\r?\n?")
_KEPT = ("id", "at", "day", "session")


def ids_in(text: str) -> list[str]:
    """Return whatever in a text looks like an entry's id."""
    return _ID.findall(text)


def line(stub: str) -> str:
    """Return the line of a daily log that stands in an erased entry's place."""
    return f"- [{ERASED_CATEGORY}] {ERASED} ^{stub}\n"


def record(entry: Mapping[str, Any], stub: str) -> dict[str, Any]:
    """Return the JSON of the entry that stands in an erased one's place: when it was said, and nothing of it."""
    kept = {name: entry[name] for name in _KEPT if name in entry}
    return {**kept, "id": stub, "text": ERASED, "category": ERASED_CATEGORY}


def replaced(text: str, day: str, *, calendar: Calendar, ids: Mapping[str, str]) -> str:
    """Return the log of `day` with the stub in place of each entry of `ids` and its evidence.

    `text` is what `to_text` made of a file.
    """
    log = daylog.parse(text, day, calendar=calendar)
    data = to_bytes(text)
    out, at = [], 0
    for located in log.entries:
        if located.entry.id in ids:
            out += [data[at : located.offset], line(ids[located.entry.id]).encode()]
            at = located.end
    return to_text(b"".join([*out, data[at:]])) if out else text


def uncited(text: str, ids: Container[str]) -> str:
    """Return a page without the lines that name one of `ids`, and without what continues a list item so removed.

    In front matter a list item goes; from a list on one line only the item that names it.
    """
    lines = text.splitlines(keepends=True)
    front = _front(lines)
    kept: list[str] = []
    gone: int | None = None  # the indent of the item that was removed
    for number, one in enumerate(lines):
        indent = len(one) - len(one.lstrip(" \t"))
        if gone is not None and one.strip() and indent > gone and not _BULLET.match(one):
            continue
        gone = None
        if not any(found in ids for found in _ID.findall(one)):
            kept.append(one)
        elif number < front and not _BULLET.match(one):
            kept.append(_unlisted(one, ids))
        else:
            gone = indent if _BULLET.match(one) else None
    return "".join(kept)


def _front(lines: list[str]) -> int:
    """Return how many lines the front matter takes."""
    if not lines or not _FENCE.fullmatch(lines[0].removeprefix("\ufeff")):
        return 0
    return next((number for number, one in enumerate(lines[1:], 2) if _FENCE.fullmatch(one)), 0)


def _unlisted(one: str, ids: Container[str]) -> str:
    """Return a line of front matter without the items of its list that name one of `ids`."""
    begin, end = one.find("["), one.rfind("]")
    if begin < 0 or end < begin or not re.match(r"[\w-]+:\s*\[", one):
        head, colon, _ = one.partition(":")
        return f"{head}{colon}\n" if colon else ""
    items = re.findall(r"\"[^\"]*\"|'[^']*'|\[\[[^\]]*\]\]|[^,\s][^,]*", one[begin + 1 : end])
    kept = [item.strip() for item in items if not any(found in ids for found in _ID.findall(item))]
    return f"{one[: begin + 1]}{', '.join(kept)}{one[end:]}"
