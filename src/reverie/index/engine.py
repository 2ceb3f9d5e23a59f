"""The tantivy folder: the only code that calls tantivy.

Owns `.index/text/`: its fields, how it is opened, checked, written and asked; promises that every error of tantivy
becomes IndexUnavailable (or Busy), that a file whose checksum is wrong is found when the folder is opened, and that
nothing is written without the caller holding the index lock; never holds a text, only terms and numbers.
"""

from __future__ import annotations

import json
import re
import shutil
import struct
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final, NamedTuple

from reverie.core.search.rank import OWN, WINDOW
from reverie.core.search.rows import Filter
from reverie.core.text import tokens
from reverie.errors import Busy, IndexUnavailable
from reverie.index import documents
from reverie.index.ground import is_plain, is_unwritable

if TYPE_CHECKING:
    import tantivy

LAYOUT: Final = 1  # of the fields; part of the stamp
_HEAP_BYTES: Final = 48_000_000
_MAGIC: Final = 1337  # the last four bytes of every tantivy file but the JSON ones
_PART: Final = 1 << 20
# How tantivy words that nothing can be written; it has no error of its own for it.
_UNWRITABLE: Final = re.compile(
    r"PermissionDenied|ReadOnlyFilesystem|StorageFull|(os error|code:) (1|5|13|27|28|30|122)\b"
)


class Folder(NamedTuple):
    """A tantivy folder, open or not."""

    path: Path

    @property
    def stamp(self) -> str:
        """What built it; the bare number is older than there were other engines."""
        return str(LAYOUT)

    def intact(self, checked: str) -> str:
        """Check its files and return a note of what was seen; raises IndexUnavailable naming the first damaged one."""
        return intact(self.path, checked)

    def open(self, *, fresh: bool = False) -> Engine:
        """Open it, or make it anew."""
        return Engine(self.path, fresh=fresh)


class Memory:
    """An index of words in memory, for where nothing can be written."""

    stamp = f"{LAYOUT}.memory"

    def __init__(self) -> None:
        """Begin with none."""
        self._made: Engine | None = None

    def intact(self, checked: str) -> str:
        """Return the note as it was: there are no files."""
        return checked

    def open(self, *, fresh: bool = False) -> Engine:
        """Return the one there is, or make it anew."""
        if self._made is None or fresh:
            self._made = Engine(None, fresh=True)
        return self._made


