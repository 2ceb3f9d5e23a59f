"""What is due in each workspace beneath a root, run when its turn comes: the schedule of the daemon.

Owns one job a workspace (and a person with a memory of their own in it) and the processes it starts; promises that of
all schedulers on a workspace one runs a slot and runs it once, that after a sleep or a restart one slot is made up for
and not each that passed, and that what runs ends with the daemon; never runs anything in a workspace that is not
trusted, and never in the process that answers.

A run is `reverie consolidate` in a process of its own at low priority: every stage has its own gates, so a run too many
changes nothing. The slot is noted when the run has ended. Killed before that, it is run again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Self

from reverie.core.slots import SHORTEST, is_due, slot_of
from reverie.entrance import Opening
from reverie.errors import Busy, ReverieError, UsageError
from reverie.opening import open_workspace
from reverie.store import counters, touched
from reverie.store.counters import ConsolidateCounters
from reverie.store.workspace import Workspace
from reverie.surface.daemon.logs import Log
from reverie.surface.http.hosted import Hosted
from reverie.surface.http.metrics import MISSING
from reverie.surface.mcp.keeping import Running, command_of, ended, start

if TYPE_CHECKING:
    from apscheduler.job import Job

LOOK = 60.0  # seconds between two looks at which workspaces there are, at least
SHARE = 20  # of the time, at most one part in so many is spent on looking
AT_ONCE = 2  # runs beside one another

_silently = partial(start, silent=True)  # what a run says may hold words of the memory


class Whose(NamedTuple):
    """A workspace by its folder name beneath the root, and the person, "" for the agent's own memory."""

    name: str
    user: str


class Scheduler:
    """Runs what is due beneath a root for as long as it is entered."""

    def __init__(
        self,
        hosted: Hosted,
        log: Log,
        *,
        start: Callable[[Sequence[str]], Running] = _silently,
        look: float = LOOK,
        at_once: int = AT_ONCE,
    ) -> None:
        """Begin nothing yet; raises UsageError where APScheduler is not installed."""
        try:
            from apscheduler.executors.pool import ThreadPoolExecutor
            from apscheduler.schedulers.background import BackgroundScheduler
        except ImportError as error:
            raise UsageError(MISSING) from error
        self._hosted, self._log, self._start, self._look_every = hosted, log, start, look
        self._stop, self._looking = threading.Event(), threading.Lock()
        self._jobs = BackgroundScheduler(
            timezone=UTC,
            executors={"default": ThreadPoolExecutor(at_once), "look": ThreadPoolExecutor(1)},
            # A slot that passed while nobody looked is run late, and once however many there were.
            job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": None},
        )

    def __enter__(self) -> Self:
        """Begin to look after the workspaces there are, and those that come."""
        self._jobs.start()
        self._jobs.add_job(
            self.look,
            "interval",
            seconds=self._look_every,
            next_run_time=datetime.now(UTC),
            executor="look",
            id="look",
        )
        return self

    def __exit__(self, *_: object) -> None:
        """End, and with it what is running."""
        self._stop.set()
        # Its shutdown waits for a look under the lock that a look takes to arrange a job: neither would ever end.
        with self._looking:
            pass
        self._jobs.shutdown(wait=True)

    def look(self) -> None:
        """Give a job to each workspace that has none, and take away those whose workspace is gone."""
        with self._looking:
            if not self._stop.is_set():
                self._look()

    def _look(self) -> None:
        began = time.monotonic()
        jobs = {job.id: job for job in self._jobs.get_jobs() if job.id != "look"}
        for whose in self._there():
            if self._stop.is_set():
                return
            with suppress(ReverieError):  # what is wrong with it is told to whoever asks for it
                self._arrange(whose, jobs.pop("/".join(whose), None))
        for job in jobs.values():
            job.remove()
        pause = max(self._look_every, SHARE * (time.monotonic() - began))
        self._jobs.reschedule_job("look", trigger="interval", seconds=pause)

    def fire(self, whose: Whose) -> None:
        """Run what is due in one workspace, unless the slot was used, nothing can be due, or another one runs it."""
        with suppress(Busy, ReverieError):
            opening = self._hosted.opening(whose.name, whose.user)
            opened = open_workspace(opening)
            ws, trusted = opened.ws, opened.trusted
            opened.close()
            if not trusted or not ws.settings.enabled or _slot(ws) is None:
                return
            with ws.locks.keeper(0, what="serve"):
                slot = _slot(ws)  # again: whoever had the lock may have used it
                if slot is not None:
                    self._run(whose, ws, opening=opening, slot=slot)

    def _run(self, whose: Whose, ws: Workspace, *, opening: Opening, slot: datetime) -> None:
        """Run it, then note the slot, unless the daemon ended before the run did."""
        began, day, watch = ws.clock(), ws.today, time.monotonic()
        code = ended(self._start(command_of(opening)), self._stop)
        if self._stop.is_set() and code != 0:
            self._log("interrupted", workspace=whose.name, person=bool(whose.user))
            return
        touched.use(ws, slot, began=began, day=day)
        self._log(
            "consolidated",
            workspace=whose.name,
            person=bool(whose.user),
            exit=code,
            seconds=time.monotonic() - watch,
            failing=sorted(counters.read(ws, ConsolidateCounters).failing),
        )

    def _there(self) -> Iterator[Whose]:
        """Yield every memory beneath the root."""
        for name in self._hosted.names():
            yield Whose(name, "")
            with suppress(ReverieError):
                opened = open_workspace(self._hosted.opening(name))
                people = opened.people()
                opened.close()
                yield from (Whose(name, person) for person in people)

    def _arrange(self, whose: Whose, job: Job | None) -> None:
        """Have a workspace's job run at the beginning of each of its slots, the first at once if that was not used."""
        opened = open_workspace(self._hosted.opening(whose.name, whose.user))
        ws = opened.ws
        opened.close()
        every = every_of(ws)
        if job is not None and job.trigger.interval == every:
            return
        slot = slot_of(ws.clock(), every, name=str(ws.root))
        late = slot != touched.before(ws).slot
        self._jobs.add_job(
            self.fire,
            "interval",
            seconds=every.total_seconds(),
            start_date=slot,
            args=[whose],
            id="/".join(whose),
            replace_existing=True,
            next_run_time=datetime.now(UTC) if late else slot + every,
        )


def every_of(ws: Workspace) -> timedelta:
    """Return how long a slot of a workspace is."""
    return max(timedelta(seconds=ws.settings.dream.interval_seconds), SHORTEST)


def _slot(ws: Workspace) -> datetime | None:
    """Return the slot that holds now, None when it was used or nothing can be due in it."""
    slot = slot_of(ws.clock(), every_of(ws), name=str(ws.root))
    return slot if is_due(slot, touched.before(ws), seen=touched.seen(ws)) else None
