"""An export that meets other memories, an import cut short, and an export made while others write."""

from __future__ import annotations

import json
import shutil
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from desk import Desk, contents
from exported import another, live

from reverie import layout
from reverie.core.formats import framing
from reverie.core.where import Where
from reverie.errors import UnsafePath, UsageError
from reverie.importing import Wish
from reverie.store.filesystem.disk import Disk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

EVERYTHING = Where(include_hidden=True, include_previous=True)


@pytest.fixture
def lived(desk: Desk) -> Desk:
    """A workspace with two sessions, explicit writes, a promise, a page, and something forgotten."""
    return live(desk)


@pytest.fixture
def other(lived: Desk) -> Iterator[Desk]:
    """Another home of the same user, with memories of its own."""
    with another(lived) as made:
        yield made


def texts(desk: Desk) -> set[str]:
    """Return what every entry of a workspace says."""
    return {state.entry.text for state in desk.memory.list(EVERYTHING)}


def test_an_export_is_added_to_what_is_there(lived: Desk, other: Desk) -> None:
    """Entries, turns, promises, pages and what happened to entries come in by their ids, and nothing here changes."""
    before, own = other.bytes(), texts(other)
    done = other.memory.import_(lived.memory.export(lived.home / "copy").folder)
    assert (done.format, done.unread, done.turns) == ("reverie-export", 0, 3)
    other.memory.consolidate()
    assert texts(other) == own | texts(lived)
    ours, theirs = (
        {state.entry.id: state for state in desk.memory.list(EVERYTHING)} for desk in (lived, other)
    )
    assert {one: theirs[one].entry.evidence for one in ours} == {
        one: ours[one].entry.evidence for one in ours
    }
    assert {one: theirs[one].hidden for one in ours} == {one: ours[one].hidden for one in ours}
    assert {one: theirs[one].entry.turns for one in ours} == {one: ours[one].entry.turns for one in ours}
    assert [line.state.entry.text for line in other.memory.due().lines] == ["Send Dana the quote"]
    assert other.text("sessions/" + _file(lived, "one")) == lived.text("sessions/" + _file(lived, "one"))
    after = other.bytes()
    for path, data in before.items():
        if path.startswith((layout.SESSIONS, layout.ARCHIVE)):
            assert after[path].startswith(data), path
    assert other.memory.check() == ()
    assert done.passed["forgotten there"] == 1


def test_adding_it_again_adds_nothing(lived: Desk, other: Desk) -> None:
    """The same export twice, drained between or not, leaves the same entries, turns and events."""
    copy = lived.memory.export(lived.home / "copy").folder
    other.memory.import_(copy)
    done = other.memory.import_(copy)
    assert (done.turns, done.facts, done.files) == (0, 0, 0)
    other.memory.drain()
    before = {path: data for path, data in other.bytes().items() if "counters" not in path}
    done = other.memory.import_(copy)
    assert (done.turns, done.facts, done.files) == (0, 0, 0)
    other.memory.drain()
    after = {path: data for path, data in other.bytes().items() if "counters" not in path}
    assert after == before


def test_what_was_forgotten_on_either_side_stays_forgotten(lived: Desk, other: Desk) -> None:
    """What the export forgot does not come in and is forgotten here too; what is forgotten here does not come in."""
    early = lived.memory.export(lived.home / "early").folder
    other.memory.import_(early)
    other.memory.drain()
    tea = next(state.entry.id for state in lived.memory.list() if "tea" in state.entry.text)
    lived.memory.forget([tea])
    late = lived.memory.export(lived.home / "late").folder
    assert other.found("tea in the morning")
    other.memory.import_(late)
    assert not [text for text in other.found("tea morning") if "tea" in text]
    acme = next(state.entry.id for state in other.memory.list() if "Acme" in state.entry.text)
    other.memory.forget([acme])
    done = other.memory.import_(early)
    other.memory.consolidate()
    assert done.passed["forgotten here"] >= 1
    assert not [text for text in texts(other) if "Acme" in text or "macadamia" in text]
    other.memory.forget([tea], restore=True)
    other.memory.import_(late)
    assert [text for text in texts(other) if "tea" in text]


