"""The daemon in a process of its own: how it begins, who reaches what by MCP, and that it ends without a loss."""

from __future__ import annotations

import json
import signal
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from daemons import Estate
from mcp.shared.exceptions import MCPError
from official import HELLO

from reverie.surface.http.tokens import Tokens

if TYPE_CHECKING:
    from mcp import Client

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGINT])
def test_it_says_where_it_serves_and_leaves_when_told(estate: Estate, by: signal.Signals) -> None:
    """It tells its address and where the token is, answers, and on a signal ends with 0 and the lock given back."""
    told = estate.start("--no-schedule")
    assert told["root"] == str(estate.root)
    assert estate.http("GET", "/healthz", token="")[0] == 200
    assert estate.http("GET", "/v1/workspaces", token="no")[0] == 401
    assert estate.http("GET", "/v1/workspaces")[0] == 200
    assert estate.end(by) == 0
    assert [one["event"] for one in estate.log][-1] == "stopped"
    estate.start("--no-schedule")
    assert estate.end(by) == 0


def test_a_second_daemon_is_refused_and_told_who_serves(estate: Estate) -> None:
    """A root has one daemon: the second exits 75 and names the first; once that was killed, the next one serves."""
    told = estate.start("--no-schedule")
    refused = estate.call("serve", "--root", str(estate.root), "--port", "0")
    assert refused.returncode == 75
    assert f"pid {told['pid']}" in refused.stderr
    assert refused.stderr.count("\n") == 1
    port = told["url"].rpartition(":")[2]
    taken = estate.call("serve", "--root", str(estate.home / "other"), "--port", port)
    assert taken.returncode == 75
    assert "choose another --port" in taken.stderr
    assert estate.end(signal.SIGKILL) == -signal.SIGKILL
    estate.start("--no-schedule")


async def _remember_and_find(client: Client) -> list[Any]:
    done = await client.call_tool("memory_remember", {"text": "User likes tea", "origin": "user"})
    found = await client.call_tool("memory_recall", {"query": "tea"})
    return [done.structured_content, found.structured_content]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("path", ["", "/agent"])
def test_the_official_client_remembers_and_finds(estate: Estate, path: str, mode: str) -> None:
    """By both generations of the protocol the official client remembers and finds, and the files hold it."""
    estate.start("--no-schedule")
    done, found = estate.talk(_remember_and_find, path, mode=mode)
    assert found["hits"][0]["id"] == done["id"]
    assert estate.texts("agent") == ["User likes tea"]


async def _tools(client: Client) -> set[str]:
    return {tool.name for tool in (await client.list_tools()).tools}


def test_a_token_reaches_what_it_was_made_for(estate: Estate) -> None:
    """A token for one workspace opens no other, and one that may read is offered no tool that writes."""
    estate.make("other")
    estate.start("--no-schedule")
    tokens = Tokens(estate.config, estate.root)
    reading = tokens.add("reader", "read", workspaces=("agent",))
    everything = estate.talk(_tools, "/agent")
    readable = estate.talk(_tools, token=reading)
    assert "memory_recall" in readable < everything
    assert "memory_remember" in everything - readable

    async def write(client: Client) -> Any:
        return await client.call_tool("memory_remember", {"text": "x"})

    with pytest.raises(MCPError, match="Unknown tool"):
        estate.talk(write, token=reading)
    call = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    assert estate.http("POST", "/mcp/other", call, token=reading)[0] == 403
    assert estate.http("POST", "/mcp/absent", call, token=reading)[0] == 403
    assert estate.http("POST", "/mcp/absent", call)[0] == 404
    assert estate.http("POST", "/mcp", call)[0] == 400  # it opens two, and names neither
    assert estate.http("POST", "/mcp/agent", call, token="wrong")[0] == 401
    assert estate.http("POST", "/mcp/agent", call, host="evil.example")[0] == 421


def test_a_session_answers_no_other_token_and_no_other_workspace(estate: Estate) -> None:
    """The id of a session is of no use with another token, nor for another workspace with the same."""
    estate.make("other")
    estate.start("--no-schedule")
    another = Tokens(estate.config, estate.root).add("another", "admin")
    session = _posted(estate, "/mcp/agent", HELLO, {}).headers["mcp-session-id"]
    asked = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    headers = {"mcp-session-id": session, "mcp-protocol-version": "2025-06-18"}
    assert _posted(estate, "/mcp/agent", asked, headers).status_code == 200
    assert _posted(estate, "/mcp/other", asked, headers).status_code == 404
    assert _posted(estate, "/mcp/agent", asked, headers, token=another).status_code == 404


