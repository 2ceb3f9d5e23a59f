"""A hook that only captures is done at once; what is more is left to a whole memory, with the same outcome."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

import reverie
from reverie import Opening
from reverie.adapters.claude_code_events import FLAGS, captured, event_of
from reverie.core.records import Draft, Turn
from reverie.index.glance import mark_of
from reverie.light import opened_light
from reverie.store import sessions
from reverie.store.hosts import hooks

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)
# What stands in the modules of the process tells what was loaded.
PROGRAM = """
import atexit, sys
def told():
    names = ("reverie.memory", "reverie.index.state", "typer", "markdown_it", "reverie.model.rules.turns")
    print("LOADED", *(name for name in names if name in sys.modules), file=sys.stderr)
atexit.register(told)
from reverie.surface.cli.entry import main
main()
"""


@pytest.fixture
def opening(tmp_path: Path) -> Opening:
    """Return how to open a workspace that was made."""
    how = Opening(path=tmp_path / "ws", config_dir=tmp_path / "config", flags=FLAGS)
    reverie.init(how).close()
    return how


@pytest.fixture
def say(tmp_path: Path) -> Callable[..., Path]:
    """Return what writes lines of the user to a transcript, said just now."""
    path, count = tmp_path / "t.jsonl", [0]

    def write(*texts: str) -> Path:
        with path.open("a", encoding="utf-8") as file:
            for text in texts:
                count[0] += 1
                line = {
                    "type": "user", "sessionId": "s1", "uuid": f"u{count[0]}",
                    "timestamp": (datetime.now(UTC) + timedelta(milliseconds=count[0])).isoformat(),
                    "message": {"role": "user", "content": text},
                }  # fmt: skip
                file.write(json.dumps(line) + "\n")
        return path

    return write


def given(name: str, path: Path) -> bytes:
    """Return what a hook gets."""
    return json.dumps({"hook_event_name": name, "session_id": "s1", "transcript_path": str(path)}).encode()


def fire(opening: Opening, *words: str, data: bytes) -> tuple[str, list[str]]:
    """Call a hook as its own process; return what it printed and which large modules it loaded."""
    line = ["hook", *words, "--workspace", str(opening.path), "--config-dir", str(opening.config_dir)]
    environment = {**os.environ, "REVERIE_EMBEDDER": "none"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *line], input=data, capture_output=True, check=True, env=environment
    )
    *told, loaded = done.stderr.decode().strip().split("\n")
    assert loaded.startswith("LOADED")
    return done.stdout.decode() + "\n".join(told), loaded.split()[1:]


def said(opening: Opening) -> list[str]:
    """Return what the session says."""
    with reverie.open(opening) as memory:
        return [turn.content for turn in sessions.read(memory.opened.ws, "s1")]


@pytest.mark.slow
def test_a_turns_end_captures_and_loads_nothing_else(opening: Opening, say: Callable[..., Path]) -> None:
    """While nothing is due, Stop stores what was said and loads neither a memory, its state, nor the commands."""
    assert fire(opening, "Stop", data=given("Stop", say())) == ("", [])
    assert fire(opening, "Stop", data=given("Stop", say("I moved to Lisbon."))) == ("", [])
    assert fire(opening, "Stop", data=given("Stop", say("I like tea."))) == ("", [])
    assert said(opening) == ["I moved to Lisbon.", "I like tea."]


@pytest.mark.slow
def test_what_is_due_is_read_by_a_whole_memory(opening: Opening, say: Callable[..., Path]) -> None:
    """With the sixth unread turn Stop reads the session, and after it captures alone again."""
    path = say(*(f"I moved to Lisbon {n} years ago." for n in range(6)))
    assert "reverie.memory" in fire(opening, "Stop", data=given("Stop", path))[1]
    with reverie.open(opening) as memory:
        assert memory.opened.state_now().mark("s1") == 6
    say("And I like tea.")
    assert fire(opening, "Stop", data=given("Stop", path)) == ("", [])
    assert fire(opening, "SessionEnd", data=given("SessionEnd", path))[1] != []
    with reverie.open(opening) as memory:
        assert memory.opened.state_now().mark("s1") == 7
        assert not sessions.load(memory.opened.ws, "s1").state.open


@pytest.mark.slow
def test_a_start_and_a_prompt_are_answered(opening: Opening, say: Callable[..., Path]) -> None:
    """SessionStart and UserPromptSubmit print what is known, without loading the other commands."""
    with reverie.open(opening) as memory:
        memory.remember("Dana prefers calls before noon.")
    printed, loaded = fire(opening, "SessionStart", data=given("SessionStart", say("Hello.")))
    assert "reverie-memory" in printed
    assert "typer" not in loaded
    data = json.loads(given("UserPromptSubmit", say("More."))) | {"prompt": "When may I call Dana?"}
    printed, _ = fire(opening, "UserPromptSubmit", data=json.dumps(data).encode())
    assert "Dana prefers calls before noon" in json.loads(printed)["hookSpecificOutput"]["additionalContext"]
    assert said(opening) == ["Hello.", "More."]


@pytest.mark.slow
def test_a_line_that_install_does_not_write_goes_the_long_way(
    opening: Opening, say: Callable[..., Path]
) -> None:
    """Another option, a missing event, an option twice or without its value are for the command line to judge."""
    data = given("Stop", say("I like tea."))
    printed, loaded = fire(opening, "Stop", "--set", "zone=Europe/Berlin", data=data)
    assert printed == ""
    assert "typer" in loaded
    assert said(opening) == ["I like tea."]
    for words, word in ((["Stop", "--nonsense", "1"], "no such option"), (["Stop", "--user", ""], "empty")):
        line = [sys.executable, "-m", "reverie", "hook", *words]
        done = subprocess.run(line, input=data, capture_output=True, check=False)
        assert word in done.stderr.decode().lower(), words


@pytest.mark.slow
def test_what_is_wrong_is_told_and_stops_nobody(opening: Opening, tmp_path: Path) -> None:
    """Where there is no workspace, or no JSON, the hook ends well and says so as the long way does."""
    assert "no JSON" in fire(opening, "Stop", data=b"no")[0]
    with reverie.open(opening) as memory:
        assert list(hooks.read(memory.opened.ws).troubles) == ["Stop"]
    missing = Opening(path=tmp_path / "none", config_dir=opening.config_dir)
    assert "reverie init" in fire(missing, "Stop", data=given("Stop", tmp_path / "t.jsonl"))[0]


def test_a_person_an_untrusted_workspace_and_a_crash_are_left_to_a_whole_memory(
    opening: Opening, tmp_path: Path
) -> None:
    """Only a trusted workspace in which nothing is half done is opened to store turns alone."""
    assert opened_light(opening) is not None
    assert opened_light(Opening(path=opening.path, config_dir=opening.config_dir, user="Dana")) is None
    assert opened_light(Opening(path=opening.path, config_dir=tmp_path / "another")) is None
    assert opened_light(Opening(path=tmp_path / "none", config_dir=opening.config_dir)) is None
    with reverie.open(opening) as memory:
        for intent in (".journal/intent.json", ".state/erase.json", ".state/dreams/intent.json"):
            memory.opened.ws.disk.replace(intent, b"")
            assert opened_light(opening) is None, intent
            memory.opened.ws.disk.remove(intent)
    assert opened_light(opening) is not None


def test_with_a_model_an_end_is_only_noted(tmp_path: Path, say: Callable[..., Path]) -> None:
    """Where a model reads, no hook at a turn's or session's end does: turns are stored, the session is closed."""
    how = Opening(
        path=tmp_path / "ws", config_dir=tmp_path / "config", flags={**FLAGS, "model": "test:scripted"}
    )
    reverie.init(how).close()
    path = say(*(f"Turn {n}" for n in range(8)))
    ws = opened_light(how)
    assert ws is not None
    assert captured(ws, event_of("Stop", given("Stop", path)))
    assert captured(ws, event_of("SessionEnd", given("SessionEnd", path)))
    found = sessions.load(ws, "s1")
    assert (len(found.turns), found.state.open) == (8, False)


@pytest.mark.parametrize("name", ["SessionStart", "UserPromptSubmit", "PreCompact"])
def test_other_events_are_not_for_the_short_way(
    opening: Opening, say: Callable[..., Path], name: str
) -> None:
    """What answers or reads is left whole to a memory."""
    ws = opened_light(opening)
    assert ws is not None
    assert not captured(ws, event_of(name, given(name, say("Hello."))))


def test_a_glance_at_the_state_tells_how_far_a_session_was_read(opening: Opening) -> None:
    """The mark is what the state last knew, 0 for a session it does not know and where no state can be asked."""
    with reverie.open(opening) as memory:
        root = memory.root
        assert mark_of(root / "none", "s1") == 0
        memory.capture("s1", Turn(role="user", content="I moved to Lisbon.", at=NOW, id="t1"))
        memory.remember("Tea", Draft(category="fact"))
        memory.extract()
        memory.drain()
        memory.opened.state_now()
        assert (mark_of(root, "s1"), mark_of(root, "another")) == (1, 0)
    (root / ".index" / "state.db").write_bytes(b"no database")
    assert mark_of(root, "s1") == 0


def test_how_far_a_session_reaches_is_told_by_its_end(opening: Opening) -> None:
    """Ordinals used and the last time come from the last line; a torn one tells nothing."""
    with reverie.open(opening) as memory:
        ws = memory.opened.writable
        assert sessions.reached(ws, "s1") == (0, None)
        for n in range(300):
            memory.capture("s1", Turn(role="user", content=f"{n} {'tea ' * 30}", at=NOW, id=f"t{n}"))
        assert sessions.reached(ws, "s1") == (300, NOW)
        memory.end("s1")
        assert sessions.reached(ws, "s1")[0] == 300
        path = memory.root / sessions.path_of("s1")
        path.write_bytes(path.read_bytes() + b'{"v":1,"torn')
        assert sessions.reached(ws, "s1") == (None, None)
