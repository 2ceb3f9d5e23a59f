"""Session summaries: what was said, a few turns at a time, one file a session and day.

Owns `summaries/`; promises that files only grow, that the turns of a session are summarised once, and that nothing
forgotten is read from them; never decides what a summary says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from reverie import layout
from reverie.core.fold import EntryState
from reverie.core.forgetting.mask import Mask
from reverie.core.sessions.summary import Item, Section, Summary, parse, title_of
from reverie.core.text.names import is_day, safe_name
from reverie.store.filesystem.extending import TailView
from reverie.store.workspace import Workspace

_DAY = 10  # characters of `2026-07-01`
_TAIL_BYTES = 65_536  # some forty sections; the last one names the last turn


def files(ws: Workspace, since: str = "", until: str = "9999-99-99") -> list[str]:
    """Return the paths of the summaries of the days from `since` to `until`, oldest first."""
    return [
        f"{layout.SUMMARIES}/{name}"
        for name in ws.disk.list(layout.SUMMARIES)
        if name.endswith(".md") and is_day(name[:_DAY]) and since <= name[:_DAY] <= until
    ]


def read(ws: Workspace, path: str) -> Summary:
    """Return the summary file at `path`; an absent one is empty."""
    return parse((ws.disk.read(path) or b"").decode("utf-8", "replace"))


def covered(ws: Workspace) -> dict[str, int]:
    """Return for each session, by its safe name, the ordinal of the last turn that is summarised."""
    reached: dict[str, int] = {}
    for path in files(ws):
        name = path.rsplit("/", 1)[-1][_DAY + 1 : -len(".md")]
        last = max((section.last for section in read(ws, path).sections), default=-1)
        reached[name] = max(reached.get(name, -1), last)
    return reached


def append(ws: Workspace, session: str, section: str, *, day: str) -> bool:
    """Append a section to the summaries of `session` on `day`, synced; False when its turns are summarised there.

    Raises StoreUnwritable or Busy; then nothing of it is stored.
    """
    first = parse(section).sections[0].first
    written: list[bool] = []

    def build(tail: TailView) -> bytes:
        before, whole = _newest(tail)
        if any(known.last >= first for known in before.sections):
            return b""
        written.append(True)
        # A torn section may have left the title incomplete; a second one does no harm, a missing name would.
        head = "" if before.day or not whole else title_of(day, session)
        return f"{head}{section}".encode("utf-8", "surrogatepass")

    ws.disk.append_under(layout.summary_file(day, safe_name(session)), build)
    return bool(written)


def _newest(tail: TailView) -> tuple[Summary, bool]:
    """Return the last sections of a file, and whether they are all: a long day is not read anew for each section."""
    start = max(0, tail.size - _TAIL_BYTES)
    text = tail.read(start, tail.size - start).decode("utf-8", "replace")
    begin = text.find("\n## ") + 1 if start else 0
    found = parse(text[begin:])
    if start and not (begin and found.sections):
        return parse(tail.read(0, tail.size).decode("utf-8", "replace")), True
    return found, start == 0


def shown(summary: Summary, known: Mapping[str, EntryState], *, masked: Mask) -> Iterator[Section]:
    """Yield the sections with the lines that still hold, newest first.

    A line on an entry holds while the entry is among `known` and current; one on a turn while nothing of that turn is
    forgotten. A model's line may draw on any turn of its section, so of such a section all lines hold or none.
    """

    def holds(item: Item) -> bool:
        if item.entry:
            return item.entry in known and known[item.entry].current and not masked.text(item.text)
        forgotten = masked.covers(summary.session, str(item.turn)) or masked.text(item.text)
        return item.turn >= 0 and not forgotten

    for section in reversed(summary.sections):
        span = f"{section.first}-{section.last}"
        if section.by and masked.covers(summary.session, span):
            continue
        items = tuple(filter(holds, section.items))
        yield Section(section.at, section.first, section.last, items, section.by)
