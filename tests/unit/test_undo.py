"""Looking back: one run is taken back and no other, people's words stay, and what is forgotten stays away."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from desk import Desk

from reverie import layout
from reverie.core.days import format_instant
from reverie.errors import Conflict, NotFound, UsageError
from reverie.store.dreams import runs
from reverie.store.versions.git import History

if TYPE_CHECKING:
    from pathlib import Path

TEA, BIKE = "User likes jasmine tea in the morning", "User rides a green bicycle to the office"


def _pages(desk: Desk) -> dict[str, bytes]:
    """Return the notebook's content pages."""
    return {
        path: data
        for path, data in desk.bytes().items()
        if path.startswith("notebook/") and path not in {"notebook/log.md", "notebook/index.md"}
    }


def _page_of(desk: Desk, entry: str) -> Path:
    """Return the page on which a dream put an entry."""
    pages = [page for page in desk.root.glob("notebook/*_*/**/*.md") if page.name != "Overview.md"]
    return next(page for page in pages if entry in page.read_text(encoding="utf-8"))


def _outcomes(desk: Desk, entry: str) -> list[str]:
    return [one.outcome for one in desk.memory.why(entry).outcomes]


def test_undoing_the_only_run_removes_what_it_made(desk: Desk) -> None:
    """The pages a run made are gone, its entries are declined, found on their own, and not dreamt of again (R-32)."""
    before = _pages(desk)
    kept = desk.remember(TEA, category="preference")
    run = desk.night()
    assert _pages(desk) != before
    done = desk.memory.undo(run.run)
    assert (done.kind, done.undoes, done.counts) == ("undo", run.run, {"declined": 1})
    assert _pages(desk) == before
    assert _outcomes(desk, kept) == ["declined"]
    assert desk.memory.why(kept).outcomes[0].reason.startswith("undone by ")
    assert [hit.id for hit in desk.hits("jasmine")] == [kept]
    desk.clock.advance(days=3)
    desk.memory.consolidate()
    assert desk.memory.dream(now=True).result == "nothing"
    assert _pages(desk) == before


def test_undoing_one_run_leaves_the_later_one(desk: Desk) -> None:
    """Of two runs on different pages the older is undone and the newer stays, also after the next dream (R-32)."""
    first = desk.remember(TEA, category="preference")
    run = desk.night()
    second = desk.remember("The staging database listens on port 6543", category="technical")
    desk.night()
    page = _page_of(desk, second)
    text = page.read_text(encoding="utf-8")
    desk.memory.undo(run.run)
    assert page.read_text(encoding="utf-8") == text
    assert (_outcomes(desk, first), _outcomes(desk, second)) == (["declined"], ["cited"])
    desk.clock.advance(days=2)
    desk.memory.consolidate()
    assert desk.memory.dream(now=True).result == "nothing"
    assert not [path for path, data in _pages(desk).items() if first.encode() in data]


def test_a_retry_dreams_the_entries_again(desk: Desk) -> None:
    """Undone to be tried again, the entries are pending, and the next dream gives the pages back."""
    kept = desk.remember(TEA, category="preference")
    run = desk.night()
    after = _pages(desk)
    assert desk.memory.undo(run.run, retry=True).counts == {"pending": 1}
    assert desk.memory.status().pending
    assert desk.memory.dream(now=True).counts == {"cited": 1}
    assert _outcomes(desk, kept) == ["cited"]
    assert {path: data for path, data in _pages(desk).items() if "Overview" not in path} == {
        path: data for path, data in after.items() if "Overview" not in path
    }


def test_a_changed_page_keeps_what_a_person_wrote_since(desk: Desk) -> None:
    """A page that the run changed loses the run's line alone, and keeps a person's later line elsewhere on it."""
    first = desk.remember(TEA, category="preference")
    desk.night()
    page = _page_of(desk, first)
    before = page.read_text(encoding="utf-8")
    second = desk.remember("User likes dark chocolate with sea salt", category="preference")
    run = desk.night()
    assert second in page.read_text(encoding="utf-8")
    text = page.read_text(encoding="utf-8").replace("## Key Facts", "A person's line.\n\n## Key Facts")
    page.write_text(text, encoding="utf-8")
    desk.memory.undo(run.run)
    after = page.read_text(encoding="utf-8")
    assert (first in after, second in after, "A person's line." in after) == (True, False, True)
    assert after.replace("A person's line.\n\n", "") == before


def test_a_line_changed_since_is_a_conflict(desk: Desk) -> None:
    """Where a person changed the very line that the run wrote, undoing is refused and changes nothing."""
    kept = desk.remember(TEA, category="preference")
    run = desk.night()
    page = _page_of(desk, kept)
    page.write_text(page.read_text(encoding="utf-8").replace("jasmine", "green"), encoding="utf-8")
    before = desk.bytes()
    with pytest.raises(Conflict, match="changed again"):
        desk.memory.undo(run.run)
    assert desk.bytes() == before


