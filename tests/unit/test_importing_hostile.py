"""Foreign files that are damaged, huge or made to harm: a clear error or a counted skip, and nothing lost beside it."""

from __future__ import annotations

import json
import random
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from desk import Desk
from hypothesis import given, settings
from hypothesis import strategies as st

from reverie import layout
from reverie.errors import StoreUnwritable, UsageError
from reverie.importers import head, pieces, source
from reverie.store import quarantine, sessions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reverie.importers.taken import Imported

GOOD = {"id": "g", "role": "user", "content": "I like tea."}
MORE = {"id": "m", "role": "user", "content": "I like milk."}


def _take(desk: Desk, name: str, data: bytes) -> Imported:
    path = desk.home / name
    path.write_bytes(data)
    return desk.memory.import_(path)


def _words(desk: Desk, session: str = "talk") -> list[str]:
    return [turn.content for turn in sessions.read(desk.memory.opened.ws, session)]


def _chunks(data: bytes, size: int) -> Iterator[bytes]:
    return (data[start : start + size] for start in range(0, len(data), size))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.sampled_from('a",[]{}\\\n é'), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=15,
)


@given(values=st.lists(VALUES, max_size=6), size=st.integers(1, 40), indent=st.sampled_from([None, 1]))
def test_an_array_in_any_chunks_gives_its_elements(
    values: list[object], size: int, indent: int | None
) -> None:
    """However an array is cut into chunks, its elements come out whole and in order."""
    data = json.dumps(values, indent=indent).encode()
    found = list(pieces.elements(_chunks(data, size)))
    assert [pieces.decoded(piece) for piece in found] == values
    assert [piece.place for piece in found] == list(range(1, len(values) + 1))


@given(data=st.binary(max_size=200) | st.text('[]{}",\\a').map(str.encode), size=st.integers(1, 30))
@settings(max_examples=200)
def test_any_bytes_are_pieces(data: bytes, size: int) -> None:
    """Whatever the bytes, scanning them ends, and no chunking changes what is found."""
    assert list(pieces.elements(_chunks(data, size))) == list(pieces.elements([data]))
    assert [one.raw for one in pieces.lines(_chunks(data, size))] == [
        line.rstrip(b"\r") for line in data.split(b"\n") if line.strip()
    ]


def _array(*raw: bytes) -> bytes:
    return b"[" + b",\n".join((json.dumps(GOOD).encode(), *raw, json.dumps(MORE).encode())) + b"]"


DEEP = b'{"role":"user","content":' + b"[" * 150 + b"]" * 150 + b"}"
ELEMENTS = {
    "deep": (DEEP, "deep"),
    "very deep": (b"[" * 300_000 + b"]" * 300_000, "deep"),
    "no json": (b'{"role": user}', "JSON"),
    "wrong brackets": (b'{"role":"user"]', "JSON"),
    "a number": (b"7", "int"),
    "bad utf-8": (b'{"role":"user","content":"\xff"}', "JSON"),
    "half a surrogate": (b'{"role":"user","content":"\\ud800"}', "JSON"),
    "nul": (b'{"role":"user","content":"a\\u0000"}', "NUL"),
    "raw nul": (b'{"role":"user","content":"\0"}', "JSON"),
    "huge": (b'{"role":"user","content":"' + b"x" * (25 << 20) + b'"}', "at most"),
    "too long a turn": (b'{"role":"user","content":"' + b"x" * (9 << 20) + b'"}', "at most"),
}


@pytest.mark.parametrize("case", ELEMENTS)
def test_a_bad_element_costs_itself(desk: Desk, case: str) -> None:
    """An element that cannot be read is set aside with its number and a reason; those around it are stored."""
    raw, reason = ELEMENTS[case]
    done = _take(desk, "talk.json", _array(raw))
    assert _words(desk) == ["I like tea.", "I like milk."]
    (skipped,) = done.skipped
    assert skipped.place == 2
    assert reason in skipped.reason
    assert len(quarantine.listed(desk.memory.opened.ws)) == 1


@pytest.mark.parametrize("raw", [DEEP, b"x" * (25 << 20), b"\0" * 100], ids=["deep", "huge", "nul"])
def test_a_bad_line_costs_itself(desk: Desk, raw: bytes) -> None:
    """A line too deep, too long or of NULs is set aside; the lines around it are stored."""
    done = _take(
        desk, "talk.jsonl", b"\r\n".join((json.dumps(GOOD).encode(), raw, json.dumps(MORE).encode()))
    )
    assert (_words(desk), [one.place for one in done.skipped]) == (["I like tea.", "I like milk."], [2])


def test_a_file_that_was_cut_off_gives_what_is_whole(desk: Desk) -> None:
    """Elements before the cut are stored, the cut is told, and the whole file later adds the rest alone."""
    data = _array(b'{"id":"c","role":"user","content":"I like rum."}')
    done = _take(desk, "talk.json", data[: data.index(b"rum")])
    assert (done.turns, "ends here" in done.skipped[0].reason) == (1, True)
    again = _take(desk, "talk.json", data)
    assert (again.turns, again.repeated, len(_words(desk))) == (2, 1, 3)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16-le", "utf-16-be"])
