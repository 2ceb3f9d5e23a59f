"""What is put to a model that extracts: the unread turns, those before them, and memories the session was shown.

Owns the form of the request and how a long span is cut; promises that every unread word of a turn up to `TURN_CHARS` is
in exactly one request, that what was said is fenced as data under a nonce its speakers could not know, and that nothing
injected, forgotten or excluded is in it; never asks a model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from reverie.core.days import Calendar
from reverie.core.records import Entry, Turn
from reverie.core.text.tokens import estimate
from reverie.model.asking import Request
from reverie.model.grounding import readable
from reverie.model.prompt_files import fenced, prompt

BATCH_TOKENS = 3_000  # of turns in one request: with instructions and reply they fit a small local model
BATCH_TURNS = 40
PART_CHARS = 10_000  # a longer turn is read in parts
TURN_CHARS = 64_000  # what lies beyond is a document: it stays searchable, and is reported
TOOL_CHARS = 4_000  # of a tool's answer, whose gist the agent repeats
CONTEXT_TURNS = 4
CONTEXT_CHARS = 600
KNOWN = 20  # memories shown
REPLY_TOKENS = 3_000
NAMED, HAVING = "entries", "text"
ITEMS = 100  # of one reply
TEXT, QUOTED, HINT = 600, 1_000, 300  # characters of an item's one sentence, its quote, and what it replaces
TAGS, TAG = 3, 30
NAME, TIME, SLUG = 80, 40, 40
_ROLES = frozenset(("user", "assistant", "tool"))
_GENERIC = frozenset(("user", "assistant", "agent", "human", "ai", "bot"))
_INVENTED = re.compile(r"\A<!-- invented: ([^\n]*) -->\n")
_BLANKS = re.compile(r"\n{3,}")

_UNIT: dict[str, Any] = {"type": "number", "minimum": 0, "maximum": 1}


def _text(most: int) -> dict[str, Any]:
    return {"type": "string", "maxLength": most}


FIELDS: dict[str, Any] = {
    HAVING: _text(TEXT),
    "turn": {"type": "integer"},
    "evidence": _text(QUOTED),
    "category": _text(SLUG),
    "tags": {"type": "array", "items": _text(TAG), "maxItems": TAGS},
    "significance": _UNIT,
    "confidence": _UNIT,
    "about": _text(NAME),
    "from": _text(TIME),
    "until": _text(TIME),
    "due": _text(TIME),
    "replaces": _text(HINT),
}


def _object(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object that has these keys and no others, as strict providers demand."""
    return {"type": "object", "properties": fields, "required": [*fields], "additionalProperties": False}


SCHEMA = _object({NAMED: {"type": "array", "items": _object(FIELDS), "maxItems": ITEMS}})


class Instructions(msgspec.Struct, frozen=True):
    """What is asked, its `name/version`, and the names and dates that its examples invent."""

    text: str
    version: str
    invented: tuple[str, ...]


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """Turns to be read together, the turns before them, and the memories the session was shown."""

    turns: tuple[Turn, ...]
    before: tuple[Turn, ...] = ()
    known: tuple[Entry, ...] = ()


@lru_cache
def instructions() -> Instructions:
    """Return what is asked of a model that extracts."""
    found = prompt("extract")
    head = _INVENTED.match(found.text)
    if head is None:
        message = "prompts/extract.md does not say in its second line what it invents"
        raise ValueError(message)
    return Instructions(found.text[head.end() :], found.version, tuple(head[1].split("; ")))


def extractor(model: str) -> str:
    """Return what a journal record names as its extractor."""
    return f"{model} {instructions().version}"


def batches(turns: Sequence[Turn], *, most: int = BATCH_TURNS) -> Iterator[tuple[Turn, ...]]:
    """Yield the turns in pieces that fit one request, at most `most` turns each; a long turn stands alone."""
    taken: list[Turn] = []
    size = 0
    for turn in turns:
        tokens = estimate(turn.content[:PART_CHARS]) if turn.role in _ROLES else 0
        alone = len(turn.content) > PART_CHARS and turn.role in _ROLES
        if taken and (alone or len(taken) >= most or size + tokens > BATCH_TOKENS):
            yield tuple(taken)
            taken, size = [], 0
        taken.append(turn)
        size += tokens
        if alone:
            yield tuple(taken)
            taken, size = [], 0
    if taken:
        yield tuple(taken)


