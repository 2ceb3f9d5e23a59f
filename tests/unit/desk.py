"""An agent's memory, open on a folder of its own, with a clock that stands and ids that count."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Self

from reverie import layout
from reverie.core.pages.citations import cite
from reverie.core.records import Draft, Turn
from reverie.memory import Memory
from reverie.opening import Opening, make_workspace, open_workspace
from reverie.testing import FixedClock, counter_ids

if TYPE_CHECKING:
    from pathlib import Path

    from reverie.core.records import Run
    from reverie.recall import Hit

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
SESSION = "standup"
_PASSING = (layout.LOCKS, layout.RECALL_LOG)  # what a verb may leave that has changed nothing


class Desk:
    """A home with one agent's workspace and the user's configuration; `memory` is open on it."""

    def __init__(self, home: Path, *, now: datetime = NOON, **flags: str) -> None:
        """Make the workspace, or open the one that is there."""
        self.home, self.clock = home, FixedClock(now)
        self.flags = {"zone": "UTC", **flags}
        self._opened = 0
        self.memories: list[Memory] = []
        self.memory = self.keep(Memory(make_workspace(self.opening())))

    def __enter__(self) -> Self:
        """Return the desk itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close every memory that was opened here."""
        for memory in self.memories:
            memory.close()

    @property
    def root(self) -> Path:
        """The agent's workspace."""
        return self.home / "agent"

    def opening(self, **changes: Any) -> Opening:
        """Return how to open the workspace, as another process would: with ids of its own."""
        self._opened += 1
        wanted: dict[str, Any] = {
            "path": self.root,
            "config_dir": self.home / "config",
            "environment": {"REVERIE_EMBEDDER": "none"},
            "flags": self.flags,
            "clock": self.clock,
            "new_id": counter_ids(self._opened << 40),
        }
        return Opening(**{**wanted, **changes})

    def again(self, **changes: Any) -> Memory:
        """Open the workspace once more, beside whoever has it open."""
        return self.keep(Memory(open_workspace(self.opening(**changes))))

    def keep(self, memory: Memory) -> Memory:
        """Close this memory, too, when the test is over."""
        self.memories.append(memory)
        return memory

    # What is done in most tests

    def remember(self, text: str, memory: Memory | None = None, **draft: Any) -> str:
        """Remember a text of the user's and return its id."""
        told = Draft(**{"origin": "user", **draft})
        return (memory or self.memory).remember(text, told).id

    def say(self, *texts: str, session: str = SESSION, memory: Memory | None = None, **turn: Any) -> None:
        """Capture what the user says, a minute apart."""
        for text in texts:
            told = {"role": "user", "content": text, "at": self.clock(), **turn}
            (memory or self.memory).capture(session, Turn(**told))
            self.clock.advance(minutes=1)

    def night(self, *, days: int = 1) -> Run:
        """Drain, let days go by, dream, and return the run."""
        self.memory.drain()
        self.clock.advance(days=days)
        done = self.memory.dream(now=True)
        assert done.result == "productive", done
        return self.memory.log()[0]

    def found(self, query: str, memory: Memory | None = None, **ask: Any) -> list[str]:
        """Return the texts that a query finds, best first."""
        return [hit.text for hit in self.hits(query, memory, **ask)]

    def hits(self, query: str, memory: Memory | None = None, **ask: Any) -> list[Hit]:
        """Return what a query finds, best first."""
        return list((memory or self.memory).recall(query, **ask).hits)

    # Files

    def text(self, path: str) -> str:
        """Return the text of a file of the workspace."""
        return (self.root / path).read_text(encoding="utf-8")

    def write(self, path: str, text: str) -> None:
        """Write a file of the workspace as a person would, with a time of its own."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def page(self, path: str, *lines: str, **front: str) -> str:
        """Write a page of the notebook by hand and return its path in the workspace."""
        told = "".join(f"{name}: {value}\n" for name, value in {"type": "note", **front}.items())
        self.write(
            f"notebook/{path}",
            f"---\n{told}---\n# {path.rpartition('/')[2][:-3]}\n\n" + "\n".join(lines) + "\n",
        )
        return f"notebook/{path}"

    def cited(self, entry: str) -> str:
        """Return the citation of an entry."""
        return cite(self.memory.get(entry).entry.day, entry)

    def bytes(self, root: Path | None = None, *, derived: bool = False) -> dict[str, bytes]:
        """Return every canonical file, and with `derived` the derived ones; locks and the recall log never."""
        return contents(root or self.root, derived=derived)


def contents(root: Path, *, derived: bool = False) -> dict[str, bytes]:
    """Return the bytes of the files below a folder by path, without those that tell nothing."""
    left_out = _PASSING if derived else (*_PASSING, layout.INDEX, layout.DIGESTS)
    found: dict[str, bytes] = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        own = name
        while own.startswith(f"{layout.PEOPLE}/"):  # a person's workspace has the same folders
            own = own.split("/", 2)[2] if own.count("/") > 1 else ""
        if path.is_file() and not any(own == one or own.startswith(f"{one}/") for one in left_out):
            found[name] = path.read_bytes()
    return found


def days_ago(number: int) -> datetime:
    """Return noon so many days before the desk's first day."""
    return NOON - timedelta(days=number)
