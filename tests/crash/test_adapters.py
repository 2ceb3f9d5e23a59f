"""Power cuts and failing calls at every point of what the adapters write: values put and tidied, turns taken back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from ledger import NOON, fresh_folders, opened, state_of

from reverie.core.forgetting.mask import Mask
from reverie.core.records import Entry, Extraction, Turn
from reverie.errors import ReverieError
from reverie.forget import finish, mask_of
from reverie.retract import retract, standing
from reverie.store import journal, sessions
from reverie.testing import CrashDisk, crash_loop, fail_loop
from reverie.values import Put, matching, put, shown, sweep

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from reverie.store.workspace import Workspace

    Tell = Callable[[str], None]

# Each step is a batch of (key, value); None deletes, and an empty batch tidies the file.
STEPS: list[list[tuple[str, Any]]] = [
    [("a", {"n": 1})],
    [("b", {"n": 2}), ("c", {"n": 3}), ("a", {"n": 4})],
    [("b", None)],
    [],
    [("d", {"text": "x" * 300})],
    [("a", None), ("d", {"n": 5})],
    [],
    [("e", {"n": 6})],
]


def states() -> list[list[dict[str, Any]]]:
    """Return for each number of finished steps what may be found then: with none, some or all of the next batch."""
    found: list[list[dict[str, Any]]] = []
    now: dict[str, Any] = {}
    for step in [*STEPS, []]:
        may = [dict(now)]
        for key, value in step:
            now[key] = value
            may.append({one: kept for one, kept in now.items() if kept is not None})
        now = {one: kept for one, kept in now.items() if kept is not None}
        found.append(may)
    return found


def storing(disk: CrashDisk, tell: Tell) -> None:
    """Put, delete and tidy, and tell how many steps were done."""
    ws = opened(disk.root, disk=disk, first=1 << 20)
    for number, step in enumerate(STEPS, 1):
        if step:
            put(ws, [Put(namespace=("t",), key=key, value=value) for key, value in step])
        else:
            sweep(ws)
        tell(str(number))


def values(ws: Workspace) -> dict[str, Any]:
    """Return what is stored."""
    mask = Mask()
    living = [shown(one, mask) for one in matching(ws, ("t",), masked=mask)]
    return {one.key: one.value for one in living}


def test_a_cut_write_of_values_is_whole_or_absent(tmp_path: Path) -> None:
    """Cut off at every call, what was acknowledged is there, the next batch in part or not, and it goes on (R-04)."""
    allowed, wrecks = states(), 0
    for wreck in crash_loop(fresh_folders(tmp_path), storing, seeds=(0, 1, 2)):
        ws, done = opened(wreck.root), int(wreck.told[-1]) if wreck.told else 0
        assert values(ws) in allowed[done], (wreck.at, wreck.seed, done, values(ws))
        put(ws, [Put(namespace=("t",), key="z", value=1)])
        assert values(ws)["z"] == 1
        sweep(ws)
        assert values(opened(wreck.root))["z"] == 1
        wrecks += 1
    assert wrecks > 60


def test_a_failing_call_loses_no_value(tmp_path: Path) -> None:
    """With any one call failing, nothing acknowledged is lost, and the error is one of ours (R-06)."""
    allowed, wrecks = states(), 0
    for wreck in fail_loop(fresh_folders(tmp_path), storing):
        done = int(wreck.told[-1]) if wreck.told else 0
        assert values(opened(wreck.root)) in allowed[done], (wreck.at, wreck.seed, done)
        wrecks += 1
    assert wrecks > 60


def talked(root: Path) -> None:
    """Let a session hold four turns, of which two gave an entry each."""
    ws = opened(root)
    for n in range(4):
        sessions.append(ws, "s1", Turn(role="user", content=f"I said thing {n} here.", at=NOON, id=f"t{n}"))
    entries = tuple(
        Entry(
            id=f"{n:016x}",
            text=f"User said thing {n}",
            at=NOON,
            day="2026-07-01",
            session="s1",
            turns=str(n),
            evidence=f"I said thing {n} here",
        )
        for n in (1, 3)
    )
    journal.append(
        ws, Extraction(id="e" * 16, at=NOON, session="s1", start=0, stop=4, extractor="x", entries=entries)
    )


def taking_back(disk: CrashDisk, tell: Tell) -> None:
    """Pop a turn, then clear the session."""
    ws = opened(disk.root, disk=disk, first=1 << 20)
    for name in ("1", "2"):
        state = state_of(ws)
        state.catch_up(mask_of(ws))
        state.overlay(journal.waiting(ws).records, mask_of(ws))
        retract(ws, state, "s1", choose=lambda turns, name=name: turns[-1:] if name == "1" else turns)
        state.close()
        tell(name)


@pytest.mark.slow
@pytest.mark.parametrize("loop", [crash_loop, fail_loop])
def test_turns_are_taken_back_whole_or_not_at_all(tmp_path: Path, loop: Any) -> None:
    """Cut off anywhere in a pop or a clear, the turns and their entries go together once the next write finished it."""
    make, wrecks = fresh_folders(tmp_path), 0

    def folder() -> Path:
        root = make()
        talked(root)
        return root

    for wreck in loop(folder, taking_back):
        done = int(wreck.told[-1]) if wreck.told else 0
        ws = opened(wreck.root, first=1 << 30)
        finish(ws)
        mask = mask_of(ws)
        left = [turn.id for turn in standing(ws, "s1", masked=mask)]
        after = [["t0", "t1", "t2", "t3"], ["t0", "t1", "t2"], [], []]
        assert left in after[done : done + 2], (wreck.at, wreck.seed, done, left)
        (record,) = journal.waiting(ws).records
        assert isinstance(record, Extraction)
        hidden = {entry.turns for entry in record.entries if mask(entry)}
        assert hidden == {n for n in ("1", "3") if f"t{n}" not in left}
        assert len(sessions.read(ws, "s1")) == 4
        wrecks += 1
    assert wrecks > 40


def test_a_pop_that_failed_may_be_tried_again(tmp_path: Path) -> None:
    """After a disk refused once, the same pop takes back the turn it was to take, and no other."""
    root = fresh_folders(tmp_path)()
    talked(root)
    plain = CrashDisk(root)
    ws = opened(root, disk=plain, first=1 << 20)
    failing = opened(root, disk=CrashDisk(root, fail_at=1, forever=True), first=1 << 21)
    state = state_of(ws)
    with pytest.raises(ReverieError):
        retract(failing, state, "s1", choose=lambda turns: turns[-1:])
    done = retract(ws, state, "s1", choose=lambda turns: turns[-1:])
    assert [turn.id for turn in done.turns] == ["t3"]
    state.close()
