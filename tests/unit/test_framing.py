"""The frame of JSONL records: what is written, and what is found again after damage."""

from __future__ import annotations

import json
import zlib
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.formats import framing
from reverie.core.records import Entry, Feedback, JournalRecord, Remember
from reverie.errors import InvalidRecord, NewerFormat
from reverie.layout import FORMAT
from reverie.store.counters import DrainCounters, PublishCounters

AT = datetime(2026, 7, 1, 12, 5, 33, tzinfo=UTC)
DRAINED = DrainCounters(events=7)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
RECORD = st.dictionaries(st.sampled_from(["text", "session", "n"]), TEXT)
JUNK = st.one_of(
    st.just(b""),
    st.just(b"null"),
    st.just(b"{}"),
    st.just(b"\0" * 40),
    st.just(b"}{"),
    st.just(b'{"v":1,"text":"cut of'),
    st.just(b'{"v":1,"text":"a","crc":"00000000"}'),
    st.just(b'{"v":1,"text":"an older line without checksum"}'),
    st.binary(max_size=30),
)


def values(data: bytes) -> list[dict[str, Any]]:
    """Return the members of the records found in `data`, without frame."""
    found = [json.loads(line.raw) for line in framing.read(data)[0]]
    return [{key: value for key, value in row.items() if key not in ("v", "crc")} for row in found]


def assert_covers(data: bytes, start: int = 0) -> None:
    """Check that lines and damage cover `data` in order without overlap, each with exactly its own bytes."""
    lines, damage = framing.read(data, start=start)
    at = start
    for piece in sorted([*lines, *damage], key=lambda piece: piece.offset):
        assert piece.offset == at
        assert data[piece.offset - start : piece.offset - start + len(piece.raw)] == piece.raw
        assert data[piece.offset - start + len(piece.raw) : piece.end - start] in (b"", b"\n", b"\r\n")
        at = piece.end
    assert at == start + len(data)


def test_a_frame_is_one_json_object_whose_checksum_covers_the_object_without_it() -> None:
    """The line is compact JSON, `v` first and `crc` last, the CRC-32 being that of the object without `crc`."""
    line = framing.frame({"text": "crème — 咖啡"})
    assert (
        line
        == b'{"v":1,"text":"cr\xc3\xa8me \xe2\x80\x94 \xe5\x92\x96\xe5\x95\xa1","crc":"%s"}\n' % line[-11:-3]
    )
    assert int(line[-11:-3], 16) == zlib.crc32(line.replace(b',"crc":"' + line[-11:-3] + b'"', b"")[:-1])


def test_an_empty_record_has_a_frame() -> None:
    """A record without members is a line too."""
    assert values(framing.frame({})) == [{}]


@given(st.lists(RECORD))
def test_what_is_framed_is_read_again(records: list[dict[str, str]]) -> None:
    """Every record written is read, in order, without damage."""
    data = b"".join(framing.frame(record) for record in records)
    assert values(data) == records
    assert framing.read(data)[1] == []
    assert_covers(data)


@given(st.lists(RECORD, min_size=1), st.data())
def test_damage_anywhere_loses_only_the_records_it_hit(
    records: list[dict[str, str]], draw: st.DataObject
) -> None:
    """Bytes cut, flipped or overwritten with NUL cost the records they belong to, and no other (P-03)."""
    frames = [framing.frame(record) for record in records]
    data = b"".join(frames)
    begin = draw.draw(st.integers(0, len(data) - 1))
    end = draw.draw(st.integers(begin + 1, min(len(data), begin + 200)))
    kind = draw.draw(st.sampled_from(["cut", "flip", "nul", "other"]))
    hit = data[begin:end]
    hurt = {
        "cut": b"",
        "flip": bytes(byte ^ (1 << draw.draw(st.integers(0, 7))) for byte in hit[:1]) + hit[1:],
        "nul": b"\0" * len(hit),
        "other": draw.draw(st.binary(min_size=1, max_size=len(hit))),
    }[kind]
    end = begin + 1 if kind == "flip" else end
    damaged = data[:begin] + (hurt[:1] if kind == "flip" else hurt) + data[end:]
    at, whole = 0, []
    for record, line in zip(records, frames, strict=True):
        if at + len(line) - 1 <= begin or at >= end:  # its newline may be hit, its object is not
            whole.append(record)
        at += len(line)
    found = values(damaged)
    if kind == "other" or hurt == hit:
        assert all(record in found for record in whole)
    elif (
        kind == "cut"
    ):  # from the middle of a record to the same place in its twin: what is left is whole again
        assert all(found.count(record) >= whole.count(record) for record in whole)
        assert len(found) <= len(whole) + 1
        assert all(record in records for record in found)
    else:
        assert found == whole
    assert_covers(damaged)


