"""What runs `reverie consolidate` for a workspace by itself: how it is set up, and how that is told.

Owns the command that a schedule runs; promises that it names workspace and configuration by their whole paths, for
neither cron nor systemd has the environment of a shell; never runs it.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import Path

import msgspec

from reverie.config import units_folder
from reverie.core.schedule import Job
from reverie.entrance import Opening
from reverie.store.hosts.scheduling import Kind, Scheduled, schedule
from reverie.surface.mcp.keeping import command_of
from reverie.surface.render import Line, dim, line

KINDS: tuple[Kind, ...] = ("systemd", "cron", "none")


def job_of(opening: Opening) -> Job:
    """Return the job that consolidates the workspace an `Opening` names and its people's, from anywhere."""
    place = opening.folder()
    config = Path(os.path.abspath(opening.config()))  # noqa: PTH100 `resolve` would follow links
    whole = msgspec.structs.replace(opening, path=place, agent=None, user="", config_dir=config, flags=None)
    return Job((*command_of(whole), "--people"), str(place))


def arrange(opening: Opening, kind: Kind) -> Scheduled:
    """Have `kind` run what is due, and nothing else; raises UsageError, StoreUnwritable."""
    return schedule(job_of(opening), kind, folder=units_folder())


def schedule_lines(made: Scheduled, place: Path) -> Iterator[Line]:
    """Yield what was done, what is left to do, and how to take it back."""
    for one in made.done or ("the schedule is as it was",):
        yield line(one, indent=2)
    for command in made.by_hand:
        yield line("systemd did not answer; run this yourself: ", command, indent=2)
    if made.kind != "none":
        yield line(dim(f"undo: reverie init {shlex.quote(str(place))} --schedule none"))
