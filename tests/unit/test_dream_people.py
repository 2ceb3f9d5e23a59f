"""Tests of a dream beside people: their pages, their edits meanwhile, their links, the overview they share."""

from __future__ import annotations

from pathlib import Path

import pytest
from dream_world import (
    DANA,
    DAY,
    PREFERENCES,
    TEA,
    WORK,
    entry,
    failing,
    happened,
    later,
    log,
    open_world,
    outcomes,
    page,
    run,
)

from reverie import layout
from reverie.core.dreams.run_words import PageChange, commit_message, message_without
from reverie.core.pages.blocks import render_block
from reverie.core.records import Outcome, Run
from reverie.store import counters
from reverie.store.counters import DreamCounters
from reverie.store.dreams import installing, runs
from reverie.store.versions.git import History
from reverie.store.workspace import Workspace


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """Return a new workspace in the night of 2026-07-02."""
    return open_world(tmp_path)


def test_what_people_wrote_is_committed_as_theirs(ws: Workspace) -> None:
    """A person's pages are in the history under their name before the dream's commit comes (P-08)."""
    log(ws, [TEA])
    (ws.root / ws.notebook / "1_Projects" / "Mine.md").write_text("# by hand\n", encoding="utf-8")
    run(ws)
    mine, theirs = History(ws).log(2)
    assert (mine.author, theirs.author) == ("Reverie", "person")
    assert "notebook/1_Projects/Mine.md" in theirs.message


def test_a_page_edited_during_the_dream_is_left_to_its_author(ws: Workspace) -> None:
    """What a person saved while the dreamer was at work stays; its entries stay pending, and that is no failure."""
    log(ws, DAY)
    run(ws)
    more = entry(9, "User likes white tea", category="preference")
    log(ws, [more, entry(10, "User earns well", category="work")])
    path = ws.root / ws.notebook / PREFERENCES

    def meddling(_: str) -> bool:
        path.write_text("---\ntitle: Mine now\n---\n\nMine.\n", encoding="utf-8")
        return False

    done = run(ws, masked=meddling)
    assert path.read_text(encoding="utf-8") == "---\ntitle: Mine now\n---\n\nMine.\n"
    assert more.id not in outcomes(ws)
    assert len(outcomes(ws)) == 5
    assert any("left to them" in problem for problem in done.problems)
    assert counters.read(ws, DreamCounters).failures == {}
    assert run(ws).counts == {"cited": 1}
    assert "Mine.\n" in page(ws, PREFERENCES)


def test_the_message_of_a_commit_names_what_landed(ws: Workspace) -> None:
    """A page that a person saved between judgement and write is in neither the commit nor its message (R-33)."""
    theirs, ours = f"{ws.notebook}/3_Personal/Tea.md", f"{ws.notebook}/3_Personal/Work.md"
    (ws.root / theirs).write_text("# mine\n", encoding="utf-8")
    changes = [
        PageChange("3_Personal/Tea.md", 1, 0, new=True),
        PageChange("3_Personal/Work.md", 2, 0, new=True),
    ]
    names = tuple(one.path for one in changes)
    settled = tuple(
        Outcome(run="dream:1", entry=one.id, outcome="cited", at=ws.clock(), page=f"3_Personal/{name}.md")
        for one, name in ((TEA, "Tea"), (WORK, "Work"))
    )
    wanted = installing.Wanted(
        run=Run(
            run="dream:1",
            kind="dream",
            started=ws.clock(),
            ended=ws.clock(),
            dreamer="test",
            result="productive",
            pages=names,
        ),
        files={theirs: (None, b"# tea\n"), ours: (None, b"# work\nx\n")},
        also={},
        outcomes=settled,
        log_line="",
        message=commit_message("dream:1", {"cited": 2}, days=["2026-07-01"], changes=changes),
    )
    recorded, kept = installing.install(ws, History(ws), wanted)
    newest = History(ws).log(1)[0]
    assert History(ws).changed(recorded.parent or None, newest.id).keys() == {ours}
    said = commit_message("dream:1", {"cited": 1}, days=["2026-07-01"], changes=changes[1:])
    assert newest.message == said.rstrip()
    assert newest.message.startswith("Dream of 2026-07-01: 0 pages changed, 1 made\n")
    assert (recorded.counts, [one.entry for one in kept]) == ({"cited": 1}, [WORK.id])
    assert (ws.root / theirs).read_text(encoding="utf-8") == "# mine\n"


def test_the_message_of_any_change_names_what_landed() -> None:
    """A list of files loses those that did not land, and nothing else of the message."""
    told = "Lint: 2 findings, 2 mended\n\nnotebook/a.md\nnotebook/b.md\nRun: lint:1\n"
    left = message_without(told, {"a.md", "notebook/a.md"}, counts={})
    assert left == told.replace("notebook/a.md\n", "")


