"""A round of every verb over a home, each in a memory opened for it and in bounded time."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from lived import NOON, open_memory, opening

from reverie.adapters.anthropic_memory import handle
from reverie.core.records import Draft, Turn
from reverie.errors import ReverieError
from reverie.memory import Memory
from reverie.recall import Ask
from reverie.surface.doctor.looking import examine
from reverie.surface.doctor.symptoms import Patient
from reverie.values import Put, get, put

HANGS = 120  # seconds after which a round counts as hanging; nothing else hangs on them
MARK = "Quokka"  # what only files outside the workspace say
NAME = (("langgraph", "users"), "dana")


@contextmanager
def bounded(what: str) -> Iterator[None]:
    """Fail, rather than wait for ever, when what is done inside hangs."""

    def hung(*_: object) -> None:
        raise AssertionError(f"{what} hangs")

    before = signal.signal(signal.SIGALRM, hung)
    signal.alarm(HANGS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


class Round:
    """One round of every verb over a home: what each said, which errors they ended with, what was acknowledged."""

    def __init__(self, home: Path, *, first: int = 1 << 41, days: int = 2) -> None:
        """Bind to a home."""
        self.home, self.first, self.days = home, first, days
        self.said: dict[str, str] = {}
        self.errors: dict[str, ReverieError] = {}
        self.kept: list[str] = []  # texts of entries that were acknowledged
        self.turns: list[str] = []  # and of turns

    def run(self, *names: str) -> Round:
        """Run the verbs, each in a memory opened for it, all of them when none are named; return itself."""
        for number, (name, verb) in enumerate(VERBS.items()):
            if names and name not in names:
                continue
            with bounded(name):
                try:
                    with open_memory(self.home, days=self.days, first=self.first + (number << 20)) as memory:
                        self.said[name] = repr(verb(self, memory))
                except ReverieError as error:
                    if not str(error).strip():
                        raise  # one that says nothing is as good as a traceback
                    self.errors[name] = error
        return self

    def remember(self, memory: Memory, text: str, draft: Draft | None = None) -> object:
        """Remember a text, and note that it was acknowledged."""
        done = memory.remember(text, draft)
        self.kept.append(text)
        return done

    def capture(self, memory: Memory, session: str, text: str) -> object:
        """Capture a turn, and note that it was acknowledged."""
        at = NOON + timedelta(days=self.days)
        done = memory.capture(session, Turn(role="user", content=text, at=at))
        if done.recorded:
            self.turns.append(text)
        return done

    def doctor(self, memory: Memory) -> object:
        """Look at the installation; a part that breaks is a fault of ours."""
        del memory
        found = examine(Patient(opening=opening(self.home, NOON + timedelta(days=self.days), self.first)))
        assert not [one for one in found.symptoms if "unexpected" in one.what], found
        return found

    def export(self, memory: Memory) -> object:
        """Export everything, and return all its bytes."""
        target = self.home / "export"
        shutil.rmtree(target, ignore_errors=True)
        try:
            return memory.export(target), tree(target)
        finally:
            shutil.rmtree(target, ignore_errors=True)

    def undo(self, memory: Memory) -> object:
        """Undo the last run."""
        return memory.undo(memory.log()[0].run)


def tree(folder: Path) -> dict[str, bytes]:
    """Return the bytes of every file in a folder."""
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def an_entry(memory: Memory, words: str) -> str:
    """Return the id of an entry that says `words`; that of none, when there is none."""
    return next((one.entry.id for one in memory.list() if words in one.entry.text), "0" * 16)


VERBS: dict[str, Callable[[Round, Memory], object]] = {
    "status": lambda _, memory: memory.status(),
    "list": lambda _, memory: memory.list(),
    "due": lambda _, memory: memory.due(),
    "recall": lambda _, memory: (memory.recall("Dana"), memory.recall(MARK)),
    "all": lambda _, memory: memory.ask(Ask(query="tea", k=50)),
    "context": lambda _, memory: memory.context().text,
    "review": lambda _, memory: memory.review(),
    "log": lambda _, memory: memory.log(),
    "check": lambda _, memory: memory.check(),
    "doctor": lambda world, memory: world.doctor(memory),
    "why": lambda _, memory: memory.why(an_entry(memory, "noon")),
    "capture": lambda world, memory: world.capture(memory, "new", "I moved to Porto."),
    "more": lambda world, memory: world.capture(memory, "s0", "I also have a canoe."),
    "remember": lambda world, memory: world.remember(memory, "Mara plays the cello"),
    "keyed": lambda world, memory: world.remember(memory, "Mara plays the flute", Draft(key="flute")),
    "promise": lambda world, memory: world.remember(memory, "Water the plants", Draft(due="2026-07-30")),
    "note": lambda _, memory: memory.note("We decided to paint the shed."),
    "feedback": lambda _, memory: memory.feedback(an_entry(memory, "noon"), "helpful"),
    "correct": lambda _, memory: memory.correct(
        an_entry(memory, "cello"), "Mara plays the oboe", why="change"
    ),
    "hide": lambda _, memory: memory.hide([an_entry(memory, "deploy")]),
    "extract": lambda _, memory: memory.extract(),
    "drain": lambda _, memory: memory.drain(),
    "digest": lambda _, memory: memory.digest(),
    "compact": lambda _, memory: memory.compact("s0", budget=30),
    "publish": lambda _, memory: memory.publish(),
    "consolidate": lambda _, memory: memory.consolidate(),
    "dream": lambda _, memory: memory.dream(now=True),
    "lint": lambda _, memory: memory.lint(fix=True),
    "undo": lambda world, memory: world.undo(memory),
    "file": lambda _, memory: handle(memory, {"command": "view", "path": "/memories"}),
    "view": lambda _, memory: handle(memory, {"command": "view", "path": "/memories/a.md"}),
    "insert": lambda _, memory: handle(
        memory, {"command": "insert", "path": "/memories/a.md", "insert_line": 0, "insert_text": "Lena\n"}
    ),
    "value": lambda _, memory: get(memory.opened.ws, NAME, masked=memory.opened.mask),
    "put": lambda _, memory: put(memory.opened.writable, [Put(namespace=NAME[0], key="new", value=1)]),
    "person": lambda _, memory: (memory.person("Ana").recall("bees"), memory.person("Ana").list()),
    "forget": lambda _, memory: memory.forget([an_entry(memory, "PostgreSQL")]),
    "exclude": lambda _, memory: memory.exclude("gardening"),
    "pause": lambda _, memory: (memory.pause("other"), memory.resume("other")),
    "end": lambda _, memory: memory.end("s1"),
    "erase": lambda _, memory: memory.erase([an_entry(memory, "龙井")]),
    "export": lambda world, memory: world.export(memory),
    "repair": lambda _, memory: memory.check(repair=True),
    "reindex": lambda _, memory: memory.reindex(),
    "again": lambda _, memory: (memory.recall("Dana"), memory.recall(MARK), memory.list(), memory.status()),
}
