"""What waits for a person's word: proposals and edits kept until somebody accepts or rejects them.

Owns `.state/reviews.jsonl`; promises that raising the same thing twice raises it once; never carries a proposal out.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import msgspec

from reverie import layout
from reverie.core.entries import derived_id
from reverie.store import stream
from reverie.store.workspace import Workspace

Topic = Literal["memory-edit", "core-edit", "skill", "page-edit"]


class Proposal(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="proposal"):
    """Something proposed: its topic, the file it concerns, its text and where it came from."""

    id: str
    at: datetime
    topic: Topic
    path: str
    text: str
    why: str = ""


class Verdict(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="verdict"):
    """A person's word on a proposal."""

    id: str
    at: datetime
    accepted: bool
    why: str = ""


def propose(ws: Workspace, topic: Topic, path: str, *, text: str, why: str = "") -> str:
    """Keep a proposal and return its id; the same text for the same file is kept once, and not again once settled."""
    text = ws.clean(text)
    proposal_id = derived_id("proposal", topic, path, text)
    if all(record.id != proposal_id for record in _read(ws)):
        stream.append(
            ws,
            layout.REVIEWS,
            Proposal(id=proposal_id, at=ws.clock(), topic=topic, path=path, text=text, why=why),
        )
    return proposal_id


def settle(ws: Workspace, proposal_id: str, *, accepted: bool, why: str = "") -> None:
    """Record a person's word on a proposal."""
    stream.append(
        ws, layout.REVIEWS, Verdict(id=proposal_id, at=ws.clock(), accepted=accepted, why=ws.clean(why))
    )


def waiting(ws: Workspace) -> list[Proposal]:
    """Return the proposals nobody has settled, oldest first."""
    records = _read(ws)
    settled = {record.id for record in records if isinstance(record, Verdict)}
    return [record for record in records if isinstance(record, Proposal) and record.id not in settled]


def _read(ws: Workspace) -> list[Proposal | Verdict]:
    read: stream.Read[Proposal | Verdict] = stream.parse(
        layout.REVIEWS, ws.disk.read_from(layout.REVIEWS, 0), kind=Proposal | Verdict
    )
    return read.records
