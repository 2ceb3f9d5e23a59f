"""The specification tells the truth: what is sent as it says is answered as it says, and its examples run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
import schemathesis
from http_world import BASE, world_at
from hypothesis import HealthCheck, settings
from schemathesis.specs.openapi import checks

from reverie.surface.http.openapi import specification
from reverie.surface.http.table import OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from http_world import World

    from reverie.surface.http.operations import Operation

CHECKS = [
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
    schemathesis.checks.not_a_server_error,
]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A root that whatever is sent may change."""
    with world_at(tmp_path_factory.mktemp("served")) as world:
        yield world


schema = schemathesis.openapi.from_dict(specification())


@pytest.mark.slow
@schema.parametrize()
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
def test_whatever_is_sent_is_answered_as_the_specification_says(case: Any, served: World) -> None:
    """No request that schemathesis makes is answered by a status, a type or a shape that is not specified."""
    if "workspace" in (case.path_parameters or {}) and len(str(case.path_parameters["workspace"])) % 4:
        case.path_parameters["workspace"] = "support"
    if "id" in (case.path_parameters or {}) and len(str(case.path_parameters["id"])) % 2:
        case.path_parameters["id"] = served.entry
    sent = case.as_transport_kwargs(base_url=BASE)
    sent = {
        name: value
        for name, value in sent.items()
        if value is not None and name not in {"cookies", "headers"}
    }
    content = {"headers": {"content-type": case.media_type}} if case.media_type else {}
    response = served.client().request(
        **{"content" if name == "data" else name: one for name, one in sent.items()}, **content
    )
    case.validate_response(response, checks=CHECKS)


def resolved(kind: Any, parts: Any) -> Any:
    """Return a schema with the components it refers to beside it."""
    return {**kind, "components": parts}


@pytest.mark.parametrize("one", OPERATIONS, ids=lambda one: one.id)
def test_each_example_is_as_its_schema_says(one: Operation) -> None:
    """The example of each operation is valid by the schema that stands beside it."""
    whole = specification()
    told = whole["paths"][one.address.replace(":path", "")][one.method]
    needed = [name for name in (*one.in_path, *one.in_body) if _is_required(told, name)]
    assert set(needed) <= set(one.example), "an example has what is required"
    for content in told.get("requestBody", {}).get("content", {}).values():
        jsonschema.validate(content["example"], resolved(content["schema"], whole["components"]))


def _is_required(told: Any, name: str) -> bool:
    named = [one["required"] for one in told["parameters"] if one["name"] == name]
    body = [one["schema"] for one in told.get("requestBody", {}).get("content", {}).values()]
    return any(named) or any(name in one.get("required", ()) for one in body)


@pytest.mark.slow
def test_each_example_runs_and_gives_what_its_schema_says(tmp_path: Path) -> None:
    """Each operation's example, with ids that are there, is answered by 200 as specified, or by a problem that is."""
    whole = specification()
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "config.toml").write_text("[mcp]\nhost_model = true\n")
    with world_at(tmp_path) as world:
        answered = _answered(world, whole)
    # Nothing waits for a word, is forgotten, excluded or handed out, and the notebook is younger than that instant.
    refused = {name: status for name, status in answered.items() if status != 200}
    waits = {"dream_step", "dream_finish", "extract_submit"}
    assert set(refused) <= {"show", "decide", "unforget", "include", "restore"} | waits, refused


def _answered(world: World, whole: Any) -> dict[str, int]:
    """Return the status that each operation's example is answered with, each answer held against its schema."""
    world.value("POST", "/turns", json={"session": "s1", "role": "user", "content": "I moved to Lisbon."})
    promise = world.value("POST", "/entries", json={"text": "Send the quote", "due": "2026-07-10"})["id"]
    world.value("POST", f"/entries/{promise}/pin", json={})
    event = world.value("GET", f"/entries/{promise}/history")["events"][-1]["id"]
    world.value("POST", "/drain")
    world.clock.advance(days=2)
    world.value("POST", "/dream", json={"now": True})
    run = world.value("GET", "/runs")["runs"][0]["run"]
    world.value("POST", "/publish")
    given = {"2b47366a861a87ca": world.entry, "83f33219d7033862": promise, "c0ffee00c0ffee00": event}
    given |= {"dream:20260702-030000": run}
    answered: dict[str, int] = {}
    order = [one for one in OPERATIONS if one.right != "admin"] + [
        one for one in OPERATIONS if one.right == "admin"
    ]
    for one in order:
        example = json.loads(_replaced(json.dumps(dict(one.example)), given))
        path = one.path.replace(":path", "").format_map(example)
        body = {name: value for name, value in example.items() if name in one.in_body}
        query = {name: value for name, value in example.items() if name in one.in_query}
        more = {"json": body} if one.has_body else {}
        response = world.ask(one.method, path, params=query, **more)
        answered[one.id] = response.status_code
        if one.id == "dream_start" and response.json()["run"]:  # while it is under way nothing is undone
            world.value("POST", f"/dreams/{response.json()['run']}/finish", json={"give_up": True})
        told = whole["paths"][one.address.replace(":path", "")][one.method]["responses"]
        if response.status_code == 200 and "json" in response.headers["content-type"]:
            (content,) = told["200"]["content"].values()
            jsonschema.validate(response.json(), resolved(content["schema"], whole["components"]))
        elif response.status_code != 200:
            kind = whole["components"]["schemas"]["ProblemDetails"]
            jsonschema.validate(response.json(), resolved(kind, whole["components"]))
    return answered


def _replaced(text: str, given: dict[str, str]) -> str:
    for old, new in given.items():
        text = text.replace(old, new)
    return text
