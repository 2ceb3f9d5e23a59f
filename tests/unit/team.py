"""A shared workspace and two agents who belong to it, each with a memory of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from desk import NOON, contents

from reverie.core.records import Draft
from reverie.entrance import Opening
from reverie.memory import Memory
from reverie.opening import make_workspace, open_workspace
from reverie.testing import FixedClock, counter_ids

if TYPE_CHECKING:
    from pathlib import Path

AGENTS = ("ann", "bob")


class Team:
    """A home in which `ann` and `bob` subscribe to `team`; each of them is a memory, and a member."""

    def __init__(self, home: Path, *, agents: tuple[str, ...] = AGENTS, mutual: bool = False) -> None:
        """Make the workspaces; with `mutual`, ann and bob subscribe to one another instead."""
        self.home, self.clock = home, FixedClock(NOON)
        self.opened = 0
        self.open: list[Memory] = []
        names = (*agents, "team")
        self.config(mutual=mutual, names=names)
        for name in names:
            self.keep(Memory(make_workspace(self.opening(name))))
        self.memories = dict(zip(names, self.open, strict=True))
        pairs = [("ann", "bob"), ("bob", "ann")] if mutual else [("team", name) for name in agents]
        for shared, member in pairs:
            self.memories[shared].members(add=str(self.root(member)))

    def __enter__(self) -> Self:
        """Return the team itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close every memory."""
        for memory in self.open:
            memory.close()

    def __getitem__(self, name: str) -> Memory:
        """Return one's memory."""
        return self.memories[name]

    def config(self, *, mutual: bool, names: tuple[str, ...]) -> None:
        """Write the user's configuration."""
        lines = ["[shared]", *(f'{name} = "{self.root(name)}"' for name in names)]
        for name in names:
            if name != "team":
                other = ("bob" if name == "ann" else "ann") if mutual else "team"
                lines += [f'[workspace."{self.root(name)}"]', f'subscriptions = ["{other}"]']
        (self.home / "config").mkdir(parents=True, exist_ok=True)
        (self.home / "config" / "config.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def root(self, name: str) -> Path:
        """Return one's workspace."""
        return self.home / name

    def opening(self, name: str, **changes: Any) -> Opening:
        """Return how to open one's workspace."""
        self.opened += 1
        wanted: dict[str, Any] = {
            "path": self.root(name),
            "config_dir": self.home / "config",
            "environment": {"REVERIE_EMBEDDER": "none", "TZ": "UTC", "HOME": str(self.home)},
            "clock": self.clock,
            "new_id": counter_ids(self.opened << 40),
        }
        return Opening(**{**wanted, **changes})

    def again(self, name: str, **changes: Any) -> Memory:
        """Open one's workspace once more."""
        return self.keep(Memory(open_workspace(self.opening(name, **changes))))

    def keep(self, memory: Memory) -> Memory:
        """Close this memory, too, when the test is over."""
        self.open.append(memory)
        return memory

    def tell(self, name: str, text: str, **draft: Any) -> str:
        """Remember a text of the user's for the team, and return its id."""
        told = {"origin": "user", "scope": "team", **draft}
        return self[name].remember(text, Draft(**told)).id

    def found(self, name: str, query: str) -> list[str]:
        """Return the texts that one finds."""
        return [hit.text for hit in self[name].recall(query, k=50).hits]

    def holding(self, name: str, word: str) -> list[str]:
        """Return the files of one's workspace, derived ones too, in whose bytes a word stands."""
        files = contents(self.root(name), derived=True)
        return [path for path, data in files.items() if word.encode() in data.lower()]