def test_another_text_under_one_id_is_told(lived: Desk, other: Desk) -> None:
    """An entry that says something else here is a conflict: it is listed, and both sides keep theirs."""
    mine = other.remember("Mine", key="shared key")
    lived.remember("Theirs", key="shared key")
    done = other.memory.import_(lived.memory.export(lived.home / "copy").folder)
    assert [mine in one.reason for one in done.skipped] == [True]
    assert other.memory.get(mine).entry.text == "Mine"


def test_a_session_that_went_on_in_both_has_all_turns(lived: Desk, other: Desk) -> None:
    """Turns that a session here lacks are added at its end; those it has are not added again."""
    copy = lived.memory.export(lived.home / "copy").folder
    other.memory.import_(copy)
    other.say("Said only here.", session="one")
    lived.say("Said only there.", session="one")
    done = other.memory.import_(lived.memory.export(lived.home / "later").folder)
    assert done.turns == 1
    said = [hit.text for hit in other.hits("said only", k=20) if hit.text.startswith("Said")]
    assert sorted(said) == ["Said only here.", "Said only there."]


def test_an_excluded_topic_does_not_come_in(lived: Desk, other: Desk) -> None:
    """A topic that is excluded here is counted, and not stored."""
    other.memory.exclude("Porto")
    done = other.memory.import_(lived.memory.export(lived.home / "copy").folder)
    other.memory.consolidate()
    assert done.passed["an excluded topic"] == 1
    assert not [text for text in texts(other) if "Porto" in text]


def test_a_page_that_is_another_here_is_kept(lived: Desk, other: Desk) -> None:
    """A page that both have is left as it is here, and counted."""
    for desk, words in ((lived, "theirs"), (other, "mine")):
        desk.page("3_Personal/Plan.md", words)
    done = other.memory.import_(lived.memory.export(lived.home / "copy").folder)
    assert "mine" in other.text("notebook/3_Personal/Plan.md")
    assert done.passed["a file that is another one here"] >= 1


def test_an_import_cut_short_is_completed(lived: Desk) -> None:
    """With the write refused at any file, importing again completes it, and what was written since is kept."""
    copy = lived.memory.export(lived.home / "copy").folder
    names = list(json.loads((copy / "manifest.json").read_text())["files"])
    for number in range(0, len(names), 7):
        home = lived.home / f"cut{number}"
        home.mkdir()
        with Desk(home, now=lived.clock()) as desk:
            ws = desk.memory.opened.writable
            ws.disk = _Stopping(ws.root, after=number)
            with suppress(_Stop):
                desk.memory.import_(copy)
        with Desk(home, now=lived.clock()) as again:
            again.memory.import_(copy)
            theirs, ours = again.bytes(), lived.bytes()
            assert theirs.pop(layout.ORIGIN) != ours.pop(layout.ORIGIN)
            assert theirs == ours
        shutil.rmtree(home)


def test_a_person_edits_between_two_imports(lived: Desk) -> None:
    """Importing the same export again into the workspace it made leaves what was changed there since."""
    copy = lived.memory.export(lived.home / "copy").folder
    (lived.home / "new").mkdir()
    with Desk(lived.home / "new", now=lived.clock()) as desk:
        desk.memory.import_(copy)
        desk.write("USER.md", "# User\n\nMine.\n")
        before = desk.bytes()
        done = desk.memory.import_(copy)
        assert desk.bytes() == before
        assert done.passed == {"a file that was changed here since": 1}


def test_a_dry_run_of_an_export(lived: Desk, other: Desk) -> None:
    """A dry run counts what an empty workspace would get."""
    copy = lived.memory.export(lived.home / "copy").folder
    (lived.home / "new").mkdir()
    with Desk(lived.home / "new", now=lived.clock()) as desk:
        before = desk.bytes()
        done = desk.memory.import_(copy, wish=Wish(dry_run=True))
        assert done.dry_run
        assert done.files > 0
        assert desk.bytes() == before


