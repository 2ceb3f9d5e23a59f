"""A dream by the client's own model, through the official SDK's client."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from dream_agent import TEAS, body, cite
from dream_world import TEA, WORK, entry, log
from hosting import IDS, PAGE, SECRET, Host
from mcp.shared.exceptions import MCPError

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Place
    from mcp import Client


HIDDEN = """
SOUL.md ./SOUL.md skills/ skills/a/SKILL.md .state/key ../agent/SOUL.md reverie.toml .journal/segments
sessions/s1.jsonl people/ /etc/passwd notebook/../SOUL.md
"""


@pytest.fixture
def host(place: Place) -> Host:
    """A host whose model may work."""
    return Host(place)


def test_nothing_is_offered_unasked(place: Place) -> None:
    """Without the setting no tool of these is listed or answers; the verbs say which setting it takes."""

    async def talk(client: Client) -> set[str]:
        return {tool.name for tool in (await client.list_tools()).tools}

    assert not any("dream" in name or "extract" in name for name in place.talk(talk))
    with pytest.raises(MCPError, match="Unknown tool"):
        place.use("memory_dream_start")
    with place.memory() as memory, pytest.raises(Exception, match=r"mcp\.host_model"):
        memory.dream_start()


def test_a_workspace_cannot_let_hosts_in(place: Place) -> None:
    """The setting is refused in a workspace's own file: such a model may have a shell and the web."""
    (place.root / "reverie.toml").write_text("[mcp]\nhost_model = true\n")
    with pytest.raises(Exception, match=r"mcp\.host_model may not be set by a workspace"):
        place.memory()


@pytest.mark.slow
def test_the_flag_offers_them(place: Place) -> None:
    """`reverie mcp --host-model` lists all seven."""

    async def talk(client: Client) -> list[str]:
        return [tool.name for tool in (await client.list_tools()).tools]

    names = place.talk_apart(talk, more=["--host-model"])
    assert sum("_dream_" in name or "_extract_" in name for name in names) == 7


def test_a_host_dreams_and_a_person_accepts_once(host: Host) -> None:
    """The first run changes nothing before a person's word, and installs as any run then; the next needs none."""
    before = host.stands()
    begun = host.value("memory_dream_start", now=True, model="claude")
    assert begun["entries"] == IDS
    assert "memory_dream_settle" in begun["instructions"]
    assert "skill" not in begun["batch"]
    host.work(begun["run"])
    done = host.value("memory_dream_finish", run=begun["run"])
    assert done["result"] == "nothing"
    assert done["review"] in done["reason"]
    assert host.stands().files == before.files
    again = host.use("memory_dream_start", now=True)
    assert again.content[0].text.startswith("Conflict")
    with host.memory() as memory:
        assert memory.dream(now=True).reason == "no entry of a closed day is pending"
        (item,) = memory.review()
        assert f"+- {cite(TEA)}" in item.text
    host.accepted()
    after = host.stands()
    assert after.since(before) == {f"notebook/{TEAS}": PAGE}
    assert after.outcomes == dict.fromkeys(IDS, "cited")
    with host.memory() as memory:
        assert memory.log()[0].run == begun["run"]
        assert memory.log()[0].dreamer == "claude"
        log(memory.opened.ws, [entry(9, "User likes black tea", category="preference")])
    run = host.begin()
    host.work(run, f"{PAGE}- {cite(entry(9, 'User likes black tea'))}\n", [f"{9:016x}"])
    assert host.value("memory_dream_finish", run=run)["counts"] == {"cited": 1}


def test_a_rejected_run_leaves_nothing(host: Host) -> None:
    """What a person rejects is gone, its entries pending, and the next run needs their word again."""
    before = host.stands()
    run = host.begin()
    host.work(run)
    review = host.value("memory_dream_finish", run=run)["review"]
    with host.memory() as memory:
        memory.review(review, accept=False)
        assert memory.opened.ws.disk.list(f".state/dreams/{run.replace(':', '-')}") == []
    assert host.stands().files == before.files
    run = host.begin()
    host.work(run)
    assert host.value("memory_dream_finish", run=run)["review"] != ""


