"""Pydantic AI: a capability that keeps an agent's conversation short and gives it what the memory knows.

Owns telling a Pydantic AI message as turns; promises that before each request of a model what the conversation gained
is captured, that what leaves it was archived first and never parts a tool call from its return, and that memory stands
in the request alone: it is neither kept in the message history nor captured as something said. Never changes a message
that its caller holds.

`memory_capability` is for `Agent(capabilities=[...])`; `history_processor` is the same for `ProcessHistory`, and takes
what it added before out again. Both need `pip install 'reverie[models]'`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec

from reverie.adapters.one_at_a_time import finished, lock_of
from reverie.context import ContextRequest
from reverie.core.protocol import MEMORY_PROTOCOL
from reverie.core.records import Attachment, ToolCall, Turn
from reverie.core.search.context_plan import TAG
from reverie.errors import BudgetOverflow, UsageError

if TYPE_CHECKING:
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.messages import ModelMessage

    from reverie.memory import Memory

_SPOKEN = ("user-prompt", "tool-return", "retry-prompt")  # parts of a request that are turns and may leave
_OPENING, _CLOSING = f"<{TAG} nonce=", f"</{TAG} nonce="
_CUT = "\n[… cut: more than a turn may hold]"


class Limits(msgspec.Struct, frozen=True):
    """How many tokens a prompt may have: of conversation, and of memory beside it; 0 for the settings' own."""

    conversation: int = 0
    memory: int = 0


class Prepared(msgspec.Struct, frozen=True):
    """What of a conversation stays, and the same with what is known put before its newest prompt."""

    stays: list[Any]
    request: list[Any]


def memory_capability(
    memory: Memory, session: str, *, limits: Limits | None = None
) -> AbstractCapability[Any]:
    """Return the capability for an agent whose conversation is `session`; raises UsageError without Pydantic AI.

    The message history loses what was archived; a run whose newest exchange alone exceeds a limit given here ends with
    BudgetOverflow.
    """
    _package()
    from pydantic_ai.capabilities import AbstractCapability

    desk = _Desk(memory, session, limits or Limits())

    class ReverieMemory(AbstractCapability[Any]):
        """Compaction and memory before each request."""

        async def before_model_request(self, ctx: Any, request_context: Any) -> Any:  # noqa: ANN401 - its own types
            """Shorten the history, and put what is known into this request alone."""
            done = await finished(lambda: desk.prepare(request_context.messages))
            ctx.messages[:] = done.stays
            return replace(request_context, messages=done.request)

        async def after_run(self, ctx: Any, *, result: Any) -> Any:  # noqa: ANN401, ARG002 - its own types
            """Capture what the run said last."""
            await finished(lambda: desk.keep(result.all_messages()))
            return result

        @classmethod
        def get_serialization_name(cls) -> str | None:
            """Return nothing: an open memory is part of no specification."""
            return None

    return ReverieMemory()


def history_processor(
    memory: Memory, session: str, *, limits: Limits | None = None
) -> Callable[[list[ModelMessage]], list[ModelMessage]]:
    """Return a processor for `ProcessHistory`; raises UsageError without Pydantic AI.

    It keeps the memory it added in the history until the next request, where the capability keeps none, and captures a
    run's last answer with the next one's prompt.
    """
    _package()
    desk = _Desk(memory, session, limits or Limits())

    def process(messages: list[Any]) -> list[Any]:  # its annotations are read when it runs
        return desk.prepare(messages).request

    return process


