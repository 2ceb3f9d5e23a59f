"""Tests of a history that a person's own git packed."""

from __future__ import annotations

import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.settings.value import Settings
from reverie.errors import DamagedFile
from reverie.store.versions import git_packs
from reverie.store.versions.git import MAIN, PACKS, History
from reverie.store.workspace import Workspace
from reverie.testing import FixedClock, counter_ids

AT = datetime(2026, 7, 1, 12, tzinfo=UTC)


def bare(root: Path) -> Workspace:
    """Return an empty workspace at `root`."""
    return Workspace(root, Settings(durability="os"), clock=FixedClock(AT), new_id=counter_ids())


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """Give an empty workspace."""
    return bare(tmp_path)


needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def git(ws: Workspace, *words: str) -> None:
    """Run the real git in the history."""
    command = ["git", "--git-dir", str(ws.root / ".history"), *words]
    subprocess.run(command, check=True, capture_output=True)


def grown(ws: Workspace, days: int = 12) -> dict[str, dict[str, bytes]]:
    """Let a page grow by a line a day, and return what each commit holds."""
    history, known, text = History(ws), {}, b""
    for day in range(days):
        text += b"- line %d of a page that is long enough for git to store what changed alone\n" % day
        commit = history.prepare(
            {"notebook/A.md": text, f"notebook/{day}/B.md": b"%d" % day},
            parent=history.head(),
            message=f"day {day}",
            at=AT + timedelta(days=day),
        )
        history.publish(commit.id, commit.parent or None)
        known[commit.id] = {path: history.blob(blob) for path, blob in history.tree(commit.id).items()}
    return known


def packed(ws: Workspace) -> dict[str, dict[str, bytes]]:
    """Return what a history holds that git then packed, its ref included."""
    known = grown(ws)
    git(ws, "gc", "--aggressive", "--prune=now")
    assert git_packs.packs(ws)
    assert ws.disk.read(MAIN) is None
    return known


def told(ws: Workspace, known: dict[str, dict[str, bytes]]) -> bool:
    """Tell whether every commit still holds what it held."""
    history = History(ws)
    assert history.head() == list(known)[-1]
    assert [one.id for one in history.log()] == list(reversed(known))
    now = {one: {path: history.blob(blob) for path, blob in history.tree(one).items()} for one in known}
    return now == known and not list(history.verify())


@needs_git
def test_a_history_that_git_packed_is_whole_again(ws: Workspace) -> None:
    """After `git gc` nothing is taken for an empty history, and taking the pack apart brings back every version."""
    known = packed(ws)
    with pytest.raises(DamagedFile, match="git gc"):
        History(ws).head()
    assert git_packs.take_apart(ws) == 1
    assert told(ws, known)
    assert not git_packs.packs(ws)
    assert git_packs.take_apart(ws) == 0


@needs_git
def test_objects_made_from_named_ones_are_read_too(ws: Workspace) -> None:
    """A pack whose deltas name what they change, as older gits write it, is taken apart as well."""
    known = grown(ws)
    git(ws, "-c", "repack.useDeltaBaseOffset=false", "repack", "-adf", "--depth=50", "--window=50")
    git(ws, "prune-packed")
    assert git_packs.take_apart(ws) == 1
    assert told(ws, known)


@needs_git
def test_a_pack_that_is_cut_stays_as_it_is(ws: Workspace) -> None:
    """What cannot be read is left for a person: no new history begins, and nothing is removed."""
    packed(ws)
    (path,) = git_packs.packs(ws)
    whole = (ws.root / path).read_bytes()
    (ws.root / path).chmod(0o600)
    (ws.root / path).write_bytes(whole[: len(whole) // 2])
    assert git_packs.take_apart(ws) == 0
    assert git_packs.packs(ws) == (path,)
    with pytest.raises(DamagedFile):
        History(ws).head()


@needs_git
def test_check_tells_of_a_pack_and_lets_nothing_be_removed(ws: Workspace) -> None:
    """Of a packed history `check` says that the next dream takes it apart, and not that its files may go."""
    packed(ws)
    (path,) = git_packs.packs(ws)
    found = [(place, remedy, severity) for place, _, remedy, severity in git_packs.troubles(ws)]
    assert found == [(path, git_packs.REMEDY, "warning")]


@needs_git
def test_a_loose_ref_wins_over_a_packed_one(ws: Workspace) -> None:
    """A ref that stands beside a planted packed one keeps its commit."""
    known = packed(ws)
    (ws.root / MAIN).parent.mkdir(parents=True, exist_ok=True)
    (ws.root / MAIN).write_bytes(f"{list(known)[3]}\n".encode())
    git_packs.take_apart(ws)
    assert History(ws).head() == list(known)[3]


@needs_git
def test_taking_apart_again_ends_what_a_crash_left(ws: Workspace) -> None:
    """With some objects loose already, one of them damaged, the rest is written and the damaged one mended."""
    known = packed(ws)
    (path,) = git_packs.packs(ws)
    pack = (ws.root / path).read_bytes()
    index = (ws.root / path).with_suffix(".idx").read_bytes()
    git_packs.take_apart(ws)
    loose = sorted((ws.root / ".history/objects").glob("[0-9a-f][0-9a-f]/*"))
    for number, one in enumerate(loose):
        if number % 3:
            one.unlink()
        elif number % 2:
            one.write_bytes(b"half")
    (ws.root / MAIN).unlink()
    (ws.root / path).write_bytes(pack)
    (ws.root / path).with_suffix(".idx").write_bytes(index)
    assert git_packs.take_apart(ws) == 1
    assert told(ws, known)


@given(st.binary(max_size=80), st.binary(max_size=40))
def test_any_bytes_are_a_delta_or_damage(base: bytes, delta: bytes) -> None:
    """Arbitrary bytes taken for a delta give an object or DamagedFile, nothing else."""
    try:
        git_packs.patched(base, delta)
    except DamagedFile:
        return


@given(st.binary(max_size=200))
def test_any_bytes_are_a_pack_or_damage(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    """Arbitrary bytes taken for a pack are left where they lie."""
    ws = bare(tmp_path_factory.mktemp("ws"))
    name = f"{PACKS}/pack-{'1' * 40}"
    for ending in ("pack", "idx"):
        path = ws.root / f"{name}.{ending}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"PACK\0\0\0\x02" + data if ending == "pack" else b"")
    taken = git_packs.take_apart(ws)
    assert len(git_packs.packs(ws)) == 1 - taken
