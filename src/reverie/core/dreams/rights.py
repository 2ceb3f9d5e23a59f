"""What a dream may read and what it may write, by path.

Owns the two lists; promises that every name which is not on one of them is refused, however it is spelled, and that a
refusal says why; never looks at the disk, which refuses links and second names by itself. A guest, which is a model
that a host drives and that may have a shell and the web, gets neither skills nor SOUL.md.

A path is given from the workspace on (`notebook/3_Personal/Work.md`); a page may also be named from its zone on.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

import msgspec

from reverie import layout
from reverie.core.dreams.page_rules import Change, Surroundings, fold_path, path_problem

Kind = Literal["page", "skill", "core"]
REFUSED = "refused: "  # how the answer of a tool begins that changed nothing

_FOLDERS = (layout.ARCHIVE, layout.SUMMARIES, layout.SKILLS)
_FILES = (layout.HISTORY, layout.USER, layout.SOUL)
_CORE = (layout.USER, layout.SOUL)
_NO_GUEST = "that is not for a model that a host drives: it neither reads nor writes skills and SOUL.md"
_SKILL = re.compile(rf"{layout.SKILLS}/[a-z0-9]+(?:-[a-z0-9]+)*/SKILL\.md")
_SKILL_BYTES = 64 + len(f"{layout.SKILLS}//SKILL.md")
_LONGEST = 1_000  # characters of a path
_NOWHERE = Surroundings(
    existing=frozenset(),
    folded=frozenset(),
    proposed=frozenset(),
    moved=frozenset(),
    masked=lambda _: False,
)


class Refused(msgspec.Struct, frozen=True):
    """A path that may not be used so, and why."""

    reason: str


class Target(msgspec.Struct, frozen=True):
    """Where a dream may write: a `page` by its path in the notebook, a `skill` or `core` file by the workspace's."""

    kind: Kind
    path: str


def spelled(path: str, notebook: str) -> str | Refused:
    """Return a path from the workspace on in its one spelling; a zone's name stands for the notebook's folder."""
    path = path.strip()
    if not path or len(path) > _LONGEST or any(not char.isprintable() or char == "\\" for char in path):
        return Refused("that is no path: write it like notebook/3_Personal/Work.md")
    path = unicodedata.normalize("NFC", path.removeprefix("./").removesuffix("/"))
    names = path.split("/")
    if any(name in ("", ".", "..") or name.startswith((".", "~")) or "%" in name for name in names):
        return Refused(f"{path[:80]} is hidden or leads elsewhere")
    if not _is_beneath(path, notebook) and names[0] in {zone.partition("/")[0] for zone in layout.ZONES}:
        return f"{notebook}/{path}"
    return path


def readable(path: str, notebook: str, *, guest: bool = False) -> str | Refused:
    """Return the path of a file or folder that may be read, in its one spelling, or why it may not."""
    found = spelled(path, notebook)
    if isinstance(found, Refused):
        return found
    if guest and kept_from_guests(found):
        return Refused(_NO_GUEST)
    allowed = found in _FILES or any(_is_beneath(found, folder) for folder in (notebook, *_FOLDERS))
    if allowed:
        return found
    near = next((one for one in (*_FILES, *_FOLDERS, notebook) if fold_path(one) == fold_path(found)), "")
    hint = f"; it is spelled {near}" if near else ""
    return Refused(f"{found[:80]} is not for a dream to read{hint}")


def kept_from_guests(path: str) -> bool:
    """Tell whether a path from the workspace on is one that no guest reads or writes."""
    return path == layout.SOUL or _is_beneath(path, layout.SKILLS)


def writable(path: str, notebook: str, *, guest: bool = False) -> Target | Refused:
    """Return where a dream may write, or why it may not write there."""
    found = spelled(path, notebook)
    if isinstance(found, Refused):
        return found
    if guest and kept_from_guests(found):
        return Refused(_NO_GUEST)
    if found in _CORE:
        return Target("core", found)
    if _is_beneath(found, layout.SKILLS):
        if _SKILL.fullmatch(found) and len(found) <= _SKILL_BYTES:
            return Target("skill", found)
        return Refused(
            "a skill is skills/<name>/SKILL.md, its name in lower-case letters, digits and hyphens"
        )
    if not _is_beneath(found, notebook):
        return Refused(
            f"{found[:80]} is not for a dream to write: it writes pages, skills, USER.md and SOUL.md"
        )
    page = found.removeprefix(f"{notebook}/")
    if page == layout.OVERVIEW:
        return Refused("the overview is compiled from the other pages of its zone")
    if reason := path_problem(Change(page, None, ""), _NOWHERE):
        return Refused(reason)
    return Target("page", page)


def may_change(page: str) -> bool:
    """Tell whether a dream may change a page by its path in the notebook: not outside the zones, nor of any name."""
    return page != layout.OVERVIEW and not path_problem(Change(page, "", ""), _NOWHERE)


def _is_beneath(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")
