"""A terminal that a program believes in, for those that behave otherwise without one."""

from __future__ import annotations

import os
import re
import termios
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

_ESCAPES = re.compile(rb"\x1b(?:\[[0-9;?<>=]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][A-Z0-9]|[=>78])")
_PATIENCE = 240  # seconds


class Screen:
    """What a program shows, and the keys it gets."""

    def __init__(self, start: Callable[[int], subprocess.Popen[str]]) -> None:
        """Start a program on a terminal, whose descriptor `start` is given."""
        self._ours, theirs = os.openpty()
        termios.tcsetwinsize(theirs, (50, 150))
        self._shown, self._changed = b"", threading.Condition()
        self.process = start(theirs)
        os.close(theirs)
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def type(self, words: str) -> None:
        """Type a line; what comes at once with its end would be taken for pasted."""
        before = len(self._shown)
        os.write(self._ours, words.encode())
        self.until(lambda: _bare(words) in self.shown(before), f"{words!r} on the screen")
        os.write(self._ours, b"\r")

    def shown(self, after: int = 0) -> str:
        """Return the letters that were shown, without the spaces, which may be moves of the cursor."""
        return _bare(_ESCAPES.sub(b"", self._shown[after:]).decode("utf-8", "replace"))

    def until(self, true: Callable[[], object], what: str) -> None:
        """Wait until something is true; raises AssertionError with what is shown when it does not come."""
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            if true():
                return
            with self._changed:
                self._changed.wait(0.05)
        raise AssertionError(f"there was never {what}: {self.shown()[-2_000:]}")

    def close(self) -> None:
        """Let go of the terminal, whose program has ended."""
        self._reader.join()
        os.close(self._ours)

    def _read(self) -> None:
        with suppress(OSError):  # nobody holds the other end any more
            while data := os.read(self._ours, 65_536):
                with self._changed:
                    self._shown += data
                    self._changed.notify_all()


def _bare(words: str) -> str:
    return "".join(words.split())
