"""A workspace that lived three days, and another home of the same user, for exports and what they meet."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from desk import Desk, days_ago

if TYPE_CHECKING:
    from collections.abc import Iterator


def live(desk: Desk) -> Desk:
    """Let a workspace have two sessions, explicit writes, a promise, a page, and something forgotten."""
    desk.clock.set(days_ago(3))
    desk.say("I work at Acme.", "I prefer tea in the morning.", session="one")
    desk.remember("Send Dana the quote", due="2026-07-10")
    gone = desk.remember("User is allergic to macadamia nuts")
    hidden = desk.remember("The alarm is loud")
    desk.memory.consolidate()
    desk.memory.forget([gone])
    desk.memory.hide([hidden])
    desk.clock.set(days_ago(1))
    desk.memory.dream(now=True)
    desk.say("I moved to Porto.", session="two")
    desk.memory.consolidate()
    desk.remember("Still queued: the plants want water")
    return desk


@contextmanager
def another(lived: Desk) -> Iterator[Desk]:
    """Give another home of the same user, with memories of its own."""
    (lived.home / "other").mkdir()
    with Desk(lived.home / "other", now=lived.clock()) as made:
        made.say("I adopted a cat.", session="three")
        made.remember("The office closes at six")
        made.memory.consolidate()
        yield made
