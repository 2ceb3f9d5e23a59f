"""What each format of conversations becomes: turns at their times; what is no speech is counted."""

from __future__ import annotations

import json
import zipfile
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from foreign import AT, ROLLOUT, chat, event, lines, said, stored, take

if TYPE_CHECKING:
    from desk import Desk

# ChatGPT


def test_the_branch_of_a_chatgpt_conversation_is_taken(desk: Desk) -> None:
    """Turns stand on the branch that was shown, at their own times; hidden, tools and left branches are counted."""
    done = take(desk, "conversations.json", [chat()])
    assert (done.format, done.turns, done.unread, done.sessions) == ("chatgpt", 3, 0, ("chatgpt-c1",))
    first, second, third = stored(desk, "chatgpt-c1")
    assert (first.content, first.id) == ("My sister Ines lives in Porto.", "m-a")
    assert first.at == datetime.fromtimestamp(AT + 1, UTC)
    assert (second.content, third.content) == ("A better answer.", "See this.")
    assert third.attachments[0].ref == "file://x1"
    assert done.passed == {
        "hidden in the conversation": 1,
        "a call of a tool": 1,
        "said by tool": 1,
        "of kind thoughts": 1,
        "on a branch that was left": 1,
    }


@pytest.mark.parametrize("current", [None, "gone", 7])
def test_without_a_current_node_the_latest_leaf_counts(desk: Desk, current: object) -> None:
    """A conversation that does not say where it stands is read along the branch that was written last."""
    take(desk, "one.json", chat(current_node=current))
    assert stored(desk, "chatgpt-c1")[-1].content == "See this."


def test_a_circle_of_nodes_ends(desk: Desk) -> None:
    """Parents that form a circle are followed once round."""
    circle = chat()
    circle["mapping"]["a"]["parent"] = "end"
    assert take(desk, "c.json", [circle]).turns == 3


@pytest.mark.slow
def test_an_archive_of_shards_is_read_as_a_stream(desk: Desk) -> None:
    """Every shard in a ZIP is read, nothing else in it, and the same archive again adds nothing."""
    path = desk.home / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("../../conversations-000.json", json.dumps([chat("c1")]))
        archive.writestr("conversations-001.json", json.dumps([chat("c2"), chat("c3")]))
        archive.writestr("user.json", '{"messages": [{"role": "user", "content": "no"}]}')
    before = set(desk.home.parent.rglob("*.json"))
    done = desk.memory.import_(path)
    assert (done.format, done.turns, done.sessions) == (
        "chatgpt",
        9,
        ("chatgpt-c1", "chatgpt-c2", "chatgpt-c3"),
    )
    assert {found.name for found in set(desk.home.parent.rglob("*.json")) - before} <= {"workspace.json"}
    again = desk.memory.import_(path)
    assert (again.turns, again.repeated) == (0, 9)


# claude.ai


def test_claude_ai_conversations_are_read(desk: Desk) -> None:
    """Words, tools and pasted documents are kept apart, and a message without a sender is set aside."""
    messages = [
        {
            "uuid": "m1",
            "sender": "human",
            "text": "Read this.",
            "content": [],
            "created_at": "2026-02-01T10:00:00.123Z",
            "attachments": [
                {"file_name": "plan.txt", "file_type": "txt", "extracted_content": "Ship in May."}
            ],
        },
        {
            "uuid": "m2",
            "sender": "assistant",
            "created_at": "2026-02-01T10:01:00Z",
            "content": [
                {"type": "thinking", "thinking": "hm"},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "t1", "name": "search", "input": {"q": "x"}},
                {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "found"}]},
            ],
        },
        {"uuid": "m3", "sender": "nobody", "text": "?", "created_at": "2026-02-01T10:02:00Z"},
    ]
    talk = {"uuid": "u1", "name": "N", "created_at": "2026-02-01T10:00:00Z", "chat_messages": messages}
    done = take(desk, "conversations.json", [talk, {"uuid": "u2", "chat_messages": []}])
    assert (done.format, done.turns, done.unread) == ("claude-ai", 3, 1)
    assert said(desk, "claude-u1") == [
        ("user", "Read this.\n```\nShip in May.\n```"),
        ("assistant", "I look."),
        ("tool", "found"),
    ]
    turns = stored(desk, "claude-u1")
    assert (turns[0].attachments[0].ref, turns[1].calls[0].name, turns[2].call) == (
        "plan.txt",
        "search",
        "t1",
    )
    assert done.passed == {"thinking": 1, "a conversation without messages": 1}
    assert "nobody" in done.skipped[0].reason


def test_what_claude_remembered_comes_in_with_its_conversations(desk: Desk) -> None:
    """Each line of `memories.json` is a fact under its heading; every other file of the archive is counted."""
    talk = {
        "uuid": "u1",
        "chat_messages": [
            {"uuid": "m1", "sender": "human", "text": "Hi", "created_at": "2026-02-01T10:00:00Z"}
        ],
    }
    told = {
        "conversations_memory": "**Work context**\n\nMira designs bridges in Porto.\n\n## Taste\n- Likes short answers",
        "project_memories": {"p1": "Project Atlas ships in May."},
        "account_uuid": "a",
    }
    path = desk.home / "claude.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("conversations.json", json.dumps([talk]))
        archive.writestr("memories.json", json.dumps([told]))
        archive.writestr("projects.json", json.dumps([{"name": "Atlas", "docs": []}]))
        archive.writestr("users.json", "[]")
    done = desk.memory.import_(path)
    assert (done.format, done.turns, done.facts, done.unread) == ("claude-ai", 1, 3, 0)
    assert done.passed == {"a file of the archive without conversations": 2}
    desk.memory.drain()
    kept = {state.entry.text: state.entry.tags for state in desk.memory.list()}
    assert kept == {
        "Mira designs bridges in Porto.": ("Work context",),
        "Likes short answers": ("Taste",),
        "Project Atlas ships in May.": (),
    }
    assert desk.memory.import_(path).facts == 0


