"""When a model that failed is asked again, and when it is not asked at all.

Owns the one rule: a few short waits within a call, then a rest that doubles, the provider's own wish above both, and
ceilings above all; promises the same answer for the same values; never waits and never draws chance.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import cast

import msgspec

from reverie.core.ledger import Standing
from reverie.core.settings.value import Settings
from reverie.errors import ModelFailed, ModelTrouble

SHORT = 4.0  # seconds that the waits within one call may take together
_FIRST = 0.5  # seconds before the second try; each further wait is twice as long
_REST = 15.0  # seconds of rest after the first failure; each further failure in a row doubles them
_LONGEST = 3_600.0
_LATEST = 86_400.0  # a provider's wish beyond a day is a day
_FIXED = 30.0  # after a wrong key or name: nothing changes by itself, but a person may mend it any moment
_PASSING = ("limit", "down", "timeout")


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """The ceilings in force for one purpose; 0 is none."""

    day_tokens: int = 0
    day_cost: float = 0.0
    day_seconds: int = 0
    run_calls: int = 0
    run_tokens: int = 0
    run_cost: float = 0.0
    run_seconds: int = 0


_OF_A_DREAM = ("dream.max_tokens", "dream.max_cost", "dream.timeout_seconds")
_OF_A_RUN = ("models.max_tokens_per_run", "models.max_cost_per_run", "models.max_seconds_per_run")


def limits_of(settings: Settings, purpose: str) -> Limits:
    """Return the ceilings that settings put on a purpose: a dream's run has its own."""
    models, dream = settings.models, settings.dream
    limits = Limits(
        day_tokens=models.max_tokens_per_day,
        day_cost=models.max_cost_per_day,
        day_seconds=models.max_seconds_per_day,
        run_tokens=models.max_tokens_per_run,
        run_cost=models.max_cost_per_run,
        run_seconds=models.max_seconds_per_run,
    )
    if purpose != "dream":
        return limits
    return msgspec.structs.replace(
        limits,
        run_calls=dream.max_steps,
        run_tokens=dream.max_tokens,
        run_cost=dream.max_cost,
        run_seconds=dream.timeout_seconds,
    )


def pause(failure: ModelFailed, *, tried: int, tries: int, waited: float, chance: float) -> float | None:
    """Return the seconds to wait before the same question is asked again, None when it is put off.

    `tried` counts the tries so far, `waited` the seconds already waited, `chance` lies in [0, 1). An answer that took
    too long is not waited for twice.
    """
    if failure.kind not in {"limit", "down"} or tried >= tries:
        return None
    wait = failure.retry_after
    if wait is None:
        wait = _FIRST * 2 ** (tried - 1) * (0.5 + chance)
    return wait if waited + wait <= SHORT else None


def rest(failure: ModelFailed, *, failures: int, chance: float) -> timedelta | None:
    """Return how long the model is left alone after a call failed, None when it is the question's own fault.

    `failures` counts those in a row, this one included. A rest is drawn between three quarters and five quarters of
    its length, so that many processes do not come back together; a provider's wish is never shortened.
    """
    if failure.kind in {"auth", "no_such_model"}:
        return timedelta(seconds=_FIXED)
    if failure.kind not in _PASSING:
        return None
    drawn = min(_LONGEST, _REST * 2.0 ** min(failures - 1, 20)) * (0.75 + chance / 2)
    wish = min(_LATEST, failure.retry_after or 0.0)
    return timedelta(seconds=max(drawn, wish))


def refusal(stands: Standing, limits: Limits, *, now: datetime) -> ModelFailed | None:
    """Return why a model is not asked now: it is left alone after a failure, or a ceiling is reached."""
    last = stands.last
    # A failure of the future is one from before the clock was set right.
    if last is not None and last.until is not None and last.at <= now < last.until:
        kind = cast("ModelTrouble", last.kind)
        message = f"{last.problem} (not asked again before {last.until:%Y-%m-%d %H:%M:%S} UTC)"
        return ModelFailed(message, kind=kind, retry_after=(last.until - now).total_seconds())
    for used, limit, what in _against(stands, limits):
        if limit and used >= limit:
            message = f"no model is asked: {used:,.10g} {what} of {limit:,.10g} are used; raise the ceiling, or wait"
            return ModelFailed(message, kind="ceiling")
    return None


def _against(stands: Standing, limits: Limits) -> Iterator[tuple[float, float, str]]:
    """Yield what is used, its ceiling, and the name of both."""
    day, run = stands.day, stands.run
    tokens, cost, seconds = _OF_A_DREAM if limits.run_calls else _OF_A_RUN
    yield day.tokens, limits.day_tokens, "tokens a day (models.max_tokens_per_day)"
    yield day.cost, limits.day_cost, "US dollars a day (models.max_cost_per_day)"
    yield day.seconds, limits.day_seconds, "seconds a day (models.max_seconds_per_day)"
    yield run.calls, limits.run_calls, "answers in this dream (dream.max_steps)"
    yield run.tokens, limits.run_tokens, f"tokens in this run ({tokens})"
    yield run.cost, limits.run_cost, f"US dollars in this run ({cost})"
    yield run.seconds, limits.run_seconds, f"seconds in this run ({seconds})"
