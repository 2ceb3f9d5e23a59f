"""A session of Claude Code as it lies on disk, and hooks called for it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from reverie.adapters.claude_code import hook
from reverie.adapters.claude_code_events import FLAGS, event_of
from reverie.entrance import Opening
from reverie.store import sessions

if TYPE_CHECKING:
    from pathlib import Path

    from reverie import Memory

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)


class Talk:
    """The transcript of one session."""

    def __init__(self, path: Path, session: str = "s1") -> None:
        """Begin with nothing on disk."""
        self.path, self.session, self.lines = path, session, 0

    def line(self, role: str, content: Any, **more: Any) -> bytes:
        """Return the next line, not yet written."""
        at = (NOON + timedelta(seconds=self.lines)).isoformat()
        event = {
            "type": role, "sessionId": self.session, "uuid": f"u{self.lines}", "timestamp": at,
            "message": {"role": role, "content": content}, **more,
        }  # fmt: skip
        self.lines += 1
        return json.dumps(event).encode() + b"\n"

    def say(self, *said: str) -> None:
        """Write what the user said."""
        self.write(b"".join(self.line("user", text) for text in said))

    def write(self, data: bytes) -> None:
        """Append bytes."""
        with self.path.open("ab") as file:
            file.write(data)

    def given(self, event: str, **more: Any) -> bytes:
        """Return what a hook gets on standard input."""
        told = {
            "session_id": self.session, "transcript_path": str(self.path), "cwd": "/", "hook_event_name": event, **more,
        }  # fmt: skip
        return json.dumps(told).encode()

    def fire(self, memory: Memory, event: str, **more: Any) -> str:
        """Call a hook, and return what it gives the model."""
        printed = hook(memory, event_of(event, self.given(event, **more)))
        if not printed:
            return ""
        told = json.loads(printed)["hookSpecificOutput"]
        assert told["hookEventName"] == event
        return str(told["additionalContext"])


def opening(root: Path) -> Opening:
    """Return how to open the workspace in `root`, as a hook does."""
    environment = {"HOME": str(root), "TZ": "UTC"}
    return Opening(path=root / "ws", config_dir=root / "config", environment=environment, flags=FLAGS)


def said(memory: Memory, session: str = "s1") -> list[str]:
    """Return the contents of a session's turns, as readers get them."""
    return [turn.content for turn in sessions.read(memory.opened.ws, session)]


def lines(memory: Memory, session: str = "s1") -> int:
    """Return how many turns a session's file holds, repeated ones counted."""
    data = memory.opened.ws.disk.read(sessions.path_of(session)) or b""
    return data.count(b'"type":"turn"')
