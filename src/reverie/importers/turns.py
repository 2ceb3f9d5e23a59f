"""JSONL of turns: one `{"role", "content", "timestamp"}` object a line, the format most hosts can write.

Owns reading a turn from a JSON object that somebody else made; promises that a line it cannot read is told with its
number, its bytes and the reason, and that the lines after it are read; never stores anything.

`session`, `id`, `name`, `user`, `calls`, `call` and `attachments` are taken when present; `at` and `time` stand for
`timestamp`. A time without offset is the workspace's local time. Unknown keys are left alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec

from reverie.core.days import Calendar, parse_instant
from reverie.core.entries import derived_id
from reverie.core.formats import framing
from reverie.core.records import Attachment, Role, ToolCall, Turn
from reverie.errors import UsageError

ROLES: dict[str, Role] = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "agent": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "tool": "tool",
    "function": "tool",
    "system": "system",
    "developer": "system",
}

_MILLISECONDS = 1e11  # a larger number counts milliseconds, as JavaScript does


class Skipped(msgspec.Struct, frozen=True):
    """A line or message that could not be read: where it stands, its bytes, and why."""

    place: int
    raw: bytes
    reason: str


class Defaults(msgspec.Struct, frozen=True):
    """What a turn gets that does not say it: its session, its time when it is the first, and the calendar of times."""

    session: str
    now: datetime
    calendar: Calendar


def read(lines: Iterable[bytes], defaults: Defaults) -> Iterator[Turn | Skipped]:
    """Yield the turn of each line, or why there is none; blank lines are passed over.

    A turn without id gets one derived from its session, its line and its content, so that the same file read twice
    gives the same turns. One without time is said when the turn before it was.
    """
    before = defaults.now
    for number, line in enumerate(lines, 1):
        raw = line.rstrip(b"\r\n").removeprefix(b"\xef\xbb\xbf" if number == 1 else b"")
        if not raw.strip():
            continue
        try:
            turn = turn_of(msgspec.json.decode(raw), number, defaults=defaults, before=before)
        except framing.NO_JSON as error:
            yield Skipped(number, raw, f"it is no JSON: {error}")
        except UsageError as error:
            yield Skipped(number, raw, str(error))
        else:
            before = turn.at
            yield turn


def turn_of(value: Any, place: int, *, defaults: Defaults, before: datetime) -> Turn:  # noqa: ANN401 - foreign JSON
    """Return the turn that a decoded JSON value describes; raises UsageError with the reason when it is none."""
    if not isinstance(value, dict):
        raise UsageError(f"it is {type(value).__name__}, not an object with role and content")
    said = value.get("role")
    role = ROLES.get(said.lower()) if isinstance(said, str) else None
    if role is None:
        raise UsageError(f"its role is {said!r}: use user, assistant, tool or system")
    content = text_of(value.get("content"))
    calls = tuple(_calls(value.get("calls") or value.get("tool_calls")))
    if content is None and not calls:
        raise UsageError("it has no content: give the words that were said")
    if "\0" in (content or ""):
        raise UsageError("its content holds NUL bytes: send text")
    session = _text(value.get("session")) or defaults.session
    return Turn(
        role=role,
        content=content or "",
        at=_instant(value, defaults.calendar, before=before),
        session=session,
        id=_text(value.get("id")) or derived_id("turn", session, str(place), content or ""),
        name=_text(value.get("name")),
        user=_text(value.get("user")),
        calls=calls,
        call=_text(value.get("call")) or _text(value.get("tool_call_id")),
        attachments=tuple(_attachments(value.get("attachments"))),
    )


def text_of(content: Any) -> str | None:  # noqa: ANN401 - foreign JSON
    """Return the words of a content: a string, or the text parts of a list of parts; None when it is neither."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    parts = [
        part if isinstance(part, str) else part.get("text")
        for part in content
        if isinstance(part, str | dict)
    ]
    return "\n".join(part for part in parts if isinstance(part, str))


def without_nul(text: str) -> str:
    """Return a text that can be stored: U+FFFD stands for each NUL, which no text holds on purpose."""
    return text.replace("\0", "�")


def _text(value: Any) -> str:  # noqa: ANN401 - foreign JSON
    return (
        value
        if isinstance(value, str)
        else str(value)
        if isinstance(value, int) and value is not True
        else ""
    )


def _instant(value: dict[str, Any], calendar: Calendar, *, before: datetime) -> datetime:
    """Return when the turn was said; raises UsageError for a time that is none."""
    named = (value.get(name) for name in ("timestamp", "at", "time"))
    given = next((one for one in named if one is not None and one != ""), None)
    if given is None:
        return before
    if isinstance(given, int | float) and not isinstance(given, bool):
        seconds = given / 1000 if given > _MILLISECONDS else given
        try:
            return datetime.fromtimestamp(seconds, UTC)
        except (ValueError, OverflowError, OSError) as error:
            raise UsageError(f"its timestamp {given} is no time: {error}") from error
    if not isinstance(given, str):
        raise UsageError(f"its timestamp is {type(given).__name__}: write 2026-07-01T14:05:00+02:00")
    return instant_of(given, calendar)


def instant_of(text: str, calendar: Calendar) -> datetime:
    """Return the instant that is written; without an offset it is the calendar's own time. Raises UsageError."""
    try:
        return parse_instant(text)
    except UsageError:
        local = _local(text)
        if local is None:
            raise
        return wall_clock(local, calendar)


def wall_clock(local: datetime, calendar: Calendar) -> datetime:
    """Return the instant at which the clock on the wall in the calendar's zone shows `local`, at its first showing."""
    # Where a day begins does not matter here: two in the morning is two in the morning.
    return (
        Calendar(calendar.zone)
        .moment(local.date().isoformat(), f"{local:%H:%M}")
        .replace(second=local.second)
    )


def _local(text: str) -> datetime | None:
    """Return the wall-clock time that `text` writes without an offset, or None."""
    try:
        local = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return local if local.tzinfo is None else None


def _calls(value: Any) -> Iterator[ToolCall]:  # noqa: ANN401 - foreign JSON
    """Yield tool calls, ours or OpenAI's."""
    for number, call in enumerate(value if isinstance(value, list) else ()):
        if isinstance(call, dict):
            function = call.get("function")
            inner = function if isinstance(function, dict) else call
            arguments = inner.get("arguments", "")
            yield ToolCall(
                id=_text(call.get("id")) or str(number),
                name=_text(inner.get("name")),
                arguments=arguments
                if isinstance(arguments, str)
                else msgspec.json.encode(arguments).decode(),
            )


def _attachments(value: Any) -> Iterator[Attachment]:  # noqa: ANN401 - foreign JSON
    """Yield references to files."""
    for item in value if isinstance(value, list) else ():
        if isinstance(item, dict) and isinstance(item.get("ref"), str):
            yield Attachment(
                ref=item["ref"], name=_text(item.get("name")), media_type=_text(item.get("media_type"))
            )
