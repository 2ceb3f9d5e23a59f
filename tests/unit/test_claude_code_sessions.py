"""Several sessions of Claude Code: forked, killed, side by side, and with the memory's own tools."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import pytest
from claude_talk import Talk, lines, opening, said

import reverie
from reverie import Memory
from reverie.importers.own import is_own
from reverie.store.hosts import hooks

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Real(Talk):
    """A transcript whose lines have the host's own kind of id, which a copy keeps."""

    def line(self, role: str, content: Any, **more: Any) -> bytes:
        """Return the next line."""
        return super().line(role, content, **{"uuid": str(uuid.uuid4()), **more})


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """Return a memory as a hook opens it."""
    with reverie.init(opening(tmp_path)) as made:
        yield made


def forked(talk: Talk, path: Path, session: str) -> Real:
    """Return a session that goes on from another: its transcript begins with the other's, under its own name."""
    fork = Real(path, session)
    fork.write(talk.path.read_bytes().replace(f'"{talk.session}"'.encode(), f'"{session}"'.encode()))
    return fork


def test_a_forked_session_does_not_double_turns(memory: Memory, tmp_path: Path) -> None:
    """What a session repeats of the one it goes on from stays there alone, over two generations (P-09)."""
    first = Real(tmp_path / "a.jsonl", "s1")
    first.say("I moved to Lisbon.", "I prefer tea.")
    first.fire(memory, "Stop")
    second = forked(first, tmp_path / "b.jsonl", "s2")
    second.say("My cat is called Tom.")
    second.fire(memory, "Stop")
    third = forked(second, tmp_path / "c.jsonl", "s3")
    third.fire(memory, "UserPromptSubmit", prompt="cat")
    third.say("My dog is called Rex.")
    third.fire(memory, "Stop")
    first.say("And in Lisbon it rains.")
    first.fire(memory, "Stop")
    assert said(memory, "s1") == ["I moved to Lisbon.", "I prefer tea.", "And in Lisbon it rains."]
    assert said(memory, "s2") == ["My cat is called Tom."]
    assert said(memory, "s3") == ["My dog is called Rex."]


def test_a_long_fork_is_known_over_many_hooks(memory: Memory, tmp_path: Path) -> None:
    """A copy that is longer than one hook reads is passed over to its end, and what follows is stored."""
    first = Real(tmp_path / "a.jsonl", "s1")
    first.say(*(f"Fact number {n}: {'tea ' * 2_000}" for n in range(600)))
    while hooks.read(memory.opened.ws).positions.get(str(first.path), hooks.Position(0, 1)).left:
        first.fire(memory, "Stop")
    fork = forked(first, tmp_path / "b.jsonl", "s2")
    fork.say("My cat is called Tom.")
    for _ in range(8):
        fork.fire(memory, "Stop")
    assert len(said(memory)) == 600
    assert said(memory, "s2") == ["My cat is called Tom."]


def test_what_was_off_the_record_stays_off_it_in_a_fork(memory: Memory, tmp_path: Path) -> None:
    """What a session said while it was paused does not come in by a copy of it."""
    first = Real(tmp_path / "a.jsonl", "s1")
    first.say("I moved to Lisbon.")
    first.fire(memory, "Stop")
    memory.pause("s1")
    first.say("Between us.")
    first.fire(memory, "Stop")
    memory.resume("s1")
    first.say("I prefer tea.")
    first.fire(memory, "Stop")
    fork = forked(first, tmp_path / "b.jsonl", "s2")
    fork.say("My cat is called Tom.")
    fork.fire(memory, "Stop")
    assert said(memory, "s2") == ["My cat is called Tom."]


@pytest.mark.parametrize("session", ["s1", None])
def test_a_session_off_the_record_stays_off_it_in_a_fork(
    memory: Memory, tmp_path: Path, session: str | None
) -> None:
    """Of a session of which nothing was stored, for it or all were paused, a copy brings nothing either."""
    first = Real(tmp_path / "s1.jsonl", "s1")
    memory.pause(session)
    first.say("Between us.")
    first.write(first.line("assistant", "I tell nobody."))
    first.fire(memory, "Stop")
    memory.resume(session)
    fork = forked(first, tmp_path / "s2.jsonl", "s2")
    answer = fork.path.read_bytes().replace(
        b'"type": "assistant"', b'"type": "assistant", "requestSessionId": "s1"'
    )
    fork.path.write_bytes(answer)
    fork.say("My cat is called Tom.")
    fork.fire(memory, "Stop")
    assert said(memory, "s2") == ["My cat is called Tom."]


def test_what_was_erased_does_not_come_back_by_a_fork(memory: Memory, tmp_path: Path) -> None:
    """A copy of a session still has the words that were erased from it, and they are not stored again."""
    first = Real(tmp_path / "a.jsonl", "s1")
    first.say("I am allergic to macadamia nuts.")
    first.fire(memory, "PreCompact")
    memory.erase([one.entry.id for one in memory.list()])
    fork = forked(first, tmp_path / "b.jsonl", "s2")
    fork.say("My cat is called Tom.")
    fork.fire(memory, "Stop")
    assert said(memory, "s2") == ["My cat is called Tom."]
    assert not [
        path for path in memory.root.rglob("*") if path.is_file() and b"macadamia" in path.read_bytes()
    ]


