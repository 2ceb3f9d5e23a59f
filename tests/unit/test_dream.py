"""Tests of step 7 on real files: what a dream leaves in the notebook, the ledger and the history."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from dream_world import (
    DAY,
    NIGHT,
    TEA,
    WORK,
    bytes_of,
    entry,
    happened,
    log,
    look_at,
    open_world,
    outcomes,
    page,
    run,
)

from reverie import layout
from reverie.core.pages.citations import citing_lines
from reverie.dream import Reach, Wish, dream
from reverie.errors import Busy
from reverie.index.state import State
from reverie.store import pages
from reverie.store.dreams import runs
from reverie.store.dreams.dream_views import Veil
from reverie.store.versions.git import History
from reverie.store.workspace import Workspace
from reverie.testing import FixedClock


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """Return a new workspace in the night of 2026-07-02."""
    return open_world(tmp_path)


def test_a_dream_cites_settles_and_commits(ws: Workspace) -> None:
    """Each entry of a closed day is cited and settled, in one commit that equals the files (R-33, N-30)."""
    log(ws, DAY)
    done = run(ws)
    assert str(done) == "4 entries: 4 cited on 3 pages"
    assert {one.outcome for one in outcomes(ws).values()} == {"cited"}
    for one in DAY:
        text = page(ws, outcomes(ws)[one.id].page)
        assert any(one.id in ids for _, _, ids in citing_lines(text))
    history = History(ws)
    newest = history.log(1)[0]
    assert newest.id == done.commit == runs.read(ws)[0].commit
    assert {path: history.blob(blob) for path, blob in history.tree(newest.id).items()} == pages.snapshot(ws)
    assert "A 3_Personal/Work.md +" in newest.message
    assert done.run in newest.message
    assert done.due.publish


def test_the_run_is_recorded_in_the_log_page(ws: Workspace) -> None:
    """`log.md` gets the run's line, which agrees with its record; the watermark is the last finished day (S-25)."""
    log(ws, DAY)
    done = run(ws)
    assert f"\n## [2026-07-02] ingest | run={done.run} watermark=2026-07-01\n" in page(ws, "log.md")
    assert done.watermark == runs.watermark(ws) == "2026-07-01"
    assert done.run == "dream:20260702-030000"


def test_the_index_lists_pages_with_their_descriptions(ws: Workspace) -> None:
    """`index.md` lists every page by zone, a person's too; its own text stays."""
    log(ws, DAY)
    (ws.root / ws.notebook / "1_Projects" / "Mine.md").write_text("# by hand\n", encoding="utf-8")
    run(ws)
    text = page(ws, "index.md")
    assert text.startswith("# Index\n")
    assert "## 3_Personal\n" in text
    assert (
        f"- [[3_Personal/Preferences|Preferences]]: {'What the user prefers, likes and dislikes'}\n" in text
    )
    assert "- [[1_Projects/Mine]]\n" in text


def test_todays_entries_are_left_alone(ws: Workspace) -> None:
    """An entry of the present day is not pending, and the watermark stays before it (S-20)."""
    log(ws, [TEA, entry(9, "User bought a boat", day="2026-07-02")])
    done = run(ws)
    assert set(outcomes(ws)) == {TEA.id}
    assert done.watermark == "2026-07-01"


def test_a_second_dream_changes_nothing(ws: Workspace) -> None:
    """With everything settled a dream writes no file at all."""
    log(ws, DAY)
    run(ws)
    before = bytes_of(ws)
    done = run(ws)
    assert (done.result, done.watermark) == ("nothing", "2026-07-01")
    assert bytes_of(ws) == before


def test_the_gates_hold_a_dream_back(ws: Workspace) -> None:
    """Without a person's call a dream waits for enough entries, says so, and touches nothing."""
    log(ws, DAY)
    before = bytes_of(ws)
    done = run(ws, now=False)
    assert done.result == "nothing"
    assert "4 of 20 entries" in str(done)
    assert bytes_of(ws) == before


def test_a_dry_run_shows_the_difference_and_changes_nothing(ws: Workspace) -> None:
    """A dry run returns what would change as a unified diff, over all batches, and leaves every byte."""
    ws = open_world(ws.root, max_entries=2)
    log(ws, DAY)
    before = bytes_of(ws)
    done = run(ws, dry=True)
    assert done.counts == {"cited": 4}
    assert "+++ b/notebook/3_Personal/Preferences.md" in done.diff
    assert "+- User likes green tea [[archive/2026-07-01#^0000000000000001]]" in done.diff
    assert not done.due.publish
    assert bytes_of(ws) == before


