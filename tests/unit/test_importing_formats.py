"""What each foreign format becomes: turns at their times, facts of origin import, notes and pages; the rest counted."""

from __future__ import annotations

import json
import zipfile
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from desk import Desk

from reverie.importers.taken import Imported, Progress
from reverie.importing import Wish
from reverie.store import sessions

if TYPE_CHECKING:
    from pathlib import Path

    from reverie.core.records import Turn

AT = 1_767_261_600  # 2026-01-01 10:00 UTC


def _take(desk: Desk, name: str, value: object, **wish: Any) -> Imported:
    """Write a file beside the workspace and import it, as JSON or, a string, as it is."""
    path = desk.home / name
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return desk.memory.import_(path, wish=Wish(**wish))


def _lines(*values: object) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


def _stored(desk: Desk, session: str) -> list[Turn]:
    return sessions.read(desk.memory.opened.ws, session)


def _said(desk: Desk, session: str) -> list[tuple[str, str]]:
    return [(turn.role, turn.content) for turn in _stored(desk, session)]


# ChatGPT


def _node(name: str, parent: str | None, role: str, text: object, **message: object) -> dict[str, Any]:
    content = text if isinstance(text, dict) else {"content_type": "text", "parts": [text]}
    told = {"id": f"m-{name}", "author": {"role": role}, "create_time": AT + len(name), "content": content}
    return {"id": name, "parent": parent, "children": [], "message": {**told, **message}}


