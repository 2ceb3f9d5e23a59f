"""Measure embedders on this machine and print one table.

Run `python -m benchmarks.embedders [NAMES...]`: names as in the setting `embedder`, by default the offline ones that
are installed. Each is measured in a process of its own: seconds until the first vector (weights verified and loaded),
texts a second in batches of 64, by the clock and for each second of a core, the time of one text and of the 8,000
characters an embedder sees at most, and the memory beyond a process that has imported numpy and Reverie. On a machine
that does something else too, compare the texts for each second of a core.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.invented import Inventor

from reverie.core.settings.value import Settings
from reverie.index.embed.choosing import open_embedder
from reverie.index.embed.packaged import PACKAGES
from reverie.index.embedder import BATCH, LONGEST, Embedder

TEXTS = 320  # entries of the size that memories have: one or two sentences, a quarter of them Chinese
SINGLE = 40

_CHILD = "import sys; from benchmarks.embedders import measure; measure(sys.argv[1])"
_HEAD = (
    "| embedder | dimension | first vector (s) | texts/s by 64 | texts/s of a core | one text (ms) |"
    " 8,000 characters (ms) | memory (MB) |"
)


def main() -> None:
    """Print the table."""
    names = sys.argv[1:] or [package.name for package in PACKAGES if package.folder() is not None]
    print(f"{_HEAD}\n|---|---|---|---|---|---|---|---|")
    for name in names:
        done = subprocess.run(  # noqa: S603 - this module, with a name of an embedder
            [sys.executable, "-c", _CHILD, name],
            check=True,
            capture_output=True,
            text=True,
        )
        told = json.loads(done.stdout.splitlines()[-1])
        print(
            f"| `{name}` | {told['dimension']} | {told['first']:.2f} | {told['batched']:.0f} |"
            f" {told['core']:.0f} | {told['single']:.1f} |"
            f" {told['longest']:.0f} | {told['memory']:.0f} |"
        )


def measure(name: str) -> None:
    """Measure one embedder in this process and print what was found as one line of JSON."""
    import numpy as np

    embedder = open_embedder(Settings(embedder=name))
    if embedder is None:
        sys.exit(f"no embedder: {name}")
    inventor = Inventor()
    texts = [inventor.text() for _ in range(TEXTS)]
    before = _resident()
    first = _seconds(embedder, ["tea"])
    begun = time.process_time()
    batched = sum(_seconds(embedder, texts[at : at + BATCH]) for at in range(0, TEXTS, BATCH))
    spent = time.process_time() - begun
    single = [_seconds(embedder, [text]) for text in texts[:SINGLE]]
    found = {
        "dimension": embedder.dimension,
        "first": first,
        "batched": TEXTS / batched,
        "core": TEXTS / spent,
        "single": 1000 * float(np.median(single)),
        "longest": 1000 * _seconds(embedder, [" ".join(texts)[:LONGEST]]),
        "memory": (_resident() - before) / 1e6,
    }
    print(json.dumps(found))


def _seconds(embedder: Embedder, texts: list[str]) -> float:
    started = time.perf_counter()
    embedder.embed(texts)
    return time.perf_counter() - started


def _resident() -> int:
    """Return the bytes of memory this process holds now; 0 where the system does not say."""
    try:
        with Path("/proc/self/status").open(encoding="ascii") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS"))
    except OSError:
        return 0


if __name__ == "__main__":
    main()
