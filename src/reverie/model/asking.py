"""What is asked of a language model and what comes back: the one door every model goes through.

Owns the values and the protocol that providers, the retry rule and the scripted fake share; promises nothing about a
reply's content, which is untrusted text until the asker has parsed it; never imports a provider.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol

import msgspec

Purpose = Literal["extraction", "summary", "dream"]


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """What calls have used: how many calls, tokens in and out, and their price in US dollars where it is known."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        """Return both together."""
        return Usage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost=self.cost + other.cost,
        )


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One question: `instructions` are ours, `text` is data that may hold anything.

    `schema` is a JSON schema the reply should follow; a provider that cannot be held to one is told of it in the
    instructions, so a reply may still be anything. `max_tokens` limits the reply. `accept` is how whoever asks reads a
    reply: it raises ModelFailed for one that cannot be used, so that the books know of it.
    """

    purpose: Purpose
    instructions: str
    text: str
    schema: Mapping[str, Any] | None = None
    max_tokens: int = 4_000
    accept: Callable[[Reply], object] | None = None


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """A model's words as they came; `finished` is false when they stop at a limit instead of at their end."""

    text: str
    usage: Usage = Usage()
    finished: bool = True


class Model(Protocol):
    """Something that answers a request: a provider's model, a chain of ceilings and retries, or a script."""

    @property
    def name(self) -> str:
        """The model as settings name it, `provider:name`."""

    def complete(self, request: Request) -> Reply:
        """Return the reply; raises ModelFailed, whose `kind` says what went wrong."""
