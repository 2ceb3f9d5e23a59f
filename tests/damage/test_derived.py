"""Every derived file, harmed in every way: it comes back, and the answers are the same."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from lived import HARMS, answers, copy, delete, nul, open_memory

from reverie import layout


@pytest.fixture(scope="session")
def wanted(lived: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """Return what a workspace that nobody harmed answers."""
    with open_memory(copy(lived, tmp_path_factory.mktemp("whole"))) as memory:
        return answers(memory)


def derived(lived: Path) -> list[str]:
    """Return the paths of the derived files."""
    base = lived / "agent"
    found = [path for folder in (layout.INDEX, layout.DIGESTS) for path in (base / folder).rglob("*")]
    return sorted(path.relative_to(base).as_posix() for path in found if path.is_file())


@pytest.mark.slow
@pytest.mark.parametrize("harm", HARMS)
def test_each_derived_file_comes_back(
    lived: Path, tmp_path: Path, wanted: dict[str, object], harm: object
) -> None:
    """Deleted, cut, flipped, overwritten or replaced by a folder, no derived file changes an answer."""
    paths = derived(lived)
    assert len(paths) > 6
    for number, path in enumerate(paths):
        home = copy(lived, tmp_path / str(number))
        harm(home / "agent" / path)
        with open_memory(home) as memory:
            if path.startswith(layout.DIGESTS) and (home / "agent" / path).is_dir():
                # A person moves it away: nobody's folder is removed for a digest.
                (home / "agent" / path).rmdir()
            assert answers(memory) == wanted, path


@pytest.mark.parametrize("folder", [layout.INDEX, layout.DIGESTS, f"{layout.INDEX}/text"])
def test_each_derived_folder_comes_back(home: Path, wanted: dict[str, object], folder: str) -> None:
    """A derived folder that is gone, or has become a file, is made anew."""
    shutil.rmtree(home / "agent" / folder)
    with open_memory(home) as memory:
        assert answers(memory) == wanted


def test_an_index_that_became_a_file_comes_back(home: Path, wanted: dict[str, object]) -> None:
    """A file in the place of the index folder gives way to it."""
    shutil.rmtree(home / "agent" / layout.INDEX)
    (home / "agent" / layout.INDEX).write_bytes(b"junk")
    with open_memory(home) as memory:
        assert answers(memory) == wanted


def test_everything_derived_may_go_at_once(home: Path, lived: Path, wanted: dict[str, object]) -> None:
    """With every derived file filled with NUL, and MEMORY.md gone, the answers are the same."""
    for path in derived(lived):
        nul(home / "agent" / path)
    delete(home / "agent" / layout.MEMORY)
    with open_memory(home) as memory:
        assert answers(memory) == wanted


@pytest.mark.slow
def test_a_flipped_bit_anywhere_in_the_state_ends_no_verb(home: Path, wanted: dict[str, object]) -> None:
    """Whichever byte of the state's file is flipped, every answer comes, and a rebuild gives the right one."""
    path = home / "agent" / layout.STATE_DB
    with open_memory(home) as memory:
        memory.list()
    whole = path.read_bytes()
    for at in range(0, len(whole), max(1, len(whole) // 24)):
        path.with_name("state.db-wal").unlink(missing_ok=True)
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x40]) + whole[at + 1 :])
        with open_memory(home) as memory:
            memory.list()
            memory.due()
            memory.reindex()
            assert answers(memory)["list"] == wanted["list"], at


def test_an_older_copy_beside_a_newer_index_is_told(
    home: Path, tmp_path: Path, wanted: dict[str, object]
) -> None:
    """Where a backup was put back and the index kept, `check` says what to do, and then the backup is what answers."""
    older = copy(home, tmp_path / "older")
    with open_memory(home) as memory:
        memory.remember("The turbine was sold to Porto")
        memory.drain()
        memory.list()
    shutil.rmtree(older / "agent" / layout.INDEX)
    shutil.copytree(home / "agent" / layout.INDEX, older / "agent" / layout.INDEX)
    with open_memory(older) as memory:
        assert ["reindex" in one.remedy for one in memory.check()] == [True]
        memory.reindex()
        assert memory.check() == ()
        assert answers(memory) == wanted
