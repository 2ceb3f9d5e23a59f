"""What a dream says it did: its commit message and its summary.

Owns both wordings; promises that they are counted from what was installed, never from what a dreamer claims.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Mapping

import msgspec

from reverie import layout
from reverie.core.text.plural import many

_RUN = "Run: "
_DREAM = re.compile(r"Dream of (.+): \d+ pages? changed, \d+ made$")
_CHANGED = re.compile(r"(?P<kind>[AM]) (?P<path>.+) \+(?P<added>\d+) -(?P<removed>\d+)")
_ORDER = ("cited", "merged", "superseded", "declined", "unprocessable")


class PageChange(msgspec.Struct, frozen=True):
    """How one page changed: its path in the notebook, lines added and removed, and whether it is new."""

    path: str
    added: int
    removed: int
    new: bool


def page_change(path: str, *, old: str | None, new: str) -> PageChange:
    """Count the lines that differ."""
    matcher = difflib.SequenceMatcher(None, (old or "").splitlines(), new.splitlines(), autojunk=False)
    added = removed = 0
    for kind, old_start, old_stop, new_start, new_stop in matcher.get_opcodes():
        if kind != "equal":
            removed += old_stop - old_start
            added += new_stop - new_start
    return PageChange(path, added, removed, old is None)


def commit_message(
    run: str, counts: Mapping[str, int], *, days: Iterable[str], changes: Iterable[PageChange]
) -> str:
    """Return the message of a run's commit: a line for people, what changed on each page, and the run's name."""
    covered = sorted(set(days))
    span = covered[0] if len(covered) == 1 else f"{covered[0]} to {covered[-1]}" if covered else "no day"
    return _message(run, counts, span=span, changes=changes)


def message_without(message: str, paths: Collection[str], *, counts: Mapping[str, int]) -> str:
    """Return a commit's message as it reads when the files at `paths` are not in it, and these outcomes are.

    `paths` are named as the message names them.
    """
    lines = message.splitlines()
    told = _DREAM.match(lines[0])
    if told is None:
        return "\n".join(line for line in lines if line not in paths) + "\n"
    found = (_CHANGED.fullmatch(line) for line in lines[1:])
    changes = [
        PageChange(one["path"], int(one["added"]), int(one["removed"]), one["kind"] == "A")
        for one in found
        if one is not None and one["path"] not in paths
    ]
    run = lines[-1].removeprefix(_RUN)
    return _message(run, counts, span=told[1], changes=changes)


def _message(run: str, counts: Mapping[str, int], *, span: str, changes: Iterable[PageChange]) -> str:
    listed = sorted(changes, key=lambda one: one.path)
    made = sum(one.new for one in listed)
    lines = [
        f"Dream of {span}: {many(len(listed) - made, 'page')} changed, {made} made",
        "",
        *(f"{'A' if one.new else 'M'} {one.path} +{one.added} -{one.removed}" for one in listed),
        *([""] if listed else []),
        summary(counts, sum(one.path != layout.OVERVIEW for one in listed)),
        f"{_RUN}{run}",
    ]
    return "\n".join(lines) + "\n"


def summary(counts: Mapping[str, int], pages: int) -> str:
    """Return what became of the entries: `412 entries: 230 cited on 18 pages, 96 merged, 86 superseded`."""
    total = sum(counts.get(kind, 0) for kind in _ORDER)
    said = [
        f"{number} {kind}" + (f" on {many(pages, 'page')}" if kind == "cited" else "")
        for kind in _ORDER
        if (number := counts.get(kind, 0))
    ]
    if not total:
        return "no entry was settled"
    entries = "entry" if total == 1 else "entries"
    return f"{total} {entries}: {', '.join(said)}"
