"""How many tokens a text takes, counted by a real tokeniser where one can be had without a network.

Owns where tiktoken's vocabularies are looked for; promises that nothing is downloaded, that a vocabulary whose SHA-256
is not the known one is not used, and that without one the calibrated estimate of `core.text.tokens` counts; never
imports tiktoken before a text is counted by it.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

from reverie.core.text.tokens import estimate

Count = Callable[[str], int]


class Vocabulary(NamedTuple):
    """A vocabulary: its name, the name tiktoken's cache gives its file, its SHA-256, and how it cuts a text."""

    name: str
    file: str
    digest: str
    pattern: str


_O200K = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_CL100K = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]"
    r"|\s+(?!\S)|\s"
)
VOCABULARIES: Final = (  # the later first
    Vocabulary(
        "o200k_base",
        "fb374d419588a4632f3f557e76b4b70aebbca790",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        _O200K,
    ),
    Vocabulary(
        "cl100k_base",
        "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        _CL100K,
    ),
)
_PLACES: Final = (  # packages that carry the file, and where
    ("litellm", "litellm_core_utils/tokenizers"),
    ("litellm", "llms/tokenizers"),
    ("llama_index", "core/_static/tiktoken_cache"),
)


def counter(folder: str = "") -> Count:
    """Return what counts the tokens of a text; `folder` is where tiktoken keeps vocabularies, as TIKTOKEN_CACHE_DIR."""
    if find_spec("tiktoken") is None:
        return estimate
    places = list(_places(folder))
    for vocabulary in VOCABULARIES:
        for place in places:
            found = _loaded(place, vocabulary)
            if found is not None:
                return found
    return estimate


def _places(folder: str) -> Iterator[Path]:
    if folder:
        yield Path(folder)
    for package, inside in _PLACES:
        spec = find_spec(package)
        for parent in (spec.submodule_search_locations if spec else None) or ():
            yield Path(parent) / inside


@lru_cache(maxsize=32)
def _loaded(place: Path, vocabulary: Vocabulary) -> Count | None:
    """Return what counts by the vocabulary's file in a folder, None when it is not there or has other bytes."""
    try:
        data = (place / vocabulary.file).read_bytes()
    except OSError:
        return None
    if hashlib.sha256(data).hexdigest() != vocabulary.digest:
        return None
    import tiktoken

    pairs = (line.split() for line in data.splitlines() if line)
    ranks = {base64.b64decode(token): int(rank) for token, rank in pairs}
    encoding = tiktoken.Encoding(
        vocabulary.name, pat_str=vocabulary.pattern, mergeable_ranks=ranks, special_tokens={}
    )

    def count(text: str) -> int:
        # Lone surrogates are no text to it.
        return len(encoding.encode_ordinary(text.encode("utf-8", "replace").decode()))

    return count
