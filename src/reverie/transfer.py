"""Conversations coming in, everything going out.

Owns telling formats apart, importing through `capture`'s door, and the export's shape; promises that the same file
imported twice adds nothing, that what cannot be read is set aside and reported, and that an export imported into an
empty workspace is the same workspace; never touches the source.

An export is a folder: the canonical files as they are, and `manifest.json` with the SHA-256 of each. Derived files are
left out, for they come back.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from reverie import layout
from reverie.core.intake import cleaned, problem
from reverie.core.records import Turn
from reverie.errors import NewerFormat, NotFound, UsageError
from reverie.importers import claude_code, locomo, openai_messages, turns
from reverie.importers.turns import Defaults, Skipped
from reverie.store import quarantine, sessions, stream
from reverie.store.disk import Disk
from reverie.store.workspace import Workspace

MANIFEST = "manifest.json"
BOM = b"\xef\xbb\xbf"
_DERIVED = re.compile(
    rf"(?:{layout.PEOPLE}/[^/]+/)*(?:{'|'.join(map(re.escape, (layout.INDEX, layout.DIGESTS, layout.LOCKS)))})/"
)


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """What an import did: the format it saw, turns stored, turns that were there before, sessions, lines set aside."""

    format: str
    turns: int = 0
    repeated: int = 0
    sessions: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    files: int = 0


class Exported(msgspec.Struct, frozen=True, kw_only=True):
    """What an export wrote: the folder, how many files, how many bytes."""

    folder: Path
    files: int
    size: int


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """`manifest.json`: the format's version, the workspace's id and agent, and the SHA-256 of each file."""

    version: int
    workspace: str
    agent: str
    files: dict[str, str]


def import_file(ws: Workspace, source: Path, *, session: str = "") -> Imported:
    """Take in a conversation file, or an export's folder; raises NotFound or UsageError when it is neither.

    Turns without a session of their own go to `session`, else to one named after the file.
    """
    if source.is_dir():
        return _import_export(ws, source)
    if not source.is_file():
        raise NotFound(f"there is no file {source}")
    data = source.read_bytes().removeprefix(BOM)
    name, read = _reader(
        data, Defaults(session or source.stem, ws.clock().replace(microsecond=0), ws.calendar)
    )
    return import_turns(ws, read, name=name, source=source.name)


def import_turns(ws: Workspace, read: Iterable[Turn | Skipped], *, name: str, source: str) -> Imported:
    """Store turns that are not there yet, each synced with its session, and set aside what could not be read."""
    stored = repeated = 0
    skipped: list[Skipped] = []
    known: dict[str, set[tuple[str, ...]]] = {}
    for place, turn in enumerate(read, 1):
        if isinstance(turn, Skipped):
            skipped.append(turn)
            continue
        reason = problem(turn, limit=ws.settings.max_turn_bytes)
        if reason:
            skipped.append(Skipped(place, turn.content[:100_000].encode("utf-8", "replace"), reason))
            continue
        seen = known.get(turn.session)
        if seen is None:
            seen = known[turn.session] = {sessions.identity(one) for one in sessions.read(ws, turn.session)}
        clean = cleaned(turn, allow=ws.settings.redaction_allow) if ws.settings.redaction else turn
        if sessions.identity(clean) in seen:
            repeated += 1
            continue
        if sessions.append(ws, turn.session, clean) is not None:
            seen.add(sessions.identity(clean))
            stored += 1
    damaged = [
        stream.Damaged(f"import {source}", one.place, ws.clean_raw(one.raw), one.reason) for one in skipped
    ]
    quarantine.set_aside(ws, damaged)
    return Imported(
        format=name, turns=stored, repeated=repeated, sessions=tuple(known), skipped=tuple(skipped)
    )


def locomo_samples(ws: Workspace, source: Path) -> list[locomo.Sample]:
    """Return the conversations of a LoCoMo file with their questions, for benchmarks and the demo."""
    return list(locomo.samples(msgspec.json.decode(source.read_bytes()), ws.calendar))


def is_locomo(source: Path) -> bool:
    """Whether the file is a LoCoMo file."""
    value = _whole(source.read_bytes())
    return value is not None and locomo.is_locomo(value)


def _reader(data: bytes, defaults: Defaults) -> tuple[str, Iterator[Turn | Skipped]]:
    """Return the format's name and its turns; what is no JSON as a whole is read as JSONL."""
    value = _whole(data)
    if value is not None and locomo.is_locomo(value):
        return "locomo", (
            turn for sample in locomo.samples(value, defaults.calendar) for turn in sample.turns
        )
    messages = openai_messages.messages_of(value)
    if messages is not None:
        return "openai-messages", openai_messages.read(messages, defaults)
    lines = data.split(b"\n")
    if any(claude_code.is_claude_code(line) for line in lines[:20] if line.strip()):
        return "claude-code", claude_code.read(lines, defaults)
    return "turns", turns.read(lines, defaults)


def _whole(data: bytes) -> Any | None:  # noqa: ANN401 - foreign JSON
    """Return the one JSON value that `data` is, or None."""
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def export(ws: Workspace, target: Path) -> Exported:
    """Write every canonical file to the empty or missing folder `target`; the manifest comes last and seals it."""
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(f"{target} is not empty: export into a new folder")
    if target.resolve().is_relative_to(ws.root.resolve()):
        raise UsageError(f"{target} lies in the workspace itself: export to a folder outside it")
    disk, digests, size = Disk(target), {}, 0
    disk.make_folder("")
    for path in canonical(ws):
        data = ws.disk.read(path)
        if data is not None:
            disk.replace(path, data)
            digests[path] = hashlib.sha256(data).hexdigest()
            size += len(data)
    identity = ws.identity()
    manifest = Manifest(version=layout.FORMAT, workspace=identity.id, agent=identity.agent, files=digests)
    disk.replace(MANIFEST, msgspec.json.format(msgspec.json.encode(manifest)))
    return Exported(folder=target, files=len(digests), size=size)


def canonical(ws: Workspace) -> Iterator[str]:
    """Yield the path of every canonical file, MEMORY.md with what people wrote in it included."""
    for path in ws.disk.walk(""):
        if not _DERIVED.match(path):
            yield path


def _import_export(ws: Workspace, source: Path) -> Imported:
    """Take an export into a workspace that holds nothing yet.

    Raises UsageError when it holds something, or a file is not whole, and NewerFormat.

    Every file is verified before the first is written, so that a damaged export changes nothing.
    """
    disk = Disk(source)
    sealed = disk.read(MANIFEST)
    if sealed is None:
        raise UsageError(f"{source} is no export: {MANIFEST} is missing")
    try:
        manifest = msgspec.json.decode(sealed, type=Manifest)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{source / MANIFEST} cannot be read ({error}): nothing was imported") from error
    if manifest.version > layout.FORMAT:
        raise NewerFormat(f"{source} was exported by a newer Reverie: upgrade to import it")
    if ws.disk.list(layout.SESSIONS) or ws.disk.list(layout.ARCHIVE) or ws.disk.size(layout.EVENTS):
        raise UsageError(f"{ws.root} holds memories already: import an export into a new workspace")
    for path, digest in manifest.files.items():
        if hashlib.sha256(disk.read(path) or b"").hexdigest() != digest:
            raise UsageError(f"{source / path} is not what was exported: nothing was imported")
    for path in manifest.files:
        if path != layout.ORIGIN:  # the seal of this user's own workspace stays
            ws.disk.replace(path, disk.read(path) or b"")
    return Imported(format="reverie-export", files=len(manifest.files))
