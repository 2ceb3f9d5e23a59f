"""A dream and a reading by the model of a program that speaks HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from dream_agent import TEAS, body, cite
from dream_world import entry, log
from http_world import World

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

from reverie.core.records import Turn

LIKES = entry(1, "User likes green tea", category="preference", day="2026-06-30")
WORKS = entry(2, "User works at Google", category="work", day="2026-06-30")
PAGE = body("Preferences", cite(LIKES), cite(WORKS))
IDS = [LIKES.id, WORKS.id]


@pytest.fixture
def lent(tmp_path: Path) -> Iterator[World]:
    """A root whose user lets hosts' models work, with two entries of yesterday."""
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "config.toml").write_text("[mcp]\nhost_model = true\n")
    made = World(tmp_path)
    with made.memory() as memory:
        log(memory.opened.ws, [LIKES, WORKS])
    yield made
    made.close()


def step(world: World, run: str, tool: str, **arguments: Any) -> Any:
    """Use one tool of a run."""
    return world.value("POST", f"/dreams/{run}/steps", json={"tool": tool, "arguments": arguments})


def work(world: World, text: str = PAGE, ids: list[str] = IDS) -> str:
    """Begin a run, write a page and settle entries as cited there."""
    run = str(world.value("POST", "/dreams", json={"now": True, "by": "a-program"})["run"])
    step(world, run, "write", path=TEAS, text=text)
    assert not step(world, run, "settle", entry=ids, outcome="cited", page=TEAS)["refused"]
    return run


def test_a_program_dreams(lent: World) -> None:
    """A run is begun, written, settled and finished by requests; the first waits for an admin's word."""
    run = work(lent)
    done = lent.value("POST", f"/dreams/{run}/finish", json={})
    page = lent.root / lent.name / "notebook" / TEAS
    assert (done["result"], page.exists()) == ("nothing", False)
    assert lent.ask("POST", "/dreams", json={"now": True}).json()["class"] == "Conflict"
    lent.value("POST", f"/review/{done['review']}", json={"accept": True})
    assert page.read_text(encoding="utf-8").strip() == PAGE.strip()
    assert lent.value("GET", "/runs")["runs"][0]["dreamer"] == "a-program"


def test_what_is_asked_names_the_tools_as_they_are_here(lent: World) -> None:
    """The instructions know no tool of MCP and no command; the batch names each entry."""
    begun = lent.value("POST", "/dreams", json={"now": True})
    assert begun["entries"] == IDS
    assert "`settle(entry, outcome" in begun["instructions"]
    assert "memory_dream" not in begun["instructions"]
    assert "reverie dream-step" not in begun["instructions"]
    assert lent.value("POST", f"/dreams/{begun['run']}/finish", json={"give_up": True})["reason"].startswith(
        "the run"
    )


def test_a_program_reads_turns(lent: World) -> None:
    """Turns are handed out with the form of what is found, and what was found is stored after an admin's word."""
    with lent.memory() as memory:
        memory.capture("s1", Turn(role="user", content="I moved to Lisbon.", at=lent.clock()))
    out = lent.value("POST", "/readings", json={"by": "a-program"})
    assert (out["session"], out["from"], out["to"]) == ("s1", 0, 1)
    good = {"text": "User moved to Lisbon.", "evidence": "I moved to Lisbon"}
    done = lent.value("POST", f"/readings/{out['handle']}", json={"entries": ["x", good]})
    assert [one["item"] for one in done["refused"]] == [0]
    lent.value("POST", f"/review/{done['review']}", json={"accept": True})
    lent.value("POST", "/drain", json={})
    assert "User moved to Lisbon." in [one["text"] for one in lent.value("GET", "/entries")["entries"]]
    assert lent.value("POST", "/readings", json={})["handle"] == ""


def test_nothing_is_lent_unasked(world: World) -> None:
    """Where the user's settings do not let hosts in, each operation says so."""
    for path, given in (
        ("/dreams", {}),
        ("/dreams/x/steps", {"tool": "list"}),
        ("/dreams/x/finish", {}),
        ("/readings", {}),
        ("/readings/x", {"entries": []}),
    ):
        answer = world.ask("POST", path, json=given)
        assert (answer.status_code, answer.json()["class"]) == (400, "UsageError"), path
        assert "mcp.host_model" in answer.json()["detail"]


def test_who_may_only_read_cannot_dream(lent: World) -> None:
    """A token for reading begins no run and gets no turns."""
    token = lent.tokens.add("reader", "read")
    for path in ("/dreams", "/readings"):
        assert lent.ask("POST", path, token=token, json={}).status_code == 403
