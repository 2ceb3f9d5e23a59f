"""Putting a job into the user's crontab or among the user's units of systemd, and taking it out.

Owns the calls of `crontab` and `systemctl --user`, and the unit files; promises that a crontab which could not be read
is not written, that of one which could every other line stays, and that doing the same twice changes nothing the second
time; never asks for more rights than the user has.

A crontab is replaced by the program `crontab` as a whole. It is read again before it is written, so what somebody else
put in between is seen unless it comes within that moment, and once more afterwards.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from reverie.core.schedule import Job, cron_line, is_mine, units, with_line, without_line
from reverie.errors import StoreUnwritable, UsageError
from reverie.store.filesystem.disk import Disk

Kind = Literal["systemd", "cron", "none"]

_SECONDS = 30
_NOTHING_YET = ("no crontab", "no such file")


class Scheduled(msgspec.Struct, frozen=True, kw_only=True):
    """What stands in the schedule now: of which kind, what was `done`, and what is left to do by hand."""

    kind: Kind
    name: str
    done: tuple[str, ...] = ()
    by_hand: tuple[str, ...] = ()


class _Ran(msgspec.Struct, frozen=True):
    """How a program ended, and what it printed."""

    code: int
    out: str
    said: str


def schedule(job: Job, kind: Kind, *, folder: Path) -> Scheduled:
    """Have the job run by `kind` and by nothing else; `folder` is where the user's units lie.

    Raises UsageError where there is no crontab to write to, StoreUnwritable where one cannot be read or written.
    """
    done: list[str] = []
    by_hand: list[str] = []
    if kind == "cron":
        done += _change_crontab(lambda text: with_line(text, job), f"added to your crontab: {cron_line(job)}")
    elif kind == "systemd":
        done += _write_units(job, folder)
        by_hand += _told(["daemon-reload"], ["enable", "--now", f"{job.name}.timer"])
    if kind != "systemd" and _has_units(job, folder):
        by_hand += _told(["disable", "--now", f"{job.name}.timer"])
        done += _remove_units(job, folder)
        by_hand += _told(["daemon-reload"])
    if kind != "cron" and shutil.which("crontab") is not None:
        done += _change_crontab(lambda text: without_line(text, job), "taken out of your crontab")
    return Scheduled(kind=kind, name=job.name, done=tuple(done), by_hand=tuple(by_hand))


def scheduled(job: Job, *, folder: Path) -> Kind:
    """Return what runs the job now, as far as the files say. Raises StoreUnwritable for an unreadable crontab."""
    if _has_units(job, folder):
        return "systemd"
    if shutil.which("crontab") and any(is_mine(line, job) for line in read_crontab().split("\n")):
        return "cron"
    return "none"


def read_crontab() -> str:
    """Return the user's crontab, empty where there is none; raises UsageError, StoreUnwritable."""
    done = _run("crontab", "-l")
    if done.code == 0:
        return done.out
    if any(said in done.said.lower() for said in _NOTHING_YET):
        return ""
    # One that cannot be read is not an empty one: writing it anew would lose what stands in it.
    raise StoreUnwritable(
        f"`crontab -l` failed ({done.said or done.code}): ask whoever runs this machine, or use systemd"
    )


def _change_crontab(change: Callable[[str], str], said: str) -> list[str]:
    """Replace the crontab by what `change` makes of it, and return what was done."""
    before = read_crontab()
    wanted = change(before)
    if wanted == before:
        return []
    done = _run("crontab", "-", stdin=wanted)
    if done.code != 0:
        raise StoreUnwritable(f"`crontab` refused the new table ({done.said}): nothing was changed")
    if read_crontab() != wanted:
        raise StoreUnwritable(
            "somebody else changed the crontab meanwhile: look at `crontab -l`, then try again"
        )
    return [said]


def _write_units(job: Job, folder: Path) -> list[str]:
    disk = Disk(folder)
    changed = [(name, text.encode()) for name, text in units(job).items()]
    changed = [(name, data) for name, data in changed if not folder.is_dir() or disk.read(name) != data]
    if changed:
        disk.make_folder("")
    for name, data in changed:
        disk.replace(name, data, mode=0o644)
    return [f"wrote {folder / name}" for name, _ in changed]


def _remove_units(job: Job, folder: Path) -> list[str]:
    disk = Disk(folder)
    return [f"removed {folder / name}" for name in units(job) if disk.remove(name)]


def _has_units(job: Job, folder: Path) -> bool:
    return any((folder / name).exists() for name in units(job))


def _told(*commands: Sequence[str]) -> list[str]:
    """Have systemd take note, and return the commands that are left to a person where it could not."""
    left: list[str] = []
    for words in commands:
        try:
            worked = not left and _run("systemctl", "--user", *words).code == 0
        except UsageError:
            worked = False
        if not worked:
            left.append(" ".join(("systemctl --user", *words)))
    return left


def _run(program: str, *words: str, stdin: str = "") -> _Ran:
    """Run a program of the system's in the language its messages are told apart by; raises UsageError without it."""
    found, env = shutil.which(program), shutil.which("env")
    if found is None or env is None:
        raise UsageError(f"there is no `{program}` on this machine: install it, or choose another --schedule")
    try:
        done = subprocess.run(  # noqa: S603 - our own words
            [env, "LC_ALL=C", found, *words],
            input=stdin.encode("utf-8", "surrogateescape"),
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise StoreUnwritable(f"`{program}` did not answer ({error}): try again") from error
    # Decoded here: Python's text mode would turn the line ends of others into its own.
    out, said = (stream.decode("utf-8", "surrogateescape") for stream in (done.stdout, done.stderr))
    return _Ran(done.returncode, out, said.strip())
