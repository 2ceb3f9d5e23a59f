"""The specification of the server (OpenAPI 3.1), made of the table of operations.

Owns its form; promises that whatever is served stands in it, with the right it needs, what it takes and gives, and an
example; never says of an argument what its type does not.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import msgspec

from reverie import __version__
from reverie.surface import results
from reverie.surface.http import shapes
from reverie.surface.http.moving import ZIP, Import
from reverie.surface.http.operations import USER, WORKSPACE, Cursor, File, Limit, Operation, Takes
from reverie.surface.http.problems import MEDIA, ProblemDetails
from reverie.surface.http.serving import JSON
from reverie.surface.http.table import OPERATIONS
from reverie.surface.http.tokens import Right

_REF = shapes.PARTS + "{name}"
_ABOUT = """\
Long-term memory for LLM agents, kept in files a person can read.

Every request carries `Authorization: Bearer` and a token. An error is `application/problem+json` with what to do in
`remedy`, and `retryable` says whether the same request may succeed later. A GET has an ETag: send it back as
`If-None-Match`, and what has not changed is answered by 304. A long list comes in pages: send the `next` of one as the
`cursor` of the following.
"""
_PERSON = {
    "name": USER,
    "in": "query",
    "required": False,
    "description": "The person whose own memory is meant, a workspace beneath the agent's.",
    "schema": {"type": "string", "maxLength": 200},
}
_WORKSPACE = {
    "name": "workspace",
    "in": "path",
    "required": True,
    "description": "The workspace, by its agent's or its folder's name.",
    "schema": {"type": "string", "minLength": 1},
    "example": "support",
}
_STATUSES = {
    "304": "The client has it already.",
    "400": "The request is wrong as written.",
    "401": "No valid token was sent.",
    "403": "The token does not open this, or the workspace is not trusted.",
    "404": "There is no such workspace, entry, run or file.",
    "409": "It contradicts what is there, or another process holds the lock.",
    "413": "The request is too large.",
    "415": "The body is no JSON.",
    "422": "What was sent is refused and set aside.",
    "default": "Another problem.",
}
_RIGHTS: Mapping[Right, str] = {
    "read": "Any token of the workspace may.",
    "write": "It needs a token with the right to write.",
    "admin": "It needs an admin's token.",
}


class Listing(Takes, frozen=True, kw_only=True):
    """How the list of workspaces is asked for."""

    limit: Limit = 100
    cursor: Cursor = ""


@cache
def written() -> bytes:
    """Return the whole specification as a server sends it, made once: it is the work of a whole second."""
    return json.dumps(specification(), ensure_ascii=False).encode()


def specification() -> dict[str, Any]:
    """Return the whole specification."""
    paths: dict[str, dict[str, Any]] = {}
    for one in OPERATIONS:
        paths.setdefault(one.address.replace(":path}", "}"), {})[one.method] = _operation(one)
    for path, methods in _others().items():
        paths.setdefault(path, {}).update(methods)
    told = {
        "openapi": "3.1.0",
        "info": {"title": "Reverie", "version": __version__, "description": _ABOUT},
        "servers": [{"url": "/"}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "responses": _responses(),
            "schemas": dict(sorted(_components().items())),
        },
    }
    found: dict[str, Any] = _plain(told)
    return found


def _plain(schema: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return a schema in which a tuple is an array of what may stand anywhere in it, which every reader understands."""
    if isinstance(schema, Mapping):
        told = {name: _plain(one) for name, one in schema.items()}
        kinds = told.pop("prefixItems", None) or told.get("items")
        if isinstance(kinds, list):
            unlike = [one for n, one in enumerate(kinds) if one not in kinds[:n]]
            told["items"] = unlike[0] if len(unlike) == 1 else {"anyOf": unlike}
        return told
    return [_plain(one) for one in schema] if isinstance(schema, list | tuple) else schema


def openapi_json() -> str:
    """Return the specification as the file in the docs has it."""
    return json.dumps(specification(), ensure_ascii=False, indent=1, sort_keys=False) + "\n"


def schema_of(kind: Any) -> dict[str, Any]:  # noqa: ANN401 - a type, or a schema
    """Return the schema of a type; what is a schema already is its own."""
    if isinstance(kind, dict):
        return kind
    (found,), _ = msgspec.json.schema_components([kind], ref_template=_REF)
    return found


def fields_of(takes: type[Takes]) -> dict[str, tuple[dict[str, Any], bool]]:
    """Return the schema of each argument, and whether it has to be given."""
    _, parts = msgspec.json.schema_components([takes], ref_template=_REF)
    whole = parts[takes.__name__]
    needed = whole.get("required", ())
    return {name: (dict(schema), name in needed) for name, schema in whole["properties"].items()}


def _components() -> dict[str, Any]:
    kinds = [one.gives for one in OPERATIONS if not isinstance(one.gives, dict) and one.gives is not File]
    inner = [results.Importing, shapes.Workspace, shapes.Workspaces, ProblemDetails]
    takes = {one.takes for one in OPERATIONS}
    _, parts = msgspec.json.schema_components([*kinds, *inner, *takes], ref_template=_REF)
    own = {one.__name__ for one in takes}  # these are taken apart, into path, query and body
    told = {name: schema for name, schema in parts.items() if name not in own}
    return {**told, "EntryNow": results.entry_schema()}


