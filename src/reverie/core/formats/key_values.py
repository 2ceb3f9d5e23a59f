"""The values of an adapter's store: which of a file's lines count, what is searched of a value, what a filter admits.

Owns the fold of `kv.jsonl` and the look into a value; promises that folding the same lines in pieces gives what folding
them at once does, that a filter never raises for what a value holds, and that what is forgotten leaves a value without
changing its shape; never reads a file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any

import msgspec

from reverie.core.days import Calendar, format_instant
from reverie.core.entries import derived_id
from reverie.core.formats.readings import DEEPEST
from reverie.core.records import KeyValue
from reverie.core.search.rows import Row
from reverie.errors import UsageError
from reverie.layout import KV

FORGOTTEN = "[forgotten]"  # what stands where a reader leaves out forgotten words
DEEP = DEEPEST - 4  # levels of a value: a search for what is to be erased looks no deeper

Name = tuple[tuple[str, ...], str]  # a namespace and a key

_STEP = re.compile(r"\[([^\[\]]*)\]|([^.\[\]]+)")
_SEPARATOR = "\x1f"


class Item(msgspec.Struct, frozen=True, gc=False):
    """A key as it stands: the line that stored it, when it ends (None: never), and the bytes its lines take."""

    line: KeyValue
    until: datetime | None
    size: int

    @property
    def created(self) -> datetime:
        """When the key was first stored."""
        return self.line.created or self.line.at

    def lives(self, now: datetime) -> bool:
        """Whether it has not ended."""
        return self.until is None or now < self.until


def name_of(line: KeyValue) -> Name:
    """Return what a line speaks of."""
    return line.namespace, line.key


def fold(items: dict[Name, Item], lines: Iterable[tuple[int, KeyValue]]) -> None:
    """Bring `items` up to `lines`, each with its size, in their order."""
    for size, line in lines:
        name = name_of(line)
        before = items.get(name)
        if line.touch:
            if before is not None:
                items[name] = Item(before.line, line.until, before.size + size)
        elif line.value is msgspec.UNSET:
            items.pop(name, None)
        else:
            items[name] = Item(line, line.until, size)


def readable(line: KeyValue) -> bool:
    """Tell whether the value of a line can be read: JSON is checked for its marks alone when its line is."""
    try:
        decoded(line)
    except (
        msgspec.MsgspecError,
        UnicodeDecodeError,
    ):  # a number of thousands of digits, bytes that are no text
        return False
    return True


def decoded(line: KeyValue) -> Any:  # noqa: ANN401 - any JSON
    """Return the value of a line; None where it has none."""
    return msgspec.json.decode(line.value) if isinstance(line.value, msgspec.Raw) else None


# What is searched


@lru_cache(maxsize=65_536)
def row_id(name: Name) -> str:
    """Return the id of a key's search row."""
    return f"value:{derived_id('value', scope_of(name[0]), name[1])}"


def scope_of(namespace: tuple[str, ...]) -> str:
    """Return a namespace as one text, another one for each."""
    return _SEPARATOR.join(one.replace(_SEPARATOR, f"{_SEPARATOR} ") for one in namespace)


def row_of(line: KeyValue, calendar: Calendar) -> Row | None:
    """Return the search row of a stored value; None when nothing of it is searched."""
    text = text_of(decoded(line), index=line.index)
    if not text.strip():
        return None
    return Row(
        id=row_id(name_of(line)),
        kind="value",
        source=KV,
        text=text,
        heading=" › ".join((*line.namespace, line.key)),
        at=line.at,
        day=calendar.day(line.at),
        scope=scope_of(line.namespace),
        status=ends(line.until),
    )


def ends(until: datetime | None) -> str:
    """Return when a value ends as its row has it; empty for never."""
    return "" if until is None else format_instant(until)


def text_of(value: Any, *, index: tuple[str, ...] | bool = True) -> str:  # noqa: ANN401 - any JSON
    """Return what is searched of a value: a line for each text in it, with its name where it is a mere word."""
    if index is False:
        return ""
    if index is True:
        return "\n".join(_leaves(value, "", 0))
    return "\n".join(
        line for path in index for found, name in at_path(value, path) for line in _leaves(found, name, 0)
    )


def at_path(value: Any, path: str) -> Iterator[tuple[Any, str]]:  # noqa: ANN401 - any JSON
    """Yield what stands at a path (`a.b`, `a[0]`, `a[-1]`, `a[*].b`, `$` for all) with the last name on the way."""
    steps = [] if path == "$" else [(match[1], match[2]) for match in _STEP.finditer(path)]
    found = [(value, "")]
    for place, name in steps:
        found = [one for inside, _ in found for one in _step(inside, place, name)]
    yield from found


