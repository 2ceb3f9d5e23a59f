"""Forgetting as a step: what it takes, what it leaves, every way back, and letting things back in."""

from __future__ import annotations

import stat
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from forget_world import (
    BICYCLE,
    BIKE,
    NOON,
    NUT,
    NUTS,
    PAGE,
    SAID_NUTS,
    entry,
    everything,
    lived,
    opened,
    remembered,
    state_of,
)

from reverie import forget as forgetting
from reverie import layout, unforget
from reverie.core.glance.standing import Shortlist
from reverie.core.records import Event, Extraction
from reverie.core.settings.value import Settings
from reverie.drain import drain
from reverie.errors import BadSettings, DamagedFile, NotFound, UsageError
from reverie.publish import publish
from reverie.store import journal, sessions, stream
from reverie.store.forgotten import letting_go, tombstones
from reverie.testing import FixedClock
from reverie.unforget import named

if TYPE_CHECKING:
    from pathlib import Path

    from reverie.index.state import State
    from reverie.store.workspace import Workspace


def shown(ws: Workspace, state: State | None = None) -> set[str]:
    """Return the ids that a reader sees, by a state of its own unless one is given."""
    found = state or state_of(ws, forgetting.mask_of(ws))
    ids = {one.entry.id for one in found.states()}
    if state is None:
        found.close()
    return ids


def forgotten(ws: Workspace, *ids: str, **options: Any) -> forgetting.Forgotten:
    """Forget with a state of its own."""
    state = state_of(ws, forgetting.mask_of(ws))
    done = forgetting.forget(ws, state, ids or (NUT,), **options)
    assert not set(done.ids) & shown(ws, state) or options.get("dry_run")
    state.close()
    return done


def later(ws: Workspace, **by: float) -> None:
    """Let time pass."""
    assert isinstance(ws.clock, FixedClock)
    ws.clock.advance(**by)


def test_a_forgotten_entry_is_hidden_and_its_neighbour_is_not(tmp_path: Path) -> None:
    """The entry is out of the state at once and for every later reader, and what was said beside it stays."""
    ws = lived(tmp_path)
    done = forgotten(ws)
    assert done.ids == (NUT,)
    assert done.due.publish
    assert NUT not in shown(ws)
    assert BICYCLE in shown(ws)
    mask = forgetting.mask_of(ws)
    assert mask.turn("s1", "t1")
    assert mask.turn("s1", "t2")  # the answer that repeats it
    assert mask.text(f"- Nuts of one kind. [[archive/2026-07-01#^{NUT}]]")
    assert not mask.text(f"- {BIKE}. [[archive/2026-07-01#^{BICYCLE}]]")


def test_a_dry_run_changes_nothing_and_says_where(tmp_path: Path) -> None:
    """A dry run writes no byte, counts what would go, and names the files that hold its bytes."""
    ws = lived(tmp_path)
    before = everything(tmp_path / "archive") | everything(tmp_path / ".state")
    done = forgotten(ws, dry_run=True)
    assert done.ids == (NUT,)
    assert not done.due.publish
    assert {"archive/2026-07-01.md", sessions.path_of("s1"), PAGE, layout.OBJECTS, layout.HISTORY} <= set(
        done.places
    )
    assert before == everything(tmp_path / "archive") | everything(tmp_path / ".state")
    assert tombstones.key(ws) == b""


def test_the_bytes_stay_and_the_tombstone_says_nothing(tmp_path: Path) -> None:
    """The log keeps its bytes until an erase, while neither tombstones nor events gain a readable word."""
    ws = lived(tmp_path)
    log = (tmp_path / "archive/2026-07-01.md").read_bytes()
    forgotten(ws)
    assert (tmp_path / "archive/2026-07-01.md").read_bytes() == log
    assert b"macadamia" not in (tmp_path / layout.TOMBSTONES).read_bytes()
    assert b"macadamia" not in (tmp_path / layout.EVENTS).read_bytes()
    assert stat.S_IMODE((tmp_path / layout.KEY).stat().st_mode) == 0o600
    assert not (tmp_path / layout.ERASE_INTENT).exists()


