"""Tests of step 8 on real files: when MEMORY.md is written, what survives a crash, what a person keeps."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from memory_states import DIGEST, PAGE, STORE, state_of

from reverie import layout
from reverie.core.fold import EntryState
from reverie.core.glance.standing import Shortlist
from reverie.core.settings.value import PublishSettings, Settings
from reverie.errors import Busy, StoreUnwritable, UnsafePath
from reverie.publish import TODAY, Choose, Published, publish
from reverie.store import counters
from reverie.store.counters import PublishCounters
from reverie.store.filesystem.disk import Disk
from reverie.store.workspace import Identity, Workspace
from reverie.testing import CrashDisk, FixedClock, counter_ids, crash_loop, fail_loop

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

NOON = datetime(2026, 7, 2, 12, tzinfo=UTC)
FEW = [state_of(1, "Zephyr renews every March."), state_of(2, "Run the tests.", category="procedure")]


class Shelf:
    """Where a test keeps edits, once each, as `keep` has to."""

    def __init__(self) -> None:
        """Begin empty."""
        self.kept: list[str] = []

    def __call__(self, text: str) -> None:
        """Keep `text` unless it is kept."""
        if text not in self.kept:
            self.kept.append(text)


def workspace(root: Path, *, disk: Disk | None = None, **fields: object) -> Workspace:
    """Open a workspace at NOON with these publish settings."""
    settings = Settings(publish=PublishSettings(**fields))
    return Workspace(root, settings, clock=FixedClock(NOON), new_id=counter_ids(), disk=disk)


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """Return a new workspace."""
    opened = workspace(tmp_path)
    opened.found(Identity(id="1" * 16, agent="test", created=NOON))
    return opened


def everything(states: Sequence[EntryState]) -> Choose:
    """Return what finds every state there is."""
    return lambda _cited, _most: Shortlist(states=states)


def run(ws: Workspace, states: list[EntryState] = FEW, *, at_once: bool = False) -> Published:
    """Publish, refusing edits nobody expects."""
    return publish(ws, everything(states), keep=_unexpected, at_once=at_once)


def _unexpected(text: str) -> None:
    raise AssertionError(text)


def memory(ws: Workspace) -> str:
    """Return MEMORY.md."""
    return (ws.root / layout.MEMORY).read_bytes().decode()


def clock(ws: Workspace) -> FixedClock:
    """Return the workspace's clock."""
    assert isinstance(ws.clock, FixedClock)
    return ws.clock


def test_the_file_is_written_and_a_second_time_nothing_is(ws: Workspace) -> None:
    """The first publish writes MEMORY.md, another of the same store changes no file at all."""
    first = run(ws)
    assert first.changed
    assert first.characters == len(memory(ws))
    assert "Zephyr renews every March. `mem_id: 0000000000000001`" in memory(ws)
    before = {
        path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in ws.root.rglob("*") if path.is_file()
    }
    second = run(ws, at_once=True)
    assert not second.changed
    assert not second.waits
    assert before == {
        path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in ws.root.rglob("*") if path.is_file()
    }


def test_pages_and_digests_are_read(ws: Workspace) -> None:
    """The overview page and today's digest feed About the User and Recent Context."""
    ws.disk.make_folder(f"{layout.NOTEBOOK}/3_Personal")
    ws.disk.replace(f"{layout.NOTEBOOK}/{layout.OVERVIEW}", PAGE.encode())
    ws.disk.replace(TODAY, DIGEST.encode() + b"- broken \xff bytes\n")
    run(ws, STORE)
    assert (
        memory(ws).index("## About the User")
        < memory(ws).index("## Recent Context")
        < memory(ws).index("## Capab")
    )


def test_a_deleted_file_comes_back_equal(ws: Workspace) -> None:
    """MEMORY.md without a hand-written part is derived: deleted, it is the same again."""
    run(ws)
    text = memory(ws)
    (ws.root / layout.MEMORY).unlink()
    assert run(ws, at_once=True).changed
    assert memory(ws) == text