@given(st.lists(st.tuples(RECORD, JUNK, st.booleans())), JUNK, st.sampled_from([b"", b"\n"]))
def test_junk_between_records_is_reported_and_loses_none(
    rows: list[tuple[dict[str, str], bytes, bool]], tail: bytes, tail_end: bytes
) -> None:
    """Junk lines and junk glued to a record are set aside; each record around them loads (P-03)."""
    data = b""
    for record, junk, on_own_line in rows:
        data += junk.replace(b'"crc"', b'"crx"') + (b"\n" if on_own_line else b"") + framing.frame(record)
    data += tail + tail_end
    assert values(data)[: len(rows)] == [record for record, _, _ in rows]
    assert_covers(data)


@given(st.lists(RECORD), JUNK, RECORD)
def test_a_record_appended_after_damage_is_never_glued(
    records: list[dict[str, str]], tail: bytes, last: dict[str, str]
) -> None:
    """Whatever stands at the end of a file, the record written behind it is read (P-03)."""
    data = b"".join(framing.frame(record) for record in records) + tail
    for between in (b"", b"\n"):
        assert values(data + between + framing.frame(last))[-1] == last


@given(st.lists(RECORD, min_size=2, max_size=5))
def test_glued_records_are_each_recovered(records: list[dict[str, str]]) -> None:
    """Records whose newlines were lost are all found in the one line they became."""
    data = b"".join(framing.frame(record)[:-1] for record in records)
    assert values(data) == records
    assert framing.read(data)[1] == []
    assert_covers(data)


@given(st.binary(max_size=300))
def test_any_bytes_are_read_without_error(data: bytes) -> None:
    """Bytes that are no records at all are damage, every one of them."""
    assert_covers(data)
    assert framing.read(data)[0] == []


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"\n", "empty"),
        (b"  \r\n", "empty"),
        (b"null\n", "null"),
        (b"\0\0\0\0\n", "filled with NUL"),
        (b"<<<<<<< HEAD\n", "left by a merge"),
        (b"||||||| 19bcb05\r\n", "left by a merge"),
        (b"=======\n", "left by a merge"),
        (b">>>>>>> theirs\n", "left by a merge"),
        (b"======\n", "no checksum"),
        (b'{"v":1,"a":1}\n', "no checksum"),
        (b'{"v":1,"a":1,"crc":"deadbeef"}\n', "wrong checksum"),
        (b'{"v":1,"a":1,"crc":"dead', "torn"),
        (b"\0\0\0\0", "torn"),
    ],
)
def test_damage_says_what_it_is(line: bytes, reason: str) -> None:
    """Each kind of damage is named; a tail without newline is torn whatever it holds."""
    good = framing.frame({"a": 1})
    lines, damage = framing.read(good + line)
    assert [found.offset for found in lines] == [0]
    assert [(hurt.offset, hurt.end, hurt.reason) for hurt in damage] == [
        (len(good), len(good + line), reason)
    ]


