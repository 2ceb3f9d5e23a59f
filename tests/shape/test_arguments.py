"""The gate between what verbs take and what each surface lets one say: nothing can be said in one place only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

import msgspec
import pytest

from reverie.context import ContextRequest
from reverie.core.records import Draft
from reverie.core.search.context_plan import PARTS
from reverie.core.where import Where
from reverie.surface.cli.main import load
from reverie.surface.http.reading import Filters, Part
from reverie.surface.http.table import BY_ID
from reverie.surface.mcp.table import TOOLS
from source import demand

if TYPE_CHECKING:
    from collections.abc import Mapping

# What a surface calls a field, where it does not call it by its name.
CALLED: Mapping[str, frozenset[str]] = {
    "parts": frozenset({"part"}),
    "tags": frozenset({"tag"}),
    "sig": frozenset({"significance"}),
    "conf": frozenset({"confidence"}),
    "origin": frozenset({"by"}),
    "include_previous": frozenset({"previous"}),
    "include_hidden": frozenset({"hidden"}),
    "include_faded": frozenset({"faded"}),
    "limit": frozenset({"k"}),
}

# What cannot be said somewhere, by verb and surface, each with the reason.
UNSAID: Mapping[tuple[str, str, str], str] = {
    (
        "recall",
        "tool",
        "include_hidden",
    ): "what a person hid, and what resembles something forgotten, is no model's to read",
    ("list", "tool", "include_hidden"): "as above",
    ("list", "operation", "limit"): "it is a page's length, and `cursor` goes on",
    **{
        (verb, "command", name): "an id names what is meant as well, and `list` shows it"
        for verb in ("hide", "forget", "erase")
        for name in ("as_of", "include_previous", "include_hidden", "include_faded", "limit")
    },
    **{
        (verb, "operation", "limit"): "what is let go of is not cut off by number"
        for verb in ("hide", "forget", "erase")
    },
}

VERBS: Mapping[str, type] = {
    "remember": Draft,
    "recall": Where,
    "list": Where,
    "hide": Where,
    "forget": Where,
    "erase": Where,
    "context": ContextRequest,
}
NO_TOOL = {"hide", "erase", "forget"}  # memory_forget takes ids: a model shows the user what goes, one by one


def operation(verb: str) -> set[str]:
    """Return the arguments of an operation, those of its filter among them."""
    takes = msgspec.structs.fields(BY_ID[verb].takes)
    inner = [one for kind in takes if kind.name == "where" for one in _filters()]
    return {one.encode_name for one in takes} | set(inner)


def _filters() -> list[str]:
    return [one.encode_name for one in msgspec.structs.fields(Filters)]


def command(verb: str) -> set[str]:
    """Return the options and arguments of a command."""
    return {str(one.name) for one in load(verb).params}


def tool(verb: str) -> set[str]:
    """Return the arguments of a tool."""
    (found,) = [one for one in TOOLS if one.name == f"memory_{verb}"]
    return {one.name for one in found.fields}


def fields(kind: Any) -> list[str]:
    """Return the names of what a value may say."""
    return [one.name for one in msgspec.structs.fields(kind)]


@pytest.mark.parametrize("verb", VERBS)
def test_whatever_a_verb_takes_can_be_said_everywhere(verb: str) -> None:
    """Each field of a draft, a filter and a request for context can be said on every surface, or stands in UNSAID."""
    surfaces = {"operation": operation(verb), "command": command(verb)}
    surfaces |= {} if verb in NO_TOOL else {"tool": tool(verb)}
    missing = [
        f"{surface} {verb}: {name}"
        for surface, told in surfaces.items()
        for name in fields(VERBS[verb])
        if not told & ({name} | CALLED.get(name, frozenset())) and (verb, surface, name) not in UNSAID
    ]
    demand(missing, "Add the argument, or a row with its reason to UNSAID.")


def test_the_parts_of_a_context_are_those_there_are() -> None:
    """Over HTTP the parts of a context have the names that they have everywhere."""
    assert get_args(Part) == PARTS


def test_what_is_unsaid_still_is() -> None:
    """No row of UNSAID names what can be said."""
    told = {"operation": operation, "command": command, "tool": tool}
    stale = [
        f"{surface} {verb}: {name}"
        for verb, surface, name in UNSAID
        if told[surface](verb)
        & ({name} | CALLED.get(name, frozenset())) - ({"limit"} if verb == "list" else set())
    ]
    demand(stale, "Remove the row from UNSAID.")
