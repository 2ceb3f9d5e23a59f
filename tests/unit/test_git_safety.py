"""Nothing planted in `.history`, and no damage to it, bends what is read from it or written to it."""

from __future__ import annotations

import hashlib
import zlib
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.settings.value import Settings
from reverie.errors import DamagedFile, UnsafePath
from reverie.store.versions import git_objects
from reverie.store.versions.git import History, blob_id
from reverie.store.workspace import Workspace
from reverie.testing import FixedClock, counter_ids

AT = datetime(2026, 7, 2, 3, tzinfo=UTC)


def commit(history: History, changes: dict[str, bytes | None]) -> str:
    """Prepare and publish on top of what is there, and return the commit's id."""
    head = history.head()
    made = history.prepare(changes, parent=head, message="x", at=AT)
    history.publish(made.id, head)
    return made.id


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """Give an empty workspace."""
    root = tmp_path / "memory"
    root.mkdir()
    return Workspace(root, Settings(durability="os"), clock=FixedClock(AT), new_id=counter_ids())


PLANTED: dict[str, bytes] = {
    "config": b"[core]\n\tfsmonitor = touch /tmp/pwned\n\tworktree = /\n[include]\n\tpath = /etc/passwd\n",
    "hooks/post-commit": b"#!/bin/sh\nexit 1\n",
    "hooks/reference-transaction": b"#!/bin/sh\nexit 1\n",
    "objects/info/alternates": b"/somewhere/else\n",
    "info/attributes": b"* filter=evil\n",
    "info/grafts": b"%b\n",
    "info/exclude": b"*\n",
    "packed-refs": b"# pack-refs with: peeled fully-peeled sorted\n" + b"1" * 40 + b" refs/heads/main\n",
    "shallow": b"1" * 40 + b"\n",
    "HEAD": b"ref: refs/heads/evil\n",
    "refs/heads/evil": b"1" * 40 + b"\n",
    "commondir": b"/\n",
    "gc.pid": b"1",
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_file_has_no_effect(ws: Workspace, name: str) -> None:
    """A hook, filter, alternate, graft, configuration, packed ref or HEAD changes nothing that is read or written."""
    before = History(ws)
    first = commit(before, {"a": b"1"})
    path = ws.root / ".history" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(PLANTED[name])
    path.chmod(0o700)
    history = History(ws)
    assert history.head() == first
    second = commit(history, {"a": b"2"})
    assert [one.id for one in history.log()] == [second, first]
    assert history.tree(second) == {"a": blob_id(b"2")}
    assert (name in history.foreign()) == (name != "HEAD")
    if name == "HEAD":
        assert path.read_bytes() == b"ref: refs/heads/main\n"


def test_a_replacement_object_has_no_effect(ws: Workspace) -> None:
    """A `refs/replace` entry that swaps a commit for another is not looked at."""
    history = History(ws)
    first = commit(history, {"a": b"1"})
    other = history.prepare({"a": b"evil"}, parent=None, message="evil", at=AT)
    folder = ws.root / ".history/refs/replace"
    folder.mkdir(parents=True)
    (folder / first).write_text(f"{other.id}\n")
    assert History(ws).tree(first) == {"a": blob_id(b"1")}
    assert history.foreign() == (f"refs/replace/{first}",)


def test_links_in_the_store_are_refused(ws: Workspace, tmp_path: Path) -> None:
    """A ref or an object that is a symbolic link is not followed."""
    history = History(ws)
    head = commit(history, {"a": b"1"})
    ref = ws.root / ".history/refs/heads/main"
    ref.rename(tmp_path / "elsewhere")
    ref.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UnsafePath):
        history.head()
    blob = ws.root / ".history/objects" / blob_id(b"1")[:2] / blob_id(b"1")[2:]
    blob.rename(tmp_path / "blob")
    blob.symlink_to(tmp_path / "blob")
    with pytest.raises(UnsafePath):
        History(ws).blob(history.tree(head)["a"])


def loose(kind: bytes, content: bytes) -> tuple[str, bytes]:
    """Return the id and file of an object made by hand."""
    framed = b"%s %d\0%s" % (kind, len(content), content)
    return hashlib.sha1(framed, usedforsecurity=False).hexdigest(), zlib.compress(framed)


GOOD = loose(b"blob", b"hello")
DAMAGE = {
    "bit": GOOD[1][:-6] + bytes([GOOD[1][-6] ^ 1]) + GOOD[1][-5:],
    "cut": GOOD[1][:-3],
    "junk": GOOD[1] + b"x",
    "empty": b"",
    "other content": loose(b"blob", b"other")[1],
    "other kind": loose(b"tree", b"hello")[1],
    "lying size": zlib.compress(b"blob 4\0hello"),
    "no header": zlib.compress(b"hello"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_object_is_named_and_written_anew(ws: Workspace, damage: str) -> None:
    """Reading it raises with its name; committing the same content again repairs it."""
    history = History(ws)
    blob = history.write_blob(b"hello")
    path = ws.root / ".history/objects" / blob[:2] / blob[2:]
    path.write_bytes(DAMAGE[damage])
    with pytest.raises(DamagedFile, match=blob):
        history.blob(blob)
    assert history.write_blob(b"hello") == blob
    assert history.blob(blob) == b"hello"


def test_a_decompression_bomb_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """An object that grows beyond the limit is refused without growing."""
    monkeypatch.setattr(git_objects, "MAX_BYTES", 1000)
    name, data = loose(b"blob", b"\0" * 1_000_000)
    with pytest.raises(DamagedFile, match="too large"):
        git_objects.unpack(name, data, kind="blob")


@pytest.mark.parametrize("name", [b"..", b".git", b"a/b", b"", b"."])
def test_a_tree_that_would_lead_elsewhere_is_refused(name: bytes) -> None:
    """Names with path parts in a planted tree never become paths."""
    content = b"100644 " + name + b"\0" + b"\1" * 20
    with pytest.raises(DamagedFile):
        git_objects.decode_tree("x", content)
    with pytest.raises(DamagedFile):
        git_objects.decode_tree("x", b"100644 a\0" + b"\1" * 20 + b"100644 a\0" + b"\1" * 20)


@given(st.binary(max_size=60))
def test_any_bytes_are_an_object_or_damage(data: bytes) -> None:
    """Reading arbitrary bytes as tree or commit gives a value or DamagedFile, nothing else."""
    for read in (git_objects.decode_tree, git_objects.decode_commit):
        try:
            read("x", data)
        except DamagedFile:
            continue


@pytest.mark.parametrize(
    "content",
    [b"", b"zz", b"ref: refs/heads/other\n", b"1" * 39, b"\xff" * 40, b"%b\n%b\n" % (b"1" * 40, b"2" * 40)],
)
def test_a_damaged_ref_is_reported(ws: Workspace, content: bytes) -> None:
    """A ref that holds no commit id is named, not taken for an empty history."""
    history = History(ws)
    commit(history, {"a": b"1"})
    (ws.root / ".history/refs/heads/main").write_bytes(content)
    with pytest.raises(DamagedFile, match="refs/heads/main"):
        history.head()


def test_a_missing_object_is_reported(ws: Workspace) -> None:
    """A commit whose object is gone is named with what to do."""
    history = History(ws)
    with pytest.raises(DamagedFile, match="missing"):
        history.commit("0" * 40)
    with pytest.raises(DamagedFile):
        history.publish("0" * 40, None)
    assert history.head() is None
