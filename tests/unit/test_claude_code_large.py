"""The hooks of Claude Code on transcripts that are very large: bounded time, and nothing lost."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from claude_talk import Talk, lines, opening, said

import reverie
from reverie import Memory
from reverie.adapters import claude_code, claude_code_events
from reverie.store import quarantine
from reverie.store.hosts import hooks

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """Return a memory as a hook opens it."""
    with reverie.init(opening(tmp_path)) as made:
        yield made


@pytest.fixture
def talk(tmp_path: Path) -> Talk:
    """Return a session that has said nothing."""
    return Talk(tmp_path / "t.jsonl")


def test_a_huge_transcript_is_read_over_several_calls(
    memory: Memory, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One call reads so much and no more, the next goes on there, and `status` says what is left meanwhile."""
    follow = claude_code_events.follow
    monkeypatch.setattr(claude_code_events, "follow", lambda *a, **k: follow(*a, **k, most=1))
    text = "It rained in Lisbon all day long, and nobody went out. " * 20
    talk.say(*(f"{n} {text}" for n in range(2_500)))
    total = talk.path.stat().st_size
    assert total > 2 << 20
    talk.fire(memory, "Stop")
    first = hooks.read(memory.opened.ws).positions[str(talk.path)]
    assert 0 < first.at <= 1 << 20
    assert "not read yet" in str(memory.status().problems)
    other = Talk(talk.path.with_name("t2.jsonl"), "s2")
    other.say("Hello.")
    for _ in range(4):
        other.fire(memory, "Stop")
    assert hooks.read(memory.opened.ws).positions[str(talk.path)].left == 0
    assert len(said(memory)) == lines(memory) == 2_500
    assert "not read yet" not in str(memory.status().problems)


@pytest.mark.slow
def test_a_transcript_of_a_hundred_megabytes_is_followed_from_its_place(memory: Memory, talk: Talk) -> None:
    """Once its position is known, a hook reads what was added, however much stands before it."""
    talk.say("Hello.")
    talk.fire(memory, "Stop")
    line = json.dumps({"type": "progress", "sessionId": "s1", "data": "x" * 1_000}).encode() + b"\n"
    talk.write(line * 100_000)
    assert talk.path.stat().st_size > 100_000_000
    for _ in range(40):
        talk.fire(memory, "Stop")
    talk.say("After all that.")
    talk.fire(memory, "Stop")
    assert said(memory) == ["Hello.", "After all that."]


def test_a_line_beyond_all_bounds_is_passed_over(
    memory: Memory, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line longer than what is decoded is set aside in part, and the next one is read."""
    monkeypatch.setattr("reverie.transcripts._LINE", 2 << 20)
    talk.say("First.", "x" * (3 << 20), "Last.")
    talk.fire(memory, "Stop")
    talk.fire(memory, "Stop")
    assert said(memory) == ["First.", "Last."]
    assert "more than" in str([one.reason for one in quarantine.listed(memory.opened.ws)])


def test_a_backlog_waits_for_consolidate(memory: Memory, talk: Talk) -> None:
    """More unread turns than a person can be kept waiting for are captured, and extracted by the next consolidate."""
    talk.say(*(f"I bought a lamp number {n}." for n in range(claude_code.WAITED_FOR + 1)))
    talk.fire(memory, "Stop")
    assert memory.list() == []
    assert len(said(memory)) == claude_code.WAITED_FOR + 1
    memory.remember("User moved to Lisbon.")
    other = Talk(talk.path.with_name("t2.jsonl"), "s2")
    other.say("I moved to Porto.")
    other.fire(memory, "SessionEnd")
    assert any("Porto" in one.entry.text for one in memory.opened.state_now().states())
    memory.consolidate()
    assert memory.opened.state_now().mark("s1") == claude_code.WAITED_FOR + 1
