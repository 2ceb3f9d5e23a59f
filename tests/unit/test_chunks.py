"""A page is cut for the index without losing a word."""

from __future__ import annotations

from counting import calls
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.pages.chunks import paragraph_chunks
from reverie.core.pages.markdown import outline


def test_long_runs_of_punctuation_are_cut_in_linear_time() -> None:
    """A page of three hundred thousand full stops is cut, not pondered: four times a page is four times the work."""
    assert len(paragraph_chunks("." * 300_000)) == 250
    whole, quarter = "." * 300_000, "." * 75_000
    assert calls(lambda: paragraph_chunks(whole)) < 5 * calls(lambda: paragraph_chunks(quarter))


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
