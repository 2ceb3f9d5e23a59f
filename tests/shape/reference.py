"""Makes the pages of docs/reference/ from the code they describe: `python tests/shape/reference.py` writes them.

Owns the list of pages; promises that a page is what its function in the package returns; never adds a word of its own.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from source import ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping

# Each page and the function that returns its text, as `module:function`.
GENERATED: Mapping[str, str] = {
    "docs/reference/cli.md": "reverie.surface.cli.reference:cli_reference",
    "docs/reference/errors.md": "reverie.surface.cli.reference:errors_reference",
    "docs/reference/json.md": "reverie.surface.cli.json_reference:json_reference",
    "docs/reference/json-schema.json": "reverie.surface.cli.json_reference:json_schema_page",
    "docs/reference/http.md": "reverie.surface.http.reference:http_reference",
    "docs/reference/mcp.md": "reverie.surface.mcp.reference:mcp_reference",
    "docs/reference/openapi.json": "reverie.surface.http.openapi:openapi_json",
    "docs/reference/settings.md": "reverie.config:reference_table",
}


def make(place: str) -> str:
    """Return the text that the function at `place` (`module:function`) generates."""
    module, _, function = place.partition(":")
    return str(getattr(importlib.import_module(module), function)())


if __name__ == "__main__":
    for path, place in GENERATED.items():
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(make(place), encoding="utf-8")
