"""The history of the pages: a git object store of our own in `.history`.

Owns `.history/objects`, `refs/heads/main` and `HEAD`; promises that every object is on the medium before the ref
that reaches it moves, that a commit writes only what changed, and that what is read hashes to its name; never runs
git, and never reads a hook, filter, alternate, configuration, pack, replacement, graft or HEAD: only loose objects and
the one ref exist for it, so that nothing planted in the folder has an effect. What a person's git packed is made loose
again by `git_packs`.

Order of a commit: blobs, trees from the leaves up, the commit object, each synced; then HEAD when it is missing;
then the ref. A crash before the ref leaves objects nobody reaches, which a later commit of the same content reuses.

Plain git reads it: `git --git-dir=.history log -p`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from datetime import datetime

import msgspec

from reverie import layout
from reverie.errors import Busy, DamagedFile, UnsafePath
from reverie.store.versions import git_objects as objects
from reverie.store.versions.git_objects import IDENTITY, Changes, CommitInfo, Entry, nested
from reverie.store.workspace import Workspace

PERSON = "person"

_HEAD = f"{layout.OBJECTS}/HEAD"
MAIN = f"{layout.OBJECTS}/refs/heads/main"
PACKS, PACKED_REFS = f"{layout.OBJECTS}/objects/pack", f"{layout.OBJECTS}/packed-refs"
_HEAD_CONTENT = b"ref: refs/heads/main\n"
_OURS = re.compile(r"HEAD|refs/heads/main|objects/[0-9a-f]{2}/[0-9a-f]{38}")
_CACHED_TREES = 4096


class Commit(msgspec.Struct, frozen=True):
    """A commit whose objects are stored. `changed` are the paths that differ from the parent, sorted.

    With nothing changed no object was written and `id` is the parent's.
    """

    id: str
    parent: str
    changed: tuple[str, ...]


class FileDiff(msgspec.Struct, frozen=True):
    """One file that differs between two commits; None where it is absent."""

    path: str
    old: bytes | None
    new: bytes | None


class History:
    """The commits of one workspace's pages. The caller holds the write lock for `prepare` and `publish`."""

    def __init__(self, ws: Workspace) -> None:
        """Bind to a workspace; nothing is read or made."""
        self._disk = ws.disk
        # Trees by id: an id names its content for ever, so an entry never goes stale.
        self._trees: dict[str, dict[str, Entry]] = {}

    def head(self) -> str | None:
        """Return the id of the newest commit, None before the first; raises DamagedFile."""
        data = self._disk.read(MAIN)
        if data is None and self._disk.size(PACKED_REFS) is not None and self._disk.list(PACKS):
            message = "`git gc` packed the history: the next dream, lint or undo takes its pack apart, if it is sound"
            raise DamagedFile(message)
        if data is None:
            return None
        commit = data.decode("ascii", "replace").strip()
        if not objects.is_id(commit):
            message = (
                f"{MAIN} holds no commit id; leave one where a merge left two, or restore it from a backup"
            )
            raise DamagedFile(message)
        return commit

    def commit(self, commit: str) -> CommitInfo:
        """Return a commit by its full id; raises DamagedFile when it is absent or unsound."""
        return objects.decode_commit(commit, self._read(commit, "commit"))

    def tree(self, commit: str | None) -> dict[str, str]:
        """Return every file of a commit with its blob's id, none for None; links and submodules are left out."""
        return dict(self._files(self.commit(commit).tree, "")) if commit else {}

    def find(self, commit: str | None, path: str) -> str:
        """Return the id of the blob that a commit holds at one path, empty when it holds no file there."""
        *folders, name = path.split("/")
        tree = self.commit(commit).tree if commit else ""
        for folder in folders:
            tree = _folder(self._entries(tree).get(folder))
        return _file(self._entries(tree).get(name))

    def blob(self, blob: str) -> bytes:
        """Return the content of a file by its blob's id; raises DamagedFile."""
        return self._read(blob, "blob")

    def write_blob(self, data: bytes) -> str:
        """Store a file's content, once however often it is written, and return its id."""
        return self._write("blob", data)

    def prepare(
        self,
        changes: Mapping[str, bytes | None],
        *,
        parent: str | None,
        message: str,
        author: str = IDENTITY,
        at: datetime,
    ) -> Commit:
        """Store a commit that sets (or for None removes) files of `parent`'s tree; the ref does not move.

        `author` is `Reverie` or `PERSON`. Raises UsageError for a path no tree may hold.
        """
        old_tree = self.commit(parent).tree if parent else None
        tree = self._changed_tree(old_tree or "", nested(changes)) or self._write("tree", b"")
        if parent and tree == old_tree:
            return Commit(parent, parent, ())
        changed = tuple(sorted(path for path, _ in self._differing(old_tree or "", tree, above="")))
        content = objects.encode_commit(tree, parent or "", message=message, author=author, at=at)
        return Commit(self._write("commit", content), parent or "", changed)

    def publish(self, commit: str, expected_parent: str | None) -> None:
        """Make a prepared commit the newest; publishing it again is no error.

        Raises Busy when the newest commit is no longer `expected_parent`: prepare again on top of it.
        """
        head = self.head()
        if head == commit:
            return
        if head != expected_parent:
            message = f"the history moved on to {head or 'nothing'} meanwhile; try again"
            raise Busy(message)
        self.commit(commit)
        if self._disk.read(_HEAD) != _HEAD_CONTENT:
            self._disk.replace(_HEAD, _HEAD_CONTENT)
        self._disk.replace(MAIN, commit.encode() + b"\n")

    def log(self, limit: int = 50, *, start: str | None = None) -> list[CommitInfo]:
        """Return up to `limit` commits, newest first, from `start` (the newest when None) back along first parents."""
        found: list[CommitInfo] = []
        commit = start or self.head()
        while commit and len(found) < limit:
            info = self.commit(commit)
            found.append(info)
            commit = info.parent
        return found

    def changed(self, old: str | None, new: str | None) -> dict[str, tuple[str, str]]:
        """Return the files that differ between two commits: path to old and new blob id, empty where absent.

        The cost follows what differs: equal folders are not opened.
        """
        trees = (self.commit(commit).tree if commit else "" for commit in (old, new))
        return dict(sorted(self._differing(*trees, above="")))

    def diff(self, old: str | None, new: str | None) -> list[FileDiff]:
        """Return the files that differ between two commits with their contents, sorted by path."""
        return [
            FileDiff(path, self.blob(was) if was else None, self.blob(now) if now else None)
            for path, (was, now) in self.changed(old, new).items()
        ]

    def unified(self, old: str | None, new: str | None) -> str:
        """Return the difference of two commits as unified diff text."""
        return "".join(unified_file(one) for one in self.diff(old, new))

    def verify(self) -> Iterator[tuple[str, str]]:
        """Yield path and sentence for the ref and each object that the newest commit reaches and that is not sound."""
        try:
            head = self.head()
        except (DamagedFile, UnsafePath) as error:
            yield MAIN, str(error)
            return
        if head is None:
            return
        try:
            if self._disk.read(_HEAD) != _HEAD_CONTENT:
                yield _HEAD, "it does not name the branch, so that plain git cannot read the history"
        except UnsafePath as error:
            yield _HEAD, str(error)
        waiting, seen = [(head, "commit")], {(head, "commit")}
        while waiting:
            name, kind = waiting.pop()
            try:
                found = [one for one in self._below(name, kind) if one not in seen]
            except (DamagedFile, UnsafePath) as error:
                yield (MAIN if name == head else objects.loose_path(name)), str(error)
                continue
            waiting += found
            seen.update(found)

    def _below(self, name: str, kind: str) -> list[tuple[str, str]]:
        """Return the objects that one names, with their kinds; raises DamagedFile."""
        if kind == "commit":
            info = self.commit(name)
            return [(one, kind) for one in (info.parent,) if one] + [(info.tree, "tree")]
        if kind == "blob":
            self.blob(name)
            return []
        entries = self._entries(name).values()
        folders = [(one.id, "tree") for one in entries if one.mode == objects.FOLDER]
        return folders + [(one.id, "blob") for one in entries if one.mode in objects.BLOBS]

    def foreign(self) -> tuple[str, ...]:
        """Return what lies in `.history` that is not ours and has no effect here, though plain git may heed it."""
        prefix = f"{layout.OBJECTS}/"
        names = (path.removeprefix(prefix) for path in self._disk.walk(layout.OBJECTS))
        return tuple(name for name in names if not _OURS.fullmatch(name))

    # Reading

    def _read(self, name: str, kind: str) -> bytes:
        data = self._disk.read(objects.loose_path(name)) if objects.is_id(name) else None
        if data is None:
            message = f"history object {name} is missing; restore {layout.OBJECTS} from a backup"
            raise DamagedFile(message)
        return objects.unpack(name, data, kind=kind)

    def _entries(self, tree: str) -> dict[str, Entry]:
        if not tree:
            return {}
        known = self._trees.get(tree)
        if known is None:
            known = objects.decode_tree(tree, self._read(tree, "tree"))
            if len(self._trees) >= _CACHED_TREES:
                self._trees.clear()
            self._trees[tree] = known
        return known

    def _files(self, tree: str, above: str) -> Iterator[tuple[str, str]]:
        for name, entry in self._entries(tree).items():
            if entry.mode == objects.FOLDER:
                yield from self._files(entry.id, f"{above}{name}/")
            elif entry.mode in objects.BLOBS:
                yield f"{above}{name}", entry.id

    def _differing(self, old: str, new: str, *, above: str) -> Iterator[tuple[str, tuple[str, str]]]:
        before, after = self._entries(old), self._entries(new)
        for name in before.keys() | after.keys():
            was, now = before.get(name), after.get(name)
            if was == now:
                continue
            yield from self._differing(_folder(was), _folder(now), above=f"{above}{name}/")
            if (pair := (_file(was), _file(now))) != ("", "") and pair[0] != pair[1]:
                yield f"{above}{name}", pair

    # Writing

    def _write(self, kind: str, content: bytes) -> str:
        name = objects.object_id(kind, content)
        path = objects.loose_path(name)
        if not self._holds(path, name, kind=kind):
            self._disk.replace(path, objects.pack(kind, content))
        return name

    def _holds(self, path: str, name: str, *, kind: str) -> bool:
        """Tell whether a sound object lies there; a damaged one is written anew rather than trusted."""
        data = self._disk.read(path)
        if data is None:
            return False
        try:
            objects.unpack(name, data, kind=kind)
        except DamagedFile:
            return False
        return True

    def _changed_tree(self, tree: str, changes: Changes) -> str:
        """Store the tree with the changes and return its id, empty when nothing is left; equal folders are reused."""
        old = self._entries(tree)
        new = dict(old)
        for name, change in changes.items():
            was = old.get(name)
            entry: Entry | None
            if isinstance(change, dict):
                below = self._changed_tree(_folder(was), change)
                # Removing what is not there must not take away a file that stands where its folder would.
                entry = Entry(objects.FOLDER, below) if below else (None if _folder(was) else was)
            elif change is None:
                entry = None if _file(was) else was
            else:
                entry = Entry(was.mode if was and _file(was) else objects.FILE, self.write_blob(change))
            new.pop(name, None)
            if entry is not None:
                new[name] = entry
        if new == old:
            return tree
        if not new:
            return ""
        stored = self._write("tree", objects.encode_tree(new))
        self._trees[stored] = new
        return stored


def blob_id(data: bytes) -> str:
    """Return the id that `write_blob` would give these bytes."""
    return objects.object_id("blob", data)


def unified_file(diff: FileDiff) -> str:
    """Return one file's difference as unified diff text; content that is not UTF-8 is only named."""
    old_name = f"a/{diff.path}" if diff.old is not None else "/dev/null"
    new_name = f"b/{diff.path}" if diff.new is not None else "/dev/null"
    try:
        old, new = (_lines((data or b"").decode("utf-8")) for data in (diff.old, diff.new))
    except UnicodeDecodeError:
        return f"Binary files {old_name} and {new_name} differ\n"
    lines = difflib.unified_diff(old, new, old_name, new_name)
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def _lines(text: str) -> list[str]:
    """Split at line feeds alone, as git does; str.splitlines knows seven more characters."""
    *lines, last = text.split("\n")
    return [*(f"{line}\n" for line in lines), *((last,) if last else ())]


def _folder(entry: Entry | None) -> str:
    return entry.id if entry is not None and entry.mode == objects.FOLDER else ""


def _file(entry: Entry | None) -> str:
    return entry.id if entry is not None and entry.mode in objects.BLOBS else ""
