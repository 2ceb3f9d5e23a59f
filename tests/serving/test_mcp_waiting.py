"""A client that waits for the MCP server, and one that no longer does: progress, and cancelling in the midst."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from dream_agent import TEAS
from hosting import IDS, PAGE, Host
from mcp import Client

from reverie.memory import Memory
from reverie.store.dreams import reviews
from reverie.surface.mcp.bound import Bound
from reverie.surface.mcp.server import make_server

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from conftest import Place

    from reverie.dream import Dreamt
    from reverie.recall import Ask, Found


class Gate:
    """A point in a verb at which it waits until it may go on."""

    def __init__(self) -> None:
        self.reached, self.go, self.passed = threading.Event(), threading.Event(), threading.Event()

    def wait(self) -> None:
        """Say that it is reached, and wait."""
        self.reached.set()
        assert self.go.wait(60)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Gate:
    """A gate in the midst of a search and of ending a dream."""
    gate = Gate()
    ask, end = Memory.ask, Memory.dream_finish

    def held_ask(self: Memory, asked: Ask) -> Found:
        gate.wait()
        found = ask(self, asked)
        gate.passed.set()
        return found

    def held_end(self: Memory, run: str, *, give_up: bool = False) -> Dreamt:
        gate.wait()
        done = end(self, run, give_up=give_up)
        gate.passed.set()
        return done

    monkeypatch.setattr(Memory, "ask", held_ask)
    monkeypatch.setattr(Memory, "dream_finish", held_end)
    return gate


def cancelled(gate: Gate, tool: str, **arguments: Any) -> Callable[[Client], Awaitable[None]]:
    """Return a talk in which a call is cancelled once it is under way, and the next one answered behind it."""

    async def said(client: Client) -> None:
        async with anyio.create_task_group() as group:

            async def ask(*, task_status: Any) -> None:
                with anyio.CancelScope() as scope:
                    task_status.started(scope)
                    await client.call_tool(tool, arguments)
                assert scope.cancelled_caught

            scope = await group.start(ask)
            await anyio.to_thread.run_sync(gate.reached.wait)
            scope.cancel()
        await client.list_tools()  # the server reads on while the call is under way
        assert not gate.passed.is_set()
        gate.go.set()
        status = await client.call_tool("memory_status", {})
        assert not status.is_error
        assert gate.passed.is_set()  # in turn: what had begun was finished first

    return said


def test_a_search_that_is_cancelled_under_way_leaves_the_server_well(place: Place, gate: Gate) -> None:
    """Cancelled in its midst a search is finished for nobody, and whatever is asked next is answered."""
    place.remember("User likes tea")
    bound = Bound(place.opening)
    place.talk(cancelled(gate, "memory_recall", query="tea"), bound)
    assert bound.rest.busy == 0
    assert place.value("memory_recall", query="tea")["hits"][0]["text"] == "User likes tea"


def test_a_dream_that_is_cancelled_at_its_end_is_installed_whole(place: Place, gate: Gate) -> None:
    """Cancelled while it ends, a run is judged and installed as if somebody had waited, once (R-10)."""
    host = Host(place)
    with host.memory() as memory:
        item = reviews.propose(
            memory.opened.ws, reviews.GUEST_EXTRACTION, "extract:0", text="an earlier reading"
        )
        reviews.settle(memory.opened.ws, item, accepted=True)
    before, run = host.stands(), host.begin()
    host.work(run)
    place.talk(cancelled(gate, "memory_dream_finish", run=run), Bound(host.opening))
    after = host.stands()
    assert after.since(before) == {f"notebook/{TEAS}": PAGE}
    assert after.outcomes == dict.fromkeys(IDS, "cited")
    assert host.use("memory_dream_finish", run=run).content[0].text.startswith("Conflict")
    assert host.value("memory_dream_start", now=True)["reason"] == "no entry of a closed day is pending"


def test_a_dream_whose_step_is_cancelled_goes_on(place: Place) -> None:
    """A step that is cancelled before its turn is none; the run is where it was, and can be ended."""
    host = Host(place)
    run, bound, gate = host.begin(), Bound(host.opening), Gate()

    async def said(client: Client) -> Any:
        bound.call(lambda _: gate.wait())
        await anyio.to_thread.run_sync(gate.reached.wait)
        with anyio.move_on_after(0.05) as scope:
            arguments = {"run": run, "path": TEAS, "text": PAGE}
            await client.call_tool("memory_dream_edit", arguments)
        assert scope.cancelled_caught
        await client.list_tools()
        gate.go.set()
        return await client.call_tool("memory_dream_read", {"run": run, "path": TEAS})

    found = place.talk(said, bound)
    assert "is empty or absent" in found.structured_content["text"]
    assert "0 of 4 settled" in found.structured_content["text"]
    host.work(run)
    assert host.value("memory_dream_finish", run=run)["review"]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_who_asks_for_progress_hears_that_it_is_at_work(place: Place, gate: Gate, mode: Any) -> None:
    """While a call waits or runs, a client that asked for it gets signs of life, and then the answer."""
    place.remember("User likes tea")
    bound, heard = Bound(place.opening), list[tuple[float, str | None]]()

    async def progress(seconds: float, _total: float | None, message: str | None) -> None:
        heard.append((seconds, message))
        if len(heard) == 3:
            gate.go.set()

    async def run() -> Any:
        async with Client(make_server(bound, pulse=0.01), mode=mode) as client:
            return await client.call_tool("memory_recall", {"query": "tea"}, progress_callback=progress)

    result = anyio.run(run)
    bound.close()
    assert result.structured_content["hits"][0]["text"] == "User likes tea"
    seconds = [one for one, _ in heard]
    assert seconds == sorted(set(seconds))
    assert heard[0][1] == "at work for 0.01 s"


def test_who_does_not_ask_hears_nothing(place: Place) -> None:
    """Without a token for it no progress is sent, however long a call takes."""
    bound, gate = Bound(place.opening), Gate()
    heard: list[Any] = []

    async def told(message: Any) -> None:
        heard.append(message)

    async def run() -> Any:
        async with Client(make_server(bound, pulse=0.01), message_handler=told) as client:
            bound.call(lambda _: gate.wait())
            async with anyio.create_task_group() as group:
                group.start_soon(client.call_tool, "memory_list", {})
                await client.list_tools()
                await client.list_prompts()
                gate.go.set()

    anyio.run(run)
    bound.close()
    assert heard == []


def test_calls_that_wait_for_the_start_keep_their_order(place: Place) -> None:
    """Calls that come before what is offered was loaded are done in the order in which they came."""
    answered: list[int] = []

    async def said(client: Client) -> None:
        async def remember(number: int) -> None:
            await client.call_tool("memory_remember", {"text": f"Tea number {number} is good."})
            answered.append(number)

        async with anyio.create_task_group() as group:
            for number in range(6):
                group.start_soon(remember, number)

    place.talk(said)
    assert answered == sorted(answered)
    assert len(answered) == 6
