"""What makes a system run a command again and again: a line of a crontab, or a timer and its service for systemd.

Owns both formats and what of a crontab is ours; promises that every other line of it stays byte for byte as it is, that
the same job gives the same text, and that no character of a word acts on cron, systemd or the shell; never runs or
writes anything.
"""

from __future__ import annotations

import hashlib
import re
import shlex

import msgspec

from reverie.errors import UsageError

EVERY = 30  # minutes

_TOLD = re.compile(r"[\x00-\x1f\x7f]")


class Job(msgspec.Struct, frozen=True):
    """A command that runs every half hour; `place` is the folder it is about, which no other job shares."""

    words: tuple[str, ...]
    place: str

    @property
    def name(self) -> str:
        """What its unit is called, and what marks its line in a crontab."""
        return f"reverie-{self._digest[:8]}"

    @property
    def minute(self) -> int:
        """The minute past each half hour at which it runs: not the same for all, so that they do not run at once."""
        return int(self._digest[8:12], 16) % EVERY

    @property
    def _digest(self) -> str:
        return hashlib.sha256(self.place.encode("utf-8", "surrogatepass")).hexdigest()


def cron_line(job: Job) -> str:
    """Return the job's line: what it prints is thrown away, what goes wrong is mailed by cron. Raises UsageError."""
    _plain(job)
    command = shlex.join(job.words).replace("%", r"\%")  # which cron would take for the end of a line
    return f"{job.minute},{job.minute + EVERY} * * * * {command} >/dev/null # {job.name}"


def with_line(crontab: str, job: Job) -> str:
    """Return a crontab that holds the job once, in the place of the line it has already, else at the end."""
    kept = crontab.split("\n")
    mine = [number for number, line in enumerate(kept) if is_mine(line, job)]
    if mine:
        kept[mine[0]] = cron_line(job)
        return "\n".join(line for number, line in enumerate(kept) if number not in mine[1:])
    ended = crontab if not crontab or crontab.endswith("\n") else f"{crontab}\n"
    return f"{ended}{cron_line(job)}\n"


def without_line(crontab: str, job: Job) -> str:
    """Return a crontab without the job."""
    return "\n".join(line for line in crontab.split("\n") if not is_mine(line, job))


def is_mine(line: str, job: Job) -> bool:
    """Tell whether a line of a crontab is the job's; one that somebody made a comment is theirs."""
    return line.rstrip().endswith(f" # {job.name}") and not line.lstrip().startswith("#")


def units(job: Job) -> dict[str, str]:
    """Return the job's files for systemd by their names. Raises UsageError."""
    _plain(job)
    about = job.place.replace("%", "%%")
    service = (
        f'[Unit]\nDescription=Reverie: whatever is due in "{about}"\n\n'
        f"[Service]\nType=oneshot\nExecStart={' '.join(_unit_word(word) for word in job.words)}\nNice=10\n"
    )
    timer = (
        f'[Unit]\nDescription=Reverie: every half hour in "{about}"\n\n'
        f"[Timer]\nOnCalendar=*:{job.minute:02}/{EVERY}\nPersistent=true\n\n"
        "[Install]\nWantedBy=timers.target\n"
    )
    return {f"{job.name}.service": service, f"{job.name}.timer": timer}


def _unit_word(word: str) -> str:
    """Return a word as systemd reads it back: in quotes, where what it would put in or look up is doubled."""
    text = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{text}"'


def _plain(job: Job) -> None:
    """Raise UsageError for a word that neither cron nor systemd can hold."""
    for word in (*job.words, job.place):
        if _TOLD.search(word):
            raise UsageError(
                f"{word!r} has a line end or control in it, which no schedule can hold: rename it"
            )
