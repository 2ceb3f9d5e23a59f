"""The daily log: what is written reads back exactly."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.days import Calendar
from reverie.core.formats.daylog import Context, DayLog, flaw, parse, render
from reverie.core.records import Entry
from reverie.core.text.names import valid_category
from reverie.errors import InvalidRecord

DAY = "2026-07-01"
BERLIN = Calendar("Europe/Berlin")
AT = datetime(2026, 7, 1, 12, 5, 33, tzinfo=UTC)
ID = "2b47366a861a87ca"

LEAN = """# Daily Log - 2026-07-01

## 14:05 — abc12345

- [preference] User prefers compact dashboards `ui product`
- [work] User now works at Microsoft `career`
"""
FULL = """## 14:05 — abc12345 (session:: abc12345-77d0) (at:: 2026-07-01T12:05:33Z)

- [work] User now works at Microsoft `career` (sig:: 0.82) (turns:: 12-13) (origin:: user) ^2b47366a861a87ca
  > I started at Microsoft on Monday
"""

# Text that looks like each part of the grammar.
LOOKALIKES = [
    "(a:: b)", "x (a:: b)", "x (sig:: 0.5)", "x (sig:: 0.5) (tags:: a)", "x (a:: b (c) d)", "x (a:: b (c:: d)",
    "x (a:: b))", "x (a:: b\\)", "x (a:: b\\\\)", "x (a:: b\\\\\\)", "x \\(a:: b)", "x (a:: )", "x (a::)",
    "(std::vector)", "f(a:: b)", ") (a:: b)", "x ((a:: b)", "x (a:: <br>)", "x (a:: b) ^0123456789abcdef",
    "a (b:: c) `d`",
    "`code`", "run `make test`", "x `a` `b`", "x `a`", "x \\`a`", "x \\\\`a`", "it`s", "a ` b", "``", "x `", "x ` a`",
    "x ``a``", "x `a  b`", "x `--flag`", "x `a`)", "x (`a`)", "x (a:: `b`)", "x `(a:: b)`",
    "^0123456789abcdef", "x ^0123456789abcdef", "x ^0123456789abcdef ^0123456789abcdef",
    "[x] done", "[ ] todo", "[fact] nested", "[[page]] linked", "- bullet", "* bullet", "1. one", "> quoted",
    "# title", "## 14:05 — abc", "---", "***", "```", "| a | b |", "<!-- c -->", "<b>", "  > I said",
    "<br>", "\\<br>", "\\\\<br>", "a\nb", "a\\\nb", "a\\\\\nb", "\n", "\n\n", "\r", "a\r\nb", "a\rb", "<br>\n<br>",
    "&#x41;", "\\&#x41;", "&#xZZ;", "&#x;", "&amp;", "&#xFFFFFF;", "&#x&#x41;", "&#x4\n", "\\", "\\\\", "x\\", "x \\",
    " ", "  ", " x", "x ", "  x  ", "\tx\t", "\t", "\u3000x\u3000", "\u00a0", "\u2028", "\u2029", "\x85", "\x00",
    "\x7f", "\ud800", "\udc80", "a\udfffb", "\ufeff", "\ufffe", "\u202eabc", "\u200d", "👩‍👩‍👧‍👦 family",
    "شاي بالنعناع (أ:: ب)", "咖啡 `茶`", "日本語 (a:: 茶)", "ที่นี่", "x, y", "a,b\\,c", "é", "e\u0301", "y" * 10_000,
    "字" * 10_000,
    "( " * 5_000 + ")",
]  # fmt: skip

PIECES = st.sampled_from(
    ["(", ")", "::", " ", "a", "sig", "0.5", "`", "\\", "^0123456789abcdef", "<br>", "&#x41;", "\n", "\r", "\t", ",",
     "(a:: b)", "`a`", "[x] ", "- ", "> ", "茶", "🎉", "\ud800", "\x85", "\u2028", "<", "&"]
)  # fmt: skip
TEXT = st.one_of(
    st.text(st.characters(), min_size=1, max_size=40),
    st.lists(PIECES, min_size=1, max_size=12).map("".join),
    st.sampled_from(LOOKALIKES),
)
SCORE = st.none() | st.floats(0, 1)
WORDS = st.just("") | TEXT
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "id": st.text("0123456789abcdef", min_size=16, max_size=16),
    "text": TEXT,
    "at": st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
    | st.integers(0, 500).map(lambda seconds: AT + timedelta(seconds=seconds)),
    "day": st.just(DAY),
    "category": st.text(max_size=12).map(valid_category) | st.sampled_from(["fact", "work"]),
    "tags": st.lists(TEXT | st.sampled_from(["ui", "product"]), max_size=3).map(tuple),
    "sig": SCORE,
    "conf": SCORE,
    "who": WORDS,
    "about": WORDS,
    "since": st.sampled_from(["", "2026", "2026-07-03"]),
    "until": st.sampled_from(["", "2026-07"]),
    "due": st.sampled_from(["", "2026-07-03T10:00:00+02:00"]),
    "scope": st.sampled_from(["private", "team"]),
    "origin": st.sampled_from(["user", "agent", "tool", "file", "web", "import", "other"]),
    "status": st.sampled_from(["active", "discussed"]),
    "stare": st.none() | st.tuples(SCORE, SCORE, SCORE, SCORE, SCORE),
    "supersedes": st.lists(st.text("0123456789abcdef", min_size=16, max_size=16), max_size=2).map(tuple),
    "session": st.sampled_from(["", "remember", "abc12345-77d0"]) | TEXT,
    "turns": st.sampled_from(["", "12", "12-13"]),
    "evidence": WORDS,
}
ENTRY = st.fixed_dictionaries(
    {name: FIELDS[name] for name in ("id", "text", "at", "day")},
    optional={name: found for name, found in FIELDS.items() if name not in ("id", "text", "at", "day")},
).map(lambda values: Entry(**values))


def entry(**values: Any) -> Entry:
    """Return an entry with the given values and plain ones for the rest."""
    return Entry(**{"id": ID, "text": "tea", "at": AT, "day": DAY, **values})


def read(text: str, *, calendar: Calendar = BERLIN) -> list[Entry]:
    """Return the entries of a log's text."""
    return [found.entry for found in parse(text, DAY, calendar=calendar).entries]


