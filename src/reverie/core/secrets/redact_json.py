"""Take secrets out of JSON: a tool call's arguments, a line of a conversation file.

Owns looking at strings as they are and not as they are escaped; promises that text without a secret comes back byte
for byte, and that what is no JSON, or torn, is searched both as it stands and without its escapes; never keeps a
secret.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from reverie.core.secrets.redact import Redacted, redact

_DEEPEST = 4  # JSON inside a string of JSON, so many times


def redact_json(text: str, *, allow: Sequence[str] = ()) -> Redacted:
    """Return `text` with each string in it cleaned by itself, then the whole, where a key may name a secret."""
    kinds: set[str] = set()

    def clean(part: str) -> str:
        result = redact(part, allow=allow)
        kinds.update(result.kinds)
        return result.text

    inside = _inside(text, clean, _DEEPEST)
    if inside is None and "\\" in text:
        bare = text.replace('\\"', '"').replace("\\n", "\n").replace("\\\\", "\\")
        inside = bare if set(redact(bare, allow=allow).kinds) - set(redact(text, allow=allow).kinds) else None
    return Redacted(clean(text if inside is None else inside), tuple(sorted(kinds)))


def _inside(text: str, clean: Callable[[str], str], depth: int) -> str | None:
    """Return JSON with its strings cleaned, itself where nothing was found, or None where it is no JSON."""
    if not depth or not text.lstrip().startswith(("{", "[", '"')):
        return None
    try:
        value = msgspec.json.decode(text)
        cleaned = _cleaned(value, clean, depth)
        return text if cleaned == value else msgspec.json.encode(cleaned).decode()
    except (msgspec.MsgspecError, UnicodeError, RecursionError, ValueError):
        return None


def _cleaned(value: Any, clean: Callable[[str], str], depth: int) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, str):
        inside = _inside(value, clean, depth - 1)
        return clean(value if inside is None else inside)
    if isinstance(value, list):
        return [_cleaned(one, clean, depth) for one in value]
    if isinstance(value, dict):
        return {clean(key): _cleaned(one, clean, depth) for key, one in value.items()}
    return value
