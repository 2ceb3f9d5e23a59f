"""Where the command begins: a hook goes the short way, everything else to `main`.

Owns which way that is, and the standard streams before and after it; promises that neither way is loaded for the
other, that a locale of ASCII alone costs no character, and that a stream which is closed or takes no more ends no
command with a traceback; never reads an option.
"""

from __future__ import annotations

import gc
import sys
from contextlib import suppress
from importlib import import_module
from typing import NoReturn, TextIO

from reverie.surface.exits import DONE, INTERRUPTED

_MADE = 100_000  # objects that are made between two looks for garbage; a command loads about as many


def main() -> NoReturn:
    """Run the command line of this process and leave with its exit code."""
    if sys.getfilesystemencoding() == "ascii":
        import_module("reverie.store.filesystem.streams").start_in_utf8()
    gc.set_threshold(_MADE, *gc.get_threshold()[1:])
    if None in (sys.stdin, sys.stdout, sys.stderr):
        import_module("reverie.store.filesystem.streams").stand_in()
    try:
        code = _run(sys.argv[1:])
    except KeyboardInterrupt:  # while the command was being loaded
        code = INTERRUPTED
    for stream in (sys.stdout, sys.stderr):
        _release(stream)
    gc.freeze()  # else Python looks through all that was loaded once more at its end: a tenth of a short command
    sys.exit(code)


def _run(words: list[str]) -> int:
    """Run a command line and return its exit code."""
    if words[:1] == ["hook"] and words[1:] and import_module("reverie.surface.cli.quick").hook(words[1:]):
        return DONE
    code: int = import_module("reverie.surface.cli.main").run(words)
    return code


def _release(stream: TextIO) -> None:
    """Close a stream that takes no more: Python would flush it once again at its end, and leave with 120."""
    try:
        stream.flush()
    except OSError:
        with suppress(OSError):
            stream.close()