def _step(value: Any, place: str, name: str) -> Iterator[tuple[Any, str]]:  # noqa: ANN401 - any JSON
    if name:
        if name == "*":
            inner = value.items() if isinstance(value, dict) else ()
            yield from ((one, str(key)) for key, one in inner)
            yield from ((one, "") for one in (value if isinstance(value, list) else ()))
        elif isinstance(value, dict) and name in value:
            yield value[name], name
    elif isinstance(value, list):
        if place == "*":
            yield from ((one, "") for one in value)
        elif place.lstrip("-").isdecimal() and -len(value) <= int(place) < len(value):
            yield value[int(place)], ""


def _leaves(value: Any, name: str, depth: int) -> Iterator[str]:  # noqa: ANN401 - any JSON
    if isinstance(value, str):
        # Prose stands for itself, so that what is forgotten is known by its words; "dark" says nothing without "theme".
        yield value if not name or " " in value.strip() or "\n" in value else f"{name}: {value}"
    elif isinstance(value, bool | int | float):
        yield (
            f"{name}: {msgspec.json.encode(value).decode()}" if name else msgspec.json.encode(value).decode()
        )
    elif depth < DEEPEST and isinstance(value, list):
        for one in value:
            yield from _leaves(one, name, depth + 1)
    elif depth < DEEPEST and isinstance(value, dict):
        for key, one in value.items():
            yield from _leaves(one, str(key), depth + 1)


def depth_of(value: Any, most: int = DEEP) -> int:  # noqa: ANN401 - any value
    """Return how many lists and objects stand in one another, at most one more than `most`."""
    level, depth = [value], 0
    while depth <= most:
        inner = [one for one in level if isinstance(one, Mapping | list | tuple)]
        if not inner:
            break
        depth += 1
        level = [one for outer in inner for one in (outer.values() if isinstance(outer, Mapping) else outer)]
    return depth


# What is forgotten


def withheld(value: Any, hides: Callable[[str], bool]) -> Any:  # noqa: ANN401 - any JSON
    """Return a value with `[forgotten]` for each line of its texts that may not be read; all else as it is."""
    if isinstance(value, str):
        return withheld_text(value, hides)
    if isinstance(value, list):
        return [withheld(one, hides) for one in value]
    if isinstance(value, dict):
        return {withheld_text(key, hides): withheld(one, hides) for key, one in value.items()}
    return value


def withheld_text(text: str, hides: Callable[[str], bool]) -> str:
    """Return a text with `[forgotten]` for the lines that may not be read, or for all of it when no line tells."""
    if not hides(text):
        return text
    lines = text.splitlines(keepends=True)
    kept = [f"{FORGOTTEN}{_ending(line)}" if hides(line) else line for line in lines]
    return "".join(kept) if kept != lines else FORGOTTEN


def _ending(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :]


# Filters


def admits(value: Any, wanted: Any) -> bool:  # noqa: ANN401 - any JSON
    """Whether a value is as a filter wants it: equal, member by member, or by `$eq` `$ne` `$gt` `$gte` `$lt` `$lte`.

    Numbers are compared with numbers and texts with texts; anything else is neither greater nor less. Raises UsageError
    for an operator that there is not.
    """
    if isinstance(wanted, Mapping):
        if any(str(key).startswith("$") for key in wanted):
            held = [_holds(value, str(operator), other) for operator, other in wanted.items()]
            return all(held)  # only now: a wrong operator is told, whatever the others say
        return isinstance(value, Mapping) and all(
            admits(value.get(key), other) for key, other in wanted.items()
        )
    if isinstance(wanted, list | tuple):
        same = isinstance(value, list | tuple) and len(value) == len(wanted)
        return same and all(admits(one, other) for one, other in zip(value, wanted, strict=True))
    return bool(value == wanted)


def _holds(value: Any, operator: str, other: Any) -> bool:  # noqa: ANN401 - any JSON
    if operator == "$eq":
        return bool(value == other)
    if operator == "$ne":
        return bool(value != other)
    if operator not in {"$gt", "$gte", "$lt", "$lte"}:
        raise UsageError(f"{operator} is no operator of a filter: use $eq, $ne, $gt, $gte, $lt or $lte")
    if not _alike(value, other):
        return False
    if operator == "$gt":
        return bool(value > other)
    if operator == "$gte":
        return bool(value >= other)
    return bool(value < other) if operator == "$lt" else bool(value <= other)


def _alike(value: Any, other: Any) -> bool:  # noqa: ANN401 - any JSON
    if isinstance(value, bool) or isinstance(other, bool):
        return False
    both = (value, other)
    return all(isinstance(one, int | float) for one in both) or all(isinstance(one, str) for one in both)
