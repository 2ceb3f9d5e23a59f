"""What a night looks at: the notebook a few times however many pages it has, and no more states than it must."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from desk import Desk
from dream_world import NIGHT, entry, happened, log, look_at, open_world, page, run

from reverie import layout
from reverie.core.dreams.overview import candidates, choose, is_source
from reverie.core.dreams.page_rules import units
from reverie.core.records import Draft
from reverie.store.filesystem.disk import Disk
from reverie.store.versions.git import History

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CITED = "[[archive/2026-07-01#^000000000000000{}]]"
KINDS = ("preference", "personal", "goal", "work")


class Walked(Disk):
    """A disk that counts the walks over the notebook."""

    walks = 0

    def walk_statuses(self, path: str) -> Iterator[tuple[str, Any]]:
        """Count it, and walk."""
        self.walks += path == layout.NOTEBOOK
        return super().walk_statuses(path)


@pytest.fixture
def disk(tmp_path: Path) -> Walked:
    """Return the counting disk of a workspace that `desk_on` opens."""
    return Walked(tmp_path / "agent")


def test_a_night_walks_over_the_notebook_four_times(tmp_path: Path, disk: Walked) -> None:
    """A dream looks for pages when it begins, is judged, is installed and has ended; what follows it looks no more."""
    with Desk(tmp_path) as desk:
        memory = desk.again(disk=lambda _: disk)
        for text in ("Dana prefers tea in the morning.", "Dana prefers tea in the morning, hot."):
            memory.remember(text, Draft(category="preference", origin="user"))
        memory.drain()
        desk.clock.advance(hours=25)
        disk.walks = 0
        assert memory.dream(now=True).counts
        assert disk.walks == 4


def test_a_question_walks_over_the_notebook_once(tmp_path: Path, disk: Walked) -> None:
    """State and search rows take what is on the disk from one look at it, and see what changed since the last."""
    with Desk(tmp_path) as desk:
        memory = desk.again(disk=lambda _: disk)
        memory.recall("heron")
        (desk.root / "notebook/2_Wiki/Concepts/Heron.md").write_text("# Heron\n\nA heron stands still.\n")
        disk.walks = 0
        assert [hit.source for hit in memory.recall("heron").hits] == ["notebook/2_Wiki/Concepts/Heron.md"]
        assert disk.walks == 1


def test_the_overview_is_the_same_by_weights_as_by_states(tmp_path: Path) -> None:
    """Whatever happened to entries, what they weigh chooses the lines that a look at their states chooses (S-36)."""
    ws, lot = open_world(tmp_path), random.Random(7)
    every = [
        entry(
            n,
            f"User keeps {lot.choice(('bees', 'hens'))} in yard number {n}",
            category=lot.choice(KINDS),
            sig=lot.choice((0.3, 0.5, 0.6, 0.9)),
            at=NIGHT - timedelta(hours=lot.randrange(15, 27)),
            status=lot.choice(("active", "active", "active", "discussed")),
        )
        for n in range(1, 500)
    ]
    log(ws, every)
    for one in lot.sample(every, 120):
        other = lot.choice(every)
        kind = lot.choice(("pin", "hide", "wrong", "supersede", "repeat", "feedback", "forget"))
        happened(ws, kind, one, other if kind in {"supersede", "repeat"} and other is not one else None)
    run(ws)
    state = look_at(ws)
    texts = {
        path.relative_to(ws.root / ws.notebook).as_posix(): path.read_text("utf-8")
        for path in (ws.root / ws.notebook).rglob("*.md")
    }
    rows = {path: candidates(text) for path, text in sorted(texts.items()) if is_source(path)}
    ids = [id_ for found in rows.values() for row in found for id_ in row.ids]
    weights, states = state.weights(ids), state.find(ids)
    state.close()
    assert len(set(ids)) > len(weights) > 100
    by_states = choose(rows, lambda path: path, find=states.get)
    assert choose(rows, lambda path: path, find=states.get, weights=weights) == by_states
    assert len(by_states) > 20
    gone = {id_ for one in by_states[:5] for id_ in one.ids}

    def shown(id_: str) -> Any:
        return None if id_ in gone else states.get(id_)

    left = choose(rows, lambda path: path, find=shown, weights=weights)
    assert left == choose(rows, lambda path: path, find=shown)
    assert gone.isdisjoint(id_ for one in left for id_ in one.ids)


def test_one_file_of_a_commit_is_found_by_its_path(tmp_path: Path) -> None:
    """`find` names the blob that the whole tree names, and nothing for a folder, an absent file or no commit."""
    ws = open_world(tmp_path)
    history = History(ws)
    files = {"a.md": b"a", "deep/er/b.md": b"b"}
    commit = history.prepare(files, parent=None, message="two", at=NIGHT).id
    assert {path: history.find(commit, path) for path in files} == history.tree(commit)
    assert [history.find(commit, path) for path in ("deep", "deep/er", "a.md/b", "c.md")] == [""] * 4
    assert history.find(None, "a.md") == ""


def test_units_are_looked_for_among_lines() -> None:
    """Of what cites on a page, the units that hold none of some lines are left out, and the others are the same."""
    one, two, three = (CITED.format(n) for n in (1, 2, 3))
    body = f"# Tea\n\n- Green {one}\n  - before lunch\n- Black {two}\n\n## Pots\n\n- Iron {three}\n"
    text = f"---\ntitle: Tea\n---\n\n{body}"
    every = list(units(text))
    assert [unit.context for unit in every] == ["Tea Tea", "Tea Tea", "Tea Tea Pots"]
    assert list(units(text, {"  - before lunch"})) == every[:1]
    assert list(units(text, {f"- Iron {three}", "# Tea"})) == every[2:]
    assert list(units(text, frozenset())) == []


def test_a_forgotten_line_is_not_promoted_by_its_weight(tmp_path: Path) -> None:
    """What must stay forgotten is not shown on the overview, though what it weighs is known without its text."""
    ws = open_world(tmp_path)
    log(
        ws,
        [entry(1, "User keeps bees", category="personal"), entry(2, "User keeps hens", category="personal")],
    )
    run(ws)
    assert "bees" in page(ws, layout.OVERVIEW)
    log(ws, [entry(3, "User keeps goats", category="personal", day="2026-06-30")])
    run(ws, masked=lambda text: "bees" in text)
    assert "goats" in page(ws, layout.OVERVIEW)
    assert "bees" not in page(ws, layout.OVERVIEW)
