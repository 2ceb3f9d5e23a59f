"""A workspace in which two things were said and went everywhere, so that one of them can be forgotten.

What is forgotten is the allergy; its neighbour, the bicycle, was said in the same turn and stands on the same pages.
"""

from __future__ import annotations

import gzip
import zlib
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from reverie import layout
from reverie.core.entries import derived_id
from reverie.core.glance.standing import Shortlist
from reverie.core.pages.citations import cite
from reverie.core.records import Entry, Event, Extraction, History, Remember, ToolCall, Turn
from reverie.core.settings.value import Settings
from reverie.core.text.phrases import phrase
from reverie.drain import drain
from reverie.index.state import State
from reverie.publish import publish
from reverie.store import journal, pages, sessions, stream
from reverie.store.versions.git import History as Commits
from reverie.store.workspace import Identity, Workspace
from reverie.testing import FixedClock, counter_ids

if TYPE_CHECKING:
    from pathlib import Path

    from reverie.store.filesystem.disk import Disk

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
NUTS = "User is severely allergic to macadamia nuts"
BIKE = "User rides a green bicycle to the office"
SAID_NUTS = "I am severely allergic to macadamia nuts"
SAID_BIKE = "I ride a green bicycle to the office"
TURN = f"Good morning! {SAID_NUTS}. {SAID_BIKE}. What is the weather like?"
PAGE = "notebook/3_Personal/Health.md"
GONE = ("macadamia nuts", "severely allergic")
NUT, BICYCLE = derived_id("x1", "0"), derived_id("x1", "1")


def opened(root: Path, *, disk: Disk | None = None, first: int = 1) -> Workspace:
    """Return the workspace at `root`, made when it is none."""
    ws = Workspace(
        root, Settings(zone="UTC"), clock=FixedClock(NOON), new_id=counter_ids(first << 40), disk=disk
    )
    ws.disk.make_folder("")
    if ws.disk.size(layout.ORIGIN) is None:
        ws.found(Identity(id="1" * 16, agent="test", created=NOON))
        pages.bootstrap(ws)
    return ws


def state_of(ws: Workspace, mask: Any = lambda _: False) -> State:
    """Return the state as a verb sees it."""
    state = State(ws.root, ws.disk, calendar=ws.calendar, notebook=ws.notebook)
    state.catch_up(mask)
    state.overlay(journal.waiting(ws).records, mask)
    return state


def entry(entry_id: str, text: str, **fields: Any) -> Entry:
    """Return an entry said at noon."""
    fields.setdefault("at", NOON)
    return Entry(id=entry_id, text=text, day=f"{fields['at']:%Y-%m-%d}", **fields)


def turn(turn_id: str, content: str, **fields: Any) -> Turn:
    """Return a turn of the user's, unless `role` says otherwise."""
    fields.setdefault("role", "user")
    return Turn(id=turn_id, content=content, at=NOON, **fields)


def lived(root: Path, *, disk: Disk | None = None) -> Workspace:
    """Return a workspace in which both were said, extracted, stored, written on pages, summarised and published."""
    ws = opened(root, disk=disk)
    sessions.append(ws, "s1", turn("t1", TURN, injected=((0, 13), (len(TURN) - 25, len(TURN)))))
    call = ToolCall(id="c1", name="memory_remember", arguments=f'{{"text":"{NUTS}"}}')
    sessions.append(ws, "s1", turn("t2", "Noted: macadamia nuts are out.", role="assistant", calls=(call,)))
    found = [
        entry(NUT, NUTS, session="s1", turns="0", evidence=SAID_NUTS, origin="user", tags=("macadamia",)),
        entry(BICYCLE, BIKE, session="s1", turns="0", evidence=SAID_BIKE, origin="user"),
    ]
    journal.append(
        ws,
        Extraction(
            id="00000000000000e1",
            at=NOON,
            session="s1",
            start=0,
            stop=2,
            extractor="test",
            entries=tuple(found),
        ),
    )
    drain(ws)
    _write_pages(ws)
    _summarise(ws)
    state = state_of(ws)
    publish(ws, lambda _cited, _most: Shortlist(states=state.states()), keep=lambda _: None, at_once=True)
    state.close()
    _commit(ws, "Dream of a day")
    text = (ws.disk.read(PAGE) or b"") + b"\nAnother line of a person's.\n"
    ws.disk.replace(PAGE, text, mode=0o644)
    _commit(ws, f"Add: {NUTS}")
    return ws


