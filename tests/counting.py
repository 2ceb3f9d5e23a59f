"""How much work a call does, counted in calls of functions instead of seconds: the same on every machine, however busy.

Counts what Python's own profiler hook is told, functions of C among them; never what one such function does within.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType


def calls(work: Callable[[], object]) -> int:
    """Return how many functions were called in this thread while `work` ran."""
    count = 0

    def note(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count