class Engine:
    """One open tantivy folder, or one in memory."""

    def __init__(self, folder: Path | None, *, fresh: bool = False) -> None:
        """Open `folder`, or make it anew when `fresh` (the caller then holds the index lock); None is in memory.

        Raises IndexUnavailable when it is missing, damaged, or written by an incompatible tantivy.
        """
        import tantivy  # 17 MB that only a search needs

        self._tantivy = tantivy
        self._folder = folder or Path("memory")
        self._schema = _schema(tantivy)
        with _failing(self._folder):
            if folder is None:
                self._index = tantivy.Index(self._schema)
            elif fresh:
                _clear(folder)
                self._index = tantivy.Index(self._schema, path=str(folder))
            else:
                self._index = tantivy.Index.open(str(folder))
            plain = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
            self._index.register_tokenizer("plain", plain)
            self._index.config_reader("manual", 0)
            self._index.reload()
            self._searcher = self._index.searcher()
        self._seen: tuple[int, int, int] | None = None

    # -- writing, under the index lock

    def write(self, batches: Iterable[tuple[Sequence[int], Iterable[documents.Document]]]) -> Iterator[None]:
        """Take in batches of (numbers to let go of, documents to add); yields after each one's commit.

        The next batch is asked for, and its words are cut, while the one before is committed.
        """
        with _failing(self._folder):
            writer = self._index.writer(_HEAP_BYTES, 1)
            commit: _Beside | None = None
            try:
                for old, new in batches:
                    made = [self._document(document) for document in new]
                    if commit is not None:
                        commit.result()
                        yield
                    if old:
                        # Deleting by term compares a signed number with the field's unsigned one and removes nothing.
                        writer.delete_documents_by_query(
                            self._tantivy.Query.term_set_query(self._schema, "num", list(old))
                        )
                    for document in made:
                        writer.add_document(document)
                    commit = _Beside(writer.commit)
                if commit is not None:
                    commit.result()
                    yield
            finally:
                if commit is not None:
                    commit.join()  # whatever went wrong, nothing is written once the caller lets go of the lock
            writer.wait_merging_threads()
            self._index.reload()

    def _document(self, document: documents.Document) -> tantivy.Document:
        made = self._tantivy.Document()
        made.add_unsigned("num", document.num)
        made.add_integer("day", documents.ordinal(document.day))
        own = " ".join(document.own)
        made.add_text("own", own)
        made.add_text("window", own if document.window is document.own else " ".join(document.window))
        for value in document.facets:
            made.add_text("facet", value)
        return made

    # -- asking

    def reload(self) -> None:
        """See what another process, or this one, committed since the last look."""
        with _failing(self._folder):
            # Looked at before, so that a commit in between is seen the next time.
            seen = _committed(self._folder)
            if seen is not None and seen == self._seen:
                return
            self._index.reload()
            self._searcher = self._index.searcher()
            self._seen = seen

    def count(self) -> int:
        """Return how many documents there are, those let go of but not yet merged away included."""
        return self._searcher.num_docs

    def frequency(self, field: str, term: str) -> int:
        """Return how many documents hold `term` in `field` (`own` or `window`)."""
        with _failing(self._folder):
            return self._searcher.doc_freq(field, term)

    def search(
        self, terms: Sequence[str], where: Filter, *, depth: int, any_words: bool = True
    ) -> dict[int, float]:
        """Return the numbers of the `depth` best documents with their scores.

        Without `any_words`, what passes the filter is found even when it holds none of the terms.
        """
        with _failing(self._folder):
            query = self._query(terms, where, any_words=any_words)
            if query is None:
                return {}
            hits = self._searcher.search(query, depth, False).hits  # noqa: FBT003 - tantivy takes no keyword here
            nums = self._searcher.fast_field_values("num", [address for _, address in hits])
        return {int(num): float(score) for (score, _), num in zip(hits, nums, strict=True) if num is not None}

    def _query(self, terms: Sequence[str], where: Filter, *, any_words: bool) -> tantivy.Query | None:
        make, occur = self._tantivy.Query, self._tantivy.Occur
        words: list[tuple[tantivy.Occur, tantivy.Query]] = []
        for term in terms:
            for field, weight in (("own", OWN), ("window", WINDOW)):
                one = make.term_query(self._schema, field, term, "freq")
                boost = weight * tokens.heft(term)
                words.append((occur.Should, make.boost_query(one, boost) if boost != 1.0 else one))
        limits = [(occur.Must, make.const_score_query(one, 0.0)) for one in self._limits(where)]
        if not any_words:
            return make.boolean_query([*limits, *words]) if limits else None
        if not words:
            return None
        spoken = make.boolean_query(words)
        return make.boolean_query([(occur.Must, spoken), *limits]) if limits else spoken

    def _limits(self, where: Filter) -> Iterator[tantivy.Query]:
        """Yield one query for each field of the filter that is given."""
        make = self._tantivy.Query
        for name, values in where.alternatives.items():
            facets = [documents.facet(name, value) for value in values]
            yield make.term_set_query(self._schema, "facet", facets)
        for tag in where.tags:
            yield make.term_query(self._schema, "facet", documents.facet("tag", tag))
        if where.since or where.until:
            kind = self._tantivy.FieldType.Integer
            first, last = documents.ordinal(where.since), documents.ordinal(where.until, documents.DAY_LAST)
            yield make.range_query(self._schema, "day", kind, first, last)


class _Beside(threading.Thread):
    """A call on a thread of its own, begun at once; the interpreter is free while tantivy works."""

    def __init__(self, call: Callable[[], object]) -> None:
        super().__init__(daemon=True)
        self._call = call
        self._done = False
        self._failed: Exception | None = None
        self.start()

    def run(self) -> None:
        """Make the call."""
        try:
            self._call()
            self._done = True
        except (ValueError, OSError) as error:
            self._failed = error

    def result(self) -> None:
        """Wait for the call; raises what it raised, and ValueError when it was ended by anything else."""
        self.join()
        if not self._done:
            raise self._failed or ValueError("tantivy gave up")


