"""Every verb that lets go, and everything that runs afterwards: what each one promises holds."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

import reverie
from reverie import ContextRequest, Draft, Memory, Opening, Turn
from reverie.core.where import Where
from reverie.errors import NotFound
from reverie.testing import FixedClock, ScriptedAgent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
KEPT = "User moved to Lisbon in 2026-06"
WORD = "macadamia"


def opening(root: Path, clock: FixedClock, **changes: Any) -> Opening:
    """Return how to open the workspace in `root`, with nobody's own configuration."""
    wanted: dict[str, Any] = {
        "path": root / "ws",
        "config_dir": root / "config",
        "environment": {"HOME": str(root), "TZ": "UTC", "REVERIE_EMBEDDER": "none"},
        "clock": clock,
    }
    return Opening(**{**wanted, **changes})


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """Return a memory that lived a day, dreamt of it, and published."""
    clock = FixedClock(NOON)
    with reverie.init(opening(tmp_path, clock)) as made:
        talk = ("I'm allergic to macadamia nuts. I moved to Lisbon in June.", "I prefer tea over coffee.")
        for text in talk:
            made.capture("s1", Turn(role="user", content=text, at=clock()))
        made.capture("s1", Turn(role="assistant", content="Noted: no macadamia nuts for you.", at=clock()))
        made.end("s1")
        made.consolidate()
        clock.advance(days=1)
        made.dream(now=True)
        made.publish()
        yield made


def one(memory: Memory) -> str:
    """Return the id of the entry that is let go."""
    return next(state.entry.id for state in memory.list() if WORD in state.entry.text)


def _hide(memory: Memory) -> None:
    memory.hide([one(memory)])


def _forget(memory: Memory) -> None:
    memory.forget([one(memory)])


def _erase(memory: Memory) -> None:
    assert memory.erase([one(memory)]).leftovers == ()


def _exclude(memory: Memory) -> None:
    """Exclude the topic, and forget what names it already, as the preview invites to."""
    named = memory.exclude(WORD)
    memory.forget([state.entry.id for state in named])


VERBS: dict[str, Callable[[Memory], None]] = {
    "hide": _hide,
    "forget": _forget,
    "erase": _erase,
    "exclude": _exclude,
}


def _clock(memory: Memory) -> FixedClock:
    clock = memory.opened.ws.clock
    assert isinstance(clock, FixedClock)
    return clock


def _night(memory: Memory) -> None:
    memory.capture("s2", Turn(role="user", content="I work at a bakery.", at=_clock(memory)()))
    memory.consolidate()
    _clock(memory).advance(days=1)
    memory.dream(now=True)


def _note(memory: Memory) -> None:
    path = memory.root / "notes" / "2026-07-01.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text("Bought milk.\n")
    memory.consolidate()


WAYS: dict[str, Callable[[Memory], object]] = {
    "drain": lambda memory: memory.drain(),
    "extract": lambda memory: memory.extract(),
    "digest": lambda memory: memory.digest(),
    "publish": lambda memory: memory.publish(),
    "consolidate": lambda memory: memory.consolidate(),
    "reindex": lambda memory: memory.reindex(),
    "repair": lambda memory: memory.check(repair=True),
    "lint": lambda memory: memory.lint(),
    "compact": lambda memory: memory.compact("s1", budget=60),
    "a note": _note,
    "a night": _night,
}


def entries(memory: Memory) -> list[str]:
    """Return every text by which an entry itself is shown: lists, recall of entries, what is due, a host's prompt."""
    memory.publish()
    memory.digest()
    found = [state.entry.text for state in memory.list()]
    found += [hit.text for hit in memory.ask(reverie.Ask(query=WORD, kinds=("entry",))).hits]
    found += [line for line in (memory.root / "MEMORY.md").read_text().splitlines() if "mem_id" in line]
    for path in (memory.root / "digests").glob("*.md"):
        found += [line for line in path.read_text().splitlines() if "mem_id" in line]
    return found


def everything(memory: Memory) -> list[str]:
    """Return every text a reader gets."""
    found = entries(memory)
    found += [
        hit.text + hit.evidence for query in (WORD, "allergic") for hit in memory.recall(query, k=50).hits
    ]
    found += [memory.context(ContextRequest(query=WORD, session="s1")).text]
    found += [memory.diff(run.run) for run in memory.log()]
    found += [path.read_text() for path in (memory.root / "digests").glob("*.md")]
    found += [(memory.root / "MEMORY.md").read_text()]
    return found


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("verb", VERBS)
def test_what_is_let_go_stays_away(memory: Memory, verb: str, way: str) -> None:
    """Whichever verb let go, whatever runs then, twice: no reader shows what it promised to keep away (R-25, S-46)."""
    reader = entries if verb == "hide" else everything
    assert any(WORD in text for text in reader(memory))
    VERBS[verb](memory)
    for _ in range(2):
        WAYS[way](memory)
        assert [text for text in reader(memory) if WORD in text.lower()] == []
    assert KEPT in [state.entry.text for state in memory.list()]


