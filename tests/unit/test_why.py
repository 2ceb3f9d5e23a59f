"""Why: from a page's line to the entry and to the turn in which it was said, without what is forgotten."""

from __future__ import annotations

import pytest
from desk import SESSION, Desk

from reverie.errors import AmbiguousId, NotFound


def _read(desk: Desk, *texts: str) -> list[str]:
    """Let the user say something, read and store it, and return the entries' ids in their order."""
    desk.say(*texts)
    desk.memory.extract()
    desk.memory.drain()
    return [state.entry.id for state in desk.memory.list()]


def test_the_chain_leads_from_the_page_to_the_turn(desk: Desk) -> None:
    """An extracted entry shows its log, the page lines that cite it, and exactly the turns it came from."""
    desk.say("Good morning!")
    (kept,) = _read(desk, "I prefer window seats on trains.", "What is the weather like?")
    desk.night()
    chain = desk.memory.why(kept[:8])
    assert chain.state.entry.id == kept
    assert chain.log == "archive/2026-07-01.md"
    assert kept in desk.text(chain.log)
    assert [turn.content for turn in chain.turns] == ["I prefer window seats on trains."]
    assert (chain.turns[0].session, chain.turns[0].n) == (SESSION, 1)
    assert chain.pages
    for page, line in chain.pages:
        assert kept in desk.text(page).splitlines()[line - 1]
    assert [one.outcome for one in chain.outcomes] == ["cited"]


def test_an_explicit_write_has_no_turn(desk: Desk) -> None:
    """What was remembered outright, drained or not, has a log and no turn."""
    kept = desk.remember("User likes tea")
    for _ in range(2):
        chain = desk.memory.why(kept)
        assert (chain.turns, chain.pages, chain.outcomes, chain.events) == ((), (), (), ())
        assert chain.log == "archive/2026-07-01.md"
        desk.memory.drain()


def test_what_happened_and_to_whom_is_shown(desk: Desk) -> None:
    """Links show from both sides, with the events that made them."""
    old = desk.remember("The office is in Bergen")
    new = desk.memory.correct(old, "The office is in Oslo", why="mistake").id
    desk.memory.pin(new)
    for entry, other in ((old, new), (new, old)):
        chain = desk.memory.why(entry)
        assert "correct" in {event.kind for event in chain.events}
        assert [state.entry.id for state in chain.others] == [other]
    assert [event.kind for event in desk.memory.why(new).events] == ["correct", "pin"]


def test_a_citation_that_was_taken_out_is_not_shown(desk: Desk) -> None:
    """Only pages that cite the entry now are named."""
    kept = desk.remember("User likes tea")
    desk.memory.drain()
    page = desk.page("0_Inbox/Tea.md", f"- Likes tea {desk.cited(kept)}")
    assert desk.memory.why(kept).pages == ((page, 6),)
    desk.page("0_Inbox/Tea.md", "- Likes tea")
    assert desk.memory.why(kept).pages == ()


def test_a_turn_with_something_forgotten_is_not_shown(desk: Desk) -> None:
    """An entry said in one breath with a forgotten one keeps its chain but not that turn."""
    said = "I prefer window seats on trains. I am allergic to macadamia nuts."
    ids = _read(desk, said)
    nuts = next(one for one in ids if "nuts" in desk.memory.get(one).entry.text)
    (seats,) = set(ids) - {nuts}
    assert [turn.content for turn in desk.memory.why(seats).turns] == [said]
    desk.memory.forget([nuts])
    assert desk.memory.why(seats).turns == ()
    assert desk.memory.why(seats).state.entry.id == seats
    with pytest.raises(NotFound):
        desk.memory.why(nuts)


def test_an_id_must_name_one_entry(desk: Desk) -> None:
    """No id, an unknown one, or the beginning of several is an error that says so."""
    for number in range(3):
        desk.remember(f"Number {number}")
    for prefix in ("", "ffff", "not an id"):
        with pytest.raises(NotFound):
            desk.memory.why(prefix)
    with pytest.raises(AmbiguousId, match="more digits"):
        desk.memory.why("0000")


def test_a_session_that_is_gone_breaks_nothing(desk: Desk) -> None:
    """Without its session file an entry shows what is left of its chain."""
    (kept,) = _read(desk, "I prefer window seats on trains.")
    for path in (desk.root / "sessions").iterdir():
        path.unlink()
    assert desk.memory.why(kept).turns == ()
    assert desk.memory.why(kept).state.entry.evidence


def test_a_page_hit_leads_to_its_entries(desk: Desk) -> None:
    """The id of a page's paragraph leads to the chain of each entry it cites, down to the turn."""
    (kept,) = _read(desk, "I prefer window seats on trains.")
    desk.night()
    hit = next(hit for hit in desk.hits("window seats") if hit.kind == "page")
    found = desk.memory.opened.behind(hit.id)
    assert (found.row.source, found.turns) == (hit.source, ())
    assert [one.state.entry.id for one in found.entries] == [kept]
    assert [turn.content for turn in found.entries[0].turns] == ["I prefer window seats on trains."]


def test_a_turn_hit_leads_to_what_came_of_it(desk: Desk) -> None:
    """The id of a turn leads to the turn and to the entries that were extracted from it, none from another."""
    desk.say("The weather is fine on the pier.")
    kept = _read(desk, "I prefer window seats on trains.")
    turn, other = (
        next(hit for hit in desk.hits(words) if hit.kind == "turn") for words in ("window seats", "pier")
    )
    found = desk.memory.opened.behind(turn.id)
    assert [one.content for one in found.turns] == ["I prefer window seats on trains."]
    assert [one.state.entry.id for one in found.entries] == kept
    assert desk.memory.opened.behind(other.id).entries == ()
    desk.memory.forget(kept)
    with pytest.raises(NotFound, match="nothing found"):
        desk.memory.opened.behind(turn.id)


@pytest.mark.parametrize("name", ["page:0000000000000000", "turn:", "x"])
def test_an_unknown_hit_is_not_found(desk: Desk, name: str) -> None:
    """An id of nothing that was found is refused with the way to get one."""
    with pytest.raises(NotFound, match="reverie recall"):
        desk.memory.opened.behind(name)
