"""How the command line exits where no error of the tree says it.

Owns these exit codes and what is told of them; never ends a process.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

DONE: Final = 0
FOUND: Final = 1
SET_ASIDE: Final = 65  # as of InvalidRecord
UNEXPECTED: Final = 70
INTERRUPTED: Final = 130
BROKEN_PIPE: Final = 141  # as the shell reports a program that SIGPIPE ended

MEANINGS: Mapping[int, str] = {
    DONE: "What was asked for is done.",
    FOUND: "`reverie check` or `reverie doctor` found an error; its answer names it.",
    SET_ASIDE: "`reverie capture` or `reverie import` set aside what it could not read, and stored the rest.",
    UNEXPECTED: "An error nobody expected; `REVERIE_TRACEBACK=1` shows where it came from.",
    INTERRUPTED: "It was interrupted with Ctrl-C, or `reverie erase` was not confirmed.",
    BROKEN_PIPE: "Whoever was reading the answer stopped, as `head` does.",
}
