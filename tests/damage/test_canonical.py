"""Every kind of canonical file, harmed in every way: named precisely, and everything else is served."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import pytest
from lived import HARMS, VERBS, attempt, canonical, copy, cut, delete, flip, folder, junk, nul, open_memory

from reverie.errors import DamagedFile, NotAWorkspace, ReverieError, UnsafePath
from reverie.memory import Memory

Kind = TypeVar("Kind")
Harm = Callable[[Path], None]

# A file of each kind, by how its path begins, and the verbs that may fail while a folder stands in its place: those
# that would have to write or wholly read it. Every other verb answers, whatever became of the file.
KINDS = {
    ".history/HEAD": {"dream"},
    ".history/objects/": {"dream"},
    ".history/refs/": {"dream"},
    ".journal/archive/": set(),
    ".journal/segments/": set(),
    ".state/dreams/dream-": set(),
    ".state/dreams/runs": {"context", "log", "dream"},
    ".state/events": {"promise", "drain", "dream"},
    ".state/outcomes": {"dream", "review"},
    "SOUL.md": {"context"},
    "USER.md": {"context"},
    "archive/": {"drain", "dream"},
    "history.jsonl": {"context", "dream"},
    "notebook/3_Personal/Facts": set(),
    "notebook/log": {"dream"},
    "notes/": set(),
    "sessions/": set(),
}
# Kinds whose every line has a checksum, so that any harm but a clean removal is seen in the file itself.
FRAMED = (
    ".journal/archive/",
    ".journal/segments/",
    ".state/events",
    ".state/outcomes",
    "history.jsonl",
    "sessions/",
)


# What no other file tells of, or no checksum covers, as docs/durability.md says: a harm that check passes over here.
UNSEEN = {
    ".gitignore": {cut, flip, junk, nul},  # it may say what its owner likes
    ".journal/segments/": {delete},
    ".state/dreams/dream-": {delete},
    "SOUL.md": {cut, flip},
    "USER.md": {cut, flip},
    "notebook/": {cut, flip},
    "notes/": {cut, flip},
    "reverie.toml": {delete, cut, flip},
    "summaries/": {delete, cut, flip},
}
# Where the finding stands that tells of a file's loss, when it is not the file itself.
TOLD_BY = {
    ".history/objects/": ".history/refs/heads/main",  # of the newest commit
    ".journal/archive/": ".journal/archive",
    "history.jsonl": ".state/outcomes.jsonl",
}


def of_kind(path: str, kinds: dict[str, Kind]) -> Kind | None:
    """Return what a table says of the kind of a path."""
    return next((value for kind, value in kinds.items() if path.startswith(kind)), None)


OPENED = {".state/workspace.json", "reverie.toml"}  # read by opening, which refuses what it cannot read


def told(memory: Memory) -> set[str]:
    """Return the files that check names."""
    return {finding.place.split(":")[0] for finding in memory.check()}


def first(home: Path, kind: str) -> str:
    """Return the path of the first canonical file of a kind."""
    return next(path for path in canonical(home) if path.startswith(kind))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_harm_to_one_file_leaves_the_rest_served(lived: Path, tmp_path: Path, kind: str) -> None:
    """Whatever happens to a file of this kind, only verbs that need it fail, and none with a stranger's error."""
    for number, harm in enumerate(HARMS):
        home = copy(lived, tmp_path / harm.__name__)
        path = first(home, kind)
        harm(home / "agent" / path)
        with open_memory(home, first=(number + 2) << 44) as memory:
            memory.check()
            failed = {verb: error for verb in VERBS if (error := attempt(memory, verb))}
        allowed = KINDS[kind] if harm is folder or kind.startswith(".history") else set()
        assert set(failed) <= allowed, (path, harm.__name__, failed)


@pytest.mark.parametrize("kind", FRAMED)
@pytest.mark.parametrize("harm", [cut, flip, junk, nul])
def test_damage_in_a_framed_file_is_named_with_its_place(home: Path, kind: str, harm: object) -> None:
    """A damaged line is found by check, with the file and the byte it begins at (P-03)."""
    path = first(home, kind)
    harm(home / "agent" / path)
    with open_memory(home) as memory:
        places = [finding.place for finding in memory.check()]
    assert any(place.startswith(f"{path}:") for place in places), places


@pytest.mark.parametrize("kind", [kind for kind in KINDS if not kind.startswith(".history")])
def test_a_folder_in_a_files_place_is_named(home: Path, kind: str) -> None:
    """Check says which file a folder stands in the place of, and what to do."""
    path = first(home, kind)
    folder(home / "agent" / path)
    with open_memory(home) as memory:
        findings = {finding.place: finding for finding in memory.check()}
    assert "folder" in findings[path].what
    assert findings[path].remedy


def test_a_lost_log_is_told_entry_by_entry(home: Path) -> None:
    """When a daily log is gone, check names each drained entry that has no line, and they are still answered."""
    path = first(home, "archive/")
    with open_memory(home) as memory:
        entries = {state.entry.id for state in memory.list()}
    delete(home / "agent" / path)
    with open_memory(home) as memory:
        found = [
            finding for finding in memory.check() if finding.place == path and "has no line" in finding.what
        ]
        assert {state.entry.id for state in memory.list()} == entries
    assert len(found) > 3


def test_lost_events_are_told(home: Path) -> None:
    """When the events were cut, status or check says so, and logged entries are served."""
    path = home / "agent" / ".state/events.jsonl"
    with open_memory(home) as memory:
        entries = {state.entry.id for state in memory.list()}
    path.write_bytes(path.read_bytes()[:-200])
    with open_memory(home) as memory:
        assert any(finding.place.startswith(".state/events.jsonl") for finding in memory.check())
        assert {state.entry.id for state in memory.list()} == entries


@pytest.mark.parametrize("harm", HARMS)
def test_a_workspace_without_its_identity_is_not_opened(home: Path, harm: object) -> None:
    """Whatever becomes of the file that says what a workspace is, opening it fails and says what to do."""
    harm(home / "agent" / ".state/workspace.json")
    with pytest.raises((NotAWorkspace, DamagedFile, UnsafePath)) as caught:
        open_memory(home)
    assert isinstance(caught.value, ReverieError)
    assert str(caught.value)


def test_a_healthy_workspace_has_no_findings(home: Path) -> None:
    """Check finds nothing in a workspace that nobody harmed, and every verb works."""
    with open_memory(home) as memory:
        assert memory.check() == ()
        assert not [verb for verb in VERBS if attempt(memory, verb)]
        assert memory.check() == ()


@pytest.mark.slow
@pytest.mark.parametrize("harm", HARMS)
def test_every_harm_to_every_canonical_file_is_told(lived: Path, tmp_path: Path, harm: Harm) -> None:
    """Each canonical file, harmed in each way, is named by check or refused by opening, but for what the page lists."""
    silent: list[str] = []
    for number, path in enumerate(canonical(lived)):
        home = copy(lived, tmp_path / str(number))
        harm(home / "agent" / path)
        if path in OPENED:
            with suppress(ReverieError), open_memory(home) as memory:
                assert harm in UNSEEN.get(path, set()) or told(memory) & {path}
            continue
        with open_memory(home) as memory:
            places = told(memory)
        if not places & {path, of_kind(path, TOLD_BY)} and harm not in (of_kind(path, UNSEEN) or set()):
            silent.append(path)
    assert silent == []