def first_batch(turns: Sequence[Turn], *, most: int) -> tuple[Turn, ...]:
    """Return the first piece of the turns that fits one request, at most `most` of them (0: as many as ever)."""
    return next(batches(turns, most=most or BATCH_TURNS), ())


def requests(span: Span, calendar: Calendar, *, nonce: str) -> list[Request]:
    """Return what is asked about a span: one request, one for each part of a long turn, none when nothing was said."""
    parts = _parts(span.turns)
    if not any(text.strip() for _, text, _ in parts):
        return []
    if len(span.turns) > 1 or len(parts) == 1:
        return [_request(span, parts, calendar, nonce)]
    return [_request(span, [part], calendar, nonce) for part in parts if part[1].strip()]


def unread_rest(turn: Turn) -> int:
    """Return how many characters of a turn lie beyond what is read."""
    limit = TOOL_CHARS if turn.role == "tool" else TURN_CHARS
    return max(0, len(turn.content) - limit) if turn.role in _ROLES else 0


def speaker(turn: Turn) -> str:
    """Return the name by which stored text calls who speaks."""
    if turn.role != "user":
        return "Agent" if turn.role == "assistant" else "Tool"
    return turn.name if turn.name and turn.name.lower() not in _GENERIC else "User"


def _parts(turns: Sequence[Turn]) -> list[tuple[Turn, str, str]]:
    """Return each turn that is read with its text and which part of it that is (`2/3`, empty for a whole one)."""
    found: list[tuple[Turn, str, str]] = []
    for turn in turns:
        if turn.role not in _ROLES:
            continue
        text = readable(turn)[: TOOL_CHARS if turn.role == "tool" else TURN_CHARS]
        pieces = list(_cut(text))
        found += [
            (turn, piece, f"{number}/{len(pieces)}" if len(pieces) > 1 else "")
            for number, piece in enumerate(pieces, 1)
        ]
    return found


def _cut(text: str) -> Iterator[str]:
    """Yield a text in parts, cut at a line's end where there is one."""
    start = 0
    while len(text) - start > PART_CHARS:
        stop = text.rfind("\n", start + PART_CHARS // 2, start + PART_CHARS) + 1
        stop = stop or start + PART_CHARS
        yield text[start:stop]
        start = stop
    yield text[start:]


def _request(span: Span, parts: Sequence[tuple[Turn, str, str]], calendar: Calendar, nonce: str) -> Request:
    """Return one request: the data line by line, fenced."""
    lines: list[dict[str, object]] = [{"known": one.text, "id": one.id} for one in span.known[-KNOWN:]]
    before = [turn for turn in span.before if turn.role in {"user", "assistant"}][-CONTEXT_TURNS:]
    lines += [_line(turn, readable(turn)[:CONTEXT_CHARS], calendar) | {"context": True} for turn in before]
    lines += [
        _line(turn, text, calendar) | ({"part": part} if part else {})
        for turn, text, part in parts
        if text.strip()
    ]
    data = "\n".join(msgspec.json.encode(line).decode() for line in lines)
    asked = instructions()
    return Request(
        purpose="extraction",
        instructions=asked.text,
        text=fenced(data, nonce),
        schema=SCHEMA,
        max_tokens=REPLY_TOKENS,
    )


def _line(turn: Turn, text: str, calendar: Calendar) -> dict[str, object]:
    local = calendar.local(turn.at)
    return {
        "n": turn.n,
        "speaker": speaker(turn),
        "role": turn.role,
        "at": f"{local:%Y-%m-%d %H:%M %A}, {calendar.zone}",
        "text": _BLANKS.sub("\n\n", text.strip("\n")),
    }
