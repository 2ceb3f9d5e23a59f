"""Lint: what is broken, stale, orphaned, contradicted or forgotten on pages, with line, reason and remedy."""

from __future__ import annotations

import pytest
from desk import Desk

from reverie import layout
from reverie.core.records import Event
from reverie.store import stream
from reverie.store.versions.git import History

CITED = "[[archive/2026-07-01#^{}]]"


def _found(desk: Desk) -> list[tuple[str, int, str]]:
    """Return page, line and kind of each complaint, which must all say why and what to do."""
    done = desk.memory.lint()
    assert all(one.reason and one.remedy for one in done.findings)
    return [(one.page, one.line, one.kind) for one in done.findings]


@pytest.fixture
def kept(desk: Desk) -> str:
    """An entry that pages can cite."""
    entry = desk.remember("User likes tea", category="preference")
    desk.memory.drain()
    return entry


def test_a_dreamt_notebook_is_in_good_order(desk: Desk) -> None:
    """What a dream wrote gives nothing to complain about."""
    for text in ("User likes tea", "The staging database listens on port 6543", "Never deploy on Fridays"):
        desk.remember(text)
    desk.night()
    done = desk.memory.lint()
    assert (done.findings, done.pages > 1) == ((), True)


def test_lint_finds_the_same_twice(desk: Desk, kept: str) -> None:
    """Over the same pages it finds the same, in the order of pages and lines, in whichever process."""
    desk.page("0_Inbox/Odd.md", "[[Nowhere]]", "<script>x</script>", "[[Nobody]]", stale_after="2020-01-01")
    desk.page("2_Wiki/Concepts/Tea.md", f"- tea {CITED.format(kept)}", "- and no word whence")
    desk.page("2_Wiki/Concepts/Lost.md", f"- gone {CITED.format('f' * 16)}", sources="[gone.md]")
    first = desk.memory.lint().findings
    assert len({one.kind for one in first}) >= 6
    assert [(one.page, one.line) for one in first] == sorted((one.page, one.line) for one in first)
    assert desk.memory.lint().findings == first
    assert desk.again().lint().findings == first


def test_looking_changes_one_line_of_the_log(desk: Desk) -> None:
    """A lint is a run that adds one line to the notebook's log, without a watermark, and changes no page."""
    desk.page("0_Inbox/Alone.md", "Nothing.")
    before, log = desk.bytes(), desk.text("notebook/log.md")
    done = desk.memory.lint()
    after = desk.bytes()
    changed = {path for path in after if after[path] != before.get(path)}
    assert {path for path in changed if not path.startswith((".history/", ".state/"))} == {"notebook/log.md"}
    line = desk.text("notebook/log.md").removeprefix(log)
    assert line.strip() == "## [2026-07-01] lint | pages=1 findings=1"
    run = desk.memory.log()[0]
    assert (run.run, run.kind, run.result, run.watermark) == (done.run, "lint", "nothing", "")
    assert [one.author for one in History(desk.memory.opened.ws).log()] == ["Reverie", "person"]


@pytest.mark.parametrize(
    "link",
    [
        "[[Nowhere]]",
        "[[Nowhere#Part|there]]",
        "[[../../../etc/passwd]]",
        "[[/etc/passwd]]",
        "![[missing.png]]",
        "[[nul\x01]]",
    ],
)
def test_a_link_that_leads_nowhere_is_found(desk: Desk, kept: str, link: str) -> None:
    """A link to no page, file or place inside the workspace is found on its line."""
    page = desk.page("2_Wiki/Concepts/Tea.md", f"Cited {CITED.format(kept)}.", f"See {link}.")
    assert _found(desk) == [(page, 7, "broken link")]


@pytest.mark.parametrize(
    "link",
    [
        "[[Milk]]",
        "[[milk]]",
        "[[2_Wiki/Concepts/Milk]]",
        "[[notebook/2_Wiki/Concepts/Milk.md|milk]]",
        "[[Milk#Uses]]",
        "[[#Here]]",
        "![[cup.png]]",
        "![[4_Assets/cup.png]]",
        "[[USER]]",
        "[[index]]",
        "[[archive/2026-07-01]]",
        "`[[Nowhere]]`",
    ],
)
def test_a_link_that_leads_somewhere_is_no_complaint(desk: Desk, kept: str, link: str) -> None:
    """Links by name, path, heading, case or alias, to pages, attachments and core files, all lead somewhere."""
    desk.page("2_Wiki/Concepts/Tea.md", f"Cited {CITED.format(kept)}.", f"See {link}.")
    desk.page("2_Wiki/Concepts/Milk.md", f"Cited {CITED.format(kept)}.")
    (desk.root / "notebook/4_Assets/cup.png").write_bytes(b"x")
    assert _found(desk) == []


def test_an_orphan_is_found_until_it_is_linked_or_cites(desk: Desk, kept: str) -> None:
    """A page that cites nothing and that nothing links to is an orphan; its own link to itself does not count."""
    page = desk.page("0_Inbox/Alone.md", "See [[Alone]].")
    assert _found(desk) == [(page, 1, "orphan")]
    desk.page("0_Inbox/Friend.md", f"See [[0_Inbox/Alone]]. {CITED.format(kept)}")
    assert _found(desk) == []


