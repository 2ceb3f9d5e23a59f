"""What models have used and how they failed, as records, and what stands in them now.

Owns the records of `.state/usage.jsonl`, their sums, and which of them may be folded into totals; promises that
folding changes neither a day's sums nor the failures that are in force; never reads a file or the clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

import msgspec

KEPT = 300  # calls that stay single, so that a run's sums and the failures in a row are known
OLDEST = 100  # days of totals
_LATELY = timedelta(days=7)
_WORK = {"extraction": "reading turns", "summary": "summaries", "dream": "dreams"}
_ALIVE = ("", "refused", "unusable")  # the model answered, if only badly


class Call(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="call", tag_field="type"):
    """One question to a model: for what, in which run, what it used, and how it failed.

    `kind` is a ModelTrouble or empty, `problem` the sentence with its remedy; until `until` the model is not asked.
    A reply that its reader could not use is told by a call of its own without `calls`.
    """

    at: datetime
    day: str
    purpose: str
    model: str
    run: str = ""
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    seconds: float = 0.0
    kind: str = ""
    problem: str = ""
    until: datetime | None = None


class Total(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="total", tag_field="type"):
    """What older calls of one day, purpose and model used together, and how many of them failed."""

    day: str
    purpose: str
    model: str
    calls: int = 0
    failed: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    seconds: float = 0.0


UsageLine = Call | Total


class Spent(msgspec.Struct, frozen=True, kw_only=True):
    """Sums: questions asked, how many failed, tokens in and out, US dollars, seconds."""

    calls: int = 0
    failed: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    seconds: float = 0.0

    @property
    def tokens(self) -> int:
        """Tokens in and out."""
        return self.input_tokens + self.output_tokens


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """What decides whether a model may be asked: what the day and the run have spent, and how it failed last.

    `failures` counts those in a row; `last` is the latest of them, None after a success.
    """

    day: Spent
    run: Spent
    failures: int = 0
    last: Call | None = None


def spent(lines: Iterable[UsageLine]) -> Spent:
    """Return the sum of some lines."""
    total = Spent()
    for line in lines:
        failed = line.failed if isinstance(line, Total) else int(bool(line.kind))
        total = Spent(
            calls=total.calls + line.calls,
            failed=total.failed + failed,
            input_tokens=total.input_tokens + line.input_tokens,
            output_tokens=total.output_tokens + line.output_tokens,
            cost=total.cost + line.cost,
            seconds=total.seconds + line.seconds,
        )
    return total


def standing(lines: Sequence[UsageLine], *, model: str, day: str, run: str) -> Standing:
    """Return how things stand for a model on a day, in a run."""
    calls = [line for line in lines if isinstance(line, Call)]
    row: list[Call] = []
    for call in reversed(calls):
        if call.model == model and call.calls:
            if call.kind in _ALIVE:
                break
            row.append(call)
    return Standing(
        day=spent(line for line in lines if line.day == day),
        run=spent(call for call in calls if run and call.run == run),
        failures=len(row),
        last=row[0] if row else None,
    )


def last_troubles(lines: Iterable[UsageLine]) -> dict[str, Call]:
    """Return the failure with which each purpose's latest call ended, of the purposes where it did."""
    latest = {line.purpose: line for line in lines if isinstance(line, Call)}
    return {purpose: call for purpose, call in latest.items() if call.kind}


def told(lines: Iterable[UsageLine], *, now: datetime) -> Iterator[tuple[str, str]]:
    """Yield what went wrong with a model, with its remedy, for each purpose whose latest question failed lately."""
    for purpose, call in sorted(last_troubles(lines).items()):
        if now - call.at < _LATELY:
            rest = f", not asked before {call.until:%H:%M:%S} UTC" if call.until and call.until > now else ""
            what = f"{_WORK.get(purpose, purpose)}: {call.kind}, on {call.at:%Y-%m-%d %H:%M} UTC{rest}"
            yield f"no answer from the model for {what}", call.problem


def by_purpose(lines: Iterable[UsageLine], *, day: str) -> dict[str, Spent]:
    """Return what each purpose spent on a day."""
    found: dict[str, list[UsageLine]] = {}
    for line in lines:
        if line.day == day:
            found.setdefault(line.purpose, []).append(line)
    return {purpose: spent(found[purpose]) for purpose in sorted(found)}


def folded(lines: Sequence[UsageLine]) -> list[UsageLine]:
    """Return the lines with all calls but the newest put into totals, and the oldest totals left out."""
    calls = [line for line in lines if isinstance(line, Call)]
    old = [line for line in lines if isinstance(line, Total)]
    groups: dict[tuple[str, str, str], list[UsageLine]] = {}
    older: list[UsageLine] = [*old, *calls[:-KEPT]]
    for line in older:
        groups.setdefault((line.day, line.purpose, line.model), []).append(line)
    days = sorted({day for day, _, _ in groups})[-OLDEST:]
    totals: list[UsageLine] = []
    for (day, purpose, model), members in sorted(groups.items()):
        if day in days:
            sums = msgspec.structs.asdict(spent(members))
            totals.append(Total(day=day, purpose=purpose, model=model, **sums))
    return totals + calls[-KEPT:]
