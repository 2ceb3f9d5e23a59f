"""How often a model's replies about a span could not be read, and into how small pieces it is cut by now.

Owns `.state/counters/extract.json`; promises that a restart forgets no try, so that a span which cannot be read is
isolated in the end; a lost file costs no more than the same tries again. Never holds a word of what was said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Literal

import msgspec

from reverie import layout
from reverie.core.days import shifted
from reverie.core.formats import framing
from reverie.store.workspace import Workspace

PATH = layout.counters_file("extract")
KEPT = 50  # of the spans that were given up, for `status`
TOLD_DAYS = 7


Verdict = Literal["again", "halve", "give up"]


class Try(msgspec.Struct, frozen=True, omit_defaults=True):
    """A span that could not be read: where it begins, how often, the most turns to ask about at once (0: as ever).

    `left` are the turns of the span that was halved which have not been read since.
    """

    at: str
    tries: int = 0
    most: int = 0
    left: int = 0


class GivenUp(msgspec.Struct, frozen=True):
    """A turn or a note's paragraph that no reply could be read about: what it is, why, and when it was given up."""

    what: str
    why: str
    when: datetime


class Tries(msgspec.Struct, frozen=True, omit_defaults=True, tag="extract"):
    """The spans that wait for another try, by session or note, and those that were given up last."""

    waiting: dict[str, Try] = {}
    given_up: tuple[GivenUp, ...] = ()


def read(ws: Workspace) -> Tries:
    """Return what is known; a missing or damaged file counts as new."""
    return _decoded(ws.disk.read(PATH))


def told(ws: Workspace) -> Iterator[tuple[str, str]]:
    """Yield what needs attention, and what to do about it; what was given up is told for `TOLD_DAYS`."""
    known = read(ws)
    for key, tried in known.waiting.items():
        if tried.tries or tried.most:
            yield (
                f"the model's answers about {key} cannot be read; what was said there is unread",
                "nothing is lost: `reverie extract` asks again; if it goes on, set another `extraction.model`",
            )
    since = shifted(ws.clock(), -timedelta(days=TOLD_DAYS))
    late = [one for one in known.given_up if one.when >= since]
    if late:
        yield (
            f"{len(late)} turns or paragraphs were kept raw, last {late[-1].what}: {late[-1].why}",
            "recall finds them, and turns wait for the dream; `reverie remember` what matters in them",
        )


def of(ws: Workspace, key: str, at: str) -> Try:
    """Return the tries of the span that begins `at` in a session or note."""
    known = read(ws).waiting.get(key)
    return known if known is not None and known.at == at else Try(at)


def failed(ws: Workspace, key: str, tried: Try, *, size: int, cut: bool) -> Verdict:
    """Keep that a span of `size` turns could not be read, and return what becomes of it.

    It is tried again, until `extraction.tries` is reached or its reply was cut short, which asking again would not
    mend: then it is halved, and one that cannot be is given up, which `settle` is to say.
    """
    fresh = msgspec.structs.replace(tried, tries=tried.tries + 1)
    verdict: Verdict = "again"
    if cut or fresh.tries >= ws.settings.extraction.tries:
        verdict = "halve" if size > 1 else "give up"
    if verdict == "halve":
        fresh = msgspec.structs.replace(fresh, tries=0, most=(size + 1) // 2, left=max(fresh.left, size))
    _change(ws, lambda known: msgspec.structs.replace(known, waiting={**known.waiting, key: fresh}))
    return verdict


def settle(
    ws: Workspace, key: str, tried: Try, *, size: int, at: str, given_up: GivenUp | None = None
) -> None:
    """Note that a span of `size` turns was read, or given up; what follows begins `at`.

    What is left of a span that was halved goes on in pieces of the same size, so that the turn at fault is found by
    halving alone.
    """
    left = tried.left - size
    fresh = Try(at, most=tried.most, left=left) if left > 0 and tried.most else None

    def settled(known: Tries) -> Tries:
        waiting = {name: one for name, one in known.waiting.items() if name != key}
        if fresh is not None:
            waiting[key] = fresh
        more = () if given_up is None else (given_up,)
        return Tries(waiting, (*known.given_up, *more)[-KEPT:])

    if given_up is not None or fresh is not None or key in read(ws).waiting:
        _change(ws, settled)


def _change(ws: Workspace, change: Callable[[Tries], Tries]) -> None:
    ws.disk.rewrite(PATH, lambda data: framing.frame(change(_decoded(data))))


def _decoded(data: bytes | None) -> Tries:
    return framing.last(data, Tries) or Tries()
