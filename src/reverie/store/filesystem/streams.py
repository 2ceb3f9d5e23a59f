"""The standard streams of a process that was started without some of them.

Owns their stand-ins; promises that no file which is opened later becomes a standard stream, into which a library, or a
process started from here, would write; never touches a stream that is open.
"""

from __future__ import annotations

import os
import sys

_STREAMS = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))


def stand_in() -> None:
    """Put the null device in the place of each standard stream that is closed."""
    for number, (name, mode) in enumerate(_STREAMS):
        if getattr(sys, name) is None:
            free = os.open(os.devnull, os.O_RDWR)  # the lowest that is free, which is its own
            os.set_inheritable(free, free == number)
            setattr(sys, name, open(free, mode, encoding="utf-8"))  # noqa: SIM115 - for as long as the process lives