class _Desk:
    """One conversation: its memory, and the context that was last made for it."""

    def __init__(self, memory: Memory, session: str, limits: Limits) -> None:
        """Take a conversation that has had no request yet."""
        self._memory, self._session, self._limits = memory, session, limits
        self._made: tuple[tuple[object, ...], str] = ((), "")

    def prepare(self, messages: Sequence[Any]) -> Prepared:
        """Return what stays of the messages, and what is to be sent."""
        with lock_of(self._memory):
            own = list(_without_memory(messages))
            stays = self._compacted(own)
            text = self._context(_query(stays))
        return Prepared(stays, _with_memory(stays, text) if text else stays)

    def keep(self, messages: Sequence[Any]) -> None:
        """Capture what is new among the messages of a run that has ended."""
        with (
            lock_of(self._memory),
            suppress(BudgetOverflow),
        ):  # by then they are captured, and no request follows
            self._compacted(list(_without_memory(messages)))

    def _compacted(self, messages: list[Any]) -> list[Any]:
        """Capture what is new, and return the messages without what was archived."""
        now, most = self._memory.opened.ws.clock(), self._memory.opened.ws.settings.max_turn_bytes
        told = list(_told(messages, now))
        turns = [_fitting(turn, most) for _, _, turn in told]
        instructions = getattr(messages[-1], "instructions", None) if messages else None
        if instructions:
            turns.append(Turn(role="system", content=instructions, at=now))
        done = self._memory.compact(self._session, turns, budget=self._limits.conversation or None)
        gone = {told[place][:2] for place in done.left}
        return _remaining(messages, gone, kept=[one[0] for one in told if one[:2] not in gone])

    def _context(self, query: str) -> str:
        """Return what is known, the same text for as long as the query is the same and nothing was forgotten.

        Within one run a model is asked again after each tool call; a text that changed would spoil its cache.
        """
        mask = self._memory.opened.mask
        wanted = (query, len(mask.tombstones), tuple(one.id for one in mask.tombstones))
        if not self._made[1] or self._made[0] != wanted:
            asked = ContextRequest(query=query, session=self._session, budget=self._limits.memory)
            self._made = (wanted, self._memory.context(asked).text)
        return self._made[1]


def _told(messages: Sequence[Any], now: datetime) -> Iterator[tuple[int, int, Turn]]:
    """Yield the turns of messages: the message's place, the part's (-1: the message as a whole), the turn."""
    at = now
    for place, message in enumerate(messages):
        if message.kind == "response":
            at = _aware(message.timestamp, at)
            turn = _answer(message, at)
            if turn is not None:
                yield place, -1, turn
            continue
        for number, part in enumerate(message.parts):
            at = _aware(getattr(part, "timestamp", None) or message.timestamp, at)
            turn = _said(part, at)
            if turn is not None:
                yield place, number, turn


def _said(part: Any, at: datetime) -> Turn | None:  # noqa: ANN401 - any part of a request
    """Return the turn that a part of a request is, None for what is nobody's word."""
    if part.part_kind == "system-prompt":
        return Turn(role="system", content=part.content, at=at) if part.content else None
    if part.part_kind == "tool-return":
        content = part.model_response_str() or "(nothing)"
        return Turn(role="tool", content=content, at=at, name=part.tool_name, call=part.tool_call_id)
    if part.part_kind == "retry-prompt":
        call = part.tool_call_id if part.tool_name else ""
        return Turn(
            role="tool", content=part.model_response(), at=at, name=part.tool_name or "retry", call=call
        )
    if part.part_kind != "user-prompt":
        return None
    items = [part.content] if isinstance(part.content, str) else list(part.content)
    text = "\n".join(filter(None, map(_text, items)))
    files = tuple(Attachment(ref=item.url) for item in items if hasattr(item, "url"))
    return Turn(role="user", content=text, at=at, attachments=files) if text or files else None


def _text(item: Any) -> str:  # noqa: ANN401 - any content of a user's prompt
    """Return the words of one item of a prompt; of a file sent along, what it is."""
    if isinstance(item, str):
        return item
    content = getattr(item, "content", None)
    if isinstance(content, str):
        return content
    data = getattr(item, "data", None)
    return f"[{item.media_type}, {len(data):,} bytes]" if isinstance(data, bytes) else ""


def _answer(message: Any, at: datetime) -> Turn | None:  # noqa: ANN401 - a model's response
    """Return the turn that a response is, without what the model only thought; None when it holds nothing else."""
    text = "\n".join(part.content for part in message.parts if part.part_kind == "text" and part.content)
    calls = tuple(
        ToolCall(id=part.tool_call_id, name=part.tool_name, arguments=part.args_as_json_str())
        for part in message.parts
        if part.part_kind == "tool-call"
    )
    return Turn(role="assistant", content=text, at=at, calls=calls) if text or calls else None


