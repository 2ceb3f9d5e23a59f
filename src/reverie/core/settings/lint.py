"""The settings of `lint`.

Owns the `[lint]` table; promises nothing that `core.settings.value` does not; never reads a file.
"""

from __future__ import annotations

from dataclasses import dataclass

from reverie.core.settings.keys import key


@dataclass(frozen=True, slots=True, kw_only=True)
class LintSettings:
    """When the notebook is looked over by itself."""

    enabled: bool = key(
        "Whether the notebook is looked over as part of `consolidate`, once nothing waits for a dream.",
        default=True,
        here=True,
        seed="memory_lint_enabled",
    )
    min_days: int = key(
        "Days between two such looks.", default=7, within=(0, 366), here=True, seed="memory_lint_min_days"
    )
    editorial: bool = key(
        "Whether the model that dreams, where there is one, then looks the pages over, too.",
        default=True,
        here=True,
    )