def test_a_run_that_is_given_up_or_left_leaves_nothing(host: Host) -> None:
    """A run given up, and one whose lease ended by the clock, change nothing; late calls are told so (R-10)."""
    before = host.stands()
    run = host.begin()
    host.work(run)
    assert host.use("memory_dream_start", now=True).content[0].text.startswith("Busy")
    assert "given up" in host.value("memory_dream_finish", run=run, give_up=True)["reason"]
    assert host.stands() == before
    host.clock.advance(seconds=1)
    late = host.begin()
    host.work(late)
    host.clock.advance(seconds=601)
    with host.memory() as memory:
        assert memory.dream(now=True).counts == {"cited": 4}
    assert (
        host.use("memory_dream_edit", run=late, path=TEAS, text=PAGE).content[0].text.startswith("Conflict")
    )
    assert host.use("memory_dream_finish", run=late).is_error


def test_the_confinement_of_a_guest(host: Host) -> None:
    """Neither skills, SOUL.md, settings, journal nor state are read or written, by any spelling or way of asking."""
    before, run = host.stands(), host.begin()
    for path in HIDDEN.split():
        assert host.value("memory_dream_read", run=run, path=path)["refused"], path
        assert host.value("memory_dream_edit", run=run, path=path, text="x")["refused"], path
    listed = host.value("memory_dream_read", run=run)["text"]
    assert "SOUL" not in listed
    assert "skills" not in listed
    for asked in ({"words": "SOUL words"}, {"query": "SOUL words that no guest reads"}):
        assert SECRET not in host.value("memory_dream_read", run=run, **asked)["text"]
    host.value("memory_dream_finish", run=run)
    assert host.stands().files == before.files


def test_what_is_forgotten_is_not_handed_out(host: Host) -> None:
    """A forgotten text is in no batch, file, search or turns that a host is given, and cannot be written back."""
    host.say("I like green tea very much, always have.")
    with host.memory() as memory:
        memory.forget([TEA.id])
    begun = host.value("memory_dream_start", now=True)
    assert TEA.id not in begun["entries"]
    assert "green tea" not in begun["batch"]
    read = host.value("memory_dream_read", run=begun["run"], path="archive/2026-07-01.md")["text"]
    assert "Google" in read
    assert "green tea" not in read
    assert "green tea" not in host.value("memory_dream_read", run=begun["run"], query="green tea")["text"]
    host.work(begun["run"], PAGE, [WORK.id])
    assert host.value("memory_dream_finish", run=begun["run"])["review"] == ""
    assert "green tea" not in str(host.stands().files.get(f"notebook/{TEAS}", ""))


def finished(host: Host, run: str) -> Any:
    """Finish a run that is to change nothing."""
    before = host.stands()
    done = host.value("memory_dream_finish", run=run)
    assert (done["counts"], done["review"]) == ({}, "")
    assert host.stands().files == before.files
    return done


def nothing(_host: Host, _run: str) -> None:
    """Do nothing."""


def lies(host: Host, run: str) -> None:
    """Say that a page cites what it does not."""
    assert host.value("memory_dream_settle", run=run, entries=IDS, outcome="cited", page=TEAS)["refused"]


def unsettled(host: Host, run: str) -> None:
    """Write everything and settle nothing."""
    host.value("memory_dream_edit", run=run, path=TEAS, text=PAGE)


def invents(host: Host, run: str) -> None:
    """Cite an entry with other words."""
    host.work(run, body("Preferences", cite(WORK, "User works at Microsoft since 2011")), [WORK.id])


def ghost(host: Host, run: str) -> None:
    """Cite an entry that there is not."""
    host.work(run, body("Preferences", cite(TEA), cite(entry(999, "User likes green tea"))), [TEA.id])


def declines(host: Host, run: str) -> None:
    """Merge entries in a circle."""
    for one, other in ((TEA, WORK), (WORK, TEA)):
        host.value("memory_dream_settle", run=run, entries=[one.id], outcome="merged", into=other.id)


