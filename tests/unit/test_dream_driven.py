"""A dream that a host drives in several calls: on disk between them, under a lease, judged like any other."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import pytest
from dream_agent import TEAS, Standing, body, cite, cited
from dream_world import DAY, TEA, WORK, bytes_of, entry, later, log, look_at, open_world, outcomes, page, run

from reverie import layout
from reverie.dream import Reach, Started, Wish, end, start, step
from reverie.errors import Busy, Conflict, StoreUnwritable
from reverie.store import counters
from reverie.store.counters import DreamCounters
from reverie.store.dreams import lease, runs
from reverie.store.dreams.dream_tools import Tools
from reverie.store.dreams.dream_views import Veil
from reverie.store.dreams.driven import Driven
from reverie.store.dreams.staging import Staging
from reverie.store.workspace import Workspace
from reverie.testing import crash_loop

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from reverie.index.state import State
    from reverie.testing import CrashDisk

PAGE = body("Preferences", *map(cite, DAY))
# What processes kept of a run, by the workspace as each opened it; of no other anything is kept.
KEPT: WeakKeyDictionary[Workspace, Driven] = WeakKeyDictionary()


@pytest.fixture(params=["one process", "a process for each call"])
def ws(tmp_path: Path, request: pytest.FixtureRequest) -> Workspace:
    """Return a workspace in the night of 2026-07-02, with four entries of the day before."""
    ws = open_world(tmp_path)
    log(ws, DAY)
    if request.param == "one process":
        KEPT[ws] = Driven()
    return ws


@contextmanager
def reach(ws: Workspace) -> Iterator[Reach]:
    """Give what a dream asks of what lies around it."""
    states: list[State] = []

    def look() -> State:
        states.append(look_at(ws))
        return states[-1]

    yield Reach(look=look, veil=Veil(), driven=KEPT.get(ws) or Driven())
    for state in states:
        state.close()


def begun(ws: Workspace, holder: str = "host", **wish: Any) -> Started:
    """Start a run."""
    with reach(ws) as around:
        found = start(ws, around, Wish(now=True, **wish), holder=holder)
    assert isinstance(found, Started)
    return found


def use(ws: Workspace, run: str, tool: str, **arguments: Any) -> str:
    """Use one tool."""
    with reach(ws) as around:
        return step(ws, around, run, tool=tool, arguments=arguments)


def ended(ws: Workspace, run: str, *, clean: bool = True) -> Any:
    """End a run."""
    with reach(ws) as around:
        return end(ws, around, run, clean=clean)


def work(ws: Workspace, run: str) -> None:
    """Cite all four entries."""
    use(ws, run, "write", path=TEAS, text=PAGE)
    for one in DAY:
        use(ws, run, "settle", **cited(one, TEAS)[1])


def test_a_run_goes_on_from_call_to_call(ws: Workspace) -> None:
    """What a call did is there for the next; nothing is seen before the end installs it in one commit (S-29)."""
    before = Standing(ws)
    found = begun(ws)
    assert [part.id for part in found.task.parts] == [one.id for one in DAY]
    work(open_world(ws.root), found.run)
    assert Standing(ws) == before
    assert use(ws, found.run, "read", path=TEAS).startswith(PAGE)
    done = ended(open_world(ws.root), found.run)
    assert str(done) == "4 entries: 4 cited on 1 page"
    assert page(ws, TEAS) == PAGE
    assert runs.read(ws)[0].run == found.run == done.run
    assert runs.read(ws)[0].dreamer == "host"
    assert lease.current(ws) is None
    assert ws.disk.list(layout.run_folder(found.run)) == []


def test_while_a_run_is_driven_others_are_busy(ws: Workspace) -> None:
    """A dream, and another host's start, are answered Busy until the run ends or its lease does (R-14)."""
    found = begun(ws)
    with pytest.raises(Busy, match="driven by host"):
        run(ws)
    with pytest.raises(Busy, match="driven by host"), reach(ws) as around:
        start(ws, around, Wish(now=True), holder="another")
    later(ws, seconds=599)
    use(ws, found.run, "list")
    later(ws, seconds=599)
    with pytest.raises(Busy):
        run(ws)


def test_a_run_left_behind_leaves_nothing(ws: Workspace) -> None:
    """When its lease has ended the next dream takes its entries, and its late steps and end are told so (R-10)."""
    found = begun(ws)
    work(ws, found.run)
    later(ws, seconds=601)
    done = run(ws)
    assert done.counts == {"cited": 4}
    assert page(ws, TEAS) != PAGE
    assert ws.disk.list(layout.run_folder(found.run)) == []
    for late in (lambda: use(ws, found.run, "list"), lambda: ended(ws, found.run)):
        with pytest.raises(Conflict):
            late()


def test_a_run_is_given_up(ws: Workspace) -> None:
    """A run ended uncleanly changes nothing but when a dream last began; its entries are dreamt again."""
    before = Standing(ws)
    found = begun(ws)
    work(ws, found.run)
    assert str(ended(ws, found.run, clean=False)) == "the run was given up; its entries are pending"
    assert Standing(ws) == before
    assert run(ws).counts == {"cited": 4}


