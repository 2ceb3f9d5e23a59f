"""Each backend of the index beside the other: words, vectors and both, over the same invented rows.

Run `python -m benchmarks.index_backends [--sizes 10000,100000] [--backends embedded,lancedb]`. Every line of the table
is a process of its own, so that its memory is its own. Vectors are drawn from a hash of the text (512 numbers, what the
offline embedder of the extra makes), so nothing here measures an embedder; a question takes the vector of a row that
answers it, with noise. Keyword, vector and hybrid are the calls that recall makes: `search` without a vector, the scan
alone, and `search` with one.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from datetime import date
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.invented import Inventor
from benchmarks.stopwatch import Times, cores, span

from reverie.core.fold import fold
from reverie.core.query import Query, parse
from reverie.core.rows import Filter, Row
from reverie.core.settings import Settings
from reverie.index.choosing import open_index
from reverie.index.feeding import row_of
from reverie.index.search import SearchIndex

if TYPE_CHECKING:
    from reverie.index.embedder import Vectors

DIMENSION = 512
ASKED = 100
APPENDED = 20
HEAD = (
    "backend | rows | rows fed | words taken in | vectors stored | disk | first answer | keyword | vector | hybrid"
    " | hybrid, filtered | one row until found by words | … and by meaning | memory"
)


class Drawn:
    """An embedder that draws a text's vector from its hash."""

    name = "drawn"
    dimension = DIMENSION

    def fingerprint(self) -> str:
        """Return what its vectors are: always the same."""
        return f"drawn {DIMENSION}"

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """Return a vector of length one for each text; a question's lies beside that of the text it repeats."""
        import numpy as np

        rows = np.empty((len(texts), DIMENSION), np.float32)
        for place, text in enumerate(texts):
            seed = int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")
            rows[place] = np.random.default_rng(seed).standard_normal(DIMENSION, np.float32)
        if query:
            rows += 0.5 * np.random.default_rng(0).standard_normal(DIMENSION, np.float32)
        unit: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit


def measure(backend: str, number: int, folder: Path) -> dict[str, str]:
    """Return one line of the table."""
    inventor = Inventor()
    entries = list(islice(inventor.entries(), number + APPENDED))
    rows = [row_of(fold(entry, ())) for entry in entries]
    questions = [
        (inventor.question(entries[place]), rows[place].text) for place in range(0, number, number // ASKED)
    ]
    line = {"backend": backend, "rows": f"{number:,}"}
    index = _opened(backend, folder)
    line["rows fed"] = _took(lambda: _fed(index, rows[:number]))
    line["words taken in"] = _took(index.commit)
    line["vectors stored"] = _took(index.embed)
    if index.vectorless():
        raise RuntimeError(index.trouble())
    index.close()
    (folder / ".index" / "embedded.db").unlink(missing_ok=True)
    line["disk"] = f"{sum(one.stat().st_size for one in folder.rglob('*') if one.is_file()) / 1e6:.0f} MB"
    asked = [(parse(question, entries[0].at.date()), text) for question, text in questions]
    began = time.perf_counter()
    index = _opened(backend, folder)
    index.search(asked[0][0], vector=index.meaning(asked[0][1]))
    line["first answer"] = span(time.perf_counter() - began)
    line |= _answers(index, asked)
    line |= _appended(index, rows[number:])
    index.close()
    line["memory"] = f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB"
    return line


def _opened(backend: str, folder: Path) -> SearchIndex:
    settings = Settings(index="lancedb" if backend == "lancedb" else "embedded")
    index = open_index(settings, folder, name="bench", embedder=Drawn(), lock=lambda _: nullcontext())
    if not isinstance(index, SearchIndex):
        raise TypeError(index)
    return index


def _took(work: Callable[[], object]) -> str:
    times = Times()
    times.take(work)
    return span(times.wall[0])


def _fed(index: SearchIndex, rows: Sequence[Row]) -> None:
    for start in range(0, len(rows), 2_000):
        index.rows.upsert(rows[start : start + 2_000])


def _answers(index: SearchIndex, asked: Sequence[tuple[Query, str]]) -> dict[str, str]:
    """Measure the searches of each kind; every hybrid one must find the row whose vector was asked for."""
    words, meaning, hybrid, filtered = Times(), Times(), Times(), Times()
    where, found = Filter(categories=("decision",)), 0
    wordless = parse("", date(2026, 7, 1))
    for query, text in asked:
        vector = index.meaning(text)
        both: list[str] = []
        words.take(lambda query=query: index.search(query))
        meaning.take(lambda vector=vector: index.search(wordless, vector=vector))
        hybrid.take(
            lambda query=query, vector=vector, both=both: both.extend(
                one.row.text for one in index.search(query, vector=vector)
            )
        )
        filtered.take(lambda query=query, vector=vector: index.search(query, where=where, vector=vector))
        found += text in both
    if found < len(asked):
        message = f"{len(asked) - found} of {len(asked)} rows were not found by their vectors"
        raise RuntimeError(message)
    return {
        "keyword": str(words),
        "vector": str(meaning),
        "hybrid": str(hybrid),
        "hybrid, filtered": str(filtered),
    }


def _appended(index: SearchIndex, rows: Sequence[Row]) -> dict[str, str]:
    by_words, by_meaning = Times(), Times()
    for row in rows:
        by_words.take(lambda row=row: index.rows.upsert([row]))
        by_meaning.take(index.embed)
    return {"one row until found by words": str(by_words), "… and by meaning": str(by_meaning)}


def main() -> None:
    """Print the table, one process for each line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="10000,100000")
    parser.add_argument("--backends", default="embedded,lancedb")
    parser.add_argument("--one", nargs=3, metavar=("BACKEND", "ROWS", "FOLDER"))
    told = parser.parse_args()
    if told.one:
        print(json.dumps(measure(told.one[0], int(told.one[1]), Path(told.one[2]))))
        return
    print(
        f"`{sys.platform}, {cores()} cores; CPython {sys.version.split()[0]}; {DIMENSION} numbers a vector`\n"
    )
    names = [name.strip() for name in HEAD.split("|")]
    print(f"| {' | '.join(names)} |\n|{'---|' * len(names)}")
    for number in told.sizes.split(","):
        for backend in told.backends.split(","):
            with tempfile.TemporaryDirectory() as folder:
                command = [
                    sys.executable,
                    "-m",
                    "benchmarks.index_backends",
                    "--one",
                    backend,
                    number,
                    folder,
                ]
                done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - this file
                line = json.loads(done.stdout)
            print(f"| {' | '.join(line[name] for name in names)} |", flush=True)


if __name__ == "__main__":
    main()
