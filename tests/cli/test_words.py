"""The commands on entries: judged, taken back, promised again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Shell


@pytest.fixture
def tea(shell: Shell) -> str:
    """The id of an entry."""
    return shell.json("remember", "User likes tea", "--category", "preference")["id"]


def test_a_word_is_taken_back_by_its_event(shell: Shell, tea: str) -> None:
    """`get` shows what happened with the ids of the events, and `take-back` undoes one by its id."""
    shell.json("pin", tea)
    (pin,) = shell.json("get", tea)["history"]
    assert pin["id"] in shell.ok("get", tea).out
    told = shell.json("take-back", pin["id"], "--why", "by mistake")
    assert told["entry"] == tea
    assert not told["state"].get("pinned")
    assert shell("take-back", pin["id"]).code == 64
    assert shell("take-back", "f" * 16).code == 66


def test_a_judge_gives_a_reason_where_the_writer_differs(shell: Shell) -> None:
    """`judge` against the writer's own significance wants `--why`; `get` shows both numbers and the reason."""
    entry = shell.json("remember", "User likes tea", "--sig", "0.8")["id"]
    assert shell("judge", entry, "0.3").code == 64
    shell.ok("judge", entry, "0.3", "--why", "said in passing")
    told = shell.ok("get", entry).out
    assert "0.30 by other, the writer's own 0.80: said in passing" in " ".join(told.split())


def test_a_promise_comes_again(shell: Shell) -> None:
    """`remember --every` makes a promise that `done` puts to its next time."""
    entry = shell.json("remember", "Water the plants", "--due", "2099-07-03", "--every", "weekly")["id"]
    assert "every week" in shell.ok("due").out
    assert "due again 2099-07-10" in shell.ok("done", entry).out
    assert shell.json("due")[0]["due"] == "2099-07-10"


def test_a_filter_counts_before_it_lets_go(shell: Shell, tea: str) -> None:
    """With `--dry-run` hide, forget and erase say how many a filter admits, and a filter that admits all is refused."""
    for verb in ("hide", "forget", "erase"):
        told = shell.json(verb, "--category", "preference", "--dry-run")
        assert told["ids"] == [tea]
        assert shell(verb).code == 64
    assert shell.json("get", tea)["current"]


def test_feedback_says_that_it_waits(shell: Shell, tea: str) -> None:
    """Feedback is answered as queued, and on a forgotten entry with how to bring it back."""
    assert shell.ok("feedback", tea, "helpful").out.startswith("QUEUED — not yet applied")
    assert shell("feedback", tea, "nice").code == 64
    shell.ok("forget", tea)
    answer = shell("feedback", tea, "helpful", "--json")
    assert answer.code == 66
    assert f"reverie forget {tea} --restore" in answer.value["error"]["message"]
