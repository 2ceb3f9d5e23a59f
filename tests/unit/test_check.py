"""Check: silent on a healthy workspace; each damage gives its own finding, with its place and a remedy."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from desk import Desk, contents, days_ago

from reverie import layout
from reverie.core.formats import framing
from reverie.core.records import Event, History, Outcome, Turn
from reverie.store import sessions

if TYPE_CHECKING:
    from collections.abc import Callable

TEXT = "User likes jasmine tea in the morning"


@pytest.fixture
def lived(desk: Desk) -> Desk:
    """A workspace in which everything has happened once."""
    desk.clock.set(days_ago(3))
    desk.say("I work at Acme.", "I prefer tea in the morning.", session="one")
    desk.remember(TEXT, category="preference")
    desk.memory.end("one")
    desk.memory.consolidate()
    desk.clock.set(days_ago(1))
    desk.remember("Send Dana the quote", due="2026-07-10")
    desk.remember("Never deploy on Fridays", category="procedure", pin=True)
    desk.memory.note("Deployed version two to production.")
    desk.memory.consolidate()
    desk.clock.set(days_ago(0))
    desk.memory.dream(now=True)
    return desk


def _quote(desk: Desk) -> str:
    """Return the promise's id."""
    return desk.memory.due().lines[0].state.entry.id


def _page(desk: Desk) -> str:
    return desk.page("0_Inbox/Old.md", "See [[Nowhere]].", title="Old", stale_after="2020-01-01")


def _places(desk: Desk) -> list[tuple[str, str]]:
    """Return place and severity of each finding, which must all say what to do."""
    found = desk.memory.check()
    assert all(one.what and one.remedy for one in found)
    return [(one.place, one.severity) for one in found]


# Healthy


def test_a_new_workspace_is_healthy(desk: Desk) -> None:
    """Nothing is found in a workspace just made."""
    assert desk.memory.check() == ()


def test_a_lived_in_workspace_is_healthy(lived: Desk) -> None:
    """Nothing is found after every stage has run, and looking changes no canonical byte."""
    before = lived.bytes()
    assert lived.memory.check() == ()
    assert lived.bytes() == before


@pytest.mark.parametrize(
    "verb",
    [
        lambda desk: desk.memory.undo(desk.memory.log()[0].run),
        lambda desk: desk.memory.undo(desk.memory.log()[0].run, retry=True),
        lambda desk: desk.memory.restore(desk.memory.log()[-1].run),
        lambda desk: desk.memory.compact("one", budget=20),
        lambda desk: desk.memory.digest(),
        lambda desk: desk.memory.forget([_quote(desk)]),
        lambda desk: desk.memory.erase([_quote(desk)]),
        lambda desk: desk.memory.reindex(),
        lambda desk: desk.memory.lint(),
        lambda desk: (_page(desk), desk.memory.lint(), desk.memory.lint(fix=True)),
        lambda desk: desk.remember("Queued and waiting"),
        lambda desk: desk.memory.person("Dana").remember("Dana likes plums"),
        lambda desk: desk.memory.correct(_quote(desk), "Send Lev the quote", why="mistake"),
        lambda desk: desk.memory.feedback(_quote(desk), "helpful"),
    ],
    ids="undo retry restore compact digest forget erase reindex lint mends queue person correct feedback".split(),
)
def test_no_verb_leaves_anything_to_find(lived: Desk, verb: Callable[[Desk], object]) -> None:
    """After any verb, and after the run that follows it, nothing is found."""
    verb(lived)
    assert lived.memory.check() == ()
    lived.memory.consolidate()
    assert lived.memory.check() == ()


# Damaged


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [
        layout.EVENTS,
        layout.OUTCOMES,
        layout.TOMBSTONES,
        layout.HISTORY,
        layout.KV,
        layout.RUNS,
        layout.RECALL_LOG,
        layout.REVIEWS,
        sessions.path_of("one"),
        f"{layout.SEGMENTS}/other.jsonl",
    ],
)
def test_a_damaged_line_is_found_where_it_stands(lived: Desk, path: str) -> None:
    """A line that cannot be read is found with its file and byte, whichever stream it stands in (P-03)."""
    file = lived.root / path
    size = file.stat().st_size if file.exists() else 0
    file.touch(0o600)
    with file.open("ab") as stream:
        stream.write(b'{"v":1,"half"\n')
    assert _places(lived) == [(f"{path}:{size}", "error")]
    before = file.read_bytes()
    lived.memory.check(repair=True)
    assert file.read_bytes() == before
    assert b'{"v":1,"half"' in b"".join(
        data for name, data in lived.bytes().items() if name.startswith(layout.QUARANTINE)
    ).replace(b'\\"', b'"')


def test_a_line_that_is_no_entry_is_found(lived: Desk) -> None:
    """A hand-written line of a log that is no entry is found with its number, and kept."""
    with (lived.root / layout.log_file("2026-06-28")).open("a") as log:
        log.write("just prose\n")
    number = lived.text(layout.log_file("2026-06-28")).count("\n")
    assert _places(lived) == [(f"{layout.log_file('2026-06-28')}:{number}", "warning")]