def test_it_takes_the_observations_and_the_same_words(tmp_path: Path) -> None:
    """What was merged with the entry and what says the same words go with it, what is similar stays and is named."""
    ws = lived(tmp_path)
    remembered(ws, "a" * 16, NUTS.upper())
    remembered(ws, "b" * 16, "Macadamias are poison to the user")
    remembered(ws, "c" * 16, "User is severely allergic to macadamia nuts and to pollen")
    remembered(ws, "d" * 16, "User is severely allergic to hazel nuts")
    drain(ws)
    stream.append(ws, layout.EVENTS, Event(id="5" * 16, at=NOON, kind="repeat", entry="b" * 16, other=NUT))
    done = forgotten(ws)
    assert set(done.ids) == {NUT, "a" * 16, "b" * 16}
    assert done.similar == ("c" * 16,)
    assert {"c" * 16, "d" * 16, BICYCLE} <= shown(ws)


def test_a_rebuild_and_a_repeated_drain_bring_nothing_back(tmp_path: Path) -> None:
    """Deleting the derived files and queueing the same record again leave it hidden."""
    ws = lived(tmp_path)
    record = next(journal.archived(ws))
    forgotten(ws)
    for file in (tmp_path / layout.INDEX).rglob("*.db*"):
        file.unlink()
    assert NUT not in shown(ws)
    journal.append(ws, record)
    assert NUT not in shown(ws)
    drain(ws)
    assert NUT not in shown(ws)


@pytest.mark.parametrize(
    ("text", "evidence", "visible"),
    [
        (NUTS, "", False),
        ("The user is severely allergic to macadamia nuts!", "", False),
        ("Macadamia makes the user ill", SAID_NUTS, False),
        ("User is severely allergic to brazil nuts", "", True),
        ("Macadamia makes the user ill", "", True),
    ],
)
def test_extraction_brings_nothing_back(tmp_path: Path, text: str, evidence: str, visible: bool) -> None:  # noqa: FBT001
    """Another extractor's words for it stay hidden by words, likeness or evidence, and another fact is shown."""
    ws = lived(tmp_path)
    forgotten(ws)
    new = entry("a" * 16, text, session="s1", turns="0", evidence=evidence)
    found = Extraction(id="f" * 16, at=NOON, session="s1", start=2, stop=3, extractor="other", entries=(new,))
    journal.append(ws, found)
    assert (new.id in shown(ws)) is visible
    drain(ws)
    assert (new.id in shown(ws)) is visible


def test_the_neighbour_is_shown_after_a_rebuild(tmp_path: Path) -> None:
    """An entry read from the very same evidence that was not meant is shown before and after a rebuild."""
    ws = lived(tmp_path)
    beside = entry("a" * 16, "User said good morning", session="s1", turns="0", evidence=SAID_NUTS)
    journal.append(
        ws, Extraction(id="f" * 16, at=NOON, session="s1", start=2, stop=3, extractor="o", entries=(beside,))
    )
    drain(ws)
    forgotten(ws)
    assert beside.id in shown(ws)
    (tmp_path / layout.STATE_DB).unlink()
    assert beside.id in shown(ws)


def test_publishing_shows_it_no_longer(tmp_path: Path) -> None:
    """MEMORY.md compiled after the forget names neither its words nor its id, and still names its neighbour."""
    ws = lived(tmp_path)
    assert NUTS in (tmp_path / layout.MEMORY).read_text()
    forgotten(ws)
    state = state_of(ws, forgetting.mask_of(ws))
    publish(ws, lambda _cited, _most: Shortlist(states=state.states()), keep=lambda _: None, at_once=True)
    state.close()
    text = (tmp_path / layout.MEMORY).read_text()
    assert "macadamia" not in text
    assert NUT not in text
    assert BIKE in text


