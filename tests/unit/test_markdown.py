"""Pages are read for structure and edited as spans; generated blocks and memory text keep their place."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from reverie.core import blocks
from reverie.core.active import active_content
from reverie.core.blocks import (
    Block,
    Broken,
    Missing,
    escape_memory_text,
    find_block,
    render_block,
    with_block,
)
from reverie.core.chunks import paragraph_chunks
from reverie.core.citations import citations, cite, citing_lines, links
from reverie.core.markdown import append_to_section, outline, prose, remove_line, replace_line
from reverie.errors import InvalidRecord, NotFound

ID = "2b47366a861a87ca"
OTHER = "83f33219d7033862"
CITE = f"[[archive/2026-07-01#^{ID}]]"
PAGE = (
    f"\ufeff---\r\ntitle: Zephyr\r\nsources:\r\n  - '{CITE}'\r\n---\r\n\r\n# Zephyr\r\n\r\nIntro {CITE}.\r\n\r\n"
    f"## Key Facts\r\n\r\n- one {CITE} {cite('2026-07-02', OTHER, 'why')}\r\n- two [[Dana|her]]\r\n\r\n"
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
    assert citations(cite("2026-07-01", ID, "that day"))[0].alias == "that day"


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
    assert found[1][1] == f"- one {CITE} {cite('2026-07-02', OTHER, 'why')}"


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
    assert append_to_section(page, "Facts", "- two") == page.replace("- one  \r\n", "- one  \r\n- two\r\n")
    assert append_to_section(page, "Sub", "- y") == page + "\r\n- y\r\n"
    assert append_to_section("# A", "A", "- x") == "# A\n\n- x\n"
    assert append_to_section("# A\n## B\n", "A", "- x") == "# A\n\n- x\n## B\n"


def test_a_missing_section_is_added_at_the_end() -> None:
    """Without such a heading a new section ends the page, at the level its marks say."""
    assert append_to_section("text", "Related", "- [[X]]") == "text\n\n## Related\n\n- [[X]]\n"
    assert append_to_section("text\n\n", "# Top", "x") == "text\n\n# Top\n\nx\n"
    assert append_to_section("", "New", "x") == "## New\n\nx\n"


def test_an_open_fence_does_not_swallow_the_new_line() -> None:
    """A section that ends in an unclosed fence gets the line first; a page that does so is not guessed at."""
    assert append_to_section("# A\n```\ncode\n", "A", "- x") == "# A\n\n- x\n\n```\ncode\n"
    with pytest.raises(InvalidRecord):
        append_to_section("# A\n```\ncode\n", "New", "- x")


@given(PAGES, st.sampled_from(["A", "B", "Set", "New"]), st.sampled_from(["- added", "words"]))
def test_appending_only_inserts(page: str, heading: str, line: str) -> None:
    """Every byte of the page stands before or after one inserted span, and the line stands under its heading."""
    try:
        edited = append_to_section(page, heading, line)
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
    assert replace_line(page, number, old, new) == "".join(
        (*lines[: number - 1], new + ending, *lines[number:])
    )
    assert remove_line(page, number, old) == "".join((*lines[: number - 1], *lines[number:]))


def test_a_line_that_changed_meanwhile_is_not_edited() -> None:
    """An edit names the words it expects; others there are an error, not overwritten."""
    with pytest.raises(NotFound, match="line 2"):
        replace_line("a\nb\n", 2, "c", "d")
    with pytest.raises(NotFound):
        remove_line("a\n", 9, "")


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


ACTIVE = [
    ("<script>alert(1)</script>", "script"),
    ("text <IFRAME src=x></iframe>", "iframe"),
    ("a <b onclick=x>b</b>", "html"),
    ("<!-- note -->", "comment"),
    ("[a](javascript:alert(1))", "scripting link"),
    ("[a](JaVa&#115;cript&colon;x)", "scripting link"),
    ("[a]( java\tscript:x)", "scripting link"),
    ("[a]: vbscript:x", "scripting link"),
    ("<javascript:x>", "scripting link"),
    ("[a](data:text/html;base64,x)", "scripting link"),
    ("[a](obsidian://advanced-uri?x)", "scripting link"),
    ("![x](https://evil.example/?q=1)", "remote image"),
    ("```dataviewjs\ndv.x\n```", "plugin code"),
    ("> ```js-engine\n> x\n> ```", "plugin code"),
    ("`$= dv.current()`", "plugin code"),
    ("<% tp.file.x %>", "template code"),
    ("```\n<% tp.x %>\n```", "template code"),
]


@pytest.mark.parametrize(("text", "kind"), ACTIVE)
def test_active_content_is_found(text: str, kind: str) -> None:
    """Raw HTML, scripts, scripting links, remote images, plugin and template code are each named with their line."""
    found = active_content(f"---\ntitle: x\n---\nfine\n\n{text}\n")
    assert (6, kind) in {(one.line, one.kind) for one in found} or (7, kind) in {
        (one.line, one.kind) for one in found
    }


@pytest.mark.parametrize(
    "text",
    [
        "a < b and c > d",
        "`<script>`",
        "```html\n<b>\n```",
        "<https://ok.example>",
        "[a](https://ok.example)",
        "![[pic.png]]",
        "x <= 3",
        "the javascript: scheme",
        "```dataview\nLIST\n```",
        "![x](assets/p.png)",
        "&lt;b>",
    ],
)
def test_ordinary_pages_hold_no_active_content(text: str) -> None:
    """Comparisons, code samples, web links and local images are no findings."""
    assert active_content(text) == ()


def test_a_block_is_found_with_its_hash() -> None:
    """A block is intact as written; an edit inside is noticed; CRLF alone is no edit."""
    text = "mine\n" + render_block("- a\n") + "also mine\n"
    found = find_block(text)
    assert isinstance(found, Block)
    assert (found.inner, found.intact) == ("- a\n", True)
    edited = find_block(text.replace("- a", "- b"))
    assert isinstance(edited, Block)
    assert not edited.intact
    windows = find_block(text.replace("\n", "\r\n"))
    assert isinstance(windows, Block)
    assert windows.intact


@pytest.mark.parametrize(
    "text",
    [
        render_block("a") * 2,
        "<!-- reverie:begin -->\nx\n<!-- reverie:end -->\n",
        "<!-- reverie:end -->\n",
        render_block("a").replace("<!-- reverie:end -->", ""),
        "x " + render_block("a"),
        "\n".join(reversed(render_block("a").splitlines())),
        render_block("a") + "`<!-- reverie:begin -->`",
        "<!--reverie:begin sha256=0-->",
    ],
)
def test_broken_or_doubled_markers_are_reported_and_nothing_is_written(text: str) -> None:
    """Whatever is not exactly one well-formed pair of markers is refused with a reason."""
    assert isinstance(find_block(text), Broken)
    assert isinstance(with_block(text, "new"), Broken)


@given(
    st.text(max_size=30),
    st.text(max_size=30),
    st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=30),
)
def test_text_outside_the_block_is_kept_byte_for_byte(above: str, below: str, inner: str) -> None:
    """Writing the block, and writing it again, touches nothing outside the markers."""
    text = f"{above}\n{render_block('old')}{below}"
    once = with_block(text, inner)
    assert isinstance(once, str)
    assert once.startswith(f"{above}\n")
    assert once.endswith(below)
    assert with_block(once, inner) == once
    appended = with_block(above, inner)
    assert isinstance(appended, str)
    assert appended.startswith(above)
    assert isinstance(find_block(above), Missing)
    assert isinstance(find_block(appended), Block)


MEMORY = st.lists(
    st.sampled_from(
        [
            "# ",
            "- ",
            "1. ",
            "> ",
            "`",
            "``",
            "```",
            "~~~",
            "<!-- reverie:begin -->",
            "<!-- reverie:end -->",
            "<b>",
            "[[x]]",
            CITE,
            "](javascript:x)",
            "![",
            "%%",
            "$$",
            "\\",
            "\n",
            " ",
            "^abc",
            "word",
            "---",
            "===",
            "*",
            "_",
            "[x] ",
            "<%",
            "&lt;",
            "$= ",
            "mem_id: ",
            "\u202e",
            "\x1b[31m",
            "|",
            "+",
            "<https://x.y>",
        ]
    ),
    max_size=9,
).map("".join)


@given(MEMORY | st.text(max_size=30))
def test_memory_text_reads_as_words_and_inline_code_only(text: str) -> None:
    """In a generated list item no memory text makes a marker, block, link, image, HTML or second line."""
    line = escape_memory_text(text)
    tokens = MarkdownIt("commonmark").parse(f"- {line} `mem_id: {ID}`\n- next\n")
    assert [token.type for token in tokens if token.nesting >= 0 and token.type != "inline"] == [
        "bullet_list_open",
        *["list_item_open", "paragraph_open"] * 2,
    ]
    inline = [child for token in tokens if token.type == "inline" for child in token.children or ()]
    assert {child.type for child in inline} <= {
        "text",
        "code_inline",
        "em_open",
        "em_close",
        "strong_open",
        "strong_close",
    }
    assert [
        child.content
        for child in inline
        if child.content.startswith("mem_id:") and child.type == "code_inline"
    ] == [f"mem_id: {ID}"]
    assert isinstance(find_block(line), Missing)
    assert citations(f"- {line}") == ()
    assert active_content(f"- {line}\n") == ()
    assert blocks.escape_memory_text(line).count("\n") == 0


@pytest.mark.parametrize(
    "text",
    [
        "Deploy with `make deploy` twice",
        "costs < 5 € & more",
        "snake_case and C#",
        "用户喜欢简洁的界面",
        "v2.3.1 (stable)",
    ],
)
def test_ordinary_memory_text_is_not_changed(text: str) -> None:
    """Text without grammar in it stands as it is."""
    assert escape_memory_text(text) == text


def test_chunks_carry_title_headings_and_lines() -> None:
    """A page is cut by section, each chunk under its path, the description first."""
    page = "---\ntitle: Zephyr\ndescription: A client.\n---\nlead\n\n"
    page += "# Zephyr\n\none\n\ntwo\n\n## Facts\n\nthree\n\n## Empty\n"
    found = [(one.text, one.heading_path, one.line) for one in paragraph_chunks(page)]
    assert found == [
        ("A client.", ("Zephyr",), 1),
        ("lead", ("Zephyr",), 5),
        ("one\n\ntwo", ("Zephyr",), 9),
        ("three", ("Zephyr", "Facts"), 15),
        ("Empty", ("Zephyr", "Empty"), 17),
    ]


def test_overlong_paragraphs_are_cut_at_sentences() -> None:
    """A paragraph over the limit is cut after a sentence, Latin or Chinese, and a word without end is cut hard."""
    assert [one.text for one in paragraph_chunks("One two. Three four. Five.", 12)] == [
        "One two.",
        "Three four.",
        "Five.",
    ]
    assert [one.text for one in paragraph_chunks("他喜欢茶。她喜欢咖啡。", 7)] == [
        "他喜欢茶。",
        "她喜欢咖啡。",
    ]
    assert [one.text for one in paragraph_chunks("x" * 25, 10)] == ["x" * 10, "x" * 10, "x" * 5]


@given(PAGES, st.integers(1, 40))
def test_chunks_lose_no_text(page: str, limit: int) -> None:
    """All that is not blank stands, in order, in the chunks or the headings, and no chunk is over the limit."""
    chunks = paragraph_chunks(page, limit)
    assert all(len(chunk.text) <= limit or chunk.text == chunk.heading_path[-1] for chunk in chunks)
    titles = {one.title for one in outline(page).sections}
    left = iter("".join("".join(chunk.text.split()) for chunk in chunks))
    for section in outline(page).sections:
        body = "".join(page[section.body : section.end].split())
        assert all(character in left for character in body)
    assert titles - {""} <= {title for chunk in chunks for title in (*chunk.heading_path, chunk.text)}
