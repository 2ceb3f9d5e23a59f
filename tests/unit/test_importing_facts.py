"""Other memories, folders, and how one wishes an import: facts, notes and pages, dry runs and progress."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from desk import Desk
from foreign import ROLLOUT, chat, event, lines, take

from reverie import care
from reverie.core.entries import MAX_TEXT
from reverie.core.records import Turn
from reverie.errors import StoreUnwritable
from reverie.store import journal, kept_out

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from reverie.core.records import JournalRecord
    from reverie.importers.taken import Progress
    from reverie.store.workspace import Workspace

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
    assert desk.memory.import_(vault).repeated == 2
    desk.write(page, "Mine now.\n")
    again = desk.memory.import_(vault)
    assert (again.files, again.repeated) == (0, 1)
    assert again.passed["a note that differs from its page here, which is kept"] == 1
    assert desk.text(page) == "Mine now.\n"


def test_of_a_dated_note_that_grew_what_is_new_comes_in(desk: Desk) -> None:
    """A diary page with one more paragraph adds that paragraph, and none that the note of the day has."""
    vault = _vault(desk)
    (vault / "2026-05-02.md").write_text("Met Ines.\n\nShe is well.\n")
    desk.memory.import_(vault)
    (vault / "2026-05-02.md").write_text("Met Ines.\n\nShe is well.\n\nShe moves to Bremen.\n")
    assert desk.memory.import_(vault).files == 1
    assert desk.text("notes/2026-05-02.md") == "Met Ines.\n\nShe is well.\n\nShe moves to Bremen.\n"


def test_a_workspace_below_the_folder_is_not_imported(desk: Desk) -> None:
    """The sessions of a workspace that lies in a folder of sessions are memory already, and stay out."""
    inner = desk.home / "logs" / "agent"
    (inner / ".state").mkdir(parents=True)
    (inner / "sessions").mkdir()
    (inner / "sessions" / "s.jsonl").write_text(lines(event(2, "user", "Use spaces there.")))
    assert take(desk, "logs/cc.jsonl", lines(event(1, "user", "Use tabs here."))).turns == 1
    again = desk.memory.import_(desk.home / "logs")
    assert (again.turns, again.repeated) == (0, 1)


def test_whose_a_mem0_memory_is_stays_known(desk: Desk) -> None:
    """The facts of two users of one export keep their user's name, and equal ones stay two."""
    told = [{"id": name, "memory": "Likes tea", "user_id": name} for name in ("ana", "ben")]
    assert take(desk, "mem0.json", told).facts == 2
    desk.memory.drain()
    assert {state.entry.who for state in desk.memory.list()} == {"ana", "ben"}


def test_a_note_called_index_is_a_page_like_any_other(desk: Desk) -> None:
    """A vault's `index.md` and `log.md` below its root become pages that recall finds."""
    vault = desk.home / "My Notes"
    vault.mkdir()
    (vault / "index.md").write_text("# Zanzibar\n\nThe ferry to Zanzibar leaves at six.\n")
    (vault / "log.md").write_text("# Diary\n\nOiled the quernstone.\n")
    done = desk.memory.import_(vault)
    assert (done.files, done.repeated) == (2, 0)
    for word, name in (("Zanzibar ferry", "index.md"), ("quernstone", "log.md")):
        assert desk.memory.recall(word).hits[0].source == f"notebook/0_Inbox/My Notes/{name}"


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


# Many at once


def _memories(number: int) -> list[dict[str, Any]]:
    return [{"id": str(n), "memory": f"Likes tea number {n}"} for n in range(number)]


