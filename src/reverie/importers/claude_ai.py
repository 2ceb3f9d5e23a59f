"""claude.ai exports: conversations with their messages in order, each of content blocks, and what Claude remembered.

Owns reading one conversation, and one memory; promises that a pasted document stays with the message it was pasted
into, fenced, so that its words are not taken for the user's own; never reads an attached file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from reverie.core.days import parse_instant
from reverie.core.entries import derived_id
from reverie.core.records import Attachment, Role, Turn
from reverie.errors import UsageError
from reverie.importers import blocks
from reverie.importers.taken import Fact, Found, Passed
from reverie.importers.turns import Skipped

_SPEAKERS: dict[str, Role] = {"human": "user", "user": "user", "assistant": "assistant"}
_HEADING = re.compile(r"#{1,6}\s+(.+)|\*\*([^*]+)\*\*:?")
_BULLET = re.compile(r"^\s*(?:[-*+]\s+|\d{1,3}[.)]\s+)")
_MAX_PASTED = 50_000  # characters of a document kept with its message


def is_claude_ai(value: Any) -> bool:  # noqa: ANN401 - foreign JSON
    """Whether a decoded value is one conversation of an export."""
    return isinstance(value, dict) and isinstance(value.get("chat_messages"), list)


def is_memory(value: Any) -> bool:  # noqa: ANN401 - foreign JSON
    """Whether a decoded value is what Claude remembered of all conversations, or of projects."""
    return isinstance(value, dict) and ("conversations_memory" in value or "project_memories" in value)


def memory(value: Any) -> Iterator[Found]:  # noqa: ANN401 - foreign JSON
    """Yield a fact for each line of a memory that says something; a line all in bold heads the next ones."""
    told, projects = value.get("conversations_memory"), value.get("project_memories")
    texts = [told, *(projects.values() if isinstance(projects, dict) else ())]
    for text in texts:
        heading: tuple[str, ...] = ()
        for whole in text.splitlines() if isinstance(text, str) else ():
            said = _BULLET.sub("", whole).strip()
            if found := _HEADING.fullmatch(said):
                heading = (found[1] or found[2],)
            elif said:
                yield Fact(text=said, key=derived_id("claude-memory", said), tags=heading)


def element(value: Any, place: int) -> Iterator[Found]:  # noqa: ANN401 - foreign JSON
    """Yield what a conversation or a memory holds; raises UsageError for what is neither."""
    yield from memory(value) if is_memory(value) else conversation(value, place)


def conversation(value: Any, place: int) -> Iterator[Found]:  # noqa: ANN401 - foreign JSON
    """Yield the turns of one conversation; a message that cannot be read is told at the conversation's place."""
    if not is_claude_ai(value):
        raise UsageError("it is no claude.ai conversation: it has no `chat_messages`")
    name = value.get("uuid")
    if not isinstance(name, str) or not name:
        name = derived_id("claude", str(value.get("name")), str(value.get("created_at")))
    for number, message in enumerate(value["chat_messages"]):
        try:
            yield from _said(message, number, session=f"claude-{name}")
        except UsageError as error:
            yield Skipped(
                place, repr(message)[:10_000].encode("utf-8", "replace"), f"message {number}: {error}"
            )
    if not value["chat_messages"]:
        yield Passed("a conversation without messages")


def _said(message: Any, number: int, *, session: str) -> Iterator[Found]:  # noqa: ANN401 - foreign JSON
    """Yield the turns of one message; raises UsageError."""
    if not isinstance(message, dict):
        raise UsageError("it is no object")
    role = _SPEAKERS.get(str(message.get("sender")))
    if role is None:
        raise UsageError(f"its sender is {str(message.get('sender'))[:40]!r}")
    content: Any = message.get("content")
    if not (isinstance(content, list) and content):
        content = message.get("text") or ""
    at = parse_instant(str(message.get("created_at") or ""))
    files, pasted = _attached(message)
    known = message.get("uuid")
    like = Turn(
        role=role,
        content="",
        at=at,
        session=session,
        id=known if isinstance(known, str) and known else derived_id("turn", session, str(number)),
        attachments=files,
    )
    if pasted:
        content = [{"type": "text", "text": content}] if isinstance(content, str) else content
        content = [*content, *({"type": "text", "text": text} for text in pasted)]
    found = list(blocks.turns_of(content, like))
    yield from found or [Passed("empty")]


def _attached(message: dict[str, Any]) -> tuple[tuple[Attachment, ...], list[str]]:
    """Return the files a message points to, and the documents pasted into it, each in a fence of its own."""
    files: list[Attachment] = []
    pasted: list[str] = []
    for part in (*_list(message.get("attachments")), *_list(message.get("files"))):
        if not isinstance(part, dict):
            continue
        name, text = part.get("file_name"), part.get("extracted_content")
        if isinstance(name, str) and name:
            files.append(Attachment(ref=name, media_type=str(part.get("file_type") or "")))
        if isinstance(text, str) and text.strip() and len(text) <= _MAX_PASTED:
            fence = "````" if "```" in text else "```"
            pasted.append(f"{fence}\n{text.rstrip()}\n{fence}")
    return tuple(files), pasted


def _list(value: Any) -> list[Any]:  # noqa: ANN401 - foreign JSON
    return value if isinstance(value, list) else []
