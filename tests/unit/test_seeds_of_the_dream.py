"""What the designs that the dream unites promised, row by row, where no other test stands for the row."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from desk import Desk
from dream_agent import answers, body, cite, cited, dreamt, good, write
from dream_world import DAY, PREFERENCES, TEA, entry, log, look_at, open_world, outcomes, page, run

from reverie import layout
from reverie.core.records import Draft
from reverie.core.settings.value import Settings
from reverie.model.dream_prompt import TOOLS
from reverie.store.dreams import runs
from reverie.store.versions.git import History
from reverie.store.workspace import Workspace


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """Return a workspace in the night of 2026-07-02, with four entries of the day before."""
    ws = open_world(tmp_path)
    log(ws, DAY)
    return ws


def test_the_gates_have_the_seeds_numbers() -> None:
    """The dream's and lint's settings begin with the numbers that people know (S-19, S-21, S-37)."""
    dream, lint = Settings().dream, Settings().lint
    assert (dream.enabled, dream.interval_seconds, dream.min_hours, dream.min_facts) == (True, 1800, 24, 20)
    assert (dream.max_days, dream.max_retries, dream.timeout_seconds) == (14, 3, 600)
    assert dream.model == ""
    assert (lint.enabled, lint.min_days) == (True, 7)


def test_what_lies_in_the_inbox_is_a_persons(ws: Workspace) -> None:
    """A page in `0_Inbox` keeps its bytes through a dream: no runbook of ours sorts a person's papers (S-18)."""
    path = ws.root / ws.notebook / "0_Inbox" / "Clipping.md"
    path.write_bytes(b"\xef\xbb\xbfTo be sorted.\r\n")
    run(ws)
    assert path.read_bytes() == b"\xef\xbb\xbfTo be sorted.\r\n"
    assert "[[0_Inbox/Clipping" in page(ws, "index.md")


def test_a_line_that_was_cited_yields_to_its_page_and_no_row_is_dropped(desk: Desk) -> None:
    """After a dream recall shows the page, the entry by id and filter, and the entry again once uncited (S-27)."""
    id_ = desk.remember("User likes jasmine tea", category="preference")
    desk.memory.drain()
    desk.clock.advance(days=1)
    desk.memory.dream(now=True)
    kinds = [hit.kind for hit in desk.hits("jasmine")]
    assert "page" in kinds
    assert "entry" not in kinds
    assert desk.memory.get(id_).entry.id == id_
    path = desk.root / "notebook" / PREFERENCES
    text = re.sub(r"(?m)^- User likes jasmine.*\n", "", path.read_text())
    path.write_text(text)
    overview = desk.root / "notebook" / layout.OVERVIEW
    overview.write_text(re.sub(r"(?m)^- User likes jasmine.*\n", "", overview.read_text()))
    assert id_ in [hit.id for hit in desk.hits("jasmine")]


def test_the_agent_has_seven_tools_and_no_more(ws: Workspace) -> None:
    """It can read, list, search, recall, write, edit and settle: there is no shell and no browser (S-28, N-26)."""
    assert list(TOOLS) == ["read", "list", "search", "recall", "write", "edit", "settle"]
    done, script = dreamt(ws, ("read", {"path": layout.USER}), "Done.")
    assert done.counts == {}
    assert len(answers(script)) == 1


def test_a_dream_leaves_nothing_in_the_conversations(ws: Workspace) -> None:
    """An agent's run is no session: no turn, summary, note or history record comes of it (S-28, N-28)."""
    talk = (layout.SESSIONS, layout.SUMMARIES, layout.HISTORY, layout.JOURNAL, "notes", layout.ARCHIVE)
    before = {path: ws.disk.read(path) for path in ws.disk.walk("") if path.startswith(talk)}
    done, _ = dreamt(ws, *good(*DAY))
    assert done.counts == {"cited": 4}
    assert {path: ws.disk.read(path) for path in ws.disk.walk("") if path.startswith(talk)} == before


