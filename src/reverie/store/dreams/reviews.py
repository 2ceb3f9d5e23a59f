"""What waits for a person's word: proposals and edits kept until somebody accepts or rejects them.

Owns `.state/reviews.jsonl`; promises that raising the same thing twice raises it once; never carries a proposal out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Literal

import msgspec

from reverie import layout
from reverie.core.entries import derived_id
from reverie.core.records import Outcome
from reverie.errors import UnsafePath
from reverie.store import history, stream
from reverie.store.versions.git import blob_id
from reverie.store.workspace import Workspace

ABSENT = "absent"

Topic = Literal[
    "memory-edit", "core-edit", "skill", "skill-removal", "page-edit", "host-dream", "host-extraction"
]
GUEST_DREAM: Topic = "host-dream"
GUEST_EXTRACTION: Topic = "host-extraction"


class Proposal(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="proposal"):
    """Something proposed: its topic, the file it concerns, its text and where it came from.

    `base` is the blob id of the file it was proposed against, `absent` for none, empty where that was not noted.
    """

    id: str
    at: datetime
    topic: Topic
    path: str
    text: str
    why: str = ""
    base: str = ""


class Verdict(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="verdict"):
    """A person's word on a proposal."""

    id: str
    at: datetime
    accepted: bool
    why: str = ""


def propose(
    ws: Workspace, topic: Topic, path: str, *, text: str, why: str = "", base: bytes | None = None
) -> str:
    """Keep a proposal and return its id; the same text for the same file is kept once, and not again once settled.

    `base` are the bytes that the proposal was made against, the file's present ones when not given.
    """
    text = ws.clean(text)
    proposal_id = derived_id("proposal", topic, path, text)
    if all(record.id != proposal_id for record in _read(ws)):
        stream.append(
            ws,
            layout.REVIEWS,
            Proposal(
                id=proposal_id,
                at=ws.clock(),
                topic=topic,
                path=path,
                text=text,
                why=why,
                base=blob_id(base) if base is not None else stands(ws, path),
            ),
        )
    return proposal_id


def stands(ws: Workspace, path: str) -> str:
    """Return the blob id of a file as it is now, `absent` for none, `unsafe` when it may not be opened."""
    try:
        data = ws.disk.read(path)
    except UnsafePath:
        return "unsafe"
    return blob_id(data) if data is not None else ABSENT


def is_stale(ws: Workspace, proposal: Proposal) -> bool:
    """Tell whether the file was changed since it was proposed against; what holds the proposed text is not."""
    if proposal.topic == "memory-edit" or not proposal.base:
        return False
    wanted = blob_id(proposal.text.encode("utf-8", "replace"))
    return stands(ws, proposal.path) not in {proposal.base, wanted}


def settle(ws: Workspace, proposal_id: str, *, accepted: bool, why: str = "") -> None:
    """Record a person's word on a proposal."""
    stream.append(
        ws, layout.REVIEWS, Verdict(id=proposal_id, at=ws.clock(), accepted=accepted, why=ws.clean(why))
    )


def waiting(ws: Workspace) -> list[Proposal]:
    """Return the proposals nobody has settled, oldest first; whether a file is to go is no question once it went."""
    given = settled(ws)
    found = [record for record in _read(ws) if isinstance(record, Proposal) and record.id not in given]
    return [one for one in found if one.topic != "skill-removal" or stands(ws, one.path) != ABSENT]


def settled(ws: Workspace) -> set[str]:
    """Return the ids of what somebody gave their word on."""
    return {record.id for record in _read(ws) if isinstance(record, Verdict)}


def accepts_guests(ws: Workspace) -> bool:
    """Tell whether a person has accepted here, once, what a host's own model did."""
    records = _read(ws)
    theirs = {
        one.id
        for one in records
        if isinstance(one, Proposal) and one.topic in (GUEST_DREAM, GUEST_EXTRACTION)
    }
    return any(isinstance(one, Verdict) and one.accepted and one.id in theirs for one in records)


def failures(ws: Workspace, outcomes: Iterable[Outcome]) -> dict[str, Outcome]:
    """Return which of what no dream could process waits for a word, by the id of the question."""
    given = settled(ws)
    asked = {derived_id("unprocessable", one.run, one.entry, str(one.part)): one for one in outcomes}
    return {id_: one for id_, one in asked.items() if id_ not in given}


def number(ws: Workspace, entries: Iterable[Outcome], records: Sequence[Outcome] = ()) -> int:
    """Return how many proposals wait, and entries and raw records that no dream could process; 0 where none can tell.

    `records` are the outcomes of the latter, of which those count that the history still has.
    """
    try:
        there = history.named(ws, {one.entry for one in records})
        outcomes = (*entries, *(one for one in records if one.entry in there))
        return len(waiting(ws)) + len(failures(ws, outcomes))
    except UnsafePath:
        return 0


def every(ws: Workspace, topic: Topic) -> list[Proposal]:
    """Return all proposals there ever were on a topic, settled or not."""
    return [record for record in _read(ws) if isinstance(record, Proposal) and record.topic == topic]


def _read(ws: Workspace) -> list[Proposal | Verdict]:
    read: stream.Read[Proposal | Verdict] = stream.parse(
        layout.REVIEWS, ws.disk.read_from(layout.REVIEWS, 0), kind=Proposal | Verdict
    )
    return read.records
