"""Every way back is closed: each verb and rebuild after a forget, looked at through every reader."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from forget_adapters import a_value_says_it, an_agents_session_says_it, read_by_adapters

import reverie
from reverie import ContextRequest, Draft, Memory, Opening, Turn
from reverie.adapters.anthropic_memory import handle
from reverie.core.records import Remember
from reverie.store import journal, quarantine, stream
from reverie.testing import FixedClock, ToyEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

TOOL_FILES = ("/memories", "/memories/health.md")
NUTS = "I'm allergic to macadamia nuts. I moved to Lisbon in June."


def opening(root: Path, clock: FixedClock, index: str) -> Opening:
    """Return how to open the workspace in `root`, with nobody's own configuration and an index of that kind."""
    return Opening(
        path=root / "ws",
        config_dir=root / "config",
        environment={"HOME": str(root), "TZ": "UTC", "REVERIE_EMBEDDER": "none", "REVERIE_INDEX": index},
        clock=clock,
        embedder=ToyEmbedder(),
    )


def say(memory: Memory, text: str, turn_id: str = "") -> None:
    """Let the user say something in the one session."""
    memory.capture("s1", Turn(role="user", content=text, at=memory.opened.ws.clock(), id=turn_id))


@pytest.fixture(params=["embedded", pytest.param("lancedb", marks=pytest.mark.slow)])
def memory(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Memory]:
    """Return a memory that lived a day and dreamt of it, with either index."""
    if request.param == "lancedb":
        pytest.importorskip("lancedb", reason="the extra reverie[lancedb] is not installed")
    clock = FixedClock(datetime(2026, 7, 1, 12, tzinfo=UTC))
    with reverie.init(opening(tmp_path, clock, request.param)) as made:
        say(made, NUTS, "t1")
        say(made, "I prefer tea over coffee in the morning.")
        made.end("s1")
        made.consolidate()
        shutil.copytree(made.root, tmp_path / "backup")
        clock.advance(days=1)
        made.dream(now=True)
        made.publish()
        yield made


def nuts(memory: Memory) -> str:
    """Return the id of the entry that is forgotten."""
    return next(one.entry.id for one in memory.list() if "macadamia" in one.entry.text)


def seen(memory: Memory) -> list[str]:
    """Return every text a reader gets in which the words stand."""
    memory.publish()
    found = [hit.text for query in ("macadamia nuts", "allergic") for hit in memory.recall(query, k=50).hits]
    found += [hit.evidence for hit in memory.recall("Lisbon", k=50).hits]
    found += [memory.context(ContextRequest(query="macadamia", session="s1")).text]
    found += [one.entry.text for one in memory.list()]
    found += [memory.diff(run.run) for run in memory.log()]
    found += [problem for run in memory.log() for problem in run.problems]
    found += [turn.content for one in memory.list() for turn in memory.why(one.entry.id).turns]
    found += [due.line for due in memory.due().lines]
    found += [item.text for item in memory.review() if item.topic != "forgotten"]
    found += [str(memory.status())]
    found += read_by_adapters(memory)
    with memory.person("Dana") as dana:
        found += [hit.text for hit in dana.recall("macadamia allergic", k=50).hits]
        found += [dana.context(ContextRequest(query="macadamia")).text]
    found += [handle(memory, {"command": "view", "path": path}).text for path in TOOL_FILES]
    found += [(memory.root / "MEMORY.md").read_text()]
    found += [path.read_text() for path in (memory.root / "digests").glob("*.md")]
    return [text for text in found if "macadamia" in text.lower()]


def again(memory: Memory) -> None:
    """Say the same turn once more, under its id and under another, and run all that is due."""
    say(memory, NUTS, "t1")
    memory.consolidate()


def dream_again(memory: Memory) -> None:
    """Let another day pass, and dream of it."""
    say(memory, "I live in Lisbon and work at a bakery.")
    memory.consolidate()
    clock = memory.opened.ws.clock
    assert isinstance(clock, FixedClock)
    clock.advance(days=1)
    memory.dream(now=True)


def restore_a_backup(memory: Memory) -> None:
    """Put the logs, pages and journal of before back in place."""
    for name in ("archive", "notebook", "sessions", "summaries"):
        shutil.copytree(memory.root.parent / "backup" / name, memory.root / name, dirs_exist_ok=True)
    memory.reindex()


def a_note_says_it(memory: Memory) -> None:
    """Find it in a note of the day it was said."""
    path = memory.root / "notes" / "2026-07-01.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text("User is allergic to macadamia nuts.\n")
    memory.consolidate()


def a_conversation_comes_in(memory: Memory) -> None:
    """Import the same words as another program kept them, in another session."""
    told = [{"role": "user", "content": NUTS}, {"role": "assistant", "content": "Noted: no macadamia nuts."}]
    file = memory.root.parent / "talk.json"
    file.write_text(json.dumps({"messages": told}))
    memory.import_(file)
    memory.consolidate()


