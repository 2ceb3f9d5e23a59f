"""The standard streams of a process that was started without some of them, or without a word of their encoding.

Owns their stand-ins, and the start in UTF-8; promises that no file which is opened later becomes a standard stream,
into which a library, or a process started from here, would write; never touches a stream that is open.
"""

from __future__ import annotations

import os
import sys
from typing import NoReturn

_STREAMS = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))


def stand_in() -> None:
    """Put the null device in the place of each standard stream that is closed."""
    for number, (name, mode) in enumerate(_STREAMS):
        if getattr(sys, name) is None:
            free = os.open(os.devnull, os.O_RDWR)  # the lowest that is free, which is its own
            os.set_inheritable(free, free == number)
            setattr(sys, name, open(free, mode, encoding="utf-8"))  # noqa: SIM115 - for as long as the process lives


def start_in_utf8() -> NoReturn:
    """Start this process anew in Python's UTF-8 mode, with the same words, streams and process id.

    Where the locale knows ASCII alone, arguments come in as halves of characters, and no file may have another name;
    neither can be changed once Python runs.
    """
    os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])  # noqa: S606 - our own words
