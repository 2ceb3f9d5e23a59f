"""The daily log as people write it: understood, or reported line by line."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.days import Calendar
from reverie.core.formats.daylog import flaw, parse, render
from reverie.core.records import Entry
from reverie.errors import UsageError

DAY = "2026-07-01"
BERLIN = Calendar("Europe/Berlin")
AT = datetime(2026, 7, 1, 12, 5, 33, tzinfo=UTC)
ID = "2b47366a861a87ca"
PIECES = st.sampled_from(
    ["(", ")", "::", " ", "a", "sig", "0.5", "`", "\\", "^0123456789abcdef", "<br>", "&#x41;", "\n", "\r", "\t", ",",
     "(a:: b)", "`a`", "[x] ", "- ", "> ", "茶", "🎉", "\ud800", "\x85", "\u2028", "<", "&"]
)  # fmt: skip


def entry(**values: Any) -> Entry:
    """Return an entry with the given values and plain ones for the rest."""
    return Entry(**{"id": ID, "text": "tea", "at": AT, "day": DAY, **values})


def read(text: str, *, calendar: Calendar = BERLIN) -> list[Entry]:
    """Return the entries of a log's text."""
    return [found.entry for found in parse(text, DAY, calendar=calendar).entries]


def written(*entries: Entry) -> str:
    """Return the text that appends `entries` to a log that exists."""
    return render(entries, BERLIN, first=False, day=DAY)


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("- just words", {"text": "just words"}),
        ("* star", {"text": "star"}),
        ("+ plus  ", {"text": "plus"}),
        ("  - indented", {"text": "indented"}),
        ("-\ttab", {"text": "tab"}),
        ("- [ ] open", {"text": "open"}),
        ("- [x] ticked", {"text": "ticked"}),
        ("- [X] [work] ticked `a`", {"text": "ticked", "category": "work", "tags": ("a",)}),
        ("- [Work] capital", {"text": "capital", "category": "work"}),
        ("- [偏好] 喜欢茶", {"text": "喜欢茶", "category": "偏好"}),
        ("- [link](page) text", {"text": "[link](page) text"}),
        ("- [[page]] text", {"text": "[[page]] text"}),
        ("- [v2.1] text", {"text": "[v2.1] text"}),
        ("- [two words] text", {"text": "[two words] text"}),
        ("- [work] a (sig:: .5)  (who:: Ann)", {"text": "a", "category": "work", "sig": 0.5, "who": "Ann"}),
        ("- a `t` (tags:: b c, d)", {"text": "a `t`", "tags": ("b c", "d")}),
        ("- a (mood:: good)", {"text": "a (mood:: good)"}),
        ("- a (sig:: high)", {"text": "a (sig:: high)"}),
        ("- a (sig:: 7)", {"text": "a (sig:: 7)"}),
        ("- a (sig:: 0.1) (sig:: 0.2)", {"text": "a (sig:: 0.1)", "sig": 0.2}),
        ("- `make`", {"text": "`make`"}),
        ("- run `make --all`", {"text": "run `make --all`"}),
        ("- (sig:: 0.5)", {"text": "(sig:: 0.5)"}),
        ("- a<br>b", {"text": "a\nb"}),
        ("- a\rb", {"text": "a\rb"}),
        ("- a ^short", {"text": "a ^short"}),
        ("- a ^0123456789ABCDEF", {"text": "a ^0123456789ABCDEF"}),
    ],
)
def test_lines_that_people_write_are_entries(line: str, values: dict[str, Any]) -> None:
    """Bullets of every kind, with or without category, box, tags and fields, are read whole (R-46)."""
    (found,) = read(f"## 14:05 — abc\n\n{line}\n")
    plain = entry(id=found.id, at=datetime(2026, 7, 1, 12, 5, tzinfo=UTC), session="abc")
    assert found == msgspec.structs.replace(plain, **values)


def test_fields_of_a_newer_version_are_passed_over_on_our_own_lines() -> None:
    """Behind an id an unknown field, or an unknown value, is no part of the text."""
    (found,) = read(f"- [fact] tea (sig:: 0.5) (mood:: calm) (origin:: dream) ^{ID}\n")
    assert (found.text, found.sig, found.origin) == ("tea", 0.5, "other")


