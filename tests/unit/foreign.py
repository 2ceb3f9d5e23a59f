"""Invented files of foreign formats, and how a test imports them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from reverie.importing import Wish
from reverie.store import sessions

if TYPE_CHECKING:
    from desk import Desk

    from reverie.core.records import Turn
    from reverie.importers.taken import Imported

AT = 1_767_261_600  # 2026-01-01 10:00 UTC


def take(desk: Desk, name: str, value: object, **wish: Any) -> Imported:
    """Write a file beside the workspace and import it, as JSON or, a string, as it is."""
    path = desk.home / name
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return desk.memory.import_(path, wish=Wish(**wish))


def lines(*values: object) -> str:
    """Return JSON lines."""
    return "".join(json.dumps(value) + "\n" for value in values)


def stored(desk: Desk, session: str) -> list[Turn]:
    """Return the turns of a session."""
    return sessions.read(desk.memory.opened.ws, session)


def said(desk: Desk, session: str) -> list[tuple[str, str]]:
    """Return who said what in a session."""
    return [(turn.role, turn.content) for turn in stored(desk, session)]


def node(name: str, parent: str | None, role: str, text: object, **message: object) -> dict[str, Any]:
    """Return a node of a ChatGPT conversation, said some seconds after AT."""
    content = text if isinstance(text, dict) else {"content_type": "text", "parts": [text]}
    told = {"id": f"m-{name}", "author": {"role": role}, "create_time": AT + len(name), "content": content}
    return {"id": name, "parent": parent, "children": [], "message": {**told, **message}}


def chat(name: str = "c1", **changes: object) -> dict[str, Any]:
    """Return a ChatGPT conversation with a branch, hidden nodes and tools."""
    nodes = {
        "r": {"id": "r", "parent": None, "children": ["s"], "message": None},
        "s": node("s", "r", "system", "", metadata={"is_visually_hidden_from_conversation": True}),
        "a": node("a", "s", "user", "My sister Ines lives in Porto."),
        "b": node("b", "a", "assistant", "search('Porto')", recipient="browser"),
        "c": node("c", "b", "tool", "Porto is a city."),
        "d": node("d", "c", "assistant", {"content_type": "thoughts", "thoughts": []}),
        "old": node("old", "d", "assistant", "A first answer."),
        "new": node("new", "d", "assistant", "A better answer."),
        "end": node(
            "end",
            "new",
            "user",
            {"content_type": "multimodal_text", "parts": [{"asset_pointer": "file://x1"}, "See this."]},
            create_time=AT + 60,
        ),
    }
    return {
        "conversation_id": name,
        "title": "T",
        "create_time": AT,
        "mapping": nodes,
        "current_node": "end",
        **changes,
    }


def event(number: int, kind: str, content: object, **more: object) -> dict[str, Any]:
    """Return an event of a Claude Code session."""
    told = {
        "type": kind,
        "sessionId": "cc",
        "uuid": f"u{number}",
        "timestamp": f"2026-03-01T10:00:{number:02}Z",
    }
    return {**told, "message": {"role": kind, "content": content}, **more}


def rollout(kind: str, second: int, **payload: object) -> dict[str, Any]:
    """Return a line of a Codex rollout."""
    return {"timestamp": f"2026-04-01T10:00:{second:02}.500Z", "type": kind, "payload": payload}


def item(second: int, role: str, text: str) -> dict[str, Any]:
    """Return a message as the model saw it in a Codex rollout."""
    part = "input_text" if role == "user" else "output_text"
    return rollout("response_item", second, type="message", role=role, content=[{"type": part, "text": text}])


ROLLOUT = (
    rollout("session_meta", 0, id="r1", cwd="/x"),
    item(1, "developer", "Rules."),
    item(1, "user", "<environment_context>…</environment_context>"),
    item(2, "user", "Fix the test."),
    rollout("event_msg", 2, type="user_message", message="Fix the test."),
    rollout("turn_context", 2, model="m"),
    rollout("response_item", 3, type="reasoning", summary=[]),
    rollout("response_item", 3, type="function_call", name="shell", arguments='{"cmd":"ls"}', call_id="k1"),
    rollout("response_item", 4, type="function_call_output", call_id="k1", output="a.py"),
    rollout("event_msg", 5, type="agent_message", message="Done."),
    item(5, "assistant", "Done."),
    rollout("event_msg", 6, type="user_message", message="Only shown."),
    item(7, "user", "Fix the test."),
    rollout("event_msg", 7, type="user_message", message="Fix the test."),
)