def test_marked_encodings_are_read(desk: Desk, encoding: str) -> None:
    """A file with a byte order mark, UTF-16 too, gives the same turns."""
    mark = "" if encoding == "utf-8-sig" else "\ufeff"
    text = json.dumps([{"role": "user", "content": "Grüße 東京"}], ensure_ascii=False)
    _take(desk, "talk.json", (mark + text).encode(encoding))
    assert _words(desk) == ["Grüße 東京"]


@pytest.mark.parametrize(
    "data", [b"\x89PNG\r\n\x1a\n\0\0", b"Dear diary,\nhello.\n", b"[[[[", b'{"half', b"PK\x03\x04broken"]
)
def test_what_is_no_history_is_refused(desk: Desk, data: bytes) -> None:
    """A file of no known format is an error with a sentence, and nothing is written."""
    before = desk.bytes()
    with pytest.raises(UsageError, match=r"cut off|cannot be read"):
        _take(desk, "talk.json", data)
    assert desk.bytes() == before


WRAPPED = {
    "mem0": ("results", {"id": "{n}", "memory": "Likes tea number {n}"}),
    "messages": ("messages", {"role": "user", "content": "I like tea number {n}."}),
    "conversations": ("conversations", {"id": "c{n}", "messages": [{"role": "user", "content": "Tea {n}."}]}),
}


def _wrapped(name: str, number: int) -> bytes:
    key, one = WRAPPED[name]
    found = [json.loads(json.dumps(one).replace("{n}", str(n))) for n in range(number)]
    before = {"page": {"of": [1, "],[{"]}, "note": 'a "' + key + '": [', "none": None}
    return json.dumps(
        {**before, key: found, "relations": [{"source": "tea"}], "total": number}, indent=1
    ).encode()


