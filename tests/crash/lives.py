"""Scenarios for the crash loops, and the account that every wreck must give.

A scenario works on a disk that will crash and tells what was acknowledged: `turn ID`, `entry ID` or `judged ID`. After
any crash the workspace is opened on a plain disk, the work is finished, and `faults` lists what was acknowledged and is
not there exactly once, and what is there and should not be.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from ledger import NOON, account, clock, journal_bytes, keep, opened, reading, said

from reverie import layout
from reverie.capture import capture, end
from reverie.core.records import Draft, Entry, Event, Remember
from reverie.drain import drain
from reverie.extract import extract
from reverie.remember import feedback, happen, note, remember
from reverie.store import journal, stream
from reverie.store.workspace import Workspace
from reverie.testing import CrashDisk, Wreck

Tell = Callable[[str], None]
TALK = (
    "I now work at Microsoft as a designer.",
    "My sister Ana lives in Lisbon.",
    "Remind me to send Dana the quote by 2026-07-10.",
    "我喜欢喝龙井。",
    "We decided to use PostgreSQL for the billing service.",
)


def writing(disk: CrashDisk, tell: Tell) -> None:
    """Capture, remember, promise, judge, and end the session: what acknowledges one record at a time."""
    ws = opened(disk.root, disk=disk, first=1 << 20)
    for number, text in enumerate(TALK[:3]):
        tell(f"turn {capture(ws, 's1', said(text)).id}")
        kept = keep(ws, f"Fact {number}", at=NOON - timedelta(days=number % 2)).id
        tell(f"entry {kept}")
        tell(f"entry {keep(ws, f'Promise {number}', due='2026-07-10').id}")
        tell(f"judged {feedback(ws, kept, 'more')}")
    end(ws, "s1")
    note(ws, "Deployed v2.")
    happen(ws, "pin", kept)


def queued(ws: Workspace, tell: Tell) -> None:
    """Fill the queue of two processes with entries of three days, judgements and promises."""
    other = opened(ws.root, first=1 << 24)
    for number in range(9):
        one = other if number % 3 == 0 else ws
        clock(one).advance(minutes=1)
        kept = keep(one, f"事实 {number}: Dana calls", at=NOON - timedelta(days=number % 3), sig=0.8).id
        tell(f"entry {kept}")
        tell(f"judged {feedback(one, kept, 'helpful')}")
    tell(f"entry {keep(ws, 'Send Dana the quote', due='2026-07-10').id}")
    tell(f"entry {keep(ws, 'Likes tea', pin=True).id}")


def draining(disk: CrashDisk, tell: Tell) -> None:
    """Drain what `queued` left, write more, and drain again."""
    ws = opened(disk.root, disk=disk, first=1 << 20)
    drain(ws)
    tell(f"entry {keep(ws, 'A late fact', at=NOON - timedelta(days=2)).id}")
    tell(f"entry {keep(ws, 'A late promise', due='2026-07-11').id}")
    drain(ws)


def extracting(disk: CrashDisk, tell: Tell) -> None:
    """Capture, extract, drain, go on, extract and drain again."""
    ws = opened(disk.root, disk=disk, first=1 << 20)
    for text in TALK:
        tell(f"turn {capture(ws, 's1', said(text)).id}")
    note(ws, "I prefer tabs over spaces.")
    extract(ws, reading(ws))
    drain(ws)
    tell(f"turn {capture(ws, 's1', said('I moved to Porto.')).id}")
    extract(ws, reading(ws))
    drain(ws)


def keying(disk: CrashDisk, tell: Tell) -> None:
    """Remember under keys, drain, and send the same calls again, as a host does that heard no answer."""
    ws = opened(disk.root, disk=disk, first=1 << 20)
    for _ in range(2):
        for number in range(3):
            draft = Draft(key=f"order-{number}", due="2026-07-10" if number == 2 else "")
            tell(f"entry {remember(ws, f'Order {number} was paid', draft, known=_known(ws)).id}")
        drain(ws)


def _known(ws: Workspace) -> Callable[[str], Entry | None]:
    """Return what finds an entry by id wherever it stands."""

    def find(entry_id: str) -> Entry | None:
        events: stream.Read[Event] = stream.read(ws, layout.EVENTS, Event)
        stored = [event.body for event in events.records if event.body is not None]
        records = (*journal.waiting(ws).records, *journal.archived(ws))
        stored += [record.entry for record in records if isinstance(record, Remember)]
        return next((entry for entry in stored if entry.id == entry_id), None)

    return find


def finished(wreck: Wreck) -> Workspace:
    """Open a wreck on a plain disk and finish everything: extract what is unread and drain."""
    ws = opened(wreck.root, first=1 << 40)
    extract(ws, reading(ws))
    drain(ws)
    return ws


def faults(ws: Workspace, told: list[str], *, texts: set[str] | None = None) -> list[str]:
    """Return what the account of a finished workspace shows to be wrong; `texts` are all that entries may say."""
    found = account(ws)
    wrong = []
    for line in told:
        kind, name = line.split()
        if (times := found.times(kind, name)) != 1:
            wrong.append(f"{line} is there {times} times")
    wrong += [f"line {name} stands {n} times" for name, n in found.lines.items() if n != 1]
    wrong += [f"feedback {name} was applied {n} times" for name, n in found.judged.items() if n != 1]
    wrong += [f"half a line: {text!r}" for text in found.unparsed]
    if texts is not None:
        wrong += [f"{text!r} is nothing anybody wrote" for text in found.texts.values() if text not in texts]
    if journal_bytes(ws):
        wrong.append("something still waits")
    if ws.disk.size(layout.DRAIN_INTENT) is not None:
        wrong.append("an intent is left")
    return wrong


def goes_on(ws: Workspace) -> list[str]:
    """Write one more of everything and return what became of it that should not."""
    told: list[str] = []
    told.append(f"turn {capture(ws, 's1', said('One more.')).id}")
    kept = keep(ws, "One more fact", at=NOON - timedelta(days=1)).id
    told += [f"entry {kept}", f"entry {keep(ws, 'One more promise', due='2026-07-12').id}"]
    told.append(f"judged {feedback(ws, kept, 'less')}")
    drain(ws)
    return faults(ws, told)
