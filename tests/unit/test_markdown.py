"""Pages are read for structure and edited as spans; generated blocks and memory text keep their place."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from reverie.core.pages.citations import citations, cite, citing_lines, links
from reverie.core.pages.markdown import append_to_section, outline, prose, remove_line, replace_line
from reverie.errors import InvalidRecord, NotFound

ID = "2b47366a861a87ca"
OTHER = "83f33219d7033862"
CITE = f"[[archive/2026-07-01#^{ID}]]"
PAGE = (
    f"\ufeff---\r\ntitle: Zephyr\r\nsources:\r\n  - '{CITE}'\r\n---\r\n\r\n# Zephyr\r\n\r\nIntro {CITE}.\r\n\r\n"
    f"## Key Facts\r\n\r\n- one {CITE} {cite('2026-07-02', OTHER, alias='why')}\r\n- two [[Dana|her]]\r\n\r\n"
    f"```md\r\n- no {CITE}\r\n# no heading\r\n```\r\n\r\n### Detail\r\n\r\n"
    f"text `{CITE}` \\`[[Real]]\\`\r\n\r\nOld\r\n---\r\n\r\nend\r\n"
)
PIECES = st.sampled_from(
    [
        "# A",
        "## B",
        "text",
        "- item",
        "  - sub",
        "1. one",
        "> quote",
        "```",
        "~~~",
        "    code",
        "",
        "",
        "`a`",
        "`",
        "Set",
        "===",
        "---",
        "<div>",
        "<!--",
        "-->",
        "%%",
        CITE,
        "[[Page]]",
        "\t",
        "x\u2028y",
        "| a | b |",
        "\\`",
    ]
)
PAGES = st.builds(
    lambda lines, nl, tail: nl.join(lines) + tail,
    st.lists(PIECES, max_size=14),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "\n"]),
)


def test_a_citation_is_written_as_it_is_read() -> None:
    """The rendered link is the documented form, with and without an alias."""
    assert cite("2026-07-01", ID) == f"[[archive/2026-07-01#^{ID}]]"
    assert citations(cite("2026-07-01", ID, alias="that day"))[0].alias == "that day"


@pytest.mark.parametrize(
    "written",
    [
        f"[[archive/2026-07-01.md#^{ID}]]",
        f"[[archive/2026-07-01#^{ID}|x y]]",
        f"| [[archive/2026-07-01#^{ID}\\|x]] |",
        f"![[archive/2026-07-01#^{ID}]]",
    ],
)
def test_every_form_of_citation_is_found(written: str) -> None:
    """With `.md`, with an alias, in a table cell and embedded, a citation is a citation."""
    found = citations(written)
    assert [(one.day, one.id) for one in found] == [("2026-07-01", ID)]
    assert not links(written)


@pytest.mark.parametrize(
    "written",
    [
        f"`{CITE}`",
        f"```\n{CITE}\n```",
        f"~~~\n{CITE}",
        f"    {CITE}",
        f"<!-- {CITE} -->",
        f"%% {CITE} %%",
        f"<div>\n{CITE}\n</div>",
        f"\\{CITE}",
        f"---\nsources: ['{CITE}']\n---\n",
        "[[archive/2026-07-01#^XYZ]]",
        f"[[other/2026-07-01#^{ID}]]",
        f"[[archive/2026-07-01#{ID}]]",
    ],
)
def test_code_comments_and_html_hold_no_citation(written: str) -> None:
    """What a reader of the page does not see as a link is none."""
    assert citations(written) == ()


def test_citing_lines_name_line_text_and_ids() -> None:
    """Each citing line is given with its number in the whole file, its text and its ids once each."""
    found = citing_lines(PAGE)
    assert [(line, ids) for line, _, ids in found] == [(9, (ID,)), (13, (ID, OTHER))]
    assert found[1][1] == f"- one {CITE} {cite('2026-07-02', OTHER, alias='why')}"


def test_links_give_target_heading_block_and_alias() -> None:
    """Every form of wiki link is taken apart."""
    found = links("[[Page]] [[folder/Page.md|alias]] [[Page#Heading]] [[Page#^b1]] [[#Here]] ![[pic.png]]")
    parts = [(one.target, one.heading, one.block, one.alias, one.embedded) for one in found]
    assert parts == [
        ("Page", "", "", "", False),
        ("folder/Page", "", "", "alias", False),
        ("Page", "Heading", "", "", False),
        ("Page", "", "b1", "", False),
        ("", "Here", "", "", False),
        ("pic.png", "", "", "", True),
    ]
    assert [one.target for one in links(PAGE)] == ["Dana", "Real"]


def test_sections_are_spans_with_paths() -> None:
    """ATX and setext headings outside code bound the sections; paths name those above."""
    sections = outline(PAGE).sections
    assert [(one.level, one.path) for one in sections] == [
        (0, ()),
        (1, ("Zephyr",)),
        (2, ("Zephyr", "Key Facts")),
        (3, ("Zephyr", "Key Facts", "Detail")),
        (2, ("Zephyr", "Old")),
    ]
    assert "".join(PAGE[one.start : one.end] for one in sections) == PAGE[sections[0].start :]
    assert sections[2].stop == sections[4].start


def test_a_list_item_joins_the_list_of_its_section() -> None:
    """Appending puts the line after the section's last line, before its subsection, in the file's line breaks."""
    page = "# A\r\n\r\n## Facts\r\n- one  \r\n\r\n### Sub\r\nx\r\n"
    assert append_to_section(page, "Facts", line="- two") == page.replace(
        "- one  \r\n", "- one  \r\n- two\r\n"
    )
    assert append_to_section(page, "Sub", line="- y") == page + "\r\n- y\r\n"
    assert append_to_section("# A", "A", line="- x") == "# A\n\n- x\n"
    assert append_to_section("# A\n## B\n", "A", line="- x") == "# A\n\n- x\n## B\n"


def test_a_missing_section_is_added_at_the_end() -> None:
    """Without such a heading a new section ends the page, at the level its marks say."""
    assert append_to_section("text", "Related", line="- [[X]]") == "text\n\n## Related\n\n- [[X]]\n"
    assert append_to_section("text\n\n", "# Top", line="x") == "text\n\n# Top\n\nx\n"
    assert append_to_section("", "New", line="x") == "## New\n\nx\n"


def test_an_open_fence_does_not_swallow_the_new_line() -> None:
    """A section that ends in an unclosed fence gets the line first; a page that does so is not guessed at."""
    assert append_to_section("# A\n```\ncode\n", "A", line="- x") == "# A\n\n- x\n\n```\ncode\n"
    with pytest.raises(InvalidRecord):
        append_to_section("# A\n```\ncode\n", "New", line="- x")


@given(PAGES, st.sampled_from(["A", "B", "Set", "New"]), st.sampled_from(["- added", "words"]))
def test_appending_only_inserts(page: str, heading: str, line: str) -> None:
    """Every byte of the page stands before or after one inserted span, and the line stands under its heading."""
    try:
        edited = append_to_section(page, heading, line=line)
    except InvalidRecord:
        assume(False)
    prefix = next(
        (n for n, (a, b) in enumerate(zip(page, edited, strict=False)) if a != b), min(len(page), len(edited))
    )
    added = len(edited) - len(page)
    assert page == edited[:prefix] + edited[prefix + added :]
    section = next(one for one in outline(edited).sections if one.level and one.title == heading)
    assert line in re.split(r"\r?\n", edited[section.body : section.end])


@given(PAGES, st.integers(1, 14), st.sampled_from(["", "new ^x", "- y"]))
def test_line_edits_leave_every_other_line(page: str, number: int, new: str) -> None:
    """Replacing or removing one line keeps all others and every line break."""
    lines = re.split(r"(?<=\n)", page)
    assume(number <= len(lines))
    old = lines[number - 1].rstrip("\r\n")
    ending = lines[number - 1][len(old) :]
    assert replace_line(page, number, old=old, new=new) == "".join(
        (*lines[: number - 1], new + ending, *lines[number:])
    )
    assert remove_line(page, number, old=old) == "".join((*lines[: number - 1], *lines[number:]))


def test_a_line_that_changed_meanwhile_is_not_edited() -> None:
    """An edit names the words it expects; others there are an error, not overwritten."""
    with pytest.raises(NotFound, match="line 2"):
        replace_line("a\nb\n", 2, old="c", new="d")
    with pytest.raises(NotFound):
        remove_line("a\n", 9, old="")


@given(PAGES)
def test_hidden_text_is_blanked_in_place(page: str) -> None:
    """Blanking code and comments moves no character and no line break."""
    shown = prose(outline(page))
    assert len(shown) == len(page)
    assert all(a in {b, " "} for a, b in zip(shown, page, strict=True))
    assert [m.start() for m in re.finditer(r"[\r\n]", shown)] == [
        m.start() for m in re.finditer(r"[\r\n]", page)
    ]


@given(st.text(st.sampled_from("`\\a \n"), max_size=24))
def test_inline_code_is_found_where_commonmark_finds_it(text: str) -> None:
    """The backticks that the page reader pairs are those the full parser pairs."""
    assume(not any(token.type in {"code_block", "fence"} for token in MarkdownIt("commonmark").parse(text)))
    expected = [
        child.content
        for token in MarkdownIt("commonmark").parse(text)
        for child in token.children or ()
        if child.type == "code_inline"
    ]
    found = [text[start:end].strip("`") for start, end in outline(text).code]
    assert [re.sub(r"\s+", "", one) for one in found] == [re.sub(r"\s+", "", one) for one in expected]
