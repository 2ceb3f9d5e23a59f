"""What is searched, how it is cut, and what a change of a file costs: asked of the index of a real workspace."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest
from desk import Desk

from reverie import recall
from reverie.compact import compact
from reverie.core.pages.chunks import LIMIT
from reverie.core.where import Where
from reverie.errors import EmbedderFailed
from reverie.store.filesystem.disk import Disk
from reverie.testing import ScriptedModel, ToyEmbedder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.core.search.rows import Row
    from reverie.index.embedder import Vectors
    from reverie.memory import Memory


def rows_of(desk: Desk, memory: Memory | None = None) -> dict[str, list[Row]]:
    """Return the rows of the index by the file they come from, the files just read."""
    opened = (memory or desk.memory).opened
    recall.catch_up(opened.ws, opened.state_now(), index=opened.index, masked=opened.mask.row, patience=None)
    with opened.index.rows.work() as db:  # type: ignore[attr-defined]
        ids = [name for (name,) in db.execute("SELECT id FROM row ORDER BY id")]
    found: dict[str, list[Row]] = {}
    for one in opened.index.rows.get(ids).values():
        found.setdefault(one.source, []).append(one)
    return found


class Switched(ToyEmbedder):
    """A toy that is down while `down` holds."""

    down = False

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """Return the rows, or fail."""
        if self.down:
            raise EmbedderFailed("the server is down", kind="down")
        return super().embed(texts, query=query)


def test_these_files_are_searched_and_no_other(desk: Desk) -> None:
    """S-38: logs, core files, pages however deep, sessions and history; no navigation, dot folder or state."""
    desk.remember("marmot in a log")
    desk.say("marmot in a turn")
    desk.memory.drain()
    for path in (
        "USER.md",
        "SOUL.md",
        "notebook/2_Wiki/Concepts/Deep/Deeper/Page.md",
        "notebook/0_Inbox/a b_%.md",
    ):
        desk.write(path, f"# A title\n\nmarmot in {path}\n")
    unseen = (
        *("notebook/schema.md", "notebook/index.md", "notebook/log.md", "notebook/.obsidian/x.md"),
        *("notebook/2_Wiki/.trash/y.md", ".state/z.md", "notebook/2_Wiki/picture.svg", "elsewhere.md"),
    )
    for path in unseen:
        desk.write(path, f"# A title\n\nmarmot in {path}\n")
    (session,) = (desk.root / "sessions").iterdir()
    sources = {hit.source for hit in desk.hits("marmot", k=100)}
    assert sources == {
        *("archive/2026-07-01.md", "USER.md", "SOUL.md", f"sessions/{session.name}"),
        *("notebook/2_Wiki/Concepts/Deep/Deeper/Page.md", "notebook/0_Inbox/a b_%.md"),
    }


def test_a_workspace_that_was_there_before_the_index_is_read_whole(desk: Desk) -> None:
    """S-40: what stood in the files before the first index is found at the first recall, without a change."""
    desk.remember("marmot in a log")
    desk.memory.drain()
    desk.write("USER.md", "Calls her marmot Kiwi.\n")
    desk.page("2_Wiki/Concepts/Animals.md", "The marmot whistles.")
    desk.memory.close()
    shutil.rmtree(desk.root / ".index", ignore_errors=True)
    assert {hit.kind for hit in desk.hits("marmot", desk.again())} == {"entry", "core", "page"}


def test_a_fact_is_a_row_and_paragraphs_are_merged(desk: Desk) -> None:
    """S-39: one row for each entry; paragraphs of a section together up to 1,200 characters, under their headings."""
    for number in range(3):
        desk.remember(f"fact {number}", category="technical", tags=("a", "b"), sig=0.8)
    desk.memory.drain()
    short = "\n\n".join(f"Paragraph {number} " + "word " * 30 for number in range(30))
    path = desk.page(
        "2_Wiki/Concepts/Animals.md", "## Small", "", short, "", "## 大きい", "", "長い文。" * 900
    )
    rows = rows_of(desk)
    facts = rows["archive/2026-07-01.md"]
    assert sorted(one.text for one in facts) == ["fact 0", "fact 1", "fact 2"]
    assert {(one.kind, one.category, one.tags, one.day) for one in facts} == {
        ("entry", "technical", ("a", "b"), "2026-07-01")
    }
    assert len({one.id for one in facts}) == 3
    pieces = rows[path]
    small = [one for one in pieces if one.heading == "Animals › Small"]
    large = [one for one in pieces if one.heading == "Animals › 大きい"]
    assert len(small) + len(large) == len(pieces)
    assert all(len(one.text) <= LIMIT == 1_200 for one in pieces)
    assert len(small) < 10
    assert sum(one.text.count("Paragraph ") for one in small) == 30
    assert len(large) >= 3
    assert "".join(one.text for one in sorted(large, key=lambda one: one.place)).count("長い文。") >= 895


def test_turns_and_history_are_rows_with_their_place(desk: Desk) -> None:
    """A turn's row knows session, ordinal, speaker and day, a record of the history its cursor; ids are stable."""
    for number in range(40):
        desk.say(f"turn {number} " + "word " * 600, session="long", name="Dana")
    model = ScriptedModel(["The user counts turns and says word after word."], loop=True)
    compact(desk.memory.opened.writable, "long", budget=5_000, model=model)
    before = rows_of(desk)
    (turns,) = (found for source, found in before.items() if source.startswith("sessions/"))
    assert {(one.kind, one.session, one.person, one.role) for one in turns} == {
        ("turn", "long", "Dana", "user")
    }
    assert sorted(one.n for one in turns) == list(range(40))
    assert {(one.kind, one.session) for one in before["history.jsonl"]} == {("history", "long")}
    assert desk.hits("counts")[0].kind == "history"
    desk.memory.reindex()
    assert rows_of(desk) == before


