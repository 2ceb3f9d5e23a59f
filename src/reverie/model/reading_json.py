"""Read the JSON in a model's reply, whatever stands around it.

Owns the way from a reply's words to plain values; promises that reasoning, fences, prose, trailing commas, a lone
object in place of a list and a cut end are read as far as they go, and that a reply in which nothing of the wanted
shape stands is an error and never an empty list; never judges what a value says.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from reverie.model.replies import bare, unusable

LONGEST = 1_000_000  # characters; a longer reply answers no question of ours
_STARTS = 60  # places of a reply at which a value is looked for
_FENCED = re.compile(r"```[\w-]*[ \t]*\n(.*?)(?:\n[ \t]*```|\Z)", re.DOTALL)
_COMMA = re.compile(r'"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])', re.DOTALL)
_DECODER = json.JSONDecoder(strict=False)  # models write line breaks into strings


class Items(msgspec.Struct, frozen=True):
    """The values of the list that was asked for; `whole` is false where its end is missing."""

    values: tuple[Any, ...]
    whole: bool = True


def items(text: str, *, named: str, having: str) -> Items:
    """Return the list called `named` in a reply, whose objects have the key `having`.

    The list may stand alone, and so may one object of it. Raises ModelFailed ("unusable") when neither is there.
    """
    if len(text) > LONGEST:
        raise unusable(f"it has {len(text):,} characters")
    plain = bare(text)
    if not plain:
        raise unusable("it is empty, or only reasoning")
    for candidate in (*(match[1] for match in _FENCED.finditer(plain)), plain):
        found = _in(candidate, named, having)
        if found is not None:
            return found
    raise unusable(f"it holds no list of {named}")


def _in(text: str, named: str, having: str) -> Items | None:
    """Return the first list of the wanted shape in a text, an empty or a cut one only when no other follows.

    Once a list was cut, what stands in it may look like a list or a lone object and is neither.
    """
    empty: Items | None = None
    cut: Items | None = None
    at = 0
    for _ in range(_STARTS):
        start = _next_start(text, at)
        if start < 0:
            break
        value, end = _value(text, start)
        if end == 0:
            cut = cut or _salvaged(text[start:], named, having)
            at = start + 1
            continue
        at = end
        if cut is not None and not (isinstance(value, dict) and named in value):
            continue
        found = _shaped(value, named, having)
        if found:
            return Items(found)
        if found is not None and (isinstance(value, dict) or not f"{text[:start]}{text[end:]}".strip()):
            empty = Items(())
    return cut or empty


def _next_start(text: str, at: int) -> int:
    """Return where the next object or list may begin, -1 when nowhere."""
    starts = [place for sign in "{[" if (place := text.find(sign, at)) >= 0]
    return min(starts, default=-1)


def _value(text: str, start: int) -> tuple[Any, int]:
    """Return the value that begins at `start` and where it ends (0: none does), trailing commas forgiven."""
    try:
        return _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        pass
    tidy = _COMMA.sub(lambda match: "" if match[0] == "," else match[0], text[start:])
    if len(tidy) == len(text) - start:
        return None, 0
    try:
        value, end = _DECODER.raw_decode(tidy)
    except (ValueError, RecursionError):
        return None, 0
    return value, len(text) - (len(tidy) - end)


def _shaped(value: Any, named: str, having: str) -> tuple[Any, ...] | None:  # noqa: ANN401 - any JSON
    """Return the items of a value of the wanted shape: `{named: [...]}`, a list of objects, or one object."""
    if isinstance(value, dict):
        if isinstance(value.get(named), list):
            return tuple(value[named])
        if isinstance(value.get(named), dict):
            return (value[named],)
        return (value,) if having in value else None
    listed = isinstance(value, list) and all(isinstance(one, dict) for one in value)
    return tuple(value) if listed and (not value or any(having in one for one in value)) else None


def _salvaged(text: str, named: str, having: str) -> Items | None:
    """Return the whole objects of a list whose end is missing; None when the text does not begin one."""
    opened = re.match(rf'\s*(?:\{{\s*"{re.escape(named)}"\s*:\s*)?\[', text)
    if opened is None:
        lone = text.startswith("{") and re.match(rf'\{{\s*"{re.escape(having)}"', text)
        return Items((), whole=False) if lone else None
    values = [one for one in _objects(text, opened.end()) if having in one]
    begins = text[opened.end() :].lstrip()[:1] in {"", "{"}
    return Items(tuple(values), whole=False) if values or begins else None


def _objects(text: str, at: int) -> Iterator[dict[str, Any]]:
    """Yield the objects that follow each other from `at`, up to the first that is cut."""
    while True:
        start = text.find("{", at)
        if start < 0:
            return
        value, at = _value(text, start)
        if at == 0 or not isinstance(value, dict):
            return
        yield value
