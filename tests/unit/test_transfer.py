"""Export and import: the same workspace elsewhere, or nothing changed and a sentence why."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest
from desk import Desk, contents, days_ago

from reverie import layout
from reverie.core.where import Where
from reverie.errors import NewerFormat, NotFound, UnsafePath, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from reverie.memory import Memory

ASKED = ("tea", "上海", "quote", "desk by the window", "colleague", "nuts")


@pytest.fixture
def lived(desk: Desk) -> Desk:
    """A workspace with something in every file: links, scopes, pins, promises, pages, a person, something forgotten."""
    desk.clock.set(days_ago(3))
    desk.say("I work at Acme.", "I prefer tea in the morning.", session="one")
    desk.clock.set(days_ago(2))
    desk.say("I now work at Globex.", "I moved to the desk by the window.", session="two")
    desk.remember("用户住在上海", scope="team", tags=("city",), sig=0.4)
    desk.remember("Never deploy on Fridays", category="procedure", pin=True)
    gone = desk.remember("User is allergic to nuts")
    desk.clock.set(days_ago(0))
    desk.remember("Send Dana the quote", due="2026-07-10")
    desk.memory.consolidate()
    desk.memory.forget([gone])
    desk.memory.hide([desk.remember("A colleague's nickname")])
    desk.memory.dream(now=True)
    desk.remember("Still queued: tea is out")
    desk.write("MEMORY.md", f"Mine, by hand.\n\n{desk.text('MEMORY.md')}")
    desk.write("files/plan.txt", "kept\r\nas it is")
    desk.memory.person("Dana").remember("Dana likes plums")
    desk.memory.person("Dana").consolidate()
    return desk


@pytest.fixture
def other(lived: Desk) -> Iterator[Desk]:
    """Another home of the same user, with a workspace that holds nothing yet."""
    (lived.home / "other").mkdir()
    with Desk(lived.home / "other", now=lived.clock()) as made:
        yield made


def _seen(memory: Memory, desk: Desk) -> dict[str, object]:
    everything = Where(include_hidden=True, include_previous=True)
    return {
        "list": memory.list(everything),
        "due": memory.due(),
        "recall": {
            query: [(hit.id, hit.text, hit.standing, hit.score) for hit in desk.hits(query, memory)]
            for query in ASKED
        },
        "log": memory.log(),
    }


def test_an_export_imported_is_the_same_workspace(lived: Desk, other: Desk) -> None:
    """Every canonical byte is equal afterwards, and so are recall, list, due and the log of runs (R-30)."""
    done = lived.memory.export(lived.home / "copy")
    taken = other.memory.import_(done.folder)
    assert (taken.format, taken.files) == ("reverie-export", done.files)
    ours, theirs = lived.bytes(), other.bytes()
    assert theirs.pop(layout.ORIGIN) != ours.pop(layout.ORIGIN)
    assert theirs == ours
    lived.memory.reindex()
    other.memory.reindex()
    assert _seen(other.memory, other) == _seen(lived.memory, lived)
    assert other.memory.check() == ()


def test_an_imported_workspace_goes_on(lived: Desk, other: Desk) -> None:
    """After an import the memory takes writes, drains what had been queued, and forgets what was forgotten."""
    other.memory.import_(lived.memory.export(lived.home / "copy").folder)
    assert other.found("nuts") == []
    assert other.memory.drain().stored >= 1
    assert other.memory.consolidate().problems == ()
    kept = other.remember("User is allergic to nuts", origin="import")
    assert other.hits("allergic nuts", where=Where(category="fact")) == []
    assert kept
    assert other.found("plums", other.keep(other.memory.person("Dana")))[:1] == ["Dana likes plums"]


def test_an_export_leaves_what_is_derived(lived: Desk) -> None:
    """Index, digests and locks are not exported, neither the agent's nor a person's, and the source is untouched."""
    before = contents(lived.root)
    done = lived.memory.export(lived.home / "copy")
    assert contents(lived.root) == before
    names = set(contents(done.folder, derived=True)) - {"manifest.json"}
    assert names == set(before) | ({layout.RECALL_LOG} & names)
    assert not [path for path in done.folder.rglob("*") if path.name in {"digests", "locks", ".index"}]
    manifest = json.loads((done.folder / "manifest.json").read_text())
    assert set(manifest["files"]) >= names
    assert done.size == sum(
        path.stat().st_size
        for path in done.folder.rglob("*")
        if path.is_file() and path.name != "manifest.json"
    )


def test_an_export_needs_an_empty_folder_elsewhere(lived: Desk) -> None:
    """A folder that holds something, a file, or a folder inside the workspace is refused, and nothing is written."""
    full = lived.home / "full"
    full.mkdir()
    (full / "mine.txt").write_text("x")
    for target in (full, full / "mine.txt", lived.root / "copy", lived.root):
        with pytest.raises(UsageError, match="export"):
            lived.memory.export(target)
    assert [path.name for path in full.iterdir()] == ["mine.txt"]
    assert not (lived.root / "copy").exists()


def _flip(copy: Path) -> None:
    path = copy / "archive" / "2026-06-29.md"
    path.write_bytes(path.read_bytes()[:-1] + b"?")


def _lose(copy: Path) -> None:
    (copy / layout.EVENTS).unlink()


def _unseal(copy: Path) -> None:
    (copy / "manifest.json").unlink()


def _tear(copy: Path) -> None:
    path = copy / "manifest.json"
    path.write_bytes(path.read_bytes()[:-20])


def _mistype(copy: Path) -> None:
    (copy / "manifest.json").write_text('{"version": 1, "files": []}')


@pytest.mark.slow
@pytest.mark.parametrize("harm", [_flip, _lose, _unseal, _tear, _mistype])
def test_a_damaged_export_changes_nothing(lived: Desk, other: Desk, harm) -> None:
    """One byte changed, a file missing or a manifest that is none stops the import before its first write."""
    done = lived.memory.export(lived.home / "copy")
    harm(done.folder)
    before = contents(other.root, derived=True)
    with pytest.raises(UsageError):
        other.memory.import_(done.folder)
    assert contents(other.root, derived=True) == before


@pytest.mark.parametrize("path", ["../evil", "a/../../evil", "/tmp/evil"])
def test_an_export_cannot_write_outside(lived: Desk, other: Desk, path: str) -> None:
    """A manifest whose paths lead out of the workspace is refused, and nothing is written anywhere (P-18)."""
    done = lived.memory.export(lived.home / "copy")
    manifest = json.loads((done.folder / "manifest.json").read_text())
    manifest["files"][path] = "0" * 64
    (done.folder / "manifest.json").write_text(json.dumps(manifest))

    def held() -> dict[str, bytes]:
        """What stands anywhere, but for the derived database, whose log is folded in whenever a connection goes."""
        found = contents(lived.home, derived=True)
        return {name: data for name, data in found.items() if f"{layout.INDEX}/" not in name}

    before = held()
    with pytest.raises((UnsafePath, UsageError)):
        other.memory.import_(done.folder)
    assert held() == before


def test_a_newer_export_is_refused(lived: Desk, other: Desk) -> None:
    """An export of a newer version says to upgrade."""
    done = lived.memory.export(lived.home / "copy")
    manifest = json.loads((done.folder / "manifest.json").read_text())
    manifest["version"] = layout.FORMAT + 1
    (done.folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(NewerFormat, match="upgrade"):
        other.memory.import_(done.folder)


@pytest.mark.slow
def test_a_workspace_wiped_and_imported_is_itself(lived: Desk) -> None:
    """Exported, wiped and imported the memory answers as before (R-30)."""
    before = lived.bytes()
    done = lived.memory.export(lived.home / "copy")
    lived.memory.close()
    shutil.rmtree(lived.root)
    with Desk(lived.home, now=lived.clock()) as again:
        again.memory.import_(done.folder)
        after = again.bytes()
        assert {path for path in before if before[path] != after.get(path)} <= {layout.ORIGIN}
        assert again.found("tea")


def test_a_folder_that_is_no_export_is_told(desk: Desk) -> None:
    """An ordinary folder, or nothing, is no export."""
    (desk.home / "plain").mkdir()
    with pytest.raises(UsageError, match="no export"):
        desk.memory.import_(desk.home / "plain")
    with pytest.raises(NotFound):
        desk.memory.import_(desk.home / "nothing")