def test_only_what_changed_is_read_and_embedded(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """S-40: an untouched file is not read, a touched one keeps its equal rows, and only new text is embedded."""
    embedder = ToyEmbedder()
    memory = desk.again(embedder=embedder)
    first = desk.page("2_Wiki/Concepts/One.md", "## A", "", "alpha " * 30, "", "## B", "", "beta " * 30)
    second = desk.page("2_Wiki/Concepts/Two.md", "gamma")
    for path in (first, second):  # what was written this moment is read again: it may be written once more
        os.utime(desk.root / path, (1_780_000_000, 1_780_000_000))
    memory.reindex()
    read: list[str] = []
    whole = Disk.read

    def watched(disk: Disk, path: str) -> bytes | None:
        if path.startswith("notebook/2_Wiki/"):
            read.append(path)
        return whole(disk, path)

    monkeypatch.setattr(Disk, "read", watched)
    memory.recall("alpha")
    assert read == []
    before, embedder.asked[:] = rows_of(desk, memory), []
    desk.write(first, desk.text(first).replace("beta", "delta"))
    memory.reindex()  # everything is read again, and nothing that is known is embedded again
    after = rows_of(desk, memory)
    assert [one.split()[-1] for one in embedder.asked] == ["delta"]
    assert {one.id for one in after[first]} & {one.id for one in before[first]} == {
        one.id for one in before[first] if "beta" not in one.text
    }
    assert after[second] == before[second]
    read.clear()
    desk.write(first, desk.text(first).replace("delta", "epsilon"))
    memory.recall("alpha")
    assert set(read) == {first}
    assert "epsilon" in memory.recall("epsilon").hits[0].text
    assert not any("delta" in hit.text for hit in memory.recall("delta").hits)


def test_a_page_whose_embedding_fails_is_never_lost(desk: Desk) -> None:
    """S-41: with the embedder down new words are found and other paragraphs keep their vectors; later it is retried."""
    embedder = Switched(synonyms={"automobile": "car", "beverage": "tea", "feline": "cat"})
    memory = desk.again(embedder=embedder)
    path = desk.page("2_Wiki/Concepts/One.md", "## A", "", "A red car", "", "## B", "", "Green tea")
    memory.reindex()
    assert memory.recall("automobile").hits[0].text == "A red car"
    embedder.down = True
    desk.write(path, desk.text(path).replace("Green tea", "A black cat"))
    memory.consolidate()
    assert "down" in memory.opened.index.trouble()
    assert [hit.text for hit in memory.recall("black").hits] == ["A black cat"]
    assert memory.recall("green").hits == ()
    assert memory.opened.index.vectorless() == 1
    embedder.down = False
    memory.reindex()
    assert memory.recall("automobile").hits[0].text == "A red car"
    assert memory.opened.index.vectorless() == 0
    assert memory.recall("feline").hits[0].text == "A black cat"


def test_each_kind_that_filters_alone(desk: Desk) -> None:
    """An entry that a page cites yields to the page, and stands alone under each filter that asks for entries."""
    kept = desk.remember(
        "Dana prefers calls before noon", category="preference", tags=("calls",), about="Dana"
    )
    desk.night()
    assert kept not in {hit.id for hit in desk.hits("calls before noon")}
    for where in (
        Where(category="preference"),
        Where(tag="calls"),
        Where(about="Dana"),
        Where(since="2026-07-01", until="2026-07-01", category="preference"),
        Where(as_of=desk.clock(), category="preference"),
        Where(include_hidden=True, category="preference"),
    ):
        assert [hit.id for hit in desk.hits("calls before noon", where=where)] == [kept], where


def test_what_was_not_read_in_time_is_counted_in_the_answer(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A recall whose patience is over answers with what it has and says in `behind` how many files are left."""
    desk.remember("the key is brass")
    for number in range(4):
        desk.say(f"A long story {'of a key ' * 8_000}", session=f"s{number}")
    assert recall.PATIENCE == 0.05
    monkeypatch.setitem(recall.catch_up.__kwdefaults__, "patience", -1.0)
    found = desk.memory.recall("key")
    assert found.behind == 4
    assert "the key is brass" in [hit.text for hit in found.hits]
    monkeypatch.undo()
    desk.memory.reindex()
    assert desk.memory.recall("key").behind == 0
