"""The list of excluded topics inside a `reverie.toml` that people also edit.

Owns adding a topic to the text and taking one out; promises that everything else in the file stays byte for byte, and
that a result which would read in any other way than meant is refused; never opens the file.
"""

from __future__ import annotations

import re

from reverie.core.settings.keys import toml
from reverie.core.settings.sources import parse_toml
from reverie.errors import BadSettings

KEY = "exclusions"

_ASSIGNED = re.compile(rf"(?m)^[ \t]*{KEY}[ \t]*=[ \t]*\[")
_COMMENTED = re.compile(rf"(?m)^#{KEY} = .*\n")
_TABLE = re.compile(r"(?m)^[ \t]*\[")
_COMMA = re.compile(r"[ \t]*,")
_PIECE = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'|#[^\n]*|[\[\]]")


def topics_of(text: str, where: str) -> tuple[str, ...]:
    """Return the topics a settings file excludes; raises BadSettings when it is no valid TOML or no list of texts."""
    found = parse_toml(text, where).get(KEY, [])
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        message = f'{where}: {KEY} is no list of texts; write {KEY} = ["health"]'
        raise BadSettings(message)
    return tuple(found)


def with_topics(text: str, topics: tuple[str, ...], *, where: str) -> str:
    """Return the settings with this list of topics; raises BadSettings when the file is too odd to be edited."""
    before = parse_toml(text, where)
    listed = topics_of(text, where)
    added = [one for one in topics if one not in listed]
    removed = [one for one in listed if one not in topics]
    new = text
    if KEY not in before:
        new = _begun(text, added)
    else:
        for one in removed:
            new = _without(new, one)
        for one in added:
            new = _with(new, one)
    try:
        same = parse_toml(new, where) == {**before, KEY: list(topics)}
    except BadSettings:
        same = False
    if not same:
        message = f"{where}: {KEY} is written in a way that cannot be edited safely; set {KEY} = {toml(topics)} by hand"
        raise BadSettings(message)
    return new


def _begun(text: str, topics: list[str]) -> str:
    """Return the text with a list of its own: behind the commented one, else before the first table."""
    line = f"{KEY} = {toml(tuple(topics))}\n"
    commented = _COMMENTED.search(text)
    table = _TABLE.search(text)
    if commented and (table is None or commented.end() <= table.start()):
        return text[: commented.end()] + line + text[commented.end() :]
    if table is not None:
        return text[: table.start()] + line + "\n" + text[table.start() :]
    return text + ("\n" if text and not text.endswith("\n") else "") + line


def _inside(text: str) -> tuple[int, int, list[re.Match[str]]] | None:
    """Return where the list begins and ends, brackets aside, and the texts in it; None when that cannot be told."""
    opened = _ASSIGNED.search(text)
    items: list[re.Match[str]] = []
    for piece in _PIECE.finditer(text, opened.end()) if opened else ():
        if piece[0] == "]" and opened is not None:
            return opened.end(), piece.start(), items
        if piece[0] == "[":
            return None
        if piece[0][0] in "\"'":
            items.append(piece)
    return None


def _with(text: str, topic: str) -> str:
    found = _inside(text)
    if found is None:
        return text
    begin, end, items = found
    if not items:
        return text[:begin] + toml(topic) + text[begin:]
    last = items[-1]
    line = _own_line(text, last, end=end)
    if line is None:
        return f"{text[: last.end()]}, {toml(topic)}{text[last.end() :]}"
    rest = text[last.end() : line.stop]
    comma = "" if rest.lstrip().startswith(",") else ","
    indent = text[line.start : last.start()]
    return f"{text[: last.end()]}{comma}{rest}{indent}{toml(topic)},{text[line.stop :]}"


def _without(text: str, topic: str) -> str:
    found = _inside(text)
    if found is None:
        return text
    begin, end, items = found
    for number, item in enumerate(items):
        if parse_toml(f"x = {item[0]}", KEY)["x"] != topic:
            continue
        line = _own_line(text, item, end=end)
        if line is not None:
            return text[: line.start] + text[line.stop :]
        if number + 1 < len(items):
            return text[: item.start()] + text[items[number + 1].start() :]
        start = items[number - 1].end() if number else begin
        comma = _COMMA.match(text, item.end(), end)
        return text[:start] + text[comma.end() if comma else item.end() :]
    return text


def _own_line(text: str, item: re.Match[str], *, end: int) -> slice | None:
    """Return from the line break before an item to the one behind it, when no other item stands between."""
    start, stop = text.rfind("\n", 0, item.start()), text.find("\n", item.end(), end)
    if start < 0 or stop < 0 or text[start : item.start()].strip():
        return None
    rest = text[item.end() : stop].lstrip(" \t,\r")
    return slice(start, stop) if not rest or rest.startswith("#") else None