def written(*entries: Entry) -> str:
    """Return the text that appends `entries` to a log that exists."""
    return render(entries, BERLIN, first=False, day=DAY)


def assert_whole(log: DayLog, text: str) -> None:
    """Check that `log` has no line left over, and that every entry's bytes are where it says."""
    data = text.encode("utf-8", "surrogatepass")
    assert log.unparsed == ()
    assert (log.context.offset, log.context.line) == (len(data), text.count("\n"))
    for found in log.entries:
        assert data[found.offset : found.offset + 3] == b"- ["
        assert data[: found.offset].count(b"\n") == found.line - 1
        assert data[found.end - 1 : found.end] == b"\n"
        assert data[found.offset : found.end].count(b"\n") == 1 + bool(found.entry.evidence)


def test_the_lean_example_is_a_whole_log() -> None:
    """The format people know needs nothing else: category, text, tags, and the heading's session and local time."""
    log = parse(LEAN, DAY, calendar=BERLIN)
    assert log.unparsed == ()
    first, second = (found.entry for found in log.entries)
    assert (first.category, first.text, first.tags) == (
        "preference",
        "User prefers compact dashboards",
        ("ui", "product"),
    )
    assert (second.category, second.text, second.tags) == ("work", "User now works at Microsoft", ("career",))
    assert first.at == second.at == datetime(2026, 7, 1, 12, 5, tzinfo=UTC)
    assert first.session == second.session == "abc12345"
    assert first.day == second.day == DAY
    assert len({first.id, second.id}) == 2


def test_the_full_example_reads_and_renders_byte_for_byte() -> None:
    """What the format's description shows is what is read and what is written."""
    (found,) = read(FULL)
    assert found == Entry(
        id=ID, text="User now works at Microsoft", at=AT, day=DAY, category="work", tags=("career",), sig=0.82,
        session="abc12345-77d0", turns="12-13", origin="user", evidence="I started at Microsoft on Monday",
    )  # fmt: skip
    assert written(found) == "\n" + FULL
    assert render([found], BERLIN, first=True, day=DAY) == f"# Daily Log - {DAY}\n\n" + FULL


