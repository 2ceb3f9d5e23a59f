"""Lint that mends: what is safe, judged as a dream is, in a run that can be taken back; and when it runs by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from desk import Desk

from reverie import layout
from reverie.core.pages.claims import uncited
from reverie.errors import Busy, StoreUnwritable
from reverie.store.dreams import lease
from reverie.testing import CrashDisk

if TYPE_CHECKING:
    from pathlib import Path

GONE = "User is allergic to macadamia nuts"


def _kinds(desk: Desk) -> list[str]:
    return [one.kind for one in desk.memory.lint().findings]


@pytest.fixture
def kept(desk: Desk) -> str:
    """An entry that pages can cite."""
    entry = desk.remember("User likes tea", category="preference")
    desk.memory.drain()
    return entry


def test_a_link_to_a_page_that_moved_follows_it(desk: Desk, kept: str) -> None:
    """A link to a page that stands elsewhere under its name leads there again; heading and alias stay."""
    page = desk.page(
        "2_Wiki/Concepts/Tea.md", "See [[0_Inbox/Milk#Uses|milk]].", f"Likes tea. {desk.cited(kept)}"
    )
    desk.page("2_Wiki/Concepts/Milk.md", f"White. {desk.cited(kept)}")
    done = desk.memory.lint(fix=True)
    assert ([one.kind for one in done.mended], done.findings) == (["broken link"], ())
    assert "See [[2_Wiki/Concepts/Milk#Uses|milk]].\n" in desk.text(page)
    assert desk.memory.lint(fix=True).mended == ()


def test_a_link_to_a_page_renamed_by_hand_follows_its_entries(desk: Desk) -> None:
    """Where a person gave a dreamt page another name, links follow the entries it cites, which stay cited."""
    first = desk.remember("User likes jasmine tea", category="preference")
    desk.remember("User likes rye bread", category="preference")
    desk.night()
    old = desk.root / "notebook/3_Personal/Preferences.md"
    old.rename(old.with_name("Tastes.md"))
    page = desk.page(
        "0_Inbox/Notes.md", "See [[3_Personal/Preferences]].", f"Likes jasmine tea. {desk.cited(first)}"
    )
    assert [hit.kind for hit in desk.hits("jasmine")][:1] == ["page"]
    done = desk.memory.lint(fix=True)
    assert [one.kind for one in done.mended] == ["broken link"]
    assert "See [[3_Personal/Tastes]]." in desk.text(page)


@pytest.mark.parametrize("others", [(), ("1_Projects/Milk.md", "2_Wiki/Concepts/Milk.md")])
def test_a_link_that_may_mean_none_or_several_is_left(desk: Desk, kept: str, others: tuple[str, ...]) -> None:
    """A link is led nowhere when no page, or more than one, can be meant; it stays a finding."""
    page = desk.page("2_Wiki/Concepts/Tea.md", "See [[0_Inbox/Milk]].", f"Likes tea. {desk.cited(kept)}")
    for other in others:
        desk.page(other, f"White. {desk.cited(kept)}")
    before = desk.text(page)
    done = desk.memory.lint(fix=True)
    assert ([one.kind for one in done.findings], done.mended) == (["broken link"], ())
    assert desk.text(page) == before


def test_a_forgotten_line_is_taken_out(desk: Desk, kept: str) -> None:
    """A line that says what was forgotten goes, its neighbours stay, and the run's diff does not show it."""
    gone = desk.remember(GONE)
    page = desk.page(
        "0_Inbox/Health.md", f"Likes tea. {desk.cited(kept)}", f"{GONE}, people say.", "Likes trees."
    )
    desk.memory.forget([gone])
    before = desk.text(page)
    done = desk.memory.lint(fix=True)
    assert ([one.kind for one in done.mended], done.findings) == (["forgotten"], ())
    assert desk.text(page) == before.replace(f"{GONE}, people say.\n", "")
    shown = desk.memory.diff(done.run)
    assert "macadamia" not in shown
    assert "(1 line forgotten)" in shown


