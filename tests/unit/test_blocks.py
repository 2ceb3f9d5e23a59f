"""Generated blocks keep what people wrote around them, and memory text keeps to its line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from reverie.core.pages.active import active_content
from reverie.core.pages.blocks import (
    Block,
    Broken,
    Missing,
    escape_memory_text,
    find_block,
    render_block,
    with_block,
    with_inner,
)
from reverie.core.pages.citations import citations, cite

ID = "2b47366a861a87ca"
CITE = cite("2026-07-01", ID)


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
    assert escape_memory_text(line).count("\n") == 0


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


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("edited", [False, True])
def test_lines_go_out_of_a_block_as_it_stands(newline: str, *, edited: bool) -> None:
    """Another text in a block keeps line breaks and what stands around it; an edited block stays edited."""
    text = "\n".join(("mine", "", render_block("one\ntwo\n"), "mine too", "")).replace("\n", newline)
    text = text.replace("one", "won") if edited else text
    found = find_block(text)
    assert isinstance(found, Block)
    new = with_inner(text, found, inner=found.inner.replace(f"two{newline}", ""))
    again = find_block(new)
    assert isinstance(again, Block)
    assert again.intact is not edited
    assert again.inner == ("won" if edited else "one") + newline
    assert new.startswith(f"mine{newline}{newline}<!--")
    assert new.endswith(f"-->{newline}{newline}mine too{newline}")
