"""Front matter changed one key at a time, and a new page's written.

Owns how each field is written; promises that a change leaves every other byte of the text as it was (unknown keys,
comments, order, quoting, CRLF, a byte order mark); never rewrites YAML that is broken or hostile.
"""

from __future__ import annotations

import io
import json
import re
from typing import TYPE_CHECKING

import msgspec

from reverie.core.pages.front_matter import (
    DATE,
    FIELDS,
    MAX_CHARACTERS,
    Front,
    Reference,
    compose,
    is_plain,
    node_text,
    node_value,
)
from reverie.core.pages.source import Source, split
from reverie.errors import InvalidRecord
from reverie.later import later

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ruamel import yaml
    from ruamel.yaml import comments, nodes
    from ruamel.yaml.nodes import MappingNode, Node
else:  # what Reverie writes is plain, and changed without it
    yaml = later("ruamel.yaml")
    comments, nodes = later("ruamel.yaml.comments"), later("ruamel.yaml.nodes")

Value = str | tuple[str, ...] | tuple[Reference, ...]

_DATE_FIELDS = frozenset({"updated", "stale_after"})
_UPDATED = re.compile(r"^updated: \d{4}-\d{2}-\d{2}[ \t]*$", re.MULTILINE)
# Characters that YAML readers refuse, or take as a line break, when they stand raw inside double quotes.
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")


class _Assignment(msgspec.Struct, frozen=True):
    """One key to set, or to remove for None, and the line break to write."""

    key: str
    value: Value | None
    newline: str


def change(front: str, key: str, *, value: Value | None) -> str:
    """Return the front matter with `key` set, or removed for None; every other byte stays.

    Raises InvalidRecord, changing nothing, when the YAML is broken, hostile, or cannot be changed safely.
    """
    root = compose(front)
    wanted = _Assignment(key, value, "\r\n" if "\r\n" in front else "\n")
    for edit in (_spliced, _redumped):
        edited = edit(front, root, wanted=wanted)
        if _is_faithful(root, edited, wanted=wanted):
            return edited
    message = f"the front matter key {key!r} cannot be changed safely; edit it by hand"
    raise InvalidRecord(message)


def set_field(text: str, key: str, *, value: Value | None) -> str:
    """Return a page's text with one front matter key set, or removed for None.

    A page without front matter gets one above its first line. Raises InvalidRecord as `change` does.
    """
    source = split(text)
    if source.front is not None:
        front = change(source.front, key, value=value)
        return Source(source.bom, source.newline, front, source.body, source.opening, source.closing).text
    if value is None:
        return text
    rule = "---" + source.newline
    front = _spliced("", None, wanted=_Assignment(key, value, source.newline))
    return f"{source.bom}{rule}{front}{rule}{source.body}"


def set_updated(text: str, day: str) -> str:
    """Return a page's text with the day it was last written; raises InvalidRecord as `change` does."""
    # A plain date on a line of its own, as nearly every page has it, needs no YAML reader.
    if len(_UPDATED.findall(split(text).front or "")) == 1:
        at = _UPDATED.search(text)
        return f"{text[: at.start()]}updated: {day}{text[at.end() :]}" if at else text
    return set_field(text, "updated", value=day)


def render(front: Front) -> str:
    """Return a new page's front matter in canonical form, delimiters included; empty fields are left out."""
    written = [(name, getattr(front, name)) for name in FIELDS]
    lines = (f"{name}:{_written(name, value)}\n" for name, value in written if value)
    return "".join(("---\n", *lines, "---\n"))


def _spliced(front: str, root: MappingNode | None, *, wanted: _Assignment) -> str:
    """Change the lines of the one entry, keeping a comment that follows it on its last line."""
    for key, old in root.value if root else ():
        if node_text(key) == wanted.key:
            return _replaced(front, (key, old), wanted=wanted)
    if wanted.value is None:
        return front
    indent = " " * (root.value[0][0].start_mark.column if root and root.value else 0)
    gap = wanted.newline if front and not front.endswith("\n") else ""
    entry = f"{indent}{wanted.key}:{_written(wanted.key, wanted.value, indent=indent)}\n"
    return front + gap + entry.replace("\n", wanted.newline)


