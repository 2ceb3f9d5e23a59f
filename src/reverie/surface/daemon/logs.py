"""The daemon's log: one JSON object a line on standard error, about what was done and never about what was said.

Owns which members a line has and what of other libraries' logs gets in; promises that no text of a memory, no argument
of a request and no token stands in it; never raises.
"""

from __future__ import annotations

import json
import logging
import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TextIO

# Libraries whose messages are about ports, jobs and processes. Of all others only the kind of trouble is told: a
# message about a request that could not be read may quote it.
_SPOKEN = ("apscheduler", "uvicorn.error")
_LEVEL = logging.WARNING


def _now() -> datetime:
    return datetime.now(UTC)


class Log:
    """Writes lines; for any number of threads."""

    def __init__(self, stream: TextIO | None = None, *, clock: Callable[[], datetime] = _now) -> None:
        """Write to `stream`, standard error if not given."""
        self._stream, self._clock, self._guard = stream or sys.stderr, clock, threading.Lock()

    def __call__(self, event: str, **members: str | float | bool | list[str]) -> None:
        """Write what happened; numbers of seconds are rounded to milliseconds."""
        at = self._clock().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        told = {name: round(one, 3) if isinstance(one, float) else one for name, one in members.items()}
        line = json.dumps({"at": at, "event": event, **told})
        with self._guard:
            try:
                self._stream.write(f"{line}\n")
                self._stream.flush()
            except (OSError, ValueError):
                return  # nobody reads it any more; that must not stop what is being done


class Foreign(logging.Handler):
    """Takes what libraries log, and puts it into a `Log`."""

    def __init__(self, log: Log) -> None:
        """Take warnings and worse."""
        super().__init__(_LEVEL)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record: its message where the library speaks of nothing private, else its kind alone."""
        spoken = record.name.startswith(_SPOKEN)
        fault = record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else ""
        members: dict[str, str] = {"level": record.levelname.lower(), "logger": record.name}
        members |= {"message": record.getMessage()} if spoken else {}
        members |= {"fault": fault} if fault else {}
        self._log("library", **members)


def listen(log: Log) -> None:
    """Have everything that libraries log in this process go into `log`, and nowhere else."""
    root = logging.getLogger()
    for old in list(root.handlers):
        root.removeHandler(old)
    root.addHandler(Foreign(log))
    root.setLevel(_LEVEL)
