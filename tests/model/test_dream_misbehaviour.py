"""A dream by a model that misbehaves: for each way, what is in the store afterwards, exactly.

`Standing` compares pages, core files, skills and logs by their bytes, the outcomes, `log.md`, and what is proposed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from dream_agent import TEAS, Standing, answers, body, cite, cited, dreamt, good, settle, write
from dream_world import DANA, DAY, TEA, WORK, entry, later, log, open_world, page

from reverie.errors import ModelFailed
from reverie.store import counters
from reverie.store.counters import DreamCounters
from reverie.store.dreams import runs

if TYPE_CHECKING:
    from pathlib import Path

    from reverie.store.workspace import Workspace

NOTEBOOK = f"notebook/{TEAS}"
LINE = "## [2026-07-02] ingest | run=dream:20260702-030000 watermark=2026-07-01"


def failures(ws: Workspace) -> dict[str, int]:
    """Return how often each entry failed."""
    return counters.read(ws, DreamCounters).failures


def test_an_agent_that_does_its_work(ws: Workspace) -> None:
    """What it wrote stands byte for byte, each entry is cited, the run is in the log, the mark has moved (R-07)."""
    before = Standing(ws)
    done, script = dreamt(ws, *good(*DAY))
    after = Standing(ws)
    assert after.since(before) == {NOTEBOOK: body("Preferences", *map(cite, DAY))}
    assert after.outcomes == dict.fromkeys((one.id for one in DAY), "cited")
    assert after.log == f"{before.log.rstrip()}\n\n{LINE}\n"
    assert after.reviews == []
    assert str(done) == "4 entries: 4 cited on 1 page"
    assert runs.read(ws)[0].dreamer == "scripted:agent dream/1"
    assert answers(script)[-1].endswith("[4 of 4 settled]")


@pytest.mark.parametrize(
    "steps",
    [
        ["I am sorry, but I cannot help with that."],
        [""],
        ["I read all entries, cited each on 3_Personal/Preferences.md, and settled them."],
        [cited(TEA, TEAS), "All four are cited."],
        [[("read", {"path": "notebook/index.md"}), ("list", {"folder": "notebook"})], "Nothing to keep."],
        [write(TEAS, body("Preferences", *map(cite, DAY))), "I wrote them all down."],
    ],
    ids=["refuses", "empty", "lies", "settles what no page cites", "only looks", "settles nothing"],
)
def test_who_does_nothing_settles_nothing(ws: Workspace, steps: list[Any]) -> None:
    """A refusal, a silence and a lie leave every byte and every entry pending, and are one try (R-07, R-33, P-05)."""
    before = Standing(ws)
    done, _ = dreamt(ws, *steps)
    assert Standing(ws) == before
    assert done.result == "nothing"
    assert runs.watermark(ws) == ""
    assert [one.result for one in runs.read(ws)] == ["failed"]
    assert failures(ws) == dict.fromkeys((one.id for one in DAY), 1)


def test_who_forgets_half_settles_half(ws: Workspace) -> None:
    """Entries that were not settled stay pending and hold the watermark; they are asked for once more (R-09)."""
    before = Standing(ws)
    _, script = dreamt(ws, *good(TEA, WORK))
    after = Standing(ws)
    assert after.since(before) == {NOTEBOOK: body("Preferences", cite(TEA), cite(WORK))}
    assert after.outcomes == {TEA.id: "cited", WORK.id: "cited"}
    assert after.log == before.log
    asked = script.messages[-1][-1].parts[0].content
    assert asked.startswith("2 are still unsettled: 0000000000000003, 0000000000000004.")


@pytest.fixture
def paged(ws: Workspace) -> str:
    """Return the text of a page that a person wrote and that is long enough to be missed."""
    text = body("Preferences", *(f"User wrote line {n} by hand, and means to keep it" for n in range(20)))
    (ws.root / "notebook" / TEAS).write_text(text)
    return text


@pytest.mark.parametrize(
    "new",
    [
        "",
        body("Preferences", cite(TEA)),
        "---\ntype: personal\ntitle: Preferences\n---\n",
        body("Preferences", cite(TEA), "... (rest unchanged)"),
    ],
    ids=["empties", "shrinks", "keeps its head", "rest unchanged"],
)
def test_no_page_is_deleted_emptied_or_cut(ws: Workspace, paged: str, new: str) -> None:
    """A page that would lose more than half is dropped with its entries; the rest of the run lands (R-19, P-04)."""
    before = Standing(ws)
    people = body("Dana", *map(cite, DANA))
    steps = [write(TEAS, new), cited(TEA, TEAS), write("2_Wiki/Entities/Dana.md", people)]
    dreamt(ws, *steps, [cited(one, "2_Wiki/Entities/Dana.md") for one in DANA], "Done.")
    after = Standing(ws)
    assert page(ws, TEAS) == paged
    assert after.since(before) == {"notebook/2_Wiki/Entities/Dana.md": people}
    assert after.outcomes == {one.id: "cited" for one in DANA}


def test_a_line_for_what_was_left_out_is_refused(ws: Workspace, paged: str) -> None:
    """Words that stand for the rest of a page are refused although nothing else is missing (R-19)."""
    before = Standing(ws)
    dreamt(ws, write(TEAS, f"{paged}- {cite(TEA)}\n- (the rest remains unchanged)\n"), cited(TEA, TEAS))
    assert Standing(ws) == before


def test_who_loops_is_stopped(ws: Workspace) -> None:
    """An agent that calls tools for ever is stopped by its steps; nothing changes, it is no try (R-52, P-06)."""
    ws = open_world(ws.root, max_steps=6)
    before = Standing(ws)
    done, script = dreamt(ws, write(TEAS, body("Preferences", cite(TEA))), *[cited(TEA, TEAS)] * 20)
    assert Standing(ws) == before
    assert len(script.messages) == 6
    assert failures(ws) == {}
    assert "dream.max_steps" in done.problems[0]
    assert counters.read(ws, DreamCounters).most == 2


def test_a_batch_too_large_for_its_ceiling_comes_to_an_end(ws: Workspace) -> None:
    """After a run that came to no end the next ones are smaller, until one does; then they grow again (R-11)."""
    ws = open_world(ws.root, max_steps=4)
    dreamt(ws, *[("list", {})] * 4)
    assert counters.read(ws, DreamCounters).most == 2
    later(ws, hours=25)
    dreamt(ws, *good(TEA, WORK), *good(*DANA, page="2_Wiki/Entities/Dana.md", title="Dana"))
    assert Standing(ws).outcomes == dict.fromkeys((one.id for one in DAY), "cited")
    assert counters.read(ws, DreamCounters).most > 2


def test_one_entry_that_no_run_ends_with_is_set_apart(ws: Workspace) -> None:
    """An entry on which the agent loops although it stands alone is unprocessable at last (R-11, P-07)."""
    ws = open_world(ws.root, max_steps=2, max_entries=1, max_retries=1)
    loop: list[Any] = [("list", {})] * 2
    dreamt(ws, *loop * 4)
    assert set(failures(ws).values()) == {1}
    done, _ = dreamt(ws, *loop * 4)
    assert done.counts == {"unprocessable": 4}


@pytest.mark.parametrize("kind", ["timeout", "down", "limit", "auth", "ceiling"])
def test_who_breaks_off_half_way_leaves_nothing(ws: Workspace, kind: Any) -> None:
    """Half a run is dropped whole, whatever ended it, and is no try; the next does it once (R-10, N-29)."""
    before = Standing(ws)
    half = [write(TEAS, body("Preferences", cite(TEA), cite(WORK))), [cited(TEA, TEAS), cited(WORK, TEAS)]]
    done, _ = dreamt(ws, *half, ModelFailed("the model is gone: wait", kind=kind))
    assert Standing(ws) == before
    assert failures(ws) == {}
    assert done.problems == ("the model is gone: wait",)
    people = good(*DANA, page="2_Wiki/Entities/Dana.md", title="Dana")
    later(ws, seconds=1)
    halved = kind in ("timeout", "ceiling")
    dreamt(ws, *(good(TEA, WORK) if halved else good(TEA, WORK, *DANA)), *(people if halved else ()))
    assert Standing(ws).outcomes == dict.fromkeys((one.id for one in DAY), "cited")


@pytest.mark.parametrize("kind", ["unusable", "refused"])
def test_answers_that_cannot_be_used_are_tries(ws: Workspace, kind: Any) -> None:
    """What the batch itself may be to blame for is counted, so that it is taken apart in the end (R-11)."""
    dreamt(ws, ModelFailed("no words: try again", kind=kind))
    assert failures(ws) == dict.fromkeys((one.id for one in DAY), 1)


def test_calls_of_no_tool_end_the_run(ws: Workspace) -> None:
    """Endless calls of tools that are not there end the run, as a try; nothing changes (P-06)."""
    before = Standing(ws)
    dreamt(ws, *[("shell", {"command": "rm -rf ."})] * 30)
    assert Standing(ws) == before
    assert failures(ws) == dict.fromkeys((one.id for one in DAY), 1)


def test_arguments_of_no_form_are_refused(ws: Workspace) -> None:
    """Wrong names and types get a refusal, null and a number as text are understood, and the run goes on."""
    odd = [
        ("read", {}),
        ("read", {"path": ["a"]}),
        ("write", {"path": TEAS}),
        ("settle", {"entry": TEA.id, "outcome": "eaten", "page": None}),
        ("settle", {"entry": TEA.id, "outcome": "unprocessable", "reason": "x"}),
        ("settle", {"entry": TEA.id, "outcome": "cited", "page": TEAS, "part": "7"}),
    ]
    _, script = dreamt(ws, odd, *good(*DAY))
    assert all(one.startswith("refused: ") for one in answers(script)[: len(odd)])
    assert len(Standing(ws).outcomes) == 4


def test_ids_that_do_not_exist_cost_the_page(ws: Workspace) -> None:
    """A page that cites no entry there is falls with its entries, and the others land (R-09)."""
    ghost = entry(999, "User likes green tea")
    before = Standing(ws)
    dreamt(
        ws,
        [
            write(TEAS, body("Preferences", cite(TEA), cite(ghost))),
            settle(ghost, "cited", page=TEAS),
            cited(TEA, TEAS),
        ],
        *good(WORK, page="3_Personal/Work.md", title="Work"),
    )
    after = Standing(ws)
    assert after.since(before) == {"notebook/3_Personal/Work.md": body("Work", cite(WORK))}
    assert after.outcomes == {WORK.id: "cited"}


@pytest.mark.parametrize("said", ["User has preferences", "User works somewhere", "User works at Microsoft"])
def test_a_citation_without_its_content_is_refused(ws: Workspace, said: str) -> None:
    """A line that lacks what it cites, or says something else, falls with its page (R-09, R-21)."""
    before = Standing(ws)
    dreamt(ws, write(TEAS, body("Preferences", cite(WORK, said))), cited(WORK, TEAS))
    assert Standing(ws) == before


def test_not_everything_is_declined(tmp_path: Path) -> None:
    """More than half of a large batch declined is declined at all of none, and all of it is pending."""
    (tmp_path / "many").mkdir()
    ws = open_world(tmp_path / "many")
    many = [entry(n, f"User likes dish {n}", category="preference", sig=0.2) for n in range(1, 13)]
    log(ws, many)
    before = Standing(ws)
    dreamt(ws, [settle(one, "declined", reason="not worth it") for one in many])
    assert Standing(ws) == before
    assert failures(ws) == dict.fromkeys((one.id for one in many), 1)


def test_what_must_be_kept_is_not_declined(ws: Workspace) -> None:
    """A pin, an explicit write or a promise is declined by nobody; the tool says so at once."""
    ours = entry(60, "User wants the blue folder kept", session="")
    log(ws, [ours])
    _, script = dreamt(ws, settle(ours, "declined", reason="dull"))
    assert answers(script)[0].startswith("refused: what was written on purpose")
    assert Standing(ws).outcomes == {}


def test_merges_in_a_circle_settle_nothing(ws: Workspace) -> None:
    """Entries merged into each other are pending; who is cited lands (R-08)."""
    before = Standing(ws)
    circle = [settle(TEA, "merged", into=WORK.id), settle(WORK, "merged", into=TEA.id)]
    self_made = settle(DANA[0], "merged", into=DANA[0].id)
    dreamt(ws, [*circle, self_made], *good(DANA[1], page="2_Wiki/Entities/Dana.md", title="Dana"))
    after = Standing(ws)
    assert after.since(before) == {"notebook/2_Wiki/Entities/Dana.md": body("Dana", cite(DANA[1]))}
    assert after.outcomes == {DANA[1].id: "cited"}
