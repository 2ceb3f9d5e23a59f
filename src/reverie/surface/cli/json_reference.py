"""The generated pages of what commands answer with `--json`: `docs/reference/json.md` and the schema beside it.

Owns their layout; promises that both are made from the types in `answers`; never writes a file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from reverie.surface.cli.answers import ANSWERS, NO_ANSWER, Failure
from reverie.surface.results import EntryNow, entry_schema

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_PLACE = "#/$defs/"

_PAGE = """\
# What commands answer with `--json`

Made from the code by `make reference`. With `--json`, standard output holds exactly one JSON value on one line. As a
schema: [json-schema.json](json-schema.json), whose `commands` maps each command to the schema of its value.

- Instants are RFC 3339 in UTC, days `YYYY-MM-DD`, durations seconds.
- Within one major version members are added and none is removed or changes its meaning: take what you do not know.
- A member that is *optional* is left out where it has its default.
- An error is a value too: `{"error": {"class": …, "message": …, "exit_code": …, "retryable": …}}`. After a value of
  their own, `import` and `capture` may exit 65, `check` and `doctor` 1.

"""

Schema = Mapping[str, Any]


def json_schema() -> dict[str, Any]:
    """Return the schema of every command's value, with the types they share."""
    kinds = sorted({kind for kinds in ANSWERS.values() for kind in kinds}, key=str)
    made, parts = msgspec.json.schema_components(
        [*kinds, Failure], schema_hook=lambda _: {"type": "string"}, ref_template=f"{_PLACE}{{name}}"
    )
    of = dict(zip(map(str, kinds), made, strict=False))
    return {
        "$schema": DIALECT,
        "title": "What the commands of reverie answer with --json",
        "commands": {
            name: of[str(kinds[0])] if len(kinds) == 1 else {"anyOf": [of[str(kind)] for kind in kinds]}
            for name, kinds in ANSWERS.items()
        },
        "error": made[-1],
        "$defs": {name: _whole(name, part) for name, part in sorted(parts.items())},
    }


def json_schema_page() -> str:
    """Return the file `docs/reference/json-schema.json`."""
    return json.dumps(json_schema(), indent=1, ensure_ascii=False) + "\n"


def json_reference() -> str:
    """Return the page: what each command answers, then the types that those name."""
    whole = json_schema()
    lines = [_PAGE, "| command | answers |\n|---|---|\n"]
    lines += [f"| `{name}` | {_kind(schema)} |\n" for name, schema in whole["commands"].items()]
    lines += [f"| `{name}` | nothing of its own: {why} |\n" for name, why in NO_ANSWER.items()]
    for name, part in whole["$defs"].items():
        lines += _section(name, part)
    return "".join(lines)


def _section(name: str, part: Schema) -> Iterator[str]:
    """Yield the section of one type."""
    yield f"\n## {name}\n"
    if part.get("description"):
        yield f"\n{' '.join(part['description'].split())}\n"
    if not part.get("properties"):
        return
    yield "\n| member | | |\n|---|---|---|\n"
    for member, schema in part["properties"].items():
        always = "" if member in part.get("required", ()) else "optional"
        yield f"| `{member}` | {_kind(schema)} | {always} |\n"


def _kind(schema: Schema) -> str:
    """Return in a few words what a schema admits."""
    if "$ref" in schema:
        name = schema["$ref"].removeprefix(_PLACE)
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_kind(one) for one in schema["anyOf"]))
    if "enum" in schema:
        return ", ".join(f"`{one}`" if one is not None else "null" for one in schema["enum"])
    if schema.get("type") == "array":
        inner = schema.get("items") or {}
        return f"list of {_kind(inner)}" if inner else "list"
    if schema.get("type") == "object" and isinstance(schema.get("additionalProperties"), Mapping):
        return f"object of {_kind(schema['additionalProperties'])}"
    return str(schema.get("format") or schema.get("type") or "any")


def _whole(name: str, part: dict[str, Any]) -> dict[str, Any]:
    """Return a type's schema as its values are: an entry flat, and without members that are not named."""
    flat = entry_schema()
    if name == EntryNow.__name__:
        part = flat
    elif name in {kind.__name__ for kind in EntryNow.__subclasses__()}:
        properties = {**flat["properties"], **part["properties"]}
        part = {**part, "properties": properties, "required": [*flat["required"], *part.get("required", ())]}
    text = json.dumps(part).replace("#/components/schemas/", _PLACE)
    part = json.loads(text)
    return {**part, "additionalProperties": False} if part.get("properties") else part
