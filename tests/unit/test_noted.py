"""Pages left alone are not read again, and no edit of a person is overlooked for that."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.test_pages import AT

from reverie import layout
from reverie.core.settings.value import Settings
from reverie.store import pages
from reverie.store.dreams import noted
from reverie.store.filesystem.disk import Disk
from reverie.store.versions.git import PERSON, History
from reverie.store.workspace import Workspace
from reverie.testing import FixedClock, counter_ids

SECOND = 1_000_000_000
PAGE = "notebook/a.md"


class Reads(Disk):
    """A disk that tells which pages were read."""

    def __init__(self, root: Path) -> None:
        """Begin with none."""
        super().__init__(root, durability="os")
        self.pages: list[str] = []

    def read(self, path: str) -> bytes | None:
        """Read, and note that it was done."""
        if path.startswith("notebook/"):
            self.pages.append(path)
        return super().read(path)


class World:
    """A workspace with pages that are committed, and a clock of ours that a test moves on."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Make `notebook/a.md` and another, committed and noted later than two seconds after they were written."""
        root.mkdir(exist_ok=True)
        self.disk = Reads(root)
        self.ws = Workspace(
            root, Settings(durability="os"), clock=FixedClock(AT), new_id=counter_ids(), disk=self.disk
        )
        self.page = root / PAGE
        self.page.parent.mkdir()
        self.page.write_text("tea at four")
        (self.page.parent / "b.md").write_text("coffee at two")
        monkeypatch.setattr(noted, "WORTH", 1)
        # What was written a moment ago counts as settled, unless a test asks for the rule itself.
        monkeypatch.setattr(noted, "_SETTLED_NS", -SECOND)
        self.settle()
        assert self.changes() == {}

    def settle(self) -> None:
        """Commit what differs as a person's."""
        history = History(self.ws)
        made = history.prepare(
            pages.people_changes(self.ws, history),
            parent=history.head(),
            message="By hand",
            author=PERSON,
            at=AT,
        )
        history.publish(made.id, made.parent or None)

    def changes(self, writes: tuple[str, ...] = ()) -> dict[str, bytes | None]:
        """Return what people changed, found with the note, and check that reading everything finds the same."""
        history = History(self.ws)
        everything = pages.people_changes(self.ws, history)
        self.disk.pages.clear()
        found = pages.people_changes(self.ws, history, writes=writes)
        assert found == everything
        return found


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """Give a settled workspace."""
    return World(tmp_path / "memory", monkeypatch)


def test_what_was_left_alone_is_not_read(world: World) -> None:
    """The second look reads no page, and one that is edited later is the only one read (P-03)."""
    assert world.changes() == {}
    assert world.disk.pages == []
    world.page.write_text("tea at five o'clock")
    assert world.changes() == {PAGE: b"tea at five o'clock"}
    assert world.disk.pages == [PAGE]


def test_what_is_written_next_is_read(world: World) -> None:
    """A page that the caller is about to write is compared by its content, whatever was noted of it."""
    assert world.changes(writes=(PAGE,)) == {}
    assert world.disk.pages == [PAGE]


