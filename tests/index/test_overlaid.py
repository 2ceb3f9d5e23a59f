"""What waits for the drain, laid over the state step by step, equals what is laid at once."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reverie.core.fold import EntryState
from reverie.core.records import Turn
from reverie.errors import Conflict, NotFound
from reverie.memory import Memory
from reverie.opening import Opening, make_workspace
from reverie.testing import FixedClock

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
TALK = "talk one"
SAID = (
    "I work at Acme.",
    "I now work at Initech.",
    "I prefer tea without sugar.",
    "Please remind me to call Dana next Friday.",
    "We decided to use SQLite for the ledger.",
    "My dog is called Momo.",
)
VERBS = ("say", "say", "say", "keep", "keep", "pin", "judge", "hide", "forget", "drain")


def opened(root: Path) -> Memory:
    """Return a memory of the workspace at `root`, as one more process would have it."""
    environment = {"REVERIE_EMBEDDER": "none"}
    flags = {"zone": "UTC", "durability": "os"}
    opening = Opening(
        path=root / "agent",
        config_dir=root / "config",
        environment=environment,
        flags=flags,
        clock=FixedClock(NOON),
    )
    return Memory(make_workspace(opening))


def seen(memory: Memory) -> tuple[dict[str, EntryState], int]:
    """Return what the memory's state says of what waits, and how far it says that the talk was read."""
    state = memory.opened.state_now()
    return {one.entry.id: one for one in state.queued()}, state.mark(TALK)


def act(memory: Memory, verb: str, ids: list[str], *, lot: random.Random) -> None:
    """Do one thing, to one of `ids` where it is done to an entry."""
    one = lot.choice(ids)
    if verb == "say":
        memory.capture(TALK, Turn(role="user", content=lot.choice(SAID), at=NOON))
        memory.extract()
        ids += [state.entry.id for state in memory.opened.state_now().queued()]
    elif verb == "keep":
        ids.append(memory.remember(lot.choice(SAID)).id)
    elif verb == "pin":
        memory.pin(one, unpin=lot.random() < 0.5)
    elif verb == "judge":
        memory.feedback(one, lot.choice(("helpful", "wrong")))
    elif verb == "hide":
        memory.hide([one])
    elif verb == "forget":
        memory.forget([one])
    else:
        memory.drain()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_what_is_laid_step_by_step_equals_what_is_laid_at_once(tmp_path: Path, seed: int) -> None:
    """Through writes, links, judgements, forgets and drains of two processes, no queued state is ever an old one."""
    lot = random.Random(seed)
    with opened(tmp_path) as memory, opened(tmp_path) as neighbour:
        ids = [memory.remember("It began.").id]
        for _ in range(20):
            verb = lot.choice(VERBS)
            try:
                act(lot.choice((memory, memory, neighbour)), verb, ids, lot=lot)
            except (NotFound, Conflict):
                continue
            with opened(tmp_path) as fresh:
                assert seen(memory) == seen(fresh), verb
