"""Where nothing can be written (a full disk, a read-only folder) recall goes on, and nothing is left out afterwards."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import reverie
from reverie import Opening
from reverie.index import rows_file
from reverie.index.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Callable

# Every write beyond byte 0 of any file fails, as on a full disk, whoever the user is.
CHILD = """
import json, resource, signal, sys
from pathlib import Path
import reverie
from reverie import Opening
from reverie.testing import ToyEmbedder
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

def full():
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))

def room():
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

toy = ToyEmbedder() if {toy} else None
memory = reverie.open(Opening(path=Path({root!r}), flags={{"embedder": "none"}}, embedder=toy))
def asked(query="lives"):
    found = memory.recall(query, k=100)
    return [sorted(hit.text for hit in found.hits), found.behind]
{body}
"""


def texts(first: int, last: int) -> list[str]:
    """Return what is remembered: each entry has a word of its own."""
    return [f"Person{n} lives in Town{n}" for n in range(first, last)]


def remember(root: Path, first: int, last: int) -> None:
    """Remember and drain entries, without a search."""
    memory = reverie.init(Opening(path=root, flags={"embedder": "none"}))
    for text in texts(first, last):
        memory.remember(text)
    memory.drain()
    memory.close()


def run(root: Path, body: str, *, toy: bool = False) -> object:
    """Run `body` in a process of its own and return what it printed."""
    code = CHILD.format(root=str(root), toy=toy, body=body)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def seen(root: Path) -> list[str]:
    """Return what an opening with room finds."""
    memory = reverie.open(Opening(path=root, flags={"embedder": "none"}))
    found = sorted(hit.text for hit in memory.recall("lives", k=100).hits)
    memory.close()
    return found


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace with twenty entries in its index, and twenty more that only its files have."""
    remember(tmp_path / "m", 0, 20)
    seen(tmp_path / "m")
    remember(tmp_path / "m", 20, 40)
    return tmp_path / "m"


def no_index(root: Path) -> None:
    """Remove the index."""
    shutil.rmtree(root / ".index")


def no_text(root: Path) -> None:
    """Remove the words of the index."""
    shutil.rmtree(root / ".index" / "text")


def no_rows(root: Path) -> None:
    """Remove the rows."""
    rows_file.remove(root / ".index" / "rows.db")


def damaged(root: Path) -> None:
    """Spoil rows and words."""
    (root / ".index/rows.db").write_bytes(b"no database" * 1000)
    for path in (root / ".index/text").iterdir():
        path.write_bytes(b"")


def left_open(root: Path) -> None:
    """Leave the rows as a process that was killed does, with what it wrote last in their log."""
    killed = "import os\nasked()\nprint('null', flush=True)\nos.kill(os.getpid(), 9)"
    code = CHILD.format(root=str(root), toy=False, body=killed)
    subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (root / ".index/rows.db-wal").stat().st_size > 0


STATES: list[Callable[[Path], object]] = [lambda _: None, no_index, no_text, no_rows, damaged, left_open]


@pytest.mark.slow
@pytest.mark.parametrize(
    "prepare", STATES, ids=["behind", "no_index", "no_text", "no_rows", "damaged", "left_open"]
)
def test_recall_finds_everything_on_a_full_disk(root: Path, prepare: Callable[[Path], object]) -> None:
    """With no byte to be written, whatever state the index is in, recall finds all; with room again, too."""
    prepare(root)
    assert run(root, "full()\nprint(json.dumps([asked(), asked()]))") == [[sorted(texts(0, 40)), 0]] * 2
    assert seen(root) == sorted(texts(0, 40))


@pytest.mark.slow
def test_a_disk_may_fill_while_the_memory_is_open(root: Path) -> None:
    """When the disk fills under an open memory, what others stored and what is stored later is found too."""
    body = f"""
before = asked()
other = reverie.open(Opening(path=Path({str(root)!r}), flags={{"embedder": "none"}}))
for n in range(40, 60):
    other.remember(f"Person{{n}} lives in Town{{n}}")
other.drain()
full()
first = asked()
room()
for n in range(60, 80):
    other.remember(f"Person{{n}} lives in Town{{n}}")
other.drain()
full()
print(json.dumps([before, first, asked()]))
"""
    expected = [[sorted(texts(0, n)), 0] for n in (40, 60, 80)]
    assert run(root, body) == expected
    assert seen(root) == sorted(texts(0, 80))


@pytest.mark.slow
def test_meaning_is_given_up_and_words_are_not(root: Path) -> None:
    """With an embedder, a full disk leaves search by words; no error comes out of vectors that cannot be stored."""
    body = "first = asked()\nfull()\nprint(json.dumps([first, asked(), memory.recall('Person30', k=1).hits[0].text]))"
    whole = [sorted(texts(0, 40)), 0]
    assert run(root, body, toy=True) == [whole, whole, "Person30 lives in Town30"]
    no_index(root)
    assert run(root, "full()\nprint(json.dumps(asked()))", toy=True) == whole


def test_rows_retreat_as_they_are(tmp_path: Path) -> None:
    """Rows that retreat into memory hold what they held, say so, and leave the file as it is."""
    rows = Rows(tmp_path)
    rows.set_meta("kept", "yes")
    assert (rows.in_memory, rows.fresh) == (False, True)
    rows.fresh = False
    rows.retreat()
    rows.retreat()
    assert (rows.in_memory, rows.fresh, rows.meta("kept")) == (True, False, "yes")
    rows.set_meta("kept", "no")
    again = Rows(tmp_path)
    assert (again.in_memory, again.meta("kept")) == (False, "yes")
    rows.reset()
    assert (rows.in_memory, rows.fresh, rows.meta("kept")) == (True, True, "")
    again.close()
    rows.close()


@pytest.mark.slow
def test_a_newer_index_is_left_alone_on_a_full_disk(root: Path) -> None:
    """An index of a newer layout is not touched where nothing can be written either; the files serve."""
    body = """
import sqlite3
path = Path(memory.opened.ws.root) / ".index/rows.db"
db = sqlite3.connect(path)
db.execute("PRAGMA user_version = 99")
db.close()
before = path.read_bytes()
full()
print(json.dumps([asked(), path.read_bytes() == before]))
"""
    assert run(root, body) == [[sorted(texts(0, 40)), 0], True]
