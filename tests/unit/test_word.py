"""Tests of the verbs on entries: naming them, judging them, promises that come again, taking back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from desk import Desk

from reverie import layout
from reverie.core.records import Draft, Event
from reverie.core.where import Where
from reverie.errors import AmbiguousId, BudgetOverflow, NotFound, UsageError
from reverie.store import stream

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def texts(desk: Desk, where: Where | None = None) -> list[str]:
    """Return what a list shows."""
    return [state.entry.text for state in desk.memory.list(where)]


# Naming what one means


def test_a_text_is_one_id_and_not_its_letters(desk: Desk) -> None:
    """An id given as a text where several may stand means that entry alone; letters of it name no others."""
    with desk.memory as memory:
        ids = [desk.remember(f"Fact number {number}") for number in range(40)]
        memory.drain()
        meant = ids[7]
        assert memory.hide(meant) == 1
        assert memory.used(ids[8]) == 1
        assert memory.forget(meant).ids == (meant,)
        assert memory.forget(meant, restore=True).ids == (meant,)
        assert memory.erase(meant, dry_run=True).ids == (meant,)
        with pytest.raises(NotFound):
            memory.erase("zz")
        assert len(memory.list(Where(include_hidden=True))) == len(ids)


def test_hiding_by_filter_counts_first(desk: Desk) -> None:
    """A dry run says how many a filter admits and hides none; the same filter hides them and brings them back."""
    for number in range(3):
        desk.remember(f"Draft number {number}", tags=("draft",))
    desk.remember("The final word")
    drafts = Where(tag="draft")
    assert desk.memory.hide(where=drafts, dry_run=True) == 3
    assert len(texts(desk)) == 4
    assert desk.memory.hide(where=drafts) == 3
    assert texts(desk) == ["The final word"]
    assert desk.memory.hide(where=drafts, unhide=True) == 3
    assert len(texts(desk)) == 4


def test_forgetting_and_erasing_by_filter(desk: Desk) -> None:
    """Forget and erase take the same filters, and a dry run of either changes nothing."""
    desk.remember("Jonas moved to Porto", about="Jonas")
    desk.remember("Mira likes tea", about="Mira")
    jonas, mira = Where(about="Jonas"), Where(about="Mira")
    assert len(desk.memory.forget(where=jonas, dry_run=True).ids) == 1
    assert len(desk.memory.erase(where=mira, dry_run=True).ids) == 1
    assert len(texts(desk)) == 2
    desk.memory.forget(where=jonas)
    assert texts(desk) == ["Mira likes tea"]
    desk.memory.erase(where=mira)
    assert "Mira likes tea" not in texts(desk)


@pytest.mark.parametrize("verb", ["hide", "forget", "erase"])
def test_a_filter_that_admits_everything_lets_nothing_go(desk: Desk, verb: str) -> None:
    """An empty filter, or a filter beside ids, is a mistake of the caller and takes nothing."""
    tea = desk.remember("User likes tea")
    call: Callable[..., object] = getattr(desk.memory, verb)
    with pytest.raises(UsageError, match="one of the two"):
        call(where=Where())
    with pytest.raises(UsageError, match="one of the two"):
        call([tea], where=Where(tag="drinks"))
    assert texts(desk) == ["User likes tea"]


def test_a_word_on_something_forgotten_says_so(desk: Desk) -> None:
    """Feedback, a pin, a correction or a completion of a forgotten entry is an error that says how it comes back."""
    tea = desk.remember("User likes tea")
    desk.memory.forget([tea])
    verbs: list[Callable[[], object]] = [
        lambda: desk.memory.feedback(tea, "helpful"),
        lambda: desk.memory.pin(tea),
        lambda: desk.memory.correct(tea, "User likes coffee", why="change"),
        lambda: desk.memory.done(tea),
        lambda: desk.memory.get(tea[:6]),
    ]
    for verb in verbs:
        with pytest.raises(NotFound, match=f"entry {tea} is forgotten: `reverie forget {tea} --restore`"):
            verb()


# Judging


def test_a_judge_is_shown_beside_the_writer(desk: Desk) -> None:
    """An outside judge who differs must say why; both numbers and the reason are kept apart."""
    tea = desk.remember("User likes tea", sig=0.8)
    with pytest.raises(UsageError, match="say why"):
        desk.memory.judge(tea, 0.3)
    desk.memory.judge(tea, 0.3, why="said in passing", by="agent")
    desk.memory.drain()
    state = desk.memory.get(tea)
    assert (state.sig, state.entry.sig, state.judged, state.judged_why) == (0.8, 0.8, 0.3, "said in passing")
    desk.memory.judge(tea, 0.85)  # near enough to need no reason
    assert desk.memory.get(tea).judged == 0.85


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan")])
def test_a_judgement_is_a_share(desk: Desk, value: float) -> None:
    """A significance outside 0 to 1 is refused and nothing is recorded."""
    tea = desk.remember("User likes tea")
    with pytest.raises(UsageError, match="from 0 to 1"):
        desk.memory.judge(tea, value)
    assert desk.memory.history(tea) == []


def test_use_is_counted_and_moves_nothing(desk: Desk) -> None:
    """Saying that an entry was of use is an event of it, and its significance stays."""
    tea = desk.remember("User likes tea")
    assert desk.memory.used([tea, tea]) == 1
    assert desk.memory.get(tea).uses == 1
    assert desk.memory.get(tea).sig == 0.5


# Taking back


def test_every_kind_of_word_can_be_taken_back(desk: Desk) -> None:
    """A pin, feedback, hide, completion, cancellation, postponement, judgement and use are each undone by their id."""
    quote = desk.remember("Send Dana the quote", due="2026-07-10")
    before = desk.memory.get(quote)
    words: list[Callable[[], object]] = [
        lambda: desk.memory.pin(quote),
        lambda: (desk.memory.feedback(quote, "wrong"), desk.memory.drain()),
        lambda: desk.memory.hide([quote]),
        lambda: desk.memory.done(quote),
        lambda: desk.memory.done(quote, cancelled=True),
        lambda: desk.memory.done(quote, until="2026-08-01"),
        lambda: desk.memory.judge(quote, 0.2),
        lambda: desk.memory.used([quote]),
    ]
    for word in words:
        desk.clock.advance(minutes=5)
        word()
        assert desk.memory.get(quote) != before
        said = desk.memory.history(quote)[-1]
        desk.clock.advance(minutes=5)
        assert desk.memory.take_back(said.id, why="said too soon") == quote
        assert desk.memory.get(quote) == before
    assert desk.memory.history(quote)[-1].why == "said too soon"


def test_a_correction_taken_back_leaves_the_old_text_alone(desk: Desk) -> None:
    """Undone, a correction's old text is current again and its new one hidden; undoing that puts both back."""
    tea = desk.remember("User likes tea")
    new = desk.memory.correct(tea, "User likes coffee", why="mistake").id
    (said,) = desk.memory.history(tea)
    desk.memory.take_back(said.id)
    assert texts(desk) == ["User likes tea"]
    assert "coffee" not in desk.text("MEMORY.md")
    back = next(one for one in desk.memory.history(tea) if one.kind == "undo")
    desk.memory.take_back(back.id)
    assert texts(desk) == ["User likes coffee"]
    assert desk.memory.get(new).current


