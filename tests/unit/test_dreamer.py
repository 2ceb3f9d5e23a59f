"""Tests of the dreamer by rule: where entries go, how lines read, and how little of a page changes."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

import pytest
from dream_world import NIGHT, entry
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.batch import parts_of
from reverie.core.citations import cite, citing_lines
from reverie.core.fold import EntryState, fold
from reverie.core.front_matter import read
from reverie.core.page_rules import fold_path
from reverie.core.policy import Case, judge
from reverie.core.proposal import Judged, Proposal
from reverie.core.records import Entry, Event
from reverie.core.source import split
from reverie.model.dreamer import Material, propose
from reverie.model.dreamer_desk import MOST_LINES

if TYPE_CHECKING:
    from collections.abc import Iterable

TODAY = "2026-07-02"


def link(kind: str, new: Entry, old: Entry) -> Event:
    """Return a link from one entry to another."""
    return Event(id=f"{kind}-{new.id}-{old.id}", at=NIGHT, kind=kind, entry=new.id, other=old.id)


class World:
    """A notebook in memory, and what is known about entries."""

    def __init__(self, pages: dict[str, str] | None = None) -> None:
        """Begin with these pages."""
        self.pages = dict(pages or {})
        self.known: dict[str, EntryState] = {}
        self.events: list[Event] = []

    def dream(self, *batch: Entry, events: Iterable[Event] = (), hold: bool = True) -> Proposal:
        """Dream a batch, check that the policy takes all of it, and put its pages into the notebook."""
        self.events += events
        every = [*(state.entry for state in self.known.values()), *batch]
        self.known = {one.id: fold(one, self.events) for one in every}
        proposal = propose(self.material(batch))
        judged = self.judge(batch, proposal)
        if hold:
            assert judged.refusals == ()
            assert {one.key for one in judged.settlements} == {
                part.key for one in batch for part in parts_of(self.known[one.id])
            }
        self.pages.update(judged.pages)
        return proposal

    def material(self, batch: Iterable[Entry]) -> Material:
        """Return a batch as the dreamer is given it."""
        replaces = {
            one.id: tuple(
                event.other
                for event in self.events
                if event.entry == one.id and event.kind in {"supersede", "correct"}
            )
            for one in batch
        }
        return Material(
            parts=tuple(part for one in batch for part in parts_of(self.known[one.id])),
            replaces=replaces,
            find=self.known.get,
            page_of=self.page_of,
            read=self.pages.get,
            today=TODAY,
        )

    def judge(self, batch: Iterable[Entry], proposal: Proposal) -> Judged:
        """Return what the policy makes of a proposal."""
        named = {*proposal.pages, *(one.page for one in proposal.settlements if one.page)}
        case = Case(
            parts=self.material(batch).parts,
            old={path: self.pages[path] for path in named if path in self.pages},
            existing=set(self.pages),
            folded={fold_path(path) for path in self.pages},
            find=self.known.get,
            page_of=self.page_of,
            masked=lambda _: False,
        )
        return judge(case, proposal)

    def page_of(self, one: str) -> str:
        """Return the page that cites an entry."""
        found = [path for path, text in self.pages.items() for _, _, ids in citing_lines(text) if one in ids]
        return found[0] if found else ""

    def lines(self, path: str) -> list[str]:
        """Return the list items of a page that cite."""
        return [raw for _, raw, _ in citing_lines(self.pages[path])]


def at(one: Entry) -> str:
    """Return the citation of an entry."""
    return cite(one.day, one.id)


@pytest.mark.parametrize(
    ("fields", "page"),
    [
        ({"text": "User prefers tea", "category": "preference"}, "3_Personal/Preferences.md"),
        ({"text": "User likes tea", "category": "user_preference"}, "3_Personal/Preferences.md"),
        ({"text": "User works at Google", "category": "work"}, "3_Personal/Work.md"),
        ({"text": "User wants to run far", "category": "goal"}, "3_Personal/Goals.md"),
        ({"text": "User has a cat"}, "3_Personal/Facts.md"),
        ({"text": "Dana prefers calls", "about": "Dana"}, "3_Personal/People/Others.md"),
        ({"text": "Dana prefers calls", "about": "Dana", "session": ""}, "3_Personal/People/Dana.md"),
        (
            {"text": "Zephyr Logistics pays late", "about": "Zephyr Logistics", "session": ""},
            "2_Wiki/Entities/Zephyr Logistics.md",
        ),
        (
            {"text": "Tidewatch uses Go", "about": "tidewatch", "category": "project", "session": ""},
            "1_Projects/Tidewatch.md",
        ),
        ({"text": "The pump hums", "category": "technical"}, "2_Wiki/Concepts/Technical.md"),
        ({"text": "User ran 5 km", "category": "episode"}, "3_Personal/Episodes/2026-07.md"),
        ({"text": "We chose Go", "category": "decision"}, "3_Personal/Decisions.md"),
        ({"text": "To deploy run it", "category": "procedure"}, "3_Personal/Procedures.md"),
        ({"text": "User keeps bees", "category": "bee-keeping"}, "3_Personal/Bee Keeping.md"),
        ({"text": "Buy gold", "status": "discussed", "origin": "web"}, "2_Wiki/Literature/Mentioned.md"),
        ({"text": "果果对花生过敏", "about": "果果", "session": ""}, "3_Personal/People/果果.md"),
    ],
)
def test_each_entry_has_its_place(fields: dict[str, Any], page: str) -> None:
    """User memory goes to 3_Personal by category, subjects get pages, the world's knowledge goes to 2_Wiki."""
    world = World()
    text = fields.pop("text")
    proposal = world.dream(entry(1, f"{text} every day", **fields))
    assert list(proposal.pages) == [page]


