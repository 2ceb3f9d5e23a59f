"""A workspace that has lived two days, whole, and the ways its files are harmed."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from reverie import layout
from reverie.core.records import Draft, Turn
from reverie.errors import ReverieError
from reverie.memory import Memory
from reverie.opening import Opening, make_workspace, open_workspace
from reverie.recall import Ask
from reverie.testing import FixedClock, counter_ids

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
TALK = (
    "I now work at Microsoft as a designer.",
    "My sister Ana lives in Lisbon.",
    "I prefer tea over coffee.",
    "我喜欢喝龙井。",
    "We decided to use PostgreSQL for the billing service.",
    "My dog is called Rex.",
)


def opening(root: Path, now: datetime, first: int) -> Opening:
    """Return how to open the workspace in `root`, with ids from `first` on."""
    return Opening(
        path=root / "agent",
        config_dir=root / "config",
        environment={},
        flags={"zone": "UTC", "durability": "os", "dream.min_facts": "1", "embedder": "none"},
        clock=FixedClock(now),
        new_id=counter_ids(first),
    )


def open_memory(root: Path, *, days: int = 2, first: int = 1 << 40) -> Memory:
    """Open the memory in `root`, some days after it began."""
    return Memory(open_workspace(opening(root, NOON + timedelta(days=days), first)))


def live(root: Path) -> None:
    """Give the workspace sessions, explicit writes, logs, a dream, digests, MEMORY.md, and something queued."""
    wanted = opening(root, NOON, 1)
    with Memory(make_workspace(wanted)) as memory:
        for number, text in enumerate(TALK):
            at = NOON + timedelta(minutes=number)
            memory.capture(f"s{number % 2}", Turn(role="user", content=text, at=at))
        kept = memory.remember("Dana prefers calls before noon", Draft(category="preference", sig=0.9))
        memory.remember("Send Dana the quote", Draft(due="2026-07-10"))
        memory.note("We decided to deploy on Fridays.")
        memory.extract()
        memory.drain()
        memory.feedback(kept.id, "helpful")
        memory.pin(kept.id)
        memory.digest()
        memory.compact("s0", budget=40)
    with open_memory(root, days=1, first=1 << 32) as memory:
        memory.consolidate()
        memory.remember("Zephyr renews every March", Draft(sig=0.8))
        memory.feedback(kept.id, "more")
        memory.publish()
        memory.check()


def delete(path: Path) -> None:
    """Remove the file."""
    path.unlink()


def cut(path: Path) -> None:
    """Cut the file in half."""
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flip(path: Path) -> None:
    """Flip one bit in the middle."""
    data = bytearray(path.read_bytes())
    if data:
        data[len(data) // 2] ^= 4
    path.write_bytes(bytes(data))


def junk(path: Path) -> None:
    """Append what is no record, with NULs and bytes that are no text."""
    with path.open("ab") as file:
        file.write(b'\0\0\xff{"v":1,"torn')


def folder(path: Path) -> None:
    """Put a folder in the file's place."""
    path.unlink()
    path.mkdir()


def nul(path: Path) -> None:
    """Fill the file with NUL, as a power cut may."""
    path.write_bytes(bytes(path.stat().st_size))


WORDS = ("Dana", "龙井", "Microsoft")
HARMS = (delete, cut, flip, junk, folder, nul)


def asked(word: str) -> Ask:
    """Return the question for every entry with a word: what is found, for the order rests on a corpus' statistics."""
    return Ask(query=word, k=50, kinds=("entry",))


def answers(memory: Memory) -> dict[str, object]:
    """Return what the derived files give: entries, recalls, promises, MEMORY.md and the digests, built when missing."""
    root = memory.root
    memory.digest()
    memory.publish()
    return {
        "list": sorted((one.entry.id, one.entry.text, one.sig) for one in memory.list()),
        "recall": {word: sorted(hit.id for hit in memory.ask(asked(word)).hits) for word in WORDS},
        "due": [line.state.entry.text for line in memory.due().lines],
        "memory": (root / layout.MEMORY).read_text(encoding="utf-8"),
        "digests": {
            path.name: path.read_text(encoding="utf-8") for path in (root / layout.DIGESTS).iterdir()
        },
    }


VERBS: dict[str, Callable[[Memory], object]] = {
    "status": lambda memory: memory.status(),
    "list": lambda memory: memory.list(),
    "due": lambda memory: memory.due(),
    "recall": lambda memory: memory.recall("Dana"),
    "context": lambda memory: memory.context(),
    "review": lambda memory: memory.review(),
    "log": lambda memory: memory.log(),
    "remember": lambda memory: memory.remember("Mara plays the cello"),
    "promise": lambda memory: memory.remember("Water the plants", Draft(due="2026-07-30")),
    "capture": lambda memory: memory.capture("new", Turn(role="user", content="I moved to Porto.", at=NOON)),
    "extract": lambda memory: memory.extract(),
    "drain": lambda memory: memory.drain(),
    "digest": lambda memory: memory.digest(),
    "publish": lambda memory: memory.publish(),
    "dream": lambda memory: memory.dream(now=True),
}


def attempt(memory: Memory, verb: str) -> str:
    """Run a verb and return the name of the error it ended with, if it is one of ours; any other goes through."""
    try:
        VERBS[verb](memory)
    except ReverieError as error:
        return type(error).__name__
    return ""


def canonical(root: Path) -> list[str]:
    """Return the paths of the workspace's canonical files."""
    derived = (layout.INDEX, layout.DIGESTS, layout.LOCKS, layout.RECALL_LOG, layout.COUNTERS, layout.MEMORY)
    base = root / "agent"
    paths = (path.relative_to(base).as_posix() for path in sorted(base.rglob("*")) if path.is_file())
    return [path for path in paths if not path.startswith(derived)]


def copy(lived: Path, to: Path) -> Path:
    """Copy a home."""
    shutil.copytree(lived, to, dirs_exist_ok=True)
    return to
