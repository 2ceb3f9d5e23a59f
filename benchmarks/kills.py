"""Kill the processes that work on one memory, at random moments, and count what is lost or there twice.

Run `python -m benchmarks.kills [--minutes N] [--seed N] [--folder FOLDER]`. Four writers (turns, explicit writes,
promises, judgements), a drainer, an extractor and a dreamer work on one workspace, each a process of its own, with full
durability. Every few milliseconds one of them gets SIGKILL and another takes its place. A writer notes each id it was
given after the call has returned. At the end the workspace is opened once more, everything left over is finished, and
each id that was noted must be found exactly once; nothing may stand twice, and `check` may find no error.

A kill takes a process, not the power: what the system had been handed survives it. Power cuts are the crash loops'
subject (`tests/crash/`).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from reverie import layout
from reverie.core.records import Draft, Event, Outcome, Turn
from reverie.errors import ReverieError
from reverie.memory import Memory
from reverie.opening import Opening, make_workspace, open_workspace
from reverie.store import daylog, journal, sessions, stream
from reverie.store.workspace import Workspace

Tell = Callable[[str], None]
SAID = (
    "I now work at {} as a designer.",
    "My sister {} lives in Lisbon.",
    "We decided to use {} for billing.",
    "我叫{}，我喜欢喝龙井。",
    "Thanks, {}!",
)
GAPS = (0.002, 0.120)  # seconds between two kills
SPARED = {"dreams": 0.15}  # a dream takes seconds: killed as often as the others, none would ever end
PAUSE = 0.02  # seconds, at most, between two pieces of work of one process
LEFT = ("turn", "entry", "promise", "judged")


@dataclass(slots=True)
class Report:
    """What a run did and what it found: kills by role, records by kind, and everything that is wrong."""

    seconds: float = 0.0
    kills: dict[str, int] = field(default_factory=dict)
    noted: dict[str, int] = field(default_factory=dict)
    lost: dict[str, int] = field(default_factory=dict)
    doubled: dict[str, int] = field(default_factory=dict)
    dreams: int = 0
    wrong: list[str] = field(default_factory=list)


def opening(folder: Path) -> Opening:
    """Return how every process opens the workspace."""
    flags = {"zone": "UTC", "lock_wait_seconds": "60", "dream.min_facts": "1", "dream.max_entries": "40"}
    return Opening(path=folder / "agent", config_dir=folder / "config", environment={}, flags=flags)


# The roles: each yields after every piece of work, and tells what it was given.


def _captures(memory: Memory, tell: Tell, lots: random.Random) -> Iterator[None]:
    while True:
        text = lots.choice(SAID).format(f"N{lots.randrange(1 << 40):x}")
        at = datetime.now(UTC) - timedelta(days=lots.randrange(3))
        tell(
            f"turn {memory.capture(f's{lots.randrange(5)}', Turn(role='user', content=text, at=at)).id} {text}"
        )
        yield


def _remembers(memory: Memory, tell: Tell, lots: random.Random) -> Iterator[None]:
    while True:
        text = f"Customer {lots.randrange(1 << 40):x} renews every March"
        draft = Draft(at=datetime.now(UTC) - timedelta(days=lots.randrange(3)), sig=0.5, origin="user")
        tell(f"entry {memory.remember(text, draft).id} {text}")
        yield


def _promises(memory: Memory, tell: Tell, lots: random.Random) -> Iterator[None]:
    while True:
        text = f"Send quote {lots.randrange(1 << 40):x}"
        draft = Draft(at=datetime.now(UTC) - timedelta(days=lots.randrange(3)), due="2031-01-01")
        tell(f"promise {memory.remember(text, draft).id} {text}")
        yield


def _judges(memory: Memory, tell: Tell, lots: random.Random) -> Iterator[None]:
    while True:
        known = memory.opened.state_now().queued() or memory.list()[:50]
        for state in lots.sample(known, min(5, len(known))):
            tell(f"judged {memory.feedback(state.entry.id, 'more')} {state.entry.id}")
            yield
        yield


def _drains(memory: Memory, _tell: Tell, _lots: random.Random) -> Iterator[None]:
    while True:
        memory.drain()
        yield


def _extracts(memory: Memory, _tell: Tell, _lots: random.Random) -> Iterator[None]:
    while True:
        memory.extract()
        yield


def _dreams(memory: Memory, _tell: Tell, _lots: random.Random) -> Iterator[None]:
    while True:
        memory.dream(now=True)
        yield


ROLES: dict[str, Callable[[Memory, Tell, random.Random], Iterator[None]]] = {
    "captures": _captures,
    "remembers": _remembers,
    "promises": _promises,
    "judges": _judges,
    "drains": _drains,
    "extracts": _extracts,
    "dreams": _dreams,
}


def _live(folder: Path, role: str, seed: int) -> None:
    """Be one process of a role until killed; ends by itself only when something goes wrong."""
    notes = os.open(folder / f"{role}.noted", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    memory = Memory(open_workspace(opening(folder)))
    lots = random.Random(seed)
    while True:
        try:
            for _ in ROLES[role](memory, lambda line: _note(notes, line), lots):
                time.sleep(lots.uniform(0, PAUSE))
        except ReverieError as error:
            if not error.retryable:
                raise


def _note(notes: int, line: str) -> None:
    """Write one line with one call, so that a kill leaves all of it or nothing."""
    os.write(notes, f"{line}\n".encode())


def _spawn(folder: Path, role: str, seed: int) -> int:
    """Start a process of a role and return its id."""
    pid = os.fork()
    if pid == 0:
        try:
            _live(folder, role, seed)
        except BaseException:  # the child must never return into its parent's code
            with (folder / "failed").open("a", encoding="utf-8") as file:
                file.write(f"{role}: {traceback.format_exc()}\n")
        finally:
            os._exit(1)
    return pid


def run(folder: Path, *, seconds: float, seed: int) -> Report:
    """Work and kill in `folder` for a time, then finish what is left and account for everything."""
    make_workspace(opening(folder)).close()
    lots, report = random.Random(seed), Report()
    kills: Counter[str] = Counter()
    begun = time.monotonic()
    living = {role: _spawn(folder, role, lots.getrandbits(32)) for role in ROLES}
    while time.monotonic() - begun < seconds:
        time.sleep(lots.uniform(*GAPS))
        role = lots.choices(list(ROLES), weights=[SPARED.get(one, 1.0) for one in ROLES])[0]
        os.kill(living[role], signal.SIGKILL)
        os.waitpid(living[role], 0)
        kills[role] += 1
        living[role] = _spawn(folder, role, lots.getrandbits(32))
    for pid in living.values():
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    report.seconds, report.kills = round(time.monotonic() - begun, 1), dict(kills)
    if (folder / "failed").exists():
        report.wrong.append((folder / "failed").read_text(encoding="utf-8"))
    _account(folder, report)
    return report


def _account(folder: Path, report: Report) -> None:
    """Finish what the kills left, and compare what was noted with what is there."""
    with Memory(open_workspace(opening(folder))) as memory:
        memory.drain()
        memory.extract()
        memory.drain()
        report.wrong += [f"{one.place}: {one.what}" for one in memory.check() if one.severity == "error"]
        report.dreams = sum(run.result == "productive" for run in memory.log(limit=1_000_000))
        ws = memory.opened.ws
        found, texts = _found(ws)
        report.wrong += [f"{what} stands {n} times" for what, n in texts.items() if n > 1]
        report.wrong += [f"{kind} {one} stands {n} times" for (kind, one), n in found.items() if n > 1]
        if journal.waiting(ws).records:
            report.wrong.append("something still waits")
    noted = Counter(dict.fromkeys(LEFT, 0))
    lost, doubled = noted.copy(), noted.copy()
    for path in folder.glob("*.noted"):
        for line in path.read_text(encoding="utf-8").splitlines():
            kind, one, _ = line.split(" ", 2)
            places = {"promise": ("line", "stored"), "entry": ("line",)}.get(kind, (kind,))
            noted[kind] += 1
            lost[kind] += any(found[place, one] == 0 for place in places)
            doubled[kind] += any(found[place, one] > 1 for place in places)
    report.noted, report.lost, report.doubled = dict(noted), dict(lost), dict(doubled)


def _found(ws: Workspace) -> tuple[Counter[tuple[str, str]], Counter[str]]:
    """Return how often each id stands in its place, and how often each text that is written once stands in the logs."""
    found: Counter[tuple[str, str]] = Counter()
    texts: Counter[str] = Counter()
    for day in daylog.days(ws):
        for located in daylog.read(ws, day).entries:
            found["line", located.entry.id] += 1
            if not located.entry.session:
                texts[located.entry.text] += 1
    events: stream.Read[Event] = stream.read(ws, layout.EVENTS, Event)
    for event in events.records:
        if event.body is not None:
            found["stored", event.body.id] += 1
        if event.kind == "feedback":
            found["judged", event.id] += 1
    outcomes: stream.Read[Outcome] = stream.read(ws, layout.OUTCOMES, Outcome)
    found.update(("outcome", f"{one.entry} {one.part}") for one in outcomes.records)
    for path in sessions.files(ws):
        found.update(("turn", turn.id) for turn in sessions.open_file(ws, path).turns)
    return found, texts


def table(report: Report) -> str:
    """Return the report as a Markdown table, with whatever is wrong below it."""
    head = "| kind | acknowledged | lost | twice |\n|---|---|---|---|"
    rows = [
        f"| {kind} | {report.noted[kind]:,} | {report.lost[kind]} | {report.doubled[kind]} |" for kind in LEFT
    ]
    total = sum(report.kills.values())
    by_role = ", ".join(f"{role} {number}" for role, number in report.kills.items())
    said = f"{total:,} kills in {report.seconds:.0f} s ({by_role}); {report.dreams} dreams ended."
    return "\n".join([said, "", head, *rows, "", *(report.wrong or ["Nothing is wrong."])])


def main() -> None:
    """Print the table; exit with 1 when anything is lost, doubled or wrong."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.kills",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--minutes", type=float, default=10.0, help="how long to work and kill")
    parser.add_argument("--seed", type=int, default=1, help="of the moments and the texts")
    parser.add_argument("--folder", type=Path, help="where to make the folder that is worked in")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="reverie-kills-", dir=given.folder))
    try:
        report = run(folder, seconds=given.minutes * 60, seed=given.seed)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(json.dumps(asdict(report)) if given.json else table(report))
    sys.exit(bool(report.wrong or sum(report.lost.values()) or sum(report.doubled.values())))


if __name__ == "__main__":
    main()