def test_a_whole_tail_without_newline_is_a_record() -> None:
    """A last line that only lacks its newline is read, and what is read after it does not begin with an empty line."""
    one, two = framing.frame({"a": 1}), framing.frame({"a": 2})
    lines, damage = framing.read(one[:-1])
    assert ([line.end for line in lines], damage) == ([len(one) - 1], [])
    lines, damage = framing.read(b"\n" + two, start=lines[0].end)
    assert ([(line.offset, line.end) for line in lines], damage) == ([(len(one), len(one + two))], [])


def test_offsets_are_places_in_the_file() -> None:
    """A piece read from its place onwards gives the places of the whole file."""
    frames = [framing.frame({"n": n}) for n in range(5)]
    data = b"".join(frames)
    whole, _ = framing.read(data)
    start = whole[2].end
    assert framing.read(data[start:], start=start)[0] == whole[3:]
    assert_covers(data[start:], start)


def test_windows_line_ends_are_read() -> None:
    """A file that an editor gave CRLF line ends loses nothing."""
    data = b"".join(framing.frame({"n": n}) for n in range(3)).replace(b"\n", b"\r\n")
    assert values(data) == [{"n": 0}, {"n": 1}, {"n": 2}]
    assert framing.read(data)[1] == []
    assert_covers(data)


def test_a_record_that_holds_another_framed_object_is_found_whole_even_when_glued() -> None:
    """A stored value with a `v` of its own is no second record."""
    inner = json.loads(framing.frame({"deep": {"v": 2, "crc": "00000000"}}))
    line = framing.frame({"value": {"v": 7, "crc": "12345678"}, "inner": {**inner, "crc": "00000000"}})
    data = b"junk" + line[:-1] + line
    assert [found.raw for found in framing.read(data)[0]] == [line[:-1]] * 2


def test_a_line_made_of_false_ends_takes_no_longer_than_its_length_allows() -> None:
    """Four megabytes of things that look like beginnings and ends are set aside, and the next record is read."""
    false = b'{"v":1,"crc":"00000000"}' * 10 + b',"crc":"00000000"}' * 200
    data = false * 1000 + b"\n" + framing.frame({"a": 1})
    assert values(data) == [{"a": 1}]


def test_a_huge_record_is_read() -> None:
    """A record of four megabytes is one line like any other."""
    record = {"text": "咖啡" * 700_000}
    assert values(framing.frame(record)) == [record]


def test_records_are_decoded_as_what_they_say_they_are() -> None:
    """A tagged record comes back as its own class from the union of its file."""
    entry = Entry(id="0" * 16, text="tea", at=AT, day="2026-07-01", since="2026")
    wrote: list[JournalRecord] = [
        Remember(id="1" * 16, at=AT, entry=entry),
        Feedback(id="2" * 16, at=AT, entry="0" * 16, value="wrong"),
    ]
    lines, _ = framing.read(b"".join(framing.frame(record) for record in wrote))
    assert [framing.decode(line, JournalRecord) for line in lines] == wrote


def test_unknown_members_are_accepted() -> None:
    """A member this version does not know is no reason to refuse a record."""
    line = framing.frame(
        {"id": "2", "type": "feedback", "at": AT, "entry": "0", "value": "more", "mood": [1]}
    )
    assert framing.decode(framing.read(line)[0][0], Feedback).value == "more"


def test_a_newer_record_is_refused_as_newer() -> None:
    """A version above ours is said to be newer, not damaged."""
    line = framing.frame({"id": "2"}, version=2)
    with pytest.raises(NewerFormat, match="format 2"):
        framing.decode(framing.read(line)[0][0], Feedback)


@pytest.mark.parametrize(
    "record",
    [
        {"type": "feedback"},
        {"type": "other"},
        {"type": "feedback", "id": 5, "at": AT, "entry": "", "value": ""},
    ],
)
def test_a_record_of_another_shape_is_refused_with_the_reason(record: dict[str, Any]) -> None:
    """Missing members, wrong types and unknown tags are invalid, and the place is named."""
    line = framing.read(framing.frame(record))[0][0]
    with pytest.raises(InvalidRecord, match="byte 0"):
        framing.decode(line, Feedback)


