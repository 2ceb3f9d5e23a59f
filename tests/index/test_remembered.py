"""The file of vectors made before: nothing is embedded twice, and nothing depends on the file."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import reverie
from reverie import layout
from reverie.errors import EmbedderFailed
from reverie.index.embed.remembered import LAYOUT, Remembered
from reverie.index.embedder import BATCH, LONGEST, unit_rows
from reverie.testing import ToyEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reverie.index.embedder import Vectors

TEXTS = [f"word{n} and tea" for n in range(BATCH * 2 + 10)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the file will be; its folder is not there yet."""
    return tmp_path / ".index" / "embedded.db"


def close_to(one: Vectors, other: Vectors) -> bool:
    """Whether two matrices hold the same vectors, but for half precision."""
    return one.shape == other.shape and bool(np.abs(one - other).max() < 1e-3)


def again(path: Path, **more: int) -> tuple[Remembered, ToyEmbedder]:
    """Return what a new process would open, and the embedder beneath."""
    toy = ToyEmbedder()
    return Remembered(toy, path, **more), toy


def test_nothing_is_embedded_twice(path: Path) -> None:
    """What was embedded once, by this process or an earlier one, is never asked for again, and comes back equal."""
    remembered, toy = again(path)
    first = remembered.embed(TEXTS)
    assert close_to(first, ToyEmbedder().embed(TEXTS))
    assert np.abs(np.linalg.norm(first, axis=1) - 1).max() < 1e-6
    assert (remembered.embed(TEXTS) == first).all()
    assert len(toy.asked) == len(TEXTS)
    remembered.close()
    later, toy = again(path)
    assert (later.embed([*TEXTS[::-1], "new"])[:-1] == first[::-1]).all()
    assert toy.asked == ["new"]


def test_equal_texts_are_asked_for_once(path: Path) -> None:
    """A text that stands twice in a call, or differs only beyond what an embedder sees, is asked for once."""
    remembered, toy = again(path)
    long = "x" * LONGEST
    rows = remembered.embed(["tea", long + "a", "tea", long + "b", "", "\n"])
    assert toy.asked == ["tea", long, "."]
    assert (rows[0] == rows[2]).all()
    assert (rows[1] == rows[3]).all()


def test_two_models_never_mix(path: Path) -> None:
    """Another model's vectors are not taken, of the same dimension or another, and both are kept (P-15)."""
    made = [
        Remembered(embedder, path).embed(TEXTS[:3])
        for embedder in (ToyEmbedder(), ToyEmbedder(model="b"), ToyEmbedder(32))
    ]
    assert not close_to(made[0], made[1])
    for embedder, rows in zip((ToyEmbedder(), ToyEmbedder(model="b"), ToyEmbedder(32)), made, strict=True):
        assert (Remembered(embedder, path).embed(TEXTS[:3]) == rows).all()
        assert embedder.calls == 0


def test_a_failure_keeps_what_was_made(path: Path) -> None:
    """When the embedder fails half way, the texts before it are not embedded again (R-24)."""
    toy = ToyEmbedder(fail_at=2)
    remembered = Remembered(toy, path)
    with pytest.raises(EmbedderFailed):
        remembered.embed(TEXTS)
    remembered.embed(TEXTS)
    assert toy.asked.count(TEXTS[0]) == 1
    assert toy.calls == 4


def test_a_text_at_fault_is_named_and_the_others_kept(path: Path) -> None:
    """Texts that the embedder refuses are named by their place, and all others are embedded and kept (P-01)."""
    toy = ToyEmbedder(refuses="poison")
    remembered = Remembered(toy, path)
    texts = [*TEXTS, "poison", "tea", "more poison", "poison"]
    with pytest.raises(EmbedderFailed) as caught:
        remembered.embed(texts)
    assert caught.value.at == (len(TEXTS), len(TEXTS) + 2, len(TEXTS) + 3)
    calls = toy.calls
    remembered.embed([*TEXTS, "tea"])
    assert toy.calls == calls


