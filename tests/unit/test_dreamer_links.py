"""Tests of what the dreamer makes of links: repeats, changes, corrections, contradictions."""

from __future__ import annotations

from dream_pages import World, at, link
from dream_world import entry

from reverie.core.fold import fold


def test_repeats_are_cited_on_one_line() -> None:
    """Ten observations of one thing are one line that cites them all (R-03)."""
    batch = [entry(n, "User likes tea", category="preference") for n in range(1, 11)]
    events = [link("repeat", one, batch[0]) for one in batch[1:]]
    world = World()
    proposal = world.dream(*batch, events=events)
    (line,) = world.lines("3_Personal/Preferences.md")
    assert all(at(one) in line for one in batch)
    assert [one.outcome for one in proposal.settlements] == ["cited"] + ["merged"] * 9


def test_a_later_repeat_is_cited_on_the_standing_line() -> None:
    """A repeat of what a page says already adds its citation to that line and nothing else."""
    one, two = (entry(n, "User likes tea", category="preference") for n in (1, 2))
    world = World()
    world.dream(one)
    before = world.pages["3_Personal/Preferences.md"]
    world.dream(two, events=[link("repeat", two, one)])
    assert world.pages["3_Personal/Preferences.md"] == before.replace(at(one), f"{at(one)} {at(two)}")


def test_the_same_words_are_a_repeat_without_a_link() -> None:
    """An entry whose line stands on the page already is merged into it, though nobody linked the two."""
    world = World()
    one, two, three = (entry(n, "User likes tea", category="preference") for n in (1, 2, 3))
    world.dream(one, two)
    proposal = world.dream(three)
    assert len(world.lines("3_Personal/Preferences.md")) == 1
    assert proposal.settlements[0].into == one.id


def test_the_same_words_on_another_day_are_another_episode() -> None:
    """What happened twice is two lines."""
    world = World()
    one = entry(1, "User ran around the lake", category="episode")
    two = entry(2, "User ran around the lake", category="episode", day="2026-07-02")
    world.dream(one, two)
    assert len(world.lines("3_Personal/Episodes/2026-07.md")) == 2


GOOGLE = entry(1, "User works at Google.", category="work", day="2026-05-02")
MICROSOFT = entry(2, "User now works at Microsoft", category="work")


def test_a_successor_takes_the_place_of_what_it_succeeds() -> None:
    """The line that stands becomes current and previous, each citing its entry (R-01, P-10)."""
    world = World()
    world.dream(GOOGLE)
    proposal = world.dream(MICROSOFT, events=[link("supersede", MICROSOFT, GOOGLE)])
    assert world.lines("3_Personal/Work.md") == [
        f"- Currently: User now works at Microsoft {at(MICROSOFT)}",
        f"  - Previously: User works at Google (until 2026-07-01). {at(GOOGLE)}",
    ]
    assert proposal.settlements[0].outcome == "cited"


def test_a_change_within_one_batch_shows_both() -> None:
    """Both said within one batch: the later is current, the earlier superseded and still to be seen."""
    world = World()
    proposal = world.dream(GOOGLE, MICROSOFT, events=[link("supersede", MICROSOFT, GOOGLE)])
    assert [one[:15].strip() for one in world.lines("3_Personal/Work.md")] == [
        "- Currently: Us",
        "- Previously:",
    ]
    outcomes = {one.entry: (one.outcome, one.into) for one in proposal.settlements}
    assert outcomes == {GOOGLE.id: ("superseded", MICROSOFT.id), MICROSOFT.id: ("cited", "")}


def test_a_long_chain_keeps_all_that_held() -> None:
    """Three employers over three dreams are one current line and two previous ones, newest first."""
    apple = entry(3, "User moved on and works at Apple", category="work", day="2026-09-01")
    world = World()
    world.dream(GOOGLE)
    world.dream(MICROSOFT, events=[link("supersede", MICROSOFT, GOOGLE)])
    world.dream(apple, events=[link("supersede", apple, MICROSOFT)])
    lines = world.lines("3_Personal/Work.md")
    assert [one.partition(": ")[0] for one in lines] == ["- Currently", "  - Previously", "  - Previously"]
    assert "Apple" in lines[0]
    assert "Microsoft (until 2026-09-01)" in lines[1]
    assert "Google (until 2026-07-01)" in lines[2]


def test_what_never_was_true_is_not_shown_as_previous() -> None:
    """A correction replaces the line it corrects."""
    world = World()
    world.dream(GOOGLE)
    world.dream(MICROSOFT, events=[link("correct", MICROSOFT, GOOGLE)])
    (line,) = world.lines("3_Personal/Work.md")
    assert "Microsoft" in line


def test_a_persons_sentence_is_not_rewritten_by_a_successor() -> None:
    """A line of prose that cites the old entry is a person's; the new fact gets a line of its own."""
    prose = f"For years {at(GOOGLE)} I was at Google.\n"
    world = World({"3_Personal/Work.md": f"---\ntitle: Work\n---\n\n{prose}"})
    world.known[GOOGLE.id] = fold(GOOGLE, ())
    world.dream(MICROSOFT, events=[link("supersede", MICROSOFT, GOOGLE)])
    assert prose in world.pages["3_Personal/Work.md"]
    assert f"- User now works at Microsoft {at(MICROSOFT)}" in world.pages["3_Personal/Work.md"]


def test_contradictions_stand_side_by_side_under_review() -> None:
    """Two entries that cannot both hold are both written, and the page asks to be looked at."""
    one = entry(1, "User likes tea", category="preference")
    two = entry(2, "User hates tea", category="preference")
    world = World()
    world.dream(one, two, events=[link("conflict", two, one)])
    assert len(world.lines("3_Personal/Preferences.md")) == 2
    assert "review: needs-review" in world.pages["3_Personal/Preferences.md"]
