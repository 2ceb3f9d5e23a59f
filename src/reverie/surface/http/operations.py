"""One operation: an address, what it takes and gives, the right it needs, and the verb behind it.

Owns the shape of an operation and how a request's arguments are read; promises that the specification and the reading
are made of the same types, and that an argument nobody knows is refused; never runs one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta

from reverie.errors import UsageError
from reverie.memory import Memory
from reverie.surface.http.tokens import Right

Method = Literal["get", "post", "put", "patch"]

WORKSPACE = "/v1/workspaces/{workspace}"
USER = "user"  # the parameter of every operation on a memory: the person whose own is meant
LONGEST_NAME = 200  # characters of a person's or a workspace's name

_IN_PATH = re.compile(r"{(\w+)(?::path)?}")
_NOTHING: Mapping[str, Any] = {}
_SHOWN = 80  # characters of an unknown name that an error repeats

Text = Annotated[str, Meta(min_length=1, max_length=1_000_000)]
Id = Annotated[str, Meta(description="The entry's id, or the beginning of it.", min_length=1, max_length=200)]
Ids = Annotated[
    tuple[str, ...], Meta(description="The entries' ids, or the beginnings of them.", max_length=10_000)
]
Day = Annotated[str, Meta(description="A day, as YYYY-MM-DD.", pattern=r"^([0-9]{4}-[0-9]{2}-[0-9]{2})?$")]
Limit = Annotated[int, Meta(description="How many at most, from 1 to 1,000.", ge=1, le=1_000)]
Cursor = Annotated[str, Meta(description="Where the page before ended: its `next`.", max_length=2_000)]


class Takes(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The arguments of an operation; those in the path, in the query or in the body are one set."""


TakesT = TypeVar("TakesT", bound=Takes)


class Nothing(Takes, frozen=True):
    """No arguments."""


class File(msgspec.Struct, frozen=True):
    """A text given as a file of its own, instead of JSON."""

    text: str
    media: str = "text/markdown; charset=utf-8"


class Operation(msgspec.Struct, frozen=True, kw_only=True):
    """An operation on a memory.

    `path` stands behind that of the workspace. `gives` is the type of the answer, or its schema; an answer that is no
    object stands in one under `named`. `long`: it may take more than a moment. `bare`: it answers in a workspace nobody
    has trusted yet. `raised`: an argument with which a greater right is needed. `unplaced`: its answer may name folders
    of the machine, which are taken out. `renews`: the memory is opened anew behind it.
    """

    id: str
    method: Method
    path: str
    summary: str
    right: Right
    run: Callable[[Memory, Any], object]
    gives: Any
    takes: type[Takes] = Nothing
    example: Mapping[str, Any] = {}
    named: str = ""
    long: bool = False
    bare: bool = False
    raised: Mapping[str, Right] = {}
    unplaced: bool = False
    renews: bool = False

    @property
    def address(self) -> str:
        """The whole path."""
        return WORKSPACE + self.path

    @property
    def in_path(self) -> tuple[str, ...]:
        """The names of the arguments in the path, the workspace's aside."""
        return tuple(_IN_PATH.findall(self.path))

    @property
    def in_query(self) -> tuple[str, ...]:
        """The names of the arguments in the query."""
        return () if self.has_body else self._others

    @property
    def in_body(self) -> tuple[str, ...]:
        """The names of the arguments in the body."""
        return self._others if self.has_body else ()

    @property
    def has_body(self) -> bool:
        """Whether arguments come as JSON."""
        return self.method != "get"

    def needs(self, arguments: Takes) -> Right:
        """Return the right that a call with these arguments needs."""
        for name, right in self.raised.items():
            if getattr(arguments, name):
                return right
        return self.right

    @property
    def _others(self) -> tuple[str, ...]:
        fields = msgspec.structs.fields(self.takes)
        return tuple(one.encode_name for one in fields if one.encode_name not in self.in_path)


def read(
    takes: type[TakesT],
    path: Mapping[str, str],
    *,
    query: Sequence[tuple[str, str]],
    body: Mapping[str, Any] = _NOTHING,
) -> TakesT:
    """Return the arguments of a call; raises UsageError for what is missing, unknown, twice or of a wrong type.

    What stands in the query is text and read as what it is meant for; in the body, types are what they are.
    """
    fields = {one.encode_name: one for one in msgspec.structs.fields(takes)}
    loose: dict[str, Any] = dict(path)
    for name, value in query:
        if name in fields and _is_list(fields[name].type):
            loose.setdefault(name, []).append(value)
        elif name in loose:
            raise UsageError(f"{name[:_SHOWN]} is given twice: give it once")
        else:
            loose[name] = value
    for name in (*loose, *body):
        if name not in fields:
            near = get_close_matches(name, fields, n=1)
            meant = f"did you mean {near[0]}?" if near else f"there are {', '.join(fields) or 'none'}"
            raise UsageError(f"there is no argument {name[:_SHOWN]!r} here: {meant}")
    for name in loose.keys() & body.keys():
        raise UsageError(f"{name[:_SHOWN]} is given twice: give it once")
    for name, value in loose.items():
        loose[name] = _converted(name, value, fields[name].type)
    try:
        return msgspec.convert({**loose, **body}, takes)
    except msgspec.ValidationError as error:
        raise UsageError(f"an argument is not as the specification has it: {error}") from error


def _converted(name: str, value: Any, kind: Any) -> Any:  # noqa: ANN401 - of the argument's own type
    """Return what stands in an address as JSON would have it; raises UsageError."""
    try:
        return msgspec.to_builtins(msgspec.convert(value, kind, strict=False))
    except msgspec.ValidationError as error:
        raise UsageError(f"{name} is not as the specification has it: {error}") from error


def _is_list(kind: Any) -> bool:  # noqa: ANN401 - any type there is
    return "tuple" in str(kind)