def test_an_id_that_stands_twice_is_found(lived: Desk) -> None:
    """A second line under an id is found, and the first is named."""
    log = layout.log_file("2026-06-28")
    line = next(line for line in lived.text(log).splitlines() if TEXT in line)
    with (lived.root / log).open("a") as file:
        file.write(f"{line}\n")
    (finding,) = lived.memory.check()
    assert finding.place == f"{log}:{lived.text(log).count(chr(10))}"
    assert "stands at" in finding.what


def test_a_drained_entry_without_a_line_is_found(lived: Desk) -> None:
    """An entry that the journal says was drained and no log holds is found (nothing may be lost)."""
    log = lived.root / layout.log_file("2026-06-28")
    kept = lived.hits("jasmine")[0]
    entry = kept.id if kept.kind == "entry" else kept.entries[0]
    log.write_text("".join(line for line in log.read_text().splitlines(keepends=True) if entry not in line))
    found = lived.memory.check()
    assert any(entry in one.what and "no line" in one.what for one in found)
    assert {one.place.partition(":")[0] for one in found} <= {
        layout.log_file("2026-06-28"),
        layout.OUTCOMES,
        *(path for path in lived.bytes() if path.startswith("notebook/")),
    }


def test_a_session_under_another_name_is_found(lived: Desk) -> None:
    """A session file that was renamed is found, with the name it belongs under."""
    (lived.root / sessions.path_of("one")).rename(lived.root / "sessions/two.jsonl")
    (finding,) = lived.memory.check()
    assert (finding.place, finding.severity) == ("sessions/two.jsonl", "warning")
    assert sessions.path_of("one") in finding.what


def test_ordinals_that_do_not_count_up_are_found(lived: Desk) -> None:
    """A turn whose ordinal stood before is found."""
    path = lived.root / sessions.path_of("one")
    turn = Turn(role="user", content="again", at=lived.clock(), id="x", n=0)
    with path.open("ab") as stream:
        stream.write(framing.frame(turn))
    assert _places(lived) == [(sessions.path_of("one"), "warning")]


def test_spans_with_a_gap_are_found(lived: Desk) -> None:
    """A session of which a span was never read, for the journal lost the record, is found."""
    for text in ("I moved to the desk by the window.", "I prefer oat milk.", "I play the cello."):
        lived.say(text, session="three")
        lived.memory.extract()
        lived.memory.drain()
    spans = [
        path
        for path in (lived.root / layout.JOURNAL_ARCHIVE).rglob("*.jsonl")
        if b'"session":"three","from":1' in path.read_bytes()
    ]
    spans[0].unlink()
    found = {finding.place: finding.what for finding in lived.memory.check()}
    assert "turns 1 to 2" in found[sessions.path_of("three")]
    assert "no record of them is kept" in found[layout.JOURNAL_ARCHIVE]


def test_references_that_lead_nowhere_are_found(lived: Desk) -> None:
    """An outcome and a citation of an entry that no log holds are found, each in its place."""
    told = Outcome(run="dream:1", entry="e" * 16, outcome="declined", at=lived.clock())
    with (lived.root / layout.OUTCOMES).open("ab") as stream:
        stream.write(framing.frame(told))
    page = lived.page("0_Inbox/Lost.md", "Said once. [[archive/2026-06-28#^ffffffffffffffff]]")
    found = [place for place, _ in _places(lived)]
    assert found == [layout.RUNS, layout.OUTCOMES, f"{page}:6"]  # nor has the run that gave it a record


def test_cursors_that_do_not_count_up_are_found(lived: Desk) -> None:
    """A history record whose cursor stood before is found."""
    told = History(cursor=1, timestamp=lived.clock(), session="one", turns="0-1", content="x", raw=True)
    path = lived.root / layout.HISTORY
    path.write_bytes(framing.frame(told) * 2)
    path.chmod(0o600)
    assert _places(lived) == [(layout.HISTORY, "error")]


def test_a_state_that_differs_from_the_files_is_found(lived: Desk) -> None:
    """A derived state that says other than the files is found, and a rebuild mends it."""
    lived.memory.check()
    lived.memory.close()
    db = sqlite3.connect(lived.root / layout.STATE_DB)
    db.execute("UPDATE entry SET sig = sig + 0.05")
    db.commit()
    db.close()
    (finding,) = lived.memory.check()
    assert (finding.place, finding.severity) == (layout.STATE_DB, "error")
    assert "reindex" in finding.remedy
    lived.memory.reindex()
    assert lived.memory.check() == ()


def test_a_damaged_object_of_the_history_is_found(lived: Desk) -> None:
    """An object that the newest commit reaches and that cannot be read is found by its file, the commit by the ref."""
    main = lived.root / layout.OBJECTS / "refs/heads/main"
    newest = main.read_text().strip()
    (tree,) = _objects(lived, besides=newest)[:1]
    tree.write_bytes(b"x")
    assert _places(lived) == [(tree.relative_to(lived.root).as_posix(), "error")]
    commit = lived.root / layout.OBJECTS / "objects" / newest[:2] / newest[2:]
    commit.write_bytes(b"x")
    assert _places(lived) == [(f"{layout.OBJECTS}/refs/heads/main", "error")]


