"""Importers: foreign conversations become turns, what cannot be read is told with its place, nothing comes twice."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from desk import NOON, Desk
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.days import Calendar
from reverie.core.records import Turn
from reverie.errors import NotFound
from reverie.importers import turns
from reverie.importers.turns import Defaults, Skipped
from reverie.store import quarantine, sessions

if TYPE_CHECKING:
    from reverie.importers.taken import Imported

DEFAULTS = Defaults("talk", NOON, Calendar("Europe/Berlin"))


def _take(desk: Desk, name: str, text: str | bytes, **options: Any) -> Imported:
    """Write a file beside the workspace and import it."""
    path = desk.home / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return desk.memory.import_(path, **options)


def _stored(desk: Desk, session: str) -> list[Turn]:
    return sessions.read(desk.memory.opened.ws, session)


def _lines(*values: object) -> str:
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)


def _told(*values: Any) -> list[Turn | Skipped]:
    return list(turns.read([json.dumps(value).encode() for value in values], DEFAULTS))


# JSONL of turns

SAID = _lines(
    {"role": "user", "content": "I like tea.", "timestamp": "2026-06-01T10:00:00+02:00"},
    {"role": "ai", "content": "Noted.", "at": 1_780_300_860},
    {"role": "human", "content": ["And ", {"type": "text", "text": "milk"}], "time": 1_780_300_920_000},
    {"role": "tool", "content": "42", "call": "c1", "id": "own", "session": "other", "name": "sum"},
)


def test_turns_are_taken_as_they_were_said(desk: Desk) -> None:
    """Role, words, time, session and id of each line are kept, a missing one is that of the line before."""
    done = _take(desk, "monday talk.jsonl", SAID)
    assert (done.format, done.turns, done.repeated, done.skipped) == ("turns", 4, 0, ())
    assert done.sessions == ("monday talk", "other")
    first, second, third = _stored(desk, "monday talk")
    assert [one.role for one in (first, second, third)] == ["user", "assistant", "user"]
    assert first.at == datetime(2026, 6, 1, 8, tzinfo=UTC)
    assert (second.at, third.at) == (
        datetime(2026, 6, 1, 8, 1, tzinfo=UTC),
        datetime(2026, 6, 1, 8, 2, tzinfo=UTC),
    )
    assert third.content == "And \nmilk"
    (tool,) = _stored(desk, "other")
    assert (tool.id, tool.call, tool.name, tool.at) == ("own", "c1", "sum", third.at)
    assert desk.found("tea")[0] == "I like tea."


def test_the_same_file_twice_adds_nothing(desk: Desk) -> None:
    """A file imported again, later and by another process too, adds no turn and changes no byte (P-09)."""
    _take(desk, "talk.jsonl", SAID)
    before = desk.bytes()
    desk.clock.advance(days=3)
    done = _take(desk, "talk.jsonl", SAID)
    assert (done.turns, done.repeated) == (0, 4)
    assert desk.again().import_(desk.home / "talk.jsonl").turns == 0
    assert desk.bytes() == before
    grown = _take(desk, "talk.jsonl", SAID + _lines({"role": "user", "content": "One more."}))
    assert (grown.turns, grown.repeated) == (1, 4)


BAD = [
    (b"{half", "no JSON"),
    (b"[1]", "list, not an object"),
    (b"null", "NoneType"),
    (b'{"content":"x"}', "role is None"),
    (b'{"role":"user"}', "no content"),
    (b'{"role":"user","content":null}', "no content"),
    (b'{"role":"user","content":""}', "empty"),
    (b'{"role":"user","content":7}', "no content"),
    (b'{"role":"wizard","content":"x"}', "wizard"),
    (b'{"role":"user","content":"a\\u0000b"}', "NUL"),
    (b'{"role":"user","content":"x","timestamp":"soon"}', "soon"),
    (b'{"role":"user","content":"x","timestamp":true}', "bool"),
    (b'{"role":"user","content":"x","timestamp":1e300}', "no time"),
    (b'{"role":"user","content":"x","timestamp":[]}', "list"),
    (b'{"role":"user","content":"\\ud800"}', "JSON|surrogate"),
    (b"\xff\xfe{}", "JSON"),
    (b"[" * 100_000, "JSON"),
]


@pytest.mark.parametrize(("line", "reason"), BAD, ids=range(len(BAD)))
def test_a_malformed_line_is_set_aside(desk: Desk, line: bytes, reason: str) -> None:
    """A line that is no turn is kept aside with its number and a reason, and the lines around it are stored."""
    good = _lines({"role": "user", "content": "I like tea."}).encode()
    more = _lines({"role": "user", "content": "I like milk."}).encode()
    done = _take(desk, "talk.jsonl", good + line + b"\n" + more)
    assert done.turns == 2
    (skipped,) = done.skipped
    assert skipped.place == 2
    assert any(part in skipped.reason for part in reason.split("|"))
    (kept,) = quarantine.listed(desk.memory.opened.ws)
    assert kept.raw == line or b"\\u" in line or b'""' in line
    assert _take(desk, "talk.jsonl", good + line + b"\n" + more).turns == 0
    assert len(desk.memory.status().quarantine) == 1


def test_blank_lines_and_marks_are_passed_over(desk: Desk) -> None:
    """A byte order mark, CRLF and blank lines are no turns and no faults."""
    text = "\ufeff\r\n" + SAID.replace("\n", "\r\n\r\n")
    done = _take(desk, "talk.jsonl", text)
    assert (done.turns, done.skipped) == (4, ())
    assert _take(desk, "empty.jsonl", "").turns == 0


def test_secrets_are_redacted_on_the_way_in(desk: Desk) -> None:
    """An imported turn passes the same redaction as a captured one (P-18)."""
    key = "AKIA" + "Q3EGRSTUVWXYZ234"
    _take(desk, "talk.jsonl", _lines({"role": "user", "content": f"My key is {key}, keep it."}))
    (turn,) = _stored(desk, "talk")
    assert key not in turn.content
    assert turn.redacted
    assert not [path for path, data in desk.bytes().items() if key.encode() in data]


def test_a_session_can_be_named(desk: Desk) -> None:
    """Turns without a session of their own go to the one that is named."""
    assert _take(desk, "talk.jsonl", SAID, session="chosen").sessions == ("chosen", "other")


def test_a_time_without_offset_is_local() -> None:
    """A wall-clock time is the workspace's zone's."""
    (turn,) = _told({"role": "user", "content": "x", "timestamp": "2026-07-01 14:05:33"})
    assert isinstance(turn, Turn)
    assert turn.at == datetime(2026, 7, 1, 12, 5, 33, tzinfo=UTC)


def test_tool_calls_of_both_kinds_are_read() -> None:
    """Our own and OpenAI's form of a tool call are the same call, and attachments keep their reference."""
    ours = {"id": "c1", "name": "sum", "arguments": {"a": 1}}
    openai = {"id": "c1", "function": {"name": "sum", "arguments": '{"a":1}'}}
    first, second = _told(
        {"role": "assistant", "content": "", "calls": [ours, 7]},
        {"role": "assistant", "content": "", "tool_calls": [openai], "attachments": [{"ref": "a.png"}, {}]},
    )
    assert isinstance(first, Turn)
    assert isinstance(second, Turn)
    assert first.calls == second.calls
    assert [one.ref for one in second.attachments] == ["a.png"]