def test_a_vault_of_ones_own_is_one_complaint(desk: Desk) -> None:
    """Notes that people wrote and link nowhere are told once, by number and name; our own pages each for itself."""
    for number in range(5):
        desk.page(f"3_Personal/Note {number}.md", "Milk, eggs.")
    assert _found(desk) == [("notebook/index.md", 1, "orphan")]
    (told,) = desk.memory.lint().findings
    assert "5 pages that people wrote: notebook/3_Personal/Note 0.md, " in told.reason
    desk.remember("User keeps bees", category="personal")
    desk.night()
    (ours,) = desk.memory.log(limit=1)[0].pages[:1]
    desk.page(ours, "Nothing is cited any more.")
    orphans = [page for page, _, kind in _found(desk) if kind == "orphan"]
    assert orphans == [f"notebook/{ours}", "notebook/index.md"]


@pytest.mark.parametrize(
    ("after", "stale"),
    [("2026-06-30", True), ("2026-07-01", False), ("2026-07-02", False), ("2026-06", True)],
)
def test_a_page_past_its_date_is_stale(desk: Desk, kept: str, after: str, stale: bool) -> None:  # noqa: FBT001
    """A page that was to be looked at again is found once its day is over."""
    page = desk.page("0_Inbox/Price.md", f"Ten euros. {CITED.format(kept)}", stale_after=after)
    assert _found(desk) == ([(page, 1, "stale")] if stale else [])


def test_a_synthesis_that_nobody_touched_is_stale(desk: Desk) -> None:
    """Without a `stale_after` a synthesis is to be looked at after ninety days, and no other page is (S-17)."""
    for kind, zone in (("synthesis", "2_Wiki/Syntheses"), ("concept", "2_Wiki/Concepts")):
        for updated in ("2026-04-02", "2026-04-03", "2026-13-45"):
            desk.page(f"{zone}/{updated}.md", "[[USER]]", type=kind, updated=updated)
    desk.page("2_Wiki/Syntheses/Set.md", type="synthesis", updated="2020-01-01", stale_after="2027-01-01")
    stale = [page for page, _, kind in _found(desk) if kind == "stale"]
    assert stale == ["notebook/2_Wiki/Syntheses/2026-04-02.md"]


def test_a_day_that_is_none_is_a_finding(desk: Desk) -> None:
    """A `stale_after` that is no day keeps no page from being looked at: it is named with its words."""
    desk.page("0_Inbox/Soon.md", "[[USER]]", stale_after="when I am back")
    (found,) = [one for one in desk.memory.lint().findings if one.kind == "stale"]
    assert "when I am back" in found.reason


def test_broken_front_matter_is_found(desk: Desk, kept: str) -> None:
    """Front matter that cannot be read is found at the top of its page, and the page is read all the same (S-17)."""
    desk.write("notebook/0_Inbox/Odd.md", f"---\ntype: [note\n---\n# Odd\n\nText. {CITED.format(kept)}\n")
    assert _found(desk) == [("notebook/0_Inbox/Odd.md", 1, "front matter")]


def test_active_content_is_found(desk: Desk, kept: str) -> None:
    """A script or raw HTML on a page is found on its line."""
    page = desk.page("0_Inbox/Odd.md", f"Text. {CITED.format(kept)}", "", "<script>alert(1)</script>")
    assert (page, 8, "active content") in _found(desk)


def test_a_lost_source_is_found(desk: Desk) -> None:
    """A citation of an entry that stands in no log is found on its line."""
    page = desk.page("0_Inbox/Lost.md", f"Said once. {CITED.format('f' * 16)}")
    assert _found(desk) == [(page, 6, "lost source")]


def test_a_contradiction_is_found_where_it_is_cited(desk: Desk) -> None:
    """Two entries that cannot both hold are found at the page that cites one of them."""
    old, new = desk.remember("The office is on floor two"), desk.remember("The office is on floor three")
    desk.memory.drain()
    told = Event(id="c" * 16, at=desk.clock(), kind="conflict", entry=new, other=old, why="two floors")
    stream.append(desk.memory.opened.ws, layout.EVENTS, told)
    assert _found(desk) == [("notebook/index.md", 1, "contradiction")]
    page = desk.page("0_Inbox/Office.md", f"On floor three. {CITED.format(new)}")
    assert _found(desk) == [(page, 6, "contradiction")]


def test_forgotten_words_on_a_page_are_found(desk: Desk, kept: str) -> None:
    """A line by hand that says what was forgotten is found, its neighbours are not."""
    gone = desk.remember("User is allergic to macadamia nuts")
    page = desk.page(
        "0_Inbox/Health.md",
        f"Likes tea. {CITED.format(kept)}",
        "User is allergic to macadamia nuts, people say.",
        "Likes macadamia trees.",
    )
    desk.memory.forget([gone])
    assert _found(desk) == [(page, 7, "forgotten")]


def test_a_page_in_any_encoding_is_looked_at(desk: Desk, kept: str) -> None:
    """Bytes that are no UTF-8, CRLF and a byte order mark keep no page from being looked at."""
    path = desk.root / "notebook/0_Inbox/Odd.md"
    text = f"\ufeff---\r\ntype: note\r\n---\r\n# Odd\r\n\r\nSee [[Nowhere]]. {CITED.format(kept)}\r\n"
    path.write_bytes(text.encode() + b"\xff\xfe\x00\n")
    assert _found(desk) == [("notebook/0_Inbox/Odd.md", 6, "broken link")]
