"""Chat messages as providers' interfaces take them, OpenAI's with `tool_calls` or Anthropic's with content blocks.

Owns finding the list and reading its messages; promises that each message is read as a turn like any other, and a
tool's result as a turn of its own; never stores anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reverie.importers import blocks
from reverie.importers.taken import Found, Passed
from reverie.importers.turns import Defaults, text_of, turn_of


def is_message(value: Any) -> bool:  # noqa: ANN401 - foreign JSON
    """Whether a decoded value is one message."""
    return isinstance(value, dict) and "role" in value


def messages_of(value: Any) -> list[Any] | None:  # noqa: ANN401 - foreign JSON
    """Return the list of messages in a decoded JSON value, or None when there is none."""
    found = value.get("messages") if isinstance(value, dict) else value
    if isinstance(found, list) and found and all(is_message(one) for one in found):
        return found
    return None


class Messages:
    """One conversation being read: a message without a time is said when the one before it was."""

    def __init__(self, defaults: Defaults) -> None:
        """Stand before the first message."""
        self.defaults, self.before = defaults, defaults.now

    def one(self, value: Any, place: int) -> Iterator[Found]:  # noqa: ANN401 - foreign JSON
        """Yield the turns of one message; raises UsageError when it is none."""
        content = value.get("content") if isinstance(value, dict) else None
        split = isinstance(content, list) and blocks.has_blocks(content)
        if isinstance(content, list) and split:
            value = {**value, "content": text_of([part for part in content if _is_text(part)]) or ""}
        turn = turn_of(value, place, defaults=self.defaults, before=self.before)
        self.before = turn.at
        if not split:
            yield turn
            return
        yield from list(blocks.turns_of(content, turn)) or [Passed("empty")]


def _is_text(part: Any) -> bool:  # noqa: ANN401 - foreign JSON
    return isinstance(part, str) or (isinstance(part, dict) and part.get("type") == "text")
