"""The session for the OpenAI Agents SDK: with its own Runner, its own scripted model, and against its own store."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hosts import REASONING, last, run, said

import reverie
from reverie import Turn
from reverie.errors import InvalidRecord, UsageError
from reverie.store import sessions

agents = pytest.importorskip("agents", reason="the extra `openai-agents` is not installed")

from agents.memory import Session, SessionSettings, SQLiteSession  # noqa: E402
from agents.testing import ScriptedModel, assistant_message, function_call  # noqa: E402

from reverie.adapters.openai_agents import ReverieSession  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

    from reverie import Memory, Opening

ITEMS: list[dict[str, Any]] = [
    {"role": "user", "content": "Which tea do I like?"},
    {
        "role": "user",
        "content": [{"type": "input_text", "text": "Look:"}, {"type": "input_image", "image_url": "u"}],
    },
    REASONING,
    {
        "type": "function_call",
        "call_id": "call_1",
        "name": "look",
        "arguments": '{"what": "tea"}',
        "id": "fc_1",
    },
    {"type": "function_call", "call_id": "call_2", "name": "look", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "call_1", "output": "green"},
    {
        "type": "function_call_output",
        "call_id": "call_2",
        "output": [{"type": "input_text", "text": "black"}],
    },
    {"type": "custom_tool_call", "call_id": "call_3", "name": "shell", "input": "ls"},
    {"type": "custom_tool_call_output", "call_id": "call_3", "output": "notes"},
    {
        "type": "web_search_call",
        "id": "ws_1",
        "status": "completed",
        "action": {"type": "search", "query": "tea"},
    },
    {"type": "item_reference", "id": "msg_1"},
    {"type": "compaction", "encrypted_content": "abc"},
    {
        "type": "message",
        "id": "msg_2",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "Green tea.", "annotations": [], "logprobs": []}],
    },
    {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
    {"role": "developer", "content": "Be brief."},
    {"role": "system", "content": ""},
    {"role": "user", "content": "茶 🍵 " + "x" * 10_000 + " \u0000"},
    {
        "type": "mcp_call",
        "arguments": "{}",
        "name": "n",
        "server_label": "s",
        "id": "m",
        "output": None,
        "n": 2**63,
    },
]


@pytest.fixture
def session(memory: Memory) -> ReverieSession:
    """Return a session of an empty memory."""
    return ReverieSession("c7", memory)


def test_it_is_a_session(session: ReverieSession) -> None:
    """The SDK's own protocol accepts it."""
    assert isinstance(session, Session)


@pytest.mark.parametrize("item", ITEMS, ids=[str(number) for number in range(len(ITEMS))])
def test_every_kind_of_item_comes_back_as_it_was(session: ReverieSession, item: dict[str, Any]) -> None:
    """Messages, calls, outputs, reasoning and what is not known yet come back equal, member by member and in order."""
    (found,) = last(session.add_items([item]), session.get_items())
    assert json.dumps(found) == json.dumps(item)


def test_it_does_what_the_sdks_own_store_does(
    session: ReverieSession, opening: Callable[..., Opening]
) -> None:
    """Adding, limits, popping and clearing give what SQLiteSession gives, also after opening the folder again."""
    items = ITEMS
    other = SQLiteSession("c7")
    limits = (None, 0, 1, 3, len(items), 10_000)

    async def story(one: Any, between: Callable[[Any], Any]) -> list[Any]:
        seen: list[Any] = [await one.get_items(), await one.pop_item()]
        await one.add_items([])
        await one.add_items(items[:5])
        await one.add_items(items[5:])
        one = between(one)
        seen += [await one.get_items(limit) for limit in limits]
        seen += [await one.pop_item() for _ in range(3)]
        seen.append(await one.get_items(4))
        await one.add_items(items[-2:])
        seen.append(await one.get_items(6))
        await one.clear_session()
        seen += [await one.get_items(), await one.pop_item()]
        await one.add_items(items[:2])
        return [*seen, await one.get_items()]

    ours = asyncio.run(story(session, lambda _: ReverieSession("c7", reverie.open(opening()))))
    assert ours == asyncio.run(story(other, lambda one: one))
    other.close()


