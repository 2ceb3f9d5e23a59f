"""Power cuts at every call of what a memory tool writes: each file is whole, as it was or as it was to be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from ledger import fresh_folders, opened

from reverie.store.hosts import files
from reverie.store.workspace import Workspace
from reverie.testing import CrashDisk, Wreck, crash_loop, fail_loop

FIRST, SECOND = "Prefers tea.\n" * 40, "Prefers tea.\n" * 40 + "No milk.\n"
MAY_BE = {"a/tea.md": {FIRST, SECOND}, "b/c/drinks.md": {SECOND}, "d/one.md": {"1"}, "d/e/two.md": {"2"}}


def keeping(disk: CrashDisk, tell: Callable[[str], None]) -> None:
    """Create, change, move and remove, and tell after each what is so from then on."""
    ws = opened(disk.root, disk=disk, first=1 << 20)
    files.create(ws, "a/tea.md", FIRST)
    tell("created")
    files.change(ws, "a/tea.md", lambda text: text + "No milk.\n")
    tell("changed")
    files.move(ws, "a/tea.md", "b/c/drinks.md")
    tell("moved")
    files.create(ws, "d/one.md", "1")
    files.create(ws, "d/e/two.md", "2")
    tell("made two")
    files.remove(ws, "d")
    tell("removed")
    files.remove(ws, "b/c/drinks.md")
    tell("gone")


def stands(ws: Workspace, told: list[str]) -> list[str]:
    """Return what is wrong after a crash, given what was acknowledged before it."""
    wrong = []
    found = {
        path.removeprefix("files/"): (ws.disk.read(path) or b"").decode() for path in ws.disk.walk("files")
    }
    wrong += [
        f"{name} holds {text[:20]!r}" for name, text in found.items() if text not in MAY_BE.get(name, ())
    ]
    tea = [name for name in found if name in {"a/tea.md", "b/c/drinks.md"}]
    if "created" in told and "moved" not in told and not tea:
        wrong.append("the file is lost")
    if "changed" in told and "moved" not in told and any(found[name] != SECOND for name in tea):
        wrong.append("the change is lost")
    if "moved" in told and "removed" not in told and tea != ["b/c/drinks.md"]:
        wrong.append(f"the move is lost: {tea}")
    if len(tea) > 1:
        wrong.append("the file stands at both places")
    if "removed" in told and any(name.startswith("d/") for name in found):
        wrong.append("a removed folder is back")
    if "gone" in told and found:
        wrong.append(f"a removed file is back: {sorted(found)}")
    return wrong


def goes_on(ws: Workspace) -> list[str]:
    """Return what cannot be done in what a crash left."""
    files.remove(ws, "d")
    for name in ("a/tea.md", "b/c/drinks.md"):
        files.remove(ws, name)
    made = files.create(ws, "a/tea.md", FIRST) and files.create(ws, "d/e/two.md", "2")
    for folder in ("", "a", "b", "b/c", "d", "d/e"):
        ws.disk.sweep(f"files/{folder}".rstrip("/"))
    left = sorted(path for path in ws.disk.walk("files"))
    return [] if made and left == ["files/a/tea.md", "files/d/e/two.md"] else [f"it cannot go on: {left}"]


def hold(wreck: Wreck) -> None:
    """Demand of a wreck that its files are whole and can be worked on."""
    ws = opened(wreck.root, first=1 << 28)
    wrong = stands(ws, wreck.told) + goes_on(ws)
    assert not wrong, (wreck.at, wreck.seed, wreck.told, wreck.log[: wreck.at], wrong)


@pytest.mark.slow
def test_a_power_cut_anywhere_leaves_each_file_whole(tmp_path: Path) -> None:
    """Cut off at every call, what was acknowledged is there, and each file is whole, before or after a change."""
    wrecks = 0
    for wreck in crash_loop(fresh_folders(tmp_path), keeping, seeds=(0, 1, 2)):
        hold(wreck)
        wrecks += 1
    assert wrecks > 90


@pytest.mark.slow
def test_a_failing_call_anywhere_leaves_each_file_whole(tmp_path: Path) -> None:
    """With any one call failing, no file is half written, and the next attempt goes through."""
    wrecks = 0
    for wreck in fail_loop(fresh_folders(tmp_path), keeping):
        hold(wreck)
        wrecks += 1
    assert wrecks > 90
