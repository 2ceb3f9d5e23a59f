"""What of a memory is switched off, in words.

Owns the sentences; promises that each names the setting or the command that switches it on; never looks at a file.
"""

from __future__ import annotations

from collections.abc import Iterator

from reverie.core.settings.value import Settings


def switched_off(settings: Settings, *, paused: bool, embeds: bool) -> Iterator[str]:
    """Yield what is off or not there; `paused` says that a file keeps capture off, `embeds` that texts are embedded."""
    if not settings.enabled:
        yield "memory is switched off (`enabled = false`)"
    if paused:
        yield "capture is paused (`reverie resume`)"
    if settings.model == "none":
        yield "no model: extraction and dreams go by rules (`model`)"
    if not embeds:
        yield "no embedder: recall goes by words (`embedder`)"
    if not settings.dream.enabled:
        yield "no dreams (`dream.enabled = false`)"
    if not settings.publish.auto_refresh:
        yield "MEMORY.md is not refreshed by itself (`publish.auto_refresh = false`)"
    if not settings.redaction:
        yield "secrets are not taken out (`redaction = false`)"