def _write_pages(ws: Workspace) -> None:
    both = f"- {BIKE}. {cite('2026-07-01', BICYCLE)}\n- Nuts of one kind make the user ill. {cite('2026-07-01', NUT)}\n"
    sources = f'sources: ["{cite("2026-07-01", NUT)}", "{cite("2026-07-01", BICYCLE)}"]'
    text = f"---\ntype: person\ntitle: Health\n{sources}\n---\n# Health\n\n{both}  (told in July)\n"
    text = f"{text}\n{NUTS}, people say.\n"
    ws.disk.replace(PAGE, text.encode(), mode=0o644)
    ws.disk.replace(layout.USER, f"# User\n\n{NUTS}\n".encode())


def _summarise(ws: Workspace) -> None:
    lines = f"- Fact: {NUTS} `mem_id: {NUT}`\n- Fact: {BIKE} `mem_id: {BICYCLE}`\n- Asked: What of nuts? (turn:: 0)\n"
    text = f"# Session Summary - 2026-07-01 (session:: s1)\n\n## 2026-07-01T12:00:00Z\n\n{lines}\n(turns:: 0-1)\n"
    ws.disk.replace(layout.summary_file("2026-07-01", sessions.path_of("s1")[9:-6]), text.encode())
    ws.disk.replace(f"{layout.DIGESTS}/today.md", f"- {NUTS} `mem_id: {NUT}`\n".encode())
    raw = History(cursor=1, timestamp=NOON, session="s1", turns="0-1", content=f"user: {TURN}", raw=True)
    told = History(
        cursor=2, timestamp=NOON, session="s1", turns="0-1", content="The user must avoid some nuts."
    )
    stream.append_all(ws, layout.HISTORY, [raw, told])
    stream.append(
        ws, f"{layout.DREAMS}/run-1.jsonl", Event(id="e" * 16, at=NOON, kind="x", why=f"batch:\n- {NUTS}")
    )
    promise = entry("9" * 16, "User will bring cake", category="commitment", due="2026-07-09")
    stream.append(
        ws, layout.EVENTS, Event(id="d" * 16, at=NOON, kind="commitment", entry=promise.id, body=promise)
    )


def _commit(ws: Workspace, message: str) -> None:
    commits = Commits(ws)
    head = commits.head()
    made = commits.prepare(dict(pages.snapshot(ws)), parent=head, message=message, at=NOON)
    commits.publish(made.id, head)


def remembered(ws: Workspace, entry_id: str, text: str, **fields: Any) -> Entry:
    """Queue an explicit write and return its entry."""
    made = entry(entry_id, text, **fields)
    journal.append(ws, Remember(id=ws.new_id(), at=NOON, entry=made))
    return made


def everything(root: Path) -> dict[str, bytes]:
    """Return the bytes of every file, compressed ones unpacked, by path."""
    found: dict[str, bytes] = {}
    for path in sorted(root.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            if path.suffix == ".gz":
                data = gzip.decompress(data)
            elif "objects" in path.parts:
                data = zlib.decompress(data)
            found[path.relative_to(root).as_posix()] = data
    return found


def holders(root: Path) -> list[str]:
    """Return the files in which the words stand, spelled in any way: as bytes, or as words of the decoded text."""
    found = []
    for path, data in everything(root).items():
        text = " ".join(phrase(data.decode("utf-8", "replace").replace("\\n", " ")))
        raw = data.lower()
        if any(word in text or word.encode() in raw for word in GONE):
            found.append(path)
    return found
