"""An import that is cut off: what of many conversations is there, and that importing again makes each whole, once."""

from __future__ import annotations

import errno
import json
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from ledger import fresh_folders, opened

from reverie.errors import StoreUnwritable
from reverie.importing import Wish, import_source
from reverie.store import sessions
from reverie.testing import CrashDisk, Crashed, crash_loop, fail_loop

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from reverie.store.workspace import Workspace

TALKS = {f"c{n}": [f"{n} said {m}" for m in range(3)] for n in range(5)}


def source(folder: Path) -> Path:
    """Write five conversations of three turns each."""
    path = folder / "talks.jsonl"
    lines = [
        {
            "id": name,
            "messages": [
                {"role": "user", "content": text, "id": f"{name}-{place}"} for place, text in enumerate(said)
            ],
        }
        for name, said in TALKS.items()
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def take_in(ws: Workspace, path: Path) -> int:
    """Import the conversations into a workspace, and return how many turns were new."""
    return import_source(ws, path, Wish(), keep=lambda _: ()).turns


def on(disk: CrashDisk) -> Workspace:
    """Return the workspace on a disk that may crash."""
    return opened(disk.root, disk=disk, first=1 << 40)


def found(root: Path) -> dict[str, list[str]]:
    """Return what each conversation says."""
    ws = opened(root, first=1 << 50)
    return {name: [turn.content for turn in sessions.read(ws, name)] for name in TALKS}


@pytest.fixture
def made(tmp_path: Path) -> Callable[[], Path]:
    """Return what makes fresh workspaces."""
    folders = fresh_folders(tmp_path)
    return lambda: opened(folders()).root


@pytest.mark.slow
def test_an_import_cut_off_anywhere_goes_on(tmp_path: Path, made: Callable[[], Path]) -> None:
    """Wherever the power fails, what was acknowledged is there, and importing again makes all of it whole, once."""
    path, wrecks = source(tmp_path), 0
    for wreck in crash_loop(made, lambda disk, tell: tell(str(take_in(on(disk), path)))):
        wrecks += 1
        before = found(wreck.root)
        assert all(set(said) <= set(TALKS[name]) for name, said in before.items()), wreck
        if wreck.told:
            assert before == TALKS, wreck
        new = take_in(opened(wreck.root, first=1 << 45), path)
        assert new == 15 - sum(map(len, before.values())), wreck
        assert found(wreck.root) == TALKS, wreck
    assert wrecks > 40


def test_an_import_that_fails_anywhere_goes_on(tmp_path: Path, made: Callable[[], Path]) -> None:
    """Whatever call fails, the import says so or has stored all, and importing again makes all of it whole, once."""
    path, failed = source(tmp_path), 0
    for wreck in fail_loop(
        made, lambda disk, tell: tell(str(take_in(on(disk), path))), errors=(errno.EIO, errno.ENOSPC)
    ):
        failed += not wreck.told
        if wreck.told:
            assert found(wreck.root) == TALKS, wreck
        take_in(opened(wreck.root, first=1 << 45), path)
        assert found(wreck.root) == TALKS, wreck
    assert failed > 20


def test_conversations_are_written_before_any_is_synced_and_all_are_synced(tmp_path: Path) -> None:
    """The names come first, once for all conversations; then each is written, then each synced, then it is told."""
    path = source(tmp_path)
    disk = CrashDisk(opened(tmp_path / "w").root)
    assert take_in(on(disk), path) == 15
    mine = [call.split() for call in disk.log if not call.startswith("open")]
    wrote = [place for place, call in enumerate(mine) if call[0] == "write"]
    synced = [
        place for place, call in enumerate(mine) if call[0] == "sync" and call[1].startswith("sessions/c")
    ]
    assert len(wrote) == len(synced) == len(TALKS)
    assert wrote[-1] < synced[0]
    assert {mine[place][1] for place in wrote} == {mine[place][1] for place in synced}
    names = [place for place, call in enumerate(mine) if call == ["sync", "sessions/"]]
    assert len(names) == 1
    assert names[0] < wrote[0]


AT = {
    "before the conversations are written": ("write sessions", 0),
    "between two conversations": ("write sessions", 2),
    "before the conversations are synced": ("sync sessions/c", 0),
    "between two syncs": ("sync sessions/c", 2),
}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("gap", AT)
def test_each_gap_of_an_import(tmp_path: Path, gap: str, seed: int) -> None:
    """In each gap whole turns of some conversations are there, in order, and importing again adds the others."""
    path = source(tmp_path)
    plain = CrashDisk(opened(tmp_path / "dry").root)
    take_in(on(plain), path)
    begins, later = AT[gap]
    points = [place for place, call in enumerate(plain.log, 1) if call.startswith(begins)]
    disk = CrashDisk(opened(tmp_path / "w").root, crash_at=points[later], seed=seed)
    with suppress(Crashed):
        take_in(on(disk), path)
    disk.cut_power()
    before = found(disk.root)
    assert before != TALKS or seed
    assert all(said == TALKS[name][: len(said)] for name, said in before.items())
    assert take_in(opened(disk.root, first=1 << 45), path) == 15 - sum(map(len, before.values()))
    assert found(disk.root) == TALKS


def test_a_conversation_whose_sync_failed_is_copied_before_it_is_used_again(tmp_path: Path) -> None:
    """A failed sync of one among many refuses the import, and that file is not appended to as it is."""
    path, root = source(tmp_path), opened(tmp_path / "w").root
    plain = CrashDisk(opened(tmp_path / "dry").root)
    take_in(on(plain), path)
    at = next(place for place, call in enumerate(plain.log, 1) if call.startswith("sync sessions/c"))
    disk = CrashDisk(root, fail_at=at, error=errno.EIO)
    with pytest.raises(StoreUnwritable, match="the disk reported an error"):
        take_in(on(disk), path)
    file = plain.log[at - 1].split()[1]
    assert disk.suspect(file)
    before = (root / file).stat().st_ino
    disk.append(file, b"\n")
    assert (root / file).stat().st_ino != before
    assert not disk.suspect(file)
    take_in(on(disk), path)
    assert found(root) == TALKS