def test_a_text_found_at_fault_only_after_another_is_named_too(path: Path) -> None:
    """An embedder that names its refused texts one call after the other ends with all of them named rightly."""

    class Slow(ToyEmbedder):
        """Names the first refused text alone."""

        def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
            """Fail for the first text with `poison`."""
            for place, text in enumerate(texts):
                if "poison" in text:
                    raise EmbedderFailed("no", kind="refused", at=(place,))
            return super().embed(texts, query=query)

    with pytest.raises(EmbedderFailed) as caught:
        Remembered(Slow(), path).embed(["a poison", "tea", "b poison"])
    assert caught.value.at == (0, 2)
    with pytest.raises(EmbedderFailed) as caught:
        Remembered(Slow(), path).embed(["a poison"])
    assert caught.value.at == (0,)


def test_questions_are_kept_in_memory_alone(path: Path) -> None:
    """A question is asked once while the memory is open, and nothing of it is written."""
    remembered, toy = again(path)
    first = remembered.embed(["who?", "tea", "who?"], query=True)
    assert toy.asked == ["who?", "tea"]
    assert (remembered.embed(["tea", "who?"], query=True) == first[[1, 0]]).all()
    assert toy.calls == 1
    assert not path.exists()
    for n in range(300):
        remembered.embed([f"question {n}"], query=True)
    assert toy.calls == 301
    remembered.embed(["who?"], query=True)
    assert toy.calls == 302


def test_the_file_stays_within_its_bound(path: Path) -> None:
    """Beyond the bound the oldest vectors go, and the newest stay."""
    remembered, _ = again(path, most_bytes=2 * 64 * 50)
    for first in range(0, 200, 20):
        remembered.embed([f"text {n}" for n in range(first, first + 20)])
    remembered.close()
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT count(*) FROM vector").fetchone()[0] <= 50
    db.close()
    later, toy = again(path, most_bytes=2 * 64 * 50)
    later.embed([f"text {n}" for n in range(160, 200)])
    assert toy.calls == 0


def truncated(path: Path) -> None:
    """Cut the file in the middle."""
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def spoilt(path: Path) -> None:
    """Turn bits of every vector."""
    with sqlite3.connect(path) as db:
        for seq, body in db.execute("SELECT seq, body FROM vector").fetchall():
            worse = bytes(byte ^ 0x5A for byte in body)
            db.execute("UPDATE vector SET body = ? WHERE seq = ?", (worse[: len(body) - seq % 2], seq))
    db.close()


def foreign(path: Path) -> None:
    """Put somebody else's database in its place."""
    path.unlink()
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE theirs (x)")
    db.close()


DAMAGES: list[Callable[[Path], object]] = [
    Path.unlink,
    truncated,
    spoilt,
    foreign,
    lambda path: path.write_bytes(b""),
    lambda path: path.write_bytes(b"no database at all" * 1000),
    lambda path: path.write_bytes(path.read_bytes()[:100] + b"\xff" * 5000 + path.read_bytes()[5100:]),
]


@pytest.mark.parametrize("damage", DAMAGES, ids=range(len(DAMAGES)))
def test_damage_costs_time_alone(path: Path, damage: Callable[[Path], object]) -> None:
    """Whatever becomes of the file, the vectors are right; soon they are kept again."""
    remembered, _ = again(path)
    expected = remembered.embed(TEXTS)
    remembered.close()
    damage(path)
    for _ in range(2):  # damage may be found while reading, and mended at the next opening
        later, toy = again(path)
        assert close_to(later.embed(TEXTS), expected)
        later.close()
    last, toy = again(path)
    last.embed(TEXTS)
    assert toy.calls == 0


def test_a_newer_file_is_left_alone(path: Path) -> None:
    """A file of a newer layout is neither used nor touched."""
    path.parent.mkdir()
    with sqlite3.connect(path) as db:
        db.execute(f"PRAGMA user_version = {LAYOUT + 1}")
    db.close()
    before = path.read_bytes()
    remembered, toy = again(path)
    remembered.embed(TEXTS)
    remembered.close()
    assert toy.asked == TEXTS
    with sqlite3.connect(path) as db:
        assert db.execute("PRAGMA user_version").fetchone()[0] == LAYOUT + 1
        assert db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
    db.close()
    assert len(path.read_bytes()) == len(before)


