"""Tests of the judgement of outcomes: what settles an entry, and what falls with a bad page."""

from __future__ import annotations

from dream_world import entry
from judging import BOTH, GOOGLE, HEAD, PAGE, TEA, cited, decide, line

from reverie.core.dreams.batch import parts_of
from reverie.core.dreams.proposal import Settlement
from reverie.core.fold import fold
from reverie.core.records import Entry


def test_cited_means_that_the_page_cites() -> None:
    """An outcome that names a page which does not cite the entry falls; the entry stays pending (R-33)."""
    judged = decide({PAGE: HEAD + line(GOOGLE)}, (cited(GOOGLE), cited(TEA)))
    assert judged.settlements == (cited(GOOGLE),)
    assert judged.refusals[0].place == TEA.id


def test_a_bad_page_falls_with_its_entries_and_what_went_into_them() -> None:
    """A dropped page takes its entries' outcomes with it, and those merged into them; the rest holds."""
    again = entry(3, "User works at Google in Zurich since 2024 still")
    tea = "3_Personal/Tea.md"
    judged = decide(
        {PAGE: HEAD + line(GOOGLE) + "\n...\n", tea: HEAD + line(TEA)},
        (cited(GOOGLE), cited(TEA, tea), Settlement(entry=again.id, outcome="merged", into=GOOGLE.id)),
        (GOOGLE, TEA, again),
    )
    assert set(judged.pages) == {tea}
    assert judged.settlements == (cited(TEA, tea),)


def test_pages_that_link_to_a_dropped_page_fall_too() -> None:
    """The fixpoint reaches what rests on what fell."""
    tea = "3_Personal/Tea.md"
    judged = decide(
        {PAGE: HEAD + line(GOOGLE) + "\n...\n", tea: f"{HEAD}{line(TEA)}- [[3_Personal/Work]]\n"},
        (cited(GOOGLE), cited(TEA, tea)),
    )
    assert judged.pages == {}
    assert judged.settlements == ()


def test_a_page_that_cites_an_unsettled_entry_falls() -> None:
    """A page may not cite an entry of the batch that stays pending: the next dream would write it twice."""
    judged = decide({PAGE: HEAD + BOTH}, (cited(GOOGLE),))
    assert judged.pages == {}
    assert judged.settlements == ()


def test_merges_end_at_a_cited_entry() -> None:
    """A chain of merges holds when it ends at an entry that a page cites, here or elsewhere; a circle does not."""
    a, b, c = (entry(n, f"The boat {n} is red") for n in (5, 6, 7))
    into_b = Settlement(entry=a.id, outcome="merged", into=b.id)
    into_c = Settlement(entry=b.id, outcome="superseded", into=c.id)
    assert decide({}, (into_b, into_c), (a, b), known=(c,), elsewhere={c.id: PAGE}).settlements == (
        into_b,
        into_c,
    )
    assert decide({}, (into_b, into_c), (a, b), known=(c,)).settlements == ()
    circle = Settlement(entry=b.id, outcome="merged", into=a.id)
    assert decide({}, (into_b, circle), (a, b)).settlements == ()
    assert decide({}, (Settlement(entry=a.id, outcome="merged", into="f" * 16),), (a,)).settlements == ()


def decline(one: Entry, reason: str = "small talk") -> Settlement:
    """Return a declining settlement."""
    return Settlement(entry=one.id, outcome="declined", reason=reason)


def test_what_may_not_be_declined() -> None:
    """Pins, explicit writes, promises and what is significant may not be declined, nor anything without a reason."""
    plain = entry(1, "hello there")
    assert decide({}, (decline(plain),), (plain,)).settlements == (decline(plain),)
    assert decide({}, (decline(plain, " "),), (plain,)).settlements == ()
    for one in (
        entry(2, "hello", session=""),
        entry(3, "hello", category="commitment"),
        entry(4, "hello", due="2026-07-03"),
        entry(5, "hello", sig=0.7),
    ):
        assert decide({}, (decline(one),), (one,)).settlements == ()
    pinned = fold(plain, ())
    pinned = type(pinned)(entry=plain, sig=0.5, confirmed=plain.at, pinned=True)
    assert decide({}, (decline(plain),), (plain,), states={plain.id: pinned}).settlements == ()


def test_not_more_than_half_of_a_batch_may_be_declined() -> None:
    """In a batch of ten or more, declining more than half declines nothing (R-07)."""
    batch = tuple(entry(n, f"hello {n}") for n in range(1, 11))
    assert len(decide({}, tuple(map(decline, batch[:5])), batch).settlements) == 5
    assert decide({}, tuple(map(decline, batch[:6])), batch).settlements == ()
    assert len(decide({}, tuple(map(decline, batch[:6])), batch[:6]).settlements) == 6


def test_only_the_batch_is_settled_and_once() -> None:
    """An entry outside the batch, a second outcome, and the runner's own outcome are refused."""
    other = entry(8, "something else")
    judged = decide(
        {PAGE: HEAD + BOTH},
        (
            cited(GOOGLE),
            cited(TEA),
            cited(TEA),
            cited(other),
            Settlement(entry=TEA.id, outcome="unprocessable", reason="no"),
        ),
    )
    assert judged.settlements == (cited(GOOGLE), cited(TEA))
    assert len(judged.refusals) == 3


def test_each_part_of_a_long_entry_is_settled_by_itself() -> None:
    """The parts of a long entry are cited by lines of their own, each carrying its piece (R-18)."""
    text = "".join(f"Chapter {n} tells of the harbour and its many boats. " for n in range(300))
    long = entry(3, text)
    pieces = parts_of(fold(long, ()))
    body = "".join(line(long, text=part.text.strip()) for part in pieces)
    settled = tuple(cited(long, part=part.number) for part in pieces)
    assert decide({PAGE: HEAD + body}, settled, (long,)).settlements == settled


def test_the_same_proposal_is_judged_the_same() -> None:
    """Judging twice gives the same answer."""
    proposal = ({PAGE: HEAD + BOTH + "\n...\n"}, (cited(GOOGLE), cited(TEA)))
    assert decide(*proposal) == decide(*proposal)
