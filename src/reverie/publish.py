"""Step 8: the store becomes MEMORY.md, within its budget: same store, same day, same bytes.

In: the state of the entries that weigh most, the overview page, today's and the week's digest, and MEMORY.md as people
left it. Out: MEMORY.md with its block compiled anew, and word of what did not fit. No model, no git.

The order:

1. the file, the page and the digests are read, the block is compiled and set between the markers
2. what a person changed inside the markers is handed to `keep`, which returns once it is stored
3. the file is read again: if a person changed it meanwhile, all of this starts over
4. the file is replaced, if its bytes differ
5. the instant is noted in the counters

What a crash leaves: before 4, the old file whole, and at most a kept edit, which `keep` is handed again and has to know
by its text. Between 4 and 5, the new file; the next publish does not know that a minute has not passed and writes the
same bytes, which is no write. The block is derived: whoever deletes MEMORY.md gets it back at the next publish.

Next: nothing. `recall` and `context` read what the eight steps made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from reverie import layout
from reverie.core.fold import EntryState
from reverie.core.formats.utf8 import to_bytes, to_text
from reverie.core.glance.memory_file import Compiled, Merged, compile_memory, merge_block, wanted
from reverie.core.glance.memory_pages import Sources
from reverie.core.glance.staleness import Freshness, just_now, stale
from reverie.core.glance.standing import Shortlist
from reverie.errors import BudgetOverflow, Busy
from reverie.store import counters
from reverie.store.counters import PublishCounters
from reverie.store.workspace import Workspace

TODAY, WEEK = layout.digest_file("today"), layout.digest_file("week")
Choose = Callable[[Sequence[str], int], Shortlist]  # given what is cited and how many entries can be shown
_TRIES = 5  # a person's editor saves once; more often is a program that fights us for the file


class Published(msgspec.Struct, frozen=True, kw_only=True):
    """What became of MEMORY.md.

    `changed` whether it was written; `characters` its size now; `left_out` the ids that did not fit in order of rank,
    `protected_out` the protected among them; `edited` what a person had changed inside the markers; `problem` a
    sentence when something must be done about the file; `waits` when it was not compiled because automatic refreshing
    is off or a minute has not passed.
    """

    path: str = layout.MEMORY
    changed: bool = False
    characters: int = 0
    left_out: tuple[str, ...] = ()
    protected_out: tuple[str, ...] = ()
    edited: str | None = None
    problem: str = ""
    waits: bool = False


def publish(
    ws: Workspace, choose: Choose, *, keep: Callable[[str], None], at_once: bool = False
) -> Published:
    """Compile MEMORY.md from what `choose` finds to weigh most, what was queued a moment ago included.

    `keep` stores the text of an edit inside the markers durably, once however often it is handed the same. `at_once`
    is for a person's own call and for a forget: it waits for no minute and heeds no `auto_refresh`. Raises
    StoreUnwritable, UnsafePath, and Busy when the file changes under every try.
    """
    if waits(ws, at_once=at_once):
        return Published(waits=True)
    now, before = ws.clock(), freshness(ws)
    sources = Sources(
        overview=_text(ws, f"{ws.notebook}/{layout.OVERVIEW}"), today=_text(ws, TODAY), week=_text(ws, WEEK)
    )
    day = ws.calendar.day(now)
    cited, most = wanted(sources, ws.settings)
    shortlist = choose(cited, most)
    for _ in range(_TRIES):
        data = ws.disk.read(layout.MEMORY)
        compiled, merged = _compiled(ws, shortlist, sources=sources, day=day, data=data)
        if merged.problem:
            return _published(compiled, merged, changed=False)
        if merged.edited is not None:
            keep(merged.edited)
        new = to_bytes(merged.text)
        if ws.disk.read(layout.MEMORY) != data:
            continue
        if new != data:
            ws.disk.replace(layout.MEMORY, new)
        # What waited is shown, and an hour or a day that changed nothing need not be looked at again.
        if new != data or before.waiting is not None or stale(before, now, calendar=ws.calendar):
            counters.write(ws, PublishCounters(last=now))
        return _published(compiled, merged, changed=new != data)
    raise Busy(
        f"{layout.MEMORY} changes faster than it can be compiled: close what writes it, then publish again"
    )


def _compiled(
    ws: Workspace, shortlist: Shortlist, *, sources: Sources, day: str, data: bytes | None
) -> tuple[Compiled, Merged]:
    """Return the block and the whole file, for MEMORY.md as it reads now."""
    # What a person wrote need not be UTF-8; escaped like this, it is written back byte for byte.
    existing = to_text(data)
    compiled = compile_memory(
        shortlist, sources, day=day, calendar=ws.calendar, settings=ws.settings, existing=existing
    )
    return compiled, merge_block(existing, compiled.inner)


def _published(compiled: Compiled, merged: Merged, *, changed: bool) -> Published:
    return Published(
        changed=changed,
        characters=len(merged.text),
        left_out=compiled.left_out,
        protected_out=compiled.protected_out,
        edited=merged.edited,
        problem=merged.problem or compiled.problem,
    )


def must_hold(ws: Workspace, pins: Sequence[EntryState]) -> None:
    """Raise BudgetOverflow when MEMORY.md cannot show all of `pins`, the hand-written part beside them."""
    compiled, _ = _compiled(
        ws,
        Shortlist(states=pins),
        sources=Sources(),
        day=ws.calendar.day(ws.clock()),
        data=ws.disk.read(layout.MEMORY),
    )
    if compiled.left_out:
        message = (
            f"{len(pins)} pins do not fit into MEMORY.md at the budget {ws.settings.publish.budget_preset!r}:"
            " unpin one, shorten what you wrote in it, or choose a larger publish.budget_preset"
        )
        raise BudgetOverflow(message)


def waits(ws: Workspace, *, at_once: bool) -> bool:
    """Whether `publish` would only say that it waits; asked before all states are read for it."""
    if at_once:
        return False
    return not ws.settings.publish.auto_refresh or just_now(freshness(ws), ws.clock())


def note(ws: Workspace, *, pressing: bool) -> None:
    """Note that MEMORY.md has something to show which it does not show yet; `pressing` when that is notable."""
    before = counters.read(ws, PublishCounters)
    if before.waiting is None or (pressing and not before.pressing):
        since = before.waiting or ws.clock()
        counters.write(ws, PublishCounters(before.last, since, pressing or before.pressing))


def is_stale(ws: Workspace) -> bool:
    """Whether MEMORY.md should be compiled at this opportunity, where it is refreshed by itself."""
    return ws.settings.publish.auto_refresh and stale(freshness(ws), ws.clock(), calendar=ws.calendar)


def freshness(ws: Workspace) -> Freshness:
    """Return how MEMORY.md stands."""
    seen = counters.read(ws, PublishCounters)
    return Freshness(last=seen.last, waiting=seen.waiting, pressing=seen.pressing)


def _text(ws: Workspace, path: str) -> str:
    """Return a page's or digest's text, empty when it is absent; bytes that are no UTF-8 become U+FFFD."""
    return (ws.disk.read(path) or b"").decode("utf-8", "replace")
