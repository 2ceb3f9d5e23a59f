"""The files of a workspace as a dream may read them: without what is forgotten, and no more at once than one can use.

Owns how a page, a log, the summaries and the history are shown; promises that no line is shown that says or cites
something forgotten, nor a summary of turns that hold it; never shows a file that `core.dreams.rights` does not name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from stat import S_ISDIR

import msgspec

from reverie import layout
from reverie.core.dreams.rights import REFUSED
from reverie.core.formats.utf8 import to_text
from reverie.errors import UnsafePath
from reverie.store import history, pages, summaries
from reverie.store.dreams import runs
from reverie.store.versions.git import History, unified_file
from reverie.store.workspace import Workspace

_OWN = re.compile(r"\^([0-9a-f]{16})[ \t]*$")
_LISTED = 400  # names in one answer
_GUIDANCE = 32_000  # characters of one page of guidance
_CONTEXT = 8_000  # characters of the history that come with a batch, and of what was undone
_UNDONE_RUNS = 5


class Veil(msgspec.Struct, frozen=True):
    """What is forgotten: `text` tells a line that says or cites it, `covers` turns of a session that hold it."""

    text: Callable[[str], bool] = lambda _: False
    covers: Callable[[str, str], bool] = lambda _session, _turns: False

    def __call__(self, line: str) -> bool:
        """Tell whether a line, of a page or of a log, may not be shown."""
        own = _OWN.search(line)
        return self.text(line) or (own is not None and self.text(f"[[{layout.ARCHIVE}/x#^{own[1]}]]"))


def shown(ws: Workspace, path: str, veil: Veil, *, text: str | None = None) -> str:
    """Return what may be read of a file, empty when it is absent; `text` is what a dream has laid over it.

    Raises UnsafePath for what must not be opened.
    """
    if path == layout.HISTORY:
        return "\n".join(said for _, _, said in _records(ws, veil))
    if path.startswith(f"{layout.SUMMARIES}/"):
        return "\n".join(_summary(ws, path, veil))
    if text is None:
        text = to_text(ws.disk.read(path))
    return "".join(_lines(text, veil))


def listed(ws: Workspace, folder: str, also: Iterable[str]) -> str:
    """Return what is in a folder, one name a line, folders with a slash; `also` are files that are laid over it."""
    found: set[str] = set()
    try:
        for name in ws.disk.list(folder):
            status = ws.disk.stat(f"{folder}/{name}")
            if not name.startswith(".") and status is not None:
                found.add(f"{name}/" if S_ISDIR(status.st_mode) else name)
    except UnsafePath as error:
        return f"{REFUSED}{error}"
    for path in also:
        if path.startswith(f"{folder}/"):
            name, slash, _ = path.removeprefix(f"{folder}/").partition("/")
            found.add(f"{name}{slash}")
    names = sorted(found)
    more = [f"… and {len(names) - _LISTED:,} more"] if len(names) > _LISTED else []
    return "\n".join([*names[:_LISTED], *more]) or "(nothing)"


def guidance(ws: Workspace, veil: Veil) -> str:
    """Return what the notebook says of itself: `schema.md`, and `dream.md` where a person wrote one."""
    found = (
        shown(ws, f"{ws.notebook}/{name}", veil)[:_GUIDANCE].strip() for name in ("schema.md", "dream.md")
    )
    return "\n\n".join(filter(None, found))


def history_of(ws: Workspace, veil: Veil, days: AbstractSet[str]) -> str:
    """Return the newest of what sessions of those days were condensed to, beside the entries read from their turns."""
    said = [said for day, raw, said in _records(ws, veil) if day in days and not raw]
    kept: list[str] = []
    for one in reversed(said):
        if sum(map(len, kept)) + len(one) > _CONTEXT:
            break
        kept.append(one)
    return "\n".join(reversed(kept))


def undone_of(ws: Workspace, veil: Veil, ids: AbstractSet[str]) -> str:
    """Return what runs that a person took back for another try had changed on pages about these entries, as diffs."""
    every = {one.run: one for one in runs.read(ws)}
    undone = [one for one in every.values() if one.kind == "undo" and one.counts.get("pending")]
    again = [every[one.undoes] for one in undone if one.undoes in every]
    past, found = History(ws), ""
    for run in reversed(again[-_UNDONE_RUNS:]):
        for change in past.diff(run.parent or None, run.commit) if run.commit else ():
            if not pages.is_page(ws, change.path) or change.path == f"{ws.notebook}/{layout.OVERVIEW}":
                continue
            lines = unified_file(change).splitlines(keepends=True)
            if any(f"#^{id_}]]" in line for id_ in ids for line in lines):
                found += "".join(line for line in lines if not veil(line[1:].rstrip("\r\n")))
    return found if len(found) <= _CONTEXT else f"{found[:_CONTEXT]}\n…"


def _lines(text: str, veil: Veil) -> Iterator[str]:
    """Yield the lines that may be shown; what is indented beneath a hidden one goes with it."""
    hidden_at = -1
    for line in text.splitlines(keepends=True):
        depth = len(line) - len(line.lstrip())
        if hidden_at >= 0 and line.strip() and depth > hidden_at:
            continue
        hidden_at = depth if veil(line.rstrip("\r\n")) else -1
        if hidden_at < 0:
            yield line


def _records(ws: Workspace, veil: Veil) -> Iterator[tuple[str, bool, str]]:
    """Yield day, whether it is raw, and what may be shown of each record of the history."""
    for record in history.read(ws):
        if not veil.covers(record.session, record.turns):
            said = "\n".join(line for line in record.content.splitlines() if not veil.text(line))
            day = ws.calendar.day(record.timestamp)
            head = f"## {day}, session {record.session}, turns {record.turns}"
            yield day, record.raw, f"{head}\n{said}\n"


def _summary(ws: Workspace, path: str, veil: Veil) -> Iterator[str]:
    found = summaries.read(ws, path)
    for section in found.sections:
        if not veil.covers(found.session, f"{section.first}-{section.last}"):
            yield f"## {found.day}, turns {section.first}-{section.last}"
            yield from (f"- {item.text}" for item in section.items if not veil.text(item.text))
