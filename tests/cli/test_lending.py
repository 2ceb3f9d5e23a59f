"""A dream and a reading by an agent that has a shell: `dream-start`, `dream-step`, `dream-finish`, `extract-*`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from dream_agent import TEAS, body, cite
from dream_world import entry, log

from reverie.entrance import Opening
from reverie.memory import Memory
from reverie.opening import open_workspace
from reverie.surface.cli.json_reference import json_schema

if TYPE_CHECKING:
    from conftest import Answer, Shell

DAY = "2020-01-01"
LIKES = entry(1, "User likes green tea", category="preference", day=DAY)
WORKS = entry(2, "User works at Google", category="work", day=DAY)
PAGE = body("Preferences", cite(LIKES), cite(WORKS))
LET = ("--set", "mcp.host_model=true")
WHOLE = json_schema()
ITEM = {"text": "User moved to Lisbon.", "evidence": "I moved to Lisbon", "category": "personal"}


@pytest.fixture
def agent(shell: Shell) -> Shell:
    """A command line on a workspace with two entries of a day that is long past."""
    shell.ok("status")
    with Memory(open_workspace(Opening(path=shell.folder, config_dir=shell.config))) as memory:
        log(memory.opened.ws, [LIKES, WORKS])
    return shell


def told(agent: Shell, command: str, *words: str, stdin: str = "") -> Any:
    """Return the value of a command, which is what its schema says and no more."""
    value = agent.json(command, *words, *LET, stdin=stdin.encode())
    schema = {**WHOLE["commands"][command], "$defs": WHOLE["$defs"]}
    jsonschema.validate(value, schema, cls=jsonschema.Draft202012Validator)
    return value


def step(agent: Shell, run: str, *words: str, stdin: str = "") -> Any:
    """Use one tool of a run, and return what it said."""
    return told(agent, "dream-step", run, *words, stdin=stdin)


def refused(answer: Answer, kind: str, said: str) -> None:
    """Check that a command failed with an error of that class that says so."""
    assert answer.value["error"]["class"] == kind, answer
    assert said in answer.value["error"]["message"], answer


def work(agent: Shell, text: str = PAGE, *ids: str) -> str:
    """Begin a run, write a page and settle entries as cited there."""
    run = str(agent.json("dream-start", "--now", "--model", "claude", *LET)["run"])
    step(agent, run, "write", f"path={TEAS}", "text=-", stdin=text)
    each = [f"entry={one}" for one in ids or (LIKES.id, WORKS.id)]
    said = step(agent, run, "settle", *each, "outcome=cited", f"page={TEAS}")
    assert not said["refused"], said
    return run


@pytest.mark.slow
def test_an_agent_with_a_shell_dreams(agent: Shell) -> None:
    """A run is begun, written, settled and finished by commands; the first waits for a person, the next does not."""
    begun = told(agent, "dream-start", "--now", "--model", "claude")
    assert begun["entries"] == [LIKES.id, WORKS.id]
    assert "reverie dream-step RUN settle" in begun["instructions"]
    assert "memory_dream" not in begun["instructions"]
    run = begun["run"]
    assert "3_Personal/" in step(agent, run, "list", "folder=notebook")["text"]
    assert "Google" in step(agent, run, "read", f"path=archive/{DAY}.md")["text"]
    assert step(agent, run, "read", "path=SOUL.md")["refused"]
    assert step(agent, run, "settle", "entry=ffff", "outcome=declined", "reason=x")["refused"]
    assert "Busy" in str(agent("dream-start", "--now", "--json", *LET).value)
    agent.ok("dream-finish", run, "--give-up", *LET)
    assert not (agent.folder / "notebook" / TEAS).exists()
    run = work(agent)
    done = told(agent, "dream-finish", run)
    assert done["result"] == "nothing"
    assert not (agent.folder / "notebook" / TEAS).exists()
    agent.ok("review", "accept", done["review"], *LET)
    assert (agent.folder / "notebook" / TEAS).read_text(encoding="utf-8").strip() == PAGE.strip()
    assert agent.json("log")[0]["dreamer"] == "claude"
    black = entry(3, "User likes black tea", category="preference", day=DAY)
    with Memory(open_workspace(Opening(path=agent.folder, config_dir=agent.config))) as memory:
        log(memory.opened.ws, [black])
    done = agent.json("dream-finish", work(agent, f"{PAGE}- {cite(black)}\n", black.id), *LET)
    assert done["counts"] == {"cited": 1}


def test_an_agent_with_a_shell_reads_turns(agent: Shell) -> None:
    """Turns are handed out and what was found handed in by commands; it waits for a person's word once."""
    agent.ok("capture", "s1", "user", "I moved to Lisbon.")
    out = told(agent, "extract-start", "--model", "claude")
    assert (out["session"], out["from"], out["to"]) == ("s1", 0, 1)
    assert out["form"]["properties"]
    bad = {"text": "User moved to Porto.", "evidence": "I moved to Lisbon"}
    done = told(agent, "extract-submit", out["handle"], json.dumps([bad]))
    assert not done["read"]
    assert [one["item"] for one in done["refused"]] == [0]
    given = json.dumps({"entries": [ITEM]}).encode()
    review = agent.json("extract-submit", out["handle"], "-", *LET, stdin=given)["review"]
    agent.ok("review", "accept", review, *LET)
    agent.ok("drain")
    assert any("Lisbon" in one["text"] for one in agent.json("list"))
    assert agent.json("extract-start", *LET)["handle"] == ""