def test_doubtful_pages_are_marked_for_review_once(desk: Desk, kept: str) -> None:
    """A stale page, and one whose citation leads to no entry, get `review: needs-review` and stay findings."""
    stale = desk.page(
        "0_Inbox/Price.md",
        f"Ten euros. {desk.cited(kept)}",
        type="concept",
        title="Price",
        stale_after="2026-06-30",
    )
    lost = desk.page(
        "0_Inbox/Lost.md",
        f"Tea. {desk.cited(kept)}",
        "",
        f"Said once. [[archive/2026-07-01#^{'f' * 16}]]",
        type="concept",
        title="Lost",
    )
    done = desk.memory.lint(fix=True)
    assert sorted(one.kind for one in done.mended) == ["lost source", "stale"]
    for page in (stale, lost):
        assert desk.text(page).count("review: needs-review") == 1
    again = desk.memory.lint(fix=True)
    assert (sorted(one.kind for one in again.findings), again.mended) == (["lost source", "stale"], ())


def test_what_the_judgement_refuses_is_left(desk: Desk) -> None:
    """When most of a page would go it is not mended, the reason is told, and its bytes stay."""
    gone = desk.remember(GONE)
    page = desk.page("0_Inbox/Health.md", *[f"{GONE}, says doctor number {n}." for n in range(8)])
    desk.memory.forget([gone])
    before = desk.text(page)
    done = desk.memory.lint(fix=True)
    assert done.mended == ()
    assert "more than half of the page would be gone" in done.refused[0]
    assert desk.text(page) == before


def test_a_page_outside_the_zones_is_never_touched(desk: Desk, kept: str) -> None:
    """Pages of a person's own folders are looked at, and never mended."""
    page = desk.page("Journal/Monday.md", "See [[0_Inbox/Milk]].", f"Likes tea. {desk.cited(kept)}")
    desk.page("2_Wiki/Concepts/Milk.md", f"White. {desk.cited(kept)}")
    before = desk.text(page)
    done = desk.memory.lint(fix=True)
    assert ([one.page for one in done.findings], len(done.refused)) == ([page], 1)
    assert desk.text(page) == before


def test_mending_is_a_run_that_can_be_undone(desk: Desk, kept: str) -> None:
    """Undone, the pages are byte for byte what they were; undone twice is refused like any run."""
    page = desk.page("2_Wiki/Concepts/Tea.md", "See [[0_Inbox/Milk]].", f"Likes tea. {desk.cited(kept)}")
    desk.page("2_Wiki/Concepts/Milk.md", f"White. {desk.cited(kept)}")
    before = desk.text(page)
    done = desk.memory.lint(fix=True)
    assert desk.text(page) != before
    undone = desk.memory.undo(done.run)
    assert (undone.kind, undone.undoes) == ("undo", done.run)
    assert desk.text(page) == before


def test_mending_waits_for_no_dream(desk: Desk, kept: str) -> None:
    """While a host drives a dream nothing is looked at, and the answer comes at once (R-14)."""
    ws = desk.memory.opened.ws
    lease.take(ws, run="dream:20260701-120000", holder="a host", until=desk.clock().replace(hour=13))
    before = desk.bytes()
    with pytest.raises(Busy):
        desk.memory.lint(fix=True)
    assert desk.bytes() == before
    assert kept


@pytest.mark.slow
def test_a_crash_while_mending_leaves_all_or_nothing(tmp_path: Path) -> None:
    """Failing at any write, the pages are the old ones, or the new ones once the next writer came by (P-04)."""
    at, finished = 0, False
    while not finished:
        at += 2
        with Desk(tmp_path / f"home-{at}") as desk:
            kept = desk.remember("User likes tea", category="preference")
            desk.memory.drain()
            pages = [
                desk.page(f"0_Inbox/{n}.md", "See [[1_Projects/Milk]].", f"Likes tea. {desk.cited(kept)}")
                for n in "AB"
            ]
            desk.page("2_Wiki/Concepts/Milk.md", f"White. {desk.cited(kept)}")
            old = [desk.text(page) for page in pages]

            def failing(root: Path, at: int = at) -> CrashDisk:
                return CrashDisk(root, fail_at=at, forever=True)

            try:
                desk.again(disk=failing).lint(fix=True)
                finished = True
            except StoreUnwritable:
                pass
            desk.again().remember("User likes rye bread")  # the next writer
            now = [desk.text(page) for page in pages]
            new = [text.replace("1_Projects", "2_Wiki/Concepts") for text in old]
            assert now in (old, new)
            desk.again().lint(fix=True)
            assert [desk.text(page) for page in pages] == new
    assert at > 2


