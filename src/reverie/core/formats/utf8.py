"""Files that people write, as text and back.

Owns how bytes that are no UTF-8 are kept; promises that `to_bytes(to_text(data))` is `data`, whatever it is, so that
what Reverie does not change in a file stays as it was, byte for byte; never reads a file.
"""

from __future__ import annotations


def to_text(data: bytes | None) -> str:
    """Return a file's text, empty for an absent file; a byte that is no UTF-8 becomes half of a surrogate pair."""
    return (data or b"").decode("utf-8", "surrogateescape")


def to_bytes(text: str) -> bytes:
    """Return the bytes of a text that came from `to_text`, changed or not.

    Raises UnicodeEncodeError for half a surrogate pair that stands for no byte.
    """
    return text.encode("utf-8", "surrogateescape")
