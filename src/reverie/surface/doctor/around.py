"""What of the surroundings can be wrong: nobody runs what is due, or a coding agent's hooks lead nowhere.

Owns these looks; promises to read other programs' files and never to write them.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from reverie import layout
from reverie.config import units_folder
from reverie.core.formats import json_edit
from reverie.errors import ReverieError, UsageError
from reverie.opening import open_workspace
from reverie.store import counters
from reverie.store.counters import ConsolidateCounters
from reverie.store.filesystem.lock import Locks
from reverie.store.hosts.scheduling import scheduled
from reverie.surface.cli.scheduling import job_of
from reverie.surface.doctor.symptoms import Patient, Symptom, typed

_OVERDUE = timedelta(hours=36)
_CLAUDE = Path(".claude/settings.json")


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
    try:
        place = _home(patient) / _CLAUDE
        text = place.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError, UsageError):
        return  # there is none: nothing was installed there
    try:
        told = json_edit.parse(text).plain()  # which may have comments, as for Claude Code itself
    except UsageError as error:
        yield Symptom(
            part="hooks", place=str(place), what=f"it is no JSON ({error})", remedy="mend it by hand"
        )
        return
    for event, command in _commands(told):
        program = command.split()[0].strip("\"'") if command.split() else ""
        if "reverie" in command and shutil.which(program) is None:
            yield Symptom(
                part="hooks",
                place=f"{place}, {event}",
                what=f"the hook calls {program}, which is not found",
                remedy="run `reverie install claude-code`, or put the program on your PATH",
                severity="error",
            )


def _commands(told: Any) -> Iterator[tuple[str, str]]:  # noqa: ANN401 - another program's file
    """Yield each hook's event and command; what is of another shape is passed over."""
    events = told.get("hooks") if isinstance(told, Mapping) else None
    for event, groups in events.items() if isinstance(events, Mapping) else ():
        for group in groups if isinstance(groups, list) else ():
            inner = group.get("hooks") if isinstance(group, Mapping) else None
            for hook in inner if isinstance(inner, list) else ():
                if isinstance(hook, Mapping) and isinstance(hook.get("command"), str):
                    yield str(event), hook["command"]


def _home(patient: Patient) -> Path:
    environment = patient.opening.environment
    return Path(environment["HOME"]) if environment and environment.get("HOME") else Path.home()