def test_the_settings_limit_counts_when_none_is_given(memory: Memory) -> None:
    """A session with a limit of its own returns that many items, unless another number is asked for."""
    session = ReverieSession("c7", memory, session_settings=SessionSettings(limit=2))
    run(session.add_items(ITEMS[:6]))
    assert [len(one) for one in run(session.get_items(), session.get_items(5))] == [2, 5]


def test_an_agent_with_a_tool_remembers_the_run_before(memory: Memory, session: ReverieSession) -> None:
    """The SDK's Runner reads what earlier runs said, calls and outputs included, and what was said is recalled."""

    @agents.function_tool
    def brew(tea: str) -> str:
        """Brew a tea."""
        return f"{tea} is ready"

    model = ScriptedModel(
        [
            {"output": [function_call("brew", {"tea": "sencha"}, call_id="call_9")]},
            {"output": [assistant_message("Your sencha is ready.")]},
            {"output": [assistant_message("You drank sencha.")]},
        ]
    )
    agent = agents.Agent(name="host", model=model, tools=[brew])
    config = agents.RunConfig(tracing_disabled=True)

    async def talk() -> list[str]:
        first = await agents.Runner.run(
            agent, "I moved to Lisbon. Brew sencha.", session=session, run_config=config
        )
        second = await agents.Runner.run(agent, "What did I drink?", session=session, run_config=config)
        return [first.final_output, second.final_output]

    assert asyncio.run(talk()) == ["Your sencha is ready.", "You drank sencha."]
    seen = model.calls[-1].input
    assert [one.get("type") or one["role"] for one in seen] == [
        "user", "function_call", "function_call_output", "message", "user"
    ]  # fmt: skip
    assert seen == run(session.get_items())[0][:-1]
    assert [turn.role for turn in sessions.read(memory.opened.ws, "c7")] == [
        "user", "assistant", "tool", "assistant", "user", "assistant"
    ]  # fmt: skip
    memory.end("c7")
    memory.consolidate()
    assert "User moved to Lisbon" in [one.entry.text for one in memory.list()]
    assert any("sencha is ready" in text for text in said(memory, "sencha"))


def test_a_streamed_run_is_kept_too(session: ReverieSession) -> None:
    """A run that is streamed to its end leaves its items as any other."""
    model = ScriptedModel([{"output": [assistant_message("Tea it is.")]}])
    agent = agents.Agent(name="host", model=model)

    async def talk() -> list[Any]:
        config = agents.RunConfig(tracing_disabled=True)
        result = agents.Runner.run_streamed(agent, "Tea, please.", session=session, run_config=config)
        async for _ in result.stream_events():
            pass
        return await session.get_items()

    found = asyncio.run(talk())
    assert [one["role"] for one in found] == ["user", "assistant"]


def test_a_batch_is_stored_whole_or_not_at_all(opening: Callable[..., Opening]) -> None:
    """One item that cannot be stored keeps the others of its call out, and the error says why."""
    deep: Any = "bottom"
    for _ in range(60):
        deep = [deep]
    wrong = [
        ({"role": "user", "content": "x" * 70_000}, InvalidRecord),
        ({**REASONING, "summary": [{"text": "x" * 70_000}]}, InvalidRecord),
        ({"role": "user", "content": "half \ud800"}, InvalidRecord),
        ({"role": "user", "content": float("nan")}, UsageError),
        ({"role": "user", "content": deep}, UsageError),
        ("no item", UsageError),
    ]
    with reverie.init(opening("small", max_turn_bytes="65536")) as memory:
        session = ReverieSession("c7", memory)
        for item, kind in wrong:
            with pytest.raises(kind):
                run(session.add_items([ITEMS[0], item]))
        assert last(session.get_items()) == []
        with pytest.raises(UsageError):
            ReverieSession(" ", memory)