def the_session_grows_long(memory: Memory) -> None:
    """Let what was said leave the window of its session for the history."""
    for number in range(60):
        say(memory, f"Step {number} of the recipe asks for another cup of flour and a pinch of salt. " * 12)
    memory.compact("s1", budget=2_000)
    memory.compact_all()
    memory.digest()


def an_old_record_is_queued_again(memory: Memory) -> None:
    """Queue the entry's own record, as a synchronising program may."""
    ws = memory.opened.ws
    hidden = next(one for one in memory.opened.state_now().masked() if "macadamia" in one.text)
    journal.append(ws, Remember(id="f" * 16, at=ws.clock(), entry=hidden))
    memory.drain()


def a_refused_record_is_kept(memory: Memory) -> None:
    """Keep bytes that say it among the refused."""
    raw = json.dumps({"text": "User is allergic to macadamia nuts"}).encode()
    quarantine.set_aside(memory.opened.ws, [stream.Damaged("import", 0, raw, "not a record")])
    memory.review()


def remembered_in_part(memory: Memory) -> None:
    """Put the notebook back to how it stood before."""
    memory.restore(memory.log()[-1].run)


def the_index_is_gone(memory: Memory) -> None:
    """Remove the derived files by hand."""
    memory.opened.drop_index()
    for folder in (".index", "digests"):
        shutil.rmtree(memory.root / folder, ignore_errors=True)


def a_person_edits(memory: Memory) -> None:
    """Write a page that says it in the words of before, as a person may by mistake."""
    page = memory.root / "notebook" / "3_Personal" / "Food.md"
    page.write_text(
        "---\ntype: note\n---\n# Food\n\n- User is allergic to macadamia nuts\n- Soup on Sundays.\n"
    )
    memory.recall("soup")
    dream_again(memory)


def remember_it(memory: Memory) -> None:
    """Store it once more as an explicit write, in the words of the entry."""
    memory.remember("User is allergic to macadamia nuts", Draft(at=datetime(2026, 7, 1, 13, tzinfo=UTC)))


def a_tool_keeps_it(memory: Memory) -> None:
    """Let the agent write it through its memory tool, in a file and in a file's name, and let a day pass."""
    told = "# Health\n- User is allergic to macadamia nuts.\n- User lives in Lisbon.\n"
    handle(memory, {"command": "create", "path": TOOL_FILES[1], "file_text": told})
    name = "/memories/user-is-allergic-to-macadamia-nuts.md"
    handle(memory, {"command": "create", "path": name, "file_text": "Yes."})
    dream_again(memory)


WAYS: dict[str, Callable[[Memory], object]] = {
    "nothing": lambda memory: memory,
    "drain": lambda memory: memory.drain(),
    "extract": lambda memory: memory.extract(),
    "digest": lambda memory: memory.digest(),
    "consolidate": lambda memory: memory.consolidate(),
    "reindex": lambda memory: memory.reindex(),
    "the same turn again": again,
    "another dream": dream_again,
    "a restored backup": restore_a_backup,
    "an explicit write": remember_it,
    "a repair": lambda memory: memory.check(repair=True),
    "a note": a_note_says_it,
    "an import": a_conversation_comes_in,
    "a long session": the_session_grows_long,
    "an old record": an_old_record_is_queued_again,
    "a refused record": a_refused_record_is_kept,
    "a restore of the notebook": remembered_in_part,
    "an index gone": the_index_is_gone,
    "a person's page": a_person_edits,
    "a memory tool": a_tool_keeps_it,
    "a lint": lambda memory: memory.lint(),
    "a value in a store": a_value_says_it,
    "an agent's session": an_agents_session_says_it,
    "an undo": lambda memory: memory.undo(memory.log()[-1].run),
}


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_no_way_leads_back(memory: Memory, way: str) -> None:
    """Whatever runs after a forget, no reader gets the words, and what was said beside them is found (R-25, P-17)."""
    assert len(seen(memory)) > 4
    memory.forget([nuts(memory)])
    assert seen(memory) == []
    WAYS[way](memory)
    assert seen(memory) == []
    memory.reindex()
    assert seen(memory) == []
    assert any("Lisbon" in hit.text for hit in memory.recall("Lisbon").hits)


def test_an_erase_leaves_nothing_to_bring_back(memory: Memory) -> None:
    """After an erase no file holds the words, no stage brings them back, and the rest is still known."""
    memory.erase([nuts(memory)])
    memory.consolidate()
    memory.reindex()
    assert seen(memory) == []
    assert not [
        path for path in memory.root.rglob("*") if path.is_file() and b"macadamia" in path.read_bytes()
    ]
    assert {one.entry.text for one in memory.list()} == {
        "User moved to Lisbon in 2026-06",
        "User prefers tea over coffee in the morning",
    }


def test_forgetting_everything_leaves_nothing_for_the_next_run(memory: Memory) -> None:
    """When all is forgotten, the next scheduled run shows nothing of it (R-27)."""
    before = {one.entry.text for one in memory.list()}
    memory.forget([one.entry.id for one in memory.list()])
    dream_again(memory)
    assert not before & {one.entry.text for one in memory.list()}
    assert seen(memory) == []
