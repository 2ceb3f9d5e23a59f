"""An index in LanceDB, for very large workspaces or ones whose index lies on an object store.

Owns the tables of one workspace in a folder or at an address; promises that a table is never written over while
somebody reads it (each build makes one of its own, and the note of its name in `rows.db` changes last), that tables no
note speaks of are dropped by the next build, and that an error of the engine is IndexUnavailable; never holds a text:
terms, filter values and vectors, and the rows stay in `rows.db`.

The engine keeps an old version of a table after each write. They are let go of every `SETTLED` writes, those older than
ten minutes only: whoever reads holds one for the length of a search. Joining files and extending indexes writes both
anew, so while many rows are taken in it is done when as many came as half of those there were: what is written over
follows the number of rows.
"""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from reverie.core.search.rank import OWN, WINDOW
from reverie.core.search.rows import Filter
from reverie.errors import IndexUnavailable
from reverie.index import documents
from reverie.index.ground import is_ours
from reverie.index.rows import Rows

if TYPE_CHECKING:
    import lancedb
    import pyarrow as pa

LAYOUT: Final = 1  # of the tables; part of the stamp
SETTLED: Final = 50  # writes after which small files are joined and old versions let go of
KEPT: Final = timedelta(minutes=10)  # how long an old version is
_SAMPLE: Final = 1_000  # documents from which frequencies are estimated
_AT_ONCE: Final = 1_000  # numbers in one condition
_MUCH: Final = 20_000  # rows that are worth joining files for, while more come
_NOTE: Final = "lance"
_ADDRESS: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


class Tables:
    """The tables of one workspace; connected when first used."""

    def __init__(self, url: str, name: str) -> None:
        """Use the folder or address `url`; `name` tells the workspace from others that use it too."""
        self.url, self.name = url, name
        self._db: lancedb.DBConnection | None = None

    @property
    def db(self) -> lancedb.DBConnection:
        """The connection. Raises IndexUnavailable."""
        if self._db is None:
            # It writes to the terminal whenever it makes a table, unless told not to before it is loaded.
            os.environ.setdefault("LANCE_LOG", "error")
            try:
                import lancedb  # 400 MB that only this backend needs
            except ImportError as error:
                raise IndexUnavailable(
                    "index is \"lancedb\", which is not installed: pip install 'reverie[lancedb]'"
                ) from error
            with failing(self.url):
                if not _ADDRESS.match(self.url):
                    _make_folder(Path(self.url))
                self._db = lancedb.connect(self.url, read_consistency_interval=timedelta(0))
        return self._db

    def make(self, part: str, schema: pa.Schema) -> tuple[int, Any]:
        """Make an empty table of its own and return its number and the table."""
        number = time.time_ns()
        with failing(self.url):
            return number, self.db.create_table(self._named(part, number), schema=schema)

    def open(self, part: str, number: int) -> Any:  # noqa: ANN401 - lancedb's table
        """Open the table of that number. Raises IndexUnavailable."""
        with failing(self.url):
            return self.db.open_table(self._named(part, number))

    def keep_only(self, part: str, number: int) -> None:
        """Drop this workspace's tables of that part with another number."""
        with failing(self.url):
            for name in self.db.list_tables().tables:
                if name.startswith(self._named(part, "")) and name != self._named(part, number):
                    self.db.drop_table(name)

    def _named(self, part: str, number: object) -> str:
        return f"{self.name}-{part}-{number}"