@given(
    value=st.recursive(
        st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(("role", "content", "timestamp", "calls", "id", "text", "attachments"))
                | st.text(max_size=3),
                inner,
                max_size=5,
            )
        ),
        max_leaves=12,
    )
)
def test_any_json_is_a_turn_or_a_reason(value: object) -> None:
    """Whatever JSON a line holds, it gives a turn or a reason why it is none."""
    (found,) = list(turns.read([json.dumps(value).encode()], DEFAULTS))
    assert isinstance(found, Turn) or found.reason


def test_a_file_that_is_not_there_is_told(desk: Desk) -> None:
    """A path that leads to nothing is an error that names it."""
    with pytest.raises(NotFound, match="nowhere"):
        desk.memory.import_(desk.home / "nowhere.jsonl")


# OpenAI messages

MESSAGES = [
    {"role": "system", "content": "You are kind."},
    {"role": "user", "content": [{"type": "text", "text": "I like tea."}, {"type": "image_url"}]},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "function": {"name": "brew", "arguments": "{}"}}],
    },
    {"role": "tool", "content": "done", "tool_call_id": "c1"},
    {"role": "assistant", "content": None},
]


@pytest.mark.parametrize("whole", [MESSAGES, {"messages": MESSAGES, "model": "x"}])
def test_openai_messages_are_read(desk: Desk, whole: object) -> None:
    """A list of messages, or an object that holds one, gives a turn each, and a message without content is told."""
    done = _take(desk, "chat.json", json.dumps(whole, indent=2))
    assert (done.format, done.turns, [one.place for one in done.skipped]) == ("openai-messages", 4, [5])
    stored = _stored(desk, "chat")
    assert [one.role for one in stored] == ["system", "user", "assistant", "tool"]
    assert stored[1].content == "I like tea."
    assert (stored[2].calls[0].name, stored[3].call) == ("brew", "c1")
    assert _take(desk, "chat.json", json.dumps(whole)).turns == 0


