"""The notebook as a dream sees it: the files as they are, with what the dream changed laid over them.

Owns what a run has read and would write; promises that the cost follows the pages touched (the notebook is listed once,
when something asks what there is), and that a page is given back with the bytes it was read with, so that a person's
edit meanwhile is noticed; never writes a file.

Pages are named relative to the notebook.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from functools import cached_property, lru_cache

from reverie.core.dreams.page_rules import as_spelled, fold_path, spellings
from reverie.core.formats.utf8 import to_bytes, to_text
from reverie.errors import UnsafePath
from reverie.store import pages
from reverie.store.versions.git import FileDiff, unified_file
from reverie.store.workspace import Workspace


class Staging:
    """The notebook's pages during one call; bytes that are no UTF-8 survive as surrogates."""

    def __init__(self, ws: Workspace) -> None:
        """List nothing and read nothing yet."""
        self._ws = ws
        self._read: dict[str, bytes | None] = {}
        self._over: dict[str, str] = {}

    @cached_property
    def every(self) -> set[str]:
        """Every file of the notebook that may be opened."""
        prefix = f"{self._ws.notebook}/"
        return {path.removeprefix(prefix) for path in self._ws.disk.walk(self._ws.notebook)} | {*self._over}

    @cached_property
    def paths(self) -> set[str]:
        """The content pages."""
        return {path for path in self.every if self._is_page(path)}

    @cached_property
    def folded(self) -> set[str]:
        """Every file as a file system sees it that knows neither case nor Unicode forms."""
        return {fold_path(path) for path in self.every}

    @cached_property
    def folders(self) -> dict[str, set[str]]:
        """How every folder that holds a file is spelled, by how such a file system sees it."""
        return spellings(self.every)

    def spelled(self, path: str) -> str:
        """Return a path with its folders spelled as those that stand."""
        return as_spelled(path, self.folders)

    def text(self, path: str) -> str | None:
        """Return a page's text, None when there is none or it may not be opened."""
        return self._over[path] if path in self._over else self.stored(path)

    def stored(self, path: str) -> str | None:
        """Return a page's text as its file holds it, whatever was laid over it."""
        data = self.data(path)
        return None if data is None else _decoded(data)

    def data(self, path: str) -> bytes | None:
        """Return the bytes of a file as they were when it was first read."""
        if path not in self._read:
            # Where the listing is there, it says without a look at the disk that most of what is asked for is not.
            listed = "every" not in self.__dict__ or path in self.every
            try:
                self._read[path] = self._ws.disk.read(f"{self._ws.notebook}/{path}") if listed else None
            except UnsafePath:
                self._read[path] = None
        return self._read[path]

    def put(self, changed: Mapping[str, str]) -> None:
        """Lay changed pages over the files."""
        self._over.update(changed)
        self._know(changed)

    def remember(self, path: str, data: bytes | None) -> None:
        """Take `data` for what the page held when this run first read it, in an earlier call."""
        self._read[path] = data

    def look_again(self, *, but: Container[str]) -> None:
        """Read files again when they are next asked for, and list them anew, `but` for some pages."""
        for path in [path for path in self._read if path not in but]:
            del self._read[path]
        for listing in ("every", "paths", "folded", "folders"):
            self.__dict__.pop(listing, None)

    def installed(self, changed: Mapping[str, str]) -> None:
        """Note that changed pages have become the files."""
        for path, text in changed.items():
            self._read[path] = to_bytes(text)
            self._over.pop(path, None)
        self._know(changed)

    def forget(self, path: str) -> None:
        """Read a page again when it is next asked for: a person changed it."""
        self._read.pop(path, None)
        self.every.add(path)

    def diff(self) -> str:
        """Return what is laid over the files as a unified diff."""
        return "".join(
            unified_file(FileDiff(f"{self._ws.notebook}/{path}", self.data(path), to_bytes(text)))
            for path, text in sorted(self._over.items())
        )

    def _is_page(self, path: str) -> bool:
        return pages.is_page(self._ws, f"{self._ws.notebook}/{path}")

    def _know(self, changed: Mapping[str, str]) -> None:
        if "every" not in self.__dict__:
            return  # the listing will find them
        self.every.update(changed)
        self.paths.update(path for path in changed if self._is_page(path))
        self.folded.update(fold_path(path) for path in changed)
        for folded, spelled in spellings(changed).items():
            self.folders.setdefault(folded, set()).update(spelled)


@lru_cache(maxsize=64)  # a page is asked for many times a night
def _decoded(data: bytes) -> str:
    return to_text(data)