class LanceWords:
    """Where the words of one workspace lie."""

    def __init__(self, tables: Tables, rows: Rows) -> None:
        """Keep the table's number in the file of `rows`."""
        self._tables, self._rows = tables, rows

    @property
    def stamp(self) -> str:
        """What built it, and where: at another address there is none."""
        return f"lance.{LAYOUT}:{self._tables.url}"

    def intact(self, checked: str) -> str:
        """Return the note again when the table can be opened; a file in it that is damaged shows itself when read."""
        self._tables.open("words", self._number())
        return checked

    def open(self, *, fresh: bool = False) -> OpenWords:
        """Open the table, or make it anew, empty, and drop the one before."""
        if fresh:
            number, table = self._tables.make("words", _schema())
            with failing(self._tables.url):
                _index_words(table)
            self._rows.set_meta(_NOTE, str(number))
            self._tables.keep_only("words", number)
        return OpenWords(self)

    def table(self) -> tuple[int, Any]:
        """Return the table that the note names now, with its number."""
        number = self._number()
        return number, self._tables.open("words", number)

    def _number(self) -> int:
        noted = self._rows.meta(_NOTE)
        return int(noted) if noted.isdecimal() else 0


class OpenWords:
    """An open table of words."""

    def __init__(self, place: LanceWords) -> None:
        """Open the table that `place` names."""
        self._place = place
        self._number, self._table = place.table()
        self._sample: dict[str, Counter[str]] = {}
        self._sampled = 0
        self._seen: tuple[int, int] = (-1, 0)  # version and number of documents

    def write(self, batches: Iterable[tuple[Sequence[int], Iterable[documents.Document]]]) -> Iterator[None]:
        """Take in batches; yields after each one is kept."""
        import pyarrow as pa

        waiting = 0
        for old, new in batches:
            with failing(self._number):
                added = [_record(document) for document in new]
                kept = {record["num"] for record in added}
                delete(self._table, "num", numbers=[num for num in old if num not in kept])
                if added:
                    data = pa.Table.from_pylist(added, schema=_schema())
                    if old:
                        merge = self._table.merge_insert("num").when_matched_update_all()
                        merge.when_not_matched_insert_all().execute(data)
                    else:
                        self._table.add(data)
                waiting += len(added)
                if waiting > max(_MUCH, self._table.count_rows() // 3):
                    settle(self._table, much=True)
                    waiting = 0
            yield
        with failing(self._number):
            settle(self._table, much=waiting > _AT_ONCE)
        self._sample, self._seen = {}, (-1, 0)

    def reload(self) -> None:
        """See what was written since the last look, in a table made anew too."""
        with failing(self._number):
            number, table = self._place.table()
            if number != self._number:
                self._sample = {}
            self._number, self._table = number, table

    def count(self) -> int:
        """Return how many documents there are."""
        with failing(self._number):
            version = self._table.version
            if self._seen[0] != version:
                self._seen = version, self._table.count_rows()
            return self._seen[1]

    def frequency(self, field: str, term: str) -> int:
        """Return about how many documents hold `term`: the engine counts none, so a thousand of them are looked at."""
        if not self._sample:
            with failing(self._number):
                texts = self._table.search().select(["own", "window"]).limit(_SAMPLE).to_arrow().to_pydict()
            self._sampled = len(texts["own"])
            self._sample = {
                name: Counter(term for text in texts[name] for term in set(text.split(" "))) for name in texts
            }
        held = self._sample[field][term]
        if self._sampled < _SAMPLE:
            return held
        return max(1, held * self.count() // self._sampled)

    def search(
        self, terms: Sequence[str], where: Filter, *, depth: int, any_words: bool = True
    ) -> dict[int, float]:
        """Return the numbers of the `depth` best documents with their scores."""
        found: dict[int, float] = {}
        limits = condition(where)
        with failing(self._number):
            if terms and self.count():
                asked = self._table.search(_query(terms), query_type="fts").select(["num", "_score"])
                hits = _limited(asked, limits).limit(depth).to_arrow().to_pydict()
                found = dict(zip(hits["num"], hits["_score"], strict=True))
            if not any_words and limits and len(found) < depth:
                more = (
                    _limited(self._table.search().select(["num"]), limits).limit(depth).to_arrow().to_pydict()
                )
                for num in more["num"]:
                    if len(found) < depth:
                        found.setdefault(num, 0.0)
        return found


def condition(where: Filter) -> str:
    """Return the filter as the engine takes it; empty when it allows all."""
    parts = [
        f"array_has_any(facets, [{', '.join(_quoted(documents.facet(name, value)) for value in values)}])"
        for name, values in where.alternatives.items()
    ]
    parts += [f"array_has_any(facets, [{_quoted(documents.facet('tag', tag))}])" for tag in where.tags]
    if where.since:
        parts.append(f"day >= {documents.ordinal(where.since)}")
    if where.until:
        parts.append(f"day <= {documents.ordinal(where.until, documents.DAY_LAST)}")
    return " AND ".join(parts)


def delete(table: Any, column: str, *, numbers: Sequence[int]) -> None:  # noqa: ANN401 - lancedb's table
    """Delete the rows of a table with these numbers."""
    for start in range(0, len(numbers), _AT_ONCE):
        part = ", ".join(map(str, numbers[start : start + _AT_ONCE]))
        table.delete(f"{column} IN ({part})")


def settle(table: Any, *, much: bool) -> None:  # noqa: ANN401 - lancedb's table
    """Join small files, take new rows into the indexes and let old versions go, after much or every SETTLED writes."""
    if much or table.version % SETTLED < 3:  # noqa: PLR2004 - one write makes up to three versions
        table.optimize(cleanup_older_than=KEPT)


@contextmanager
def failing(what: object) -> Iterator[None]:
    """Turn the errors the engine raises into ours."""
    try:
        yield
    except (ValueError, RuntimeError, OSError) as error:
        reason = str(error).split("\n", maxsplit=1)[0][:200]
        raise IndexUnavailable(
            f"the LanceDB index {what} cannot be used ({reason}); run `reverie reindex`"
        ) from error


def _limited(asked: Any, limits: str) -> Any:  # noqa: ANN401 - lancedb's query
    return asked.where(limits, prefilter=True) if limits else asked


def _query(terms: Sequence[str]) -> Any:  # noqa: ANN401 - lancedb's query
    from lancedb.query import BooleanQuery, MatchQuery, Occur

    text = " ".join(terms)
    return BooleanQuery(
        [
            (Occur.SHOULD, MatchQuery(text, "own", boost=OWN)),
            (Occur.SHOULD, MatchQuery(text, "window", boost=WINDOW)),
        ]
    )


def _schema() -> pa.Schema:
    import pyarrow as pa

    return pa.schema(
        [
            pa.field("num", pa.int64()),
            pa.field("day", pa.int32()),
            pa.field("own", pa.string()),
            pa.field("window", pa.string()),
            pa.field("facets", pa.list_(pa.string())),
        ]
    )


def _index_words(table: Any) -> None:  # noqa: ANN401 - lancedb's table
    """Let the engine index both views, term by term as `core.text.tokens` cut them."""
    from lancedb.index import FTS

    plain = FTS(
        base_tokenizer="whitespace",
        lower_case=False,
        stem=False,
        remove_stop_words=False,
        ascii_folding=False,
        max_token_length=None,
    )
    for field in ("own", "window"):
        table.create_index(field, config=plain)


def _record(document: documents.Document) -> dict[str, object]:
    return {
        "num": document.num,
        "day": documents.ordinal(document.day),
        "own": " ".join(document.own),
        "window": " ".join(document.window),
        "facets": list(document.facets),
    }


def _quoted(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _make_folder(folder: Path) -> None:
    """Make the folder of the tables, whatever file stands in its place. Raises IndexUnavailable for a stranger's."""
    if not is_ours(folder):
        if folder.is_dir() or folder.is_symlink():
            raise IndexUnavailable(f"{folder} is a link or not yours: remove it, and it is built anew")
        folder.unlink()
    for path in folder.glob("*.lance") if folder.is_dir() else ():
        if path.is_symlink() or not path.is_dir():
            path.unlink()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