def test_a_fork_of_what_memory_never_saw_is_stored_whole(memory: Memory, tmp_path: Path) -> None:
    """Where the session that a fork repeats was never captured, the copy is what there is."""
    first = Real(tmp_path / "a.jsonl", "s1")
    first.say("I moved to Lisbon.")
    fork = forked(first, tmp_path / "b.jsonl", "s2")
    fork.say("My cat is called Tom.")
    fork.fire(memory, "Stop")
    assert said(memory, "s2") == ["I moved to Lisbon.", "My cat is called Tom."]


@pytest.mark.parametrize("began", [True, False])
def test_a_killed_session_is_taken_in_by_the_next_start(
    memory: Memory, tmp_path: Path, *, began: bool
) -> None:
    """What a session said before its process died, in its first turn or a later one, the next start stores (R-43)."""
    killed = Real(tmp_path / "a.jsonl", "s1")
    killed.fire(memory, "SessionStart", source="startup")
    if began:
        killed.say("I moved to Lisbon.")
    killed.fire(memory, "UserPromptSubmit", prompt="Lisbon")
    killed.say("I prefer tea.")
    Real(tmp_path / "b.jsonl", "s2").fire(memory, "SessionStart", source="startup")
    assert said(memory) == ["I moved to Lisbon."] * began + ["I prefer tea."]
    Real(tmp_path / "c.jsonl", "s3").fire(memory, "SessionStart", source="startup")
    assert lines(memory) == 1 + began


def test_a_session_that_never_spoke_troubles_nobody(memory: Memory, tmp_path: Path) -> None:
    """A session that was opened and left has no transcript, and no later hook complains of that."""
    for number in range(9):
        Real(tmp_path / f"{number}.jsonl", f"s{number}").fire(memory, "SessionStart", source="startup")
        Real(tmp_path / f"{number}.jsonl", f"s{number}").fire(memory, "SessionEnd", reason="exit")
    assert not any("hook" in one.what for one in memory.status().problems)


def test_what_the_host_says_itself_is_not_captured(memory: Memory, tmp_path: Path) -> None:
    """An interruption, a command as a list of parts, and what stands in the model's place are no turns; words stay."""
    talk = Real(tmp_path / "a.jsonl", "s1")
    for words in (
        "[Request interrupted by user]",
        "<bash-input>ls</bash-input>",
        "I type <bash-input> here.",
    ):
        talk.write(talk.line("user", [{"type": "text", "text": words}]))
    for model in ("<synthetic>", "claude"):
        said_by = {"role": "assistant", "model": model, "content": [{"type": "text", "text": f"By {model}."}]}
        talk.write(talk.line("assistant", "", message=said_by))
    talk.write(talk.line("assistant", [{"type": "text", "text": "<bash-input> is a tag."}]))
    talk.write(talk.line("user", ["loose", 7]) + talk.line("user", [[]]) + talk.line("user", []))
    talk.fire(memory, "Stop")
    assert said(memory) == ["I type <bash-input> here.", "By claude.", "<bash-input> is a tag."]


def test_what_memory_answered_is_not_captured(memory: Memory, tmp_path: Path) -> None:
    """An answer of the memory's own tool is passed over, its call and another server's answer are kept (P-09)."""
    talk = Real(tmp_path / "a.jsonl", "s1")
    talk.say("Which colour do I like?")
    for server in ("reverie", "other"):
        call = {
            "type": "tool_use",
            "id": server,
            "name": f"mcp__{server}__memory_recall",
            "input": {"query": "colour"},
        }
        told = {"type": "tool_result", "tool_use_id": server, "content": f"{server}: Ada likes green"}
        meta = {"_meta": {"io.modelcontextprotocol/serverInfo": {"name": server}}}
        talk.write(talk.line("assistant", [call]) + talk.line("user", [told], mcpMeta=meta))
    talk.write(talk.line("user", "Thanks.", mcpMeta={"_meta": [7]}))
    talk.fire(memory, "Stop")
    assert said(memory) == ["Which colour do I like?", "", "", "other: Ada likes green", "Thanks."]


@pytest.mark.parametrize(
    ("name", "namespace", "own"),
    [
        ("mcp__reverie__memory_recall", "", True),
        ("memory_recall", "mcp__reverie", True),
        ("memory_recall", "mcp__reverie-work", True),
        ("mcp__memory__memory_recall", "", False),
        ("memory_recall", "", False),
        ("reverie", "", False),
        ("exec_command", "", False),
        ("memory_recall", "mcp__", False),
        ("", "", False),
    ],
)
def test_the_memorys_own_tools_are_known_by_their_server(name: str, namespace: str, *, own: bool) -> None:
    """A tool is the memory's own where its host says that the server is reverie, in one name or two."""
    assert is_own(name, namespace) == own
