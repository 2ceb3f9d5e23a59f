"""The history is a git store that git itself accepts, that costs what changed, and that nothing planted can bend."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reverie.core.settings.value import Settings
from reverie.errors import Busy, UsageError
from reverie.store.versions import git_objects
from reverie.store.versions.git import PERSON, FileDiff, History, blob_id, unified_file
from reverie.store.versions.git_objects import Entry
from reverie.store.workspace import Workspace
from reverie.testing import CrashDisk, FixedClock, counter_ids, crash_loop

AT = datetime(2026, 7, 2, 3, 0, 5, 900_000, tzinfo=UTC)
GIT = shutil.which("git")
needs_git = pytest.mark.skipif(
    GIT is None, reason="git is not installed: its own verdict cannot be asked for"
)
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=8).filter(
    lambda name: name.casefold() not in {".", "..", ".git"}
)


def open_at(root: Path, disk: CrashDisk | None = None) -> Workspace:
    """Open a workspace in `root`; where no crash is tried nothing waits for the medium."""
    root.mkdir(exist_ok=True)
    return Workspace(root, Settings(durability="os"), clock=FixedClock(AT), new_id=counter_ids(), disk=disk)


def commit(
    history: History, changes: Mapping[str, bytes | None], *, author: str = "Reverie", message: str = "x"
) -> str:
    """Prepare and publish on top of what is there, and return the commit's id."""
    head = history.head()
    made = history.prepare(changes, parent=head, message=message, author=author, at=AT)
    history.publish(made.id, head)
    return made.id