def _operation(one: Operation) -> dict[str, Any]:
    fields = fields_of(one.takes)
    raised = [f"With `{name}` it needs the right to {right}." for name, right in one.raised.items()]
    told: dict[str, Any] = {
        "operationId": one.id,
        "summary": one.summary,
        "description": " ".join([_RIGHTS[one.right], *raised]),
        "parameters": [_WORKSPACE, *_parameters(one, fields), _PERSON],
        "responses": {"200": _answer(one), **_problems(changes=one.method == "get")},
        "x-right": one.right,
    }
    if one.in_body:
        needed = [name for name in one.in_body if fields[name][1]]
        schema: dict[str, Any] = {
            "type": "object",
            "properties": {name: fields[name][0] for name in one.in_body},
            "additionalProperties": False,
        }
        schema |= {"required": needed} if needed else {}
        example = {name: value for name, value in one.example.items() if name in one.in_body}
        content = {JSON: {"schema": schema, "example": example}}
        told["requestBody"] = {"required": bool(needed), "content": content}
    return told


def _parameters(
    one: Operation, fields: Mapping[str, tuple[dict[str, Any], bool]]
) -> Iterable[dict[str, Any]]:
    """Yield the arguments in the path and in the query."""
    for place, names in (("path", one.in_path), ("query", one.in_query)):
        for name in names:
            schema = dict(fields[name][0])
            told = {"name": name, "in": place, "required": place == "path" or fields[name][1]}
            told |= {"description": schema.pop("description")} if "description" in schema else {}
            told |= {"example": one.example[name]} if name in one.example else {}
            yield told | {"schema": schema}


def _answer(one: Operation) -> dict[str, Any]:
    if one.gives is File:
        content = {"text/markdown": {"schema": {"type": "string"}}}
        return {"description": "The file.", "content": content}
    schema = schema_of(one.gives)
    if one.named and schema.get("type") == "array":
        schema = {"type": "object", "properties": {one.named: schema}, "required": [one.named]}
    return {"description": "What came of it.", "content": {JSON: {"schema": schema}}}


def _problems(*, changes: bool) -> dict[str, Any]:
    told = {status: {"$ref": f"#/components/responses/{status}"} for status in _STATUSES}
    return told if changes else {status: one for status, one in told.items() if status != "304"}


def _responses() -> dict[str, Any]:
    """Return the problems that every operation may answer."""
    content = {MEDIA: {"schema": {"$ref": f"{shapes.PARTS}ProblemDetails"}}}
    told: dict[str, Any] = {
        status: {"description": why, "content": content} for status, why in _STATUSES.items()
    }
    return told | {"304": {"description": _STATUSES["304"]}}


def _others() -> dict[str, dict[str, Any]]:
    """Return what is served beside the operations on a memory."""
    listing = [
        {"name": name, "in": "query", "required": False, "schema": schema}
        for name, (schema, _) in fields_of(Listing).items()
    ]
    importing = [
        {"name": name, "in": "query", "required": False, "schema": schema}
        for name, (schema, _) in fields_of(Import).items()
    ]
    upload = {"required": True, "content": {"application/octet-stream": {"schema": {}}}}
    return {
        "/v1/workspaces": {
            "get": _other("workspaces", "List the workspaces that the token opens.", "read", listing)
            | {"responses": _given(schema_of(shapes.Workspaces), changes=True)}
        },
        WORKSPACE: {
            "put": _other("init", "Make a workspace for an agent.", "admin", [_WORKSPACE])
            | {"responses": _given(schema_of(shapes.Workspace))}
        },
        f"{WORKSPACE}/trust": {
            "post": _other("trust", "Say that one which came from elsewhere is yours.", "admin", [_WORKSPACE])
            | {"responses": _given(schema_of(shapes.Workspace))}
        },
        f"{WORKSPACE}/import": {
            "post": _other("import", _IMPORT, "write", [_WORKSPACE, *importing, _PERSON])
            | {"requestBody": upload, "responses": _given(schema_of(results.Importing))}
        },
        f"{WORKSPACE}/export": {
            "get": _other("export", _EXPORT, "admin", [_WORKSPACE, _PERSON])
            | {"responses": _given({"type": "string", "format": "binary"}, media=ZIP)}
        },
        "/v1/openapi.json": {
            "get": _other("specification", "Return this specification.", "read", [])
            | {"responses": _given({"type": "object"}, changes=True)}
        },
    }


_IMPORT = "Take in conversations, another memory or an export, sent as the body; the same again adds nothing."
_EXPORT = "Send everything as a ZIP archive, loss-free: import takes it back."


def _other(name: str, summary: str, right: Right, parameters: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "operationId": name,
        "summary": summary,
        "description": _RIGHTS[right],
        "parameters": parameters,
        "x-right": right,
    }


def _given(schema: Mapping[str, Any], *, media: str = JSON, changes: bool = False) -> dict[str, Any]:
    return {
        "200": {"description": "What came of it.", "content": {media: {"schema": schema}}},
        **_problems(changes=changes),
    }
