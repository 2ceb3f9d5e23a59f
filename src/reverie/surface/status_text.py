"""The page `reverie status` prints.

Owns its wording and order; promises that what needs attention comes first, each with its remedy; never leaves out
something that was set aside or cannot be read without saying how much.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reverie.core.ledger import Spent
from reverie.core.text.plural import many
from reverie.status import Place, Status
from reverie.store.kept_out import KeptOut
from reverie.surface.entry_text import cut
from reverie.surface.render import Line, Styled, bold, dim, line

_SHOWN = 10  # of each kind of trouble; `--json` has them all
_COLUMN = 12


def status_lines(seen: Status) -> Iterator[Line]:
    """Yield the page, line by line."""
    owner = f"{seen.agent}, {seen.person}" if seen.person else seen.agent
    yield line(bold(owner), dim(f" {seen.workspace}"))
    for problem in seen.problems:
        yield line(Styled("! ", "bold yellow"), problem.what, dim(f" — {problem.remedy}"), indent=2)
    yield from _facts(seen)
    for off in seen.off:
        yield _row("off", off)
    refused = [Place(one.source, f"{one.reason} ({one.id[:8]})") for one in seen.quarantine]
    yield from _places("set aside", refused)
    yield from _places("no entries", seen.unparsed)
    yield from _places("unreadable", seen.damaged)
    if seen.unlooked:
        yield _row("not read", f"{many(seen.unlooked, 'file')} not looked through: `reverie check` reads all")


def _facts(seen: Status) -> Iterator[Line]:
    """Yield the counts."""
    yield _row(
        "entries", f"{seen.entries:,} stored, {seen.current:,} of them current; {seen.queued:,} queued"
    )
    yield _row("promises", f"{seen.promises:,} open, {seen.pins:,} pinned, {seen.forgotten:,} forgotten")
    span = f", {seen.days[0]} to {seen.days[-1]}" if seen.days else ""
    yield _row("days", f"{len(seen.days):,}{span}; today is {seen.today}")
    unread = f", {many(sum(seen.unread.values()), 'turn')} unread" if seen.unread else ""
    yield _row("sessions", f"{seen.sessions:,}{unread}")
    outcomes = ", ".join(f"{number:,} {kind}" for kind, number in seen.outcomes.items())
    pending = sum(seen.pending.values())
    waits = (
        f"{many(pending, 'entry')} of {many(len(seen.pending), 'day')} waiting"
        if pending
        else "nothing waits"
    )
    yield _row(
        "notebook", f"reaches {seen.watermark or 'no day yet'}; {waits}{'; ' if outcomes else ''}{outcomes}"
    )
    yield from _dream(seen)
    used = ", ".join(
        f"{seen.memory.used[unit]:,} of {limit:,} {unit}" for unit, limit in seen.memory.limits.items()
    )
    yield _row("MEMORY.md", used if seen.memory.present else "not there yet: `reverie publish`")
    behind = f", the newest {seen.index.behind:,} read one by one" if seen.index.behind else ""
    lacking = f", {seen.index.vectorless:,} without a vector" if seen.index.vectorless else ""
    rows = f"{seen.index.rows:,} rows{behind}{lacking}"
    yield _row("search", rows if seen.index.present else "built at the first recall")
    for purpose, sums in seen.models.items():
        yield _row(purpose, _used(sums))
    if seen.kept_out.since:
        yield _row("kept out", _kept_out(seen.kept_out))
    yield _row("waiting", f"{seen.segments:,} journal files, {seen.reviews:,} for your word")


def _dream(seen: Status) -> Iterator[Line]:
    """Yield where the dream stands, once there was one or one runs."""
    stands = seen.dream
    if not stands.last and stands.phase == "idle":
        return
    said = [f"{stands.phase}{f' ({stands.run})' if stands.run else ''}, {stands.percent} % settled"]
    if stands.batch:
        said.append(f"the next batch takes {stands.batch:,}, up to {stands.batch_until}")
    if stands.last:
        last = stands.last[0]
        counts = ", ".join(f"{number:,} {kind}" for kind, number in last.counts.items())
        said.append(f"last {last.run} {last.result}{f': {counts}' if counts else ''}")
    if stands.failures:
        said.append(f"{many(len(stands.failures), 'entry')} failed before")
    yield _row("dream", "; ".join(said))


def _kept_out(seen: KeptOut) -> str:
    """Return how often secrets were taken out, by kind, and what was left out for its topic."""
    kinds = ", ".join(f"{number:,} {kind}" for kind, number in sorted(seen.redacted.items()))
    parts = [f"secrets taken out: {kinds}"] if kinds else []
    parts += [f"{seen.excluded:,} on excluded topics"] if seen.excluded else []
    return f"{'; '.join(parts)} (since {seen.since})"


def _used(used: Spent) -> str:
    """Return what a model used today."""
    failed = f", {used.failed:,} failed" if used.failed else ""
    cost = f", ${used.cost:,.2f}" if used.cost else ""
    asked = f"{many(used.calls, 'question')} to a model today{failed}"
    return f"{asked}; {many(used.tokens, 'token')}{cost}, {used.seconds:,.0f} s"


def _row(name: str, text: str) -> Line:
    """Return a named line."""
    return line(dim(f"  {name:<{_COLUMN}}"), text, indent=_COLUMN + 2)


def _places(name: str, places: Sequence[Place]) -> Iterator[Line]:
    """Yield the first of some places, and how many there are more."""
    for place in places[:_SHOWN]:
        yield _row(name, f"{place.place}: {cut(place.what)}")
    if len(places) > _SHOWN:
        yield _row(name, f"… and {len(places) - _SHOWN:,} more: `reverie status --json`")
