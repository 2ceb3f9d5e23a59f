"""Which format a stream of bytes has, by what stands at its beginning.

Owns telling the formats apart; promises that a file none of them fits is refused with a sentence, and that a file of
any size is read piece by piece; never asks for a file's name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Any

import msgspec

from reverie.errors import UsageError
from reverie.importers import (
    chatgpt,
    claude_ai,
    claude_code,
    codex,
    locomo,
    memories,
    openai_messages,
    pieces,
)
from reverie.importers.head import Head
from reverie.importers.openai_messages import Messages
from reverie.importers.pieces import Piece
from reverie.importers.taken import Found
from reverie.importers.turns import Defaults, turn_of

_LOOK = 20  # pieces by which a format is told
_LISTS = (
    "results",
    "memories",
    "conversations",
    "messages",
)  # where a file that is one object has what it holds
_One = Callable[[Any, int], Iterator[Found]]
_Format = tuple[str, _One]


def read(chunks: Iterable[bytes], defaults: Defaults) -> tuple[str, Iterator[Found]]:
    """Return the format's name and what the stream holds; raises UsageError when it is nothing that can be read."""
    head = Head(chunks)
    if head.begins(b"["):
        return _of_array(pieces.elements(head.stream()), defaults)
    if head.begins(b"{") and not head.is_lines():
        head.whole()
        if head.ended and (whole := _of_whole(head.seen(), defaults)) is not None:
            return whole
        # What is too large to be read at once is read as the list that it is made of.
        if not head.ended and (at := head.list_in(_LISTS)) is not None:
            return _of_array(pieces.elements(head.stream(at), opened=True), defaults)
    return _of_pieces(pieces.lines(head.stream()), _of_line, defaults, other="turns")


def _of_array(found: Iterator[Piece], defaults: Defaults) -> tuple[str, Iterator[Found]]:
    """Return the format of an array's elements, and what they hold."""
    return _of_pieces(found, _of_element, defaults, other="openai-messages")


def _of_pieces(
    found: Iterator[Piece], tell: Callable[[Any, Defaults], _Format | None], defaults: Defaults, *, other: str
) -> tuple[str, Iterator[Found]]:
    """Return the format that the first pieces tell, and what all of them hold."""
    first = list(islice(found, _LOOK))
    values = list(_values(first))
    if first and not values:
        raise UsageError(
            f"it is neither JSON nor JSON lines, or was cut off: {_reason(first[0])}; nothing was imported"
        )
    told = next((told for value in values if (told := tell(value, defaults)) is not None), None)
    name, one = told or (other, _turn_lines(defaults) if other == "turns" else Messages(defaults).one)
    return name, pieces.each(chain(first, found), one)


def _values(found: Iterable[Piece]) -> Iterator[Any]:
    """Yield the values of those pieces that have one."""
    for piece in found:
        try:
            yield pieces.decoded(piece)
        except UsageError:
            continue


def _reason(piece: Piece) -> str:
    try:
        pieces.decoded(piece)
    except UsageError as error:
        return str(error)
    return "it holds no object"


def _of_element(value: Any, defaults: Defaults) -> _Format | None:  # noqa: ANN401 - foreign JSON
    """Return the format of an array with an element like `value`, and how an element is read."""
    if chatgpt.is_chatgpt(value):
        return "chatgpt", lambda one, _: chatgpt.conversation(one, defaults)
    if claude_ai.is_claude_ai(value) or claude_ai.is_memory(value):
        return "claude-ai", claude_ai.element
    if locomo.is_locomo(value):
        return "locomo", lambda one, place: _sample(one, place, defaults)
    if memories.is_mem0(value):
        return "mem0", lambda one, _: memories.mem0(one, defaults)
    if openai_messages.messages_of(value) is not None and isinstance(value, dict):
        return "openai-messages", lambda one, place: _chat(one, place, defaults)
    if openai_messages.is_message(value):
        return "openai-messages", Messages(defaults).one
    return None


def _of_line(value: Any, defaults: Defaults) -> _Format | None:  # noqa: ANN401 - foreign JSON
    """Return the format of a file with a line like `value`, and how a line is read; None when the line tells none."""
    if memories.is_graph(value):
        return "memory-graph", lambda one, _: memories.graph(one)
    if codex.is_codex(value):
        rollout = codex.Rollout(defaults)
        return "codex", lambda one, _: rollout.line(one)
    if claude_code.is_claude_code(value):
        return "claude-code", lambda one, _: claude_code.event(one, defaults)
    if isinstance(value, dict) and ("mapping" in value or "chat_messages" in value or "messages" in value):
        return _of_element(value, defaults)
    return ("mem0", lambda one, _: memories.mem0(one, defaults)) if memories.is_mem0(value) else None


def _of_whole(data: bytes, defaults: Defaults) -> tuple[str, Iterator[Found]] | None:
    """Return the format of a file that is one object, and what it holds; None when it is none, or a line of turns."""
    try:
        value = pieces.value_of(data)
    except UsageError:
        return None
    inner = memories.memories_of(value)
    if inner is None and isinstance(value, dict) and isinstance(value.get("conversations"), list):
        inner = value["conversations"]
    if inner is None and openai_messages.messages_of(value) is not None:
        inner = value["messages"]
    if inner is None and _of_element(value, defaults) and not openai_messages.is_message(value):
        inner = [value]
    if inner is None:
        return None
    return _of_array(
        (Piece(number, msgspec.json.encode(one)) for number, one in enumerate(inner, 1)), defaults
    )


def _turn_lines(defaults: Defaults) -> _One:
    """Return how a line of turns is read: one without a time is said when the one before it was."""
    before = [defaults.now]

    def one(value: Any, place: int) -> Iterator[Found]:  # noqa: ANN401 - foreign JSON
        turn = turn_of(value, place, defaults=defaults, before=before[0])
        before[0] = turn.at
        yield turn

    return one


def _sample(value: Any, place: int, defaults: Defaults) -> Iterator[Found]:  # noqa: ANN401 - foreign JSON
    """Yield the turns of one LoCoMo conversation, named by its place when it has no name."""
    named = {"sample_id": f"sample-{place}", **value} if isinstance(value, dict) else value
    for sample in locomo.samples(named, defaults.calendar):
        yield from sample.turns


def _chat(value: Any, place: int, defaults: Defaults) -> Iterator[Found]:  # noqa: ANN401 - foreign JSON
    """Yield the turns of one conversation among many; raises UsageError when it is none."""
    messages = openai_messages.messages_of(value)
    if messages is None:
        raise UsageError("it is no conversation: a list of `messages` is wanted")
    known = value.get("id") or value.get("session")
    session = known if isinstance(known, str) and known else f"{defaults.session}-{place}"
    chat = Messages(msgspec.structs.replace(defaults, session=session))
    numbered = (Piece(number, msgspec.json.encode(one)) for number, one in enumerate(messages, 1))
    yield from pieces.each(numbered, chat.one)
