"""Tests that plain pages read without a parser as they read with one."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reverie.core.pages.citations import citations, citing_lines
from reverie.core.pages.markdown import append_to_section, outline
from reverie.core.pages.plain import append, citing, headings_above, plain, sketch, uncited
from reverie.errors import InvalidRecord

A, B = "[[archive/2026-07-01#^0000000000000001]]", "[[archive/2026-07-02#^00000000000000ab]]"
FRONT = "---\ntitle: Work\n---\n\n"
LINES = st.sampled_from(
    [
        "",
        "# Work",
        "## Key Facts",
        "### Deep",
        "## Related",
        f"- says it {A}",
        f"- both {A} {B}",
        f"  - before {A}",
        "    - deeper",
        "- [[Page]]",
        "  1. step",
        "1. one",
        "prose here",
        f"prose {A}",
        f"- `code` and {A}",
        f"- `open {A}",
        f"- {A} first",
        "---",
        "> quote",
        "* star",
        "  continued",
        "\tx",
        "<b>",
        "<!-- x -->",
        "```",
        "- - nested",
        "- # no",
        f"- 1. no {A}",
        "    indented",
        "- x ``y``",
        f"- [[a]] {A}",
        "[a]: b",
        "===",
        "- ",
    ]
)
PAGES = st.lists(LINES, max_size=9).map("\n".join)


@given(PAGES, st.booleans())
@example(f"## Key Facts\n\n- a {A}\n  - b {B}\n", True)
def test_citing_lines_are_those_of_the_parser(body: str, front: bool) -> None:  # noqa: FBT001
    """Whatever the page, the lines that cite, and what stands above them, are what the parser says."""
    text = (FRONT if front else "") + body
    assert citing(text) == citing_lines(text)
    assert headings_above(text) == [(one.line, one.path) for one in outline(text).sections if one.level]


@given(PAGES, st.sampled_from(["Key Facts", "Related", "Work"]))
@example(f"## Key Facts\n\n- a {A}\n\n## Related\n\n- [[b]]\n", "Key Facts")
@example("## Key Facts\n## Related\n", "Key Facts")
def test_lines_are_added_where_the_parser_adds_them(body: str, heading: str) -> None:
    """Lines added to a section end where `append_to_section` puts them, or are refused as it refuses them."""
    text = f"{FRONT}{body}\n"
    lines = [f"- new {A}", f"  - old {B}"]
    try:
        expected = append_to_section(text, heading, line="\n".join(lines))
    except InvalidRecord:
        with pytest.raises(InvalidRecord):
            append(text, heading, lines=lines)
        return
    assert append(text, heading, lines=lines) == expected


@given(PAGES)
@example(f"---\n- says it {A}\n---\n")
def test_a_page_without_its_citations_is_that_of_the_parser(page: str) -> None:
    """Whatever the page, it loses its citations, the blanks before them, and nothing else."""
    left = page
    for one in reversed(citations(page)):
        left = left[: one.start].rstrip(" ") + left[one.end :]
    assert uncited(page, page) == left
    assert uncited(page, page).count("\n") == page.count("\n")


@given(PAGES, st.sampled_from(["", "---\ntitle: Work\n---\n", "---\ntitle: Work\n---\n\n"]), st.booleans())
def test_a_sketch_is_the_outline_but_for_inline_code(body: str, front: str, ended: bool) -> None:  # noqa: FBT001
    """Sections, lines, fences and HTML of a page are what the parser says they are."""
    text = f"{front}{body}" + ("\n" if ended else "")
    found, parsed = sketch(text), outline(text)
    assert (found.lines, found.sections, found.fences, found.html) == (
        parsed.lines,
        parsed.sections,
        parsed.fences,
        parsed.html,
    )


def test_what_reverie_writes_is_plain() -> None:
    """A page in the form of a dream is plain, so that no dream parses its own lists."""
    text = (
        f"{FRONT}# Work\n\n## Key Facts\n\n- Currently: at `x` {A} {B}\n  - Previously: it (until 2026-07-01). {A}\n"
        f"- Release: {A}\n  1. run `make`\n\n## Related\n\n- [[3_Personal/Dana]]\n"
    )
    assert plain(text) is not None