def test_saying_it_again_asks(tmp_path: Path) -> None:
    """A fresh statement of something forgotten is asked about until a person leaves it or restores it."""
    ws = lived(tmp_path)
    forgotten(ws)
    later(ws, hours=1)
    remembered(ws, "a" * 16, NUTS, at=ws.clock())
    remembered(ws, "b" * 16, "The user is severely allergic to macadamia nuts", at=ws.clock())
    remembered(ws, "c" * 16, NUTS)
    state = state_of(ws, forgetting.mask_of(ws))
    asked = {one.entry.id: one.why for one in forgetting.questions(ws, state)}
    assert asked == {"a" * 16: "words", "b" * 16: "alike"}
    drain(ws)
    state.catch_up(forgetting.mask_of(ws))
    assert {one.entry.id for one in forgetting.questions(ws, state)} == set(asked)
    forgetting.leave(ws, state, "b" * 16)
    assert [one.entry.id for one in forgetting.questions(ws, state)] == ["a" * 16]
    back = unforget.restore(ws, state, ["a" * 16]).entries
    assert {NUT, "a" * 16, "b" * 16, "c" * 16} <= set(back)
    state.catch_up(forgetting.mask_of(ws))
    assert set(back) <= shown(ws, state)
    assert forgetting.questions(ws, state) == []
    with pytest.raises(NotFound):
        forgetting.leave(ws, state, "a" * 16)
    with pytest.raises(NotFound):
        unforget.restore(ws, state, ["a" * 16])
    state.close()
    (tmp_path / layout.STATE_DB).unlink()
    assert set(back) <= shown(ws)


def test_a_restored_entry_can_be_forgotten_again(tmp_path: Path) -> None:
    """Forget, restore and forget again leaves it hidden, and what was said since that holds it is listed."""
    ws = lived(tmp_path)
    forgotten(ws)
    state = state_of(ws, forgetting.mask_of(ws))
    assert unforget.restore(ws, state, [NUT]).entries == (NUT,)
    state.close()
    assert NUT in shown(ws)
    later(ws, minutes=1)
    forgotten(ws)
    assert NUT not in shown(ws)
    remembered(
        ws,
        "a" * 16,
        "Because of macadamia nuts, to which the user is severely allergic, no cake",
        at=ws.clock(),
    )
    state = state_of(ws, forgetting.mask_of(ws))
    assert [one.id for one in forgetting.similar(ws, state)] == ["a" * 16]
    state.close()


def test_an_interrupted_forget_is_finished(tmp_path: Path) -> None:
    """A forget cut short before or after its tombstones is completed by the next write, each line once."""
    ws = lived(tmp_path)
    state = state_of(ws)
    state.close()
    forgotten(ws)
    intent = letting_go.Forgetting(
        id="7" * 16, tombstones=tuple(tombstones.read(ws)), entries=(NUT,), by="user"
    )
    lines = (tmp_path / layout.TOMBSTONES).read_bytes()
    events = (tmp_path / layout.EVENTS).read_bytes()
    for left in (b"", lines):
        (tmp_path / layout.TOMBSTONES).write_bytes(left)
        (tmp_path / layout.EVENTS).write_bytes(events[: events.rfind(b"\n", 0, -1) + 1])
        letting_go.begin(ws, intent)
        forgetting.finish(ws)
        forgetting.finish(ws)
        assert (tmp_path / layout.TOMBSTONES).read_bytes() == lines
        assert (tmp_path / layout.EVENTS).read_bytes().count(b'"forget"') == 1
        assert letting_go.pending(ws) is None
        assert NUT not in shown(ws)


