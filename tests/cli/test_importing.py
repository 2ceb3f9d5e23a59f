"""`reverie import`: counts for people and as JSON, and a dry run that writes nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Shell


def _rollout(tmp_path: Path) -> str:
    lines = (
        {"timestamp": "2026-04-01T10:00:00Z", "type": "session_meta", "payload": {"id": "r1"}},
        {
            "timestamp": "2026-04-01T10:00:01Z",
            "type": "event_msg",
            "payload": {"type": "user_message", "message": "Fix the test."},
        },
        {"timestamp": "2026-04-01T10:00:02Z", "type": "event_msg", "payload": {"type": "token_count"}},
    )
    path = tmp_path / "rollout.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


def test_a_dry_run_says_what_would_come_in(shell: Shell, tmp_path: Path) -> None:
    """A dry run tells format and counts, and the import after it still finds everything new."""
    source = _rollout(tmp_path)
    told = shell.ok("import", source, "--dry-run").out
    assert "codex: 1 turn in 1 session would come in" in told
    assert "1 left out: an event of type token_count" in told
    done = shell.json("import", source)
    assert (done["turns"], done["repeated"], done["dry_run"], done["sessions"]) == (1, 0, False, ["r1"])
    assert shell.json("import", source)["repeated"] == 1
