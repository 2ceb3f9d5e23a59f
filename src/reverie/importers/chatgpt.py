"""ChatGPT exports: conversations as trees of messages, the branch that was shown marked by `current_node`.

Owns finding the branch and what was said on it; promises that hidden messages, tools and other branches are counted,
not taken; never reads an attached file.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from reverie.core.entries import derived_id
from reverie.core.records import Attachment, Role, Turn
from reverie.errors import UsageError
from reverie.importers.taken import Found, Passed
from reverie.importers.turns import Defaults, without_nul

_SPEAKERS: dict[str, Role] = {"user": "user", "assistant": "assistant"}
_SPOKEN = ("text", "multimodal_text", "code")


def is_chatgpt(value: Any) -> bool:  # noqa: ANN401 - foreign JSON
    """Whether a decoded value is one conversation of an export."""
    return isinstance(value, dict) and isinstance(value.get("mapping"), dict)


def conversation(value: Any, defaults: Defaults) -> Iterator[Found]:  # noqa: ANN401 - foreign JSON
    """Yield the turns of one conversation along its branch; raises UsageError when it is none."""
    if not is_chatgpt(value):
        raise UsageError("it is no ChatGPT conversation: it has no `mapping`")
    mapping = {key: node for key, node in value["mapping"].items() if isinstance(node, dict)}
    name = value.get("conversation_id") or value.get("id")
    if not isinstance(name, str) or not name:
        name = derived_id("chatgpt", str(value.get("title")), str(value.get("create_time")))
    before = _instant(value.get("create_time")) or defaults.now
    path = _branch(mapping, value.get("current_node"))
    for key in path:
        message = mapping[key].get("message")
        if not isinstance(message, dict):
            continue  # the root of every tree
        before = _instant(message.get("create_time")) or before
        yield _said(message, key, at=before, session=f"chatgpt-{name}")
    for key in mapping.keys() - set(path):
        if isinstance(mapping[key].get("message"), dict):
            yield Passed("on a branch that was left")


def _branch(mapping: dict[str, dict[str, Any]], current: Any) -> list[str]:  # noqa: ANN401 - foreign JSON
    """Return the nodes from the root to the current one, or to the latest leaf; a circle is cut where it closes."""
    node = current if isinstance(current, str) and current in mapping else _latest_leaf(mapping)
    path: dict[str, None] = {}
    while isinstance(node, str) and node in mapping and node not in path:
        path[node] = None
        node = mapping[node].get("parent")
    return list(reversed(path))


def _latest_leaf(mapping: dict[str, dict[str, Any]]) -> str | None:
    def when(key: str) -> tuple[float, str]:
        message = mapping[key].get("message")
        said = message.get("create_time") if isinstance(message, dict) else None
        return (float(said) if isinstance(said, int | float) else 0.0, key)

    parents = {str(node.get("parent")) for node in mapping.values()}
    leaves = [key for key in mapping if key not in parents]
    return max(leaves or mapping, key=when, default=None)


def _said(message: dict[str, Any], node: str, *, at: datetime, session: str) -> Turn | Passed:
    """Return the turn that a message is, or why it is none."""
    author, metadata = message.get("author"), message.get("metadata")
    role = author.get("role") if isinstance(author, dict) else None
    if isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation"):
        return Passed("hidden in the conversation")
    if not isinstance(role, str) or role not in _SPEAKERS:
        return Passed(f"said by {str(role)[:40]}")
    recipient = message.get("recipient")
    if recipient is not None and recipient != "all":
        return Passed("a call of a tool")
    content = message.get("content")
    kind = content.get("content_type") if isinstance(content, dict) else None
    if not isinstance(content, dict) or kind not in _SPOKEN:
        return Passed(f"of kind {str(kind)[:40]}")
    words, attached = _words(content)
    if not words.strip() and not attached:
        return Passed("empty")
    known = message.get("id")
    return Turn(
        role=_SPEAKERS[role],
        content=without_nul(words),
        at=at,
        session=session,
        id=known if isinstance(known, str) and known else node,
        attachments=attached,
    )


def _words(content: dict[str, Any]) -> tuple[str, tuple[Attachment, ...]]:
    """Return the words of a content and what it points to."""
    parts = content.get("parts")
    if not isinstance(parts, list):
        return str(content.get("text") or ""), ()
    words = [part if isinstance(part, str) else part.get("text") for part in parts if part and _known(part)]
    attached = tuple(
        Attachment(ref=part["asset_pointer"])
        for part in parts
        if isinstance(part, dict) and isinstance(part.get("asset_pointer"), str)
    )
    return "\n".join(word for word in words if isinstance(word, str)), attached


def _known(part: Any) -> bool:  # noqa: ANN401 - foreign JSON
    return isinstance(part, str | dict)


def _instant(value: Any) -> datetime | None:  # noqa: ANN401 - foreign JSON
    """Return the instant that seconds since 1970 are, or None."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not value > 0:
        return None
    try:
        return datetime.fromtimestamp(value, UTC)
    except (ValueError, OverflowError, OSError):
        return None