def active(host: Host, run: str) -> None:
    """Write what a browser would run."""
    host.work(run, f"{PAGE}\n<script>alert(1)</script>\n")


@pytest.mark.parametrize("how", [nothing, lies, unsettled, invents, ghost, declines, active])
def test_a_host_that_misbehaves_changes_nothing(host: Host, how: Callable[[Host, str], None]) -> None:
    """Whatever it says, nothing is installed or put before a person, and the entries have failed once (R-07, R-09)."""
    run = host.begin()
    how(host, run)
    finished(host, run)
    with host.memory() as memory:
        assert memory.log()[0].result == "failed"
        assert sum(memory.status().pending.values()) == 4


@pytest.mark.parametrize(
    "new", ["", body("Preferences", cite(TEA)), body("Preferences", cite(TEA), "... (rest unchanged)")]
)
def test_no_page_is_emptied_or_cut(host: Host, new: str) -> None:
    """A page that would lose more than half, or stands for its rest, is dropped with its entries (R-19, P-04)."""
    mine = body("Preferences", *(f"User wrote line {n} by hand, and means to keep it" for n in range(20)))
    (host.place.root / "notebook" / TEAS).write_text(mine)
    run = host.begin()
    host.value("memory_dream_edit", run=run, path=TEAS, text=new) if new else None
    host.value("memory_dream_settle", run=run, entries=[TEA.id], outcome="cited", page=TEAS)
    finished(host, run)


@pytest.mark.slow
def test_hostile_arguments_are_answers(host: Host) -> None:
    """Whatever stands in an argument, the answer is a refusal or an error of ours, and the run goes on."""
    run, odd = (
        host.begin(),
        ("\x00", "\x1b[2J", "..", "é" * 5_000, "💥", "notebook", "%2e%2e/SOUL.md", "-1", " "),
    )
    for one in odd:
        for result in (
            host.use("memory_dream_read", run=run, path=one),
            host.use("memory_dream_edit", run=run, path=one, text=one),
            host.use("memory_dream_settle", run=run, entries=[one], outcome="declined", reason=one),
            host.use("memory_dream_finish", run=one),
            host.use("memory_extract_submit", handle=one, entries=[{one: one}]),
            host.use("memory_extract_start", session=one, model=one),
        ):
            assert not result.is_error or "exit code" in result.content[0].text
            assert "\x1b" not in result.content[0].text
    host.work(run)
    assert host.value("memory_dream_finish", run=run)["review"]


def children(parent: int) -> list[int]:
    """Return the processes that one has started."""
    tasks = Path(f"/proc/{parent}/task").glob("*/children")
    return [int(pid) for one in tasks for pid in one.read_text().split()]


@pytest.mark.slow
def test_a_server_is_killed_in_between(place: Place) -> None:
    """After kill -9 amid a run nothing has changed, and another server goes on with it where it stood (R-10)."""
    host = Host(place)
    text = (
        "# Daily Log - 2026-07-01\n\n## 12:00 — s1\n\n- [preference] User likes green tea ^0000000000000001\n"
    )
    (place.root / "archive/2026-07-01.md").write_text(text)
    before = host.stands()

    async def first(client: Client) -> str:
        begun = await client.call_tool("memory_dream_start", {"now": True})
        run = str((begun.structured_content or {})["run"])
        page = body("Preferences", cite(TEA))
        await client.call_tool("memory_dream_edit", {"run": run, "path": TEAS, "text": page})
        for pid in children(os.getpid()):
            os.kill(pid, signal.SIGKILL)
        return run

    run = place.talk_apart(first, more=["--host-model"])
    assert host.stands().files == before.files

    async def second(client: Client) -> Any:
        given = {"run": run, "entries": [TEA.id], "outcome": "cited", "page": TEAS}
        await client.call_tool("memory_dream_settle", given)
        return (await client.call_tool("memory_dream_finish", {"run": run})).structured_content

    assert place.talk_apart(second, more=["--host-model"])["review"]