def test_a_subject_gets_a_page_at_its_second_entry() -> None:
    """Two entries about somebody make a page; from then on each further one finds it."""
    world = World()
    world.dream(entry(1, "Dana prefers calls", about="Dana"), entry(2, "Dana reads email", about="Dana"))
    world.dream(entry(3, "Dana lives in Spandau", about="Dana"))
    assert len(world.lines("3_Personal/People/Dana.md")) == 3


def test_a_new_page_is_complete() -> None:
    """A new page has front matter that reads, its title, and a line for each entry with its citation."""
    world, one = World(), entry(1, "User prefers short answers", category="preference")
    world.dream(one)
    text = world.pages["3_Personal/Preferences.md"]
    front = read(split(text).front)
    assert (front.type, front.title, front.status, front.review) == (
        "personal",
        "Preferences",
        "draft",
        "current",
    )
    assert (front.confidence, front.updated, front.problems) == ("high", TODAY, ())
    assert f"# Preferences\n\n## Key Facts\n\n- User prefers short answers {at(one)}\n" in text


def test_a_second_dream_adds_one_line() -> None:
    """What is added to a page is its line and the day of the change; nothing else moves."""
    world = World()
    world.dream(entry(1, "User prefers short answers", category="preference"))
    before = world.pages["3_Personal/Preferences.md"].replace("updated: 2026-07-02", "updated: 2026-06-01")
    world.pages["3_Personal/Preferences.md"] = before
    world.dream(entry(2, "User likes tea", category="preference"))
    changed = [
        one
        for one in difflib.ndiff(before.splitlines(), world.pages["3_Personal/Preferences.md"].splitlines())
        if one[0] in "+-"
    ]
    assert [one[:9] for one in changed] == ["- updated", "+ updated", "+ - User "]


def test_hand_written_text_stays() -> None:
    """On a page that people write in, everything that was there is there afterwards, byte for byte."""
    mine = (
        "\ufeff---\r\ntitle: Preferences\r\n# mine\r\ncssclass: wide\r\n---\r\n\r\nMy intro, by hand.\r\n\r\n"
        "## Key Facts\r\n\r\n* my own line\r\n\r\n> [!note] mine\r\n\r\n## Later\r\n\r\n<b>bold</b>\r\n"
    )
    world, one = World({"3_Personal/Preferences.md": mine}), entry(1, "User likes tea", category="preference")
    world.dream(one)
    text = world.pages["3_Personal/Preferences.md"]
    rest = iter(text.split("\r\n"))
    assert all(line in rest for line in mine.split("\r\n") if line)
    assert "\n" not in text.replace("\r\n", "")
    assert f"- User likes tea {at(one)}" in text


def test_dates_are_shown_where_the_text_has_none() -> None:
    """Decisions and episodes open with their day; bounds and due dates follow in brackets."""
    world = World()
    world.dream(
        entry(1, "The team goes with Postgres", category="decision"),
        entry(2, "User sold the boat", category="episode", since="2026-06-20"),
        entry(3, "User rents a garden", since="2026-05", until="2026-10"),
        entry(4, "User sends Dana the quote", category="commitment", due="2026-07-10T12:00:00+02:00"),
    )
    said = "\n".join(world.pages.values())
    assert "- 2026-07-01: The team goes with Postgres [[" in said
    assert "- 2026-06-20: User sold the boat [[" in said
    assert "- User rents a garden (since 2026-05) (until 2026-10) [[" in said
    assert "- User sends Dana the quote (due 2026-07-10 12:00) [[" in said


