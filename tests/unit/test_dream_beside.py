"""A person and a dream change one page at the same time: both keep their lines, or the person's page stands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from dream_agent import TEAS, body, cite, cited, dreamt
from dream_world import DAY, PREFERENCES, TEA, WORK, entry, log, open_world, outcomes, page, run
from hypothesis import given, settings
from hypothesis import strategies as st

from reverie import layout
from reverie.core.pages.citations import citations
from reverie.store import counters
from reverie.store.counters import DreamCounters
from reverie.store.dreams import reviews, runs
from reverie.store.versions.git import History

if TYPE_CHECKING:
    from collections.abc import Callable

    from reverie.dream import Dreamt
    from reverie.store.workspace import Workspace

WHITE = entry(9, "User likes white tea", category="preference")
WAGES = entry(10, "User earns well", category="work")


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """Return a workspace whose page of preferences was dreamt, with two more entries pending."""
    return prepared(tmp_path)


def prepared(root: Path) -> Workspace:
    """Return a workspace whose page of preferences was dreamt, with two more entries pending."""
    made = open_world(root)
    log(made, DAY)
    run(made)
    log(made, [WHITE, WAGES])
    return made


def beside(ws: Workspace, change: Callable[[str], str]) -> Dreamt:
    """Dream while a person saves the page of preferences, once, after the dreamer has read it."""
    path = ws.root / ws.notebook / PREFERENCES
    waits = [change]

    def saving(_: str) -> bool:
        if waits:
            path.write_bytes(waits.pop()(path.read_bytes().decode()).encode())
        return False

    done = run(ws, masked=saving)
    assert not waits
    return done


def test_changes_apart_from_each_other_are_merged(ws: Workspace) -> None:
    """A person's words above and the dream's new line below both stand, and no entry waits for another night (P-08)."""
    done = beside(ws, lambda text: text.replace("# Preferences\n", "# Preferences\n\nMy own words.\n"))
    text = page(ws, PREFERENCES)
    assert "# Preferences\n\nMy own words.\n" in text
    assert cite(WHITE) in text
    assert {WHITE.id, WAGES.id} <= outcomes(ws).keys()
    assert done.problems == ()


def test_the_persons_change_is_theirs_in_the_history(ws: Workspace) -> None:
    """The person's words are committed under their name, and the run's own commit holds the dream's lines alone."""
    beside(ws, lambda text: text.replace("# Preferences\n", "# Preferences\n\nMy own words.\n"))
    dream, person = History(ws).log(2)
    assert (dream.author, person.author) == ("Reverie", "person")
    last = runs.read(ws)[-1]
    assert last.commit == dream.id
    changed = History(ws).unified(last.parent, last.commit)
    assert "My own words" not in "".join(line for line in changed.splitlines() if line.startswith(("+", "-")))
    assert f"+- {cite(WHITE)}" in changed


def test_changes_of_the_same_lines_leave_the_page_to_the_person(ws: Workspace) -> None:
    """Where both wrote in one place the person's bytes stand, its entries stay pending, others go on (P-08)."""
    done = beside(ws, lambda text: text + "- I wrote here, too\n")
    assert page(ws, PREFERENCES).endswith("- I wrote here, too\n")
    assert WHITE.id not in outcomes(ws)
    assert WAGES.id in outcomes(ws)
    assert any("left to them" in one for one in done.problems)
    assert counters.read(ws, DreamCounters).failures == {}
    run(ws)
    assert cite(WHITE) in page(ws, PREFERENCES)
    assert "- I wrote here, too\n" in page(ws, PREFERENCES)


def test_what_a_persons_change_makes_of_the_dreams_lines_is_judged(ws: Workspace) -> None:
    """A line that would come to stand in a person's open block of code cites nothing: the page is left, and no try."""
    done = beside(ws, lambda text: text.replace("# Preferences\n", "# Preferences\n\n~~~~\n"))
    assert "~~~~" in page(ws, PREFERENCES)
    assert cite(WHITE) not in page(ws, PREFERENCES)
    assert WHITE.id not in outcomes(ws)
    assert WAGES.id in outcomes(ws)
    assert any(WHITE.id in one and "meanwhile" in one for one in done.problems)
    assert counters.read(ws, DreamCounters).failures == {}


