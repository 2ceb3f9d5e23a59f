"""Items of a conversation as the OpenAI Agents SDK keeps them: messages, tool calls, their outputs, reasoning.

Owns what of an item are words that were said; promises that `items_of(turn_of(item)) == [item]` for every item that is
JSON, secrets apart, and that a turn of any other making is items, too; never stores anything.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any

from reverie.core.formats.key_values import FORGOTTEN, depth_of, withheld, withheld_text
from reverie.core.records import Role, ToolCall, Turn
from reverie.errors import UsageError

_ROLES: dict[str, Role] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
}
_WORDS = ("text", "refusal")  # where a part of a message has its words
_DEEPEST = 50
_SAID = ("content", "output", "summary", "input", "code", "result", "results", "action", "queries")


def turn_of(item: Any, *, at: datetime, turn_id: str) -> Turn:  # noqa: ANN401 - foreign JSON
    """Return the turn that an item is; raises UsageError for what is no item."""
    if not isinstance(item, Mapping):
        raise UsageError(f"an item is {type(item).__name__}: give dicts, as the SDK's `to_input_list` does")
    if depth_of(item, _DEEPEST) > _DEEPEST:
        raise UsageError(f"an item has more than {_DEEPEST} levels of lists and objects: make it flatter")
    plain = dict(item)
    try:
        written = json.dumps(plain, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise UsageError(f"an item is no JSON: {error}") from error
    turn = _turn(plain, at, turn_id)
    if items_of(turn) == [plain] and (turn.content or turn.calls):
        return turn
    return Turn(
        role=turn.role,
        content=turn.content,
        at=at,
        id=turn_id,
        calls=turn.calls,
        call=turn.call,
        item=written,
    )


def items_of(turn: Turn) -> list[dict[str, Any]]:
    """Return the items of a turn: the one it was made from, or what says as much in the SDK's words."""
    if turn.item:
        with suppress(ValueError, RecursionError):  # what a person or a stranger wrote into the file by hand
            found = json.loads(turn.item)
            return [found] if isinstance(found, dict) else []
    if turn.role == "tool" and turn.call:
        return [{"type": "function_call_output", "call_id": turn.call, "output": turn.content}]
    calls = [
        {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments}
        for call in turn.calls
    ]
    role = "assistant" if turn.role == "tool" else turn.role
    said = [{"role": role, "content": turn.content}] if turn.content or not calls else []
    return [*said, *calls]


def without(item: dict[str, Any], hides: Callable[[str], bool], *, whole: bool = False) -> dict[str, Any]:
    """Return an item with `[forgotten]` for what may not be read of it, in the shape that a provider accepts.

    `whole` says that something in it is forgotten: where no line tells what, none of its words is left.
    """
    new = {
        key: _arguments(one, hides) if key == "arguments" else withheld(one, hides)
        for key, one in item.items()
    }
    if new != item or not whole:
        return new
    return {key: _blank(key, one) for key, one in item.items()}


def _turn(item: dict[str, Any], at: datetime, turn_id: str) -> Turn:
    kind = item.get("type") or "message"
    if kind == "message":
        role = _ROLES.get(str(item.get("role")), "assistant")
        return Turn(role=role, content=_words(item.get("content")), at=at, id=turn_id)
    call = item.get("call_id")
    call_id = call if isinstance(call, str) else ""
    if str(kind).endswith("_output"):
        return Turn(role="tool", content=_words(item.get("output")), at=at, id=turn_id, call=call_id)
    name = item.get("name")
    if isinstance(name, str) and call_id:
        given = item.get("arguments", item.get("input"))
        sent = given if isinstance(given, str) else ""
        return Turn(
            role="assistant",
            content="",
            at=at,
            id=turn_id,
            calls=(ToolCall(id=call_id, name=name, arguments=sent),),
        )
    return Turn(role="assistant", content="", at=at, id=turn_id)  # what a model thought was not said


def _words(content: Any) -> str:  # noqa: ANN401 - foreign JSON
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (part.get(name) for part in parts if isinstance(part, dict) for name in _WORDS)
    return "\n".join(text for text in texts if isinstance(text, str))


def _arguments(value: Any, hides: Callable[[str], bool]) -> Any:  # noqa: ANN401 - foreign JSON
    """Return a call's arguments, which stay JSON where they were."""
    if not isinstance(value, str):
        return withheld(value, hides)
    try:
        inner = json.loads(value)
        new = withheld(inner, hides)
        return value if new == inner else json.dumps(new, ensure_ascii=False)
    except (ValueError, RecursionError):  # no JSON, or nested deeper than a reader can follow
        return withheld_text(value, hides)


def _blank(key: str, value: Any) -> Any:  # noqa: ANN401 - foreign JSON
    if key == "arguments":
        return "{}"
    if key not in _SAID:
        return value
    return _emptied(value)


def _emptied(value: Any, name: str = "text") -> Any:  # noqa: ANN401 - foreign JSON
    if isinstance(value, str):
        return FORGOTTEN if name not in {"type", "id", "role", "status", "call_id"} else value
    if isinstance(value, list):
        return [_emptied(one, name) for one in value]
    if isinstance(value, dict):
        return {key: _emptied(one, key) for key, one in value.items()}
    return value