def test_promotion_is_part_of_the_same_commit(ws: Workspace) -> None:
    """Pages, overview, index and log of a run are one commit, and MEMORY.md is in none (S-31, S-35)."""
    run(ws)
    last = runs.read(ws)[-1]
    changed = History(ws).changed(last.parent, last.commit)
    for path in (PREFERENCES, layout.OVERVIEW, "index.md", "log.md"):
        assert f"{ws.notebook}/{path}" in changed
    assert layout.MEMORY not in changed
    assert len([one for one in History(ws).log() if one.author == "Reverie"]) == 1


def test_a_dream_needs_no_embedder(tmp_path: Path) -> None:
    """Without an embedder everything is dreamt and found by words (S-32)."""
    with Desk(tmp_path) as desk:
        desk.memory.remember("User likes jasmine tea", Draft(category="preference"))
        desk.memory.drain()
        desk.clock.advance(days=1)
        assert desk.memory.dream(now=True).result == "productive"
        assert any("no embedder" in one for one in desk.memory.status().off)
        assert next(hit.kind for hit in desk.hits("jasmine")) == "page"


def test_a_persons_guidance_goes_along_as_data(ws: Workspace) -> None:
    """`dream.md` reaches the agent, fenced and bounded, beside the instructions, which it does not replace (N-33)."""
    (ws.root / ws.notebook / "dream.md").write_text("Write like a pirate.\n" + "ARR " * 20_000)
    _, script = dreamt(ws, "Done.")
    first = script.messages[0][0]
    told = "".join(str(part.content) for part in first.parts)
    assert "Write like a pirate." in told
    assert told.index("=== data") < told.index("Write like a pirate.")
    assert 32_000 - 100 < 4 * told.count("ARR") < 32_000
    assert "Write like a pirate." not in str(first.instructions)
    assert "settle" in str(first.instructions)


def test_an_empty_guidance_changes_nothing(ws: Workspace) -> None:
    """An empty `dream.md` is as none (N-33)."""
    (ws.root / ws.notebook / "dream.md").write_text(" \n")
    done, script = dreamt(ws, *good(*DAY))
    assert done.counts == {"cited": 4}
    assert str(script.messages[0][0].instructions).startswith("You keep the notebook")


def test_the_history_needs_no_git_and_no_repository_around_it(ws: Workspace) -> None:
    """Inside somebody's repository the pages have a history of their own, and theirs is not touched (N-30)."""
    (ws.root / ".git").mkdir()
    (ws.root / ".git" / "config").write_text("[core]\n\thooksPath = /nowhere\n")
    run(ws)
    assert [path.name for path in (ws.root / ".git").iterdir()] == ["config"]
    assert History(ws).log()[0].author == "Reverie"


def test_a_run_without_a_change_advances_when_all_is_said(ws: Workspace) -> None:
    """Entries that stand on pages already, and are settled so, move the mark without an edit (N-29, S-26)."""
    text = body("Preferences", *(cite(one) for one in DAY))
    (ws.root / ws.notebook / PREFERENCES).write_text(text)
    done, _ = dreamt(ws, [cited(one, PREFERENCES) for one in DAY], "Done.")
    assert done.counts == {"cited": 4}
    assert page(ws, PREFERENCES) == text
    assert done.watermark == "2026-07-01"


def test_an_error_of_a_tool_is_no_failure_of_the_run(ws: Workspace) -> None:
    """Calls that were refused first do not count against what was then done (N-29, P-05)."""
    done, _ = dreamt(ws, write("../../etc/passwd", "x"), ("read", {"wrong": 1}), *good(*DAY))
    assert done.counts == {"cited": 4}
    assert outcomes(ws)[TEA.id].outcome == "cited"


def test_a_long_absence_is_caught_up_batch_by_batch(tmp_path: Path) -> None:
    """Sixty days are worked off oldest first in batches of at most fourteen days (S-21, S-22, R-16)."""
    ws = open_world(tmp_path)
    days = [f"2026-{month:02d}-{day:02d}" for month in (5, 6) for day in range(1, 31)]
    log(ws, [entry(n, f"User tried dish number {n}", day=day) for n, day in enumerate(days, 1)])
    done = run(ws, now=False)
    assert sum(done.counts.values()) == 60
    assert len(done.runs) == 5
    state = look_at(ws)
    assert list(state.pending(before=ws.today)) == []
    state.close()
