"""Claude Code sessions: one JSON event a line, `{"type", "sessionId", "timestamp", "message"}`.

Owns telling what was said from the events around it; promises that summaries, compactions, snapshots, side chains,
commands, what the tool told the model and what memory itself answered are counted and passed over, and that tool calls
and their results stay turns of their own; never stores anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reverie.core.days import parse_instant
from reverie.core.records import Role, Turn
from reverie.errors import UsageError
from reverie.importers import blocks
from reverie.importers.own import ANSWERED, SERVER
from reverie.importers.taken import Found, Passed
from reverie.importers.turns import Defaults

_SAID = ("user", "assistant")
_FLAGS = (
    ("isSidechain", "said in a side chain"),
    ("isCompactSummary", "a summary made by a compaction"),
    ("isMeta", "told to the model by the tool"),
    ("isApiErrorMessage", "an error of the provider"),
)
_NO_MODEL = "<synthetic>"
_COMMANDS = (
    "<command-name>",
    "<command-message>",
    "<local-command-stdout>",
    "<local-command-caveat>",
    "<bash-input>",
    "<bash-stdout>",
    "<bash-stderr>",
    "[Request interrupted",
)


def is_claude_code(value: Any) -> bool:  # noqa: ANN401 - foreign JSON
    """Whether a decoded line is an event of a Claude Code session."""
    return isinstance(value, dict) and "type" in value and ("sessionId" in value or "leafUuid" in value)


def event(value: Any, defaults: Defaults) -> Iterator[Found]:  # noqa: ANN401 - foreign JSON
    """Yield the turns of one event, or why it holds none; raises UsageError when speech cannot be read."""
    kind = value.get("type") if isinstance(value, dict) else None
    if not isinstance(value, dict) or kind not in _SAID:
        yield Passed(f"an event of type {str(kind)[:40]}")
        return
    for flag, reason in _FLAGS:
        if value.get(flag):
            yield Passed(reason)
            return
    message = value.get("message")
    if not isinstance(message, dict):
        raise UsageError("the event has no message")
    content = message.get("content")
    if message.get("model") == _NO_MODEL:
        yield Passed("said by the tool in the model's place")
        return
    if kind == "user" and _opening(content).lstrip().startswith(_COMMANDS):
        yield Passed("a command of the tool, or its output")
        return
    role: Role = "assistant" if kind == "assistant" else "user"
    like = Turn(
        role=role,
        content="",
        at=parse_instant(str(value.get("timestamp", ""))),
        session=str(value.get("sessionId") or defaults.session),
        id=str(value.get("uuid") or ""),
    )
    if not isinstance(content, str | list):
        yield Passed("empty")
        return
    if _from_memory(value):
        yield ANSWERED
        return
    yield from list(blocks.turns_of(content, like)) or [Passed("empty")]


def _opening(content: Any) -> str:  # noqa: ANN401 - foreign JSON
    """Return with what a message begins: its text, or its first part where that is text."""
    first = content[0] if isinstance(content, list) and content else content
    words = first.get("text") if isinstance(first, dict) else first
    return words if isinstance(words, str) else ""


def _from_memory(value: dict[str, Any]) -> bool:
    """Whether an event is what a server of this memory answered to a call."""
    inner: Any = value
    for key in ("mcpMeta", "_meta", "io.modelcontextprotocol/serverInfo"):
        inner = inner.get(key) if isinstance(inner, dict) else None
    return isinstance(inner, dict) and inner.get("name") == SERVER
