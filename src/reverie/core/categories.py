"""The known categories, in one table.

Owns each category's MEMORY.md section, whether it decays, its default significance, and the names it is also
known by; promises that every slug, known or not, has a category; never decides what belongs to one.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from functools import lru_cache

import msgspec

from reverie.core.text.names import valid_category

DEFAULT_SIG = 0.5


class Category(msgspec.Struct, frozen=True):
    """A category: its slug, its MEMORY.md section, whether its entries fade, and their `sig` when none is given.

    Every default stays below 0.70: at 0.70 an entry refreshes MEMORY.md at once and a dream may not decline
    it, which must be somebody's judgement, not a category's.
    """

    name: str
    section: str
    decays: bool = True
    sig: float = DEFAULT_SIG


CATEGORIES: dict[str, Category] = {
    row.name: row
    for row in (
        Category("procedure", "Capabilities", decays=False, sig=0.6),
        Category("commitment", "Commitments (due / overdue)", sig=0.65),
        Category("fact", "Core Facts", sig=0.5),
        Category("decision", "Key Decisions", decays=False, sig=0.6),
        Category("episode", "Key Episodes", sig=0.4),
        Category("preference", "Preferences", sig=0.55),
        Category("personal", "Personal", decays=False, sig=0.6),
        Category("work", "Work", sig=0.5),
        Category("project", "Projects", sig=0.5),
        Category("technical", "Technical", sig=0.45),
        Category("goal", "Goals", sig=0.6),
        Category("lesson", "Lessons", sig=0.6),
    )
}

ALIASES: dict[str, str] = {
    "user_preference": "preference",
    "project_fact": "project",
    "technical_decision": "decision",
    "personal_info": "personal",
    "event": "episode",
}


@lru_cache(maxsize=1024)
def category(name: str) -> Category:
    """Return the category called `name`, under any of its names.

    An unknown one has a section of its own title, decays, and starts at 0.5.
    """
    slug = valid_category(name)
    known = CATEGORIES.get(slug) or CATEGORIES.get(ALIASES.get(slug.replace("-", "_"), ""))
    return known or Category(slug, _title(slug))


@lru_cache(maxsize=1024)
def names_of(name: str) -> tuple[str, ...]:
    """Return every slug by which the category called `name` may stand in a log, its own first.

    What Reverie writes is the first; people write the others, and the lines stay as they wrote them.
    """
    slug = category(name).name
    others = [alias for alias, meant in ALIASES.items() if meant == slug]
    return tuple(dict.fromkeys((slug, *others, *(one.replace("_", "-") for one in others))))


def hint(name: str) -> str:
    """Return what to say of a category that is none of the known ones, with the one it resembles; empty for those.

    Categories are free, so it is no mistake; but it may be a slip, which nobody finds under the name that was meant.
    """
    if not name or category(name).name in CATEGORIES:
        return ""
    slug = category(name).name
    near = get_close_matches(slug, (*CATEGORIES, *ALIASES), n=1, cutoff=0.75)
    meant = f"did you mean {category(near[0]).name}?" if near else f"known are {', '.join(CATEGORIES)}"
    return f"{slug} is a category of your own; {meant}"


def _title(slug: str) -> str:
    return " ".join(word[:1].upper() + word[1:] for word in re.split(r"[-_]+", slug))
