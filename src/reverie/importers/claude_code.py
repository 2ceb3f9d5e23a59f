"""Claude Code sessions: one JSON event a line, `{"type", "sessionId", "timestamp", "message"}`.

Owns telling what was said from the events around it; promises that summaries, snapshots and side chains are passed
over, and that tool calls and their results stay turns of their own; never stores anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from reverie.core.days import parse_instant
from reverie.core.records import Role, ToolCall, Turn
from reverie.errors import UsageError
from reverie.importers.turns import Defaults, Skipped, text_of

_SAID = ("user", "assistant")


def is_claude_code(line: bytes) -> bool:
    """Whether a line is an event of a Claude Code session."""
    try:
        value = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return isinstance(value, dict) and "type" in value and ("sessionId" in value or "leafUuid" in value)


def read(lines: Iterable[bytes], defaults: Defaults) -> Iterator[Turn | Skipped]:
    """Yield the turns of a session, or why a line holds none; events that are no speech are passed over."""
    for number, raw in enumerate(lines, 1):
        if not raw.strip():
            continue
        try:
            event = msgspec.json.decode(raw)
            if isinstance(event, dict) and event.get("type") in _SAID and not event.get("isSidechain"):
                yield from _turns(event, defaults)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, UsageError) as error:
            yield Skipped(number, raw.rstrip(b"\r\n"), str(error))


def _turns(event: dict[str, Any], defaults: Defaults) -> Iterator[Turn]:
    """Yield what one event says: its words with its tool calls, and each tool result it carries."""
    message = event.get("message")
    if not isinstance(message, dict):
        raise UsageError("the event has no message")
    at = parse_instant(str(event.get("timestamp", "")))
    session = str(event.get("sessionId") or defaults.session)
    name = str(event.get("uuid") or "")
    content = message.get("content")
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    words = (
        content
        if isinstance(content, str)
        else text_of([part for part in parts if part.get("type") == "text"])
    )
    calls = tuple(
        ToolCall(
            id=str(part.get("id", "")),
            name=str(part.get("name", "")),
            arguments=msgspec.json.encode(part.get("input")).decode(),
        )
        for part in parts
        if part.get("type") == "tool_use"
    )
    if words or calls:
        role: Role = "assistant" if event["type"] == "assistant" else "user"
        yield Turn(role=role, content=words or "", at=at, session=session, id=name, calls=calls)
    for number, part in enumerate(parts):
        result = text_of(part.get("content")) if part.get("type") == "tool_result" else None
        if result:
            call = str(part.get("tool_use_id", ""))
            yield Turn(role="tool", content=result, at=at, session=session, id=f"{name}:{number}", call=call)
