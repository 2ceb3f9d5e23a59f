"""An Obsidian vault that was there first: Reverie moves in, adds what is its own, and touches nothing else."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from desk import Desk

from reverie import layout
from reverie.core.pages.front_matter import read, split
from reverie.core.records import Event
from reverie.store import stream
from reverie.store.versions.git import History

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

VAULT = "vault"
FILES: dict[str, bytes] = {
    ".obsidian/app.json": b'{"alwaysUpdateLinks": true}',
    ".obsidian/plugins/dataview/main.js": b"module.exports = {}",
    ".trash/old.md": b"# Old\n",
    "Templates/daily.md": b"---\ndate: <% tp.date.now() %>\n---\n<%* tR += 'x' %>\n",
    "Daily/2026-06-30.md": b"---\r\ntags: [daily]\r\n---\r\n\r\n# Tuesday\r\n\r\n- [ ] call Dana\r\n",
    "attachments/cup.png": b"\x89PNG\r\n\x1a\n\x00\x00",
    "attachments/M\xc3\xbcsli \xe2\x98\x95.pdf": b"%PDF-1.7\n",
    "Projects/Shop/Deep/er/Notes.md": b"# Notes\n\nSee [[Shop]] and ![[cup.png]].\n",
    "Shop.md": "\ufeff---\naliases:\n  - The Shop   # ours\n  - 商店\ncssclasses: wide\n---\n\n# Shop\n".encode(),
    "3_Personal/Preferences.md": (
        b"---\r\n# my own order\r\nzettel: 20240101\r\ntitle: Preferences\r\ncustom: {a: 1}\r\n---\r\n\r\n"
        b"# Preferences\r\n\r\nI write here myself.\r\n"
    ),
    "index.md": b"# My own index\n\nHello.\n",
    "broken.md": b"---\ntitle: [unclosed\n---\n\ntext \xff\xfe\n",
    "canvas.canvas": b'{"nodes": []}',
}


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """Yield a memory whose notebook is to be a vault that is there already."""
    root = tmp_path / "agent"
    for path, data in FILES.items():
        file = root / VAULT / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    with Desk(tmp_path, **{"notebook.path": VAULT}) as found:
        yield found


def _theirs(desk: Desk) -> dict[str, bytes]:
    return {path: (desk.root / VAULT / path).read_bytes() for path in FILES}


def test_moving_in_touches_no_file(desk: Desk) -> None:
    """Every file of the vault keeps its bytes and times; zones, `schema.md` and `log.md` are added, once."""
    assert _theirs(desk) == FILES
    times = {path: (desk.root / VAULT / path).stat().st_mtime_ns for path in FILES}
    for name in ("schema.md", "log.md", "2_Wiki/Concepts", "0_Inbox"):
        assert (desk.root / VAULT / name).exists()
    before = desk.bytes()
    desk.again().remember("User keeps bees")
    assert {path for path in desk.bytes() if path.startswith(VAULT)} == {
        path for path in before if path.startswith(VAULT)
    }
    assert {path: (desk.root / VAULT / path).stat().st_mtime_ns for path in FILES} == times
    assert not (desk.root / "notebook").exists()


def test_a_dream_writes_on_its_own_pages_and_extends_a_persons(desk: Desk) -> None:
    """New pages come into the zones; a person's page there keeps every byte and line ending but for what is added."""
    likes = desk.remember("User likes jasmine tea", category="preference")
    desk.remember("User works at Marlow Bank", category="work")
    desk.night()
    after = _theirs(desk)
    changed = {path for path, data in after.items() if data != FILES[path]}
    assert changed == {"3_Personal/Preferences.md", "index.md"}
    page = after["3_Personal/Preferences.md"]
    assert b"\n" not in page.replace(b"\r\n", b"")
    old, new = FILES["3_Personal/Preferences.md"].splitlines(), page.splitlines()
    assert [line for line in old if line not in new] == []
    assert likes.encode() in page
    front = read(split(page.decode()).front)
    assert (front.title, "zettel" in front.other, "custom" in front.other) == ("Preferences", True, True)
    assert after["index.md"].startswith(FILES["index.md"])
    assert (desk.root / VAULT / "3_Personal/Work.md").exists()


def test_what_was_there_is_in_the_history_as_a_persons(desk: Desk) -> None:
    """The vault's pages are committed as the person's before a dream changes any; dot folders are not tracked."""
    desk.remember("User likes jasmine tea", category="preference")
    desk.night()
    history = History(desk.memory.opened.ws)
    theirs = history.log()[-1]
    tree = history.tree(theirs.id)
    assert theirs.author == "person"
    assert history.blob(tree[f"{VAULT}/Shop.md"]) == FILES["Shop.md"]
    assert not [path for path in tree if "/." in path]


def test_an_undo_gives_the_vault_back(desk: Desk) -> None:
    """Undone, every page of the person's is byte for byte what it was."""
    desk.remember("User likes jasmine tea", category="preference")
    run = desk.night()
    desk.memory.undo(run.run)
    after = _theirs(desk)
    assert {path for path, data in after.items() if data != FILES[path]} <= {"index.md"}
    assert after["index.md"].startswith(FILES["index.md"])


def test_lint_looks_at_it_and_mends_nothing_outside_the_zones(desk: Desk) -> None:
    """What is odd in the vault is found; `fix` leaves every file outside the zones, and every sound one, alone."""
    found = {(one.page, one.kind) for one in desk.memory.lint().findings}
    assert (f"{VAULT}/broken.md", "front matter") in found
    assert not [one for one in found if "cup.png" in one[0] or ".obsidian" in one[0]]
    desk.memory.lint(fix=True)
    assert {path for path, data in _theirs(desk).items() if data != FILES[path]} <= {"index.md"}


