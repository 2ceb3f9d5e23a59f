"""The operations by which a host's own model dreams and reads turns, where the host has one and the memory has none.

Owns what they take and give; promises that each is one line to a verb; never offers more than the user's settings
allow: the verbs say what is missing.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from reverie.core.dreams.dreamt import Dreamt
from reverie.memory import Memory
from reverie.surface import driving
from reverie.surface.http.operations import Day, Operation, Takes

By = Annotated[str, Meta(description="What the model goes by, for the record.", max_length=1_000)]
Run = Annotated[str, Meta(description="The run's name, as its beginning gave it.", min_length=1)]


class _Begin(Takes, frozen=True, kw_only=True):
    now: Annotated[bool, Meta(description="Do not wait for enough time and entries.")] = False
    day: Day = ""
    most: Annotated[int, Meta(description="At most so many entries; 0 for all.", ge=0, le=1_000_000)] = 0
    by: By = "host"


class _Step(Takes, frozen=True, kw_only=True):
    run: Run
    tool: Annotated[str, Meta(description="read, list, search, recall, write, edit or settle.", min_length=1)]
    arguments: Annotated[
        dict[str, Any],
        Meta(description="What the tool takes, by name; `entry` may be a list where several are settled."),
    ] = msgspec.field(default_factory=dict)


class _Finish(Takes, frozen=True, kw_only=True):
    run: Run
    give_up: Annotated[bool, Meta(description="Change nothing; the entries are pending again.")] = False


class _Turns(Takes, frozen=True, kw_only=True):
    session: Annotated[str, Meta(description="Only of this session.", max_length=10_000)] = ""
    by: By = "host"


class _Submit(Takes, frozen=True, kw_only=True):
    handle: Annotated[str, Meta(description="As handing out gave it.", min_length=1)]
    entries: Annotated[
        tuple[Any, ...],
        Meta(
            description="Objects of the form that was handed out; an empty list says that there is nothing."
        ),
    ]


def _begin(memory: Memory, given: _Begin) -> driving.Begun:
    asked = driving.Asked(now=given.now, day=given.day, most=given.most, by=given.by)
    return driving.begin(memory, asked, guest="verbs")


LENDING = (
    Operation(
        id="dream_start",
        method="post",
        path="/dreams",
        summary="Hand out a batch for a model of the caller's own to dream, or say why there is none.",
        right="write",
        takes=_Begin,
        gives=driving.Begun,
        example={"now": True, "by": "my-agent"},
        long=True,
        run=_begin,
    ),
    Operation(
        id="dream_step",
        method="post",
        path="/dreams/{run}/steps",
        summary="Use one tool in a run.",
        right="write",
        takes=_Step,
        gives=driving.Said,
        example={"run": "dream:20260702-030000", "tool": "list", "arguments": {"folder": "notebook"}},
        run=lambda memory, given: driving.step(memory, given.run, tool=given.tool, arguments=given.arguments),
    ),
    Operation(
        id="dream_finish",
        method="post",
        path="/dreams/{run}/finish",
        summary="Have a run judged, and installed where it holds, after a person's word the first time.",
        right="write",
        takes=_Finish,
        gives=Dreamt,
        example={"run": "dream:20260702-030000", "give_up": True},
        long=True,
        run=lambda memory, given: memory.dream_finish(given.run, give_up=given.give_up),
    ),
    Operation(
        id="extract_start",
        method="post",
        path="/readings",
        summary="Hand out turns for a model of the caller's own to read, with what is asked of it.",
        right="write",
        takes=_Turns,
        gives=driving.Turns,
        example={"session": "s1", "by": "my-agent"},
        run=lambda memory, given: driving.turns(memory, given.session, by=given.by),
    ),
    Operation(
        id="extract_submit",
        method="post",
        path="/readings/{handle}",
        summary="Store what was found in turns that were handed out, after a person's word the first time.",
        right="write",
        takes=_Submit,
        gives=driving.Submission,
        example={
            "handle": "extract:0123456789abcdef",
            "entries": [{"text": "User moved to Lisbon.", "evidence": "I moved to Lisbon"}],
        },
        long=True,
        run=lambda memory, given: driving.submission(memory.extract_submit(given.handle, given.entries)),
    ),
)
