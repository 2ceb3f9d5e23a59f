"""Changing one place of a JSON file that a person keeps, and nothing else of it.

Owns reading JSON with the place of every value, and putting a value in or taking one out; promises that every byte
outside that place stays (order, blanks, line ends, and comments, which JSON does not have and people write all the
same), and that what was put in can be taken out again without a trace; never decides what belongs in a file.
"""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from reverie.errors import UsageError

_DEEPEST = 100
_BLANK = re.compile(r"(?:[ \t\r\n\ufeff]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_PLAIN = re.compile(r"true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_INDENT = re.compile(r"\n([ \t]+)\S")


class Node(msgspec.Struct, frozen=True):
    """A value: where it begins and ends in the text, its members or elements, and the value of anything else.

    `keys` are the names of an object's members, as many as there are `items`; None for what is no object.
    """

    start: int
    end: int
    value: Any = None
    items: tuple[Node, ...] = ()
    starts: tuple[int, ...] = ()  # where each item begins, a member at its name
    keys: tuple[str, ...] | None = None
    is_list: bool = False

    def get(self, name: str) -> Node | None:
        """Return the member of an object called `name`, the last one as readers of JSON take it."""
        found = [item for key, item in zip(self.keys or (), self.items, strict=False) if key == name]
        return found[-1] if found else None

    def plain(self) -> Any:  # noqa: ANN401 - JSON
        """Return the value itself."""
        if self.keys is not None:
            return {key: item.plain() for key, item in zip(self.keys, self.items, strict=True)}
        return [item.plain() for item in self.items] if self.is_list else self.value


def parse(text: str) -> Node:
    """Return the value that a whole text is; raises UsageError with line and column for what is no JSON."""
    node = _value(text, _skip(text, 0), 0)
    end = _skip(text, node.end)
    if end < len(text):
        raise _wrong(text, end, "something stands after the end")
    return node


def put(text: str, box: Node, *, value: Any, key: str = "", depth: int) -> str:  # noqa: ANN401 - JSON
    """Return the text with `value` at the end of an object (under `key`) or array that lies `depth` levels deep."""
    unit, newline = _unit(text), "\r\n" if "\r\n" in text else "\n"
    lines = json.dumps(value, indent=unit, ensure_ascii=False).split("\n")
    new = f"{newline}{unit * (depth + 1)}".join(lines)
    if key:
        new = f"{json.dumps(key, ensure_ascii=False)}: {new}"
    line = f"{newline}{unit * (depth + 1)}"
    if not box.items:
        inside = text[box.start + 1 : box.end - 1].rstrip()
        return f"{text[: box.start + 1]}{inside}{line}{new}{newline}{unit * depth}{text[box.end - 1 :]}"
    last = box.items[-1].end
    comma = _skip(text, last)
    if text[comma : comma + 1] == ",":
        return f"{text[: comma + 1]}{line}{new}{text[comma + 1 :]}"
    return f"{text[:last]},{line}{new}{text[last:]}"


def commented(text: str, box: Node) -> bool:
    """Whether a comment stands in an object or array, beside its items."""
    ends = (box.start + 1, *(item.end for item in box.items))
    gaps = zip(ends, (*box.starts, box.end - 1), strict=True)
    return any("/" in text[start:end] for start, end in gaps)


def without(text: str, box: Node, *, place: int) -> str:
    """Return the text without the item of an object or array at `place` and the comma it took; comments stay."""
    end = box.items[place].end
    behind = _skip(text, end)
    led = text[behind : behind + 1] == ","  # on to another item, or to nothing
    rest = text[end:behind] + text[behind + led :]
    if place:
        last = box.items[place - 1].end
        comma = _skip(text, last)
        if not (text[last:comma] + text[comma + 1 : box.starts[place]]).strip():
            return text[:last] + text[end:]
        if led:
            return _joined(text[: box.starts[place]], rest)
        return _joined(text[:comma] + text[comma + 1 : box.starts[place]], rest)
    if len(box.items) > 1:
        said = text[end:behind] + text[behind + led : box.starts[1]]
        return text[: box.starts[0]] + (said.lstrip(" \t") if said.strip() else "") + text[box.starts[1] :]
    before, after = text[box.start + 1 : box.starts[0]], text[end:behind] + text[behind + led : box.end - 1]
    kept = _joined(before, after) if (before + after).strip() else ""
    return text[: box.start + 1] + kept + text[box.end - 1 :]


def instead(text: str, node: Node, *, value: Any) -> str:  # noqa: ANN401 - JSON
    """Return the text with another plain value in the place of one."""
    return text[: node.start] + json.dumps(value, ensure_ascii=False) + text[node.end :]


def _joined(text: str, rest: str) -> str:
    """Return both, without the blanks in the place of what stood between, but for the end of a comment's line."""
    rest = rest.lstrip(" \t")
    return (text.rstrip() if rest.startswith(("\n", "\r")) else text) + rest


def _value(text: str, at: int, depth: int) -> Node:
    """Return the value that begins at `at`; raises UsageError."""
    if depth > _DEEPEST:
        raise _wrong(text, at, f"it is more than {_DEEPEST} levels deep")
    if text[at : at + 1] in ("{", "["):
        return _box(text, at, depth)
    found = _STRING.match(text, at) or _PLAIN.match(text, at)
    if found is None:
        raise _wrong(text, at, "a value is missing")
    return Node(at, found.end(), _decoded(text, at, found[0]))


def _box(text: str, at: int, depth: int) -> Node:
    """Return the object or array that begins at `at`; raises UsageError."""
    closing = "}" if text[at] == "{" else "]"
    keys: list[str] = []
    items: list[Node] = []
    starts: list[int] = []
    here = _skip(text, at + 1)
    while text[here : here + 1] != closing:
        starts.append(here)
        if closing == "}":
            name = _STRING.match(text, here)
            if name is None:
                raise _wrong(text, here, "a name in quotes is missing")
            keys.append(_decoded(text, here, name[0]))
            here = _skip(text, name.end())
            if text[here : here + 1] != ":":
                raise _wrong(text, here, "a colon is missing")
            here = _skip(text, here + 1)
        items.append(_value(text, here, depth + 1))
        here = _skip(text, items[-1].end)
        if text[here : here + 1] == ",":
            here = _skip(text, here + 1)
        elif text[here : here + 1] != closing:
            raise _wrong(text, here, f"a comma or {closing} is missing")
    return Node(
        start=at,
        end=here + 1,
        items=tuple(items),
        starts=tuple(starts),
        keys=tuple(keys) if closing == "}" else None,
        is_list=closing == "]",
    )


def _skip(text: str, at: int) -> int:
    """Return where the next mark stands, behind blanks and comments."""
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _decoded(text: str, at: int, raw: str) -> Any:  # noqa: ANN401 - JSON
    try:
        return json.loads(raw)
    except ValueError as error:
        raise _wrong(text, at, str(error)) from error


def _unit(text: str) -> str:
    """Return what one level is indented by: as the first indented line has it."""
    found = _INDENT.search(text)
    return found[1] if found else "  "


def _wrong(text: str, at: int, why: str) -> UsageError:
    line = text.count("\n", 0, at) + 1
    return UsageError(f"line {line}, column {at - text.rfind(chr(10), 0, at)}: {why}")