def test_its_pages_can_be_recalled(desk: Desk) -> None:
    """What a person wrote in the vault is found, in either line ending; what a plugin keeps is not."""
    assert "I write here myself." in desk.found("write here myself")[0]
    assert desk.found("商店") or desk.found("Shop")
    assert desk.found("alwaysUpdateLinks") == []


def test_a_page_that_moves_keeps_its_entries_cited(desk: Desk) -> None:
    """Renamed by a person, a page's entries stay cited, and a change of facts finds its line there."""
    old = desk.remember("User works at Google", category="work")
    desk.night()
    page = desk.root / VAULT / "3_Personal/Work.md"
    moved = page.with_name("Jobs.md")
    page.rename(moved)
    assert [one.outcome for one in desk.memory.why(old).outcomes] == ["cited"]
    desk.memory.correct(old, "User now works at Microsoft", why="change")
    desk.night()
    text = moved.read_text(encoding="utf-8")
    assert "Currently: User now works at Microsoft" in text
    assert "Previously: User works at Google" in text
    assert not page.exists()


@pytest.mark.parametrize("name", ["3_Personal/People/Dana Lee.md", "5_Archives/Dana.md", "Loose/Dana.md"])
def test_what_is_said_later_goes_to_the_page_that_a_person_moved(desk: Desk, name: str) -> None:
    """Renamed or moved within the zones, a page takes the next entry of its subject; outside them a new one does."""
    for what in ("reads email", "calls early"):
        desk.remember(f"Dana from Zephyr {what}", about="Dana")
    desk.night()
    notebook = desk.root / VAULT
    moved = notebook / name
    moved.parent.mkdir(parents=True, exist_ok=True)
    (notebook / "3_Personal/People/Dana.md").rename(moved)
    before = moved.read_text(encoding="utf-8")
    desk.remember("Dana from Zephyr sails", about="Dana")
    assert desk.night().counts["cited"] == 1
    inside = not name.startswith("Loose")
    assert ("sails" in moved.read_text(encoding="utf-8")) == inside
    assert (moved.read_text(encoding="utf-8") == before) == (not inside)
    assert (notebook / "3_Personal/People/Dana.md").exists() == (not inside)


def test_new_pages_go_into_the_folders_that_stand(desk: Desk) -> None:
    """Where a person has the folder `people`, a new page of somebody's goes there, into no second spelling (P-19)."""
    desk.write(f"{VAULT}/3_Personal/people/Bob.md", "# Bob\n")
    for what in ("reads email", "calls early"):
        desk.remember(f"Dana from Zephyr {what}", about="Dana")
    assert desk.night().counts["cited"] == 2
    made = {path.name for path in (desk.root / VAULT / "3_Personal").rglob("*")}
    assert {"people", "Dana.md"} <= made
    assert "People" not in made


@pytest.mark.parametrize("name", ["Loose/Work.md", "3_Personal/Work: mine?.md", "3_Personal/Work #2.md"])
def test_a_page_out_of_reach_keeps_its_bytes_and_nothing_waits(desk: Desk, name: str) -> None:
    """Where a cited page stands out of a dream's reach, what repeats or succeeds its lines is written elsewhere."""
    old = desk.remember("User works at Google", category="work")
    desk.night()
    notebook = desk.root / VAULT
    moved = notebook / name
    moved.parent.mkdir(exist_ok=True)
    (notebook / "3_Personal/Work.md").rename(moved)
    before = moved.read_bytes()
    new = desk.remember("User now works at Microsoft", category="work")
    again = desk.remember("User works at Google", category="work")
    desk.memory.drain()
    for kind, one in (("supersede", new), ("repeat", again)):
        happened = Event(id=f"{one}x", at=desk.clock(), kind=kind, entry=one, other=old, by="test")
        stream.append(desk.memory.opened.ws, layout.EVENTS, happened)
    assert sum(desk.night().counts.values()) == 2
    assert moved.read_bytes() == before
    assert "Microsoft" in (notebook / "3_Personal/Work.md").read_text(encoding="utf-8")
    assert desk.memory.status().pending == {}


HOSTILE = [
    b"new\nline.md",
    b"a\x1b[31mred.md",
    b"x <!-- reverie:end -->.md",
    b"x ]] [[y.md",
    b"no text \xff.md",
    b"no \xff folder/in.md",
    b"%% x.md",
]


def test_names_that_nobody_would_give_hinder_nothing(desk: Desk) -> None:
    """Pages of any name keep their bytes through every verb; those no link can hold are not listed, others are."""
    zone = desk.root / VAULT / "5_Archives"
    files = {zone / os.fsdecode(name): b"# " + name for name in HOSTILE}
    for path, data in files.items():
        try:
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(data)
        except OSError:
            pytest.skip("this file system takes no such name")
    desk.remember("User likes tea", category="preference")
    run = desk.night().run
    assert desk.memory.lint(fix=True).pages
    told = {one.place for one in desk.memory.check()}
    assert {f"{VAULT}/5_Archives/no text \\udcff.md", f"{VAULT}/5_Archives/no \\udcff folder"} <= told
    assert desk.memory.status().pending == {}
    desk.memory.undo(run)
    desk.memory.restore(run)
    index = desk.text(f"{VAULT}/index.md")
    assert "[[3_Personal/Preferences|Preferences]]" in index
    assert "5_Archives" not in index
    assert {path: path.read_bytes() for path in files} == files
