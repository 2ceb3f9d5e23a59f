"""The settings of the MCP server, and of what a host's own model may do.

Owns the table `[mcp]`; promises that a workspace's own file can make the server do nothing it would not do anyway.
"""

from __future__ import annotations

from dataclasses import dataclass

from reverie.core.settings.keys import key


@dataclass(frozen=True, slots=True, kw_only=True)
class McpSettings:
    """Whether `reverie mcp` runs what is due while nobody asks, after how long, and whether hosts' models may work."""

    consolidate: bool = key(
        "Whether `reverie mcp` runs `consolidate` while its client is idle; one process a workspace does.",
        default=True,
        here=True,
    )
    idle_seconds: float = key(
        "How long the client must have been idle before that.", default=60.0, within=(0.1, 86_400), here=True
    )
    # Refused in a workspace's own file: such a model may have a shell and the web.
    host_model: bool = key(
        "Whether a host's own model may dream and read turns, through the tools `memory_dream_*` and"
        " `memory_extract_*` or the verbs of the same names.",
        default=False,
    )
