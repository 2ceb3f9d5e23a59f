"""Other memories, folders, and how one wishes an import: facts, notes and pages, dry runs and progress."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from foreign import ROLLOUT, chat, event, lines, take

from reverie.core.records import Turn

if TYPE_CHECKING:
    from pathlib import Path

    from desk import Desk

    from reverie.importers.taken import Progress

# Other memories


@pytest.mark.parametrize(
    "wrap", [lambda found: found, lambda found: {"results": found}, lambda found: {"memories": found}]
)
def test_mem0_memories_become_facts(desk: Desk, wrap: Any) -> None:
    """Each memory is an entry of origin import, at its time and with its tags, once."""
    found = [
        {
            "id": "1",
            "memory": "Likes rye bread",
            "created_at": "2026-06-25T08:00:00-08:00",
            "categories": ["food"],
        },
        {"id": "2", "memory": "Plays the viola", "created_at": "2026-06-26 08:00:00"},
        {"id": "3", "text": "?"},
    ]
    done = take(desk, "mem0.json", wrap(found))
    assert (done.format, done.facts, done.unread) == ("mem0", 2, 1)
    assert take(desk, "mem0.json", wrap(found)).facts == 0
    desk.memory.drain()
    assert take(desk, "mem0.json", wrap(found)).repeated == 2
    entries = {state.entry.text: state.entry for state in desk.memory.list()}
    rye = entries["Likes rye bread"]
    assert (rye.origin, rye.at, rye.tags) == ("import", datetime(2026, 6, 25, 16, tzinfo=UTC), ("food",))


def test_a_graph_of_the_reference_server_becomes_facts(desk: Desk) -> None:
    """Each observation names its entity, each relation is a sentence, and what lacks an end is set aside."""
    text = lines(
        {
            "type": "entity",
            "name": "Ines",
            "entityType": "person",
            "observations": ["Lives in Porto", "Ines likes kayaks", " "],
        },
        {"type": "relation", "from": "Ines", "to": "Globex", "relationType": "works_at"},
        {"type": "relation", "from": "Ines", "to": "", "relationType": "knows"},
    )
    done = take(desk, "memory.jsonl", text)
    assert (done.format, done.facts, done.unread, done.passed) == ("memory-graph", 3, 1, {"empty": 1})
    desk.memory.drain()
    found = {state.entry.text: state.entry.about for state in desk.memory.list()}
    assert found == {
        "Ines: Lives in Porto": "Ines",
        "Ines likes kayaks": "Ines",
        "Ines works at Globex": "Ines",
    }


def test_a_forgotten_fact_does_not_come_back(desk: Desk) -> None:
    """A fact that was forgotten stays so when the file that held it is imported again."""
    found = [{"id": "1", "memory": "Likes rye bread"}]
    take(desk, "mem0.json", found)
    desk.memory.drain()
    (state,) = desk.memory.list()
    desk.memory.forget([state.entry.id])
    take(desk, "mem0.json", found)
    desk.memory.drain()
    assert desk.memory.list() == []
    assert desk.found("rye bread") == []


# Folders


def _vault(desk: Desk) -> Path:
    vault = desk.home / "My Notes"
    (vault / ".obsidian").mkdir(parents=True)
    (vault / ".obsidian" / "x.md").write_text("no")
    (vault / "People").mkdir()
    (vault / "2026-05-02.md").write_bytes(b"\xef\xbb\xbfMet Ines.\r\nShe is well.\r\n")
    (vault / "People" / "Ines.md").write_text("---\ntags: [friend]\n---\n# Ines\n\nSee [[2026-05-02]].\n")
    (vault / "Broken.md").write_bytes(b"\xff\xfe\x00")
    (vault / "Empty.md").write_text("\n")
    return vault


def test_a_vault_becomes_notes_and_pages(desk: Desk) -> None:
    """A dated note joins the note of its day, another becomes a page below the inbox; again adds nothing."""
    vault = _vault(desk)
    desk.write("notes/2026-05-02.md", "Mine before.\n")
    done = desk.memory.import_(vault)
    assert (done.format, done.files, done.unread, done.passed) == ("obsidian", 2, 1, {"an empty note": 1})
    assert desk.text("notes/2026-05-02.md") == "Mine before.\n\nMet Ines.\nShe is well.\n"
    page = "notebook/0_Inbox/My Notes/People/Ines.md"
    assert desk.text(page).startswith("---\ntags: [friend]\n---\n# Ines\n")
    desk.write(page, "Mine now.\n")
    again = desk.memory.import_(vault)
    assert (again.files, again.repeated) == (0, 2)
    assert desk.text(page) == "Mine now.\n"


def test_a_folder_of_sessions_is_imported_file_by_file(desk: Desk) -> None:
    """Each session file below a folder is read by its own format."""
    (desk.home / "logs" / "deep").mkdir(parents=True)
    take(desk, "logs/deep/rollout.jsonl", lines(*ROLLOUT), dry_run=True)
    take(desk, "logs/cc.jsonl", lines(event(1, "user", "Use tabs here.")), dry_run=True)
    done = desk.memory.import_(desk.home / "logs")
    assert set(done.format.split()) == {"codex", "claude-code", "sessions"}
    assert (done.turns, done.sessions) == (7, ("cc", "r1"))


# Wishes


def test_a_dry_run_counts_and_writes_nothing(desk: Desk) -> None:
    """A dry run gives the counts of the import and changes no byte."""
    before = desk.bytes()
    chats = [chat("c1"), {"mapping": 7}, chat("c1")]
    found = take(desk, "conversations.json", chats, dry_run=True)
    assert desk.bytes() == before
    done = take(desk, "conversations.json", chats)
    assert (found.turns, found.repeated, found.unread, found.passed) == (3, 3, 1, done.passed)
    assert (done.turns, done.repeated, done.unread) == (3, 3, 1)


def test_an_import_tells_how_far_it_is(desk: Desk) -> None:
    """Whoever asked is told bytes and counts, which grow to the whole."""
    told: list[Progress] = []
    text = lines(*({"role": "user", "content": f"Line {number}"} for number in range(1_000)))
    take(desk, "long.jsonl", text, tell=told.append)
    assert len(told) > 3
    assert told == sorted(told, key=lambda one: (one.done, one.seen))
    assert (told[-1].done, told[-1].seen) == (len(text), 1_000)


def test_a_paused_session_takes_nothing(desk: Desk) -> None:
    """Turns of a session that is off the record are not stored, and counted."""
    desk.memory.capture("chatgpt-c1", _stored_turn())
    desk.memory.pause("chatgpt-c1")
    done = take(desk, "c.json", [chat()])
    assert (done.turns, done.passed["in a session that is paused"]) == (0, 3)


def _stored_turn() -> Turn:
    return Turn(role="user", content="Before.", at=datetime(2026, 1, 1, tzinfo=UTC))