@pytest.mark.slow
def test_many_facts_are_queued_with_few_writes(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Facts go to the journal two thousand at a time; one that comes twice in a file, or again, is stored once."""
    wrote: list[int] = []
    real = journal.append_all

    def counted(ws: Workspace, records: Sequence[JournalRecord]) -> None:
        wrote.append(len(records))
        real(ws, records)

    monkeypatch.setattr(journal, "append_all", counted)
    found = [*_memories(4_200), *_memories(10)]
    done = take(desk, "mem0.json", found)
    assert (done.facts, done.repeated, wrote) == (4_200, 10, [2_000, 2_000, 200])
    assert (take(desk, "mem0.json", found).repeated, wrote[3:]) == (4_210, [0, 0, 0])
    desk.memory.drain()
    assert len(desk.memory.list()) == 4_200


def test_facts_left_by_a_full_disk_come_in_later(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches before the disk was full stay, and importing again adds the rest, each fact once."""
    real, calls = journal.append_all, []

    def full(ws: Workspace, records: Sequence[JournalRecord]) -> None:
        calls.append(1)
        real(ws, records[: 2_000 if len(calls) == 1 else 3])  # of the second, what a torn write leaves
        if len(calls) > 1:
            raise StoreUnwritable("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(journal, "append_all", full)
        with pytest.raises(StoreUnwritable, match="full"):
            take(desk, "mem0.json", _memories(2_700))
    done = take(desk, "mem0.json", _memories(2_700))
    assert (done.facts, done.repeated) == (697, 2_003)
    desk.memory.drain()
    assert len({state.entry.text for state in desk.memory.list()}) == len(desk.memory.list()) == 2_700


def test_a_long_import_of_facts_drains_its_own_queue(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """The queue, which is held in memory, is drained on the way of a long import, and nothing is lost."""
    monkeypatch.setattr(care, "_QUEUED", 500_000)  # some eight hundred facts, short as these are
    found = _memories(1_000)
    assert take(desk, "mem0.json", found[:900]).facts == 900
    assert not desk.memory.opened.state_now().queued()
    assert take(desk, "mem0.json", found).facts == 100
    assert len(desk.memory.opened.state_now().queued()) == 100
    assert take(desk, "mem0.json", found).repeated == 1_000
    desk.memory.drain()
    assert len(desk.memory.list()) == 1_000


def test_a_dry_run_of_facts_counts_as_the_import_does(desk: Desk) -> None:
    """A dry run tells which facts are new, which are there and which cannot be stored, and writes nothing."""
    take(desk, "mem0.json", _memories(3))
    before = desk.bytes()
    found = [*_memories(600), {"id": "x", "memory": "y" * (MAX_TEXT + 1)}, *_memories(5)]
    told = take(desk, "mem0.json", found, dry_run=True)
    assert desk.bytes() == before
    done = take(desk, "mem0.json", found)
    for one in (told, done):
        assert (one.facts, one.repeated, one.unread) == (597, 8, 1)
    assert "at most" in done.skipped[0].reason


def test_a_fact_of_an_excluded_topic_is_counted_and_not_stored(desk: Desk) -> None:
    """A fact that names a topic the user excluded is left out by that reason, and is no repeated one."""
    desk.memory.exclude("tea")
    done = take(desk, "mem0.json", [*_memories(1), {"id": "b", "memory": "Likes rye bread"}])
    assert (done.facts, done.repeated, done.passed) == (1, 0, {"it names an excluded topic": 1})


def test_facts_are_not_kept_where_memory_is_off(tmp_path: Path) -> None:
    """With memory switched off no fact is stored, and each is counted by that reason."""
    with Desk(tmp_path, enabled="false") as desk:
        done = take(desk, "mem0.json", _memories(2))
        assert (done.facts, done.repeated, sum(done.passed.values())) == (0, 0, 2)


def test_a_secret_in_a_fact_is_taken_out_and_counted(desk: Desk) -> None:
    """A fact's secrets are taken out before it is written, and counted as those of an explicit write are."""
    take(desk, "mem0.json", [{"id": "a", "memory": "The key is AKIAIOSFODNN7EXAMPLE, for the harbour"}])
    assert b"AKIAIOSFODNN7EXAMPLE" not in b"".join(
        path.read_bytes() for path in desk.root.rglob("*") if path.is_file()
    )
    assert sum(kept_out.counted(desk.memory.opened.ws).redacted.values()) == 1
