"""Whether what a dream proposes for USER.md, SOUL.md or a skill is put before a person.

Owns the rules for files that are no pages; promises that nothing which strangers said, no secret and nothing forgotten
is proposed, that no proposal empties a file, that a skill cites three occasions on which it was said, and that a
refusal says why; never looks at the disk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from reverie.core.dreams import page_rules, skilled
from reverie.core.dreams.batch import Part
from reverie.core.dreams.page_rules import Change, Surroundings, added_lines
from reverie.core.formats.utf8 import to_bytes
from reverie.core.pages.citations import citations
from reverie.core.pages.source import split
from reverie.core.records import Entry
from reverie.core.text.said import sources

Occasions = Callable[[str], Sequence[Entry]]  # those on which an entry was said by the user or the agent


def edit_problem(
    change: Change,
    parts: Iterable[Part],
    *,
    masked: Callable[[str], bool],
    allow: tuple[str, ...] = (),
    occasions: Occasions | None = None,
) -> str:
    """Return why a change of such a file is not proposed, empty when it is.

    `parts` are the batch: of it only what the user or the agent said themselves may be drawn on, and for a skill (whose
    `occasions` are looked up) what it cites.
    """
    new, old = change.new or "", change.old or ""
    if not split(new).body.strip():
        return "nothing would be left of it"
    if len(to_bytes(new)) > skilled.MAX_BYTES:
        return f"it would have more than {skilled.MAX_BYTES // 1000} kB"
    near = Surroundings(
        existing=frozenset(),
        folded=frozenset(),
        proposed=frozenset(),
        moved=page_rules.said_lines([new]),
        masked=masked,
        allow=allow,
    )
    if reason := page_rules.words_problem(change, near):
        return reason
    told = [one.state.entry for one in parts if not one.raw]
    if occasions is not None:
        if reason := skilled.problem(change.path, new, masked=masked, allow=allow):
            return reason
        cited = {one.id: occasions(one.id) for one in citations(new)}
        if reason := _unseen(cited):
            return reason
        told += [one for said in cited.values() for one in said]
    own = (f"{one.text}\n{one.evidence}\n{one.day}" for one in told if skilled.is_own(one))
    added = "\n".join(line for line in added_lines(old, new) if not line.startswith("#"))
    if novel := sources([*own, old]).novel(page_rules.wording(added)):
        return f"it states {novel}, which neither the user nor the agent said"
    return ""


def _unseen(cited: Mapping[str, Sequence[Entry]]) -> str:
    """Return what a skill lacks of the occasions that it must cite, empty when nothing, by those of each id cited."""
    if strange := sorted(one for one, said in cited.items() if not said):
        return f"it cites {strange[0]}, which neither the user nor the agent said"
    seen = {(one.session, one.day) for said in cited.values() for one in said}
    if len(seen) < skilled.OCCASIONS:
        return f"it cites {len(seen)} of {skilled.OCCASIONS} occasions on which it was said"
    return ""
