"""The steps that not every process takes, each loaded when it is first taken.

Owns which these are; promises that opening a memory and taking a turn or a text in loads none of them; never says when
one is taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie.later import later

__all__ = [
    "check",
    "compact",
    "consolidate",
    "digest",
    "dream",
    "editorial",
    "extract",
    "handing",
    "importing",
    "indexing",
    "lint",
    "merging",
    "review",
    "skills",
    "stating",
    "status",
    "transfer",
    "undo",
]

if TYPE_CHECKING:
    from reverie import (
        check,
        compact,
        consolidate,
        digest,
        dream,
        editorial,
        extract,
        handing,
        importing,
        indexing,
        lint,
        merging,
        review,
        skills,
        stating,
        status,
        transfer,
        undo,
    )
else:
    check = later("reverie.check")
    compact = later("reverie.compact")
    consolidate = later("reverie.consolidate")
    digest = later("reverie.digest")
    dream = later("reverie.dream")
    editorial = later("reverie.editorial")
    extract = later("reverie.extract")
    handing = later("reverie.handing")
    importing = later("reverie.importing")
    indexing = later("reverie.indexing")
    lint = later("reverie.lint")
    merging = later("reverie.merging")
    review = later("reverie.review")
    skills = later("reverie.skills")
    stating = later("reverie.stating")
    status = later("reverie.status")
    transfer = later("reverie.transfer")
    undo = later("reverie.undo")
