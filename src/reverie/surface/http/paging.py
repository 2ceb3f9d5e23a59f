"""Long lists in pages: the cursor that says where the next one begins.

Owns the cursor's form; promises that a page goes on behind the last thing of the one before, also when things came or
went meanwhile, and that a cursor nobody was given is refused; never keeps anything between two requests.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import msgspec

from reverie.errors import UsageError

T = TypeVar("T")


class _Place(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """Where a page ended: how many there were up to there, and the key of the last one."""

    number: int
    key: str


def page(
    found: Sequence[T], limit: int, *, cursor: str, key: Callable[[T], str], form: Callable[[T], Any]
) -> tuple[list[Any], str]:
    """Return the things of one page in their form, and the cursor of the next, "" when there is none."""
    start = _start(found, cursor, key)
    part = found[start : start + limit]
    end = start + len(part)
    more = _written(_Place(end, key(part[-1]))) if part and end < len(found) else ""
    return [form(one) for one in part], more


def _start(found: Sequence[T], cursor: str, key: Callable[[T], str]) -> int:
    """Return how many things stand before the page."""
    if not cursor:
        return 0
    place = _read(cursor)
    if 0 < place.number <= len(found) and key(found[place.number - 1]) == place.key:
        return place.number
    # Something came or went before it; where the thing itself is gone, its place is as good.
    return next((n for n, one in enumerate(found, 1) if key(one) == place.key), max(place.number - 1, 0))


def _written(place: _Place) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(place)).decode().rstrip("=")


def _read(cursor: str) -> _Place:
    try:
        data = base64.urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4))
        return msgspec.json.decode(data, type=_Place)
    except (ValueError, binascii.Error, msgspec.MsgspecError) as error:
        raise UsageError("the cursor is none that was given: begin without one") from error