def test_a_damaged_record_or_key_is_named(tmp_path: Path) -> None:
    """A damaged key or record of a forget is an error that says what to do, and nothing is guessed."""
    ws = lived(tmp_path)
    forgotten(ws)
    (tmp_path / layout.ERASE_INTENT).write_text("torn")
    with pytest.raises(DamagedFile, match="erase"):
        forgetting.finish(ws)
    (tmp_path / layout.KEY).write_text("short")
    with pytest.raises(DamagedFile, match="key"):
        forgetting.mask_of(opened(tmp_path, first=2))


def test_unknown_ids_are_not_found(tmp_path: Path) -> None:
    """An id that names nothing is NotFound, and a prefix finds a forgotten entry too."""
    ws = lived(tmp_path)
    with pytest.raises(NotFound):
        forgotten(ws, "0" * 16)
    forgotten(ws)
    state = state_of(ws, forgetting.mask_of(ws))
    assert named(ws, state, NUT[:6]) == NUT
    assert named(ws, state, BICYCLE[:6]) == BICYCLE
    state.close()


def test_an_exclusion_matches_whole_words(tmp_path: Path) -> None:
    """A preview lists the entries that name the topic, and none in which it is a part of a word."""
    ws = lived(tmp_path)
    remembered(ws, "a" * 16, "User paints art")
    remembered(ws, "b" * 16, "User starts at nine")
    state = state_of(ws)
    assert [one.entry.id for one in forgetting.named_by(state, "Art")] == ["a" * 16]
    state.close()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", 'exclusions = ["health"]\n'),
        ("enabled = true\n", 'enabled = true\nexclusions = ["health"]\n'),
        ("# mine\n[dream]\nmin_facts = 3\n", '# mine\nexclusions = ["health"]\n\n[dream]\nmin_facts = 3\n'),
        ("#exclusions = []\n\n[dream]\n", '#exclusions = []\nexclusions = ["health"]\n\n[dream]\n'),
        ('exclusions = ["art"] # why\r\n', 'exclusions = ["art", "health"] # why\r\n'),
        ("exclusions = []\n", 'exclusions = ["health"]\n'),
        ('exclusions = [\n  "art", # ] "x"\n]\n', 'exclusions = [\n  "art", # ] "x"\n  "health",\n]\n'),
    ],
)
def test_an_exclusion_is_written_beside_what_people_wrote(tmp_path: Path, before: str, after: str) -> None:
    """A topic is added to the settings, holds from then on and is taken out again, all else byte for byte."""
    ws = lived(tmp_path)
    path = tmp_path / layout.SETTINGS
    path.write_bytes(before.encode())
    forgetting.exclude(ws, " health ")
    assert path.read_bytes() == after.encode()
    assert "health" in ws.settings.exclusions
    forgetting.exclude(ws, "health")
    assert path.read_bytes() == after.encode()
    forgetting.exclude(ws, "health", remove=True)
    assert "health" not in ws.settings.exclusions
    assert b"health" not in path.read_bytes()
    if "exclusions = [\n" in before or "art" in before:
        assert path.read_bytes() == before.encode()


def test_an_odd_settings_file_is_left_alone(tmp_path: Path) -> None:
    """What cannot be edited safely, or removed, is an error, and the file keeps its bytes."""
    ws = lived(tmp_path)
    path = tmp_path / layout.SETTINGS
    for text in ('"exclusions" = ["art"]\n', "exclusions = 3\n", "x = = 1\n"):
        path.write_text(text)
        with pytest.raises(BadSettings):
            forgetting.exclude(ws, "health")
        assert path.read_text() == text
    path.write_text('exclusions = ["art"]\n')
    with pytest.raises(NotFound, match="see which"):
        forgetting.exclude(ws, "health", remove=True)
    ws.settings = replace(Settings(), exclusions=("health",))
    with pytest.raises(NotFound, match="own config"):
        forgetting.exclude(ws, "health", remove=True)
    with pytest.raises(UsageError):
        forgetting.exclude(ws, "  ")