@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_leaves_what_it_says(memory: Memory, verb: str) -> None:
    """Hiding can be taken back, forgetting too, erasing cannot, and a topic is stored again once it is allowed."""
    gone = one(memory)
    VERBS[verb](memory)
    with pytest.raises(NotFound):
        memory.get(gone) if verb != "hide" else memory.get("f" * 16)
    _clock(memory).advance(seconds=1)
    if verb == "hide":
        memory.hide([gone], unhide=True)
    elif verb == "erase":
        memory.forget([gone], restore=True)
        assert not [state for state in memory.list() if WORD in state.entry.text]
        files = [path for path in memory.root.rglob("*") if path.is_file()]
        assert not [path for path in files if WORD.encode() in path.read_bytes()]
        return
    else:
        memory.forget([gone], restore=True)
    assert [state.entry.id for state in memory.list() if WORD in state.entry.text] == [gone]


@pytest.mark.parametrize("way", ["remember", "capture", "note", "import"])
def test_an_excluded_topic_comes_in_by_no_way(memory: Memory, way: str, tmp_path: Path) -> None:
    """A topic that is excluded becomes no entry by an explicit write, a turn, a note or an import (R-28, L-37)."""
    memory.exclude("gluten")
    text = "I have to avoid gluten from now on. I adopted a cat."
    clock = _clock(memory)
    if way == "remember":
        assert memory.remember("User avoids gluten").refused
        memory.remember("User adopted a cat")
    elif way == "capture":
        memory.capture("s9", Turn(role="user", content=text, at=clock()))
        memory.end("s9")
    elif way == "note":
        memory.note(text)
        clock.advance(days=1)
    else:
        (tmp_path / "talk.json").write_text(json.dumps({"messages": [{"role": "user", "content": text}]}))
        memory.import_(tmp_path / "talk.json")
    memory.consolidate()
    memory.consolidate()
    texts = [state.entry.text for state in memory.list(Where(include_hidden=True, include_previous=True))]
    assert not [one for one in texts if "gluten" in one]
    assert [one for one in texts if "cat" in one]


@pytest.mark.parametrize("verb", ["forget", "erase", "exclude"])
def test_no_model_is_told(memory: Memory, verb: str, tmp_path: Path) -> None:
    """After letting go no prompt of extraction, summary or dream holds the words, nor what a dream's tools read."""
    VERBS[verb](memory)
    clock = _clock(memory)

    def look(messages: object) -> Any:
        return [("list", {}), ("search", {"query": WORD}), ("recall", {"query": WORD})]

    told = ScriptedAgent([look, *["Done."] * 40], ["[]"] * 200)
    with Memory(reverie.opening.open_workspace(opening(tmp_path, clock, model=told))) as again:
        for number in range(12):
            at = clock() + timedelta(seconds=number)
            again.capture("s1", Turn(role="user", content=f"Step {number} needs flour. " * 40, at=at))
        again.remember("User bakes rye bread", Draft(origin="user"))
        again.extract()
        again.digest()
        again.compact("s1", budget=500)
        again.consolidate()
        clock.advance(days=1)
        again.consolidate()
        again.dream(now=True)
    asked = [f"{request.instructions}\n{request.text}" for request in told.requests]
    assert {request.purpose for request in told.requests} >= {"extraction", "summary"}
    assert told.messages
    assert not [
        text
        for text in (*asked, *map(str, told.messages))
        if WORD in text.lower().replace(f"'query': '{WORD}'", "")
    ]


def test_a_fresh_statement_asks(memory: Memory) -> None:
    """Said anew by the user, it is asked about in status and review, and shown once the answer is yes (R-26)."""
    gone = one(memory)
    memory.forget([gone])
    clock = _clock(memory)
    before = memory.status().reviews
    clock.advance(minutes=5)
    done = memory.remember("User is allergic to macadamia nuts", Draft(origin="user", at=clock()))
    assert done.asked
    memory.consolidate()
    assert memory.status().reviews == before + 1
    (item,) = [item for item in memory.review() if item.topic == "forgotten"]
    assert item.id == done.id
    memory.review(item.id, accept=True)
    assert WORD in memory.get(done.id).entry.text
    assert memory.recall(WORD).hits
