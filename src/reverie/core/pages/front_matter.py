"""The YAML front matter at the top of a page: what it says.

Owns the fields a page carries; promises that broken or hostile YAML is reported, in bounded time; never runs a
YAML constructor: values are the composed nodes' own text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from reverie.core.pages.source import Source, split
from reverie.errors import InvalidRecord
from reverie.later import later

if TYPE_CHECKING:
    from ruamel import yaml
    from ruamel.yaml import error as errors
    from ruamel.yaml import events, nodes
    from ruamel.yaml.nodes import MappingNode, Node
else:  # most front matter is plain, and read without it
    yaml, errors = later("ruamel.yaml"), later("ruamel.yaml.error")
    events, nodes = later("ruamel.yaml.events"), later("ruamel.yaml.nodes")

__all__ = [
    "FIELDS",
    "Front",
    "Reference",
    "Source",
    "compose",
    "is_plain",
    "node_text",
    "node_value",
    "read",
    "split",
]

TYPES = ("concept", "literature", "synthesis", "entity", "personal", "project")
STATUSES = ("draft", "stable", "deprecated")
REVIEWS = ("current", "needs-review")
CONFIDENCES = ("high", "medium", "speculative")
TEXT_FIELDS = ("type", "title", "description", "status", "review", "confidence", "updated", "stale_after")
FIELDS = (
    "type",
    "title",
    "description",
    "tags",
    "status",
    "review",
    "confidence",
    "updated",
    "stale_after",
    "sources",
)

MAX_CHARACTERS = 32_768  # a longer front matter is refused unread: composing it would cost seconds
MAX_DEPTH = 12  # composing recurses once a level, so depth is bounded before it starts

_PLAIN = re.compile(r"[^\W\d_](?:[\w .()/&+'-]*[\w.()/&+'-])?")
_RESERVED = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})
DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_LINE_BREAK = re.compile(r"\r?\n")
_SIMPLE_LINE = re.compile(r"([A-Za-z][\w-]*):(?: +(\S.*))?")
_SIMPLE_ITEM = re.compile(r"(?:  )?- (\S.*)")


class Reference(msgspec.Struct, frozen=True):
    """One item of `sources`: what the page rests on. `resource` is a link or a path."""

    id: str = ""
    resource: str = ""
    title: str = ""


class Front(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of a page's front matter as text; `other` names the keys that are not ours.

    `problems` says, a sentence each, what could not be read; `broken` means none of it could.
    """

    type: str = ""
    title: str = ""
    description: str = ""
    tags: tuple[str, ...] = ()
    status: str = ""
    review: str = ""
    confidence: str = ""
    updated: str = ""
    stale_after: str = ""
    sources: tuple[Reference, ...] = ()
    other: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    broken: bool = False


Value = str | tuple[str, ...] | tuple[Reference, ...]


def read(front: str | None) -> Front:
    """Read the fields; what cannot be read is named in `problems` and left at its default."""
    if not front:
        return Front()
    simple = _read_simple(front) if len(front) <= MAX_CHARACTERS else None
    if simple is not None:
        return _front(simple)
    try:
        root = compose(front)
    except InvalidRecord as error:
        return Front(problems=(str(error),), broken=True)
    return _front({node_text(key): node_value(value) for key, value in root.value} if root else {})


# Reading


def _front(values: dict[str, object]) -> Front:
    fields: dict[str, Any] = {}
    problems: list[str] = []
    for name in TEXT_FIELDS:
        value = values.get(name, "")
        if isinstance(value, str):
            fields[name] = value
        else:
            problems.append(f"front matter field {name!r} must be text")
    tags = values.get("tags", ())
    if isinstance(tags, str):
        tags = tuple(tags.replace(",", " ").split())
    if not isinstance(tags, tuple) or not all(isinstance(tag, str) for tag in tags):
        problems.append("front matter field 'tags' must be a list of words")
        tags = ()
    sources = _references(values.get("sources", ()), problems)
    other = tuple(name for name in values if name not in FIELDS)
    return replace(Front(tags=tags, sources=sources, other=other, problems=tuple(problems)), **fields)


def _references(value: object, problems: list[str]) -> tuple[Reference, ...]:
    items = value if isinstance(value, tuple) else ((value,) if value else ())
    found: list[Reference] = []
    for item in items:
        parts = {"resource": item} if isinstance(item, str) else item
        if not isinstance(parts, dict):
            problems.append("front matter field 'sources' must be a list of id, resource and title")
            continue
        found.append(Reference(*(str(parts.get(name, "")) for name in ("id", "resource", "title"))))
    return tuple(found)


