"""The vector files: as near as a full scan, filtered before the best are taken, and never read past their note."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from july import row

from reverie.core.search.rows import Filter
from reverie.errors import IndexUnavailable
from reverie.index.protocol import Vectored
from reverie.index.vector_places import PLACE, mask
from reverie.index.vectors import VectorFiles

DIMENSION = 48


def drawn(count, seed=0):
    """Return random vectors of length one."""
    made = np.random.default_rng(seed).standard_normal((count, DIMENSION)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def rows_of(count, first=0, **more):
    """Return numbered rows."""
    return [
        (n, row(f"r{n}", f"text {n}", category=f"c{n % 7}", day=f"2026-07-{1 + n % 28:02}", **more))
        for n in range(first, first + count)
    ]


@pytest.fixture
def folder(tmp_path):
    """Give the place of the files."""
    return tmp_path / "vectors"


def filled(folder, count, seed=0):
    """Return files of that many vectors, their note, and the vectors."""
    files, matrix = VectorFiles(folder), drawn(count, seed)
    about = files.empty(fingerprint="f", dimension=DIMENSION)
    for start in range(0, count, 700):
        part = matrix[start : start + 700]
        about, places = files.add(about, rows_of(len(part), start), matrix=part)
        assert places == list(range(start, start + len(part)))
    return files, about, matrix


def found(files, about, vector, **more):
    """Return the numbers of the nearest rows."""
    told = {"where": Filter(), "depth": 10, "dead": []} | more
    return [one.num for one in files.search(about, vector, **told)]


def test_the_nearest_are_those_of_a_full_scan(folder):
    """Scanned in eight bits and scored again, the best ten are the best ten of the floats, to 0.001."""
    files, about, matrix = filled(folder, 3_000)
    for vector in drawn(20, seed=1):
        cosines = matrix @ vector
        wanted = np.argsort(-cosines)[:10]
        near = files.search(about, vector, where=Filter(), depth=10, dead=[])
        assert [one.num for one in near] == wanted.tolist()
        assert [one.similarity for one in near] == pytest.approx(cosines[wanted].tolist(), abs=1e-3)


@pytest.mark.parametrize(
    "where", [Filter(categories=("c3",)), Filter(since="2026-07-03"), Filter(kinds=("page",))]
)
def test_a_filter_holds_before_the_best_are_taken(folder, where):
    """The ten nearest of what passes are found, however many nearer ones do not pass."""
    files, about, matrix = filled(folder, 3_000)
    allowed = [n for n, one in rows_of(3_000) if where.allows(one)]
    vector = drawn(1, seed=2)[0]
    wanted = sorted(allowed, key=lambda n: -(matrix[n] @ vector))[:10]
    assert found(files, about, vector, where=where) == wanted


def test_a_mask_keeps_out_no_row_that_passes(folder):
    """Hashes and tag bits may let a stranger in, and never keep a row out."""
    rows = [
        (
            n,
            row(
                f"r{n}",
                "x",
                tags=tuple(f"tag {m}" for m in range(n % 5)),
                person=f"p{n % 11}",
                scope=f"s{n % 3}",
            ),
        )
        for n in range(500)
    ]
    files = VectorFiles(folder)
    about, _ = files.add(files.empty(fingerprint="f", dimension=DIMENSION), rows, matrix=drawn(500))
    assert about.size == 500
    places = np.fromfile(next(folder.glob("*.places")), dtype=np.dtype(list(PLACE)))
    for where in (
        Filter(tags=("tag 0", "tag 3")),
        Filter(persons=("p4", "p5"), scopes=("s1",)),
        Filter(until="2026-07-01"),
        Filter(since="2026-07-02"),
    ):
        wanted = {n for n, one in rows if where.allows(one)}
        kept = set(np.flatnonzero(mask(places, where)).tolist())
        assert wanted <= kept, where
        assert len(kept - wanted) < 40, where


def test_dead_places_are_never_returned(folder):
    """A place that died is left out from the next search on, and those beside it are found."""
    files, about, matrix = filled(folder, 500)
    vector = matrix[77]
    assert found(files, about, vector)[0] == 77
    dead = [77]
    assert 77 not in found(files, about, vector, dead=dead)
    dead.append(found(files, about, vector, dead=dead)[0])
    assert not {*dead} & {*found(files, about, vector, dead=dead)}


def test_what_no_note_speaks_of_is_written_over(folder):
    """Bytes that a killed process left after the last place that counts are neither read nor kept."""
    files, about, matrix = filled(folder, 100)
    files.add(about, rows_of(50, 900), matrix=drawn(50, seed=3))
    assert max(found(files, about, matrix[5], depth=100)) < 100
    grown, places = files.add(about, rows_of(1, 100), matrix=matrix[:1])
    assert places == [100]
    other = VectorFiles(folder)
    assert other.sound(grown)
    assert set(found(other, grown, matrix[0], depth=2)) == {0, 100}
    sizes = {path.suffix: path.stat().st_size for path in folder.iterdir()}
    assert sizes == {".codes": 101 * DIMENSION, ".halves": 202 * DIMENSION, ".places": 101 * 44}


@pytest.mark.parametrize("part", ["codes", "halves", "places"])
def test_a_changed_byte_is_found_when_the_files_are_opened(folder, part):
    """A file whose bytes are not those that were written is refused, with the remedy."""
    _, about, matrix = filled(folder, 200)
    path = next(folder.glob(f"*.{part}"))
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))
    other = VectorFiles(folder)
    assert not other.sound(about)
    with pytest.raises(IndexUnavailable, match="reindex"):
        found(other, about, matrix[0])


def test_a_file_touched_but_unchanged_is_read_through_and_used(folder):
    """Another time of change costs a look at the bytes, and no vector."""
    _, about, matrix = filled(folder, 200)
    path = next(folder.glob("*.codes"))
    path.write_bytes(path.read_bytes())
    assert found(VectorFiles(folder), about, matrix[9])[0] == 9


def test_nothing_is_written_or_read_through_a_link(folder, tmp_path):
    """A link in the place of the folder or of a file gives way; what it leads to stays as it is."""
    away = tmp_path / "away"
    away.mkdir()
    folder.symlink_to(away)
    _, about, matrix = filled(folder, 50)
    assert not folder.is_symlink()
    assert list(away.iterdir()) == []
    path = next(folder.glob("*.codes"))
    target = away / "target"
    path.rename(target)
    path.symlink_to(target)
    before = target.read_bytes()
    with pytest.raises(IndexUnavailable):
        found(VectorFiles(folder), about, matrix[0])
    with pytest.raises(IndexUnavailable):
        VectorFiles(folder).add(about, rows_of(1), matrix=matrix[:1])
    assert target.read_bytes() == before


def test_a_vector_of_another_length_finds_nothing(folder):
    """A query of another dimension is no error and no hit, and neither is one in an empty store."""
    files, about, matrix = filled(folder, 20)
    assert files.search(about, matrix[0][:10], where=Filter(), depth=5, dead=[]) == []
    assert files.search(Vectored(), matrix[0], where=Filter(), depth=5, dead=[]) == []


def test_a_note_survives_being_written_down(folder):
    """The note comes back equal from JSON, with sizes, times and checksums."""
    _, about, _ = filled(folder, 20)
    assert msgspec.json.decode(msgspec.json.encode(about), type=Vectored) == about