# Claude Code


def test_what_a_coding_session_tells_its_model_is_no_speech(desk: Desk) -> None:
    """Compactions, commands, side chains and what the tool put in are counted, and the talk goes on behind them."""
    events = lines(
        event(1, "user", "Use tabs here."),
        event(2, "user", "Caveat: …", isMeta=True),
        event(3, "user", "<command-name>/compact</command-name>"),
        {
            "type": "system",
            "subtype": "compact_boundary",
            "sessionId": "cc",
            "timestamp": "2026-03-01T10:00:04Z",
        },
        event(5, "user", "This session continues …", isCompactSummary=True),
        event(6, "assistant", [{"type": "thinking", "thinking": "hm"}]),
        event(7, "assistant", [{"type": "text", "text": "Tabs it is."}]),
        event(8, "assistant", [{"type": "text", "text": "aside"}], isSidechain=True),
    )
    done = take(desk, "cc.jsonl", events)
    assert (done.format, done.unread) == ("claude-code", 0)
    assert said(desk, "cc") == [("user", "Use tabs here."), ("assistant", "Tabs it is.")]
    assert sum(done.passed.values()) == 6


# Codex


def test_two_logs_of_a_rollout_are_one_talk(desk: Desk) -> None:
    """What stands in both logs is one turn whichever came first, what stands in one is kept, and repeats too."""
    done = take(desk, "rollout.jsonl", lines(*ROLLOUT))
    assert (done.format, done.unread, done.passed["in both logs"]) == ("codex", 0, 3)
    assert said(desk, "r1") == [
        ("user", "Fix the test."),
        ("assistant", ""),
        ("tool", "a.py"),
        ("assistant", "Done."),
        ("user", "Only shown."),
        ("user", "Fix the test."),
    ]
    assert stored(desk, "r1")[1].calls[0].arguments == '{"cmd":"ls"}'
    assert take(desk, "rollout.jsonl", lines(*ROLLOUT)).turns == 0


def test_what_memory_answered_in_a_rollout_is_left_out(desk: Desk) -> None:
    """The answer of this memory's own server, by either form of its tools' names, is no turn; another's is (P-09)."""
    names = (("memory_recall", "mcp__reverie"), ("mcp__reverie__memory_due", ""), ("search", "mcp__docs"))
    calls = [
        line
        for number, (name, namespace) in enumerate(names)
        for line in (
            {"type": "function_call", "name": name, "namespace": namespace, "arguments": "{}", "call_id": f"k{number}"},
            {"type": "function_call_output", "call_id": f"k{number}", "output": f"by {name}"},
        )
    ]  # fmt: skip
    begun = {"id": "r1", "timestamp": "2025-05-01T10:00:00Z", "instructions": None}
    done = take(desk, "rollout.jsonl", lines(begun, *calls))
    assert done.passed == {"what memory itself answered": 2}
    assert said(desk, "r1") == [("assistant", "")] * 3 + [("tool", "by search")]


def test_the_flat_rollouts_of_before_are_read(desk: Desk) -> None:
    """A rollout without envelopes gives its messages and calls."""
    text = lines(
        {"id": "old", "timestamp": "2025-05-01T10:00:00Z", "instructions": None},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello there."}]},
        {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "k"},
    )
    done = take(desk, "rollout.jsonl", text)
    assert (done.format, done.turns, done.sessions) == ("codex", 2, ("old",))


# Messages


def test_anthropic_messages_are_read(desk: Desk) -> None:
    """Content blocks give words, calls and results, each result a turn that names its call."""
    messages = [
        {"role": "user", "content": "How warm is it?"},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "I ask."},
                {"type": "tool_use", "id": "t1", "name": "weather", "input": {"at": "Porto"}},
            ],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "21 degrees"}]},
    ]
    done = take(desk, "chat.json", {"model": "m", "messages": messages})
    assert (done.format, done.turns) == ("openai-messages", 3)
    turns = stored(desk, "chat")
    assert [(one.role, one.content) for one in turns[1:]] == [("assistant", "I ask."), ("tool", "21 degrees")]
    assert (turns[1].calls[0].arguments, turns[2].call) == ('{"at":"Porto"}', "t1")


@pytest.mark.parametrize("as_lines", [True, False])
def test_many_conversations_in_one_file_stay_apart(desk: Desk, *, as_lines: bool) -> None:
    """Each list of messages, an element or a line, is a session of its own."""
    chats = [{"messages": [{"role": "user", "content": f"Talk {number}"}]} for number in (1, 2)]
    done = take(desk, "chats.json", lines(*chats) if as_lines else chats)
    assert (done.turns, done.sessions) == (2, ("chats-1", "chats-2"))