def test_at_most_once_a_minute(ws: Workspace) -> None:
    """Within a minute of the last write nothing is compiled, after it the new state is there."""
    run(ws)
    more = [*FEW, state_of(3, "A third.")]
    clock(ws).advance(seconds=59)
    assert run(ws, more) == Published(waits=True)
    clock(ws).advance(seconds=1)
    assert run(ws, more).changed
    assert "A third." in memory(ws)


def test_a_forget_does_not_wait(ws: Workspace) -> None:
    """What was forgotten leaves the file within the same minute (R-25)."""
    run(ws)
    assert run(
        ws, [state_of(1, "Zephyr renews every March.", happened="forget"), FEW[1]], at_once=True
    ).changed
    assert "Zephyr" not in memory(ws)


def test_a_clock_set_back_does_not_stop_the_file(ws: Workspace) -> None:
    """A last publish that lies in the future makes nobody wait for it."""
    counters.write(ws, PublishCounters(last=datetime(2031, 1, 1, tzinfo=UTC)))
    assert run(ws).changed


def test_refreshing_can_be_switched_off(ws: Workspace) -> None:
    """With `auto_refresh` off the file is only written when asked for outright."""
    off = workspace(ws.root, auto_refresh=False)
    assert run(off).waits
    assert not (ws.root / layout.MEMORY).exists()
    assert run(off, at_once=True).changed


def test_what_waited_has_waited_enough(ws: Workspace) -> None:
    """A publish that finds nothing to change still clears the note that something was waiting."""
    run(ws)
    counters.write(ws, PublishCounters(waiting=NOON))
    run(ws)
    assert counters.read(ws, PublishCounters) == PublishCounters(last=NOON)


@pytest.mark.parametrize(
    "mine",
    [
        b"\xef\xbb\xbf# Mine\r\n\r\nwith CRLF and a BOM\r\n",
        b"no line break at the end",
        b"not \xff\xfe UTF-8 \x00\n",
        "页面\n".encode(),
        b"---\ntitle: front\n---\nbody\n",
        b"",
    ],
)
def test_the_hand_written_part_keeps_its_bytes(ws: Workspace, mine: bytes) -> None:
    """Whatever bytes a person wrote outside the markers are there afterwards, and later publishes keep them (P-19)."""
    path = ws.root / layout.MEMORY
    path.write_bytes(mine)
    run(ws)
    path.write_bytes(path.read_bytes() + mine)
    run(ws, [FEW[0]], at_once=True)
    assert path.read_bytes().startswith(mine)
    assert path.read_bytes().endswith(mine)
    assert path.read_bytes().count(b"Zephyr renews") == 1


def test_an_edit_inside_is_kept_before_it_is_replaced(ws: Workspace) -> None:
    """A person's edit between the markers goes to `keep` while it still stands in the file (R-39)."""
    run(ws)
    edited = memory(ws).replace("every March", "every April")
    (ws.root / layout.MEMORY).write_text(edited, encoding="utf-8")
    seen: list[str] = []

    def keep(text: str) -> None:
        seen.append(text)
        assert memory(ws) == edited

    found = publish(ws, everything(FEW), keep=keep, at_once=True)
    assert found.edited is not None
    assert seen == [found.edited]
    assert "every April" in seen[0]
    assert "every March" in memory(ws)


def test_an_edit_that_cannot_be_kept_stays_in_the_file(ws: Workspace) -> None:
    """When the edit cannot be stored, MEMORY.md is not written (P-08)."""
    run(ws)
    edited = memory(ws).replace("every March", "every April")
    (ws.root / layout.MEMORY).write_text(edited, encoding="utf-8")

    def full(_: str) -> None:
        raise StoreUnwritable("the disk is full")

    with pytest.raises(StoreUnwritable):
        publish(ws, everything(FEW), keep=full, at_once=True)
    assert memory(ws) == edited


def test_broken_markers_stop_the_writing(ws: Workspace) -> None:
    """A lost end marker is reported and the file is left as it is."""
    run(ws)
    broken = memory(ws).replace("<!-- reverie:end -->", "")
    (ws.root / layout.MEMORY).write_text(broken, encoding="utf-8")
    found = run(ws, [], at_once=True)
    assert not found.changed
    assert "markers" in found.problem
    assert memory(ws) == broken


