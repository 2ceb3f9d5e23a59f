"""Erasing: nothing readable is left anywhere, everything else is, and a crash on the way does no harm."""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from forget_world import (
    BICYCLE,
    BIKE,
    NOON,
    NUT,
    NUTS,
    PAGE,
    SAID_BIKE,
    SAID_NUTS,
    everything,
    holders,
    lived,
    opened,
    remembered,
    state_of,
    turn,
)

from reverie import forget as forgetting
from reverie import layout
from reverie.core.forgetting.erasure import Eraser, Erasure
from reverie.core.formats import framing
from reverie.core.formats.daylog import parse
from reverie.core.pages.blocks import Block, find_block
from reverie.core.records import Event, KeyValue, Run
from reverie.drain import drain
from reverie.errors import Busy, NotFound
from reverie.store import counters, journal, quarantine, sessions, stream
from reverie.store.counters import DrainCounters
from reverie.store.dreams import reviews
from reverie.store.versions.git import History as Commits
from reverie.testing import FixedClock

if TYPE_CHECKING:
    from pathlib import Path

    from reverie.store.workspace import Workspace


def erased(ws: Workspace, *ids: str, **options: Any) -> forgetting.Erased:
    """Erase with a state of its own."""
    state = state_of(ws, forgetting.mask_of(ws))
    done = forgetting.erase(ws, state, ids or (NUT,), **options)
    state.close()
    return done


def test_nothing_readable_is_left(tmp_path: Path) -> None:
    """After an erase no file and no object holds the words, and the answer names no leftover."""
    ws = lived(tmp_path)
    assert len(holders(tmp_path)) > 10
    sessions.append(ws, "s2", turn("t9", "unrelated"))
    done = erased(ws)
    assert done.leftovers == ()
    assert holders(tmp_path) == []
    text = (tmp_path / sessions.path_of("s1")).read_text()
    assert "macadamia" not in text
    assert {"archive/2026-07-01.md", PAGE, layout.USER, layout.OBJECTS, layout.HISTORY} <= set(done.places)
    assert "Backups" in done.elsewhere


def test_objects_that_a_crash_cut_short_go(tmp_path: Path) -> None:
    """The unfinished file of an object, alone in its folder, holds the words as well, and is removed."""
    ws = lived(tmp_path)
    objects = tmp_path / layout.OBJECTS / "objects"
    free = next(folder for first in range(256) if not (folder := objects / f"{first:02x}").exists())
    free.mkdir()
    cut = free / ".~reverie-0123456789abcdef"
    cut.write_bytes(zlib.compress(f"blob {SAID_NUTS}".encode()))
    erased(ws, NUT)
    assert not cut.exists()


def test_neighbours_keep_their_words(tmp_path: Path) -> None:
    """The line, turn, page, summary and record beside it read as before, and stubs stand where it stood."""
    ws = lived(tmp_path)
    erased(ws)
    log = (tmp_path / "archive/2026-07-01.md").read_text()
    entries = [located.entry for located in parse(log, "2026-07-01", calendar=ws.calendar).entries]
    assert [(one.text, one.evidence) for one in entries[:2]] == [("[erased]", ""), (BIKE, SAID_BIKE)]
    assert NUT not in log
    page = (tmp_path / PAGE).read_text()
    assert page == (
        f'---\ntype: person\ntitle: Health\nsources: ["[[archive/2026-07-01#^{BICYCLE}]]"]\n---\n# Health\n\n'
        f"- {BIKE}. [[archive/2026-07-01#^{BICYCLE}]]\n\n[erased], people say.\n\nAnother line of a person's.\n"
    )
    assert (tmp_path / PAGE).stat().st_mode & 0o777 == 0o644
    first = sessions.read(ws, "s1")[0]
    assert first.content == f"Good morning! [erased]. {SAID_BIKE}. What is the weather like?"
    assert [first.content[start:end] for start, end in first.injected] == [
        "Good morning!",
        "What is the weather like?",
    ]
    summary = next((tmp_path / layout.SUMMARIES).iterdir()).read_text()
    assert summary.endswith(f"\n- Fact: {BIKE} `mem_id: {BICYCLE}`\n\n(turns:: 0-1)\n")
    state = state_of(ws, forgetting.mask_of(ws))
    assert [one.entry.text for one in state.states()] == [BIKE, "User will bring cake"]
    state.close()


