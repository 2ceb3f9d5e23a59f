"""Anthropic's memory tool as a tool of Anthropic's own SDK, run by its tool runners."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest
from tool_memory import tool_memory

from reverie import Memory
from reverie.adapters.anthropic_memory import async_memory_tool, memory_tool

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """Return a new memory."""
    with tool_memory(tmp_path) as made:
        yield made


# Through the SDK


def replies(*blocks: list[dict[str, Any]]) -> Any:
    """Return a client's transport that answers with these contents in turn and keeps what it was sent."""
    import httpx2

    sent: list[dict[str, Any]] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        sent.append(json.loads(request.content))
        content = blocks[len(sent) - 1]
        stop = "tool_use" if content[0]["type"] == "tool_use" else "end_turn"
        body = {
            "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-test", "content": content,
            "stop_reason": stop, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
        }  # fmt: skip
        return httpx2.Response(200, json=body)

    return httpx2.MockTransport(answer), sent


def use(**given: Any) -> list[dict[str, Any]]:
    """Return a model's call of the tool."""
    return [{"type": "tool_use", "id": "toolu_1", "name": "memory", "input": given}]


DONE = [{"type": "text", "text": "Noted."}]
CALLS = (
    use(command="view", path="/memories"),
    use(command="create", path="/memories/tea.md", file_text="Prefers tea\n"),
    use(command="str_replace", path="/memories/tea.md", old_str="tea", new_str="green tea"),
    use(command="insert", path="/memories/tea.md", insert_line=1, insert_text="No milk"),
    use(command="rename", old_path="/memories/tea.md", new_path="/memories/drinks.md"),
    use(command="delete", path="/memories/none.md"),
    DONE,
)


def results(sent: list[dict[str, Any]]) -> list[tuple[str, bool]]:
    """Return the tool results that a client sent, with whether each is an error."""
    told = [request["messages"][-1]["content"][0] for request in sent[1:]]
    return [
        (
            one["content"] if isinstance(one["content"], str) else one["content"][0]["text"],
            one.get("is_error", False),
        )
        for one in told
    ]


def expect(memory: Memory, sent: list[dict[str, Any]]) -> None:
    """Check what a run of `CALLS` sent and left."""
    assert sent[0]["tools"] == [{"type": "memory_20250818", "name": "memory"}]
    told = results(sent)
    assert [error for _, error in told] == [False] * 5 + [True]
    assert told[1][0] == "File created successfully at: /memories/tea.md"
    assert told[5][0] == "Error: The path /memories/none.md does not exist"
    assert (memory.root / "files/drinks.md").read_text() == "Prefers green tea\nNo milk\n"


def test_the_sdk_runs_the_tool(memory: Memory) -> None:
    """Anthropic's own tool runner takes the tool, and sends its answers and errors as they are documented."""
    anthropic = pytest.importorskip("anthropic")
    import httpx2

    transport, sent = replies(*CALLS)
    tool = memory_tool(memory)
    assert isinstance(tool, anthropic.lib.tools.BetaAbstractMemoryTool)
    with anthropic.Anthropic(api_key="k", http_client=httpx2.Client(transport=transport)) as client:
        runner = client.beta.messages.tool_runner(
            model="claude-test",
            max_tokens=99,
            tools=[tool],
            messages=[{"role": "user", "content": "I like tea"}],
        )
        assert runner.until_done().content[0].text == "Noted."
    expect(memory, sent)
    tool.clear_all_memory()
    assert list((memory.root / "files").iterdir()) == []


def test_the_asynchronous_sdk_runs_the_tool(memory: Memory) -> None:
    """The asynchronous runner takes the asynchronous tool, and the same happens."""
    anthropic = pytest.importorskip("anthropic")
    import httpx2

    transport, sent = replies(*CALLS)
    tool = async_memory_tool(memory)
    assert isinstance(tool, anthropic.lib.tools.BetaAsyncAbstractMemoryTool)

    async def run() -> None:
        async with anthropic.AsyncAnthropic(
            api_key="k", http_client=httpx2.AsyncClient(transport=transport)
        ) as client:
            runner = client.beta.messages.tool_runner(
                model="claude-test", max_tokens=99, tools=[tool],
                messages=[{"role": "user", "content": "I like tea"}],
            )  # fmt: skip
            await runner.until_done()
        await tool.clear_all_memory()

    asyncio.run(run())
    told = results(sent)
    assert told[0][0].startswith("Here're the files and directories")
    assert told[5] == ("Error: The path /memories/none.md does not exist", True)
    assert list((memory.root / "files").iterdir()) == []


def test_the_sdks_models_are_taken_too(memory: Memory) -> None:
    """A command that the SDK decoded is carried out like one from the API."""
    types = pytest.importorskip("anthropic.types.beta")
    tool = memory_tool(memory)
    command = types.BetaMemoryTool20250818CreateCommand(
        command="create", path="/memories/a.md", file_text="x"
    )
    assert tool.execute(command) == "File created successfully at: /memories/a.md"
