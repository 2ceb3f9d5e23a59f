"""Front matter is read in bounded time and changed without touching any other byte."""

from __future__ import annotations

import pytest
from counting import calls
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.pages import front_matter
from reverie.core.pages.front_edit import change, render, set_field
from reverie.core.pages.front_matter import Front, Reference, read
from reverie.core.pages.source import split
from reverie.errors import InvalidRecord

PAGE = (
    "\ufeff---\r\n# made by hand\r\ntype: concept\r\ntitle:   'Zephyr: Logistics'   # the client\r\n"
    "aliases: [ZL,  'Zephyr']\r\ntags:\r\n- a\r\n- b\r\n\r\n# about trust\r\nconfidence: high\r\nempty:\r\n"
    "story: |\r\n  one\r\n   two\r\n\r\ncssclass: wide\r\n---\r\n\r\n# Zephyr\r\n\r\nBody --- text\r\n"
)
WORDS = st.text(st.characters(codec="utf-8"), max_size=30)
ANY_TEXT = st.text(max_size=40)
KEYS = st.sampled_from(["title", "description", "status", "brand-new", "tags", "confidence"])


@given(st.text(st.sampled_from("-\n\r\ufeff ab:#\u2028"), max_size=40))
def test_a_split_text_joins_to_the_same_text(text: str) -> None:
    """Any text, with or without front matter, is the concatenation of its parts."""
    assert split(text).text == text


def test_bom_newline_and_front_are_found() -> None:
    """A page with a byte order mark and CRLF gives its parts as written."""
    source = split(PAGE)
    assert (source.bom, source.newline) == ("\ufeff", "\r\n")
    assert source.front is not None
    assert source.front.startswith("# made by hand\r\n")
    assert source.body.startswith("\r\n# Zephyr")


@pytest.mark.parametrize(
    "text", ["", "no front", "---\nnever: closed\n", " ---\na: b\n---\n", "--- x\na: b\n---\n"]
)
def test_a_text_without_a_closed_block_has_no_front_matter(text: str) -> None:
    """Only a block that opens on the first line and is closed is front matter."""
    assert split(text).front is None
    assert split(text).body == text


def test_fields_and_unknown_keys_are_read() -> None:
    """Known fields come out as text, unknown keys by name."""
    front = read(split(PAGE).front)
    assert (front.type, front.title, front.tags, front.confidence) == (
        "concept",
        "Zephyr: Logistics",
        ("a", "b"),
        "high",
    )
    assert front.other == ("aliases", "empty", "story", "cssclass")
    assert front.problems == ()


def test_only_the_line_of_the_changed_key_differs() -> None:
    """One key set in a page with CRLF, comments and odd quoting changes one line, and its comment stays."""
    changed = set_field(PAGE, "title", value="Zephyr Freight")
    expected = PAGE.replace("'Zephyr: Logistics'", "Zephyr Freight").replace("title:   ", "title: ")
    assert changed == expected


def test_a_block_list_stays_a_block_list() -> None:
    """Setting tags written one a line writes them one a line, and the comment below stays where it was."""
    changed = set_field(PAGE, "tags", value=("a", "new tag"))
    assert changed == PAGE.replace("- a\r\n- b\r\n", "  - a\r\n  - new tag\r\n")


def test_an_empty_value_is_filled_on_its_own_line() -> None:
    """A key without a value gets one without moving the next line."""
    assert set_field(PAGE, "empty", value="no more") == PAGE.replace("empty:\r\n", "empty: no more\r\n")


def test_a_removed_key_takes_its_lines_and_nothing_else() -> None:
    """Removing a block scalar or a list removes its own lines only."""
    assert set_field(PAGE, "tags", value=None) == PAGE.replace("tags:\r\n- a\r\n- b\r\n", "")
    assert set_field(PAGE, "absent", value=None) == PAGE


def test_a_comment_between_key_and_list_survives() -> None:
    """A comment after the colon of a changed list is kept."""
    assert change("tags: # mine\n  - a\nx: 1\n", "tags", value=("b",)) == "tags: # mine\n  - b\nx: 1\n"
    assert change("tags: # mine\n  - a\nx: 1\n", "tags", value="b") == "tags: b # mine\nx: 1\n"


def test_braces_are_changed_through_the_round_trip() -> None:
    """A mapping written in braces is changed too."""
    assert change("{a: 1, title: old}\n", "title", value="new") == "{a: 1, title: new}\n"


def test_a_page_without_front_matter_gets_one_on_top() -> None:
    """The body of such a page stays byte-equal below the new block."""
    assert set_field("\ufeffline\r\n", "title", value="T") == "\ufeff---\r\ntitle: T\r\n---\r\nline\r\n"