def test_the_journal_and_the_log_agree(tmp_path: Path) -> None:
    """The stub has the same id in the log and in the journal's archive, and the id is no longer the entry's."""
    ws = lived(tmp_path)
    drain(ws)
    erased(ws)
    archived = [one for record in journal.archived(ws) for one in getattr(record, "entries", ())]
    log = (tmp_path / "archive/2026-07-01.md").read_text()
    assert [one.text for one in archived] == ["[erased]", BIKE]
    assert f"^{archived[0].id}" in log
    assert archived[0].id != NUT
    assert drain(ws).stored == 0


def test_history_records_lose_what_covers_it(tmp_path: Path) -> None:
    """A verbatim record loses the words alone, a told one all it tells."""
    ws = lived(tmp_path)
    erased(ws)
    lines, _ = framing.read((tmp_path / layout.HISTORY).read_bytes())
    contents = [msgspec.json.decode(line.raw)["content"] for line in lines]
    assert contents == [f"user: Good morning! [erased]. {SAID_BIKE}. What is the weather like?", "[erased]"]


def test_memory_md_counts_as_not_edited(tmp_path: Path) -> None:
    """The block of MEMORY.md loses the line and keeps a checksum that says nobody edited it."""
    ws = lived(tmp_path)
    erased(ws)
    found = find_block((tmp_path / layout.MEMORY).read_text())
    assert isinstance(found, Block)
    assert found.intact
    assert BIKE in found.inner
    assert NUT not in found.inner


def test_the_history_is_rewritten(tmp_path: Path) -> None:
    """Commits keep their number, authors and times, their texts lose the words, and runs name the new ones."""
    ws = lived(tmp_path)
    before = Commits(ws).log()
    run = Run(
        run="dream:1",
        kind="dream",
        started=NOON,
        ended=NOON,
        dreamer="rule",
        result="productive",
        commit=before[0].id,
        parent=before[1].id,
    )
    stream.append(ws, layout.RUNS, run)
    erased(ws)
    after = Commits(ws).log()
    assert [(one.author, one.at) for one in after] == [(one.author, one.at) for one in before]
    assert [one.message for one in after] == ["Add: [erased]", "Dream of a day"]
    assert not {one.id for one in after} & {one.id for one in before}
    kept: stream.Read[Run] = stream.read(ws, layout.RUNS, Run)
    assert [(one.commit, one.parent) for one in kept.records] == [(after[0].id, after[1].id)]
    page = Commits(ws).blob(Commits(ws).tree(after[0].id)[PAGE])
    assert page == (tmp_path / PAGE).read_bytes()


def test_a_clean_history_keeps_its_commits(tmp_path: Path) -> None:
    """Where the words never stood in the history, its commits are the same, and unreached objects go all the same."""
    ws = lived(tmp_path)
    remembered(ws, "a" * 16, "User hides the spare key in the old piano")
    drain(ws)
    lost = Commits(ws).write_blob(b"User hides the spare key in the old piano")
    head = Commits(ws).head()
    assert erased(ws, "a" * 16).leftovers == ()
    assert Commits(ws).head() == head
    assert not (tmp_path / layout.OBJECTS / "objects" / lost[:2] / lost[2:]).exists()


def test_a_dry_run_lists_and_changes_nothing(tmp_path: Path) -> None:
    """A dry run names every file that an erase then changes, and writes no byte."""
    ws = lived(tmp_path)
    state_of(ws).close()
    before = everything(tmp_path)
    would = erased(ws, dry_run=True)
    assert {path: data for path, data in everything(tmp_path).items() if ".index" not in path} == {
        path: data for path, data in before.items() if ".index" not in path
    }
    done = erased(ws)
    # The digests and MEMORY.md lose the line as soon as it is forgotten.
    assert set(would.places) == {*done.places, f"{layout.DIGESTS}/today.md", layout.MEMORY}