def test_a_forget_taken_back_is_a_restore(desk: Desk) -> None:
    """The event of a forget is undone through the tombstones, so that every reader shows the entry again."""
    tea = desk.remember("User likes tea")
    desk.memory.drain()
    desk.memory.forget([tea])
    said: stream.Read[Event] = stream.read(desk.memory.opened.ws, layout.EVENTS, Event)
    (gone,) = (one for one in said.records if one.kind == "forget")
    assert desk.memory.take_back(gone.id) == tea
    assert texts(desk) == ["User likes tea"]
    assert desk.found("tea") == ["User likes tea"]


def test_what_cannot_be_taken_back_is_told(desk: Desk) -> None:
    """An unknown event, the beginning of several, and one that is undone already are each a clear error."""
    tea = desk.remember("User likes tea")
    desk.memory.pin(tea)
    desk.memory.pin(tea, unpin=True)
    (pin, unpin) = desk.memory.history(tea)
    with pytest.raises(NotFound, match="no event has the id"):
        desk.memory.take_back("f" * 16)
    with pytest.raises(NotFound, match=r"\(empty\)"):
        desk.memory.take_back("")
    with pytest.raises(AmbiguousId, match="several events begin with"):
        desk.memory.take_back(pin.id[:4])
    desk.memory.take_back(unpin.id)
    with pytest.raises(UsageError, match="was taken back already"):
        desk.memory.take_back(unpin.id)
    assert desk.memory.get(tea).pinned


# What was replaced


def test_what_was_replaced_says_until_when(desk: Desk) -> None:
    """In a list the old text stands with the day until which it held (P-10)."""
    work = desk.remember("User works at Google")
    desk.clock.advance(days=3)
    desk.memory.correct(work, "User works at Microsoft", why="change")
    before = desk.memory.list(Where(include_previous=True))
    assert [(one.entry.text, one.replaced[:10]) for one in before] == [
        ("User works at Google", "2026-07-04"),
        ("User works at Microsoft", ""),
    ]


# What has faded