def test_nothing_to_do_holds_no_lease(ws: Workspace) -> None:
    """A start that the gates refuse says why, and keeps nobody out."""
    with reach(ws) as around:
        found = start(ws, around, Wish(), holder="host")
    assert str(found) == "4 of 20 entries are pending, the oldest for 1 day"
    assert lease.current(ws) is None


def test_a_page_that_a_person_changes_meanwhile_is_theirs(ws: Workspace) -> None:
    """Between write and end a person's edit wins, however many calls lie between (P-08)."""
    mine = body("Preferences", "By hand")
    (ws.root / ws.notebook / TEAS).write_text(mine)
    found = begun(ws)
    use(ws, found.run, "edit", path=TEAS, old="- By hand\n", new=f"- By hand\n- {cite(TEA)}\n")
    use(ws, found.run, "settle", **cited(TEA, TEAS)[1])
    hers = body("Preferences", "By her hand")
    (ws.root / ws.notebook / TEAS).write_text(hers)
    done = ended(ws, found.run)
    assert page(ws, TEAS) == hers
    assert outcomes(ws) == {}
    assert any("left to them" in one for one in done.problems)


def test_a_page_is_not_written_over_what_came_after_it_was_read(ws: Workspace) -> None:
    """A whole new text is refused once a person changed the page, until the run reads it again (P-08)."""
    path = ws.root / ws.notebook / TEAS
    path.write_text(body("Preferences", "By hand"))
    found = begun(ws)
    use(ws, found.run, "read", path=TEAS)
    path.write_text(body("Preferences", "By hand", "By hand, too"))
    new = body("Preferences", "By hand", cite(TEA))
    assert "somebody changed" in use(ws, found.run, "write", path=TEAS, text=new)
    assert "By hand, too" in use(ws, found.run, "read", path=TEAS)
    new = body("Preferences", "By hand", "By hand, too", cite(TEA))
    assert "characters now" in use(ws, found.run, "write", path=TEAS, text=new)
    use(ws, found.run, "settle", **cited(TEA, TEAS)[1])
    path.write_text(body("Preferences", "By hand", "By hand, too").replace("# Pref", "Mine.\n\n# Pref"))
    ended(ws, found.run)
    assert page(ws, TEAS) == new.replace("# Pref", "Mine.\n\n# Pref")


def test_an_entry_settled_elsewhere_falls_out_of_the_run(ws: Workspace) -> None:
    """Only what is pending at the end is judged: an end repeated after a crash settles nothing twice."""
    found = begun(ws)
    work(ws, found.run)
    kept = (ws.root / layout.run_folder(found.run) / "steps.jsonl").read_bytes()
    ended(ws, found.run)
    lease.take(ws, found.run, holder="host", until=found.until)
    ws.disk.append(f"{layout.run_folder(found.run)}/steps.jsonl", kept)
    before = Standing(ws)
    ended(ws, found.run)
    assert Standing(ws) == before
    assert len(runs.read(ws)) == 1


def test_a_slot_fires_once_for_two_schedulers(ws: Workspace) -> None:
    """Of many schedulers at one due instant one dreams; the others find the gates shut or the lock taken (P-06)."""
    log(ws, [entry(n, f"User likes dish {n}", category="preference") for n in range(100, 130)])

    def fire(_: int) -> str:
        try:
            return run(open_world(ws.root), now=False).result
        except Busy:
            return "busy"

    with ThreadPoolExecutor(4) as pool:
        fired = list(pool.map(fire, range(8)))
    assert fired.count("productive") == 1
    assert set(fired) <= {"productive", "nothing", "busy"}
    log(ws, [entry(n, f"User likes dish {n}", category="preference") for n in range(200, 230)])
    assert "less than 24 hours ago" in str(run(open_world(ws.root), now=False))
    after_sleep = open_world(ws.root)
    later(after_sleep, days=40)
    assert run(after_sleep, now=False).result == "productive"
    assert run(after_sleep, now=False).result == "nothing"


@pytest.mark.slow
def test_the_power_is_cut_at_any_call_of_a_driven_run(tmp_path: Path) -> None:
    """Wherever a driven run is cut off, the notebook is as before or as after, and the next dream goes on (R-10)."""
    first = tmp_path / "first"
    first.mkdir()
    made = open_world(first)
    log(made, [TEA, WORK])
    numbers = iter(range(1_000_000))

    def copy() -> Path:
        root = tmp_path / f"run{next(numbers)}"
        shutil.copytree(first, root)
        return root

    text = body("Preferences", cite(TEA), cite(WORK))

    def night(disk: CrashDisk, tell: Any) -> None:
        ws = open_world(disk.root, disk=disk)
        name = begun(ws).run
        use(ws, name, "write", path=TEAS, text=text)
        use(ws, name, "settle", **cited(TEA, TEAS)[1])
        use(ws, name, "settle", **cited(WORK, TEAS)[1])
        ended(ws, name)
        tell("ended")

    for wreck in crash_loop(copy, night, seeds=(1, 7), step=4):
        ws = open_world(wreck.root)
        later(ws, seconds=601)
        done = run(ws)
        assert {one.outcome for one in outcomes(ws).values()} == {"cited"}
        assert set(outcomes(ws)) == {TEA.id, WORK.id}
        if wreck.told:
            assert page(ws, TEAS) == text
            assert done.result == "nothing"
        assert [one for one in bytes_of(ws) if one.endswith("steps.jsonl")] == []


