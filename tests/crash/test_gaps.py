"""Each gap between two writes of a step: what a crash there leaves, and who repairs it, as docs/durability.md says."""

from __future__ import annotations

import errno
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from ledger import NOON, account, journal_bytes, keep, opened, reading, said
from lives import faults, goes_on

from reverie import layout
from reverie.capture import capture
from reverie.core.formats import drain_plan
from reverie.core.records import Entry, Remember
from reverie.drain import drain
from reverie.extract import extract
from reverie.remember import feedback, note
from reverie.store import counters, journal, quarantine, sessions, stream
from reverie.store.counters import DrainCounters
from reverie.store.workspace import Workspace
from reverie.testing import CrashDisk, Crashed

LOG = layout.log_file("2026-07-01")
Filling = Callable[[Workspace], list[str]]


def filled(ws: Workspace) -> list[str]:
    """Queue six entries, a judgement, a record to refuse and a promise; return what was acknowledged."""
    kept = [keep(ws, f"Fact {n}").id for n in range(6)]
    promise = keep(ws, "Send the quote", due="2026-07-10").id
    bad = Entry(id="b" * 16, text="Bad", at=NOON, day="2026-07-01", sig=9.0)
    journal.append(opened(ws.root, first=1 << 24), Remember(id="r" * 16, at=NOON, entry=bad))
    judged = feedback(ws, kept[0], "more")
    return [*(f"entry {one}" for one in (*kept, promise)), f"judged {judged}"]


def cut(root: Path, work: Callable[[Workspace], object], call: str, *, after: int, seed: int) -> None:
    """Do `work` on a disk whose power fails `after` calls past the first one that begins with `call`."""
    saved = {path.relative_to(root): path.read_bytes() for path in root.rglob("*") if path.is_file()}
    dry = root.with_name("dry")
    opened(dry)
    for path, data in saved.items():
        (dry / path).parent.mkdir(parents=True, exist_ok=True)
        (dry / path).write_bytes(data)
    calls = CrashDisk(dry)
    work(opened(dry, disk=calls, first=1 << 30))
    at = next(number for number, one in enumerate(calls.log, 1) if one.startswith(call)) + after
    disk = CrashDisk(root, crash_at=at, seed=seed)
    with suppress(Crashed):
        work(opened(root, disk=disk, first=1 << 30))
    disk.cut_power()
    assert disk.log[at - after - 1].startswith(call)


def intent(ws: Workspace) -> bool:
    """Whether an intent of a drain is there."""
    return ws.disk.size(layout.DRAIN_INTENT) is not None


def lines(ws: Workspace) -> int:
    """Return how many entries stand in the logs."""
    return sum(account(ws).lines.values())


def archived(ws: Workspace) -> int:
    """Return how many segments are in the archive."""
    return len(journal.archive_files(ws))


def claimed(ws: Workspace) -> int:
    """Return how many segments are claimed."""
    return len(ws.disk.list(layout.DRAINING))


# name: the call, how many calls later the power fails, what landed (1) or vanished (0), what is then to be seen
DRAIN_GAPS: dict[str, tuple[str, int, int, Callable[[Workspace], bool]]] = {
    "within the claim": (
        f"rename {layout.SEGMENTS}", 1, 1,
        lambda ws: claimed(ws) == 1 and not intent(ws) and lines(ws) == 0,
    ),
    "after the claim": (
        f"make {layout.JOURNAL}/.~", 0, 1,
        lambda ws: claimed(ws) == 2 and not intent(ws) and lines(ws) == 0,
    ),
    "after the intent": (
        f"make {layout.QUARANTINE}", 0, 0,
        lambda ws: intent(ws) and lines(ws) == 0 and not quarantine.listed(ws),
    ),
    "after the quarantine": (
        f"make {layout.ARCHIVE}/", 0, 0,
        lambda ws: intent(ws) and lines(ws) == 0 and len(quarantine.listed(ws)) == 1,
    ),
    "within a chunk": (
        f"write {LOG}", 1, 3,
        lambda ws: intent(ws) and lines(ws) < 4,
    ),
    "between chunks": (
        f"write {LOG}", 2, 0,
        lambda ws: intent(ws) and lines(ws) == 4,
    ),
    "after the logs": (
        f"write {layout.EVENTS}", 1, 0,
        lambda ws: intent(ws) and lines(ws) == 7 and not account(ws).judged,
    ),
    "after the feedback": (
        f"make {layout.COUNTERS}", 0, 0,
        lambda ws: len(account(ws).judged) == 1 and counters.read(ws, DrainCounters).events == 0,
    ),
    "after the position": (
        f"rename {layout.DRAINING}", 0, 0,
        lambda ws: counters.read(ws, DrainCounters).events > 0 and claimed(ws) == 2 and intent(ws),
    ),
    "within the archiving": (
        f"rename {layout.DRAINING}", 3, 1,
        lambda ws: claimed(ws) == archived(ws) == 1 and intent(ws),
    ),
    "after the archiving": (
        f"unlink {layout.DRAIN_INTENT}", 0, 0,
        lambda ws: claimed(ws) == 0 and archived(ws) == 2 and intent(ws),
    ),
}  # fmt: skip


