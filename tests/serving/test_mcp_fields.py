"""The arguments of tools: plain schemas for clients, kind reading for models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from reverie.errors import UsageError
from reverie.surface.mcp.fields import Field, read, schema
from reverie.surface.mcp.table import TOOLS

if TYPE_CHECKING:
    from collections.abc import Iterator

FIELDS = (
    Field("query", "text", "What.", required=True),
    Field("limit", "integer", "How many.", default=10, within=(1, 20)),
    Field("weight", "number", "How much.", within=(0, 1)),
    Field("deep", "flag", "Whether."),
    Field("kinds", "texts", "Which.", choices=("entry", "page")),
)
ROOT_KEYS = {"type", "properties", "required", "additionalProperties"}
TAKEN_EVERYWHERE = {"string", "integer", "number", "boolean", "array", "object"}


def parts(told: Any) -> Iterator[dict[str, Any]]:
    """Yield a schema and every schema in it."""
    if isinstance(told, dict):
        yield told
        for one in told.values():
            yield from parts(one)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
@pytest.mark.parametrize("side", ["input", "output"])
def test_schemas_are_plain(tool: Any, side: str) -> None:
    """Each schema has an object at its root and uses nothing that some client refuses."""
    told = schema(tool.fields) if side == "input" else tool.output
    assert told["type"] == "object"
    assert set(told) <= ROOT_KEYS
    for one in parts(told):
        assert not {"anyOf", "oneOf", "allOf", "$ref", "$defs", "format"} & set(one), one
        if isinstance(one.get("type"), str):
            assert one["type"] in TAKEN_EVERYWHERE


def test_what_is_not_sent_has_its_default() -> None:
    """An argument that is missing or null is the same: its default, or nothing of its kind."""
    wanted = {"query": "tea", "limit": 10, "weight": None, "deep": False, "kinds": ()}
    assert read(FIELDS, {"query": "tea"}) == wanted
    assert (
        read(FIELDS, {"query": "tea", "limit": None, "weight": None, "deep": None, "kinds": None}) == wanted
    )


@pytest.mark.parametrize(
    ("sent", "name", "value"),
    [
        ({"limit": "7"}, "limit", 7),
        ({"limit": 7.0}, "limit", 7),
        ({"weight": "0.5"}, "weight", 0.5),
        ({"deep": "true"}, "deep", True),
        ({"deep": 0}, "deep", False),
        ({"kinds": "page"}, "kinds", ("page",)),
        ({"kinds": '["page", "entry"]'}, "kinds", ("page", "entry")),
        ({"kinds": ["entry"]}, "kinds", ("entry",)),
        ({"query": 42}, "query", "42"),
        ({"query": 0.5}, "query", "0.5"),
    ],
)
def test_what_a_model_means_is_read(sent: dict[str, Any], name: str, value: Any) -> None:
    """A number may come as text, a text as number, a list as one text or as the JSON of a list."""
    assert read(FIELDS, {"query": "tea", **sent})[name] == value


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({}, "query is missing"),
        ({"query": ""}, "query is missing"),
        ({"query": "tea", "limt": 3}, "did you mean limit?"),
        ({"query": "tea", "limit": "many"}, "give a whole number"),
        ({"query": "tea", "limit": 0}, "from 1 to 20"),
        ({"query": "tea", "limit": 1.5}, "give a whole number"),
        ({"query": "tea", "weight": "NaN"}, "give a number"),
        ({"query": "tea", "weight": True}, "give a number"),
        ({"query": "tea", "deep": "perhaps"}, "true or false"),
        ({"query": "tea", "kinds": ["turn"]}, "choose one of entry, page"),
        ({"query": {"a": 1}}, "give a text"),
        ({"query": "tea", "kinds": [[1]]}, "give a list of texts"),
    ],
)
def test_what_cannot_be_read_is_told(sent: dict[str, Any], said: str) -> None:
    """An argument that is missing, unknown, of the wrong kind or out of range is named with what is wanted."""
    with pytest.raises(UsageError, match=said.replace("?", r"\?")):
        read(FIELDS, sent)
