"""Foreign files whose every value may be anything: each costs itself, in every format, and the rest comes in once."""

from __future__ import annotations

import json
import struct
import zipfile
from typing import TYPE_CHECKING, Any

import pytest
from desk import Desk
from foreign import chat, event, item, rollout

from reverie.errors import UsageError
from reverie.importing import Wish

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from reverie.importers.taken import Imported

# What JSON may say for any value, written as it stands in the file.
RAW = {
    "nan": "NaN",
    "infinity": "-Infinity",
    "beyond floats": "1e999",
    "huge integer": "1" + "0" * 5_000,
    "huge negative": "-" + "9" * 400,
    "float": "0.1",
    "negative": "-62135596801",
    "year 99999": '"99999-01-01T00:00:00Z"',
    "year 0": '"0000-01-01T00:00:00Z"',
    "first year": '"0001-01-01T00:00:00+14:00"',
    "last year": '"9999-12-31T23:59:59-14:00"',
    "local last year": '"9999-12-31T23:59:59"',
    "far seconds": "253402300800",
    "seconds past all": "9e18",
    "half a surrogate": '"a\\ud800b"',
    "nul": '"a\\u0000b"',
    "path": '"../../../etc/passwd"',
    "absolute path": '"/etc/passwd"',
    "device": '"CON"',
    "terminal": '"\\u001b[31mred\\r\\n"',
    "long": '"' + "x" * 40_000 + '"',
    "null": "null",
    "true": "true",
    "empty": '""',
    "list": "[[[]]]",
    "object": '{"a": {"b": null}}',
    "numbers in a list": "[1, null, {}]",
    "twice": '{"id": 1, "id": 2}',
    "depth 101": "[" * 101 + "]" * 101,
    "depth 1,000": "[" * 1_000 + "]" * 1_000,
    "no json": "undefined",
}
MARK = "@@here@@"


def _sample(name: str) -> dict[str, Any]:
    said = [{"speaker": "Ines", "dia_id": "D1:1", "text": f"Tea {name}.", "blip_caption": "a cup"}]
    talk = {"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": said}
    return {"sample_id": name, "conversation": talk, "qa": [{"question": "Tea?", "evidence": ["D1:1"]}]}


def _claude(name: str) -> dict[str, Any]:
    said = {
        "uuid": f"m-{name}",
        "sender": "human",
        "text": f"Tea {name}.",
        "created_at": "2026-01-01T00:00:00Z",
        "content": [{"type": "text", "text": f"Tea {name}."}],
        "attachments": [{"file_name": "a.txt", "file_type": "txt", "extracted_content": "Tea."}],
    }
    return {"uuid": name, "name": "T", "created_at": "2026-01-01T00:00:00Z", "chat_messages": [said]}


def _message(name: str) -> dict[str, Any]:
    call = {"id": "k1", "function": {"name": "f", "arguments": "{}"}}
    said = {"role": "user", "content": [{"type": "text", "text": f"Tea {name}."}], "id": name}
    return {
        "id": f"s-{name}",
        "messages": [{**said, "timestamp": "2026-01-01T00:00:00Z", "tool_calls": [call]}],
    }


def _turn(name: str) -> dict[str, Any]:
    found = {"role": "user", "content": f"Tea {name}.", "timestamp": "2026-01-01T00:00:00Z", "session": "s"}
    return {**found, "id": name, "name": "Ines", "user": "u", "attachments": [{"ref": "a", "name": "b"}]}


def _memory(name: str) -> dict[str, Any]:
    found = {"id": name, "memory": f"Likes tea {name}", "created_at": "2026-01-01T00:00:00Z"}
    return {**found, "updated_at": "2026-01-02T00:00:00Z", "categories": ["food"]}


def _observed(name: str) -> dict[str, Any]:
    return {"type": "entity", "name": name, "entityType": "person", "observations": [f"Likes tea {name}"]}


ARRAYS = {
    "chatgpt": chat,
    "claude-ai": _claude,
    "locomo": _sample,
    "mem0": _memory,
    "openai-messages": _message,
}
LINES = {
    "claude-code": lambda name: {**event(1, "user", f"Tea {name}."), "uuid": name, "sessionId": f"c-{name}"},
    "codex": lambda name: item(1, "user", f"Tea {name}."),
    "codex calls": lambda name: rollout(
        "response_item", 1, type="function_call", name="f", arguments="{}", call_id=name
    ),
    "memory-graph": _observed,
    "relations": lambda name: {"type": "relation", "from": name, "to": "tea", "relationType": "likes"},
    "turns": _turn,
}


def _marked(value: Any) -> Iterator[Any]:
    """Yield the value with each place in it marked, one after the other."""
    yield MARK
    if isinstance(value, dict):
        for key in value:
            yield from ({**value, key: one} for one in _marked(value[key]))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from ([*value[:place], one, *value[place + 1 :]] for one in _marked(inner))