@pytest.mark.parametrize("gap", DRAIN_GAPS)
def test_each_gap_of_the_drain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gap: str) -> None:
    """A drain cut off here leaves what is said, and the next drain stores everything once."""
    monkeypatch.setattr(drain_plan, "CHUNK", 4)
    ws = opened(tmp_path / "w")
    told = filled(ws)
    queue = journal_bytes(ws)
    call, after, seed, seen = DRAIN_GAPS[gap]
    cut(ws.root, drain, call, after=after, seed=seed)
    later = opened(ws.root, first=1 << 40)
    assert seen(later), gap
    kept = b"".join(
        sorted(
            later.disk.read(path) or b""
            for path in (*journal.waiting_files(later), *journal.archive_files(later))
        )
    )
    assert kept == queue
    drain(later)
    assert not faults(later, told) + goes_on(later)
    assert len(quarantine.listed(later)) == 1


WRITES: dict[str, tuple[Callable[[Workspace], object], str]] = {
    "capture": (lambda ws: capture(ws, "s1", said("I moved to Lisbon.", id="t1")), "write sessions/"),
    "remember": (lambda ws: keep(ws, "Fact"), f"write {layout.SEGMENTS}"),
    "promise": (lambda ws: keep(ws, "Send it", due="2026-07-10"), f"write {layout.EVENTS}"),
    "note": (lambda ws: note(ws, "Deployed v2."), "write notes/"),
}


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("what", WRITES)
def test_a_write_cut_off_before_its_sync_is_there_whole_or_not(tmp_path: Path, what: str, seed: int) -> None:
    """A write nobody acknowledged is whole, absent, or a torn line set apart, and the same call again works."""
    ws = opened(tmp_path / "w")
    work, call = WRITES[what]
    cut(ws.root, work, call, after=1, seed=seed)
    later = opened(ws.root, first=1 << 40)
    before = account(later)
    work(later)
    drain(later)
    found = account(later)
    assert sum(found.turns.values()) <= 1 + sum(before.turns.values())
    if what == "capture":
        assert list(found.turns) == ["t1"]
    if what in {"remember", "promise"}:
        waited = sum(before.queued.values()) + sum(before.promised.values())
        assert sum(found.lines.values()) == 1 + waited
        assert set(found.texts.values()) <= {"Fact", "Send it"}
    if what == "note":
        assert (later.disk.read("notes/2026-07-01.md") or b"").replace(b"Deployed v2.\n\n", b"") == b""


@pytest.mark.parametrize("after", [0, 1])
def test_an_extraction_cut_off_around_its_record(tmp_path: Path, after: int) -> None:
    """Before its record is synced the span is unread, after it read: each fact is stored once either way."""
    ws = opened(tmp_path / "w")
    capture(ws, "s1", said("I now work at Microsoft."))
    cut(ws.root, lambda one: extract(one, reading(one)), f"write {layout.SEGMENTS}", after=after, seed=after)
    later = opened(ws.root, first=1 << 40)
    extract(later, reading(later))
    drain(later)
    assert sum(account(later).lines.values()) == 1