def test_an_explicit_write_stands_under_remember() -> None:
    """An entry without session is told from one whose session is called `remember`."""
    assert written(entry()).startswith("\n## 14:05 — remember (at:: 2026-07-01T12:05:33Z)\n\n- [fact] tea ^")
    assert read(written(entry())) == [entry()]
    assert read(written(entry(session="remember"))) == [entry(session="remember")]


def test_every_field_is_written_once_and_in_order() -> None:
    """All fields together stand in one fixed order behind the text, and those equal to the default are left out."""
    full = entry(
        sig=0.5, conf=1.0, turns="1", who="Ann (mum)", about="a) b", since="2026", until="2027", due="2026-07-03",
        scope="team", origin="web", status="discussed", stare=(0.9, None, 0.25, None, 0.0),
        supersedes=("0" * 16, "1" * 16), tags=("two words", "a,b"),
        session="s1", evidence="I said\nso",
    )  # fmt: skip
    fields = (
        r"(sig:: 0.5) (conf:: 1.0) (turns:: 1) (who:: Ann (mum)) (about:: a\) b) (from:: 2026) (until:: 2027) "
        r"(due:: 2026-07-03) (scope:: team) (origin:: web) (status:: discussed) (stare:: 0.9 - 0.25 - 0.0) "
        r"(supersedes:: 0000000000000000, 1111111111111111) (tags:: two words, a\,b)"
    )
    assert written(full).split("\n")[3:] == [f"- [fact] tea {fields} ^{ID}", "  > I said<br>so", ""]
    assert read(written(full)) == [full]


def test_entries_of_one_session_and_minute_share_a_heading() -> None:
    """A later instant of the same minute is a field; another minute, or another session, is another heading."""
    near, far = entry(at=AT + timedelta(microseconds=250_000)), entry(at=AT + timedelta(minutes=1))
    text = written(entry(), near, far, entry(session="s"))
    assert [line[:8] for line in text.split("\n") if line.startswith("##")] == [
        "## 14:05",
        "## 14:06",
        "## 14:05",
    ]
    assert "(at:: 2026-07-01T12:05:33.25Z) ^" in text
    assert read(text) == [entry(), near, far, entry(session="s")]


@pytest.mark.slow
@given(st.lists(ENTRY, max_size=6), st.booleans())
def test_what_is_written_reads_back_exactly(entries: list[Entry], first: object) -> None:
    """Any text, tags, evidence and names of any Unicode survive, in order, with nothing left over."""
    text = render(entries, BERLIN, first=bool(first), day=DAY)
    log = parse(text, DAY, calendar=BERLIN)
    assert [found.entry for found in log.entries] == entries
    assert_whole(log, text)


@given(st.lists(ENTRY, min_size=1, max_size=5))
def test_a_heading_that_was_touched_reads_as_it_was_written(entries: list[Entry]) -> None:
    """A blank behind each heading, or none before the label, changes no session and no time."""
    text = render(entries, BERLIN, first=True, day=DAY)
    touched = "\n".join(
        f"{line} ".replace(" — ", " —", 1) if line.startswith("## ") else line for line in text.split("\n")
    )
    found, same = (parse(one, DAY, calendar=BERLIN) for one in (text, touched))
    assert [item.entry for item in same.entries] == [item.entry for item in found.entries]


@pytest.mark.slow
@given(st.lists(ENTRY, max_size=4), st.lists(ENTRY, max_size=4))
def test_two_appends_read_as_both_and_each_from_its_place(one: list[Entry], two: list[Entry]) -> None:
    """A log grown by two appends holds both, and reading only the second from where the first ended is enough."""
    head, tail = render(one, BERLIN, first=True, day=DAY), written(*two)
    whole, before = parse(head + tail, DAY, calendar=BERLIN), parse(head, DAY, calendar=BERLIN)
    assert [found.entry for found in whole.entries] == one + two
    after = parse(tail, DAY, calendar=BERLIN, context=before.context)
    assert before.entries + after.entries == whole.entries
    assert after.context == whole.context