def test_a_page_a_person_removed_stays_away(desk: Desk) -> None:
    """A page that the run made and a person removed since is not brought back, not even empty."""
    kept = desk.remember(TEA, category="preference")
    run = desk.night()
    page = _page_of(desk, kept)
    page.unlink()
    desk.memory.undo(run.run)
    assert not page.exists()
    assert _outcomes(desk, kept) == ["declined"]


def test_a_run_is_undone_once(desk: Desk) -> None:
    """Undoing twice, undoing an undo and undoing what never was are refused."""
    desk.remember(TEA, category="preference")
    run = desk.night()
    done = desk.memory.undo(run.run)
    for name in (run.run, done.run):
        with pytest.raises(Conflict):
            desk.memory.undo(name)
    with pytest.raises(NotFound, match="reverie log"):
        desk.memory.undo("dream:19990101-000000")


def test_a_run_that_was_restored_to_can_be_undone(desk: Desk) -> None:
    """Putting the pages back to how a run left them undoes nothing: that run can be taken back, once, as any."""
    desk.remember(TEA, category="preference")
    first = desk.night().run
    desk.remember(BIKE, category="preference")
    second = desk.night().run
    desk.memory.restore(first)
    desk.memory.restore(second)
    assert desk.memory.undo(second).counts == {"declined": 1}
    assert BIKE not in desk.text("notebook/3_Personal/Preferences.md")
    assert TEA in desk.text("notebook/3_Personal/Preferences.md")
    with pytest.raises(Conflict):
        desk.memory.undo(second)


def test_runs_undone_at_one_instant_have_names_of_their_own(desk: Desk) -> None:
    """Two runs undone within one second are two records, so that neither can be undone again."""
    desk.remember(TEA, category="preference")
    first = desk.night()
    desk.remember("The staging database listens on port 6543", category="technical")
    second = desk.night()
    names = {desk.memory.undo(run.run).run for run in (second, first)}
    assert len(names) == 2
    assert {one.undoes for one in desk.memory.log()} >= {first.run, second.run}


def test_the_watermark_never_moves_back(desk: Desk) -> None:
    """Neither undoing nor restoring changes the day that the notebook has reached, nor the notebook's log."""
    desk.remember(TEA, category="preference")
    run = desk.night()
    reached, log = runs.watermark(desk.memory.opened.ws), desk.text("notebook/log.md")
    assert reached == "2026-07-01"
    desk.memory.undo(run.run)
    desk.memory.restore(run.run)
    assert runs.watermark(desk.memory.opened.ws) == reached
    assert desk.memory.status().watermark == reached
    assert desk.text("notebook/log.md").startswith(log)


def test_the_diff_shows_what_changed(desk: Desk) -> None:
    """A run's diff is of the real files, leaves forgotten lines out and says how many."""
    kept, other = desk.remember(TEA, category="preference"), desk.remember(BIKE, category="preference")
    run = desk.night()
    text = desk.memory.diff(run.run)
    assert f"+- {TEA}" in text
    assert BIKE in text
    desk.memory.forget([other])
    hidden = desk.memory.diff(run.run)
    assert TEA in hidden
    assert "bicycle" not in hidden
    assert "forgotten" in hidden.splitlines()[-1]
    assert kept in hidden
    with pytest.raises(NotFound):
        desk.memory.diff("dream:19990101-000000")


def test_restoring_an_instant_puts_the_pages_back(desk: Desk) -> None:
    """Restored to an instant the pages are byte for byte what they were, and what they lost is pending again."""
    first = desk.remember(TEA, category="preference")
    desk.night()
    before, then = _pages(desk), format_instant(desk.clock())
    second = desk.remember("User likes dark chocolate with sea salt", category="preference")
    desk.night()
    assert _pages(desk) != before
    done = desk.memory.restore(then)
    assert (done.kind, done.counts) == ("restore", {"pending": 1})
    assert _pages(desk) == before
    assert _outcomes(desk, first) == ["cited"]
    assert desk.hits("chocolate")[0].id == second
    assert desk.memory.dream(now=True).counts == {"cited": 1}
    assert _outcomes(desk, second) == ["cited"]