def _read_simple(front: str) -> dict[str, object] | None:
    """Read the form Reverie and most people write, a hundred times faster than YAML; None for any other."""
    values: dict[str, object] = {}
    items: list[str] | None = None
    key = ""
    for line in _LINE_BREAK.split(front.removesuffix("\n").removesuffix("\r")):
        if items is not None and (item := _SIMPLE_ITEM.fullmatch(line)):
            word = _simple_scalar(item.group(1))
            if word is None:
                return None
            items.append(word)
            continue
        if items is not None:
            values[key] = tuple(items) if items else ""
        match = _SIMPLE_LINE.fullmatch(line)
        if match is None or match.group(1) in values:
            return None
        key, written = match.groups()
        items = [] if written is None else None
        if written is not None:
            value = _simple_value(written)
            if value is None:
                return None
            values[key] = value
    if items is not None:
        values[key] = tuple(items) if items else ""
    return values


def _simple_value(written: str) -> str | tuple[str, ...] | None:
    if not (written.startswith("[") and written.endswith("]")):
        return _simple_scalar(written)
    words = tuple(word.strip(" ") for word in written[1:-1].split(",")) if written != "[]" else ()
    return words if all(is_plain(word) for word in words) else None


def _simple_scalar(written: str) -> str | None:
    if is_plain(written) or DATE.fullmatch(written):
        return written
    if written.startswith('"') and written.endswith('"') and written.isprintable():
        inner = written[1:-1]
        return inner if inner and '"' not in inner and "\\" not in inner else None
    return None


def is_plain(text: str) -> bool:
    """Tell whether YAML reads the text as itself without quotes, in a list in brackets too."""
    return _PLAIN.fullmatch(text) is not None and text.casefold() not in _RESERVED and text.isprintable()


def compose(front: str) -> MappingNode | None:
    """Return the mapping as nodes with their places, None when empty; raises InvalidRecord when broken or hostile."""
    if len(front) > MAX_CHARACTERS:
        message = f"the front matter is longer than {MAX_CHARACTERS} characters"
        raise InvalidRecord(message)
    try:
        _refuse_hostile(front)
        root = yaml.YAML(typ="rt", pure=True).compose(front)
    except (errors.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f" at line {mark.line + 1}" if mark is not None else ""
        reason = getattr(error, "problem", None) or str(error).partition("\n")[0]
        message = f"the front matter is not valid YAML{place}: {reason}"
        raise InvalidRecord(message) from error
    if root is None or (isinstance(root, nodes.ScalarNode) and not root.value):
        return None
    if not isinstance(root, nodes.MappingNode):
        message = "the front matter must be keys with values"
        raise InvalidRecord(message)
    keys = [node_text(key) for key, _ in root.value]
    if len(set(keys)) < len(keys):
        message = "the front matter has the same key twice"
        raise InvalidRecord(message)
    return root


def _refuse_hostile(front: str) -> None:
    """Refuse aliases (they multiply what is read) and explicit tags (they ask for code), before composing."""
    depth = 0
    for event in yaml.YAML(typ="safe", pure=True).parse(front):
        depth += isinstance(event, events.CollectionStartEvent) - isinstance(event, events.CollectionEndEvent)
        if depth > MAX_DEPTH:
            message = f"the front matter is nested deeper than {MAX_DEPTH} levels"
            raise InvalidRecord(message)
        if isinstance(event, events.AliasEvent) or getattr(event, "tag", None) is not None:
            message = f"the front matter uses an alias or a tag at line {event.start_mark.line + 1}"
            raise InvalidRecord(message)
        if isinstance(event, events.NodeEvent) and event.anchor is not None:
            message = f"the front matter uses an anchor at line {event.start_mark.line + 1}"
            raise InvalidRecord(message)


def node_text(node: Node) -> str:
    """Return a key as text."""
    return str(node.value) if isinstance(node, nodes.ScalarNode) else repr(node_value(node))


def node_value(node: Node) -> object:
    """Return a value as text, a tuple of values, or a dict of them."""
    if isinstance(node, nodes.SequenceNode):
        return tuple(node_value(item) for item in node.value)
    if isinstance(node, nodes.MappingNode):
        return {node_text(key): node_value(value) for key, value in node.value}
    # `~` and `null` are YAML's empty value; as text they would read as a word.
    return "" if node.tag == "tag:yaml.org,2002:null" else str(node.value)
