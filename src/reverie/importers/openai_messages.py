"""OpenAI chat messages: a JSON list of `{"role", "content", "tool_calls"}`, or an object that holds one.

Owns finding the list; promises that each message is read as a turn like any other; never stores anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from reverie.core.records import Turn
from reverie.errors import UsageError
from reverie.importers.turns import Defaults, Skipped, turn_of


def messages_of(value: Any) -> list[Any] | None:  # noqa: ANN401 - foreign JSON
    """Return the list of messages in a decoded JSON value, or None when there is none."""
    found = value.get("messages") if isinstance(value, dict) else value
    if isinstance(found, list) and found and all(isinstance(one, dict) and "role" in one for one in found):
        return found
    return None


def read(messages: list[Any], defaults: Defaults) -> Iterator[Turn | Skipped]:
    """Yield the turn of each message, or why there is none."""
    before = defaults.now
    for number, message in enumerate(messages, 1):
        try:
            turn = turn_of(message, number, defaults=defaults, before=before)
        except UsageError as error:
            yield Skipped(number, msgspec.json.encode(message), str(error))
        else:
            before = turn.at
            yield turn