@pytest.mark.parametrize("record", [{"text": "\ud800"}, {"text": object()}])
def test_what_is_no_json_is_refused_before_it_is_written(record: dict[str, Any]) -> None:
    """Half a surrogate pair or a foreign object makes no line."""
    with pytest.raises(InvalidRecord, match="JSON"):
        framing.frame(record)


@pytest.mark.parametrize(
    "at", ["0001-01-01T00:00:00+23:00", "9999-12-31T23:59:59-23:00", "9999-12-31T23:59:59.5-00:01"]
)
def test_a_time_that_nothing_counts_with_is_refused_where_it_stands(at: str) -> None:
    """A planted instant beyond the years 1 to 9999 in UTC is damage of its line; the same text in words is none."""
    record = {"at": at, "body": {"at": at}}
    lines, damage = framing.read(
        framing.frame(record) + framing.frame({"said": f'"at":"{at}"', "at": "2026-07-01T12:00:00Z"})
    )
    assert not damage
    with pytest.raises(InvalidRecord, match="beyond the years"):
        framing.decode(lines[0], dict)
    assert framing.decode(lines[1], dict)["said"] == f'"at":"{at}"'


def nested(depth: int) -> bytes:
    """Return a record whose member `x` has so many lists in one another, with a checksum that holds."""
    body = b'{"v":1,"x":' + b"[" * depth + b"]" * depth
    return b'%b,"crc":"%08x"}\n' % (body, zlib.crc32(body + b"}"))


@pytest.mark.parametrize("depth", [framing.DEEPEST, 900, 100_000])
def test_a_record_nested_without_end_costs_its_own_line(depth: int) -> None:
    """However deep a record whose checksum holds is nested, it is refused in words, and its neighbours are read."""
    good = framing.frame({"text": "[" * 500})
    lines, damage = framing.read(good + nested(depth) + good)
    assert damage == []
    with pytest.raises(InvalidRecord, match="levels of lists and objects"):
        framing.decode(lines[1], dict[str, Any])
    assert [framing.decode(line, dict[str, Any])["text"] for line in (lines[0], lines[2])] == ["[" * 500] * 2


@pytest.mark.parametrize("depth", [framing.DEEPEST, 100_000])
def test_a_record_nested_without_end_is_not_written(depth: int) -> None:
    """What no reader would take is refused before it is acknowledged."""
    deep: list[Any] = []
    for _ in range(depth):
        deep = [deep]
    with pytest.raises(InvalidRecord, match="too many lists"):
        framing.frame({"x": deep})
    flat = framing.frame({"x": [[]] * 1_000})
    assert framing.decode(framing.read(flat)[0][0], dict[str, Any])["x"] == [[]] * 1_000


def test_the_last_record_is_found_behind_damage() -> None:
    """Of a small file that is replaced whole the last record counts that is of its kind; of none, nothing does."""
    one, other = framing.frame(DRAINED), framing.frame(PublishCounters())
    assert framing.last(one + b'{"v":1,"torn', DrainCounters) == DRAINED
    assert framing.last(one + other, DrainCounters) == DRAINED
    assert framing.last(framing.frame(DrainCounters()) + one, DrainCounters) == DRAINED
    for nothing in (None, b"", other, one[:-5]):
        assert framing.last(nothing, DrainCounters) is None


def test_the_only_record_stands_alone() -> None:
    """A file that says what is to be finished says it in one whole record, or says nothing."""
    one = framing.frame(DRAINED)
    assert framing.only(one, DrainCounters) == DRAINED
    for nothing in (None, b"", one + one, one + b"junk", framing.frame(PublishCounters())):
        assert framing.only(nothing, DrainCounters) is None


def test_a_newer_version_is_told_and_not_passed_over() -> None:
    """A record of a newer version is no damage: whoever took it for none would overwrite what it says."""
    newer = framing.frame(DRAINED, version=FORMAT + 1)
    for look in (framing.last, framing.only):
        with pytest.raises(NewerFormat):
            look(newer, DrainCounters)
