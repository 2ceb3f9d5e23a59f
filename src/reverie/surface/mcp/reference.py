"""The generated page `docs/reference/mcp.md`.

Owns its layout; promises that it says what a client is told, word for word; never writes a file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from reverie.surface.mcp.answers import ERROR
from reverie.surface.mcp.fields import Field
from reverie.surface.mcp.prompts import PROMPTS
from reverie.surface.mcp.resources import MARKDOWN, TEMPLATES, uri_of
from reverie.surface.mcp.server import INSTRUCTIONS
from reverie.surface.mcp.table import ON_DEMAND, TOOLS
from reverie.surface.mcp.tools import Tool

_HEAD = f"""\
# MCP

Made from the code by `make reference`. How to connect a client is in
[use with MCP clients](../how-to/use-with-mcp-clients.md).

`reverie mcp` serves one workspace to one client on standard input and output, by the official SDK. Where no workspace
is at the place named, or it is not trusted yet, the server starts all the same, and each tool answers with what to do.

An argument may be null, which is the same as leaving it out; a number may come as text, and a list as a single text.
An error is a tool result with `isError`: its text begins with the error's class and exit code of
[errors](errors.md) and says what to do; the same stands in `_meta` under `{ERROR}`. Erase, undo, restore, trust and
settings are not offered: they are for a person at the command line.

## Tools
"""

_LENDING = """
## Tools for a host's own model

Offered only where the user's own settings say so: `mcp.host_model`, or `reverie mcp --host-model`. How to use them is
in [dream with your own agent](../how-to/dream-with-your-own-agent.md).
"""

_RESOURCES = f"""
## Resources

All are `{MARKDOWN}`, read through the mask of what is forgotten and without the entries that are hidden.

| address | what |
|---|---|
| `{uri_of("MEMORY.md")}` | What is worth having in mind, sized for a context window. |
"""


_KINDS = {"texts": "array of strings", "objects": "array of objects"}


def mcp_reference() -> str:
    """Return the page: every tool with its arguments, the resources, the prompts, the server's introduction."""
    rows = "".join(f"| `{one.form}` | {one.what} |\n" for one in TEMPLATES)
    prompts = "".join(
        f"\n### `{one.name}`\n\n{one.summary}\n\n{''.join(_arguments(one.fields))}" for one in PROMPTS
    )
    said = f"\n## What the server says of itself\n\n```text\n{INSTRUCTIONS}```\n"
    return (
        _HEAD
        + "".join(map(_tool, TOOLS))
        + _LENDING
        + "".join(map(_tool, ON_DEMAND))
        + _RESOURCES
        + rows
        + "\n## Prompts\n"
        + prompts
        + said
    )


def _tool(tool: Tool) -> str:
    hints = {
        "reads only": tool.reads,
        "destructive": tool.destroys,
        "idempotent": tool.repeats,
    }
    told = ", ".join(name for name, holds in hints.items() if holds) or "adds"
    output = ", ".join(f"`{name}`" for name in tool.output["properties"])
    return (
        f"\n### `{tool.name}`\n\n{tool.summary}\n\n"
        f"Hints: {told}. Structured output: {output}.\n\n{''.join(_arguments(tool.fields))}"
    )


def _arguments(fields: tuple[Field, ...]) -> Iterator[str]:
    """Yield the table of arguments, or that there are none."""
    if not fields:
        yield "It takes no arguments.\n"
        return
    yield "| argument | type | default | meaning |\n|---|---|---|---|\n"
    for one in fields:
        kind = _KINDS.get(one.kind) or str(one.schema["type"])
        default = (
            "required" if one.required else f"`{json.dumps(one.default)}`" if one.default is not None else ""
        )
        meaning = one.why + (f" One of {', '.join(one.choices)}." if one.choices else "")
        if one.within:
            meaning += f" From {one.within[0]:g} to {one.within[1]:,g}.".replace(",", "_")
        yield f"| `{one.name}` | {kind} | {default} | {meaning} |\n"