def _fitting(turn: Turn, most: int) -> Turn:
    """Return a turn that may be stored: of one that is too long its beginning, and that it was cut."""
    content = turn.content.encode("utf-8", "replace")
    if len(content) > most:
        content = content[: most - len(_CUT.encode())].decode("utf-8", "ignore").encode() + _CUT.encode()
    return msgspec.structs.replace(turn, content=content.decode())


def _aware(at: datetime | None, before: datetime) -> datetime:
    """Return when something was said, `before` when that is not known; a time without zone is UTC."""
    if at is None:
        return before
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)


def _remaining(messages: list[Any], gone: set[tuple[int, int]], *, kept: list[int]) -> list[Any]:
    """Return the messages without the parts that are `gone`; what is nobody's word stays, before the others.

    `kept` are the places of the messages of which a turn stays.
    """
    if not gone:
        return messages
    first = min((place for place in kept if _is_spoken(messages[place])), default=len(messages) - 1)
    standing = [
        part
        for message in messages[:first]
        if message.kind == "request"
        for part in message.parts
        if part.part_kind not in _SPOKEN
    ]
    rest = [
        replace(
            message, parts=[one for number, one in enumerate(message.parts) if (place, number) not in gone]
        )
        if message.kind == "request" and any((place, number) in gone for number in range(len(message.parts)))
        else message
        for place, message in enumerate(messages)
        if place >= first and (place, -1) not in gone
    ]
    if not standing:
        return rest
    request = next((one for one in messages if one.kind == "request"), None)
    if rest and rest[0].kind == "request":
        return [replace(rest[0], parts=[*standing, *rest[0].parts]), *rest[1:]]
    return [replace(request, parts=standing), *rest] if request is not None else rest


def _is_spoken(message: Any) -> bool:  # noqa: ANN401 - any message
    """Tell whether a message holds more than what stays whatever leaves."""
    return message.kind == "response" or any(part.part_kind in _SPOKEN for part in message.parts)


def _query(messages: Sequence[Any]) -> str:
    """Return the words of the newest prompt of the user."""
    for _, _, turn in reversed(list(_told(messages, datetime.min.replace(tzinfo=UTC)))):
        if turn.role == "user":
            return turn.content
    return ""


def _with_memory(messages: list[Any], text: str) -> list[Any]:
    """Return the messages with a part that holds what is known before the newest prompt of the user."""
    from pydantic_ai.messages import UserPromptPart

    for place in range(len(messages) - 1, -1, -1):
        message = messages[place]
        kinds = [part.part_kind for part in message.parts] if message.kind == "request" else []
        if "user-prompt" in kinds:
            at = kinds.index("user-prompt")
            given = UserPromptPart(content=text, timestamp=message.parts[at].timestamp)
            changed = replace(message, parts=[*message.parts[:at], given, *message.parts[at:]])
            return [*messages[:place], changed, *messages[place + 1 :]]
    return messages


def _without_memory(messages: Sequence[Any]) -> Iterator[Any]:
    """Yield the messages without parts that hold memory rendered for an earlier request."""
    for message in messages:
        if message.kind == "request" and any(map(_is_memory, message.parts)):
            yield replace(message, parts=[part for part in message.parts if not _is_memory(part)])
        else:
            yield message


def _is_memory(part: Any) -> bool:  # noqa: ANN401 - any part
    """Tell whether a part is what `context` rendered, as a whole."""
    content = part.content if part.part_kind == "user-prompt" else None
    if not isinstance(content, str) or not content.startswith((_OPENING, MEMORY_PROTOCOL)):
        return False
    nonce = content.rpartition(_CLOSING)[2].strip().removesuffix(">")
    return len(nonce) > 2 and f"{_OPENING}{nonce}>" in content  # noqa: PLR2004 - the quotes around it


def _package() -> None:
    """Raise UsageError when Pydantic AI is not installed."""
    try:
        import pydantic_ai  # noqa: F401
    except ImportError as error:
        message = "this adapter needs Pydantic AI: pip install 'reverie[models]'"
        raise UsageError(message) from error
