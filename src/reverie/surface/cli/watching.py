"""A bar for work that takes long, told from the files it writes: consolidate, extract, reindex, dream, erase.

Owns the bar and the counts behind it; promises that looking on changes nothing and takes no lock, that the work is the
same whether or not anybody looks on, and that nothing is shown where no person sees it; never reads what stands in a
file.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from reverie import layout

_EVERY = 0.2  # seconds between two looks
_GROWTH = 2.5  # bytes of the derived folder for one of the files it is made from, about; asked only where there is none
_READ_FROM = (layout.SESSIONS, layout.ARCHIVE, layout.NOTEBOOK, layout.HISTORY)


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """Work that can be watched: `count` says how much of `total` is done now; a total of 0 is not known."""

    name: str
    unit: str
    count: Callable[[], int]
    total: int = 0


@contextmanager
def watched(work: Callable[[], Work], *, quiet: bool) -> Iterator[None]:
    """Show how far the work within has come and the time left, on standard error, where a person sees it.

    `work` is asked only when something is shown, before anything is done.
    """
    if quiet or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    wanted, stop = work(), threading.Event()
    left = TimeRemainingColumn() if wanted.total else TimeElapsedColumn()
    said = "{task.completed:,.0f}" + (" of {task.total:,.0f}" if wanted.total else "") + f" {wanted.unit}"
    columns = (TextColumn(wanted.name), BarColumn(), TextColumn(said), left)
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(wanted.name, total=wanted.total or None)

        def look() -> None:
            while not stop.wait(_EVERY):
                done = wanted.count()
                bar.update(task, completed=min(done, wanted.total) if wanted.total else done)

        watcher = threading.Thread(target=look, name="watching", daemon=True)
        watcher.start()
        try:
            yield
        finally:
            stop.set()
            watcher.join()


def adding(root: Path, name: str) -> Work:
    """Return the reading of turns and what follows it, measured by what it adds to the journal, the logs and the index.

    How much that will be is not known: most turns say nothing that is kept.
    """
    places = [root / one for one in (layout.JOURNAL, layout.ARCHIVE, layout.NOTEBOOK, layout.INDEX)]

    def size() -> int:
        return sum(map(_kilobytes, places))

    begun = size()
    return Work(name=name, unit="kB written", count=lambda: max(0, size() - begun))


def reindexing(root: Path) -> Work:
    """Return the building of the derived folder, measured by its bytes against those it has now, or will have about."""
    folder = root / layout.INDEX

    def size() -> int:
        return _kilobytes(folder)

    expected = _GROWTH * sum(_kilobytes(root / name) for name in _READ_FROM)
    return Work(name="reindex", unit="kB", count=size, total=size() or round(expected))


def dreaming(root: Path, pending: int) -> Work:
    """Return a dream, measured by the lines of outcomes it stores for the entries that were pending."""
    place = root / layout.OUTCOMES
    begun = place.stat().st_size if place.exists() else 0

    def settled() -> int:
        with suppress(OSError), place.open("rb") as file:
            file.seek(begun)
            return sum(1 for _ in file)
        return 0

    return Work(name="dream", unit="entries settled", count=settled, total=pending)


def erasing(root: Path, places: int) -> Work:
    """Return an erase, measured by the files it has written anew, of which a dry run counted `places`."""
    before = {path: status.st_ino for path, status in _files(root)}

    def changed() -> int:
        return sum(before.get(path) != status.st_ino for path, status in _files(root) if path in before)

    return Work(name="erase", unit="files written anew", count=changed, total=places)


def _kilobytes(place: Path) -> int:
    """Return the size of a file, or of the files beneath a folder."""
    if place.is_file():
        return place.stat().st_size // 1_000
    return sum(status.st_size for _, status in _files(place)) // 1_000


def _files(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Yield the files beneath a folder, in which others may be making and removing some."""
    for above, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(above, name)  # noqa: PTH118 - tens of thousands, several times a second
            with suppress(OSError):
                yield path, os.lstat(path)