def test_the_counters_know_when_a_run_began(ws: Workspace) -> None:
    """A driven run counts for the gates like any dream."""
    begun(ws)
    assert counters.read(ws, DreamCounters).last == ws.clock()


def test_a_tool_touches_what_it_is_asked_for(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """A step reads the page it names, whatever else the notebook holds: nothing is walked and no other page opened."""
    found = begun(ws)
    (ws.root / ws.notebook / TEAS).write_text(body("Preferences", "By hand"))
    staging, opened = Staging(ws), list[str]()
    read = ws.disk.read
    monkeypatch.setattr(ws.disk, "read", lambda path: opened.append(path) or read(path))
    monkeypatch.setattr(ws.disk, "walk", lambda path: pytest.fail(f"{path} was walked"))
    tools = Tools(ws, staging, found.task.parts, veil=Veil(), known=lambda _: True)
    assert tools.use("read", {"path": TEAS}).startswith("---\ntype: personal")
    tools.use("edit", {"path": TEAS, "old": "By hand", "new": "By her hand"})
    tools.use("settle", {"entry": TEA.id, "outcome": "merged", "into": WORK.id})
    assert opened == [f"{ws.notebook}/{TEAS}"]


def test_a_process_reads_the_steps_of_a_run_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many steps a process makes, it reads those of others alone, and makes its own no second time."""
    ws = open_world(tmp_path)
    log(ws, DAY)
    found = begun(ws)
    KEPT[ws], read = Driven(), list[str]()
    steps = f"{layout.run_folder(found.run)}/steps.jsonl"
    look, redo, redone = ws.disk.read_from, Tools.redo, list[object]()
    monkeypatch.setattr(ws.disk, "read_from", lambda path, start: read.append(path) or look(path, start))
    monkeypatch.setattr(Tools, "redo", lambda tools, deed: redone.append(deed) or redo(tools, deed))
    for one, other in zip(DAY, (*DAY[1:], DAY[0]), strict=True):
        assert "merged" in use(ws, found.run, "settle", entry=one.id, outcome="merged", into=other.id)
    assert (read.count(steps), redone) == (1, [])
    use(open_world(ws.root), found.run, "write", path=TEAS, text=PAGE)
    assert len(redone) == len(DAY)
    assert use(ws, found.run, "read", path=TEAS).startswith(PAGE)
    assert use(ws, found.run, "read", path=TEAS).startswith(PAGE)
    assert (read.count(steps), len(redone)) == (2, 2 * len(DAY) + 1)


def test_a_run_comes_to_the_same_whoever_makes_its_steps(tmp_path: Path) -> None:
    """One process, one for each call, and two that take turns are given the same answers and end the same way."""
    told = []
    for name, taken in (("one", "aaaaaaa"), ("each", "abcdefg"), ("turns", "abababa")):
        (tmp_path / name).mkdir()
        ws = open_world(tmp_path / name)
        log(ws, DAY)
        found = begun(ws)
        homes = {who: open_world(ws.root) for who in sorted(set(taken))}
        KEPT.update({home: Driven() for home in homes.values()})
        calls: list[tuple[str, dict[str, Any]]] = [
            ("read", {"path": TEAS}),
            ("write", {"path": TEAS, "text": body("Preferences", *map(cite, DAY[:3]))}),
            ("edit", {"path": TEAS, "old": cite(DAY[2]), "new": f"{cite(DAY[2])}\n- {cite(DAY[3])}"}),
            *(cited(one, TEAS) for one in DAY),
        ]
        said = [
            use(homes[who], found.run, tool, **given) for who, (tool, given) in zip(taken, calls, strict=True)
        ]
        told.append((said, str(ended(homes["a"], found.run)), page(ws, TEAS), sorted(outcomes(ws).items())))
    assert told[0] == told[1] == told[2]


def test_a_step_that_did_not_reach_the_disk_was_not_made(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the disk refuses a step, the next one finds the run as it was before it (P-01)."""
    found = begun(ws)
    use(ws, found.run, "write", path=TEAS, text=PAGE)

    def full(path: str, data: bytes) -> int:
        raise StoreUnwritable(f"{path}: no space for {len(data)} bytes")

    with monkeypatch.context() as broken:
        broken.setattr(ws.disk, "append", full)
        with pytest.raises(StoreUnwritable):
            use(ws, found.run, "write", path=TEAS, text="Gone.")
    assert use(ws, found.run, "read", path=TEAS).startswith(PAGE)