@pytest.mark.parametrize(
    ("heading", "session", "clock"),
    [
        ("## 14:05 — abc12345", "abc12345", (12, 5)),
        ("## 9:05 - abc", "abc", (7, 5)),
        ("## 14:05:33 – abc", "abc", (12, 5)),
        ("## 14:05", "", (12, 5)),
        ("## 14:05 — remember", "", (12, 5)),
        ("## 14:05 — x (session:: full name)", "full name", (12, 5)),
        ("## 14:05 — x (at:: 2026-07-01T01:02:00Z)", "x", (1, 2)),
        ("## 14:05 — x (at:: soon)", "x", (12, 5)),
    ],
)
def test_headings_say_session_and_time(heading: str, session: str, clock: tuple[int, int]) -> None:
    """Lean, hand-written and full headings are all understood."""
    log = parse(f"{heading}\n- tea\n", DAY, calendar=BERLIN)
    found = log.entries[0].entry
    assert (found.session, (found.at.hour, found.at.minute), log.unparsed) == (session, clock, ())


def test_without_a_heading_an_entry_was_said_when_the_day_began() -> None:
    """A bare bullet has no session, and the day's first instant, by the calendar's own beginning of days."""
    (found,) = read("- tea\n", calendar=Calendar("Europe/Berlin", "04:00"))
    assert (found.at, found.session) == (datetime(2026, 7, 1, 2, 0, tzinfo=UTC), "")


def test_hours_before_the_day_begins_are_the_next_morning() -> None:
    """With days that begin at four, a heading of 02:30 is the night after (R-40)."""
    (found,) = read("## 02:30 — abc\n- tea\n", calendar=Calendar("Europe/Berlin", "04:00"))
    assert found.at == datetime(2026, 7, 2, 0, 30, tzinfo=UTC)


def test_another_chapter_is_not_said_in_the_session_before_it() -> None:
    """Below a heading that is none of ours, entries have no session and no hour."""
    log = parse("## 14:05 — abc\n- tea\n## Notes\n- coffee\n### sub\n#tag\n", DAY, calendar=BERLIN)
    assert [found.entry.session for found in log.entries] == ["abc", ""]
    assert log.unparsed == ((3, "## Notes"), (5, "### sub"), (6, "#tag"))


def test_what_is_no_entry_is_reported_and_blank_lines_and_the_title_are_not() -> None:
    """Prose, strange headings, rules and quotes without entry are kept with their line numbers."""
    lines = [
        f"# Daily Log - {DAY}", "", "Prose.", "  ", "---", "- - -", "## 25:00 — abc", "  > nobody said", "1. one",
        "-", "- [work]", "> quote", "# Daily Log - 2026-07-02", "\t",
    ]  # fmt: skip
    log = parse("\n".join(lines) + "\n", DAY, calendar=BERLIN)
    assert [text for _, text in log.unparsed] == [
        "Prose.", "---", "- - -", "## 25:00 — abc", "  > nobody said", "1. one", "-", "> quote",
        "# Daily Log - 2026-07-02",
    ]  # fmt: skip
    assert all(lines[number - 1] == text for number, text in log.unparsed)
    assert [found.entry.text for found in log.entries] == ["[work]"]


def test_an_open_fence_swallows_nothing() -> None:
    """A code fence that a person left open does not hide what is appended behind it."""
    assert read("```\ncode\n" + written(entry())) == [entry()]


def test_evidence_belongs_to_the_line_above_it() -> None:
    """Quoted lines directly below an entry are its evidence, several of them one text."""
    log = parse("- tea\n  > I like\n  > tea\n\n  > lost\n", DAY, calendar=BERLIN)
    assert [found.entry.evidence for found in log.entries] == ["I like\ntea"]
    assert (log.entries[0].offset, log.entries[0].end) == (0, len("- tea\n  > I like\n  > tea\n"))
    assert log.unparsed == ((5, "  > lost"),)