def _replaced(front: str, entry: tuple[Node, Node], *, wanted: _Assignment) -> str:
    key, old = entry
    colon = front.find(":", key.end_mark.index)
    if colon < 0:
        return front  # a `? key` without a value has no line to splice
    # The mark of an empty value may lie on a later line, past comments that are not its own.
    is_empty = old.start_mark.index == old.end_mark.index
    start, end = (colon + 1,) * 2 if is_empty else (old.start_mark.index, _content_end(front, old))
    if wanted.value is None:
        first = front.rfind("\n", 0, key.start_mark.index) + 1
        last = front.find("\n", end)
        return front[:first] + (front[last + 1 :] if last >= 0 else "")
    block = isinstance(old, nodes.SequenceNode) and not old.flow_style
    written = _written(wanted.key, wanted.value, indent=" " * key.start_mark.column, block=block)
    between = front[colon + 1 : start].rstrip()  # a comment between the key and its value, or nothing
    parts = (between, written) if written.startswith("\n") else (written, between)
    text = "".join(parts).replace("\r\n", "\n").replace("\n", wanted.newline)
    return front[: colon + 1] + text + front[end:]


def _content_end(front: str, node: Node) -> int:
    """Return where the node's own text ends; a block collection's mark lies past the comments that follow it."""
    if not isinstance(node, nodes.CollectionNode) or node.flow_style or not node.value:
        start: int = node.start_mark.index
        end: int = node.end_mark.index
        return start + len(front[start:end].rstrip())
    last = node.value[-1]
    parts: Iterable[Node] = last if isinstance(last, tuple) else (last,)
    return max(_content_end(front, part) for part in parts)


def _redumped(front: str, _root: MappingNode | None, *, wanted: _Assignment) -> str:
    """Change the key through ruamel's round trip: for mappings in braces and other forms without own lines."""
    kept = yaml.YAML(typ="rt", pure=True)
    kept.preserve_quotes = True
    kept.width = MAX_CHARACTERS
    loaded = kept.load(front)
    data = loaded if isinstance(loaded, comments.CommentedMap) else comments.CommentedMap()
    if wanted.value is None:
        data.pop(wanted.key, None)
    else:
        entry = f"value:{_written(wanted.key, wanted.value)}"
        data[wanted.key] = yaml.YAML(typ="safe", pure=True).load(entry)["value"]
    out = io.StringIO()
    kept.dump(data, out)
    return out.getvalue().replace("\n", wanted.newline)


def _is_faithful(before: MappingNode | None, edited: str, *, wanted: _Assignment) -> bool:
    """Tell whether the edited text says what was wanted, and every other key what it said, in the same order."""
    try:
        after = compose(edited)
    except InvalidRecord:
        return False
    old, new = _entries(before), _entries(after)
    value = new.pop(wanted.key, None)
    old.pop(wanted.key, None)
    return list(old.items()) == list(new.items()) and value == _expected(wanted.value)


def _entries(root: MappingNode | None) -> dict[str, object]:
    return {node_text(key): node_value(value) for key, value in (root.value if root else ())}


def _expected(value: Value | None) -> object:
    if value is None or isinstance(value, str):
        return value
    return tuple(_reference(item) if isinstance(item, Reference) else item for item in value)


def _reference(item: Reference) -> dict[str, str]:
    return {name: text for name in ("id", "resource", "title") if (text := getattr(item, name))}


def _written(key: str, value: Value, *, indent: str = "", block: bool = False) -> str:
    """Return what follows `key:`, its leading blank or line break included; line breaks are LF."""
    if isinstance(value, str):
        return f" {value if key in _DATE_FIELDS and DATE.fullmatch(value) else _scalar(value)}"
    lines = [_item(item) for item in value]
    if lines and (block or any(isinstance(item, Reference) for item in value)):
        return "".join(f"\n{indent}  - {line.replace(chr(10), f'{chr(10)}{indent}    ')}" for line in lines)
    return f" [{', '.join(lines)}]"


def _item(item: str | Reference) -> str:
    if isinstance(item, str):
        return _scalar(item)
    return "\n".join(f"{name}: {_scalar(text)}" for name, text in _reference(item).items()) or "{}"


def _scalar(text: str) -> str:
    if is_plain(text):
        return text
    return _UNPRINTABLE.sub(
        lambda match: f"\\u{ord(match.group()):04x}", json.dumps(text, ensure_ascii=False)
    )