def _committed(folder: Path) -> tuple[int, int, int] | None:
    """Return what changes with each commit, which renames a new file into its place; None for an index in memory."""
    try:
        status = (folder / "meta.json").stat()
    except OSError:
        return None
    return (status.st_ino, status.st_mtime_ns, status.st_size)


def intact(folder: Path, checked: str) -> str:
    """Check the files of a tantivy folder and return a note of what was seen, to be given back as `checked`.

    A file that stands in `checked` with its size and time unchanged is not read again. Raises IndexUnavailable
    naming the first file whose checksum is wrong, or that is none of ours; tantivy itself would answer wrongly, abort,
    or wait on it.
    """
    seen: dict[str, list[int]] = {}
    known = json.loads(checked) if checked else {}
    try:
        for path in sorted(folder.iterdir()):
            if not is_plain(path):  # a pipe would be waited for without end, a link leads elsewhere
                raise IndexUnavailable(f"{path} is none of the index's files; run `reverie reindex`")
            if path.suffix in {".json", ".lock", ""}:
                continue
            stat = path.stat()
            seen[path.name] = [stat.st_size, stat.st_mtime_ns]
            if known.get(path.name) != seen[path.name] and not _sound(path):
                raise IndexUnavailable(f"{path} is damaged; run `reverie reindex`")
    except OSError as error:
        raise IndexUnavailable(f"{folder} cannot be read: {error}") from error
    return json.dumps(seen)


def _sound(path: Path) -> bool:
    """Return whether the CRC-32 in the footer of a tantivy file is that of its body."""
    size = path.stat().st_size
    with path.open("rb") as file:
        if size < struct.calcsize("<II"):
            return False
        file.seek(size - 8)
        length, magic = struct.unpack("<II", file.read(8))
        body = size - 8 - length
        if magic != _MAGIC or body < 0:
            return False
        file.seek(body)
        try:
            expected = json.loads(file.read(length))["crc"]
        except (ValueError, KeyError, TypeError, RecursionError):
            return False
        file.seek(0)
        crc = 0
        while body > 0:
            part = file.read(min(_PART, body))
            if not part:
                return False
            crc = zlib.crc32(part, crc)
            body -= len(part)
    return bool(crc == expected)


def _schema(engine: ModuleType) -> tantivy.Schema:
    builder: tantivy.SchemaBuilder = engine.SchemaBuilder()
    builder.add_unsigned_field("num", indexed=True, fast=True)
    builder.add_integer_field("day", indexed=True, fast=True)
    builder.add_text_field("own", tokenizer_name="plain", index_option="freq")
    builder.add_text_field("window", tokenizer_name="plain", index_option="freq")
    builder.add_text_field("facet", tokenizer_name="raw", index_option="basic")
    return builder.build()


def _clear(folder: Path) -> None:
    """Leave an empty folder at `folder`, whatever stood there."""
    if folder.is_dir() and not folder.is_symlink():
        shutil.rmtree(folder)
    else:
        folder.unlink(missing_ok=True)  # to remove a pipe as if it were a folder would wait for its other end
    folder.parent.mkdir(mode=0o700, exist_ok=True)  # what may not be made is told as such, not as missing
    folder.mkdir(mode=0o700)


@contextmanager
def _failing(folder: Path) -> Iterator[None]:
    """Turn the errors tantivy and the file system raise into ours."""
    try:
        yield
    except ValueError as error:  # what tantivy raises for everything
        if "LockBusy" in str(error):
            raise Busy("another process is writing the search index; try again shortly") from error
        reason = str(error).split("\n", maxsplit=1)[0]
        unwritable = bool(_UNWRITABLE.search(str(error)))
        message = f"{folder} cannot be used ({reason}); run `reverie reindex`"
        raise IndexUnavailable(message, unwritable=unwritable) from error
    except OSError as error:
        message = f"{folder} cannot be used: {error}"
        raise IndexUnavailable(message, unwritable=is_unwritable(error)) from error
