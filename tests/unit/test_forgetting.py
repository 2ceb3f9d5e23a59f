"""The mask: what it hides, what it leaves, and what a tombstone gives away."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.forgetting.mask import Cipher, Mask, merged, tombstone_of
from reverie.core.pages.citations import cite
from reverie.core.records import Entry, Span, Tombstone
from reverie.core.search.rows import Row
from reverie.core.text.phrases import by_first, find, phrase, telling, words

NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)
KEY = b"k" * 32
ID = "a" * 16


def entry(text: str, entry_id: str = "b" * 16, **fields: Any) -> Entry:
    """Return an entry."""
    return Entry(id=entry_id, text=text, at=NOW, day="2026-07-01", **fields)


def mask(text: str, **fields: Any) -> Mask:
    """Return the mask of a workspace in which one entry was forgotten."""
    return Mask([tombstone(text, **fields)], KEY)


def tombstone(text: str, *, spans: tuple[Span, ...] = (), **fields: Any) -> Tombstone:
    """Return the tombstone of an entry."""
    return tombstone_of(Cipher(KEY), entry(text, ID, **fields), spans=spans, at=NOW, by="test")


@pytest.mark.parametrize(
    ("forgotten", "again", "why"),
    [
        ("User is allergic to walnuts", "User is allergic to walnuts", "words"),
        ("User is allergic to walnuts", "**User** is ALLERGIC\nto walnuts.", "words"),
        ("User is allergic to walnuts", "The user is really allergic to walnuts!", "alike"),
        ("User is allergic to walnuts", "I am allergic to walnuts", "alike"),
        ("User likes walnut cake", "The user loves walnut cakes", "alike"),
        ("用户喜欢喝茶", "我很爱喝茶。", "alike"),
        ("用户喜欢喝茶", "用户喜欢喝茶！", "words"),
        ("User is allergic to walnuts", "User is allergic to peanuts", ""),
        ("User is allergic to walnuts", "User is not allergic to walnuts", ""),
        ("User is allergic to walnuts", "User isn't allergic to walnuts", ""),
        ("User is allergic to walnuts", "User was allergic to walnuts", ""),
        ("User is allergic to walnuts", "He is allergic to walnuts", ""),
        ("User is allergic to walnuts", "Dana is allergic to walnuts", ""),
        ("User is allergic to walnuts", "User is allergic to walnuts and pollen", ""),
        ("User moved from Lisbon to Porto", "User moved from Porto to Lisbon", ""),
        ("Cats chase dogs here", "Dogs chase cats here", ""),
        ("User pays 12 € a month", "User pays 13 € a month", ""),
        ("User pays 12 € a month", "User pays 12 $ a month", ""),
        ("User met Dana before lunch", "User met Dana after lunch", ""),
        ("User likes tea", "User likes tea ceremonies", ""),
        ("User likes 🍵", "User likes 🌰", ""),
        ("用户对核桃过敏", "用户对花生过敏", ""),
        ("用户喜欢喝茶", "用户不喜欢喝茶", ""),
        ("Tea", "Teapot", ""),
    ],
)
def test_only_the_same_statement_is_hidden(forgotten: str, again: str, why: str) -> None:
    """The same words and the same telling words are hidden, and another word, number, name or order is not."""
    found = mask(forgotten)
    assert found.why(entry(again)) == why
    assert found(entry(again)) is bool(why)


def test_an_id_is_hidden_whatever_stands_under_it() -> None:
    """A forgotten id stays hidden with any text."""
    assert mask("User likes tea").why(entry("Something else", ID)) == "id"


def test_what_says_it_and_more_is_told_apart() -> None:
    """A shown statement that holds every telling word of a forgotten one is known, another is not."""
    found = mask("User is allergic to walnuts")
    assert found.contained("The user has a walnut allergy since 2019") is not None
    assert found.contained("User is allergic to peanuts") is None


@pytest.mark.parametrize(
    ("line", "hidden"),
    [
        (f"- Nuts are no good. {cite('2026-07-01', ID)}", True),
        (f"- ●○——— Something. `mem_id: {ID}`", True),
        (f"- Something. `mem_id: {'c' * 16}`", False),
        ("Dana says User is allergic to\nwalnuts, so mind.", True),
        ("- I am allergic to walnuts [[archive/2026-07-02#^cccccccccccccccc]]", True),
        ("User is allergic to peanuts", False),
        ("walnuts", False),
    ],
)
def test_lines_are_hidden_by_what_they_cite_or_say(line: str, hidden: bool) -> None:  # noqa: FBT001
    """A line is hidden when it cites the entry, says it, or says it in other words."""
    assert mask("User is allergic to walnuts").text(line) is hidden


def test_a_short_statement_is_no_part_of_a_longer_one() -> None:
    """A short statement hides a line in which it stands alone and not one in which it is the beginning of another."""
    found = mask("User likes tea")
    assert found.text("User likes tea, and coffee.")
    assert not found.text("User likes tea ceremonies")
    assert not found.text("No user likes tea")


def test_the_evidence_hides_its_turn_and_its_quotes() -> None:
    """The turn that holds the evidence is hidden, and so is a line that quotes it and a record that covers the turn."""
    said = "we keep the spare key under the third flowerpot"
    span = Span("s1", "t7", Cipher(KEY).phrase(phrase(said)), 7)
    found = mask("The spare key is under a flowerpot", spans=(span,), evidence=said)
    assert found.turn("s1", "t7")
    assert not found.turn("s1", "t8")
    assert not found.turn("s2", "t7")
    assert found.text(f"user: {said}!")
    assert found.covers("s1", "5-9")
    assert found.covers("s1", "7")
    assert not found.covers("s1", "8-9")
    assert not found.covers("s1", "all")


def test_an_entry_read_from_the_same_evidence_is_hidden_unless_spared() -> None:
    """What another extractor makes of the evidence is hidden, in that turn alone, and a spared neighbour is shown."""
    said = "we keep the spare key under the third flowerpot"
    span = Span("s1", "t7", Cipher(KEY).phrase(phrase(said)), 7)
    made = msgspec.structs.replace(
        tombstone("A key lies outside", spans=(span,), evidence=said), spared=("c" * 16,)
    )
    found = Mask([made], KEY)
    again = entry("There is a third flowerpot", evidence=said, session="s1", turns="7")
    assert found.why(again) == "place"
    assert not found(msgspec.structs.replace(again, turns="9"))
    assert not found(msgspec.structs.replace(again, session="s2"))
    assert not found(msgspec.structs.replace(again, id="c" * 16))


def test_rows_are_hidden_by_kind() -> None:
    """Search rows are hidden by entry, turn, cited id and words, and an entry's row by its id alone."""
    found = mask("User is allergic to walnuts", spans=(Span("s1", "t7", "", 7),))

    def row(kind: Any, text: str = "x", **fields: Any) -> Row:
        return Row(
            **{"id": "r", "source": "f", "at": NOW, "day": "2026-07-01", **fields}, kind=kind, text=text
        )

    assert found.row(row("entry", id=ID))
    assert not found.row(row("entry", "User is allergic to walnuts"))
    assert found.row(row("turn", session="s1", digest="t7"))
    assert found.row(row("turn", "Well, User is allergic to walnuts", session="s2", digest="t1"))
    assert found.row(row("page", digest=f"{'c' * 16} {ID}"))
    assert found.row(row("history", session="s1", digest="6-8"))
    assert not found.row(row("page", "Walnuts grow on trees"))


