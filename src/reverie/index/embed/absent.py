"""An embedder that was chosen and cannot be used, because numpy is not installed.

Owns saying so; promises that whatever is asked of it fails as a server that is down does, so that words go on finding
everything and `status` names the remedy; loads nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from reverie.errors import EmbedderFailed

if TYPE_CHECKING:
    from reverie.index.embedder import Vectors


class Absent:
    """The place of an embedder called `name`; `install` is what pip has to be told."""

    def __init__(self, name: str, *, install: str) -> None:
        """Remember what to say."""
        self.name = name
        self._said = f"the embedder {name} needs numpy, which is not installed; run `pip install {install}`"

    @property
    def dimension(self) -> int:
        """Raise EmbedderFailed."""
        self._fail()

    def fingerprint(self) -> str:
        """Raise EmbedderFailed."""
        self._fail()

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:  # noqa: ARG002 - an embedder's
        """Raise EmbedderFailed."""
        self._fail()

    def _fail(self) -> NoReturn:
        raise EmbedderFailed(self._said, kind="missing")