def test_a_line_without_id_gets_one_from_day_text_and_occurrence() -> None:
    """The same words twice are two entries; their ids depend on nothing else in the log."""
    twice = [found.id for found in read("- tea\n- coffee\n- [work] tea `tag`\n")]
    assert len(set(twice)) == 3
    more = [
        found.id
        for found in read(f"# x\n\n## 14:05 — abc\nprose\n- milk\n- tea (sig:: 0.5)\n- tea ^{ID}\n- tea\n")
    ]
    assert (more[1], more[2], more[3]) == (twice[0], ID, twice[2])
    assert parse("- tea\n", "2026-07-02", calendar=BERLIN).entries[0].entry.id != twice[0]


@given(
    st.lists(
        st.sampled_from(["- tea\n", "- coffee\n", "## 14:05 — a\n", "  > said\n", "\n", f"- tea ^{ID}\n"])
    ),
    st.data(),
)
def test_a_log_read_in_pieces_is_the_log_read_at_once(lines: list[str], draw: st.DataObject) -> None:
    """Reading on from any line gives the same entries, ids and places, as if it had been read in one go."""
    text = "".join(lines)
    cut = draw.draw(st.sampled_from([0, *[n + 1 for n, char in enumerate(text) if char == "\n"]]))
    whole = parse(text, DAY, calendar=BERLIN)
    head = parse(text[:cut], DAY, calendar=BERLIN)
    tail = parse(text[cut:], DAY, calendar=BERLIN, context=head.context)
    if not text[cut:].startswith("  > "):  # an entry is appended together with its evidence
        assert head.entries + tail.entries == whole.entries
    assert tail.context == whole.context


@pytest.mark.parametrize(
    "tail", ["- tea", "- coffee", "- tea\n  > I sa", "- [work] x ^2b47", "## 15:0", "prose", "- a\n  >"]
)
def test_a_last_line_without_newline_is_read_and_read_again(tail: str) -> None:
    """The unfinished end of a log counts at once, and counts as what it becomes once it is finished."""
    head = "## 14:05 — abc\n- tea\n\n"
    log = parse(head + tail, DAY, calendar=BERLIN)
    rest = (head + tail).encode()[log.context.offset :].decode()
    again = parse(rest + "id\n- milk\n", DAY, calendar=BERLIN, context=log.context)
    whole = parse(head + tail + "id\n- milk\n", DAY, calendar=BERLIN)
    kept = tuple(found for found in log.entries if found.end <= log.context.offset)
    assert kept + again.entries == whole.entries
    assert again.context == whole.context
    if tail == "- tea":
        assert [found.entry.text for found in log.entries] == ["tea", "tea"]


def test_bytes_that_are_no_text_are_read_as_replacement_and_counted_as_bytes() -> None:
    """A damaged byte neither hides the entry nor moves the places of those behind it."""
    data = b"- t\xffea \xe8\x8c\n" + written(entry()).encode()
    log = parse(data.decode("utf-8", "surrogateescape"), DAY, calendar=BERLIN)
    assert log.entries[0].entry.text == "t\ufffdea \ufffd\ufffd"
    place = log.entries[1]
    assert data[place.offset : place.end].decode() == written(entry()).split("\n\n")[1]


@given(st.text(st.characters(), max_size=200) | st.lists(PIECES | st.just("\n- "), max_size=30).map("".join))
def test_any_text_is_a_log(text: str) -> None:
    """No text is refused: each line that is not blank, title or heading is an entry, its evidence, or reported."""
    log = parse(text, DAY, calendar=BERLIN)
    entries = [found.entry for found in log.entries]
    assert not any(map(flaw, entries))
    assert read(written(*entries)) == entries
    places = [found.line for found in log.entries] + [number for number, _ in log.unparsed]
    assert len(set(places)) == len(places)


def test_a_line_of_many_parentheses_takes_no_longer_than_others() -> None:
    """Megabytes of half fields are read in a moment."""
    line = "- " + "(a:: (b " * 100_000 + ")" * 100_000 + " (who:: (a)) (x:: (b))" * 20_000
    assert [found.who for found in read(line + f" ^{ID}\n")] == ["(a)"]


def test_a_log_of_no_day_is_refused() -> None:
    """A name that is no date is a usage error."""
    with pytest.raises(UsageError):
        parse("", "today", calendar=BERLIN)