def test_a_lifted_tombstone_hides_nothing() -> None:
    """The last line under an id decides, and lines before it keep what they added."""
    made = tombstone("User likes tea")
    more = Tombstone(id=ID, at=NOW, entries=("d" * 16,))
    lifted = Tombstone(id=ID, at=NOW, lifted=True)
    both = merged([made, more])
    assert both[0].entries == (ID, "d" * 16)
    assert both[0].keyed == made.keyed
    assert not Mask(merged([made, more, lifted]), KEY)
    assert Mask(merged([made, lifted, made]), KEY)(entry("User likes tea"))


def test_a_tombstone_holds_no_readable_text() -> None:
    """No word of what was forgotten stands in a tombstone, and under another key nothing of it is the same."""
    made = tombstone("User is allergic to walnuts", evidence="I told you that walnuts are bad for me")
    other = tombstone_of(
        Cipher(b"o" * 32), entry("User is allergic to walnuts", ID), spans=(), at=NOW, by="test"
    )
    written = msgspec.json.encode(made).decode().casefold()
    assert not any(word in written for word in ("walnut", "allerg", "user", "told"))
    assert not {made.keyed, made.alike} & {other.keyed, other.alike}
    assert not set(made.signature) & set(other.signature)


def test_without_the_key_ids_still_hide() -> None:
    """A mask without its key hides by id and turn, and takes no other text for the forgotten one."""
    found = Mask([tombstone("User likes tea", spans=(Span("s1", "t1", "", 1),))], b"")
    assert found(entry("x", ID))
    assert found.turn("s1", "t1")
    assert not found(entry("User likes tea"))
    assert not found.text("User likes coffee")


@given(st.text(max_size=200), st.text(max_size=40))
def test_any_text_is_found_in_itself(text: str, around: str) -> None:
    """Whatever a text holds, its phrase stands in it, at places inside it, alone and between other lines."""
    wanted = phrase(text)
    spans = find(words(text), by_first([wanted]), anywhere=True)
    assert bool(spans) is bool(wanted)
    assert all(0 <= start < end <= len(text) for start, end in spans)
    telling(text + around)
    assert not wanted or find(words(f"{around}\n{text}\n{around}"), by_first([wanted]), anywhere=True)


@given(st.text(alphabet=st.characters(max_codepoint=127), max_size=80))
def test_ascii_is_read_like_any_text(text: str) -> None:
    """The words of ASCII text are the same with and without another script behind them."""
    assert phrase(f"{text}\n é") == (*phrase(text), "é")
