"""What makes a turn storable, and takes secrets out of it.

Owns the checks and the redaction that every turn passes on its way to a session file, captured or imported; promises
that the reason for a refusal says what to change; never stores anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal

import msgspec

from reverie.core.days import utc
from reverie.core.limits import too_long, too_many
from reverie.core.records import Turn
from reverie.core.secrets.redact import redact
from reverie.core.secrets.redact_json import redact_json
from reverie.errors import UsageError

# What the codec would else write as text, so that a date passed for one.
_NO_TEXT = (bytes, bytearray, memoryview, datetime, date, time, timedelta, Decimal)


def cleaned(turn: Turn, *, allow: Sequence[str] = ()) -> Turn:
    """Return `turn` without secrets in its text, its tool calls, or the names, ids and references it carries."""
    if not (turn.calls or turn.attachments or turn.item):
        result = redact(turn.content, allow=allow)
        if not result.kinds and not (turn.name or turn.user or turn.call):
            return turn
    kinds: list[str] = []

    def clean(text: str) -> str:
        if not text:
            return text
        result = redact(text, allow=allow)
        kinds.extend(result.kinds)
        return result.text

    def packed(text: str) -> str:
        result = redact_json(text, allow=allow)
        kinds.extend(result.kinds)
        return result.text

    return msgspec.structs.replace(
        turn,
        content=clean(turn.content),
        name=clean(turn.name),
        user=clean(turn.user),
        call=clean(turn.call),
        calls=tuple(
            msgspec.structs.replace(
                call, id=clean(call.id), name=clean(call.name), arguments=packed(call.arguments)
            )
            for call in turn.calls
        ),
        attachments=tuple(
            msgspec.structs.replace(one, ref=clean(one.ref), name=clean(one.name)) for one in turn.attachments
        ),
        item=packed(turn.item) if turn.item else "",
        redacted=tuple(dict.fromkeys((*turn.redacted, *kinds))),
    )


def must_be(given: object, kind: type[msgspec.Struct]) -> None:
    """Raise UsageError, which names `kind` and how one is made, for what is none: a dictionary, say, or a text."""
    if isinstance(given, kind):
        return
    name = kind.__name__
    made = f"{name}(**{{…}})" if isinstance(given, Mapping) else f"{name}(…)"
    message = (
        f"a {name} is needed, not {type(given).__name__}: give {made}, with `from reverie import {name}`"
    )
    raise UsageError(message)


def mistyped(given: msgspec.Struct) -> str:
    """Return which member of what a host gave is of a wrong type, such as a number for an id; empty when none is."""
    try:
        msgspec.convert(msgspec.to_builtins(given, builtin_types=_NO_TEXT), type(given))
    except (msgspec.ValidationError, TypeError) as error:
        return f"the {type(given).__name__.lower()} holds a value of a wrong type: {error}"
    return ""


def problem(turn: Turn, *, limit: int) -> str:
    """Return why `turn` cannot be stored, as a sentence that says what to change; empty when it can."""
    if reason := _oversized(turn, limit):
        return reason
    if not (turn.content or turn.calls or turn.attachments or turn.item):
        return "the turn is empty: it needs content, a tool call or an attachment"
    try:
        msgspec.json.encode(turn)  # its session, names and tool calls too
    except UnicodeEncodeError:
        return "the turn holds half a character (a lone surrogate): send valid Unicode"
    if turn.at.tzinfo is None:
        return "the turn's time has no zone: write it with an offset, as 2026-07-01T14:05:00+02:00"
    if utc(turn.at) != turn.at:
        return "the turn's time lies beyond the years 1 to 9999 in UTC: say when it was said"
    if not turn.session.strip():
        return "the session has no name: give each conversation one"
    return ""


def _oversized(turn: Turn, limit: int) -> str:
    """Return what of `turn` is too much, or nothing."""
    parts = [
        ("session", turn.session),
        ("id", turn.id),
        ("name", turn.name),
        ("user", turn.user),
        ("call", turn.call),
    ]
    parts += [part for call in turn.calls for part in (("call", call.id), ("name", call.name))]
    for one in turn.attachments:
        parts += [("ref", one.ref), ("name", one.name), ("media_type", one.media_type)]
    many = too_many("calls", len(turn.calls)) or too_many("attachments", len(turn.attachments))
    if reason := many or too_long(parts):
        return f"the turn's {reason}"
    texts = (turn.content, turn.item, *(call.arguments for call in turn.calls))
    size = sum(len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass")) for text in texts)
    if size > limit:
        return f"the turn has {size:,} bytes: at most {limit:,} fit; attach large content by reference"
    return ""
