"""What the rule dreamer says at the top of a page: until when it holds, and what it rests on."""

from __future__ import annotations

import pytest
from dream_pages import World, link
from dream_world import entry

from reverie.core.pages.front_matter import Front, Reference, read
from reverie.core.pages.source import split

STAYS = entry(1, "User stays in Lisbon", category="personal", until="2026-07-31")
PASS = entry(2, "User has a parking permit", category="personal", until="2026-07-20")
PAGE = "3_Personal/Personal.md"
SAID = "2_Wiki/Literature/Mentioned.md"


def front(world: World, path: str = PAGE) -> Front:
    """Return what the top of a page says."""
    found = read(split(world.pages[path]).front)
    assert found.problems == ()
    return found


def with_front(world: World, path: str, lines: str) -> None:
    """Write more lines into the top of a page, as a person would."""
    world.pages[path] = world.pages[path].replace("\n---\n", f"\n{lines}\n---\n", 1)


def web(number: int, text: str, **fields: str) -> object:
    """Return an entry of a web page's words."""
    return entry(number, text, category="fact", origin="web", status="discussed", **fields)


def test_a_page_is_to_be_looked_at_when_its_first_line_ends() -> None:
    """`stale_after` is the first day on which a line that holds now ends by its own words (S-16)."""
    world = World()
    world.dream(STAYS)
    assert front(world).stale_after == "2026-07-31"
    world.dream(PASS)
    assert front(world).stale_after == "2026-07-20"
    world.dream(entry(3, "User likes green tea", category="preference"))
    assert front(world, "3_Personal/Preferences.md").stale_after == ""


def test_the_day_goes_with_the_line_that_gave_it() -> None:
    """When that line no longer holds, the day is that of the next one, or none."""
    world = World()
    world.dream(STAYS, PASS)
    new = entry(3, "User now has a garage", category="personal", supersedes=(PASS.id,))
    world.dream(new, events=[link("supersede", new, PASS)])
    assert front(world).stale_after == "2026-07-31"
    last = entry(4, "User now stays in Porto", category="personal", supersedes=(STAYS.id,))
    world.dream(last, events=[link("supersede", last, STAYS)])
    assert front(world).stale_after == ""
    assert "stale_after" not in world.pages[PAGE]


def test_a_day_that_a_person_set_stays() -> None:
    """A `stale_after` that no line explains is a person's, and no dream moves it (S-17)."""
    world = World()
    world.dream(entry(3, "User has two children", category="personal"))
    with_front(world, PAGE, "stale_after: 2027-01-01  # after the exams")
    world.dream(STAYS)
    assert front(world).stale_after == "2027-01-01"
    assert "stale_after: 2027-01-01  # after the exams\n" in world.pages[PAGE]


def test_a_day_that_has_come_stays_until_the_line_changes() -> None:
    """A line that ended keeps the page stale for lint, whatever else is added to it."""
    world = World()
    world.dream(entry(5, "User rents a boat", category="personal", until="2026-07-02"))
    world.pages[PAGE] = (
        world.pages[PAGE]
        .replace("2026-07-02)", "2026-06-30)")
        .replace("stale_after: 2026-07-02", "stale_after: 2026-06-30")
    )
    world.dream(entry(3, "User has two children", category="personal"))
    assert front(world).stale_after == "2026-06-30"


def test_addresses_in_a_strangers_words_are_sources() -> None:
    """A page names the addresses that strangers named, by their entry; those of the user are no sources (S-16)."""
    world = World()
    world.dream(web(1, "The recipe is at https://example.org/rye"), web(2, "Rye needs a day"))
    assert front(world, SAID).sources == (Reference(id=f"{1:016x}", resource="https://example.org/rye"),)
    world.dream(entry(3, "User keeps notes at https://example.org/mine", category="preference"))
    assert front(world, "3_Personal/Preferences.md").sources == ()


def test_sources_of_people_stay_and_each_is_named_once() -> None:
    """What a person wrote under `sources` keeps its place and words; a new address comes behind, none twice."""
    world = World()
    world.dream(web(1, "Rye needs a day"))
    with_front(world, SAID, "sources:\n  - id: book  # the good one\n    resource: 4_Assets/rye.pdf")
    world.dream(web(2, "More is at https://example.org/rye"), web(3, "See https://example.org/rye, too"))
    assert [one.resource for one in front(world, SAID).sources] == [
        "4_Assets/rye.pdf",
        "https://example.org/rye",
    ]
    world.dream(web(4, "All is at https://example.org/rye"))
    assert len(front(world, SAID).sources) == 2


@pytest.mark.parametrize("number", [1, 60])
def test_sources_are_bounded(number: int) -> None:
    """However many addresses are named, and however long, the top of a page can be read."""
    world = World()
    long = "https://example.org/" + "x" * 40_000
    world.dream(
        *(web(n, f"Page {n} is at https://example.org/{n}") for n in range(1, number + 1)), web(99, long)
    )
    assert len(front(world, SAID).sources) == min(number, 20)


def test_a_top_that_cannot_be_changed_keeps_its_bytes() -> None:
    """A front matter that no change of one key is safe in stays as it is, and the line is added all the same."""
    world = World()
    world.dream(entry(3, "User has two children", category="personal"))
    world.pages[PAGE] = world.pages[PAGE].replace("title: Personal", "title: &a Personal", 1)
    before = split(world.pages[PAGE]).front
    world.dream(STAYS)
    assert split(world.pages[PAGE]).front == before
    assert "Lisbon" in world.pages[PAGE]