def _objects(desk: Desk, *, besides: str) -> list[Path]:
    """Return the files of the history's objects but one, sorted."""
    files = sorted((desk.root / layout.OBJECTS / "objects").rglob("*"))
    return [path for path in files if path.is_file() and path.parent.name + path.name != besides]


def test_a_file_that_is_not_the_historys_is_found(lived: Desk) -> None:
    """A hook or configuration put into the history is found, and never heeded."""
    hook = lived.root / layout.OBJECTS / "hooks" / "post-commit"
    hook.parent.mkdir()
    hook.write_bytes(b"#!/bin/sh\n")
    hook.chmod(0o600)
    assert _places(lived) == [(f"{layout.OBJECTS}/hooks/post-commit", "warning")]


def test_a_file_others_may_read_is_found(lived: Desk) -> None:
    """A file of ours that others may read, or an index they may enter, is found with the mode it should have."""
    (lived.root / layout.EVENTS).chmod(0o644)
    (lived.root / layout.INDEX).chmod(0o750)
    assert _places(lived) == [(layout.INDEX, "warning"), (layout.EVENTS, "warning")]
    assert [one.remedy for one in lived.memory.check()] == [
        f"chmod go= {layout.INDEX}",
        f"chmod go= {layout.EVENTS}",
    ]


@pytest.mark.parametrize("folder", [".git", ".obsidian", ".stversions"])
def test_what_other_programs_keep_in_the_folder_is_theirs(lived: Desk, folder: str) -> None:
    """The hidden folders of git, Obsidian or a sync program have the rights that those gave them."""
    (lived.root / folder).mkdir()
    (lived.root / folder / "config").write_bytes(b"{}")
    (lived.root / folder / "config").chmod(0o644)
    assert _places(lived) == []


def test_what_a_merge_left_is_to_be_taken_out(lived: Desk) -> None:
    """A mark that git left between the lines of two copies is named with what to do; the lines around it are served."""
    with (lived.root / layout.EVENTS).open("ab") as stream:
        stream.write(b"=======\n")
    found = lived.memory.check()
    assert [one.what for one in found] == ["a line cannot be read (left by a merge)"]
    assert "take that line out" in found[0].remedy


@pytest.mark.parametrize(
    "name",
    ["2026-06-28 (Dana's conflicted copy 2026-07-01).md", "2026-06-28.sync-conflict-20260701-120000-ABC.md"],
)
def test_a_conflict_copy_is_found(lived: Desk, name: str) -> None:
    """What a sync program left of a conflict is found."""
    (lived.root / layout.ARCHIVE / name).write_bytes(b"")
    assert (f"{layout.ARCHIVE}/{name}", "warning") in _places(lived)


def test_links_and_second_names_are_found(lived: Desk) -> None:
    """A link and a file with a second name are found, and are followed by nobody (P-18)."""
    (lived.home / "outside.md").write_text("secret")
    (lived.root / "notebook" / "0_Inbox" / "link.md").symlink_to(lived.home / "outside.md")
    os.link(lived.home / "outside.md", lived.root / "notebook" / "0_Inbox" / "twin.md")
    assert _places(lived) == [
        ("notebook/0_Inbox/link.md", "error"),
        ("notebook/0_Inbox/twin.md", "error"),
    ]
    assert lived.found("secret") == []


def test_several_damages_are_found_at_once_errors_first(lived: Desk) -> None:
    """Each damage gives its own finding, whatever else is damaged, and errors come before warnings."""
    with (lived.root / layout.EVENTS).open("ab") as stream:
        stream.write(b"\x00" * 40 + b"\n")
        stream.write(framing.frame(Event(id="f" * 16, at=lived.clock(), kind="hide", entry="e" * 16)))
    with (lived.root / layout.log_file("2026-06-28")).open("a") as log:
        log.write("just prose\n")
    (lived.root / "notebook" / "0_Inbox" / "link.md").symlink_to(lived.home)
    assert [severity for _, severity in _places(lived)] == ["error", "error", "warning"]


def test_unfinished_replacements_are_swept_by_repair(lived: Desk) -> None:
    """What a crash left of a replacement is swept up, and nothing else changes."""
    before = lived.bytes()
    stray = lived.root / layout.ARCHIVE / ".~reverie-0123456789abcdef"
    stray.write_bytes(b"half")
    lived.memory.check(repair=True)
    assert lived.bytes() == before


# The place


def test_looking_leaves_a_damaged_workspace_as_it_is(lived: Desk) -> None:
    """Without `repair` a check changes no byte, however much is damaged."""
    with (lived.root / layout.EVENTS).open("ab") as stream:
        stream.write(b"\x00" * 40)
    before = contents(lived.root)
    lived.memory.check()
    assert contents(lived.root) == before