def git(root: Path, *arguments: str, stdin: bytes = b"") -> bytes:
    """Run git on the history of the workspace in `root`, away from anybody's settings, and return what it prints."""
    environment = {"PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    command = [str(GIT), f"--git-dir={root / '.history'}", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, check=True, env=environment).stdout


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """Give an empty workspace."""
    return open_at(tmp_path / "memory")


@pytest.fixture
def history(ws: Workspace) -> History:
    """Give the history of an empty workspace."""
    return History(ws)


def test_what_is_committed_is_read_back(history: History) -> None:
    """Files come back with their bytes, the log with author, time and message, newest first."""
    assert history.head() is None
    assert history.log() == []
    first = commit(history, {"USER.md": b"u", "notebook/a/b.md": b"\xff\0"}, author=PERSON, message="Mine")
    second = commit(history, {"USER.md": b"v", "notebook/a/b.md": None}, message="Dream\n\nmore\n")
    assert history.head() == second
    assert {path: history.blob(blob) for path, blob in history.tree(first).items()} == {
        "USER.md": b"u",
        "notebook/a/b.md": b"\xff\0",
    }
    assert history.tree(second) == {"USER.md": blob_id(b"v")}
    assert [(one.author, one.message, one.parent) for one in history.log()] == [
        ("Reverie", "Dream\n\nmore", first),
        ("person", "Mine", ""),
    ]
    assert history.log()[0].at == AT.replace(microsecond=0)
    assert history.log(1, start=first)[0].id == first


def test_a_commit_that_changes_nothing_is_the_parent(history: History) -> None:
    """Setting files to what they are, or removing what is not there, writes no commit."""
    head = commit(history, {"a": b"1", "b/c": b"2"})
    made = history.prepare({"a": b"1", "b/x": None, "y/z": None}, parent=head, message="again", at=AT)
    assert (made.id, made.changed) == (head, ())
    history.publish(made.id, head)
    assert history.head() == head


def test_changed_names_what_really_differs(history: History) -> None:
    """The paths of a commit are its real difference: untouched values are not in it, implied removals are."""
    head = commit(history, {"same": b"1", "a": b"file", "d/x": b"1", "d/y": b"2"})
    made = history.prepare(
        {"same": b"1", "a/b": b"now a folder", "d": b"now a file"}, parent=head, message="m", at=AT
    )
    assert made.changed == ("a", "a/b", "d", "d/x", "d/y")


@pytest.mark.parametrize(
    "changes",
    [
        {"a/.git/config": b""},
        {"../x": b""},
        {"a//b": b""},
        {"/a": b""},
        {".GIT": b""},
        {"": b""},
        {"a": b"", "a/b": b""},
    ],
)
def test_a_path_no_tree_may_hold_is_refused(history: History, changes: dict[str, bytes | None]) -> None:
    """Names that would lead elsewhere, or configure a checkout, raise before anything is published."""
    with pytest.raises(UsageError):
        history.prepare(changes, parent=None, message="m", at=AT)
    assert history.head() is None


def test_publishing_twice_is_one_publication_and_a_moved_head_is_busy(history: History) -> None:
    """A finished publish may run again after a crash; a prepared commit on an old parent asks to try again."""
    first = history.prepare({"a": b"1"}, parent=None, message="one", at=AT)
    rival = history.prepare({"a": b"2"}, parent=None, message="two", at=AT)
    history.publish(first.id, None)
    history.publish(first.id, None)
    with pytest.raises(Busy):
        history.publish(rival.id, None)
    assert history.head() == first.id


def test_a_diff_names_files_and_shows_lines(history: History) -> None:
    """A unified diff carries added, changed and removed files, and says where a last line has no line break."""
    old = commit(history, {"keep": b"k", "a.md": b"one\ntwo\x0bx\n", "gone.md": b"bye\n", "bin": b"\xff"})
    new = commit(history, {"a.md": b"one\n2\x0bx", "gone.md": None, "new.md": b"hi\n", "bin": b"\xfe"})
    assert history.diff(old, new) == [
        FileDiff("a.md", b"one\ntwo\x0bx\n", b"one\n2\x0bx"),
        FileDiff("bin", b"\xff", b"\xfe"),
        FileDiff("gone.md", b"bye\n", None),
        FileDiff("new.md", None, b"hi\n"),
    ]
    text = history.unified(old, new)
    assert (
        "--- a/a.md\n+++ b/a.md\n@@ -1,2 +1,2 @@\n one\n-two\x0bx\n+2\x0bx\n\\ No newline at end of file\n"
        in text
    )
    assert "Binary files a/bin and b/bin differ\n" in text
    assert "+++ /dev/null\n@@ -1 +0,0 @@\n-bye\n" in text
    assert history.diff(None, old)[0].old is None
    assert unified_file(FileDiff("x", b"a\n", b"a\n")) == ""


def counting(root: Path) -> CrashDisk:
    """Return a disk that counts and names its writes and never crashes."""
    return CrashDisk(root, crash_at=0)


def written(disk: CrashDisk, act: Callable[[], object]) -> int:
    """Return how many files were put in place during `act`."""
    before = len(disk.log)
    act()
    return sum("rename" in str(call) or "link" in str(call) for call in disk.log[before:])


def test_a_commit_costs_what_changed(tmp_path: Path) -> None:
    """Changing one page of two hundred in twenty folders writes a blob, two trees, a commit and the ref, no more."""
    disk = counting(tmp_path / "memory")
    history = History(open_at(tmp_path / "memory", disk))
    commit(history, {f"n/{number % 20}/{number}.md": b"%d" % number for number in range(200)})
    whole = written(disk, lambda: commit(history, {"n/3/3.md": b"changed"}))
    assert whole == 6  # blob, tree of n/3, of n, of the root, the commit, the ref
    assert (
        written(disk, lambda: commit(history, {"n/3/3.md": b"3"})) == 2
    )  # everything but commit and ref was there
    assert written(disk, lambda: history.diff(None, history.head())) == 0


@pytest.mark.slow
def test_a_crash_leaves_the_old_or_the_new_commit(tmp_path: Path) -> None:
    """At every write and sync of a commit a crash leaves a history that reads whole, old or new, and goes on."""
    old, new = {"a": b"1", "d/b": b"2"}, {"a": b"3", "d/b": b"2", "d/c": b"4"}
    numbers = iter(range(10_000))

    def make() -> Path:
        root = tmp_path / str(next(numbers))
        commit(History(open_at(root)), old)
        return root

    def scenario(disk: CrashDisk, tell: Callable[[str], None]) -> None:
        tell(commit(History(open_at(disk.root, disk)), {"a": b"3", "d/c": b"4"}))

    heights = set()
    for wreck in crash_loop(make, scenario, seeds=(0, 1, 2)):
        history = History(open_at(wreck.root))
        height = len(history.log())
        files = {path: history.blob(blob) for path, blob in history.tree(history.head()).items()}
        assert files == {1: old, 2: new}[height]
        assert height == 2 or not wreck.told
        commit(history, {"a": b"5"})
        assert len(history.log()) == height + 1
        heights.add(height)
    assert heights == {1, 2}


@needs_git
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(entries=st.dictionaries(NAMES, st.booleans(), max_size=8))
def test_trees_are_encoded_as_git_encodes_them(ws: Workspace, entries: dict[str, bool]) -> None:
    """For any names and kinds of entries, git makes the same tree and the same id."""
    History(ws)
    commit(History(ws), {"a": b"1"})
    blob, tree = blob_id(b""), git_objects.object_id("tree", b"")
    History(ws).write_blob(b"")
    values = {
        name: Entry("40000", tree) if folder else Entry("100644", blob) for name, folder in entries.items()
    }
    content = git_objects.encode_tree(values)
    listing = b"".join(
        f"{entry.mode:>06} {'tree' if entry.mode == '40000' else 'blob'} {entry.id}\t{name}\0".encode()
        for name, entry in values.items()
    )
    made = git(ws.root, "mktree", "-z", "--missing", stdin=listing).decode().strip()
    assert made == git_objects.object_id("tree", content)
    assert git_objects.decode_tree(made, content) == values


@needs_git
def test_git_reads_the_history(ws: Workspace) -> None:
    """Plain git finds the store sound, and shows log, authors, trees and contents as they were committed."""
    history = History(ws)
    files = {
        "notebook/a b/日本 é.md": "héllo\n".encode(),
        "notebook/a.md": b"",
        "notebook/a/z": b"1",
        "USER.md": b"\xff\n",
    }
    first = commit(history, files, author=PERSON, message="Bring in\n\nbody 中\n")
    second = commit(history, {"USER.md": b"u\n", "notebook/a.md": None}, message="Dream")
    assert git(ws.root, "fsck", "--strict", "--full") == b""
    assert git(ws.root, "rev-parse", "HEAD").decode().strip() == second
    assert git(ws.root, "log", "--format=%H|%an|%ae|%cn <%ce>|%ct|%s").decode().splitlines() == [
        f"{second}|Reverie|reverie@localhost|Reverie <reverie@localhost>|{int(AT.timestamp())}|Dream",
        f"{first}|person|person@localhost|Reverie <reverie@localhost>|{int(AT.timestamp())}|Bring in",
    ]
    listed = git(ws.root, "ls-tree", "-r", "-z", first).decode().split("\0")
    assert {line.partition("\t")[2]: line.split()[2] for line in listed if line} == history.tree(first)
    for path, data in files.items():
        assert git(ws.root, "cat-file", "blob", history.tree(first)[path]) == data
    assert b"+u\n" in git(ws.root, "log", "-p")


@needs_git
def test_a_commit_that_git_made_is_read(ws: Workspace) -> None:
    """Executable files count; links and submodules are left out but survive our next commit."""
    history = History(ws)
    head = commit(history, {"a": b"1"})
    blob = blob_id(b"1")
    rows = (
        f"100755 blob {blob}\tx\n120000 blob {blob}\tlink\n160000 commit {head}\tsub\n100644 blob {blob}\ta\n"
    )
    tree = git(ws.root, "mktree", "--missing", stdin=rows.encode()).decode().strip()
    content = (
        f"tree {tree}\nparent {head}\nparent {head}\nauthor A B <a@b> 1 -0130\ncommitter C <c> 1 +0000\n"
    )
    raw = f"{content}encoding UTF-8\ngpgsig x\n y\n\nmsg\n".encode()
    theirs = (
        git(ws.root, "hash-object", "-t", "commit", "-w", "--literally", "--stdin", stdin=raw)
        .decode()
        .strip()
    )
    git(ws.root, "update-ref", "refs/heads/main", theirs)
    history = History(ws)
    assert history.tree(theirs) == {"a": blob, "x": blob}
    assert (history.log()[0].author, history.log()[0].message, len(history.log())) == ("A B", "msg", 2)
    commit(history, {"x": b"2", "link/below": None})
    kept = git(ws.root, "ls-tree", "HEAD").decode()
    assert "120000" in kept
    assert "160000" in kept
    assert "100755 blob " + blob_id(b"2") in kept