def _posted(estate: Estate, path: str, body: object, headers: dict[str, str], *, token: str = "") -> Any:
    told = {
        "authorization": f"Bearer {token or estate.token}",
        "accept": "application/json, text/event-stream",
        **headers,
    }
    return httpx2.post(estate.told["url"] + path, json=body, headers=told, timeout=60)


def test_a_person_has_their_own_memory(estate: Estate) -> None:
    """A token for one person reaches their memory and not the agent's own."""
    estate.start("--no-schedule")
    dana = Tokens(estate.config, estate.root).add("dana", "write", workspaces=("agent",), people=("Dana",))
    estate.talk(_remember_and_find, token=dana)
    assert estate.texts("agent") == []
    with estate.memory("agent", "Dana") as memory:
        assert [one.entry.text for one in memory.list()] == ["User likes tea"]
    call = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    assert estate.http("POST", "/mcp?user=Mira", call, token=dana)[0] == 403


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGKILL])
def test_what_was_acknowledged_under_traffic_is_there(estate: Estate, by: signal.Signals) -> None:
    """Ended by a signal amid the writes of three clients, the daemon has lost nothing that it acknowledged."""
    estate.start("--no-schedule")
    acknowledged: dict[str, str] = {}
    enough, failures = threading.Event(), []

    def write(number: int) -> None:
        async def go(client: Client) -> None:
            for step in range(10_000):
                text = f"Writer {number} wrote line {step}"
                done = await client.call_tool("memory_remember", {"text": text, "origin": "user"})
                if done.is_error:
                    failures.append(done.content[0].text)  # type: ignore[union-attr]
                    return
                acknowledged[done.structured_content["id"]] = text
                if len(acknowledged) >= 60:
                    enough.set()

        with suppress(Exception):  # the connection ends when the daemon does: whatever the client makes of it
            estate.talk(go, "/agent")

    writers = [threading.Thread(target=write, args=(number,)) for number in range(3)]
    for one in writers:
        one.start()
    assert enough.wait(120)
    code = estate.end(by)
    for one in writers:
        one.join(120)
    assert code == (0 if by == signal.SIGTERM else -signal.SIGKILL)
    # Refused because it was stopping is an answer too, and one that says to try again.
    assert all("stopping" in said for said in failures), failures
    with estate.memory("agent") as memory:
        memory.drain()
        held = {one.entry.id: one.entry.text for one in memory.list()}
        assert memory.check() == ()
    assert acknowledged.items() <= held.items()


def test_the_log_tells_nothing_that_was_said(estate: Estate) -> None:
    """Each line of the log is JSON, and neither a text, a query, a name of a session nor a token stands in any."""
    with estate.memory("agent") as memory:
        memory.remember("Zanzibar is the password of the shed")
    estate.start()
    estate.talk(_remember_and_find, "/agent")
    estate.http("GET", "/v1/workspaces/agent/recall?query=Zanzibar")
    estate.http("GET", "/Zanzibar/Zanzibar")
    estate.http("POST", "/mcp/agent", {"jsonrpc": "2.0", "id": "Zanzibar", "method": "Zanzibar"})
    token = estate.token
    assert estate.end() == 0
    said = json.dumps(estate.log)
    assert {"serving", "request", "stopped"} <= {one["event"] for one in estate.log}
    for word in ("Zanzibar", "tea", token):
        assert word not in said


def test_the_schedule_drains_what_other_processes_queued(estate: Estate) -> None:
    """Without being asked, the daemon stores what was queued before it came, and says so in its log."""
    tea = estate.remember("agent", "User likes tea")
    estate.start()
    log = estate.root / "agent" / "archive"
    found = threading.Event()

    def watch() -> None:
        while not found.wait(0.1):
            if any(tea in one.read_text(encoding="utf-8") for one in log.glob("*.md")):
                found.set()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    assert found.wait(120)
    assert estate.end() == 0
    ran = [one for one in estate.log if one["event"] in {"consolidated", "interrupted"}]
    assert {one["workspace"] for one in ran} == {"agent"}


def test_a_workspace_is_refused_where_a_daemon_serves_many(estate: Estate) -> None:
    """`serve` with a workspace or a person is a wrong call, and an address that is none of ours is told."""
    assert estate.call("serve", "--agent-id", "x").returncode == 64
    answer = estate.call("serve", "--root", str(estate.root), "--host", "203.0.113.7")
    assert answer.returncode == 64
    assert "choose another --host" in answer.stderr
