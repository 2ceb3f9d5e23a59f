"""Each backend of the index beside the other: words, vectors and both, over the same invented rows.

Run `python -m benchmarks.index_backends [--sizes 10000,100000] [--backends embedded,lancedb]`. Each index is made by
one process and asked by another, whose memory is the one that is shown. Vectors are drawn from a hash of the text (512
numbers, what the offline embedder of the extra makes), so nothing here measures an embedder; a question takes the
vector of a row that answers it, with noise. Keyword, vector and hybrid are the calls that recall makes: `search`
without a vector, with a vector and no word, and with both.
"""

from __future__ import annotations

import argparse
import json
import os
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
from reverie.core.records import Entry
from reverie.core.search.query import Query, parse
from reverie.core.search.rows import Filter, Row
from reverie.core.settings.value import Settings
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
    " | hybrid, CPU | hybrid, filtered | one row until found by words | … and by meaning | memory"
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


def build(backend: str, number: int, folder: Path) -> dict[str, str]:
    """Make the index and return the part of a line that making it fills."""
    rows = [row_of(fold(entry, ())) for entry in islice(Inventor().entries(), number)]
    index = _opened(backend, folder)
    line = {"backend": backend, "rows": f"{number:,}"}
    line["rows fed"] = _took(lambda: _fed(index, rows))
    line["words taken in"] = _took(index.commit)
    line["vectors stored"] = _took(index.embed)
    if index.vectorless():
        raise RuntimeError(index.trouble())
    index.close()
    (folder / ".index" / "embedded.db").unlink(missing_ok=True)
    line["disk"] = f"{sum(one.stat().st_size for one in folder.rglob('*') if one.is_file()) / 1e6:.0f} MB"
    return line


def ask(backend: str, number: int, folder: Path) -> dict[str, str]:
    """Ask the index and return the rest of the line."""
    inventor = Inventor()
    step, picked, new = number // ASKED, list[Entry](), list[Row]()
    for place, entry in enumerate(islice(inventor.entries(), number + APPENDED)):
        if place >= number:
            new.append(row_of(fold(entry, ())))
        elif place % step == 0:
            picked.append(entry)
    asked = [(parse(inventor.question(one), one.at.date()), row_of(fold(one, ())).text) for one in picked]
    began = time.perf_counter()
    index = _opened(backend, folder)
    index.search(asked[0][0], vector=index.meaning(asked[0][1]))
    line = {"first answer": span(time.perf_counter() - began)}
    line |= _answers(index, asked)
    line |= _appended(index, new)
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
    where, wordless, found = Filter(categories=("decision",)), parse("", date(2026, 7, 1)), 0
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
    began = time.process_time()
    for query, text in asked:
        index.search(query, vector=index.meaning(text))
    used = span((time.process_time() - began) / len(asked))
    return {
        "keyword": str(words),
        "vector": str(meaning),
        "hybrid": str(hybrid),
        "hybrid, CPU": used,
        "hybrid, filtered": str(filtered),
    }


def _appended(index: SearchIndex, rows: Sequence[Row]) -> dict[str, str]:
    by_words, by_meaning = Times(), Times()
    for row in rows:
        by_words.take(lambda row=row: index.rows.upsert([row]))
        by_meaning.take(index.embed)
    return {"one row until found by words": str(by_words), "… and by meaning": str(by_meaning)}


def main() -> None:
    """Print the table, with a process for making each index and one for asking it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="10000,100000")
    parser.add_argument("--backends", default="embedded,lancedb")
    parser.add_argument(
        "--part", nargs=4, metavar=("PART", "BACKEND", "ROWS", "FOLDER"), help=argparse.SUPPRESS
    )
    told = parser.parse_args()
    if told.part:
        part, backend, number, folder = told.part
        print(json.dumps({"build": build, "ask": ask}[part](backend, int(number), Path(folder))))
        return
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    machine = f"{sys.platform}, {cores()} cores, load {load:.1f}; CPython {sys.version.split()[0]}"
    print(f"`{machine}; {DIMENSION} numbers a vector`\n")
    names = [name.strip() for name in HEAD.split("|")]
    print(f"| {' | '.join(names)} |\n|{'---|' * len(names)}")
    for number in told.sizes.split(","):
        for backend in told.backends.split(","):
            with tempfile.TemporaryDirectory() as folder:
                line = _part("build", backend, number, folder) | _part("ask", backend, number, folder)
            print(f"| {' | '.join(line[name] for name in names)} |", flush=True)


def _part(*part: str) -> dict[str, str]:
    command = [sys.executable, "-m", "benchmarks.index_backends", "--part", *part]
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - this file
    line: dict[str, str] = json.loads(done.stdout)
    return line


if __name__ == "__main__":
    main()