@pytest.mark.slow
@given(KEYS, st.one_of(ANY_TEXT, st.lists(ANY_TEXT, max_size=4).map(tuple)))
def test_what_is_set_is_read_back(key: str, value: str | tuple[str, ...]) -> None:
    """Any text or list of texts survives writing and reading, and every other line of the page stays."""
    changed = set_field(PAGE, key, value=value)
    before, after = split(PAGE), split(changed)
    assert after.body == before.body
    root = front_matter.compose(after.front or "")
    assert root is not None
    values = {front_matter.node_text(name): front_matter.node_value(node) for name, node in root.value}
    assert values[key] == value
    kept = [line for line in (before.front or "").split("\r\n") if not line.startswith((f"{key}:", "- "))]
    left = iter((after.front or "").split("\r\n"))
    assert all(line in left for line in kept)
    assert set_field(changed, key, value=value) == changed


FRONTS = st.builds(
    Front,
    type=st.sampled_from(front_matter.TYPES),
    title=ANY_TEXT,
    description=ANY_TEXT,
    tags=st.lists(ANY_TEXT, max_size=4).map(tuple),
    updated=st.dates().map(str),
    sources=st.lists(st.builds(Reference, ANY_TEXT, st.text(min_size=1), ANY_TEXT), max_size=3).map(tuple),
)


@given(FRONTS)
def test_a_rendered_front_matter_reads_back(front: Front) -> None:
    """The canonical form of any field values reads back as the same values."""
    assert read(split(render(front)).front) == front


def test_the_canonical_form_is_fixed() -> None:
    """A new page's front matter has its fields in one order, dates plain, links quoted."""
    front = Front(type="concept", title="A: b", tags=("x", "y z"), updated="2026-07-01")
    assert render(front) == '---\ntype: concept\ntitle: "A: b"\ntags: [x, y z]\nupdated: 2026-07-01\n---\n'


SIMPLE = st.sampled_from(
    ["a", "b c", '"q: r"', "[x, y z]", "[]", "2026-07-01", "don't", "~", "yes", "'s'", "x # c", "1"]
)
LINES = st.lists(
    st.tuples(st.sampled_from(["type", "title", "tags", "k-1"]), SIMPLE | st.just("")),
    unique_by=lambda kv: kv[0],
)


@given(LINES, st.booleans(), st.booleans())
def test_the_fast_reading_agrees_with_yaml(lines: list[tuple[str, str]], items: bool, crlf: bool) -> None:  # noqa: FBT001
    """Whatever the fast reader accepts, the YAML composer reads as the same values."""
    text = "".join(f"{key}:{' ' * bool(value)}{value}\n" for key, value in lines)
    text += "list:\n  - one\n  - 'two'\n" if items else ""
    text = text.replace("\n", "\r\n") if crlf else text
    simple = front_matter._read_simple(text)  # noqa: SLF001
    root = front_matter.compose(text)
    if simple is not None:
        pairs = root.value if root else ()
        assert simple == {front_matter.node_text(key): front_matter.node_value(node) for key, node in pairs}


@pytest.mark.parametrize(
    ("front", "reason"),
    [
        ("a: &x [1]\nb: *x\n", "anchor"),
        ("a: *x\n", "alias"),
        ("a: !!python/object/apply:os.system [ls]\n", "tag"),
        ("a: !custom x\n", "tag"),
        ("a: b: c\n", "line 1"),
        ("ok: 1\nbad: [\n", "line"),
        ("- 1\n- 2\n", "keys with values"),
        ("a: 1\na: 2\n", "twice"),
        ("a: " + "[" * 40 + "]" * 40, "deeper"),
        ("a: " + "x" * 70_000, "longer"),
        ("a: \x00\n", "YAML"),
    ],
)
def test_broken_or_hostile_yaml_is_reported_and_never_rewritten(front: str, reason: str) -> None:
    """Aliases, anchors, tags, depth, size, doubled keys and broken syntax give a reason and refuse a change."""
    found = read(front)
    assert found.broken
    assert reason in found.problems[0]
    with pytest.raises(InvalidRecord, match=reason):
        set_field(f"---\n{front}\n---\nbody\n", "title", value="T")


def test_an_alias_bomb_is_refused_before_it_grows() -> None:
    """Nested aliases that would expand to millions of items cost no more than a few that would expand to hundreds."""

    def bomb(levels: int) -> str:
        lines = (f"{chr(98 + n)}: &{chr(98 + n)} [*{chr(97 + n)},*{chr(97 + n)}]\n" for n in range(levels))
        return "a: &a [x,x]\n" + "".join(lines)

    assert read(bomb(20)).broken
    assert calls(lambda: read(bomb(20))) < 2 * calls(lambda: read(bomb(8)))


def test_wrongly_typed_fields_are_named_and_the_rest_is_read() -> None:
    """A list as a title or a mapping as tags is a problem; the other fields still serve."""
    found = read("title: [a]\ntags: {x: 1}\nsources: [[1]]\nstatus: draft\n")
    assert not found.broken
    assert found.status == "draft"
    assert len(found.problems) == 3


def test_sources_are_read_as_text_or_as_mappings() -> None:
    """A source may be a bare link or have an id, a resource and a title."""
    found = read("sources:\n  - '[[a]]'\n  - id: 7\n    resource: b\n    title: B\n")
    assert found.sources == (Reference(resource="[[a]]"), Reference("7", "b", "B"))
