"""What of the surroundings can be wrong: nobody runs what is due, or a coding agent's hooks lead nowhere.

Owns these looks; promises to read other programs' files and never to write them.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator
from datetime import timedelta

from reverie import layout
from reverie.adapters import claude_code
from reverie.config import units_folder
from reverie.errors import ReverieError, UsageError
from reverie.opening import open_workspace
from reverie.store import counters
from reverie.store.counters import ConsolidateCounters
from reverie.store.filesystem.lock import Locks
from reverie.store.hosts.scheduling import scheduled
from reverie.surface.cli.hosts import settings_file
from reverie.surface.cli.scheduling import job_of
from reverie.surface.doctor.symptoms import Patient, Symptom, typed

_OVERDUE = timedelta(hours=36)


def schedule(patient: Patient) -> Iterator[Symptom]:
    """Look whether anything runs `consolidate` by itself, and when it last ran."""
    opened = open_workspace(patient.opening)
    ws = opened.ws
    opened.close()
    last = counters.read(ws, ConsolidateCounters).last
    kind, served = "none", ""
    try:
        kind = scheduled(job_of(patient.opening), folder=units_folder(patient.opening.environment))
    except ReverieError as error:
        yield Symptom(
            part="schedule", place="crontab", what=str(error), remedy="look at it with `crontab -l`"
        )
    if (ws.root.parent / layout.SERVE_LOCK).exists():
        served = Locks(ws.root.parent).holder(layout.SERVE_LOCK)
    late = last is None or ws.clock() - last > _OVERDUE
    if late and (kind != "none" or served):
        by = served or f"its schedule ({kind})"
        when = f"last ran at {last:%Y-%m-%d %H:%M} UTC" if last else "has never run"
        remedy = (
            "see `systemctl --user list-timers`, `crontab -l` or the daemon's log; run `reverie consolidate`"
        )
        yield Symptom(
            part="schedule", place=by, what=f"`consolidate` {when}, though it is due", remedy=remedy
        )
    elif late:
        what = "nothing runs `consolidate` by itself: what was said is kept, but not dreamt of or shown in MEMORY.md"
        remedy = f"run `reverie init {typed(ws.root)} --schedule systemd` (or cron), or `reverie serve`"
        yield Symptom(part="schedule", place=str(ws.root), what=what, remedy=remedy)


def hooks(patient: Patient) -> Iterator[Symptom]:
    """Look whether Claude Code's settings can be read, and whether hooks of ours in them lead to a program."""
    place = settings_file(environment=patient.opening.environment)
    try:
        text = place.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return  # there is none: nothing was installed there
    try:
        found = claude_code.commands_in(text)
    except UsageError as error:
        yield Symptom(
            part="hooks", place=str(place), what=f"it is no JSON ({error})", remedy="mend it by hand"
        )
        return
    for event, command in found:
        program = _program(command)
        if "reverie" in command and shutil.which(program) is None:
            yield Symptom(
                part="hooks",
                place=f"{place}, {event}",
                what=f"the hook calls {program}, which is not found",
                remedy="run `reverie install claude-code`, or put the program on your PATH",
                severity="error",
            )


def _program(command: str) -> str:
    """Return the program that a command line calls."""
    try:
        words = shlex.split(command)
    except ValueError:  # quotes that do not close, by whoever edited it
        words = command.split()
    return words[0] if words else ""