# By itself


def test_it_runs_by_itself_when_it_is_time(desk: Desk) -> None:
    """In `consolidate` the notebook is looked over once in `lint.min_days`, not while a dream is due (S-37)."""
    desk.memory.consolidate()
    assert not [run for run in desk.memory.log() if run.kind == "lint"]
    for _ in range(15):
        desk.clock.advance(days=1)
        desk.memory.consolidate()
    assert [run.kind for run in desk.memory.log()].count("lint") == 2
    assert "watermark" not in desk.text("notebook/log.md").partition("lint |")[2].splitlines()[0]


def test_it_waits_while_a_backlog_does(desk: Desk) -> None:
    """While more waits than a dream may leave, nothing is looked over by itself."""
    for number in range(30):
        desk.remember(f"User keeps bee hive number {number} well")
    desk.memory.drain()
    desk.clock.advance(days=8)
    assert desk.memory.lint(due=True).waits == "30 entries waiting for a dream"
    desk.memory.dream(now=True)
    assert desk.memory.lint(due=True).waits == ""


def test_it_can_be_switched_off(tmp_path: Path) -> None:
    """Switched off it does not run by itself, and by hand all the same."""
    with Desk(tmp_path, **{"lint.enabled": "false"}) as desk:
        desk.clock.advance(days=30)
        assert "lint.enabled" in desk.flags
        assert "[lint] enabled = false" in desk.memory.lint(due=True).waits
        assert desk.memory.lint().run


# More checks


def test_an_uncited_claim_is_found(desk: Desk, kept: str) -> None:
    """A list item among items that cite is found; steps of a cited item, links and a section of one's own are not."""
    page = desk.page(
        "2_Wiki/Concepts/Tea.md",
        "## Key Facts",
        "",
        f"- User likes tea. {desk.cited(kept)}",
        "  1. boil",
        "- User likes cake.",
        "",
        "## Mine",
        "",
        "- a plan",
        "- see [[Tea]]",
    )
    found = [(one.page, one.line, one.kind) for one in desk.memory.lint().findings]
    assert found == [(page, 10, "uncited")]


def test_a_page_without_citations_has_no_uncited_claims() -> None:
    """A person's page, and a list inside a code block, are no claims."""
    assert uncited("# Mine\n\n- one\n- two\n") == []
    cited = "- said. [[archive/2026-07-01#^0000000000000001]]"
    assert uncited(f"## A\n\n{cited}\n\n```\n- code\n```\n") == []
    assert uncited(f"## A\n\n{cited}\n- bare\n") == [4]


def test_a_source_file_that_is_gone_is_found(desk: Desk, kept: str) -> None:
    """A page whose `sources` name a file that is not there has lost it; addresses elsewhere are not looked at."""
    front = (
        "---\ntype: concept\ntitle: Tea\nsources:\n  - resource: 4_Assets/tea.pdf\n"
        "  - resource: https://example.com/tea\n---\n"
    )
    desk.write("notebook/0_Inbox/Tea.md", f"{front}Likes tea. {desk.cited(kept)}\n")
    assert _kinds(desk) == ["lost source"]
    (desk.root / "notebook/4_Assets/tea.pdf").write_bytes(b"x")
    assert _kinds(desk) == []


def test_an_entry_whose_citation_vanished_is_found(desk: Desk) -> None:
    """When a person takes the line out, the entry is found on its own again, and lint says so (S-27)."""
    entry = desk.remember("User likes jasmine tea", category="preference")
    desk.night()
    pages = [
        path
        for path in desk.root.glob("notebook/3_Personal/*.md")
        if entry in path.read_text(encoding="utf-8")
    ]
    for path in pages:
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        path.write_text("".join(line for line in lines if entry not in line), encoding="utf-8")
    found = [one for one in desk.memory.lint().findings if one.kind == "lost citation"]
    assert [(one.page, entry in one.reason) for one in found] == [
        ("notebook/3_Personal/Preferences.md", True)
    ]
    assert [hit.id for hit in desk.hits("jasmine")] == [entry]
    assert layout.OVERVIEW
