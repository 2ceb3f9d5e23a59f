"""What the command `capture` takes in, and what it keeps aside."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import Shell

GOOD = {"role": "user", "content": "I moved to Lisbon.", "timestamp": "2026-07-01T10:00:00Z"}


def line(**told: Any) -> bytes:
    """Return a JSON line."""
    return json.dumps(GOOD | told).encode() + b"\n"


HOSTILE = {
    "no role": b'{"content": "hello"}\n',
    "an unknown role": line(role="oracle"),
    "null content": line(content=None),
    "no content": b'{"role": "user"}\n',
    "5 MB": line(content="x" * 5_000_000),
    "invalid UTF-8": b'{"role": "user", "content": "\xff\xfe"}\n',
    "NUL bytes": line(content="a\0b"),
    "raw NUL bytes": b"\0\0\0\0\n",
    "half a character": b'{"role": "user", "content": "\\ud800"}\n',
    "no object": b'["user", "hello"]\n',
    "a number": b"7\n",
    "no JSON": b"hello\n",
    "torn JSON": b'{"role": "user", "cont\n',
    "a wrong time": line(timestamp="yesterday"),
    "empty content": line(content=""),
    "deep nesting": b"[" * 100_000 + b"\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_a_bad_line_is_kept_aside(shell: Shell, name: str) -> None:
    """A line that is no turn exits 65, is told and listed in `status`, and the lines around it are stored."""
    before, after = line(id="one"), line(id="two", content="I like tea.")
    answer = shell("capture", "s1", "-", "--json", stdin=before + HOSTILE[name] + after)
    assert answer.code == 65
    assert answer.err == ""
    assert answer.value["stored"] == 2
    assert len(answer.value["refused"]) == 1
    assert answer.value["refused"][0]["reason"]
    listed = shell.json("status")["quarantine"]
    assert [one["source"] for one in listed] == ["capture s1"]
    assert len(shell.json("recall", "Lisbon tea", "--kind", "turn")["hits"]) == 2


def test_lines_name_their_sessions(shell: Shell) -> None:
    """`capture -` puts each line into the session it names, and refuses one that names none."""
    answer = shell("capture", "-", "--json", stdin=line(session="s1") + line(session="s2") + line())
    assert answer.code == 65
    assert answer.value["sessions"] == {"s1": 1, "s2": 1}
    assert "session" in answer.value["refused"][0]["reason"]


def test_the_same_lines_again_add_nothing(shell: Shell) -> None:
    """Lines sent again after a doubtful answer are found once, and told to be known already."""
    talk = line() + line(content="I like tea.")
    assert shell.ok("capture", "s1", "-", stdin=talk).out == "2 turns stored in 1 session\n"
    assert shell.ok("capture", "s1", "-", stdin=talk).out == "0 turns stored in 0 sessions, 2 known already\n"
    tally = shell.json("capture", "s1", "-", stdin=talk)
    assert (tally["stored"], tally["repeated"], tally["sessions"]) == (0, 2, {})
    assert len(shell.json("recall", "Lisbon tea", "--kind", "turn")["hits"]) == 2


def test_a_turn_from_arguments_is_answered_with_its_place(shell: Shell) -> None:
    """One turn from arguments is stored and answered with its ordinal and id."""
    first = shell.json("capture", "s1", "user", "I moved to Lisbon.", "--id", "m1", "--name", "Mira")
    second = shell.json("capture", "s1", "assistant", "-", stdin="How is it? 不错".encode())
    assert (first["n"], first["id"], second["n"]) == (0, "m1", 1)
    again = shell.json("capture", "s1", "user", "I moved to Lisbon.", "--id", "m1", "--name", "Mira")
    assert (again["n"], again["repeated"], first["repeated"]) == (0, True, False)
    told = shell.ok("capture", "s1", "user", "I moved to Lisbon.", "--id", "m1").out
    assert told.startswith("known already: turn 0 of s1")
    assert "turn 4 of s1" in shell.ok("capture", "s1", "user", "Sunny.").out


def test_a_refused_turn_from_arguments_exits_65(shell: Shell) -> None:
    """A turn from arguments that cannot be stored exits 65 with one line, and is kept aside."""
    answer = shell("capture", "s1", "user", "x" * 5_000, "--set", "max_turn_bytes=1000")
    assert answer.code == 65
    assert answer.err.count("\n") == 1
    assert len(shell.json("status")["quarantine"]) == 1


def test_secrets_are_told_and_not_stored(shell: Shell) -> None:
    """What was taken out of a turn is told by kind, and stands in no file."""
    secret = "ghp_" + "0123456789abcdefABCDEF0123456789abcd"
    answer = shell.ok("capture", "s1", "user", f"my token is {secret}")
    assert "taken out" in answer.out
    files = [path for path in shell.folder.rglob("*") if path.is_file()]
    assert not [path for path in files if secret.encode() in path.read_bytes()]


def test_a_paused_session_is_off_the_record(shell: Shell) -> None:
    """While a session or everything is paused nothing is stored, and the answer says so."""
    shell.ok("pause", "s1")
    assert "not recorded" in shell.ok("capture", "s1", "user", "secret plan").out
    shell.ok("resume", "s1")
    shell.ok("pause")
    tally = shell.json("capture", "s2", "-", stdin=line())
    assert (tally["stored"], tally["not_recorded"]) == (0, 1)
    assert any("paused" in one for one in shell.json("status")["off"])
    shell.ok("resume")
    assert shell.json("capture", "s1", "user", "back again")["n"] == 0


def test_many_refused_lines_are_counted(shell: Shell) -> None:
    """Of many refused lines the first are told one by one and the rest are counted."""
    answer = shell("capture", "s1", "-", stdin=b"hello\n" * 30)
    assert answer.code == 65
    assert "… and 10 more" in answer.out
