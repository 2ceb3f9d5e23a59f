"""Where the command begins: a hook goes the short way, everything else to `main`.

Owns which way that is; promises that neither is loaded for the other; never reads an option.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line of this process and leave with its exit code."""
    words = sys.argv[1:]
    if words[:1] == ["hook"] and words[1:] and import_module("reverie.surface.cli.quick").hook(words[1:]):
        sys.exit(0)
    sys.exit(import_module("reverie.surface.cli.main").run(words))