def test_a_link_is_not_followed(path: Path, tmp_path: Path) -> None:
    """A link in the file's place is let go of, and what it leads to stays as it is."""
    other = tmp_path / "other.db"
    other.write_bytes(b"somebody's")
    path.parent.mkdir()
    path.symlink_to(other)
    remembered, _ = again(path)
    remembered.embed(TEXTS[:3])
    assert other.read_bytes() == b"somebody's"
    assert not path.is_symlink()


def test_a_folder_that_is_a_link_is_not_written_to(tmp_path: Path) -> None:
    """Where the index folder leads elsewhere nothing is kept, and the vectors are right."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".index").symlink_to(tmp_path / "elsewhere")
    remembered, _ = again(tmp_path / ".index" / "embedded.db")
    assert close_to(remembered.embed(TEXTS[:3]), ToyEmbedder().embed(TEXTS[:3]))
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_file_in_use_is_done_without(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While another process keeps the file, vectors are made and not kept; nothing fails."""
    monkeypatch.setattr("reverie.index.embed.remembered._WAIT_SECONDS", 0.01)
    remembered, _ = again(path)
    remembered.embed(TEXTS[:3])
    holding = sqlite3.connect(path, isolation_level=None)
    holding.execute("BEGIN EXCLUSIVE")
    assert close_to(remembered.embed(TEXTS[:6]), ToyEmbedder().embed(TEXTS[:6]))
    holding.execute("ROLLBACK")
    holding.close()
    remembered.close()
    later, toy = again(path)
    later.embed(TEXTS[:3])
    assert toy.calls == 0


def test_threads_share_it(path: Path) -> None:
    """Several threads may ask at once, each gets its own texts' vectors."""
    remembered, _ = again(path)
    wrong: list[int] = []

    def ask(n: int) -> None:
        texts = TEXTS[n * 10 : n * 10 + 30]
        if not close_to(remembered.embed(texts, query=n % 2 == 0), ToyEmbedder().embed(texts)):
            wrong.append(n)

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_server_that_wavers_is_one_model(path: Path) -> None:
    """A fingerprint that differs a little from run to run finds the vectors made before (P-15)."""

    class Wavering(ToyEmbedder):
        """Gives slightly different vectors each time it is made."""

        def __init__(self, seed: int) -> None:
            """Waver by `seed`."""
            super().__init__()
            self.noise = np.random.default_rng(seed)

        def fingerprint(self) -> str:
            """Return that of a probe."""
            from reverie.index.embedder import probed

            row = super().embed(["probe"])
            return probed(unit_rows(row + self.noise.normal(size=row.shape) * 1e-4, 1, name="x"))

    Remembered(Wavering(1), path).embed(TEXTS)
    later = Wavering(2)
    Remembered(later, path).embed(TEXTS)
    assert set(later.asked) == {"probe"}


def test_no_texts_are_no_vectors(path: Path) -> None:
    """An empty list gives an empty matrix, stored or asked."""
    remembered, _ = again(path)
    assert remembered.embed([]).shape == remembered.embed([], query=True).shape == (0, 64)


def test_the_file_outlives_a_reindex_and_not_an_erase(tmp_path: Path) -> None:
    """`reindex` keeps the vectors, which are known by what they were made of; an erase leaves none."""
    memory = reverie.init(reverie.Opening(path=tmp_path / "m", flags={"zone": "UTC"}))
    key = memory.remember("The spare key lies beneath the third pot.").id
    memory.drain()
    file = tmp_path / "m" / layout.EMBEDDED_DB
    remembered, _ = again(file)
    remembered.embed(["The spare key lies beneath the third pot."])
    remembered.close()
    memory.reindex()
    later, toy = again(file)
    later.embed(["The spare key lies beneath the third pot."])
    assert toy.calls == 0
    later.close()
    memory.erase([key])
    assert not file.exists()
