"""Every tool of the server, and how a call becomes an answer.

Owns the list and the way from a name and arguments to a text and a value; promises that an error which Reverie raises
on purpose is an answer too, with its remedy; never knows how answers travel.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from reverie.errors import ReverieError
from reverie.memory import Memory
from reverie.surface.mcp.answers import Answer, fit, told
from reverie.surface.mcp.bound import Bound
from reverie.surface.mcp.fields import read
from reverie.surface.mcp.finding import FINDING
from reverie.surface.mcp.lending import LENDING
from reverie.surface.mcp.tools import Tool
from reverie.surface.mcp.writing import WRITING

TOOLS: tuple[Tool, ...] = (*WRITING, *FINDING)
ON_DEMAND: tuple[Tool, ...] = LENDING  # where `mcp.host_model` is set


def offered(bound: Bound) -> dict[str, Tool]:
    """Return the tools that a workspace offers to whoever asks, by name."""
    tools = (*TOOLS, *ON_DEMAND) if bound.lends else TOOLS
    return {tool.name: tool for tool in tools if tool.reads or not bound.reads_only}


class Outcome(msgspec.Struct, frozen=True):
    """What a call came to: its answer, and whether that is an error's."""

    answer: Answer
    failed: bool = False


def use(tool: Tool, memory: Memory, *, given: Mapping[str, Any] | None) -> Answer:
    """Return a tool's answer; raises what reading the arguments or the verb raises, Untrusted before anything else."""
    if not tool.bare:
        memory.opened.trusted_or_raise()  # what comes from here goes into a prompt
    answer = fit(tool.run(memory, read(tool.fields, given)), memory.root)
    return Answer(json.dumps(answer.value, ensure_ascii=False), answer.value) if tool.json else answer


def failure(error: ReverieError, bound: Bound) -> Outcome:
    """Return what a failed call answers."""
    return Outcome(told(error, bound.folder), failed=True)
