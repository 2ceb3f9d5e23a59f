"""What a dream was asked for, applied to what waits, whoever dreams.

Owns which parts a dream is about, whether the gates let it begin, and how many it takes at once; promises that what a
host's model settled and a person has yet to look at is nobody else's to dream meanwhile, for as long as a backlog may
wait; never proposes or settles anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from reverie.core.days import shifted
from reverie.core.dreams.batch import Part, Shut, gate
from reverie.core.dreams.dreamt import Dreamt, Wish
from reverie.core.due import Due
from reverie.core.settings.value import DreamSettings
from reverie.errors import Conflict
from reverie.store.dreams import dreaming, lease, reviews
from reverie.store.dreams.night import Night
from reverie.store.workspace import Workspace

LEASES = 24  # how many times as long as one lease holds a run may take: four hours by default


def shut(ws: Workspace, night: Night, wish: Wish) -> Dreamt | None:
    """Return why no dream begins now, None when one does."""
    verdict = gate(
        settings_of(ws, night, wish),
        wanted(ws, night.waiting, wish),
        last=night.before.last,
        now=night.started,
        today=ws.today,
        passing=wish.now,
    )
    return Dreamt(reason=verdict.reason, watermark=night.watermark) if isinstance(verdict, Shut) else None


def wanted(ws: Workspace, waiting: Sequence[Part], wish: Wish) -> list[Part]:
    """Return what a dream is about: of the day asked for, and not before a person already."""
    since = shifted(ws.clock(), -timedelta(days=ws.settings.dream.max_wait_days))
    held = {
        key
        for one in reviews.waiting(ws)
        if one.topic == reviews.GUEST_DREAM and one.at > since
        for key in dreaming.parts(ws, one.path)
    }
    of_day = [part for part in waiting if part.day == wish.day] if wish.day else list(waiting)
    return [part for part in of_day if part.key not in held] if held else of_day


def settings_of(ws: Workspace, night: Night, wish: Wish) -> DreamSettings:
    """Return the settings with as many entries a batch as are asked for, and as recent runs could end with."""
    settings = ws.settings.dream
    most = min(one for one in (settings.max_entries, night.most, wish.most) if one)
    return replace(settings, max_entries=most)


def until(ws: Workspace) -> datetime:
    """Return until when a lease holds that a host takes now."""
    return shifted(ws.clock(), timedelta(seconds=ws.settings.dream.timeout_seconds))


def whole(ws: Workspace) -> timedelta:
    """Return for how long a host may go on with one run, however often it uses a tool."""
    return min(timedelta(seconds=ws.settings.dream.timeout_seconds) * LEASES, lease.LONGEST)


def must_not_wait(ws: Workspace) -> None:
    """Raise Conflict while what a run of a host's model came to waits for a person's word."""
    for one in reviews.waiting(ws):
        if one.topic == reviews.GUEST_DREAM:
            message = f"what {one.path} came to waits for a person's word: `reverie review show {one.id}`"
            raise Conflict(message)


def held(ws: Workspace, night: Night, run: str) -> Dreamt:
    """Put what a dry night came to before a person, and return that nothing holds before their word."""
    would = told(night, dry=True)
    why = f"{run} of a host's own model would do this, and none of its runs was accepted here yet"
    review = reviews.propose(ws, reviews.GUEST_DREAM, run, text=f"{would}\n\n{would.diff}", why=why)
    reason = f"{would}, once a person accepts it: `reverie review accept {review}`"
    return replace(
        would,
        result="nothing",
        reason=reason,
        counts={},
        runs=(),
        pages=(),
        diff="",
        due=Due(),
        review=review,
    )


def told(night: Night, *, dry: bool, reason: str = "") -> Dreamt:
    """Return what a night came to."""
    done = replace(night.done, watermark=night.watermark, diff=night.staging.diff() if dry else "")
    if not done.counts:
        return replace(done, reason=reason or "nothing could be settled; see the problems")
    return replace(done, result="productive", due=Due(publish=not dry, digest=not dry, skills=not dry))
