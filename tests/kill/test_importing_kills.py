"""Real processes that import, killed at random moments: whoever imports the same again has all of it once."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from reverie.memory import Memory
from reverie.opening import Opening, make_workspace
from reverie.store import sessions

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

KILLS = 9
TURNS = [f"Turn {n} about tea" for n in range(6_000)]
FACTS = [f"Likes harbour {n}" for n in range(6_000)]
# It drains its queue often, so that it is killed in the middle of that too.
CHILD = """
import sys
from pathlib import Path
from reverie import care, importing
from reverie.importing import Wish
from reverie.memory import Memory
from reverie.opening import Opening, make_workspace

care._QUEUED, importing._FACTS = 20_000, 300
home, source = Path(sys.argv[1]), Path(sys.argv[2])
opening = Opening(path=home / "agent", config_dir=home / "config", environment={}, flags={"zone": "UTC"})
with Memory(make_workspace(opening)) as memory:
    done = memory.import_(source, wish=Wish(tell=lambda far: print(far.seen, flush=True)))
assert not done.unread, done.skipped
"""


def _lines(path: Path, found: Iterable[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in found))
    return path


def _killed(home: Path, source: Path, lots: random.Random) -> bool:
    """Import in a process of its own and kill it somewhere; return whether it had not ended by then."""
    command = [sys.executable, "-c", CHILD, str(home), str(source)]
    until = lots.randrange(len(TURNS))
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        for told in child.stdout:
            if int(told) >= until:
                break
        with suppress(subprocess.TimeoutExpired):  # anywhere in what comes between two tellings
            child.wait(timeout=lots.random() / 20)
        child.kill()
    return child.returncode < 0


def _opened(home: Path) -> Memory:
    return Memory(
        make_workspace(
            Opening(path=home / "agent", config_dir=home / "config", environment={}, flags={"zone": "UTC"})
        )
    )


@pytest.mark.slow
def test_killed_imports_of_turns_lose_and_double_nothing(tmp_path: Path) -> None:
    """Imports killed in the middle leave turns whole and in order, and one more import makes each stand once."""
    said = ({"role": "user", "content": text, "session": f"s{n % 3}"} for n, text in enumerate(TURNS))
    source, lots = _lines(tmp_path / "turns.jsonl", said), random.Random(7)
    assert sum(_killed(tmp_path, source, lots) for _ in range(KILLS)) > KILLS // 3
    with _opened(tmp_path) as memory:
        done = memory.import_(source)
        assert (done.turns + done.repeated, done.unread) == (len(TURNS), 0)
        for n in range(3):
            stored = [turn.content for turn in sessions.read(memory.opened.ws, f"s{n}")]
            assert stored == TURNS[n::3]
        assert [one for one in memory.check() if one.severity == "error"] == []


@pytest.mark.slow
def test_killed_imports_of_facts_lose_and_double_nothing(tmp_path: Path) -> None:
    """Imports killed while they queue or drain facts leave none lost or doubled, whatever was drained by then."""
    source = _lines(
        tmp_path / "memory.jsonl",
        (
            {"type": "entity", "name": "Ines", "entityType": "person", "observations": [f"Ines: {text}"]}
            for text in FACTS
        ),
    )
    lots = random.Random(7)
    assert sum(_killed(tmp_path, source, lots) for _ in range(KILLS)) > KILLS // 3
    with _opened(tmp_path) as memory:
        done = memory.import_(source)
        assert (done.facts + done.repeated, done.unread) == (len(FACTS), 0)
        memory.drain()
        assert Counter(state.entry.text for state in memory.list()) == Counter(
            f"Ines: {text}" for text in FACTS
        )
        assert [one for one in memory.check() if one.severity == "error"] == []
