"""Which files and folders below one folder this process has open.

Never counts what other tests left for the collector: a count of all descriptors would change with it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

_LISTED = Path("/proc/self/fd")
needs_a_list_of_descriptors = pytest.mark.skipif(
    not _LISTED.exists(), reason="this system does not list descriptors"
)


def open_below(folder: Path) -> list[Path]:
    """Return the path of each open descriptor at or below a folder; a file that was removed is listed too."""
    found = []
    for descriptor in _LISTED.iterdir():
        try:
            found.append(descriptor.readlink())
        except FileNotFoundError:  # the descriptor of the listing itself
            continue
    return [path for path in found if path.is_relative_to(folder)]