def _link(copy: Path) -> None:
    path = copy / "archive" / "2026-06-28.md"
    data = path.read_bytes()
    path.unlink()
    (copy.parent / "elsewhere.md").write_bytes(data)
    path.symlink_to(copy.parent / "elsewhere.md")


def _derive(copy: Path) -> None:
    _name(copy, ".index/state.db", b"x")


def _lock(copy: Path) -> None:
    _name(copy, ".state/locks/write", b"x")


def _plant(copy: Path) -> None:
    (copy / "sessions" / "planted-00000000.jsonl").write_bytes(
        framing.frame({"type": "session", "session": "planted"})
    )


def _huge(copy: Path) -> None:
    _name(copy, "files/huge.bin", b"")
    with (copy / "files" / "huge.bin").open("wb") as file:
        file.truncate(3_000_000_000)


def _name(copy: Path, path: str, data: bytes) -> None:
    manifest = json.loads((copy / "manifest.json").read_text())
    manifest["files"][path] = "0" * 64
    (copy / "manifest.json").write_text(json.dumps(manifest))
    (copy / path).parent.mkdir(parents=True, exist_ok=True)
    (copy / path).write_bytes(data)


@pytest.mark.parametrize("harm", [_link, _derive, _lock, _plant, _huge])
def test_a_hostile_export_changes_nothing(lived: Desk, other: Desk, harm: Callable[[Path], None]) -> None:
    """Links, derived files, locks, unsealed files and one too large are refused before the first write (P-18)."""
    copy = lived.memory.export(lived.home / "copy").folder
    harm(copy)
    before = contents(other.root)
    with pytest.raises((UsageError, UnsafePath)):
        other.memory.import_(copy)
    assert contents(other.root) == before


@pytest.mark.slow
def test_an_export_while_others_write_is_of_one_moment(lived: Desk) -> None:
    """What was acknowledged before is in it, no line is torn, no record is missing, and events find their entry."""
    before = texts(lived)
    stop, told = threading.Event(), list[str]()

    def write() -> None:
        memory = lived.again()
        number = 0
        while not stop.is_set():
            number += 1
            told.append(lived.remember(f"Fact number {number} about the harbour", memory))
            memory.pin(told[-1])
            # However long the exports take, the pins have to fit into MEMORY.md: one at a time.
            if number > 1:
                memory.take_back(memory.history(told[-2])[-1].id)
            lived.say(f"Turn number {number} on the pier.", session="busy", memory=memory)
            if number % 3 == 0:
                memory.drain()

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for number in range(6):
            known = set(told)
            copy = lived.memory.export(lived.home / f"copy{number}").folder
            for path in copy.rglob("*.jsonl"):
                _, damage = framing.read(path.read_bytes())
                assert not damage, path
            (lived.home / f"into{number}").mkdir()
            with Desk(lived.home / f"into{number}", now=lived.clock()) as into:
                into.memory.import_(copy)
                assert before <= texts(into)
                ids = {state.entry.id for state in into.memory.list(EVERYTHING)}
                assert known <= ids
                assert [one for one in into.memory.check() if one.severity == "error"] == []
                assert {state.entry.id for state in into.memory.opened.state_now().pins()} <= ids
    finally:
        stop.set()
        thread.join(60)


class _Stop(Exception):
    """The process was killed here."""


class _Stopping(Disk):
    """A disk whose process ends at a write."""

    def __init__(self, root: Path, *, after: int) -> None:
        super().__init__(root)
        self._left = after

    def replace(self, path: str, data: bytes, *, mode: int = 0o600) -> None:
        """Replace the file, or stop."""
        if self._left == 0:
            raise _Stop
        self._left -= 1
        super().replace(path, data, mode=mode)


def _file(desk: Desk, session: str) -> str:
    return next(
        path.name for path in (desk.root / layout.SESSIONS).iterdir() if path.name.startswith(f"{session}-")
    )
