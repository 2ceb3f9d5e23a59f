"""What people write comes back as it was, whatever its bytes are."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reverie.core.formats.utf8 import to_bytes, to_text


@given(st.binary(max_size=80))
def test_every_byte_comes_back(data: bytes) -> None:
    """Bytes that are no UTF-8 survive the way into a text and out of it."""
    assert to_bytes(to_text(data)) == data


def test_an_absent_file_has_no_text() -> None:
    """A file that is not there reads as an empty one."""
    assert to_text(None) == ""