def test_the_time_of_change_tells_what_the_other_times_hide(world: World) -> None:
    """An edit of the same size whose time was set back is found."""
    before = world.page.stat()
    world.page.write_text("tea at nine")
    os.utime(world.page, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert world.changes() == {PAGE: b"tea at nine"}


def test_a_page_changed_within_the_tick_it_was_noted_in_is_found(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page is noted once it was left alone for two seconds: an edit of the same time and size would be unseen."""
    monkeypatch.setattr(noted, "_SETTLED_NS", 2 * SECOND)
    world.page.write_text("tea at five")
    soon = world.page.stat().st_ctime_ns + SECOND
    monkeypatch.setattr(time, "time_ns", lambda: soon)
    world.settle()
    assert world.changes() == {}
    assert world.changes() == {}
    assert world.disk.pages == [PAGE]  # what is too young is read each time
    later = world.page.stat().st_ctime_ns + 3 * SECOND
    monkeypatch.setattr(time, "time_ns", lambda: later)
    (world.ws.root / layout.NOTED).unlink()
    assert world.changes() == {}
    assert sorted(world.disk.pages) == [PAGE, "notebook/b.md"]


def test_a_clock_that_went_back_is_not_believed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A note from what is the future now, or from a file system whose clock is behind ours, is read past."""
    now = time.time_ns()
    with monkeypatch.context() as patch:
        patch.setattr(time, "time_ns", lambda: now - 60 * SECOND)
        assert world.changes() == {}
        assert len(world.disk.pages) == 2
    at = now - 60 * SECOND
    os.utime(world.ws.root / layout.NOTED, ns=(at, at))
    assert world.changes() == {}
    assert len(world.disk.pages) == 2


def test_a_page_from_the_future_is_not_noted(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page whose time lies ahead of the clock may change without its time changing: it is read each time."""
    monkeypatch.setattr(noted, "_SETTLED_NS", 2 * SECOND)
    ahead = time.time_ns() + 3600 * SECOND
    os.utime(world.page, ns=(ahead, ahead))
    assert world.changes() == {}
    assert world.changes() == {}
    assert world.disk.pages == [PAGE]


def test_a_restored_backup_is_found(world: World, tmp_path: Path) -> None:
    """A page that was copied away with its times, edited, committed and copied back is a change."""
    shutil.copy2(world.page, tmp_path / "backup.md")
    world.page.write_text("tea at nine")
    world.settle()
    assert world.changes() == {}
    shutil.copy2(tmp_path / "backup.md", world.page)
    assert world.changes() == {PAGE: b"tea at four"}


def test_another_file_in_its_place_is_found(world: World) -> None:
    """A page replaced by another file of its size and time is read, for its inode is another."""
    before, other = world.page.stat(), world.page.with_name(".other")
    other.write_text("tea at nine")
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.replace(world.page)
    assert world.changes() == {PAGE: b"tea at nine"}


def test_a_note_from_another_file_system_is_worth_nothing(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A workspace that was copied with its times, note and all, is read once."""
    shutil.copytree(world.ws.root, tmp_path / "copy")
    disk = Reads(tmp_path / "copy")
    ws = Workspace(disk.root, world.ws.settings, clock=FixedClock(AT), new_id=counter_ids(), disk=disk)
    for wanted in (2, 0):
        disk.pages.clear()
        assert pages.people_changes(ws, History(ws), writes=()) == {}
        assert len(disk.pages) == wanted
    own = noted.identity

    def elsewhere(status: os.stat_result) -> noted.Identity:
        device, *rest = own(status)
        return (device + 1, *rest)  # type: ignore[return-value]

    monkeypatch.setattr(noted, "identity", elsewhere)
    assert pages.people_changes(ws, History(ws), writes=()) == {}
    assert len(disk.pages) == 2


@pytest.mark.parametrize("data", [None, b"", b"abc", bytes(4), b"no note at all"])
def test_a_lost_or_damaged_note_costs_reading_alone(world: World, data: bytes | None) -> None:
    """Without a sound note every page is read, and the note is written anew."""
    path = world.ws.root / layout.NOTED
    path.unlink()
    if data is not None:
        path.write_bytes(data)
    assert world.changes() == {}
    assert len(world.disk.pages) == 2
    assert world.changes() == {}
    assert world.disk.pages == []


def test_a_flipped_byte_of_the_note_is_noticed(world: World) -> None:
    """Whichever byte of the note is damaged, no page is taken for another's content."""
    path = world.ws.root / layout.NOTED
    whole = path.read_bytes()
    for place in range(0, len(whole), 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert world.changes() == {}
        assert len(world.disk.pages) == 2


def test_a_note_that_cannot_be_written_or_read_hinders_nothing(world: World, tmp_path: Path) -> None:
    """A link in the note's place is neither followed nor replaced by what it names, and the pages are read."""
    path = world.ws.root / layout.NOTED
    path.rename(tmp_path / "note")
    path.symlink_to(tmp_path / "note")
    world.page.write_text("tea at five o'clock")
    assert world.changes() == {PAGE: b"tea at five o'clock"}
    shutil.rmtree(path.parent)
    path.parent.write_text("no folder")
    assert world.changes() == {PAGE: b"tea at five o'clock"}


EDITS = st.lists(
    st.tuples(
        st.sampled_from(["write", "same time", "replace", "remove", "swap", "lose", "look"]),
        st.sampled_from(["a.md", "c/d.png"]),
        st.sampled_from([b"one", b"two"]),
        st.booleans(),
    ),
    max_size=10,
)


@pytest.mark.slow
@given(edits=EDITS)
def test_any_edits_are_found_with_the_note_as_without(
    edits: list[tuple[str, str, bytes, bool]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """After each of any edits, what people changed is the same whether pages are read or answered for by the note."""
    with pytest.MonkeyPatch.context() as patch:
        world = World(tmp_path_factory.mktemp("memory") / "own", patch)
        for kind, name, data, settles in edits:
            # Of edits within one tick of the clock only the rule of two seconds tells.
            patch.setattr(noted, "_SETTLED_NS", 2 * SECOND)
            _edit(world, kind, world.page.parent / name, data=data)
            world.changes()
            if settles:
                world.settle()
                for path in world.page.parent.rglob("*"):
                    os.utime(path, ns=(0, 0))
                _wait_a_tick(world)
                patch.setattr(noted, "_SETTLED_NS", -SECOND)
                world.changes()


def _edit(world: World, kind: str, path: Path, *, data: bytes) -> None:
    path.parent.mkdir(exist_ok=True)
    if kind == "lose":
        (world.ws.root / layout.NOTED).unlink(missing_ok=True)
    elif kind == "remove":
        path.unlink(missing_ok=True)
    elif kind == "swap" and path.exists() and world.page.exists():
        both = path.read_bytes(), world.page.read_bytes()
        path.write_bytes(both[1])
        world.page.write_bytes(both[0])
    elif kind in {"write", "same time", "replace"}:
        before = path.stat().st_mtime_ns if path.exists() else 0
        target = path.with_name(f".new-{path.name}") if kind == "replace" else path
        target.write_bytes(data)
        if kind == "same time":
            os.utime(target, ns=(before, before))
        target.replace(path)


def _wait_a_tick(world: World) -> None:
    """Wait until a change would have another time than any page has, as after two seconds."""
    newest = max((path.stat().st_ctime_ns for path in world.page.parent.rglob("*")), default=0)
    probe = world.ws.root / "probe"
    probe.touch()
    while probe.stat().st_ctime_ns <= newest:
        probe.touch()
