"""What a shared workspace gets of an entry, and who may give it.

Owns the copy that stands for an entry of scope `team` elsewhere, and the records of members and copies; promises that
the same entry gives the same copy however often it is made, that a copy holds no word of the conversation it came from,
and that a copy is never copied on; never reads a file.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from datetime import datetime
from typing import Literal

import msgspec

from reverie.core.entries import derived_id, is_id
from reverie.core.records import Entry
from reverie.core.text.names import safe_name

TEAM = "team"


class Member(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of a shared workspace's `members.jsonl`: a workspace that may give and read; the last line of one holds.

    `id` is the workspace's, `agent` the name it had; `left` takes the membership back.
    """

    id: str
    at: datetime
    agent: str = ""
    left: bool = False


class Copied(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of `shared.jsonl`: an entry's copy was queued in the workspace `to`, or `withdrawn` from it.

    The last line of an entry and a workspace holds. `erase` says that its bytes there have to go, or that they have.
    """

    entry: str
    to: str
    copy: str
    at: datetime
    withdrawn: bool = False
    erase: Literal["", "asked", "done"] = ""


def copy_id(source: str, entry: str) -> str:
    """Return the id of the copy of an entry of the workspace with the id `source`."""
    return derived_id("copy", source, entry)


def owner_of(workspace: str, agent: str) -> str:
    """Return what a copy says of whose it is: the id of the workspace, and its agent for people to read."""
    return f"{workspace} {agent}".rstrip()


def owner_id(entry: Entry) -> str:
    """Return the id of the workspace that an entry is a copy from, or nothing when it is no copy."""
    return entry.owner.partition(" ")[0]


def is_shared(entry: Entry) -> bool:
    """Whether an entry is to be copied: it says so, and is itself no copy."""
    return entry.scope == TEAM and not entry.owner


def copy_of(entry: Entry, *, source: str, owner: str, given: Container[str]) -> Entry:
    """Return the copy of an entry: what it says and since when, without the conversation it was said in.

    The evidence stays where it was said, with the session and its turns: they are the words of a private talk. What it
    supersedes is named as far as it was `given` too.
    """
    return msgspec.structs.replace(
        entry,
        id=copy_id(source, entry.id),
        owner=owner,
        session="",
        turns="",
        evidence="",
        supersedes=tuple(copy_id(source, one) for one in entry.supersedes if one in given),
    )


def flaw_of_copy(entry: Entry, members: Container[str]) -> str:
    """Return why a shared workspace does not store a copy, as a sentence; empty when it does, or is no copy."""
    if not entry.owner:
        return ""
    owner = owner_id(entry)
    if not is_id(owner):
        return f"owner {entry.owner[:40]!r} names no workspace"
    if entry.scope != TEAM or entry.session or entry.turns or entry.evidence:
        return (
            "a copy holds what is private: only entries of scope team are shared, without their conversation"
        )
    if owner not in members:
        return (
            f"{entry.owner[:60]} is no member of this workspace: add it with `reverie members --add {owner}`"
        )
    return ""


def standing(lines: Iterable[Member]) -> dict[str, Member]:
    """Return the members that the lines of a list amount to, by id."""
    last = {line.id: line for line in lines}
    return {one: line for one, line in last.items() if not line.left}


def readable_name(name: str) -> str:
    """Return an agent's name as a line of a log can hold it among others: on one line, and short."""
    return " ".join(name.split())[:60] or safe_name(name)
