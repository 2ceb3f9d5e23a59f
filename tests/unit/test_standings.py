"""How pages, turns and entries that no longer hold are told in recall and in a context."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from desk import Desk

from reverie.context import ContextRequest
from reverie.core.records import Draft
from reverie.core.text.cues import only_acknowledges
from reverie.core.where import Where
from reverie.recall import Ask

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from reverie.recall import Hit

OLD, NEW = "User works at Google", "User now works at Microsoft"


@pytest.fixture
def told(tmp_path: Path) -> Iterator[Desk]:
    """Return a memory whose user said where they work, which was dreamt of days later."""
    with Desk(tmp_path, now=datetime(2026, 6, 24, 9, tzinfo=UTC)) as made:
        for text in ("I work at Google.", "I prefer short answers."):
            made.say(text, session="a")
        made.memory.consolidate()
        made.clock.advance(days=6)
        assert made.memory.dream(now=True).runs
        yield made


def changed(desk: Desk) -> None:
    """Say that it is otherwise now."""
    desk.say("I now work at Microsoft.", session="b")
    desk.memory.consolidate()


def hits(desk: Desk, **asked: object) -> list[Hit]:
    """Return what is found about the work."""
    return list(desk.memory.ask(Ask(query="Where do I work?", **asked)).hits)  # type: ignore[arg-type]


def relevant(desk: Desk) -> list[str]:
    """Return the lines of `Relevant Memory` about the work."""
    request = ContextRequest(query="Where do I work?", protocol=False, parts=("relevant",))
    return [line for line in desk.memory.context(request).text.splitlines() if " work" in line]


def about(found: list[Hit], kind: str, word: str) -> Hit:
    """Return the first hit of a kind that holds a word."""
    return next(hit for hit in found if hit.kind == kind and word in hit.text)


def test_a_page_and_a_turn_that_no_longer_hold_stand_below_what_does(told: Desk) -> None:
    """P-10: after a change the page line and the turn of before are marked, dated by what was said, and rank below."""
    changed(told)
    found = hits(told)
    assert NEW in found[0].text or "now work at Microsoft" in found[0].text
    for kind, word in (("page", OLD), ("turn", "work at Google")):
        old = about(found, kind, word)
        assert (old.standing, old.day) == ("superseded", "2026-06-24")
        assert all(found.index(old) > found.index(one) for one in found if "Microsoft" in one.text)
    lines = relevant(told)
    assert [line for line in lines if "Google" in line and "no longer so" not in line] == []
    assert "Microsoft" in lines[0]
    assert any(line.startswith(f"- {OLD} (2026-06-24, no longer so) [[") for line in lines)


def test_before_the_change_they_are_current(told: Desk) -> None:
    """A page line and a turn whose entry holds are current, and so they are `as_of` a day before the change."""
    assert {hit.standing for hit in hits(told)} == {"current"}
    then = told.clock()
    told.clock.advance(days=1)
    changed(told)
    before = hits(told, where=Where(as_of=then))
    assert {hit.standing for hit in before} == {"current"}


def test_what_never_was_true_says_so(told: Desk) -> None:
    """After `correct(why="mistake")` page, turn and entry are `wrong`, and a context calls them a mistake."""
    (old,) = (state.entry.id for state in told.memory.list() if OLD in state.entry.text)
    told.memory.correct(old, "User works at Apple", why="mistake")
    found = hits(told)
    assert "Apple" in found[0].text
    assert {hit.standing for hit in found if "Google" in hit.text} == {"wrong"}
    assert any("Google" in line and "was a mistake" in line for line in relevant(told))
    assert not any("no longer so" in line for line in relevant(told))


def test_a_turn_that_says_more_is_left_as_it_is(tmp_path: Path) -> None:
    """A turn from which something was read that still holds, or that says much besides, is not marked."""
    with Desk(tmp_path) as desk:
        desk.say("I work at Google. I am allergic to macadamia nuts.", session="a")
        desk.say(
            "I live in Bonn. " + "The weather there was grey and the trains were late again. " * 4,
            session="a",
        )
        desk.memory.consolidate()
        desk.clock.advance(days=1)
        desk.say("I now work at Microsoft. I moved to Berlin.", session="b")
        desk.memory.consolidate()
        for query, word in (("Where do I work?", "Google. I am"), ("Where do I live?", "Bonn. The")):
            found = desk.memory.ask(Ask(query=query, k=20)).hits
            assert about(list(found), "turn", word).standing == "current"


def test_a_line_among_others_says_so_itself(told: Desk) -> None:
    """Where a hit shows lines that stand differently, the hit is current and the line that no longer holds says so."""
    told.memory.remember("User works late on Mondays", Draft(category="work"))
    told.memory.drain()
    told.clock.advance(days=1)
    told.memory.dream(now=True)
    changed(told)
    page = about(hits(told, kinds=("page",), k=20), "page", OLD)
    assert page.standing == "current"
    assert [line for line in page.text.split("\n") if "no longer so" in line] == [f"- {OLD} (no longer so)"]
    assert any("Mondays" in line for line in page.text.split("\n"))


def test_what_is_hidden_is_shown_by_no_page(told: Desk) -> None:
    """A line that cites hidden entries alone is no hit, unless hidden ones are asked for."""
    (old,) = (state.entry.id for state in told.memory.list() if OLD in state.entry.text)
    told.memory.hide([old])
    assert [hit for hit in hits(told) if hit.kind == "page" and OLD in hit.text] == []
    assert about(hits(told, where=Where(include_hidden=True)), "page", OLD).entries == (old,)


def test_a_page_line_counts_for_the_day_it_was_said(told: Desk) -> None:
    """`since` leaves out the lines of a page that was written later than what they cite was said."""
    assert [
        hit for hit in hits(told, where=Where(since="2026-06-28")) if hit.kind == "page" and OLD in hit.text
    ] == []
    assert about(hits(told, where=Where(since="2026-06-20")), "page", OLD).day == "2026-06-24"


def test_a_context_has_words_and_not_markup(told: Desk) -> None:
    """A page's lines stand in Relevant Memory without list marks, and neither "Noted." nor a bare description does."""
    told.say("Got it, I'll remember that.", session="a", role="assistant")
    told.memory.consolidate()
    request = ContextRequest(
        query="What about the user: work, answers, remember that?", protocol=False, parts=("relevant",)
    )
    text = told.memory.context(request).text
    assert OLD in text
    assert "\\-" not in text
    assert "<br>" not in text
    assert "Got it" not in text
    assert "What matters most" not in text
    assert "The user's work" not in text


@pytest.mark.parametrize(
    "text",
    [
        "Noted.",
        "Got it, I'll remember that.",
        "Got it — I’ll keep that in mind!",
        "OK",
        "好的，我记住了。",
        "Thanks for letting me know. I've noted that.",
    ],
)
def test_an_acknowledgement_is_known(text: str) -> None:
    """What only says that something was heard is an acknowledgement."""
    assert only_acknowledges(text)


@pytest.mark.parametrize(
    "text",
    [
        "Noted: the vault code is 47.",
        "Done, I moved the meeting to Friday.",
        "I will remember Dana.",
        "Got it at the shop.",
    ],
)
def test_an_answer_that_says_something_is_none(text: str) -> None:
    """What says anything else is none."""
    assert not only_acknowledges(text)
