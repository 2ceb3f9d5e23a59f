"""The generated page `docs/reference/http.md`.

Owns its layout; promises that it says of each operation what the specification does; never writes a file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from reverie.core.settings.http import HttpSettings
from reverie.surface.http.openapi import specification
from reverie.surface.http.problems import KINDS, TYPE
from reverie.surface.http.serving import JSON

_MOST = HttpSettings()
_HEAD = f"""\
# HTTP

Made from the code by `make reference`. How to use it is in [use over HTTP](../how-to/use-over-http.md); the whole
specification (OpenAPI 3.1) is [openapi.json](openapi.json), which the server has at `/v1/openapi.json`.

Every request carries `Authorization: Bearer TOKEN`; only `/healthz` needs none, and says nothing. `/metrics` is for
Prometheus. `user=NAME` in the query of an operation on a memory chooses a person's own.

An answer is JSON. A GET has an `ETag`: what is sent back as `If-None-Match` and has not changed is answered by 304. A
list with `next` in its answer goes on behind `cursor=NEXT`.

## Limits

These are the defaults of the table `[http]` in your own `config.toml` ([settings](settings.md)).

- Headers, with the address, hold at most {_MOST.max_header_bytes:,} bytes and arrive within
  {_MOST.header_seconds:g} seconds.
- A body holds at most {_MOST.max_body_bytes:,} bytes, its JSON is at most {_MOST.max_json_depth} deep, and it arrives
  within {_MOST.body_seconds:g} seconds. An upload has at most {_MOST.max_upload_bytes:,} bytes and
  {_MOST.upload_seconds:,.0f} seconds, and pauses no longer than {_MOST.body_seconds:g}.
- An answer that takes longer than {_MOST.answer_seconds:g} seconds is no longer waited for, and what was begun goes on;
  imports and exports are waited for to their end. A client that takes none of its answer for
  {_MOST.send_seconds:g} seconds is hung up on.
- A token sends at most {_MOST.requests_per_minute:,} requests a minute, a sixth of them at once. Without a valid token
  an address is told so {_MOST.refusals_per_minute} times a minute, which uses up no token's requests. Beyond that the
  answer is 429, and `Retry-After` says in how many seconds the next may come.
- Past {_MOST.max_connections} connections, or {_MOST.max_connections_per_address} from one address of another machine,
  a request is answered by 503 and its connection closed; `/healthz` is answered.
- A token has at most {_MOST.max_sessions_per_token} MCP sessions open; one that rests for {_MOST.session_seconds:,.0f}
  seconds is given up.

## Problems

An error is `application/problem+json`:

```json
{{
  "type": "{TYPE}NotFound",
  "title": "Nothing with that id or name exists in this workspace",
  "status": 404,
  "detail": "no entry has an id that begins with 2b47",
  "remedy": "look for what there is, then ask for that",
  "retryable": false,
  "class": "NotFound",
  "exit_code": 66
}}
```

`class`, `exit_code`, `status` and `retryable` are those of [errors](errors.md). Where `retryable` is true,
`Retry-After` says in how many seconds. These are HTTP's own:

| class | status | try again | meaning |
|---|---|---|---|
"""


def http_reference() -> str:
    """Return the page: every operation with its right, its arguments, an example and what it gives."""
    problems = "".join(
        f"| `{one.name}` | {one.status} | {'yes' if one.retryable else 'no'} | {one.title}; {one.remedy}. |\n"
        for one in KINDS.values()
    )
    told = specification()
    parts = [_HEAD, problems, "\n## Operations\n"]
    for path, methods in told["paths"].items():
        parts += [
            _operation(path, method, told["components"]["schemas"], one) for method, one in methods.items()
        ]
    return "".join(parts)


def _operation(path: str, method: str, schemas: Mapping[str, Any], one: Mapping[str, Any]) -> str:
    body = one.get("requestBody", {}).get("content", {}).get(JSON, {})
    return (
        f"\n### `{method.upper()} {path}`\n\n{one['summary']} {one['description']} (`{one['operationId']}`)\n"
        + "".join(_table(one["parameters"], body.get("schema", {})))
        + "".join(_example(body))
        + _given(one["responses"]["200"]["content"], schemas)
    )


def _table(parameters: list[Mapping[str, Any]], body: Mapping[str, Any]) -> Iterator[str]:
    """Yield the table of arguments, those of every operation aside."""
    rows = [
        (one["name"], one["in"], one["schema"], one.get("description", ""), one["required"])
        for one in parameters
        if one["name"] not in {"workspace", "user"}
    ]
    for name, schema in body.get("properties", {}).items():
        rows.append((name, "body", schema, schema.get("description", ""), name in body.get("required", ())))
    if rows:
        yield "\n| argument | in | type | default | meaning |\n|---|---|---|---|---|\n"
    for name, place, schema, why, required in rows:
        default = (
            "required" if required else f"`{json.dumps(schema['default'])}`" if schema.get("default") else ""
        )
        yield f"| `{name}` | {place} | {_type(schema)} | {default} | {why} |\n"


def _type(schema: Mapping[str, Any]) -> str:
    """Return the type of an argument in a few words."""
    if "enum" in schema:
        return ", ".join(f"`{one or '…'}`" for one in schema["enum"] if one != "")
    if "anyOf" in schema:
        return " or ".join(_type(one) for one in schema["anyOf"])
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if schema.get("type") == "array" and schema.get("items"):
        return f"array of {_type(schema['items'])}"
    return str(schema.get("format", schema.get("type", "any")))


def _example(body: Mapping[str, Any]) -> Iterator[str]:
    if body.get("example"):
        yield f"\n```json\n{json.dumps(body['example'], ensure_ascii=False)}\n```\n"


def _given(content: Mapping[str, Any], schemas: Mapping[str, Any]) -> str:
    (media, told), *_ = content.items()
    schema = told["schema"]
    known = schemas.get(str(schema.get("$ref", "")).rpartition("/")[2], schema)
    fields = ", ".join(f"`{name}`" for name in known.get("properties", ()))
    return f"\nGives {f'{fields}.' if fields else f'`{media}`.'}\n"