def test_what_did_not_fit_is_reported(ws: Workspace) -> None:
    """Two thousand entries do not fit, and the ids left out are named."""
    found = run(ws, STORE)
    assert found.characters <= 25_000
    assert len(found.left_out) > 500
    assert found.problem == ""


def test_a_linked_file_is_refused(ws: Workspace, tmp_path_factory: pytest.TempPathFactory) -> None:
    """MEMORY.md that is a link is neither read nor written through."""
    outside = tmp_path_factory.mktemp("outside") / "theirs.md"
    outside.write_text("theirs", encoding="utf-8")
    (ws.root / layout.MEMORY).symlink_to(outside)
    with pytest.raises(UnsafePath):
        run(ws)
    assert outside.read_text(encoding="utf-8") == "theirs"


class _Meddled(Disk):
    """A disk on which a person saves MEMORY.md each time it has been read, as often as `saves` says."""

    saves = 0

    def read(self, path: str) -> bytes | None:
        data = super().read(path)
        if path == layout.MEMORY and self.saves:
            self.saves -= 1
            (self.root / path).write_bytes(f"saved, {self.saves} to go\n".encode())
        return data


def test_a_person_who_saves_meanwhile_is_not_overwritten(ws: Workspace) -> None:
    """A file saved between reading and writing is read again, and the person's words are kept (P-08)."""
    disk = _Meddled(ws.root)
    disk.saves = 1
    run(workspace(ws.root, disk=disk))
    assert memory(ws).startswith("saved, 0 to go\n")
    assert "Zephyr" in memory(ws)


def test_a_file_that_never_rests_is_left_alone(ws: Workspace) -> None:
    """When the file changes under every try, publish gives up with a retryable error and writes nothing."""
    disk = _Meddled(ws.root)
    disk.saves = 100
    with pytest.raises(Busy):
        run(workspace(ws.root, disk=disk))
    assert "reverie:begin" not in memory(ws)


@pytest.mark.slow
def test_a_crash_leaves_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    """Killed at any call, publish leaves the file whole, old or new, the person's words in it, and a rerun finishes."""
    folders = iter(range(10_000))

    def make() -> Path:
        root = tmp_path / str(next(folders))
        root.mkdir()
        ws = workspace(root)
        ws.found(Identity(id="1" * 16, agent="test", created=NOON))
        (root / layout.MEMORY).write_text("mine\n", encoding="utf-8")
        run(ws)
        return root

    more = [*FEW, state_of(3, "A third.")]

    def scenario(disk: CrashDisk, _: Callable[[str], None]) -> None:
        run(workspace(disk.root, disk=disk), more, at_once=True)

    clean = make()
    old = (clean / layout.MEMORY).read_bytes()
    run(workspace(clean), more, at_once=True)
    new = (clean / layout.MEMORY).read_bytes()
    wrecks = 0
    for wreck in crash_loop(make, scenario):
        wrecks += 1
        assert (wreck.root / layout.MEMORY).read_bytes() in {old, new}
        run(workspace(wreck.root), more, at_once=True)
        assert (wreck.root / layout.MEMORY).read_bytes() == new
    assert wrecks > 10
    for wreck in fail_loop(make, scenario):
        assert (wreck.root / layout.MEMORY).read_bytes() in {old, new}


def test_an_interrupted_publish_hands_the_edit_over_again(ws: Workspace) -> None:
    """An edit kept by a publish that then failed is handed over once more and is kept once."""
    run(ws)
    (ws.root / layout.MEMORY).write_text(memory(ws).replace("March", "April"), encoding="utf-8")
    shelf = Shelf()
    disk = CrashDisk(ws.root, fail_at=1, forever=True)
    with pytest.raises(StoreUnwritable):
        publish(workspace(ws.root, disk=disk), everything(FEW), keep=shelf, at_once=True)
    publish(ws, everything(FEW), keep=shelf, at_once=True)
    assert len(shelf.kept) == 1
    assert "April" not in memory(ws)