def test_a_paused_session_stores_nothing(memory: Memory, session: ReverieSession) -> None:
    """While a session is off the record its items are not kept, and the run goes on."""
    run(session.add_items([ITEMS[0]]))
    memory.pause("c7")
    assert last(session.add_items([ITEMS[2]]), session.get_items()) == [ITEMS[0]]
    memory.resume("c7")
    assert last(session.add_items([ITEMS[2]]), session.get_items()) == [ITEMS[0], ITEMS[2]]


def test_a_cancelled_task_goes_on_when_it_is_settled(memory: Memory, session: ReverieSession) -> None:
    """Cancelled in the midst of adding, popping or clearing, the operation took place whole before the task ends."""

    async def cancelled(call: Any) -> None:
        task = asyncio.ensure_future(call)
        for _ in range(2):
            asyncio.get_running_loop().call_soon(task.cancel)
        with pytest.raises(asyncio.CancelledError):
            await task

    async def story() -> list[int]:
        seen = []
        await cancelled(session.add_items(ITEMS[:4]))
        seen.append(len(await session.get_items()))
        await cancelled(session.pop_item())
        seen.append(len(await session.get_items()))
        await cancelled(session.clear_session())
        return [*seen, len(await session.get_items())]

    assert asyncio.run(story()) == [4, 3, 0]
    assert [one for one in memory.check() if one.severity == "error"] == []


def test_many_tasks_add_and_pop_at_once(session: ReverieSession) -> None:
    """Forty tasks at once lose no item, and no two pops give the same one."""

    async def story() -> tuple[list[Any], list[Any]]:
        await asyncio.gather(
            *(session.add_items([{"role": "user", "content": f"item {n}"}]) for n in range(40))
        )
        popped = await asyncio.gather(*(session.pop_item() for _ in range(25)))
        return popped, await session.get_items()

    popped, left = asyncio.run(story())
    assert {one["content"] for one in [*popped, *left]} == {f"item {n}" for n in range(40)}
    assert (len(popped), len(left)) == (25, 15)


POPPER = """
import asyncio, json, sys, reverie
from reverie.adapters.openai_agents import ReverieSession
memory = reverie.open(sys.argv[1], config_dir=sys.argv[2], settings={"embedder": "none"})
session = ReverieSession("c7", memory)

async def pops():
    return [(await session.pop_item())["content"] for _ in range(10)]

print(json.dumps(asyncio.run(pops())))
"""


@pytest.mark.slow
def test_two_processes_never_pop_the_same_item(memory: Memory, session: ReverieSession) -> None:
    """Two processes that pop at once each take other items, the latest ones, and the rest stands in order (P-02)."""
    run(session.add_items([{"role": "user", "content": f"item {n}"} for n in range(30)]))
    command = [sys.executable, "-c", POPPER, str(memory.root), str(memory.root.parent / "config")]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
    popped = [item for one in running for item in json.loads(one.communicate()[0])]
    assert sorted(popped) == sorted(f"item {n}" for n in range(10, 30))
    assert [one["content"] for one in last(session.get_items())] == [f"item {n}" for n in range(10)]


def test_compacted_items_are_left_out_where_that_is_wished(memory: Memory) -> None:
    """With `active` the items that moved into the history are not returned; without, all are."""
    talk = [
        {"role": "user", "content": f"Step {n}: " + "a cup of flour and a pinch of salt. " * 30}
        for n in range(30)
    ]
    every, window = ReverieSession("c7", memory), ReverieSession("c7", memory, active=True)
    run(every.add_items(talk))
    memory.compact("c7", budget=2_000)
    assert [len(one) for one in run(every.get_items())] == [30]
    assert 0 < len(last(window.get_items())) < 30
    assert last(window.get_items()) == talk[-len(last(window.get_items())) :]


def test_turns_of_another_making_are_items(memory: Memory, session: ReverieSession) -> None:
    """A turn that was captured or imported by other means is an item in the SDK's words."""
    memory.capture("c7", Turn(role="user", content="Hello.", at=memory.opened.ws.clock()))
    assert last(session.get_items()) == [{"role": "user", "content": "Hello."}]
    assert last(session.pop_item()) == {"role": "user", "content": "Hello."}
    assert last(session.get_items()) == []