def test_a_day_that_both_set_is_no_collision(ws: Workspace) -> None:
    """Where an editor keeps `updated` by itself the later day stands, and the rest is merged."""
    done = beside(ws, lambda text: text.replace("updated: 2026-07-02", "updated: 2026-07-09"))
    assert "updated: 2026-07-09" in page(ws, PREFERENCES)
    assert cite(WHITE) in page(ws, PREFERENCES)
    assert done.problems == ()


def test_a_page_removed_meanwhile_stays_away(ws: Workspace) -> None:
    """A person who deletes a page while a dream adds to it is not overruled; the entries there wait (P-08)."""
    path = ws.root / ws.notebook / PREFERENCES
    waits = [path]

    def removing(_: str) -> bool:
        if waits:
            waits.pop().unlink()
        return False

    run(ws, masked=removing)
    assert not path.exists()
    assert WHITE.id not in outcomes(ws)


def test_words_on_the_overview_stay_while_it_is_chosen_anew(ws: Workspace) -> None:
    """What a person writes on the overview during a dream stands beside the lines that the dream chose."""
    path = ws.root / ws.notebook / layout.OVERVIEW
    waits = ["\n## Mine\n\nMy words.\n"]

    def saving(_: str) -> bool:
        if waits:
            path.write_text(path.read_text() + waits.pop())
        return False

    run(ws, masked=saving)
    assert "\n## Mine\n\nMy words.\n" in page(ws, layout.OVERVIEW)
    assert "white tea" in page(ws, layout.OVERVIEW)


def test_an_agents_page_is_merged_like_any(tmp_path: Path) -> None:
    """Between an agent's read and the end of its run a person's words elsewhere on the page are kept with its lines."""
    ws = open_world(tmp_path)
    log(ws, [TEA])
    text = body("Preferences", "By hand").replace("# Preferences", "# Preferences\n\nIntroduction.")
    path = ws.root / ws.notebook / TEAS
    path.write_text(text)

    def person(_: object) -> str:
        path.write_text(text.replace("Introduction.", "A better introduction."))
        return "Done."

    edit = "edit", {"path": TEAS, "old": "- By hand\n", "new": f"- By hand\n- {cite(TEA)}\n"}
    done, _ = dreamt(ws, [edit, cited(TEA, TEAS)], person)
    assert page(ws, TEAS) == text.replace("Introduction.", "A better introduction.") + f"- {cite(TEA)}\n"
    assert done.problems == ()


def test_nothing_is_proposed_over_words_that_came_meanwhile(tmp_path: Path) -> None:
    """A person who edits USER.md after the dreamer read it is asked nothing that would take those words back (P-08)."""
    ws = open_world(tmp_path)
    log(ws, [TEA])
    path = ws.root / layout.USER
    read = path.read_text()

    def person(_: object) -> str:
        path.write_text(read + "\nI moved to Lisbon.\n")
        return "Done."

    edit = "write", {"path": layout.USER, "text": f"{read}\nUser likes green tea.\n"}
    settle = "settle", {"entry": TEA.id, "outcome": "declined", "reason": "it stands in USER.md"}
    done, _ = dreamt(ws, [edit, settle], person)
    assert reviews.waiting(ws) == []
    assert f"{layout.USER} was changed meanwhile: nothing is proposed for it" in done.problems
    assert path.read_text().endswith("I moved to Lisbon.\n")


LINES = st.lists(st.sampled_from(["mine\n", "- thine\n", "\n", "# Head\n", "~~~\n", "<b>\n"]), max_size=3)


@pytest.mark.slow
@settings(max_examples=25)
@given(data=st.data())
def test_no_line_of_a_persons_is_ever_lost(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Wherever a person edits while a dream runs, their lines stand afterwards, and no entry is lost (P-08)."""
    ws = prepared(tmp_path_factory.mktemp("beside"))
    saved: list[list[str]] = []

    def edited(text: str) -> str:
        lines = text.splitlines(keepends=True)
        start = data.draw(st.integers(0, len(lines)))
        stop = data.draw(st.integers(start, min(start + 2, len(lines))))
        lines[start:stop] = data.draw(LINES)
        saved.append(lines)
        return "".join(lines)

    beside(ws, edited)
    left = page(ws, PREFERENCES).splitlines(keepends=True)
    theirs = [line for line in saved[0] if not line.startswith("updated:")]
    assert all(left.count(line) >= theirs.count(line) for line in set(theirs))
    known = outcomes(ws)
    cites = {one.id for one in citations(page(ws, PREFERENCES))}
    assert WHITE.id in cites or WHITE.id not in known
    assert WORK.id in known
    assert WAGES.id in known