def _chat(name: str = "c1", **changes: object) -> dict[str, Any]:
    nodes = {
        "r": {"id": "r", "parent": None, "children": ["s"], "message": None},
        "s": _node("s", "r", "system", "", metadata={"is_visually_hidden_from_conversation": True}),
        "a": _node("a", "s", "user", "My sister Ines lives in Porto."),
        "b": _node("b", "a", "assistant", "search('Porto')", recipient="browser"),
        "c": _node("c", "b", "tool", "Porto is a city."),
        "d": _node("d", "c", "assistant", {"content_type": "thoughts", "thoughts": []}),
        "old": _node("old", "d", "assistant", "A first answer."),
        "new": _node("new", "d", "assistant", "A better answer."),
        "end": _node(
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


def test_the_branch_of_a_chatgpt_conversation_is_taken(desk: Desk) -> None:
    """Turns stand on the branch that was shown, at their own times; hidden, tools and left branches are counted."""
    done = _take(desk, "conversations.json", [_chat()])
    assert (done.format, done.turns, done.unread, done.sessions) == ("chatgpt", 3, 0, ("chatgpt-c1",))
    first, second, third = _stored(desk, "chatgpt-c1")
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
    _take(desk, "one.json", _chat(current_node=current))
    assert _stored(desk, "chatgpt-c1")[-1].content == "See this."


def test_a_circle_of_nodes_ends(desk: Desk) -> None:
    """Parents that form a circle are followed once round."""
    chat = _chat()
    chat["mapping"]["a"]["parent"] = "end"
    assert _take(desk, "c.json", [chat]).turns == 3


def test_an_archive_of_shards_is_read_as_a_stream(desk: Desk) -> None:
    """Every shard in a ZIP is read, nothing else in it, and the same archive again adds nothing."""
    path = desk.home / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("../../conversations-000.json", json.dumps([_chat("c1")]))
        archive.writestr("conversations-001.json", json.dumps([_chat("c2"), _chat("c3")]))
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
    chat = {"uuid": "u1", "name": "N", "created_at": "2026-02-01T10:00:00Z", "chat_messages": messages}
    done = _take(desk, "conversations.json", [chat, {"uuid": "u2", "chat_messages": []}])
    assert (done.format, done.turns, done.unread) == ("claude-ai", 3, 1)
    assert _said(desk, "claude-u1") == [
        ("user", "Read this.\n```\nShip in May.\n```"),
        ("assistant", "I look."),
        ("tool", "found"),
    ]
    said = _stored(desk, "claude-u1")
    assert (said[0].attachments[0].ref, said[1].calls[0].name, said[2].call) == ("plan.txt", "search", "t1")
    assert done.passed == {"thinking": 1, "a conversation without messages": 1}
    assert "nobody" in done.skipped[0].reason


# Claude Code


def _event(number: int, kind: str, content: object, **more: object) -> dict[str, Any]:
    told = {
        "type": kind,
        "sessionId": "cc",
        "uuid": f"u{number}",
        "timestamp": f"2026-03-01T10:00:{number:02}Z",
    }
    return {**told, "message": {"role": kind, "content": content}, **more}


def test_what_a_coding_session_tells_its_model_is_no_speech(desk: Desk) -> None:
    """Compactions, commands, side chains and what the tool put in are counted, and the talk goes on behind them."""
    events = _lines(
        _event(1, "user", "Use tabs here."),
        _event(2, "user", "Caveat: …", isMeta=True),
        _event(3, "user", "<command-name>/compact</command-name>"),
        {
            "type": "system",
            "subtype": "compact_boundary",
            "sessionId": "cc",
            "timestamp": "2026-03-01T10:00:04Z",
        },
        _event(5, "user", "This session continues …", isCompactSummary=True),
        _event(6, "assistant", [{"type": "thinking", "thinking": "hm"}]),
        _event(7, "assistant", [{"type": "text", "text": "Tabs it is."}]),
        _event(8, "assistant", [{"type": "text", "text": "aside"}], isSidechain=True),
    )
    done = _take(desk, "cc.jsonl", events)
    assert (done.format, done.unread) == ("claude-code", 0)
    assert _said(desk, "cc") == [("user", "Use tabs here."), ("assistant", "Tabs it is.")]
    assert sum(done.passed.values()) == 6


# Codex


def _rollout(kind: str, second: int, **payload: object) -> dict[str, Any]:
    return {"timestamp": f"2026-04-01T10:00:{second:02}.500Z", "type": kind, "payload": payload}


def _item(second: int, role: str, text: str) -> dict[str, Any]:
    part = "input_text" if role == "user" else "output_text"
    return _rollout(
        "response_item", second, type="message", role=role, content=[{"type": part, "text": text}]
    )


ROLLOUT = (
    _rollout("session_meta", 0, id="r1", cwd="/x"),
    _item(1, "developer", "Rules."),
    _item(1, "user", "<environment_context>…</environment_context>"),
    _item(2, "user", "Fix the test."),
    _rollout("event_msg", 2, type="user_message", message="Fix the test."),
    _rollout("turn_context", 2, model="m"),
    _rollout("response_item", 3, type="reasoning", summary=[]),
    _rollout("response_item", 3, type="function_call", name="shell", arguments='{"cmd":"ls"}', call_id="k1"),
    _rollout("response_item", 4, type="function_call_output", call_id="k1", output="a.py"),
    _rollout("event_msg", 5, type="agent_message", message="Done."),
    _item(5, "assistant", "Done."),
    _rollout("event_msg", 6, type="user_message", message="Only shown."),
    _item(7, "user", "Fix the test."),
    _rollout("event_msg", 7, type="user_message", message="Fix the test."),
)


def test_two_logs_of_a_rollout_are_one_talk(desk: Desk) -> None:
    """What stands in both logs is one turn whichever came first, what stands in one is kept, and repeats too."""
    done = _take(desk, "rollout.jsonl", _lines(*ROLLOUT))
    assert (done.format, done.unread, done.passed["in both logs"]) == ("codex", 0, 3)
    assert _said(desk, "r1") == [
        ("user", "Fix the test."),
        ("assistant", ""),
        ("tool", "a.py"),
        ("assistant", "Done."),
        ("user", "Only shown."),
        ("user", "Fix the test."),
    ]
    assert _stored(desk, "r1")[1].calls[0].arguments == '{"cmd":"ls"}'
    assert _take(desk, "rollout.jsonl", _lines(*ROLLOUT)).turns == 0


def test_the_flat_rollouts_of_before_are_read(desk: Desk) -> None:
    """A rollout without envelopes gives its messages and calls."""
    text = _lines(
        {"id": "old", "timestamp": "2025-05-01T10:00:00Z", "instructions": None},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello there."}]},
        {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "k"},
    )
    done = _take(desk, "rollout.jsonl", text)
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
    done = _take(desk, "chat.json", {"model": "m", "messages": messages})
    assert (done.format, done.turns) == ("openai-messages", 3)
    said = _stored(desk, "chat")
    assert [(one.role, one.content) for one in said[1:]] == [("assistant", "I ask."), ("tool", "21 degrees")]
    assert (said[1].calls[0].arguments, said[2].call) == ('{"at":"Porto"}', "t1")


@pytest.mark.parametrize("as_lines", [True, False])
def test_many_conversations_in_one_file_stay_apart(desk: Desk, *, as_lines: bool) -> None:
    """Each list of messages, an element or a line, is a session of its own."""
    chats = [{"messages": [{"role": "user", "content": f"Talk {number}"}]} for number in (1, 2)]
    done = _take(desk, "chats.json", _lines(*chats) if as_lines else chats)
    assert (done.turns, done.sessions) == (2, ("chats-1", "chats-2"))


# Other memories


@pytest.mark.parametrize(
    "wrap", [lambda found: found, lambda found: {"results": found}, lambda found: {"memories": found}]
)
def test_mem0_memories_become_facts(desk: Desk, wrap: Any) -> None:
    """Each memory is an entry of origin import, at its time and with its tags, once."""
    found = [
        {
            "id": "1",
            "memory": "Likes rye bread",
            "created_at": "2026-06-25T08:00:00-08:00",
            "categories": ["food"],
        },
        {"id": "2", "memory": "Plays the viola", "created_at": "2026-06-26 08:00:00"},
        {"id": "3", "text": "?"},
    ]
    done = _take(desk, "mem0.json", wrap(found))
    assert (done.format, done.facts, done.unread) == ("mem0", 2, 1)
    assert _take(desk, "mem0.json", wrap(found)).facts == 0
    desk.memory.drain()
    assert _take(desk, "mem0.json", wrap(found)).repeated == 2
    entries = {state.entry.text: state.entry for state in desk.memory.list()}
    rye = entries["Likes rye bread"]
    assert (rye.origin, rye.at, rye.tags) == ("import", datetime(2026, 6, 25, 16, tzinfo=UTC), ("food",))


def test_a_graph_of_the_reference_server_becomes_facts(desk: Desk) -> None:
    """Each observation names its entity, each relation is a sentence, and what lacks an end is set aside."""
    text = _lines(
        {
            "type": "entity",
            "name": "Ines",
            "entityType": "person",
            "observations": ["Lives in Porto", "Ines likes kayaks", " "],
        },
        {"type": "relation", "from": "Ines", "to": "Globex", "relationType": "works_at"},
        {"type": "relation", "from": "Ines", "to": "", "relationType": "knows"},
    )
    done = _take(desk, "memory.jsonl", text)
    assert (done.format, done.facts, done.unread, done.passed) == ("memory-graph", 3, 1, {"empty": 1})
    desk.memory.drain()
    found = {state.entry.text: state.entry.about for state in desk.memory.list()}
    assert found == {
        "Ines: Lives in Porto": "Ines",
        "Ines likes kayaks": "Ines",
        "Ines works at Globex": "Ines",
    }


def test_a_forgotten_fact_does_not_come_back(desk: Desk) -> None:
    """A fact that was forgotten stays so when the file that held it is imported again."""
    found = [{"id": "1", "memory": "Likes rye bread"}]
    _take(desk, "mem0.json", found)
    desk.memory.drain()
    (state,) = desk.memory.list()
    desk.memory.forget([state.entry.id])
    _take(desk, "mem0.json", found)
    desk.memory.drain()
    assert desk.memory.list() == []
    assert desk.found("rye bread") == []


# Folders


def _vault(desk: Desk) -> Path:
    vault = desk.home / "My Notes"
    (vault / ".obsidian").mkdir(parents=True)
    (vault / ".obsidian" / "x.md").write_text("no")
    (vault / "People").mkdir()
    (vault / "2026-05-02.md").write_bytes(b"\xef\xbb\xbfMet Ines.\r\nShe is well.\r\n")
    (vault / "People" / "Ines.md").write_text("---\ntags: [friend]\n---\n# Ines\n\nSee [[2026-05-02]].\n")
    (vault / "Broken.md").write_bytes(b"\xff\xfe\x00")
    (vault / "Empty.md").write_text("\n")
    return vault


def test_a_vault_becomes_notes_and_pages(desk: Desk) -> None:
    """A dated note joins the note of its day, another becomes a page below the inbox; again adds nothing."""
    vault = _vault(desk)
    desk.write("notes/2026-05-02.md", "Mine before.\n")
    done = desk.memory.import_(vault)
    assert (done.format, done.files, done.unread, done.passed) == ("obsidian", 2, 1, {"an empty note": 1})
    assert desk.text("notes/2026-05-02.md") == "Mine before.\n\nMet Ines.\nShe is well.\n"
    page = "notebook/0_Inbox/My Notes/People/Ines.md"
    assert desk.text(page).startswith("---\ntags: [friend]\n---\n# Ines\n")
    desk.write(page, "Mine now.\n")
    again = desk.memory.import_(vault)
    assert (again.files, again.repeated) == (0, 2)
    assert desk.text(page) == "Mine now.\n"


def test_a_folder_of_sessions_is_imported_file_by_file(desk: Desk) -> None:
    """Each session file below a folder is read by its own format."""
    (desk.home / "logs" / "deep").mkdir(parents=True)
    _take(desk, "logs/deep/rollout.jsonl", _lines(*ROLLOUT), dry_run=True)
    _take(desk, "logs/cc.jsonl", _lines(_event(1, "user", "Use tabs here.")), dry_run=True)
    done = desk.memory.import_(desk.home / "logs")
    assert set(done.format.split()) == {"codex", "claude-code", "sessions"}
    assert (done.turns, done.sessions) == (7, ("cc", "r1"))


# Wishes


def test_a_dry_run_counts_and_writes_nothing(desk: Desk) -> None:
    """A dry run gives the counts of the import and changes no byte."""
    before = desk.bytes()
    chats = [_chat("c1"), {"mapping": 7}, _chat("c1")]
    found = _take(desk, "conversations.json", chats, dry_run=True)
    assert desk.bytes() == before
    done = _take(desk, "conversations.json", chats)
    assert (found.turns, found.repeated, found.unread, found.passed) == (3, 3, 1, done.passed)
    assert (done.turns, done.repeated, done.unread) == (3, 3, 1)


def test_an_import_tells_how_far_it_is(desk: Desk) -> None:
    """Whoever asked is told bytes and counts, which grow to the whole."""
    told: list[Progress] = []
    lines = _lines(*({"role": "user", "content": f"Line {number}"} for number in range(1_000)))
    _take(desk, "long.jsonl", lines, tell=told.append)
    assert len(told) > 3
    assert told == sorted(told, key=lambda one: (one.done, one.seen))
    assert (told[-1].done, told[-1].seen) == (len(lines), 1_000)


def test_a_paused_session_takes_nothing(desk: Desk) -> None:
    """Turns of a session that is off the record are not stored, and counted."""
    desk.memory.capture("chatgpt-c1", _stored_turn())
    desk.memory.pause("chatgpt-c1")
    done = _take(desk, "c.json", [_chat()])
    assert (done.turns, done.passed["in a session that is paused"]) == (0, 3)


def _stored_turn() -> Turn:
    from reverie.core.records import Turn as Said

    return Said(role="user", content="Before.", at=datetime(2026, 1, 1, tzinfo=UTC))
