"""What crashes leave in the history goes with the next lint, and whatever a commit leads to stays."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from desk import Desk

from reverie import layout
from reverie.store.versions.git import IDENTITY, History
from reverie.store.versions.pruning import prune

if TYPE_CHECKING:
    from pathlib import Path


def _objects(desk: Desk) -> set[Path]:
    return {path for path in (desk.root / layout.OBJECTS / "objects").rglob("*") if path.is_file()}


def _lived(desk: Desk) -> History:
    """Let two dreams and an undo make history, and return it."""
    for text in ("User likes jasmine tea", "User likes rye bread"):
        desk.remember(text, category="preference")
        run = desk.night()
    desk.memory.undo(run.run)
    return History(desk.memory.opened.ws)


def test_what_nothing_leads_to_goes(desk: Desk) -> None:
    """Objects of a commit that was never published go; every commit, page and undo still reads."""
    history = _lived(desk)
    kept = _objects(desk)
    commits = history.log(sys.maxsize)
    for number in range(5):
        history.prepare(
            {"notebook/0_Inbox/x.md": f"{number}".encode()},
            parent=history.head(),
            message="lost",
            author=IDENTITY,
            at=desk.clock(),
        )
    lost = _objects(desk) - kept
    assert lost
    assert prune(desk.memory.opened.ws) == len(lost)
    assert _objects(desk) == kept
    assert History(desk.memory.opened.ws).log(sys.maxsize) == commits
    assert list(History(desk.memory.opened.ws).verify()) == []
    assert prune(desk.memory.opened.ws) == 0


def test_an_object_that_was_cut_short_goes(desk: Desk) -> None:
    """The unfinished file of an object that a crash left is removed, also where nothing else stands in its folder."""
    _lived(desk)
    kept = _objects(desk)
    folders = desk.root / layout.OBJECTS / "objects"
    for first in range(256):
        folder = folders / f"{first:02x}"
        if first % 50 == 0:
            folder.mkdir(exist_ok=True)
            (folder / ".~reverie-0123456789abcdef").write_bytes(b"half")
    assert prune(desk.memory.opened.ws) == 6
    assert _objects(desk) == kept


def test_a_lint_prunes(desk: Desk) -> None:
    """Looking the notebook over removes what crashes left."""
    history = _lived(desk)
    lost = history.write_blob(b"lost in a crash")
    assert (desk.root / layout.OBJECTS / "objects" / lost[:2] / lost[2:]).exists()
    desk.memory.lint()
    assert not (desk.root / layout.OBJECTS / "objects" / lost[:2] / lost[2:]).exists()
    assert list(History(desk.memory.opened.ws).verify()) == []


def test_a_damaged_history_is_left_alone(desk: Desk) -> None:
    """When a tree cannot be read nothing is removed: it cannot be told what it leads to."""
    history = _lived(desk)
    history.write_blob(b"lost in a crash")
    tree = history.log()[0].tree
    (desk.root / layout.OBJECTS / "objects" / tree[:2] / tree[2:]).write_bytes(b"no object")
    before = _objects(desk)
    assert prune(desk.memory.opened.ws) == 0
    assert _objects(desk) == before


def test_what_an_install_waits_to_finish_stays(desk: Desk) -> None:
    """While an intent stands, its commit, which nothing leads to yet, is not removed."""
    history = _lived(desk)
    history.write_blob(b"of a commit to come")
    (desk.root / layout.INSTALL_INTENT).write_bytes(b"{}")
    before = _objects(desk)
    assert prune(desk.memory.opened.ws) == 0
    assert _objects(desk) == before


def test_packs_and_strangers_files_stay(desk: Desk) -> None:
    """What Reverie did not write under `objects` is neither read nor removed."""
    _lived(desk)
    pack = desk.root / layout.OBJECTS / "objects/pack/pack-1.pack"
    pack.parent.mkdir()
    pack.write_bytes(b"PACK")
    prune(desk.memory.opened.ws)
    assert pack.read_bytes() == b"PACK"