def test_people_are_told_in_words(agent: Shell) -> None:
    """Without `--json` a model reads what is asked, the batch, and what each command came to."""
    said = agent.ok("dream-start", "--now", *LET).out
    run = said.split()[3].rstrip(";")
    assert "=== data " in said
    assert LIKES.id in said
    assert "[0 of 2 settled" in agent.ok("dream-step", run, "list", *LET).out
    assert agent.ok("dream-finish", run, *LET).out.startswith("nothing could be settled; see the problems.\n")
    assert agent.ok("extract-start", *LET).out == "Every turn is read, or with another reader.\n"
    agent.ok("capture", "s1", "user", "I moved to Lisbon.")
    assert "`reverie extract-submit extract:" in agent.ok("extract-start", *LET).out


def test_nothing_is_lent_unasked(agent: Shell) -> None:
    """Without the setting each command says which one it takes, and changes nothing."""
    for words in (
        ("dream-start", "--now"),
        ("dream-step", "x", "list"),
        ("dream-finish", "x"),
        ("extract-start",),
        ("extract-submit", "x", "[]"),
    ):
        refused(agent(*words, "--json"), "UsageError", "mcp.host_model")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("dream-start", "--date", "yesterday"), "is no day"),
        (("dream-step", "x", "read", "path"), "NAME=VALUE"),
        (("dream-step", "x", "read", "path=a", "path=b"), "path is given twice"),
        (("dream-step", "x", "edit", "old=-", "new=-"), "standard input holds one value"),
        (("extract-submit", "x", "{not json"), "no JSON list"),
        (("extract-submit", "x", '"text"'), "no JSON list"),
        (("extract-submit", "x", "[" * 100_000), "no JSON list"),
    ],
)
def test_what_cannot_be_read_says_how_to_write_it(agent: Shell, words: tuple[str, ...], said: str) -> None:
    """A wrong argument is a usage error that says how it is written."""
    refused(agent(*words, "--json", *LET), "UsageError", said)


@pytest.mark.parametrize(
    "words",
    [
        ("dream-step", "dream:20200101-030000", "list"),
        ("dream-finish", "../x"),
        ("extract-submit", "x", "[]"),
    ],
)
def test_a_run_that_is_none_is_a_conflict(agent: Shell, words: tuple[str, ...]) -> None:
    """A run or a handle that is under way no longer, or never was, is a conflict; nothing is made of its name."""
    refused(
        agent(*words, "--json", *LET), "Conflict", "another run" if words[0] != "extract-submit" else "ask"
    )