def _harmed(make: Any, raw: str) -> list[str]:
    """Return a sound element, one for each place that holds `raw` instead, and another sound one."""
    bad = [
        json.dumps(one).replace(json.dumps(MARK), raw)
        for number, sound in enumerate([make("bad")])
        for one in _marked(sound)
    ]
    return [json.dumps(make("first")), *bad, json.dumps(make("last"))]


def _write(desk: Desk, name: str, raw: str) -> Path:
    """Write a file of a format in which `raw` stands once in every place."""
    if name in ARRAYS:
        path = desk.home / "talk.json"
        path.write_text(f"[{','.join(_harmed(ARRAYS[name], raw))}]", encoding="utf-8")
    else:
        path = desk.home / "talk.jsonl"
        path.write_text("\n".join(_harmed(LINES[name], raw)), encoding="utf-8")
    return path


def _counts(done: Imported) -> tuple[int, int, int, int]:
    return (done.turns, done.facts, done.repeated, done.unread)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*ARRAYS, *LINES])
@pytest.mark.parametrize("kind", RAW)
def test_any_value_costs_itself(desk: Desk, name: str, kind: str) -> None:
    """Whatever stands for a value, what is sound comes in; a dry run says so before, and again adds nothing."""
    path = _write(desk, name, RAW[kind])
    before, beside = desk.bytes(), set(desk.home.iterdir())
    told = desk.memory.import_(path, wish=Wish(dry_run=True))
    assert desk.bytes() == before
    done = desk.memory.import_(path)
    assert _counts(told) == _counts(done)
    assert done.turns + done.facts >= 2
    assert all(one.reason for one in done.skipped)
    again = desk.memory.import_(path)
    assert (again.turns, again.facts) == (0, 0)
    assert set(desk.home.iterdir()) == beside
    desk.memory.drain()
    desk.memory.recall("tea")


# Archives


def test_sizes_that_an_archive_claims_are_not_believed_either_way(desk: Desk) -> None:
    """A member that claims three gigabytes is read for what it holds, and nothing is made ready for them."""
    path = desk.home / "talk.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", json.dumps([chat()]))
    data = bytearray(path.read_bytes())
    for mark, at in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        struct.pack_into("<I", data, data.index(mark) + at, 3_000_000_000)
    path.write_bytes(bytes(data))
    done = desk.memory.import_(path)
    assert done.turns == 3


def test_an_archive_in_an_archive_is_not_opened(desk: Desk) -> None:
    """An archive within an archive holds no conversations, whatever it is called."""
    inner = desk.home / "inner.zip"
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("conversations.json", json.dumps([chat()]))
    for name in ("inner.zip", "conversations.json"):
        with zipfile.ZipFile(desk.home / "outer.zip", "w") as archive:
            archive.write(inner, name)
        with pytest.raises(UsageError, match=r"no conversations|neither JSON nor"):
            desk.memory.import_(desk.home / "outer.zip")


@pytest.mark.parametrize("part", [0.01, 0.5, 0.9, 0.999])
def test_an_archive_cut_off_is_refused_before_anything_is_stored(desk: Desk, part: float) -> None:
    """Of an archive whose end is missing nothing is read, wherever it was cut."""
    path = desk.home / "talk.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("conversations.json", json.dumps([chat(f"c{n}") for n in range(50)]))
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * part)])
    before = desk.bytes()
    with pytest.raises(UsageError, match="archive"):
        desk.memory.import_(path)
    assert desk.bytes() == before


# Bytes


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32"])
def test_an_encoding_that_is_not_marked_is_refused(desk: Desk, encoding: str) -> None:
    """UTF-16 without its mark, and UTF-32, are no JSON to be read: an error says so, and nothing is stored."""
    path = desk.home / "talk.json"
    path.write_bytes(json.dumps([_turn("a")]).encode(encoding))
    before = desk.bytes()
    with pytest.raises(UsageError, match="neither JSON nor"):
        desk.memory.import_(path)
    assert desk.bytes() == before


@pytest.mark.slow
@pytest.mark.parametrize("name", ["talk.json", "talk.jsonl"])
def test_a_string_of_half_a_gigabyte_costs_itself(desk: Desk, name: str) -> None:
    """A string of 500 MB is set aside by its beginning; what stands around it is stored."""
    path = desk.home / name
    start, between, end = ("[", ",", "]") if name == "talk.json" else ("", "\n", "")
    with path.open("w", encoding="utf-8") as file:
        file.write(f"{start}{json.dumps(_turn('a'))}{between}" + '{"role":"user","content":"')
        for _ in range(500):
            file.write("x" * 1_000_000)
        file.write('"}' + f"{between}{json.dumps(_turn('b'))}{end}")
    done = desk.memory.import_(path)
    path.unlink()
    assert (done.turns, done.unread) == (2, 1)
    assert len(done.skipped[0].raw) <= 100_000
    assert "at most" in done.skipped[0].reason
