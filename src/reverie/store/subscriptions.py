"""Who belongs to a shared workspace, and what was given to one.

Owns `.state/members.jsonl` of the workspace that is shared and `.state/shared.jsonl` of the one that shares; promises
that both only grow and that the last line holds; never opens another workspace.
"""

from __future__ import annotations

from collections.abc import Sequence

from reverie import layout
from reverie.core.scopes import Copied, Member, standing
from reverie.store import stream
from reverie.store.workspace import Workspace


def members(ws: Workspace) -> dict[str, Member]:
    """Return who may give to this workspace and read it, by the id of their workspace; raises NewerFormat."""
    if ws.disk.glance(layout.MEMBERS) is None:
        return {}
    found: stream.Read[Member] = stream.read(ws, layout.MEMBERS, Member)
    return standing(found.records)


def change(ws: Workspace, member: Member) -> None:
    """Add a member, or take a membership back."""
    stream.append(ws, layout.MEMBERS, member)


def copies(ws: Workspace) -> dict[tuple[str, str], Copied]:
    """Return what was given of this workspace's entries, by where it went and the entry; raises NewerFormat."""
    if ws.disk.glance(layout.SHARED) is None:
        return {}
    found: stream.Read[Copied] = stream.read(ws, layout.SHARED, Copied)
    return {(one.to, one.entry): one for one in found.records}


def note(ws: Workspace, lines: Sequence[Copied]) -> None:
    """Note what was given or withdrawn, with one write and one sync."""
    stream.append_all(ws, layout.SHARED, lines)