@pytest.mark.slow
@given(st.lists(ENTRY, max_size=5))
def test_windows_line_ends_change_nothing(entries: list[Entry]) -> None:
    """A log that an editor gave CRLF and a byte order mark reads as the same entries (P-19)."""
    text = render(entries, BERLIN, first=True, day=DAY)
    log = parse("\ufeff" + text.replace("\n", "\r\n"), DAY, calendar=BERLIN)
    assert [found.entry for found in log.entries] == entries
    assert log.unparsed == ()
    assert log.context.offset == 3 + len(text.replace("\n", "\r\n").encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize("text", LOOKALIKES, ids=lambda text: ascii(text)[:40])
def test_text_that_looks_like_grammar_stays_text(text: str) -> None:
    """Each part of the grammar may stand in text, evidence, tags, names and session and comes back as it was."""
    for found in (
        entry(text=text),
        entry(text=text, sig=0.5),
        entry(text=text, tags=("ui",)),
        entry(text=text, tags=("two words",)),
        entry(text=f"a {text}", session=text, evidence=text, tags=(text, text), who=text, about=text),
    ):
        log = parse(written(found), DAY, calendar=BERLIN)
        assert [place.entry for place in log.entries] == [found]
        assert_whole(log, written(found))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("C:\\new (x) \\( `a` b", "C:\\new (x) \\( `a` b"),
        ("call f(a) [x] (see b)", "call f(a) [x] (see b)"),
        ("[x] done ^0123456789abcdef", "[x] done ^0123456789abcdef"),
        ("use std::vector (std::list)", "use std::vector (std::list)"),
        ("run `make test`", "run \\`make test`"),
        ("run `make --all`", "run `make --all`"),
        ("likes (a:: b)", "likes (a:: b\\)"),
        ("one\ntwo\ttabs", "one<br>two&#x9;tabs"),
        ("write <br> and &#x41;", "write \\<br> and \\&#x41;"),
    ],
)
def test_a_backslash_stands_only_where_text_would_read_as_grammar(text: str, line: str) -> None:
    """Ordinary punctuation, paths and code stand as they are."""
    assert written(entry(text=text)).split("\n")[3] == f"- [fact] {line} ^{ID}"


def test_tags_are_a_field_when_backticks_could_not_hold_them() -> None:
    """Behind text that ends in code, or with blanks or backticks in them, tags stand in a field."""
    assert "tea `ui 茶/green` ^" in written(entry(tags=("ui", "茶/green")))
    assert "`make` (tags:: ui) ^" in written(entry(text="run `make`", tags=("ui",)))
    assert "tea (tags:: two words, a`b) ^" in written(entry(tags=("two words", "a`b")))


def test_a_context_can_be_stored() -> None:
    """What a parse leaves for the next is a plain value that JSON holds."""
    context = parse(LEAN + "- tea\n", DAY, calendar=BERLIN).context
    assert msgspec.json.decode(msgspec.json.encode(context), type=Context) == context
    assert context.session == "abc12345"


@pytest.mark.parametrize(
    "values",
    [{"id": "2B47366A861A87CA"}, {"id": ""}, {"text": ""}, {"category": "x"}, {"category": "two words"}, {"sig": 1.5},
     {"conf": float("nan")}, {"stare": (0.1, 0.2)}, {"stare": (2.0, None, None, None, None)}, {"origin": "dream"},
     {"scope": "all"}, {"status": "done"}, {"supersedes": ("tea",)}, {"tags": ("",)}, {"at": AT.replace(tzinfo=None)}],
)  # fmt: skip
def test_what_could_not_be_read_back_is_refused(values: dict[str, Any]) -> None:
    """An entry with a flaw is named before anything is written."""
    assert flaw(entry(**values))
    with pytest.raises(InvalidRecord, match="cannot be written"):
        written(entry(), entry(**values))


def test_an_entry_of_another_day_is_refused() -> None:
    """A log holds its own day's entries alone."""
    with pytest.raises(InvalidRecord, match="2026-07-02"):
        written(entry(day="2026-07-02"))