def test_what_was_forgotten_before_can_be_erased(tmp_path: Path) -> None:
    """What was forgotten earlier, queued or promised is erased, and the drain's place in the events moves along."""
    ws = lived(tmp_path)
    remembered(ws, "a" * 16, "User hides the spare key in the old piano")
    state = state_of(ws)
    forgetting.forget(ws, state, ["9" * 16, "a" * 16])
    state.close()
    done = erased(ws, "9" * 16, "a" * 16)
    assert set(done.ids) == {"9" * 16, "a" * 16}
    assert done.leftovers == ()
    found: stream.Read[Event] = stream.read(ws, layout.EVENTS, Event)
    assert [event.kind for event in found.records] == ["commitment", "forget", "forget"]
    position = counters.read(ws, DrainCounters).events
    assert position == 0 or any(end == position for end, _ in found.values)
    drain(ws)
    state = state_of(ws, forgetting.mask_of(ws))
    assert {one.entry.id for one in state.states()} == {NUT, BICYCLE}
    state.close()
    assert not any(b"piano" in data or b"bring cake" in data for data in everything(tmp_path).values())


def test_compressed_months_and_quarantine_are_cleaned(tmp_path: Path) -> None:
    """Words in a compressed month, in refused text and in refused bytes that are no UTF-8 go as well."""
    ws = lived(tmp_path)
    assert isinstance(ws.clock, FixedClock)
    ws.clock.advance(days=40)
    drain(ws)
    assert (tmp_path / layout.JOURNAL_ARCHIVE / "2026-07.jsonl.gz").exists()
    escaped = "".join(f"\\u{ord(char):04x}" for char in NUTS)
    raw = [f'{{"content":"{NUTS}"', f'{{"content":"{escaped}"', f"\udcff {NUTS}"]
    refused = [
        stream.Damaged("x", n, one.encode("utf-8", "surrogateescape"), "torn") for n, one in enumerate(raw)
    ]
    quarantine.set_aside(ws, refused)
    assert erased(ws).leftovers == ()
    kept = {record.offset: record.raw for record in quarantine.listed(ws)}
    assert kept == {0: b'{"content":"[erased]"', 1: b"[erased]", 2: b"\xff [erased]"}


def test_a_picture_that_holds_the_words_is_named(tmp_path: Path) -> None:
    """What cannot be rewritten safely, or not be read, is left as it is and named."""
    ws = lived(tmp_path)
    ws.disk.replace("notebook/4_Assets/scan.bin", b"\0\1" + NUTS.encode() + b"\0")
    ws.disk.replace(f"{layout.OBJECTS}/objects/pack/p.pack", b"PACK")
    (tmp_path / "notebook/link.md").symlink_to(tmp_path / "notebook/index.md")
    torn = gzip.compress(b"".join(framing.frame({"n": n, "why": NUTS}) for n in range(900)))[:-12]
    ws.disk.replace(f"{layout.JOURNAL_ARCHIVE}/2026-05.jsonl.gz", torn)
    left = erased(ws).leftovers
    assert [one.partition(" (")[0] for one in left] == [
        f"{layout.OBJECTS}/objects/pack/p.pack",
        f"{layout.JOURNAL_ARCHIVE}/2026-05.jsonl.gz",
        "notebook/4_Assets/scan.bin",
        "notebook/link.md",
    ]


def test_a_short_word_is_erased_where_it_was_said_only(tmp_path: Path) -> None:
    """A text of one plain word leaves its line and its turn, and other sentences keep the word."""
    ws = lived(tmp_path)
    remembered(ws, "a" * 16, "bicycle", session="s1", turns="1")
    drain(ws)
    done = erased(ws, "a" * 16)
    assert BIKE in (tmp_path / PAGE).read_text()
    assert BIKE in (tmp_path / "archive/2026-07-01.md").read_text()
    assert done.leftovers == (f"{sessions.path_of('s1')} (turn 1: in words that were not recorded)",)


def test_it_waits_for_nobody_in_the_middle(tmp_path: Path) -> None:
    """While a dream runs or a drain is unfinished an erase is Busy, the entry hidden, and a later one succeeds."""
    ws = lived(tmp_path)
    with pytest.raises(NotFound):
        erased(ws, "0" * 16)
    other = opened(tmp_path, first=9)
    with pytest.raises(RuntimeError), other.locks.dream(0):
        erased(ws)
    ws.disk.replace(layout.DRAIN_INTENT, b"x")
    with pytest.raises(Busy, match="drain"):
        erased(ws)
    state = state_of(ws, forgetting.mask_of(ws))
    assert NUT not in {one.entry.id for one in state.states()}
    state.close()
    ws.disk.remove(layout.DRAIN_INTENT)
    assert erased(ws).leftovers == ()


