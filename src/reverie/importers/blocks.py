"""Messages made of content blocks, as Anthropic's API, claude.ai and Claude Code have them.

Owns telling words, tool calls and tool results apart; promises that a tool's result is a turn of its own, named after
the message and its place there; never stores anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from reverie.core.records import ToolCall, Turn
from reverie.importers.taken import Found, Passed
from reverie.importers.turns import text_of, without_nul

# Tuples, not sets: a stranger's `type` need not be hashable.
_TOOLS = ("tool_use", "tool_result")
_SILENT = ("thinking", "redacted_thinking", "token_budget", "flag")


def has_blocks(content: Any) -> bool:  # noqa: ANN401 - foreign JSON
    """Whether a content is a list in which tools are used, or their results come back."""
    return isinstance(content, list) and any(
        isinstance(part, dict) and part.get("type") in _TOOLS + _SILENT for part in content
    )


def turns_of(content: Any, like: Turn) -> Iterator[Found]:  # noqa: ANN401 - foreign JSON
    """Yield the turns in a message's content: its words with its tool calls as `like`, and each tool's result."""
    if isinstance(content, str):
        words, parts = content, []
    else:
        parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
        words = text_of([part for part in parts if part.get("type") == "text"]) or ""
    calls = tuple(_call(part) for part in parts if part.get("type") == "tool_use")
    for part in parts:
        if part.get("type") in _SILENT:
            yield Passed("thinking")
    if words.strip() or calls or like.attachments:
        yield msgspec.structs.replace(like, content=without_nul(words), calls=calls)
    for number, part in enumerate(parts):
        result = text_of(part.get("content")) if part.get("type") == "tool_result" else None
        if result:
            yield Turn(
                role="tool",
                content=without_nul(result),
                at=like.at,
                session=like.session,
                id=f"{like.id}:{number}",
                call=str(part.get("tool_use_id") or ""),
            )


def _call(part: dict[str, Any]) -> ToolCall:
    return ToolCall(
        id=str(part.get("id") or ""),
        name=str(part.get("name") or ""),
        arguments=msgspec.json.encode(part.get("input")).decode(),
    )
