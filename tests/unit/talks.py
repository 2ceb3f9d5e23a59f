"""Conversations, and what was extracted from them, in a real workspace."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from reverie import layout
from reverie.context import Context, ContextRequest, context
from reverie.core.forgetting.mask import Mask
from reverie.core.glance.memory_lines import cited_line
from reverie.core.pages.blocks import render_block
from reverie.core.records import Entry, Event, Extraction, Remember, ToolCall, Turn
from reverie.core.settings.value import CompactionSettings, ContextSettings, Settings, SummarySettings
from reverie.index.state import State
from reverie.store import journal, sessions, stream, summaries
from reverie.store.filesystem.disk import Disk
from reverie.store.workspace import Identity, Workspace
from reverie.testing import FixedClock, counter_ids

NOON = datetime(2026, 7, 2, 12, tzinfo=UTC)
S = "team standup"


def workspace(
    root: Path, *, disk: Disk | None = None, every: int = 6, tokens: int = 1_000, budget: int = 8_000
) -> Workspace:
    """Return a new workspace at NOON."""
    settings = Settings(
        summaries=SummarySettings(turns_per_summary=every),
        compaction=CompactionSettings(context_tokens=tokens),
        context=ContextSettings(budget_tokens=budget),
    )
    ws = Workspace(root, settings, clock=FixedClock(NOON), new_id=counter_ids(0x1000), disk=disk)
    ws.found(Identity(id="1" * 16, agent="test", created=NOON))
    return ws


def user(text: str, **fields: object) -> Turn:
    """Return a user's turn, at NOON when nothing else is said."""
    return Turn(**{"role": "user", "content": text, "at": NOON, **fields})


def agent(text: str, **fields: object) -> Turn:
    """Return an assistant's turn."""
    return Turn(**{"role": "assistant", "content": text, "at": NOON, **fields})


def calling(name: str, call: str, **fields: object) -> Turn:
    """Return an assistant's turn that calls a tool."""
    return agent("", calls=(ToolCall(id=call, name=name, arguments='{"q": "x"}'),), **fields)


def result(call: str, text: str = "found", **fields: object) -> Turn:
    """Return the result of a call."""
    return Turn(**{"role": "tool", "content": text, "at": NOON, "call": call, **fields})


def say(ws: Workspace, turns: Sequence[Turn], session: str = S) -> list[Turn]:
    """Store the turns and return them as stored."""
    stored = [sessions.append(ws, session, turn) for turn in turns]
    return [turn for turn in stored if turn is not None]


def chat(count: int, words: int = 40) -> list[Turn]:
    """Return `count` turns of user and assistant in turn, each of so many words."""
    return [(user if n % 2 == 0 else agent)(f"turn {n} " + "word " * words) for n in range(count)]


def entry(number: int, text: str, **fields: object) -> Entry:
    """Return an entry of today with a numbered id."""
    whole = {
        "id": f"{number:016x}",
        "text": text,
        "at": NOON - timedelta(hours=1),
        "day": "2026-07-02",
        "origin": "user",
    }
    return Entry(**{**whole, **fields})


def extracted(
    ws: Workspace, stop: int, entries: Sequence[Entry] = (), session: str = S, start: int = 0
) -> None:
    """Queue an extraction of the turns `[start, stop)`."""
    told = tuple(Entry(**{**_fields(one), "session": session}) for one in entries)
    record = Extraction(
        id=f"e{session}{start}-{stop}",
        at=NOON,
        extractor="test",
        session=session,
        start=start,
        stop=stop,
        entries=told,
    )
    journal.append(ws, record)


def remembered(ws: Workspace, *entries: Entry) -> None:
    """Queue explicit writes."""
    for one in entries:
        journal.append(ws, Remember(id=one.id, at=one.at, entry=one))


def happened(ws: Workspace, kind: str, number: int, **fields: object) -> None:
    """Record an event on the entry with that number."""
    at = NOON - timedelta(minutes=1)
    stream.append(
        ws, ".state/events.jsonl", Event(id=ws.new_id(), at=at, kind=kind, entry=f"{number:016x}", **fields)
    )


def state_of(ws: Workspace, mask: Mask | None = None) -> State:
    """Return the state as a verb sees it."""
    hidden = mask or Mask()
    queued = journal.waiting(ws).records
    state = State(ws.root, ws.disk, calendar=ws.calendar, notebook=ws.notebook)
    state.catch_up(hidden)
    state.overlay(queued, hidden)
    return state


def _fields(one: Entry) -> dict[str, object]:
    return {name: getattr(one, name) for name in one.__struct_fields__}


def texts(ws: Workspace) -> dict[str, str]:
    """Return every summary file."""
    return {path: (ws.disk.read(path) or b"").decode("utf-8", "replace") for path in summaries.files(ws)}


def read_digest(ws: Workspace, name: str) -> str:
    """Return a digest's text."""
    return (ws.disk.read(layout.digest_file(name)) or b"").decode()


def shown(
    ws: Workspace, *, mask: Mask | None = None, hits: Sequence[object] = (), **wanted: object
) -> Context:
    """Return the context as a verb builds it."""
    hidden = mask or Mask()
    return context(ws, state_of(ws, hidden), ContextRequest(**wanted), hits=hits, masked=hidden)


def memory_file(ws: Workspace, *entries: Entry, by_hand: str = "") -> None:
    """Write a MEMORY.md with these entries in its block."""
    lines = "".join(cited_line(one.text, [one.id]) + "\n" for one in entries)
    ws.disk.replace(layout.MEMORY, (by_hand + render_block(f"# Memory\n\n## Core Facts\n\n{lines}")).encode())
