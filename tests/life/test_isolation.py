"""Many people and agents side by side: what each says is found by nobody it was not said to."""

from __future__ import annotations

import random
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

import reverie
from reverie import ContextRequest, Draft, Memory, Opening, Turn
from reverie.testing import FixedClock, ToyEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

AGENTS = ("support", "sales", "Support", "支持")
PEOPLE = ("Dana", "dana", "李雷", "../Dana", "Dana Okafor")
DAYS, DEEDS = 3, 120
PLACES = [(agent, "") for agent in AGENTS] + [(agent, person) for agent in AGENTS for person in PEOPLE]


def _opening(root: Path, place: tuple[str, str], clock: FixedClock, *, index: str) -> Opening:
    return Opening(
        path=root / "agents" / str(AGENTS.index(place[0])),
        config_dir=root / "config",
        environment={"HOME": str(root), "TZ": "UTC", "REVERIE_EMBEDDER": "none"},
        flags={"index": index},
        clock=clock,
        embedder=ToyEmbedder(),
    )


def _mark(place: tuple[str, str]) -> str:
    """Return a word that is said in one place alone."""
    return f"marker{PLACES.index(place):02d}x"


def _deeds(place: tuple[str, str], lot: random.Random, clock: FixedClock) -> list[Callable[[Memory], object]]:
    """Return everything that may be done with a memory; whatever says something says the place's own word."""
    word, number = _mark(place), lot.randrange(10_000)
    session = f"talk {lot.randrange(3)}"  # the same names everywhere

    def say(role: str, text: str) -> Callable[[Memory], object]:
        return lambda memory: memory.capture(session, Turn(role=role, content=text, at=clock()))  # type: ignore[arg-type]

    return [
        say("user", f"I keep {number} bottles of {word} in the cellar."),
        say("assistant", f"Noted, {word} it is."),
        lambda memory: memory.remember(f"User likes {word} number {number}", Draft(origin="user", sig=0.9)),
        lambda memory: memory.remember(f"Bring {word} {number}", Draft(due="2026-07-20", origin="user")),
        lambda memory: memory.remember(f"Never mix {word} {number}", Draft(pin=True, origin="user")),
        lambda memory: memory.note(f"Bought {word} {number}."),
        lambda memory: memory.end(session),
        lambda memory: memory.extract(),
        lambda memory: memory.drain(),
        lambda memory: memory.digest(),
        lambda memory: memory.publish(),
        lambda memory: memory.recall(f"{word} bottles marker", k=20),
        lambda memory: memory.context(ContextRequest(query=f"what about {word}", session=session)),
        lambda memory: memory.compact(session, budget=2_000),
        lambda memory: memory.consolidate(),
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "index"), [(1, "embedded"), (2, "embedded"), (3, "lancedb")])
def test_five_people_and_four_agents_leak_nowhere(tmp_path: Path, seed: int, index: str) -> None:
    """In no file, index, recall or context of one stands a word of another; a person reads the agent's (R-34)."""
    if index == "lancedb":
        pytest.importorskip("lancedb", reason="the extra `lancedb` is not installed")
    lot, clock = random.Random(seed), FixedClock(datetime(2026, 7, 1, 9, tzinfo=UTC))
    agents: dict[str, Memory] = {}
    for agent in AGENTS:
        agents[agent] = reverie.init(_opening(tmp_path, (agent, ""), clock, index=index))
    places = {(agent, ""): memory for agent, memory in agents.items()}
    places |= {(a, p): agents[a].person(p) for a, p in PLACES if p}
    try:
        for _ in range(DAYS):
            for _ in range(DEEDS):
                place = lot.choice(PLACES)
                lot.choice(_deeds(place, lot, clock))(places[place])
                clock.advance(minutes=1)
            for place in lot.sample(PLACES, len(PLACES)):
                if lot.random() < 0.4:
                    places[place].consolidate()
                    places[place].dream(now=True)
            clock.advance(days=1)
        told = sum(_look(place, memory) for place, memory in places.items())
        assert told > len(PLACES) * 2
        for place in PLACES:
            _search_files(place, places[place])
        for agent, memory in agents.items():
            _go_and_come_back(memory, tmp_path / "copies" / str(AGENTS.index(agent)), clock)
    finally:
        for memory in places.values():
            memory.close()


def _go_and_come_back(memory: Memory, home: Path, clock: FixedClock) -> None:
    """Export a lived workspace with its people and import it elsewhere: every canonical byte is equal (R-30)."""
    home.mkdir(parents=True)
    copy = memory.export(home / "copy").folder
    opening = Opening(
        path=home / "ws",
        config_dir=home.parent.parent / "config",
        environment={"HOME": str(home), "TZ": "UTC", "REVERIE_EMBEDDER": "none"},
        clock=clock,
    )
    with reverie.init(opening) as again:
        again.import_(copy)
        assert _canonical(again.root) == _canonical(memory.root)
        assert again.check() == ()
        mine, theirs = ({one.entry.id: one for one in each.list()} for each in (memory, again))
        assert theirs == mine


def _canonical(root: Path) -> dict[str, bytes]:
    """Return every file that does not come back by itself, but for whose workspace it is."""
    found = {
        path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()
    }
    left = re.compile(r"(people/[^/]+/)?(\.index|digests|\.state/locks)/|\.state/workspace\.json$")
    return {path: data for path, data in found.items() if not left.match(path)}


def _look(place: tuple[str, str], memory: Memory) -> int:
    """Look through every reader of one place; return in how many texts its own word or the agent's stood."""
    may = {_mark(place), _mark((place[0], ""))}
    texts = [hit.text + hit.evidence for hit in memory.recall("marker bottles likes bring never", k=200).hits]
    for other in PLACES:
        texts += [hit.text + hit.evidence for hit in memory.recall(f"{_mark(other)} bottles", k=50).hits]
    texts += [memory.context(ContextRequest(query=" ".join(map(_mark, PLACES)), budget=20_000)).text]
    texts += [state.entry.text for state in memory.list()]
    texts += [due.line for due in memory.due().lines]
    texts += [item.text for item in memory.review()]
    for other in PLACES:
        leaked = [text for text in texts if _mark(other) in text and _mark(other) not in may]
        assert not leaked, (place, other, leaked[:2])
    return sum(any(mark in text for mark in may) for text in texts)


def _search_files(place: tuple[str, str], memory: Memory) -> None:
    """Search every byte of one place's folder, people beneath an agent left out, for anybody else's word.

    A person's folder may say what the agent knows only where a person was shown it.
    """
    shown = {_mark((place[0], ""))} if place[1] else set()
    for path in memory.root.rglob("*"):
        own = path.relative_to(memory.root)
        if not path.is_file() or (not place[1] and own.parts[0] == "people"):
            continue
        data = path.read_bytes()
        for other in PLACES:
            if other != place and _mark(other).encode() in data:
                assert _mark(other) in shown, (place, other, own)
                assert own.parts[:2] == (".state", "rendered"), (place, other, own)