# Claude Code

EVENTS = (
    {"type": "summary", "summary": "A talk", "leafUuid": "u9"},
    {
        "type": "user",
        "sessionId": "s1",
        "uuid": "u1",
        "timestamp": "2026-06-01T10:00:00Z",
        "message": {"role": "user", "content": "I like tea."},
    },
    {
        "type": "assistant",
        "sessionId": "s1",
        "uuid": "u2",
        "timestamp": "2026-06-01T10:00:05Z",
        "message": {
            "content": [
                {"type": "thinking", "thinking": "hm"},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "t1", "name": "Read", "input": {"path": "a"}},
            ]
        },
    },
    {
        "type": "user",
        "sessionId": "s1",
        "uuid": "u3",
        "timestamp": "2026-06-01T10:00:06Z",
        "message": {
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "a"}]}
            ]
        },
    },
    {
        "type": "user",
        "isSidechain": True,
        "sessionId": "s1",
        "timestamp": "2026-06-01T10:00:07Z",
        "message": {"content": "aside"},
    },
    {"type": "file-history-snapshot", "snapshot": {}},
    {"type": "user", "sessionId": "s1", "timestamp": "never", "message": {"content": "When?"}},
    {"type": "user", "sessionId": "s1", "timestamp": "2026-06-01T10:00:08Z"},
    {"type": "user", "sessionId": "s1", "timestamp": "2026-06-01T10:00:08Z", "message": {"content": 7}},
)


def test_claude_code_sessions_are_read(desk: Desk) -> None:
    """Of a session's events what was said is a turn, tool results are turns of their own, the rest is passed over."""
    done = _take(desk, "session.jsonl", _lines(*EVENTS) + "{half\n")
    assert (done.format, done.turns) == ("claude-code", 3)
    assert [one.place for one in done.skipped] == [7, 8, 10]
    said = _stored(desk, "s1")
    assert [(one.role, one.content, one.id) for one in said] == [
        ("user", "I like tea.", "u1"),
        ("assistant", "I look.", "u2"),
        ("tool", "a", "u3:0"),
    ]
    assert (said[1].calls[0].name, said[2].call) == ("Read", "t1")
    assert _take(desk, "session.jsonl", _lines(*EVENTS)).turns == 0