def test_erasing_twice_changes_nothing_more(tmp_path: Path) -> None:
    """The second erase of the same text finds nothing to do, and the first left it no entry to name."""
    ws = lived(tmp_path)
    erased(ws)
    before = everything(tmp_path)
    eraser = Eraser(Erasure(id="1", stubs={NUT: "f" * 16}, texts=(NUTS, SAID_NUTS)), ws.calendar)
    plain = {path: data for path, data in before.items() if ".history" not in path}
    assert all(eraser.file(path, data) == data for path, data in plain.items())
    with pytest.raises(NotFound):
        erased(ws)


def test_unknown_members_and_clean_files_survive(tmp_path: Path) -> None:
    """A record keeps members this version does not know, and a record that holds nothing keeps every byte."""
    ws = lived(tmp_path)
    strange = framing.frame(
        {"type": "turn", "z": [1, {"y": None}], "content": f"x {NUTS}", "id": "q", "n": 4}
    )
    clean = b'{"v":1,"odd" : "spacing"}\n'
    eraser = Eraser(Erasure(id="1", stubs={}, texts=(NUTS,)), ws.calendar)
    new = eraser.lines(strange + clean)
    assert new.endswith(clean)
    lines, _ = framing.read(new)
    assert (
        msgspec.json.decode(lines[0].raw).items() >= {"z": [1, {"y": None}], "content": "x [erased]"}.items()
    )
    packed = framing.frame({"base64": base64.b64encode(b"nothing").decode(), "n": 1.50})
    assert eraser.lines(packed) == packed


def test_every_kind_of_file_is_cleaned(tmp_path: Path) -> None:
    """A host's files, an adapter's store, skills, notes, transcripts, reviews and what was rendered are reached."""
    ws = lived(tmp_path)
    said = {
        "files/plan.txt": f"Menu\r\n{NUTS}\r\nSoup\r\n".encode(),
        "files/deep/data.json": json.dumps({"menu": [NUTS, {"soup": NUTS.upper()}]}).encode(),
        "skills/menu/SKILL.md": f"---\nname: menu\n---\n# Menu\n\n- {NUTS}\n- Soup.\n".encode(),
        "notes/2026-07-01.md": f"{NUTS}\n\nSoup.\n".encode(),
        "SOUL.md": f"# Soul\n\nI know that {NUTS}.\n".encode(),
        layout.EMBEDDED_DB: NUTS.encode(),
    }
    for path, data in said.items():
        ws.disk.replace(path, data)
    value = msgspec.Raw(msgspec.json.encode({"text": NUTS, "deep": [[NUTS]]}))
    stream.append(ws, layout.KV, KeyValue(namespace=("a",), key=NUTS, at=NOON, value=value))
    stream.append(
        ws, layout.KV, KeyValue(namespace=("a",), key="soup", at=NOON, value=msgspec.Raw(b'"soup"'))
    )
    reviews.propose(ws, "memory-edit", layout.MEMORY, text=f"- {NUTS}\n", why="edited")
    stream.append(ws, f"{layout.DREAMS}/dream-1.jsonl", Event(id="e" * 16, at=NOON, kind="refusal", why=NUTS))
    ws.disk.replace(
        layout.rendered_file("s1"),
        framing.frame({"session": "s1", "at": "2026-07-01T12:00:00Z", "lines": [NUTS]}),
    )
    planned = forgetting.erase(ws, state_of(ws), [NUT], dry_run=True)
    done = erased(ws)
    assert done.leftovers == ()
    assert holders(tmp_path) == []
    assert {path for path in said if path != layout.EMBEDDED_DB} | {layout.KV, layout.REVIEWS} <= set(
        planned.places
    )
    assert not (tmp_path / layout.EMBEDDED_DB).exists()
    assert (tmp_path / "files/plan.txt").read_bytes() == b"Menu\r\n[erased]\r\nSoup\r\n"
    assert b"Soup." in (tmp_path / "skills/menu/SKILL.md").read_bytes()
    assert b'"soup"' in (tmp_path / layout.KV).read_bytes()
    assert json.loads((tmp_path / "files/deep/data.json").read_text())["menu"][0] == "[erased]"
