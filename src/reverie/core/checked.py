"""Verbs that look at what they are given before they do anything.

Owns telling a value of a wrong type from one that its verb can work with; promises that a wrong one is refused by
UsageError with its name and what to give, before anything is read or written; never converts a value, and never reads
an iterator.

What Python's own types let pass is refused too: a text where texts belong is one id, but a truth value must be one, for
`dry_run="no"` would otherwise mean yes, and an instant must say its zone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache, wraps
from inspect import getattr_static, signature
from types import FunctionType, NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

from reverie.core.limits import LONGEST, MOST, too_long
from reverie.core.records import Draft, Turn
from reverie.errors import UsageError

_APART = (Draft, Turn)  # their steps look at their members, and keep aside what is refused
_NAMED = LONGEST.keys() - {"text"}  # a text that is too long is kept aside by its step, or may be longer
_SHOWN = 60  # characters of a wrong value that are shown
_NAMES = {str: "text", int: "a whole number", float: "a number", bool: "True or False", NoneType: "None"}
_NAMES |= {datetime: "a datetime with its zone"}

_VerbT = TypeVar("_VerbT", bound=Callable[..., Any])


class Checked:
    """The public methods of a class beneath this one, inherited ones too, refuse arguments of wrong types."""

    def __init_subclass__(cls) -> None:
        """Have each public method look at its arguments, once."""
        super().__init_subclass__()
        for name in dir(cls):
            found = getattr_static(cls, name)
            if isinstance(found, FunctionType) and not (
                name.startswith("_") or hasattr(found, "__wrapped__")
            ):
                setattr(cls, name, checked(found))


def checked(verb: _VerbT) -> _VerbT:
    """Return a function that does as `verb` does, and raises UsageError for an argument of a wrong type."""
    takes = signature(verb)

    @wraps(verb)
    def looking(*given: Any, **named: Any) -> Any:  # noqa: ANN401 - what the verb takes and returns
        hints = _hints(verb)
        # What is missing or too much is an error of Python's own, as in any call.
        for name, value in takes.bind(*given, **named).arguments.items():
            if name in hints and not fits(value, hints[name]):
                message = f"{name} is {_told(value)}: give {_wanted(hints[name])}"
                raise UsageError(message)
            if name in _NAMED and isinstance(value, str) and (reason := too_long([(name, value)])):
                raise UsageError(reason)
        return verb(*given, **named)

    return looking  # type: ignore[return-value]  # it has the very signature of the verb


def fits(value: object, hint: Any) -> bool:  # noqa: ANN401 - a type as it is written; one answer for each kind
    """Whether a value, and what it holds, is as an annotation says."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any or hint is object:
        return True
    if origin in {Union, UnionType}:
        return any(fits(value, one) for one in inner)
    if origin is Literal:
        return isinstance(value, str) and value in inner
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return isinstance(value, Mapping) and all(
            fits(key, inner[0]) and fits(one, inner[1]) for key, one in value.items()
        )
    if origin is not None:
        if not isinstance(origin, type) or not isinstance(value, origin) or isinstance(value, bytes):
            return origin is Callable or not isinstance(origin, type)
        if isinstance(value, str) or not isinstance(value, Sequence | set | frozenset) or not inner:
            return not isinstance(value, Mapping)
        return all(fits(one, inner[0]) for one in value)
    return _is(value, hint)


def _is(value: object, hint: Any) -> bool:  # noqa: ANN401 - a type as it is written
    """Whether a value is of a plain type, a record's members included."""
    if hint is None:
        return value is None
    if not isinstance(hint, type):
        return True
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if not isinstance(value, hint) or (hint is int and isinstance(value, bool)):
        return False
    if isinstance(value, int):
        return abs(value) <= MOST
    if isinstance(value, datetime):
        return value.utcoffset() is not None
    return not isinstance(value, msgspec.Struct) or not _wrong_member(value)


def _wrong_member(record: msgspec.Struct) -> str:
    """Return the name of the first member of a wrong type; empty when all fit, or another looks at them."""
    if isinstance(record, _APART):
        return ""
    hints = _hints(type(record))
    members = record.__struct_fields__
    return next((name for name in members if not fits(getattr(record, name), hints[name])), "")


@lru_cache(maxsize=512)
def _hints(of: Any) -> dict[str, Any]:  # noqa: ANN401 - a function or a class
    return get_type_hints(of)


def _told(value: object) -> str:
    """Return what a wrong value is, and where in a record it is wrong."""
    if isinstance(value, msgspec.Struct) and (name := _wrong_member(value)):
        wanted = _wanted(_hints(type(value))[name])
        return f"a {type(value).__name__} whose {name} is {_told(getattr(value, name))}, not {wanted}"
    return f"{repr(value)[:_SHOWN]} ({type(value).__name__})"


def _wanted(hint: Any) -> str:  # noqa: ANN401 - a type as it is written
    """Return an annotation in words."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in {Union, UnionType}:
        return " or ".join(map(_wanted, inner))
    if origin is Literal:
        return f"one of {', '.join(map(repr, inner))}"
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return "a mapping"
    if origin is not None:
        return f"a list of {_wanted(inner[0])}" if inner else str(hint)
    return _NAMES.get(hint, f"a {getattr(hint, '__name__', hint)}")