@pytest.mark.parametrize("name", WRAPPED)
def test_an_object_too_large_to_be_read_at_once_is_read_as_its_list(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """A list inside an object gives the same however large the file, whatever stands before and behind it."""
    data = _wrapped(name, 300)
    small = _take(desk, "small.json", data)
    monkeypatch.setattr(head, "MAX_PIECE", 2_000)
    monkeypatch.setattr(source, "_CHUNK", 700)
    large = _take(desk, "small.json", data)
    assert (small.unread, large.unread, large.format) == (0, 0, small.format)
    assert small.turns + small.facts == large.repeated == 300


def test_lines_are_told_by_the_first_of_them(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a file of lines no more is held than its first line, and each line is a conversation of its own."""
    lines = [{"messages": [{"role": "user", "content": f"Line {n}."}]} for n in range(300)]
    data = "\n".join(map(json.dumps, lines)).encode()
    held: list[int] = []
    real = head.Head.seen

    def seen(one: head.Head) -> bytes:
        held.append(len(real(one)))
        return real(one)

    monkeypatch.setattr(head.Head, "seen", seen)
    monkeypatch.setattr(source, "_CHUNK", 700)
    done = _take(desk, "talk.jsonl", data)
    assert (done.turns, len(done.sessions), done.unread) == (300, 300, 0)
    assert max(held) <= 700


def test_a_file_of_blanks_holds_nothing(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blanks without end are passed over, and no more of them is held than a piece."""
    monkeypatch.setattr(head, "MAX_PIECE", 2_000)
    monkeypatch.setattr(source, "_CHUNK", 700)
    done = _take(desk, "blank.json", b" \n" * 50_000)
    assert (done.turns, done.unread) == (0, 0)


def test_ids_that_come_again_lose_no_words(desk: Desk) -> None:
    """Two turns with one id and other words are both stored; the same words under the same id are one."""
    _take(desk, "talk.json", json.dumps([GOOD, {**GOOD, "content": "I like rum."}, GOOD]).encode())
    assert _words(desk) == ["I like tea.", "I like rum."]


def _zip(path: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name.replace("_json", ".json"), data)
    return path


@pytest.mark.slow
def test_a_bomb_is_refused_in_its_tracks(desk: Desk) -> None:
    """An archive that unpacks to more than two hundred times its size is refused before it is read to the end."""
    path = _zip(desk.home / "bomb.zip", conversations_json=b"[" + b" " * (400 << 20) + b"]")
    with pytest.raises(UsageError, match="200 times"):
        desk.memory.import_(path)


def test_too_many_members_are_refused(desk: Desk) -> None:
    """An archive of more than ten thousand members is refused by its directory."""
    path = desk.home / "many.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(10_001):
            archive.writestr(f"{number}.json", b"")
    with pytest.raises(UsageError, match="10,000 members"):
        desk.memory.import_(path)


def test_an_archive_without_conversations_is_refused(desk: Desk) -> None:
    """An archive that holds nothing to read says what is wanted."""
    with pytest.raises(UsageError, match="conversations"):
        desk.memory.import_(_zip(desk.home / "x.zip", photo=b"x"))


@pytest.mark.slow
def test_the_size_an_archive_claims_is_not_believed(desk: Desk) -> None:
    """Bytes are counted as they are unpacked, of all members together, whatever the directory says of their sizes."""
    path = desk.home / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(40):
            archive.writestr(f"conversations-{number}.json", b"[" + b" " * (10 << 20) + b"]")
    data = path.read_bytes().replace((10 * (1 << 20) + 2).to_bytes(4, "little"), (9).to_bytes(4, "little"))
    path.write_bytes(data)
    before = {one for one in desk.home.rglob("*") if one.is_file()}
    with pytest.raises(UsageError, match=r"200 times|cannot be"):
        desk.memory.import_(path)
    assert not {one for one in desk.home.rglob("*") if one.stat().st_size > 1 << 20} - before


@pytest.mark.parametrize(
    "name",
    [
        "../../../escaped/conversations.json",
        "/etc/conversations.json",
        "C:\\Windows\\conversations.json",
        "..\\..\\conversations.json",
        "a/./b/../../conversations.json",
        "../.state/conversations.json",
        "x/\x1b[31mred\n.jsonl",
        "..jsonl",
    ],
)
def test_a_members_name_is_no_path(desk: Desk, name: str) -> None:
    """Whatever a member is called, its turns go to a session file inside the workspace, and no other file is made."""
    path = desk.home / "talk.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(name, json.dumps([{"role": "user", "content": "I like tea."}]))
    before = {one for one in desk.home.rglob("*") if one.is_file()}
    done = desk.memory.import_(path)
    assert (done.turns, len(done.sessions)) == (1, 1)
    made = {one for one in desk.home.rglob("*") if one.is_file()} - before
    kept = {desk.root / ".state", desk.root / ".index"}
    talks = [one for one in made if not any(folder in one.parents for folder in kept)]
    assert [one.parent for one in talks] == [desk.root / layout.SESSIONS]
    assert not any("\x1b" in one.name or "\n" in one.name for one in made)


def test_a_link_in_an_archive_is_not_followed(desk: Desk) -> None:
    """A symbolic link in an archive is read as the few bytes it holds, never followed."""
    secret = desk.home / "secret.json"
    secret.write_text(json.dumps([{"role": "user", "content": "A secret."}]))
    path = desk.home / "link.zip"
    with zipfile.ZipFile(path, "w") as archive:
        link = zipfile.ZipInfo("conversations.json")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, str(secret))
    with pytest.raises(UsageError, match="nothing was imported"):
        desk.memory.import_(path)
    assert desk.found("secret") == []


@pytest.mark.parametrize("depth", [99, 100, 101])
def test_a_hundred_levels_are_read_and_no_more(desk: Desk, depth: int) -> None:
    """A message nested a hundred deep is read, one deeper is set aside, in a list and in lines alike."""
    raw = json.dumps({"role": "user", "content": "Deep.", "x": 0}).encode()
    deep = raw.replace(b"0}", b"[" * (depth - 1) + b"]" * (depth - 1) + b"}")
    for name, data in (("a.json", _array(deep)), ("b.jsonl", b"\n".join((json.dumps(GOOD).encode(), deep)))):
        done = _take(desk, name, data)
        assert done.unread == (depth > pieces.MAX_DEPTH), name


def test_ten_thousand_members_are_read(desk: Desk) -> None:
    """An archive of exactly ten thousand members is no attack: the conversations in it are found."""
    path = desk.home / "most.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(9_999):
            archive.writestr(f"{number}.png", b"")
        archive.writestr("conversations.json", json.dumps([GOOD]))
    assert desk.memory.import_(path).turns == 1


def test_a_damaged_member_costs_what_is_behind_it(desk: Desk) -> None:
    """What was unpacked before the damage is stored, the damage is told, and nothing is raised."""
    words = [
        {"id": f"i{n}", "role": "user", "content": random.Random(n).randbytes(600).hex()}
        for n in range(2_000)
    ]
    path = _zip(desk.home / "talk.zip", conversations_json=json.dumps(words).encode())
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(bytes(data))
    done = desk.memory.import_(path)
    assert done.turns > 500
    assert done.unread >= 1
    assert len(_words(desk, "conversations")) == done.turns


def test_an_import_that_was_interrupted_goes_on(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was stored before a full disk stays, and importing again adds the rest, each turn once."""
    data = "".join(json.dumps({"role": "user", "content": f"Line {n}"}) + "\n" for n in range(1_200)).encode()
    real, calls = sessions.append_each, []

    def full(*given: object) -> dict[str, int]:
        calls.append(given)
        if len(calls) > 1:
            raise StoreUnwritable("the disk is full")
        return real(*given)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(sessions, "append_each", full)
        with pytest.raises(StoreUnwritable):
            _take(desk, "talk.jsonl", data)
    done = _take(desk, "talk.jsonl", data)
    assert (done.turns, done.repeated) == (700, 500)
    assert _words(desk) == [f"Line {n}" for n in range(1_200)]