def is_busy(ws: Workspace) -> bool:
    """Tell whether another thread finds the dream lock taken."""

    def ask() -> bool:
        try:
            with ws.locks.dream(0):
                return False
        except Busy:
            return True

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(ask).result()


def test_a_dream_under_way_makes_the_next_one_busy(ws: Workspace) -> None:
    """Two dreams never run at once: the second is told at once, also by hand (R-14, S-33)."""
    log(ws, DAY)
    with ThreadPoolExecutor(1) as pool, ws.locks.dream(0, what="dream"), pytest.raises(Busy):
        pool.submit(run, ws).result()
    assert outcomes(ws) == {}


def test_the_state_is_read_under_the_lock(ws: Workspace) -> None:
    """The state is asked for once the lock is held: what another process dreamt a moment ago is not dreamt again."""
    log(ws, DAY)
    seen: list[State] = []

    def look() -> State:
        assert is_busy(ws)
        seen.append(look_at(ws))
        return seen[-1]

    dream(ws, Reach(look=look, veil=Veil()), Wish(now=True))
    seen[0].close()
    assert len(outcomes(ws)) == 4
    assert not is_busy(ws)


def test_a_repeat_and_a_change_end_where_they_should(ws: Workspace) -> None:
    """Merged and superseded entries are settled into the ones that pages cite (R-01, R-03, R-08)."""
    again = entry(10, "User likes green tea", category="preference", session="s2")
    new = entry(11, "User now works at Microsoft", category="work")
    log(ws, [TEA, again, WORK, new])
    happened(ws, "repeat", again, TEA)
    happened(ws, "supersede", new, WORK)
    done = run(ws)
    settled = {one.entry: (one.outcome, one.into) for one in outcomes(ws).values()}
    assert settled == {
        TEA.id: ("cited", ""),
        again.id: ("merged", TEA.id),
        WORK.id: ("superseded", new.id),
        new.id: ("cited", ""),
    }
    assert str(done) == "4 entries: 2 cited on 2 pages, 1 merged, 1 superseded"


def test_explicit_writes_are_linked_by_the_dream(ws: Workspace) -> None:
    """What was remembered outright, past any extraction, is linked here: repeats fold, changes succeed (R-01, R-03)."""
    teas = [entry(n, "User likes green tea", category="preference", session="") for n in range(30, 34)]
    new = entry(40, "User now works at Microsoft", category="work", session="", at=NIGHT - timedelta(hours=9))
    log(ws, [WORK, *teas, new])
    done = run(ws, linking=True)
    settled = {one.entry: (one.outcome, one.into) for one in outcomes(ws).values()}
    assert settled[WORK.id] == ("superseded", new.id)
    assert [settled[one.id] for one in teas] == [("cited", ""), *[("merged", teas[0].id)] * 3]
    events = (ws.disk.read(layout.EVENTS) or b"").count(b"\n")
    log(ws, [entry(41, "User sings", session="")])
    run(ws, linking=True)
    assert (ws.disk.read(layout.EVENTS) or b"").count(b"\n") == events
    assert done.counts == {"cited": 2, "merged": 3, "superseded": 1}


def test_a_batch_of_known_facts_is_settled_without_a_retry(ws: Workspace) -> None:
    """A dream that changes hardly a line is productive all the same when every record has its outcome (R-08, S-26)."""
    log(ws, [TEA])
    run(ws)
    again = [entry(n, "User likes green tea", category="preference") for n in range(20, 25)]
    log(ws, again)
    done = run(ws)
    assert done.counts == {"merged": 5}
    assert done.result == "productive"


@pytest.mark.slow
def test_night_after_night_changes_little(tmp_path: Path) -> None:
    """A dream each night for forty days: each entry has one outcome, and a night changes about as much as was said."""
    first, clock = datetime(2026, 1, 1, tzinfo=UTC), FixedClock(NIGHT)
    kinds = ("preference", "work", "episode", "goal", "fact")
    opened = open_world(tmp_path)
    ws = Workspace(tmp_path, opened.settings, clock=clock, new_id=opened.new_id)
    for night in range(40):
        day = (first + timedelta(days=night)).date().isoformat()
        numbers = range(night * 20, night * 20 + 20)
        log(
            ws,
            [
                entry(n + 1, f"User repaired boat {n} with Dana", day=day, category=kinds[n % 5])
                for n in numbers
            ],
        )
        clock.set(first + timedelta(days=night + 1, hours=3))
        before = pages.snapshot(ws)
        assert run(ws, now=False).counts == {"cited": 20}
        changed = [
            line
            for path, data in pages.snapshot(ws).items()
            for line in set(data.splitlines()) - set(before.get(path, b"").splitlines())
        ]
        assert night == 0 or len(changed) < 100
    assert len(outcomes(ws)) == 800