def test_a_link_in_the_place_of_a_page_is_not_followed(
    ws: Workspace, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A page that leads out of the workspace is neither read nor written; other pages go on (P-18)."""
    outside = tmp_path_factory.mktemp("outside") / "diary.md"
    outside.write_text("private\n", encoding="utf-8")
    (ws.root / ws.notebook / PREFERENCES).symlink_to(outside)
    log(ws, DAY)
    run(ws)
    assert outside.read_text(encoding="utf-8") == "private\n"
    assert TEA.id not in outcomes(ws)
    assert WORK.id in outcomes(ws)


def test_memory_compiled_anew_is_no_persons_edit(ws: Workspace) -> None:
    """A compiled MEMORY.md is taken into the dream's commit; words outside its block are a person's."""
    log(ws, [TEA])
    run(ws)
    ws.disk.replace(layout.MEMORY, render_block("compiled\n").encode())
    log(ws, [WORK])
    run(ws)
    assert [one.author for one in History(ws).log(2)] == ["Reverie", "Reverie"]
    ws.disk.replace(layout.MEMORY, b"mine\n\n" + render_block("compiled\n").encode())
    log(ws, DANA)
    run(ws)
    assert [one.author for one in History(ws).log(2)] == ["Reverie", "person"]


def test_broken_index_markers_are_reported_and_left(ws: Workspace) -> None:
    """An `index.md` whose markers somebody broke stays as it is, and the run says so."""
    path = ws.root / ws.notebook / "index.md"
    path.write_text("<!-- reverie:begin -->\nmine\n", encoding="utf-8")
    log(ws, [TEA])
    run(ws)
    assert path.read_text(encoding="utf-8") == "<!-- reverie:begin -->\nmine\n"
    assert any("index.md" in problem for problem in runs.read(ws)[0].problems)


def test_the_overview_is_chosen_from_all_pages(ws: Workspace) -> None:
    """Every page of the user competes by significance, the last in the alphabet too (R-48, S-35)."""
    filler = [
        entry(n, f"User keeps bee hive number {n} well", category=f"bees-{n % 30:02d}") for n in range(1, 400)
    ]
    top = entry(900, "User must never eat walnuts", category="zz-health", sig=0.95)
    log(ws, [*filler, top])
    run(ws)
    text = page(ws, layout.OVERVIEW)
    assert f"- User must never eat walnuts [[archive/2026-07-01#^{top.id}]]" in text
    assert len(text) < 7_000


def test_the_overview_follows_what_holds_and_keeps_a_persons_words(ws: Workspace) -> None:
    """A superseded line leaves the overview, its successor comes in, and what people wrote on the page stays."""
    log(ws, [WORK])
    run(ws)
    path = ws.root / ws.notebook / layout.OVERVIEW
    path.write_text(path.read_text(encoding="utf-8") + "\n## Mine\n\nMy words.\n", encoding="utf-8")
    later(ws, days=1)
    new = entry(9, "User now works at Microsoft", category="work", day="2026-07-02")
    log(ws, [new])
    happened(ws, "supersede", new, WORK)
    run(ws)
    text = page(ws, layout.OVERVIEW)
    assert "Microsoft" in text
    assert "Google" not in text
    assert "\n## Mine\n\nMy words.\n" in text


def test_projects_have_headings_of_their_own_in_the_overview(ws: Workspace) -> None:
    """Lines of a project's page stand under its name."""
    log(ws, [entry(1, "Tidewatch uses Postgres", about="tidewatch", category="project", session="")])
    run(ws)
    assert "## Project: Tidewatch\n\n- Tidewatch uses Postgres [[" in page(ws, layout.OVERVIEW)


def test_what_is_forgotten_enters_no_overview(ws: Workspace) -> None:
    """A line whose entry is masked is not promoted."""
    log(ws, DAY)
    run(ws)
    log(ws, [entry(9, "User earns well", category="work")])
    run(ws, masked=failing("green tea"))
    assert "green tea" not in page(ws, layout.OVERVIEW)


def test_the_overview_may_shrink(ws: Workspace) -> None:
    """When most of what it quoted no longer holds, the overview gets short: it only quotes."""
    many = [entry(n, f"User keeps bee hive number {n} well", category=f"bees-{n % 9}") for n in range(1, 60)]
    log(ws, many)
    run(ws)
    for one in many[3:]:
        happened(ws, "hide", one)
    log(ws, [entry(99, "User likes tea", category="preference")])
    run(ws)
    assert page(ws, layout.OVERVIEW).count("bee hive") == 3