def test_restoring_a_run_puts_the_pages_as_it_left_them(desk: Desk) -> None:
    """Restored to a run the pages are as it left them, a person's later words are in the history (N-31)."""
    kept = desk.remember(TEA, category="preference")
    run = desk.night()
    before = _pages(desk)
    page = _page_of(desk, kept)
    page.write_text("---\ntype: note\n---\n# Mine\n\nEverything was rewritten by hand.\n", encoding="utf-8")
    desk.clock.advance(hours=1)
    done = desk.memory.restore(run.run)
    assert _pages(desk) == before
    assert done.pages == (page.relative_to(desk.root / "notebook").as_posix(),)
    history = History(desk.memory.opened.ws)
    theirs = history.tree(history.commit(done.commit).parent)[page.relative_to(desk.root).as_posix()]
    assert b"rewritten by hand" in history.blob(theirs)


def test_forgotten_lines_stay_away_from_what_is_restored(desk: Desk) -> None:
    """A page from before a forget comes back without the lines that say what was forgotten."""
    kept, gone = desk.remember(TEA, category="preference"), desk.remember(BIKE, category="preference")
    desk.night()
    then = format_instant(desk.clock())
    desk.clock.advance(hours=1)
    desk.memory.forget([gone])
    page = _page_of(desk, kept)
    page.unlink()
    desk.memory.restore(then)
    assert TEA in page.read_text(encoding="utf-8")
    assert "bicycle" not in page.read_text(encoding="utf-8")
    assert desk.found("bicycle") == []


@pytest.mark.parametrize("when", ["1999-01-01T00:00:00Z", "dream:19990101-000000"])
def test_what_lies_before_the_history_is_not_found(desk: Desk, when: str) -> None:
    """An instant before the first commit, or a run that never was, cannot be restored."""
    desk.remember(TEA, category="preference")
    desk.night()
    before = desk.bytes()
    with pytest.raises(NotFound):
        desk.memory.restore(when)
    assert desk.bytes() == before


@pytest.mark.parametrize("when", ["yesterday", "", "2026-07-01", "2026-13-01T00:00:00Z"])
def test_what_is_no_instant_is_a_usage_error(desk: Desk, when: str) -> None:
    """A text that is neither an instant with its offset nor a run's name says how to write one."""
    with pytest.raises(UsageError, match="instant"):
        desk.memory.restore(when)


def test_an_entry_cited_on_another_page_is_not_lost(desk: Desk) -> None:
    """After a restore only entries that no page at all cites are pending again."""
    kept = desk.remember(TEA, category="preference")
    then = format_instant(desk.clock())
    desk.page("1_Projects/Mine.md", "Before.")
    desk.memory.drain()
    desk.clock.advance(hours=1)
    run = desk.night()
    desk.page("1_Projects/Other.md", f"- {TEA} {desk.cited(kept)}")
    desk.clock.advance(hours=1)
    desk.memory.consolidate()
    with pytest.raises(NotFound):
        desk.memory.restore(then)
    assert desk.memory.undo(run.run).counts == {"declined": 1}
    assert (desk.root / "notebook/1_Projects/Other.md").exists()


def test_undo_is_a_run_of_its_own_in_the_log(desk: Desk) -> None:
    """The log shows dreams and undos newest first, and the run records keep both for ever."""
    desk.remember(TEA, category="preference")
    run = desk.night()
    done = desk.memory.undo(run.run)
    assert [one.run for one in desk.memory.log()] == [done.run, run.run]
    assert [one.run for one in desk.memory.log(limit=1)] == [done.run]
    assert (desk.root / layout.RUNS).exists()


def test_the_list_of_pages_names_none_that_an_undo_took_away(desk: Desk) -> None:
    """After an undo of the older of two runs, `index.md` lists the pages that are there, each and no other (R-32)."""
    desk.remember(TEA, category="preference")
    run = desk.night()
    desk.remember("The staging database listens on port 6543", category="technical")
    desk.night()
    desk.memory.undo(run.run)
    listed = (desk.root / "notebook/index.md").read_text(encoding="utf-8")
    there = {
        path.removeprefix("notebook/").removesuffix(".md") for path in _pages(desk) if path.endswith(".md")
    }
    named = set(re.findall(r"^- \[\[([^|\]]+)", listed, re.MULTILINE))
    assert named == there - {"schema"}


def test_lines_that_later_runs_added_beside_it_stay(desk: Desk) -> None:
    """Undoing a run between two others takes its own lines from the page and the overview, and leaves theirs (R-32)."""
    first = desk.remember(TEA, category="preference")
    desk.night()
    second = desk.remember("User likes rye bread for supper", category="preference")
    run = desk.night()
    third = desk.remember("User likes plum jam for breakfast", category="preference")
    desk.night()
    page = _page_of(desk, third)
    desk.memory.undo(run.run)
    for path in (page, desk.root / "notebook" / layout.OVERVIEW):
        text = path.read_text(encoding="utf-8")
        assert (first in text, second in text, third in text) == (True, False, True)
    assert [_outcomes(desk, one) for one in (first, second, third)] == [["cited"], ["declined"], ["cited"]]
