"""A run that a person took back for another try: what the next dreamer is told of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from dream_agent import TEAS, body, cite, cited, dreamt, good, write
from dream_world import DAY, TEA, WORK, entry, failing, log, open_world, page, run

from reverie import layout
from reverie.core.records import Outcome
from reverie.store import stream
from reverie.store.dreams import runs
from reverie.undo import restore, undo

if TYPE_CHECKING:
    from pathlib import Path

    from reverie.store.workspace import Workspace
    from reverie.testing import ScriptedAgent

SAID = "do not make them again"


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """Return a workspace in which an agent cited four entries on one page."""
    ws = open_world(tmp_path)
    log(ws, DAY)
    dreamt(ws, *good(*DAY))
    return ws


def told(script: ScriptedAgent) -> str:
    """Return what an agent was first told of its batch."""
    return "".join(str(part.content) for part in script.messages[0][0].parts)


def take_back(ws: Workspace, *, retry: bool) -> None:
    """Undo the latest run."""
    undo(ws, runs.read(ws)[-1].run, retry=retry, masked=lambda _: False)


def test_the_next_dream_sees_the_undone_changes(ws: Workspace) -> None:
    """After `undo --retry` the agent is shown the run's diff as what not to repeat, and does better (R-32)."""
    take_back(ws, retry=True)
    assert not (ws.root / ws.notebook / TEAS).exists()
    other = write("3_Personal/Tastes.md", body("Tastes", *map(cite, DAY)))
    done, script = dreamt(ws, other, [cited(one, "3_Personal/Tastes.md") for one in DAY], "Done.")
    text = told(script)
    assert SAID in text
    assert f"+- {cite(TEA)}" in text
    assert f"+++ b/{ws.notebook}/{TEAS}" in text
    asked = text.partition(SAID)[2]
    assert asked.index("===") < asked.index(f"+- {cite(TEA)}")
    assert "index.md" not in text
    assert done.counts == {"cited": 4}
    assert TEA.text in page(ws, "3_Personal/Tastes.md")


def test_a_restore_is_no_undo(ws: Workspace) -> None:
    """A run to which the pages were put back is no mistake: what was dreamt after it is done again, and not it."""
    more = entry(20, "User likes rye bread", category="preference")
    log(ws, [more])
    dreamt(ws, *good(more, page="3_Personal/Bread.md", title="Bread"))
    restore(ws, runs.read(ws)[0].run, masked=lambda _: False)
    _, script = dreamt(ws, *good(more, page="3_Personal/Bread.md", title="Bread"))
    assert more.id in told(script)
    assert SAID not in told(script)


def test_it_is_told_of_those_entries_alone(ws: Workspace) -> None:
    """A batch of other entries is told of no undone run, nor is any once its entries are settled."""
    take_back(ws, retry=True)
    dreamt(ws, *good(*DAY))
    log(ws, [entry(20, "User likes rye bread", category="preference")])
    _, script = dreamt(ws)
    assert SAID not in told(script)


def test_what_is_undone_for_good_is_not_shown_or_redone(ws: Workspace) -> None:
    """Undone without `--retry`, the entries are declined: no dream takes them up, and no other is told (R-32)."""
    take_back(ws, retry=False)
    assert run(ws).result == "nothing"
    log(ws, [entry(20, "User likes rye bread", category="preference")])
    _, script = dreamt(ws)
    assert SAID not in told(script)


def test_what_is_forgotten_is_in_no_undone_diff(ws: Workspace) -> None:
    """A line that was forgotten since is left out of the diff that the agent is shown (P-17)."""
    take_back(ws, retry=True)
    _, script = dreamt(ws, masked=failing("green tea"))
    assert SAID in told(script)
    assert f"+- {cite(WORK)}" in told(script)
    assert "+- User likes green tea" not in told(script)


def test_a_long_diff_is_cut(tmp_path: Path) -> None:
    """However much a run had written, the agent is shown a bounded piece of it."""
    ws = open_world(tmp_path)
    many = [
        entry(n, f"User keeps bee hive number {n} in the long garden", category="bees") for n in range(1, 400)
    ]
    log(ws, many)
    run(ws)
    take_back(ws, retry=True)
    _, script = dreamt(ws)
    shown = told(script).partition(SAID)[2].partition("=== end")[0]
    assert 4_000 < len(shown) < 9_000


def test_rules_try_again_as_they_place_things_now(tmp_path: Path) -> None:
    """Without a model a retry is dreamt by the same rules: each entry is cited again, once."""
    ws = open_world(tmp_path)
    log(ws, DAY)
    run(ws)
    take_back(ws, retry=True)
    assert run(ws).counts == {"cited": 4}
    assert page(ws, TEAS).count(cite(TEA)) == 1
    told = stream.read(ws, layout.OUTCOMES, Outcome).records
    assert [one.outcome for one in told].count("cited") == 2 * len(DAY)