@pytest.mark.parametrize("seed", range(8))
def test_an_extraction_cut_off_among_the_records_of_several_sessions(tmp_path: Path, seed: int) -> None:
    """Of the records that are written at once a crash may keep some: those are read, the others are read again."""
    ws = opened(tmp_path / "w")
    facts = {"s1": "I now work at Microsoft.", "s2": "I moved to Lisbon.", "s3": "I prefer tea over coffee."}
    for session, text in facts.items():
        capture(ws, session, said(text))
    cut(
        ws.root, lambda one: extract(one, reading(one)), f"write {layout.SEGMENTS}", after=seed % 2, seed=seed
    )
    later = opened(ws.root, first=1 << 40)
    extract(later, reading(later))
    drain(later)
    found = account(later)
    assert set(found.lines.values()) == {1}
    assert len(found.lines) == len(facts)


def test_an_extraction_cut_off_before_the_lift(tmp_path: Path) -> None:
    """A session that replaced a lost file, read but not lifted yet, is read again under the same ids, and lifted."""
    ws = opened(tmp_path / "w")
    for text in ("I now work at Microsoft.", "Hello!", "I prefer tea."):
        capture(ws, "s1", said(text))
    extract(ws, reading(ws))
    drain(ws)
    (ws.root / sessions.path_of("s1")).unlink()
    capture(ws, "s1", said("I moved to Lisbon."))
    cut(ws.root, lambda one: extract(one, reading(one)), f"write {layout.SESSIONS}", after=0, seed=0)
    later = opened(ws.root, first=1 << 40)
    drain(later)
    extract(later, reading(later))
    drain(later)
    found = account(later)
    assert set(found.lines.values()) == {1}
    assert len(found.lines) == 3
    assert sessions.load(later, "s1").state.turns == 3


@pytest.mark.parametrize("seed", range(8))
def test_a_failed_sync_abandons_the_segment(tmp_path: Path, seed: int) -> None:
    """After an I/O error the record goes to another segment, and is stored once whatever the first one kept of it."""
    ws = opened(tmp_path / "w")
    calls = CrashDisk(opened(tmp_path / "dry").root)
    keep(opened(calls.root, disk=calls, first=1 << 30), "Fact")
    disk = CrashDisk(ws.root, fail_at=calls.calls, error=errno.EIO, seed=seed)
    kept = keep(opened(ws.root, disk=disk, first=1 << 30), "Fact").id
    assert disk.log[calls.calls - 1].startswith(f"sync {layout.SEGMENTS}/")
    disk.cut_power()
    later = opened(ws.root, first=1 << 40)
    assert len(list((ws.root / layout.SEGMENTS).iterdir())) == 2
    drain(later)
    assert account(later).lines == {kept: 1}


@pytest.mark.parametrize("seed", [0, 1])
def test_an_intent_is_there_whole_or_not(tmp_path: Path, seed: int) -> None:
    """Cut off while it is written, the intent is absent and its temporary hidden, and the next drain begins anew."""
    ws = opened(tmp_path / "w")
    told = filled(ws)
    cut(ws.root, drain, f"rename {layout.JOURNAL}/.~", after=0, seed=seed)
    later = opened(ws.root, first=1 << 40)
    assert not [name for name in later.disk.list(layout.JOURNAL) if name.startswith(".~")]
    drain(later)
    assert not faults(later, told)


def test_a_stream_ends_torn_and_goes_on(tmp_path: Path) -> None:
    """A torn last line of the events is closed by the next append, reported, and costs nothing else."""
    ws = opened(tmp_path / "w")
    first = keep(ws, "First", due="2026-07-10").id
    with (ws.root / layout.EVENTS).open("ab") as file:
        file.write(b'{"v":1,"id":"torn')
    second = keep(ws, "Second", due="2026-07-11").id
    assert account(ws).promised == {first: 1, second: 1}
    assert len(account(ws).damaged) == 1
    assert stream.read(ws, layout.EVENTS, Entry).damaged