def test_what_has_faded_is_listed_when_asked_for(desk: Desk) -> None:
    """An old memory of little weight is out of lists unless asked for; recall finds it unless told not to (R-49)."""
    desk.remember("User tried oat milk once", sig=0.3)
    desk.memory.drain()
    desk.clock.advance(days=30)
    desk.remember("User drinks oat milk daily", sig=0.3)
    assert texts(desk) == ["User drinks oat milk daily"]
    assert texts(desk, Where(include_faded=True)) == [
        "User tried oat milk once",
        "User drinks oat milk daily",
    ]
    assert texts(desk, Where(limit=1)) == ["User drinks oat milk daily"]
    assert desk.found("oat milk")[-1] == "User tried oat milk once"
    assert desk.found("oat milk", where=Where(include_faded=False)) == ["User drinks oat milk daily"]
    assert "oat milk once" not in desk.memory.context().text


def test_letting_go_by_filter_reaches_what_has_faded(desk: Desk) -> None:
    """A forget by filter takes faded entries, too: nobody is told afterwards that some stayed."""
    desk.remember("Jonas moved to Porto", about="Jonas", sig=0.3)
    desk.memory.drain()
    desk.clock.advance(days=100)
    assert len(desk.memory.forget(where=Where(about="Jonas")).ids) == 1


@pytest.mark.parametrize("day", ["2026-7-1", "yesterday", "2026-02-30", "2026-07-01T12:00:00Z", "٢٠٢٦-٠٧-٠١"])
@pytest.mark.parametrize("bound", ["since", "until"])
def test_a_filter_by_what_is_no_day_is_refused(bound: str, day: str) -> None:
    """Compared as text, a day in another form would let go of the wrong ones: it is an error at once."""
    with pytest.raises(UsageError, match="write a day, such as 2026-07-01"):
        Where(**{bound: day})


@pytest.mark.parametrize("verb", ["hide", "forget", "erase"])
def test_asking_for_more_is_no_filter(desk: Desk, verb: str) -> None:
    """A filter that only asks for hidden, previous or faded entries as well would take everything, and is refused."""
    desk.remember("User likes tea")
    call: Callable[..., object] = getattr(desk.memory, verb)
    with pytest.raises(UsageError, match="one of the two"):
        call(where=Where(include_previous=True, include_hidden=True, include_faded=True, limit=5))


# Pins


def test_a_pin_over_the_budget_is_refused(tmp_path: Path) -> None:
    """One pin more than MEMORY.md can show is an error that says what to do, remembered as one or pinned later."""
    with Desk(tmp_path, **{"publish.budget_preset": "lean"}) as desk:
        for number in range(4):
            desk.remember(f"Rule {number}: " + "be exact. " * 250, pin=True)
        more = desk.remember("Rule 5: " + "be brief. " * 250)
        with pytest.raises(BudgetOverflow, match=r"5 pins do not fit into MEMORY\.md at the budget 'lean'"):
            desk.memory.pin(more)
        with pytest.raises(BudgetOverflow, match="unpin one"):
            desk.remember("Rule 6: " + "be kind. " * 400, pin=True)
        assert not desk.memory.get(more).pinned
        assert len(desk.memory.list()) == 5
        desk.memory.pin(desk.memory.list()[0].entry.id)  # pinned already: no further one
        desk.memory.pin(desk.memory.list()[0].entry.id, unpin=True)
        desk.memory.pin(more)
        assert desk.memory.get(more).pinned


# After a forget


def test_a_forgotten_fact_said_again_is_asked_about(desk: Desk) -> None:
    """What is said anew after it was forgotten is hidden, says so at once, and waits for a word (R-26)."""
    tea = desk.remember("Jonas is allergic to walnuts")
    desk.memory.drain()
    desk.memory.forget([tea])
    desk.clock.advance(days=1)
    said = desk.memory.remember("Jonas is allergic to walnuts", Draft(origin="user"))
    assert said.asked
    assert texts(desk) == []
    (item,) = desk.memory.review()
    assert item.topic == "forgotten"
    desk.memory.review(item.id, accept=True)
    assert "Jonas is allergic to walnuts" in texts(desk)


def test_after_everything_was_forgotten_nothing_returns(desk: Desk) -> None:
    """When all is let go of, the runs of the next days bring none of it back, into no list and no file (R-27)."""
    desk.say("I moved to Lisbon on Monday.", "Remember that I am allergic to walnuts.")
    desk.remember("User likes tea", sig=0.9)
    desk.memory.consolidate()
    assert len(texts(desk)) > 1
    desk.memory.forget([state.entry.id for state in desk.memory.list(Where(include_previous=True))])
    for _ in range(3):
        desk.clock.advance(days=1)
        desk.memory.consolidate()
    assert texts(desk, Where(include_previous=True, include_hidden=True, include_faded=True)) == []
    shown = desk.text("MEMORY.md") + desk.memory.context().text
    assert not any(word in shown for word in ("Lisbon", "walnuts", "tea"))