def test_a_procedure_keeps_its_steps() -> None:
    """Steps on lines of their own become steps beneath the line, numbered as they were."""
    world = World()
    one = entry(1, "Release:\n1. `make lint`\n2. tag v2.3.1\n- tell Dana", category="procedure")
    world.dream(one)
    text = world.pages["3_Personal/Procedures.md"]
    assert f"- Release: {at(one)}\n  1. `make lint`\n  2. tag v2.3.1\n  - tell Dana\n" in text


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


def test_only_what_says_nothing_is_declined() -> None:
    """An entry without a word of content is declined with a reason, unless it may not be."""
    world = World()
    proposal = world.dream(
        entry(1, "it is"),
        entry(2, "it is", session=""),
        entry(3, "it is", sig=0.8),
        entry(4, "User likes tea"),
    )
    assert [one.outcome for one in proposal.settlements] == ["declined", "cited", "merged", "cited"]
    assert proposal.settlements[0].reason


def test_a_page_that_grew_long_is_continued() -> None:
    """Past its size a page is continued on the next of its series, linked to; what stood stays where it was."""
    world = World()
    batch = [entry(n, f"User likes dish number {n} best", category="preference") for n in range(1, 401)]
    world.dream(*batch[:250])
    first = world.lines("3_Personal/Preferences.md")
    world.dream(*batch[250:])
    assert world.lines("3_Personal/Preferences.md")[:250] == first
    assert world.pages["3_Personal/Preferences.md"].count("\n") <= MOST_LINES + 10
    assert "- [[3_Personal/Preferences]]" in world.pages["3_Personal/Preferences 2.md"]
    assert sum(len(world.lines(path)) for path in world.pages) == 400


@pytest.mark.parametrize("tail", ["```\nopen code\n", "<div>\nopen html\n"])
def test_a_page_that_would_swallow_lines_is_left_to_its_author(tail: str) -> None:
    """Where code or HTML is left open, lines go to the next page of the series."""
    mine = f"---\ntitle: Preferences\n---\n\n## Key Facts\n{tail}"
    world = World({"3_Personal/Preferences.md": mine})
    world.dream(entry(1, "User likes tea", category="preference"))
    assert len([line for path in world.pages for line in world.lines(path)]) == 1


def test_pages_link_to_what_they_name() -> None:
    """A page is linked to the page of somebody its new lines name, once."""
    world = World()
    dana = [entry(n, f"Dana reads {what}", about="Dana") for n, what in ((1, "email"), (2, "letters"))]
    world.dream(*dana, entry(3, "User promised Dana a quote", category="commitment"))
    world.dream(entry(4, "User promised Dana a cake", category="commitment"))
    assert world.pages["3_Personal/Commitments.md"].count("[[3_Personal/People/Dana]]") == 1


def test_a_long_entry_is_written_in_all_its_parts() -> None:
    """Each part of a long entry gets a line and an outcome of its own (R-18)."""
    text = "".join(f"Chapter {n} tells of the harbour and its many boats. " for n in range(400))
    proposal = World().dream(entry(1, text, category="technical"))
    assert [(one.part, one.outcome) for one in proposal.settlements] == [
        (0, "cited"),
        (1, "cited"),
        (2, "cited"),
    ]


def test_what_a_person_cited_already_is_not_written_again() -> None:
    """A pending entry that a page cites counts as cited there."""
    one = entry(1, "User likes tea", category="preference")
    page = f"---\ntitle: Mine\n---\n\nTea, as User likes tea {at(one)} daily.\n"
    world = World({"3_Personal/Mine.md": page})
    assert world.dream(one).pages == {}


def test_the_same_material_gives_the_same_proposal() -> None:
    """Two dreams of one batch over one notebook propose the same."""
    batch = [
        entry(n, f"User likes dish {n % 7}", category="preference", about="Dana" * (n % 2))
        for n in range(1, 40)
    ]
    one, two = World(), World()
    assert one.dream(*batch) == two.dream(*batch)


TEXTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=60).filter(str.strip)


@given(st.lists(TEXTS, min_size=1, max_size=6))
def test_any_text_is_settled_and_judged_sound(texts: list[str]) -> None:
    """Whatever entries say, each gets an outcome that the policy lets through, and no text becomes markup."""
    world = World()
    world.dream(*(entry(n, text, category="preference") for n, text in enumerate(texts, 1)))
