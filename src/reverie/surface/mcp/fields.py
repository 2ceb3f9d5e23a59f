"""The arguments of a tool: what a client is told of them, and how what a model sends is read.

Owns both sides of an argument; promises that the schema is plain (an object at the root, one type an argument, no
`anyOf`, `format` or `$ref`), so that every client takes it, and that reading is kinder than the schema: null is the
same as nothing, a number may come as text, a list as one text; never guesses what an unknown name was meant for.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Literal

import msgspec

from reverie.errors import UsageError

Kind = Literal["text", "integer", "number", "flag", "texts", "objects"]

_SCHEMA: dict[Kind, dict[str, Any]] = {
    "text": {"type": "string"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "flag": {"type": "boolean"},
    "texts": {"type": "array", "items": {"type": "string"}},
    "objects": {"type": "array", "items": {"type": "object"}},
}
_FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_EMPTY: dict[Kind, Any] = {
    "text": "",
    "texts": (),
    "objects": None,
    "flag": False,
    "integer": 0,
    "number": None,
}
_LONGEST = 80  # characters of a wrong value that an error repeats


class Field(msgspec.Struct, frozen=True):
    """One argument: its name, what it takes, what it is for, and which words it takes when there are only a few.

    `default` is what the verb gets when nothing was sent; None means the kind's own empty value. `items` is the schema
    of each object of a list; it is told and not enforced, for whoever takes them says of each what is wrong with it.
    """

    name: str
    kind: Kind
    why: str
    required: bool = False
    choices: tuple[str, ...] = ()
    default: Any = None
    within: tuple[float, float] | None = None
    items: Mapping[str, Any] | None = None

    @property
    def empty(self) -> Any:  # noqa: ANN401 - of the argument's own kind
        """What stands for an argument that was not sent."""
        return _EMPTY[self.kind] if self.default is None else self.default

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the argument."""
        told: dict[str, Any] = {**_SCHEMA[self.kind], "description": self.why}
        if self.choices and self.kind == "texts":
            told["items"] = {**told["items"], "enum": list(self.choices)}
        elif self.items:
            told["items"] = dict(self.items)
        elif self.choices:
            told["enum"] = list(self.choices)
        if self.within:
            told["minimum"], told["maximum"] = self.within
        if self.default is not None and self.kind != "texts":
            told["default"] = self.default
        return told


def schema(fields: Sequence[Field]) -> dict[str, Any]:
    """Return the JSON Schema of a tool's arguments."""
    told: dict[str, Any] = {"type": "object", "properties": {one.name: one.schema for one in fields}}
    if required := [one.name for one in fields if one.required]:
        told["required"] = required
    told["additionalProperties"] = False
    return told


def read(fields: Sequence[Field], given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a value for each argument, by name; raises UsageError for what is missing, unknown or cannot be read."""
    sent = {name: value for name, value in (given or {}).items() if value is not None}
    known = {one.name: one for one in fields}
    for name in sent:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            meant = f"did you mean {near[0]}?" if near else f"there are {', '.join(known) or 'none'}"
            raise UsageError(f"there is no argument {name[:_LONGEST]!r}: {meant}")
    values = {one.name: _value(one, sent[one.name]) if one.name in sent else one.empty for one in fields}
    for one in fields:
        if one.required and values[one.name] in ("", ()):
            raise UsageError(f"{one.name} is missing: {one.why}")
    return values


def _value(field: Field, sent: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return what was sent as the argument's kind; raises UsageError."""
    value = _READ[field.kind](sent)
    if value is None:
        raise UsageError(f"{field.name} is {_shown(sent)}: give {_WORDS[field.kind]}")
    for one in value if isinstance(value, tuple) else (value,):
        if field.choices and one and one not in field.choices:
            raise UsageError(f"{field.name} is {_shown(one)}: choose one of {', '.join(field.choices)}")
    if field.within and not field.within[0] <= value <= field.within[1]:
        low, high = field.within
        raise UsageError(f"{field.name} is {value:g}: give a number from {low:g} to {high:g}")
    return value


def _text(sent: Any) -> str | None:  # noqa: ANN401 - whatever JSON holds
    if isinstance(sent, bool):
        return None
    if isinstance(sent, int | float):
        return f"{sent:g}" if isinstance(sent, float) else str(sent)
    return sent if isinstance(sent, str) else None


def _number(sent: Any) -> float | None:  # noqa: ANN401 - whatever JSON holds
    if isinstance(sent, bool) or not isinstance(sent, int | float | str):
        return None
    try:
        number = float(sent)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _integer(sent: Any) -> int | None:  # noqa: ANN401 - whatever JSON holds
    number = _number(sent)
    return int(number) if number is not None and number.is_integer() else None


def _flag(sent: Any) -> bool | None:  # noqa: ANN401 - whatever JSON holds
    return sent if isinstance(sent, bool) else _FLAGS.get(str(sent).strip().lower())


def _texts(sent: Any) -> tuple[str, ...] | None:  # noqa: ANN401 - whatever JSON holds
    """Return a list of texts; one text stands for itself, and may also be the JSON of a list."""
    if isinstance(sent, str) and sent.lstrip().startswith("["):
        try:
            sent = json.loads(sent)
        except (ValueError, RecursionError):
            return (sent,)
    if not isinstance(sent, list | tuple):
        sent = [sent]
    texts = [_text(one) for one in sent]
    return tuple(one for one in texts if one) if all(one is not None for one in texts) else None


def _objects(sent: Any) -> tuple[Any, ...] | None:  # noqa: ANN401 - whatever JSON holds
    """Return a list of objects, also from the JSON of one, of a single one, or of an object whose `entries` it is."""
    if isinstance(sent, str):
        try:
            sent = json.loads(sent)
        except (ValueError, RecursionError):
            return None
    if isinstance(sent, Mapping):
        sent = sent.get("entries", [sent])
    return tuple(sent) if isinstance(sent, list | tuple) else None


_READ: dict[Kind, Callable[[Any], Any]] = {
    "text": _text,
    "integer": _integer,
    "number": _number,
    "flag": _flag,
    "texts": _texts,
    "objects": _objects,
}
_WORDS: dict[Kind, str] = {
    "text": "a text",
    "integer": "a whole number",
    "number": "a number",
    "flag": "true or false",
    "texts": "a list of texts",
    "objects": "a list of objects",
}


def _shown(value: Any) -> str:  # noqa: ANN401 - whatever JSON holds
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
