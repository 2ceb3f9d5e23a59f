"""History that another program kept, coming in: conversations, other memories, a vault.

In: a file, an archive or a folder. Out: turns in session files, as `capture` writes them; facts, which `stating` keeps;
notes and pages. Every text is redacted before it is written, and keeps the time it had.

What survives a crash here: all that was written, in batches of one sync each. Importing again goes on where it stopped,
for a turn is known by its id and words, a fact by its key, a page by its place; the same file twice adds nothing. What
cannot be read is set aside and told, what is left out on purpose is counted by its reason; the source is never touched.

Next: `extract` reads the turns and notes, `drain` stores the facts.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from reverie import layout
from reverie.core.records import Turn
from reverie.core.sessions.intake import cleaned, problem
from reverie.core.text.names import is_day
from reverie.errors import NotFound, UnsafePath, UsageError
from reverie.importers import formats
from reverie.importers.forked import COPY, Forked
from reverie.importers.met import SIZE, Met
from reverie.importers.source import listed, members
from reverie.importers.taken import Fact, Found, Imported, Passed, Progress
from reverie.importers.turns import Defaults, Skipped
from reverie.store import quarantine, sessions, stream
from reverie.store.beginnings import beginnings
from reverie.store.workspace import Workspace

_BATCH = 500  # turns written with one sync for each session among them
_FACTS = 2_000  # facts written with one sync, during which nobody else can write
_BATCH_BYTES = 4 << 20
_KNOWN = 200_000  # turns whose identity is remembered; a session too many is read again when it is met again
_TOLD = 1_000  # unreadable pieces that are returned; all are set aside
_EVERY = 200  # turns between two tellings of how far it is
_RAW = 100_000  # bytes of an unreadable piece that are set aside
_MAX_NOTE = 8 << 20  # bytes of a note; a larger file is no page

# Stores facts, and tells of each whether it was new; a text says why it cannot be stored, Passed why it was left out.
Keep = Callable[[Sequence[Fact]], Sequence[bool | str | Passed]]


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """How to import: the session of turns that name none, whether only to count, and whom to tell how far it is."""

    session: str = ""
    dry_run: bool = False
    tell: Callable[[Progress], None] | None = None


def import_source(ws: Workspace, source: Path, wish: Wish, *, keep: Keep) -> Imported:
    """Take in a file, an archive, or a folder of sessions or notes; raises NotFound, UnsafePath, UsageError.

    Nothing was stored when UsageError says that the format is unknown; of an archive that turns out to be a bomb, or of
    a folder, what was read before stays.
    """
    tally = _Tally(ws, wish, keep)
    if source.is_dir():
        if (source / layout.STATE).exists():
            raise UsageError(f"{source} is a workspace, or no export that is whole: its manifest is missing")
        kind, files = listed(source)
        total = sum(path.stat().st_size for path in files)
        for path in files:
            if kind == "vault":
                tally.note(path, source)
            else:
                _file(tally, path, total)
            tally.before += path.stat().st_size
            tally.tell(0, total)
        tally.formats.setdefault("obsidian" if kind == "vault" else kind)
    elif source.is_file():
        _file(tally, source, source.stat().st_size)
    else:
        raise NotFound(f"there is no file {source}")
    return tally.done()


def _file(tally: _Tally, path: Path, total: int) -> None:
    """Take in one file, or each conversation file of an archive."""
    now = tally.ws.clock().replace(microsecond=0)
    with path.open("rb") as file:
        several = False
        try:
            for member in members(file, path.name):
                if isinstance(member, Passed):
                    tally.take([member], source=path.name)
                    continue
                several = True
                session = tally.wish.session or member.label
                name, found = formats.read(member.chunks, Defaults(session, now, tally.ws.calendar))
                tally.begin(name)
                tally.take(_told(found, tally, file.tell, total), source=path.name)
        except UsageError as error:
            if not (several and tally.formats):
                raise
            tally.take([Skipped(0, path.name.encode("utf-8", "replace"), str(error))], source=path.name)


def _told(found: Iterator[Found], tally: _Tally, place: Callable[[], int], total: int) -> Iterator[Found]:
    """Yield what is found, and tell now and then how far the file was read."""
    for number, one in enumerate(found):
        if number % _EVERY == 0:
            tally.tell(place(), total)
        yield one
    tally.tell(place(), total)


class _Tally:
    """One import under way: what is to be written, what is known to be there, and the counts."""

    def __init__(self, ws: Workspace, wish: Wish, keep: Keep) -> None:
        """Begin with nothing."""
        self.ws, self.wish, self.keep = ws, wish, keep
        self.formats: dict[str, None] = {}
        self.sessions: dict[str, None] = {}
        self.known: OrderedDict[str, Met] = OrderedDict()
        self.batch: dict[str, list[Turn]] = {}
        self.stating: list[tuple[Fact, int, str]] = []  # with the place and source of each
        self.would: set[str] = set()  # keys of what a dry run found new, which no file holds
        self.ids: dict[str, set[str]] = {}  # of turns that it found new, by session
        self.begun: dict[str, str] | None = None  # sessions by their first turn, read when a fork may come
        self.forked: Forked | None = None
        self.waiting = self.bytes = self.before = self.marked = 0
        self.turns = self.facts = self.repeated = self.files = self.unread = self.seen = 0
        self.skipped: list[Skipped] = []
        self.aside: list[stream.Damaged] = []
        self.passed: Counter[str] = Counter()

    def begin(self, name: str) -> None:
        """Begin a file in the format of this name."""
        self.formats.setdefault(name)
        self.forked = None
        if name == "claude-code":
            self.begun = beginnings(self.ws) if self.begun is None else self.begun
            self.forked = Forked(self.begun, self._ids)

    def take(self, found: Iterable[Found], *, source: str) -> None:
        """Store what is new of what was found, and keep aside what could not be read."""
        try:
            for place, one in enumerate(found, 1):
                if isinstance(one, Turn):
                    self._turn(one, place, source)
                elif isinstance(one, Fact):
                    self._fact(one, place, source)
                elif isinstance(one, Passed):
                    self.passed[one.reason] += 1
                else:
                    self._skip(one, source)
        finally:
            self.flush()  # what was read before an error is stored: a later import finds it there

    def tell(self, place: int, total: int) -> None:
        """Tell how far the import is."""
        if self.wish.tell is not None:
            self.wish.tell(Progress(done=min(self.before + place, total), total=total, seen=self.seen))

    def flush(self) -> None:
        """Write what waits, all sessions in one go and all facts with one sync; set aside what could not be read."""
        batch, self.batch, self.waiting, self.bytes = self.batch, {}, 0, 0
        stored = sessions.append_each(self.ws, batch) if batch else {}
        self.turns += sum(stored.values())
        if left := sum(map(len, batch.values())) - sum(stored.values()):
            self.passed["in a session that is paused"] += left
        stating, self.stating = self.stating, []
        fates = self.keep([fact for fact, _, _ in stating]) if stating else ()
        for fate, told in zip(fates, stating, strict=True):
            self._stated(fate, *told)
        aside, self.aside = self.aside, []
        quarantine.set_aside(self.ws, aside)

    def done(self) -> Imported:
        """Return what the import did."""
        return Imported(
            format=" ".join(self.formats) or "nothing",
            turns=self.turns,
            facts=self.facts,
            repeated=self.repeated,
            sessions=tuple(self.sessions),
            skipped=tuple(self.skipped),
            unread=self.unread,
            passed=dict(self.passed.most_common()),
            files=self.files,
            dry_run=self.wish.dry_run,
        )

    def _turn(self, turn: Turn, place: int, source: str) -> None:
        self.seen += 1
        settings = self.ws.settings
        reason = problem(turn, limit=settings.max_turn_bytes)
        if reason:
            raw = turn.content[:_RAW].encode("utf-8", "replace")
            self._skip(Skipped(place, raw, reason), source)
            return
        clean = cleaned(turn, allow=settings.redaction_allow) if settings.redaction else turn
        if not clean.id:
            clean = msgspec.structs.replace(clean, id=_digest(clean, size=12).hex())
        if self.forked is not None and self.forked.copied(clean):
            self.passed[COPY.reason] += 1
            return
        seen = self._seen(clean.session)
        if self.begun is not None and not len(seen):
            self.begun.setdefault(clean.id, clean.session)
        if not seen.add(_digest(clean)):
            self.repeated += 1
            return
        self.marked += 1
        self.sessions.setdefault(clean.session)
        if self.wish.dry_run:
            self.turns += 1
            if self.forked is not None:
                self.ids.setdefault(clean.session, set()).add(clean.id)
            return
        self.batch.setdefault(clean.session, []).append(clean)
        self.waiting += 1
        self.bytes += len(clean.content)
        if self.waiting >= _BATCH or self.bytes >= _BATCH_BYTES:
            self.flush()

    def _ids(self, session: str) -> set[str]:
        """Return the ids of the turns that the session has."""
        self.flush()
        return {turn.id for turn in sessions.each(self.ws, session)} | self.ids.get(session, set())

    def _seen(self, session: str) -> Met:
        """Return the marks of the turns that the session has, those that wait included."""
        seen = self.known.get(session)
        if seen is None:
            if self.marked > _KNOWN:
                self.flush()  # what is let go is read again from its file
                while self.marked > _KNOWN // 2:
                    self.marked -= len(self.known.popitem(last=False)[1])
            seen = self.known[session] = Met()
            for one in sessions.each(self.ws, session):
                self.marked += seen.add(_digest(one))
            self.sessions.setdefault(session)
        self.known.move_to_end(session)
        return seen

    def _fact(self, fact: Fact, place: int, source: str) -> None:
        """Have a fact wait to be kept with others."""
        self.seen += 1
        self.stating.append((fact, place, source))
        self.bytes += len(fact.text)
        if len(self.stating) >= _FACTS or self.bytes >= _BATCH_BYTES:
            self.flush()

    def _stated(self, fate: bool | str | Passed, fact: Fact, place: int, source: str) -> None:  # noqa: FBT001
        """Count what became of a fact."""
        if isinstance(fate, str):
            self._skip(Skipped(place, fact.text[:_RAW].encode("utf-8", "replace"), fate), source)
        elif isinstance(fate, Passed):
            self.passed[fate.reason] += 1
        else:
            new = fate and fact.key not in self.would
            if self.wish.dry_run:
                self.would.add(fact.key)
            self.facts += new
            self.repeated += not new

    def _skip(self, skipped: Skipped, source: str) -> None:
        self.unread += 1
        if len(self.skipped) < _TOLD:
            self.skipped.append(skipped)
        if self.wish.dry_run:
            return
        raw = self.ws.clean_raw(skipped.raw[:_RAW])
        self.aside.append(stream.Damaged(f"import {source}", skipped.place, raw, skipped.reason))
        if len(self.aside) >= _BATCH:
            self.flush()

    def note(self, path: Path, vault: Path) -> None:
        """Take in one Markdown file: a dated one is added to the note of its day, another becomes a page.

        A page that is there, with whatever words, is never written over.
        """
        self.seen += 1
        inside = path.relative_to(vault)
        if path.stat().st_size > _MAX_NOTE:
            self._skip(
                Skipped(
                    self.seen,
                    str(inside).encode("utf-8", "replace"),
                    f"{inside} is larger than {_MAX_NOTE:,} bytes",
                ),
                vault.name,
            )
            return
        data = path.read_bytes().removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            self._skip(Skipped(self.seen, data, f"{inside} is not UTF-8: {error}"), vault.name)
            return
        if not text.strip() or "\0" in text:
            self.passed["an empty note" if not text.strip() else "a note with NUL bytes"] += 1
            return
        clean = self.ws.clean(text).rstrip("\n").encode("utf-8", "replace") + b"\n"
        if is_day(path.stem):
            self._put(layout.note_file(path.stem), lambda old: _added(old or b"", clean))
        else:
            place = "/".join((self.ws.notebook, "0_Inbox", vault.name, *inside.parts))
            try:
                self._put(place, lambda old: clean if old is None else None, whole=clean)
            except UnsafePath as error:
                self._skip(Skipped(self.seen, data[:_RAW], f"{inside}: {error}"), vault.name)

    def _put(
        self, path: str, build: Callable[[bytes | None], bytes | None], *, whole: bytes | None = None
    ) -> None:
        """Write a note or page unless `build` finds it there; `whole` is what a page that is there has to be."""
        before = self.ws.disk.read(path)
        new = build(before) is not None
        if new and not self.wish.dry_run:
            self.ws.disk.rewrite(path, build)
        self.files += new
        if before is not None and whole is not None and before != whole:
            self.passed["a note that differs from its page here, which is kept"] += 1
        else:
            self.repeated += not new


def _digest(turn: Turn, *, size: int = SIZE) -> bytes:
    """Return the mark by which a turn is known in its session: what makes two stored turns one, in `size` bytes."""
    told = "\0".join(sessions.identity(turn)).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(told, digest_size=size).digest()


def _added(old: bytes, text: bytes) -> bytes | None:
    """Return the note with the paragraphs of `text` that it lacks at its end, or None when it lacks none."""
    new = [one for one in re.split(rb"\n\s*\n", text.strip()) if one.strip() not in old]
    if not new:
        return None
    gap = b"" if not old else b"\n" if old.endswith(b"\n") else b"\n\n"
    return old + gap + b"\n\n".join(new) + b"\n"
