"""The operations that need an admin's right: what cannot be undone, a person's word, trust and settings.

Owns what they take and give; promises that each is one line to a verb, and that no folder of the machine is an argument
of any; never asks back: whoever holds such a token has decided.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta

from reverie.check import Finding
from reverie.core.entries import is_id
from reverie.core.records import Run
from reverie.core.settings.value import KEYS
from reverie.errors import UsageError
from reverie.memory import Memory
from reverie.surface import results
from reverie.surface.http import shapes
from reverie.surface.http.letting import Meant, filter_of
from reverie.surface.http.operations import Nothing, Operation, Takes
from reverie.surface.own_settings import keep_settings

Setting = str | int | float | bool | list[str]


class _Topic(Takes, frozen=True, kw_only=True):
    topic: Annotated[str, Meta(description="The topic, as it was excluded.", min_length=1)]


class _Undo(Takes, frozen=True, kw_only=True):
    run: Annotated[str, Meta(description="The run's name.", min_length=1)]
    retry: Annotated[bool, Meta(description="Dream of its entries again.")] = False


class _Restore(Takes, frozen=True, kw_only=True):
    when: Annotated[
        str, Meta(description="An instant with its offset, or a run: as it stood after it.", min_length=1)
    ]


class _Decide(Takes, frozen=True, kw_only=True):
    id: Annotated[str, Meta(description="The item's id, or the beginning of it.", min_length=1)]
    accept: bool


class _Members(Takes, frozen=True, kw_only=True):
    add: Annotated[str, Meta(description="The id of a workspace that may give and read.")] = ""
    remove: Annotated[str, Meta(description="The id of one that no longer may.")] = ""


class _Settings(Takes, frozen=True, kw_only=True):
    settings: Annotated[dict[str, Setting], Meta(description="Values by their dotted names.", min_length=1)]


def _erase(memory: Memory, given: Meant) -> results.Erasing:
    done = memory.erase(given.ids, where=filter_of(given), dry_run=given.dry_run)
    return results.erased(done, dry_run=given.dry_run)


def _unforget(memory: Memory, given: Meant) -> results.Forgetting:
    done = memory.forget(given.ids, where=filter_of(given), restore=True, dry_run=given.dry_run)
    return results.forgetting(done, dry_run=given.dry_run)


def _include(memory: Memory, given: _Topic) -> dict[str, object]:
    return results.excluded(given.topic, memory.exclude(given.topic, remove=True), removed=True)


def _decide(memory: Memory, given: _Decide) -> results.Waiting:
    (item,) = memory.review(given.id, accept=given.accept)
    return results.waiting(item)


def _members(memory: Memory, given: _Members) -> shapes.Members:
    for name in (given.add, given.remove):
        if name and not is_id(name):  # the verb would take a folder, too
            raise UsageError(f"{name[:100]!r} is no id: name a workspace by its 16 hex digits")
    return shapes.Members(memory.members(add=given.add, remove=given.remove))


def _settings(memory: Memory, _: Nothing) -> shapes.Settings:
    return shapes.Settings(dict(_own(memory)))


def _set(memory: Memory, given: _Settings) -> shapes.Settings:
    told = {
        name: value if isinstance(value, str) else json.dumps(value) for name, value in given.settings.items()
    }
    keep_settings(memory.opened.writable, told)
    return shapes.Settings({name: given.settings[name] for name in told})


def _own(memory: Memory) -> Mapping[str, Any]:
    """Return the settings that a workspace's own file may hold, with what holds now."""
    found = {}
    for path, key in KEYS.items():
        if key.rule.here:
            value: Any = memory.opened.ws.settings
            for name in path:
                value = getattr(value, name)
            found[key.name] = value
    return found


ADMIN = (
    Operation(
        id="erase",
        method="post",
        path="/erase",
        summary="Remove the text of entries from every file of the workspace, for good.",
        right="admin",
        takes=Meant,
        gives=results.Erasing,
        example={"ids": ["2b47366a861a87ca"], "dry_run": True},
        long=True,
        unplaced=True,
        renews=True,  # what is open would go on holding the text
        run=_erase,
    ),
    Operation(
        id="unforget",
        method="post",
        path="/forget/restore",
        summary="Take a forgetting back: of entries by id or filter, and of a session's turns that a host took back.",
        right="admin",
        takes=Meant,
        gives=results.Forgetting,
        example={"ids": ["2b47366a861a87ca"]},
        unplaced=True,
        run=_unforget,
    ),
    Operation(
        id="include",
        method="post",
        path="/exclusions/remove",
        summary="Store a topic again that was excluded.",
        right="admin",
        takes=_Topic,
        gives=results.Excluded,
        example={"topic": "health"},
        run=_include,
    ),
    Operation(
        id="undo",
        method="post",
        path="/runs/{run}/undo",
        summary="Take one run's changes back.",
        right="admin",
        takes=_Undo,
        gives=Run,
        example={"run": "dream:20260702-030000"},
        long=True,
        run=lambda memory, given: memory.undo(given.run, retry=given.retry),
    ),
    Operation(
        id="restore",
        method="post",
        path="/restore",
        summary="Put the notebook back to how it stood; what is forgotten stays so.",
        right="admin",
        takes=_Restore,
        gives=Run,
        example={"when": "2026-07-02T03:00:00Z"},
        long=True,
        run=lambda memory, given: memory.restore(given.when),
    ),
    Operation(
        id="decide",
        method="post",
        path="/review/{id}",
        summary="Give a person's word on what waits for it.",
        right="admin",
        takes=_Decide,
        gives=results.Waiting,
        example={"id": "2b47366a861a87ca", "accept": True},
        run=_decide,
    ),
    Operation(
        id="repair",
        method="post",
        path="/check",
        summary="Verify every file, mend what is derived, finish what was interrupted, and say what is left.",
        right="admin",
        gives=list[Finding],
        named="findings",
        long=True,
        unplaced=True,
        run=lambda memory, _: memory.check(repair=True),
    ),
    Operation(
        id="members",
        method="post",
        path="/members",
        summary="List who belongs to a shared workspace, after adding or removing one.",
        right="admin",
        takes=_Members,
        gives=shapes.Members,
        example={"add": "f2a74de452e6b438"},
        run=_members,
    ),
    Operation(
        id="settings",
        method="get",
        path="/settings",
        summary="Show the settings that a workspace may decide itself, with the values that hold.",
        right="admin",
        gives=shapes.Settings,
        bare=True,
        run=_settings,
    ),
    Operation(
        id="set",
        method="patch",
        path="/settings",
        summary="Set settings in the workspace's own file.",
        right="admin",
        takes=_Settings,
        gives=shapes.Settings,
        example={"settings": {"dream.min_facts": 5, "zone": "Europe/Berlin"}},
        renews=True,
        unplaced=True,
        run=_set,
    ),
)
