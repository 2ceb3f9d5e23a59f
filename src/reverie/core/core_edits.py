"""Whether what a dream proposes for USER.md, SOUL.md or a skill is put before a person.

Owns the rules for files that are no pages; promises that nothing which strangers said, no secret and nothing forgotten
is proposed, that no proposal empties a file, and that a refusal says why; never looks at the disk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from reverie.core import front_matter, page_rules
from reverie.core.batch import Part
from reverie.core.page_rules import Change, Surroundings, added_lines
from reverie.core.said import sources
from reverie.core.source import split

OWN = frozenset({"user", "agent"})  # whose words may reach these files
MAX_BYTES = 16_000


def edit_problem(
    change: Change,
    parts: Iterable[Part],
    *,
    masked: Callable[[str], bool],
    allow: tuple[str, ...] = (),
    skill: bool = False,
) -> str:
    """Return why a change of such a file is not proposed, empty when it is.

    `parts` are the batch: of it only what the user or the agent said themselves may be drawn on.
    """
    new, old = change.new or "", change.old or ""
    if not split(new).body.strip():
        return "nothing would be left of it"
    if len(new.encode("utf-8", "surrogateescape")) > MAX_BYTES:
        return f"it would have more than {MAX_BYTES // 1000} kB"
    near = Surroundings(
        existing=frozenset(),
        folded=frozenset(),
        proposed=frozenset(),
        moved=page_rules.said_lines([new]),
        masked=masked,
        allow=allow,
    )
    if reason := page_rules.words_problem(change, near) or (_skill_problem(new) if skill else ""):
        return reason
    said = (
        f"{one.state.entry.text}\n{one.state.entry.evidence}\n{one.state.entry.day}"
        for one in parts
        if not one.raw and one.state.entry.origin in OWN and one.state.entry.status == "active"
    )
    added = "\n".join(line for line in added_lines(old, new) if not line.startswith("#"))
    if novel := sources([*said, old]).novel(page_rules.without_links(added)):
        return f"it states {novel}, which neither the user nor the agent said"
    return ""


def _skill_problem(new: str) -> str:
    front = front_matter.read(split(new).front)
    if front.problems:
        return front.problems[0]
    fields = {line.partition(":")[0].strip() for line in (split(new).front or "").splitlines()}
    lacking = [name for name in ("name", "description") if name not in fields]
    return f"the skill's front matter has no {lacking[0]}" if lacking else ""
