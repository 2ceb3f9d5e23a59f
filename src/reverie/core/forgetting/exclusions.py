"""Topics that are never stored.

Owns matching a text against the excluded topics; promises that a topic matches whole words only ("art" is not in
"start"); never looks at meaning.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from reverie.core.text.tokens import normalise


@lru_cache(maxsize=64)
def _pattern(topic: str) -> re.Pattern[str]:
    """Return the pattern of `topic`: bounded by word borders where it begins or ends with an ASCII word character.

    Chinese and Japanese write no blanks between words, so a border there would never match.
    """
    wanted = normalise(topic)
    before = r"(?<![^\W_])" if wanted[:1].isascii() and wanted[:1].isalnum() else ""
    after = r"(?![^\W_])" if wanted[-1:].isascii() and wanted[-1:].isalnum() else ""
    return re.compile(before + re.escape(wanted) + after)


def excluded_by(text: str, topics: Sequence[str]) -> str:
    """Return the first topic that `text` mentions, or nothing."""
    plain = normalise(text) if topics else ""
    return next((topic for topic in topics if topic.strip() and _pattern(topic).search(plain)), "")
