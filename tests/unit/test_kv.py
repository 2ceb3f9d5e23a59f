"""The file of an adapter's values: what counts, what is tidied, and what damage and other processes do to it."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from reverie import layout
from reverie.core.forgetting.mask import Mask
from reverie.core.formats import framing
from reverie.core.formats.key_values import admits, at_path, depth_of, text_of, withheld
from reverie.core.records import KeyValue
from reverie.core.settings.value import Settings
from reverie.errors import NewerFormat, UnsafePath, UsageError
from reverie.store import stream
from reverie.store.hosts import kv
from reverie.store.workspace import Workspace
from reverie.testing import FixedClock, counter_ids
from reverie.values import Put, Value, get, matching, namespaces, put, shown, sweep

if TYPE_CHECKING:
    from collections.abc import Iterator

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
ROOT = Path(__file__).resolve().parents[2]
NOTHING = Mask()

WRITER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from reverie.core.settings.value import Settings
from reverie.store.workspace import Workspace
from reverie.values import Put, put
ws = Workspace(Path(sys.argv[1]), Settings(zone="UTC"), clock=lambda: datetime.now(UTC), new_id=str)
for n in range(int(sys.argv[3])):
    put(ws, [Put(namespace=(sys.argv[2],), key=str(n % 20), value={"n": n, "pad": "x" * 2_000})])
"""


def opened(root: Path, **settings: Any) -> Workspace:
    """Return a workspace at noon."""
    ws = Workspace(root, Settings(zone="UTC", **settings), clock=FixedClock(NOON), new_id=counter_ids())
    ws.make_folders()
    return ws


@pytest.fixture
def ws(tmp_path: Path) -> Iterator[Workspace]:
    """Return an empty workspace."""
    made = opened(tmp_path)
    yield made
    made.disk.close()


def keep(ws: Workspace, key: str, value: Any, **more: Any) -> None:
    """Store one value."""
    put(ws, [Put(namespace=("t",), key=key, value=value, **more)])


def values(ws: Workspace, name: str) -> list[Value]:
    """Return what a reader sees of one namespace."""
    return [shown(one, NOTHING) for one in matching(ws, (name,), masked=NOTHING)]


def all_of(ws: Workspace) -> dict[str, Any]:
    """Return the living values by their keys."""
    return {one.key: one.value for one in values(ws, "t")}


def test_what_was_stored_is_there_for_whoever_opens_the_folder(ws: Workspace, tmp_path: Path) -> None:
    """Values, overwritten and deleted ones, stand the same for a second reader, and when the file is read in pieces."""
    other = opened(tmp_path)
    for n in range(30):
        keep(ws, str(n % 7), {"n": n})
        if n % 5 == 0:
            put(other, [Put(namespace=("t",), key=str(n % 7), value=None)])
        assert all_of(ws) == all_of(other) == all_of(opened(tmp_path))
    assert namespaces(other, masked=NOTHING) == [("t",)]


def test_deleting_what_is_not_there_writes_nothing(ws: Workspace) -> None:
    """A delete of an unknown key, and a read that counts of a key without a life, leave the file alone."""
    keep(ws, "a", 1)
    size = ws.disk.size(layout.KV)
    put(ws, [Put(namespace=("t",), key="b", value=None)], used=[(("t",), "a"), (("t",), "b")])
    assert ws.disk.size(layout.KV) == size


def test_tidying_keeps_what_counts_and_what_cannot_be_read(ws: Workspace) -> None:
    """Overwritten, deleted and ended lines go; living ones keep every byte, unknown members and damage too."""
    strange = framing.frame(
        {"namespace": ["t"], "key": "strange", "at": "2026-07-01T12:00:00Z", "value": 1, "later": [1]}
    )
    keep(ws, "old", "first")
    ws.disk.append(layout.KV, strange)
    ws.disk.append(layout.KV, b'{"v":1,"namespace":["t"],"key":"torn","val\n')
    ws.disk.append(layout.KV, framing.frame({"other": "kind"}))
    keep(ws, "old", "second")
    keep(ws, "gone", "soon")
    keep(ws, "ended", "once", ttl=1)
    keep(ws, "used", "often", ttl=60)
    put(ws, [], used=[(("t",), "used")])
    assert isinstance(ws.clock, FixedClock)
    ws.clock.advance(minutes=30)
    put(ws, [Put(namespace=("t",), key="gone", value=None)], used=[(("t",), "used")])
    before = all_of(ws)
    assert sweep(ws) > 0
    data = ws.disk.read(layout.KV) or b""
    assert before == all_of(ws) == all_of(opened(ws.root)) == {"strange": 1, "old": "second", "used": "often"}
    assert strange in data
    assert b'"torn"' in data
    assert framing.frame({"other": "kind"}) in data
    assert not [word for word in (b"first", b"soon", b"once") if word in data]
    assert sweep(ws) == 0
    ws.clock.advance(minutes=59)
    assert "used" in all_of(ws)
    ws.clock.advance(minutes=1)
    assert "used" not in all_of(ws)


def test_a_file_of_dead_lines_is_tidied_by_itself(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once more than half of the file no longer counts, and that weighs, a write tidies it."""
    monkeypatch.setattr(kv, "DEAD", 5_000)
    for n in range(100):
        keep(ws, "one", {"n": n, "pad": "x" * 100})
    assert (ws.disk.size(layout.KV) or 0) < 12_000
    assert all_of(ws)["one"]["n"] == 99
    assert get(ws, (("t",), "one"), masked=NOTHING).created == NOON  # type: ignore[union-attr]


def test_damage_costs_its_line_alone(ws: Workspace, tmp_path: Path) -> None:
    """A torn, null, glued, empty or NUL-filled line leaves the values around it, and the next put is whole (P-03)."""
    for number, harm in enumerate(
        (b'{"v":1,"names', b"null\n", b"\n", b"\0" * 50, b'}{"v":1\n', b"\xff\xfe\n")
    ):
        keep(ws, f"before {number}", number)
        with (tmp_path / layout.KV).open("ab") as file:
            file.write(harm)
        keep(ws, f"after {number}", number)
    assert len(all_of(ws)) == len(all_of(opened(tmp_path))) == 12


def test_a_file_that_was_replaced_is_read_anew(ws: Workspace, tmp_path: Path) -> None:
    """A restored, cut or swapped file is believed as it is now, whatever was read of it before."""
    for n in range(10):
        keep(ws, str(n), n)
    backup = (tmp_path / layout.KV).read_bytes()
    keep(ws, "0", "new")
    (tmp_path / layout.KV).write_bytes(backup)
    assert all_of(ws) == {str(n): n for n in range(10)}
    half = backup[: backup.find(b"\n", len(backup) // 2) + 1]
    ws.disk.replace(layout.KV, half + half.replace(b'"key"', b'"kez"'))
    assert len(all_of(ws)) == half.count(b"\n")
    ws.disk.remove(layout.KV)
    assert all_of(ws) == {}


def test_a_newer_file_is_refused_and_stays(ws: Workspace) -> None:
    """A line of a newer Reverie is neither read, written behind, nor tidied away."""
    line = framing.frame(
        {"namespace": ["t"], "key": "a", "at": "2026-07-01T12:00:00Z", "value": 1}, version=9
    )
    ws.disk.append(layout.KV, line)
    for call in (lambda: all_of(ws), lambda: keep(ws, "b", 1), lambda: sweep(ws)):
        with pytest.raises(NewerFormat):
            call()
    assert ws.disk.read(layout.KV) == line


def test_a_link_in_the_place_of_the_file_is_not_followed(ws: Workspace, tmp_path: Path) -> None:
    """A link that somebody planted is refused, for reading and for writing."""
    (tmp_path / "elsewhere").write_bytes(b"")
    (tmp_path / layout.KV).symlink_to(tmp_path / "elsewhere")
    for call in (lambda: all_of(ws), lambda: keep(ws, "b", 1)):
        with pytest.raises(UnsafePath):
            call()
    assert (tmp_path / "elsewhere").read_bytes() == b""


@pytest.mark.slow
def test_two_processes_lose_nothing(ws: Workspace, tmp_path: Path) -> None:
    """Two writers and this one at once, with tidying in between: every key holds what its writer wrote last (P-02)."""
    commands = [[sys.executable, "-c", WRITER, str(tmp_path), name, "400"] for name in ("a", "b")]
    running = [subprocess.Popen(command, cwd=ROOT) for command in commands]
    mine = 0
    while any(one.poll() is None for one in running):
        keep(ws, "mine", mine)
        mine += 1
    assert [one.wait() for one in running] == [0, 0]
    for name in ("a", "b"):
        found = {one.key: one.value["n"] for one in values(ws, name)}
        assert found == {str(n): 380 + n for n in range(20)}
    assert all_of(ws) == {"mine": mine - 1}
    read: stream.Read[KeyValue] = stream.read(ws, layout.KV, KeyValue)
    assert read.damaged == []
    assert (ws.disk.size(layout.KV) or 0) < 1_000_000


def test_a_clock_set_back_ends_nothing_early(ws: Workspace) -> None:
    """With a clock that goes back, a value lives at least as long as it was said to, and order is the file's."""
    assert isinstance(ws.clock, FixedClock)
    keep(ws, "a", 1, ttl=10)
    ws.clock.set(NOON - timedelta(days=3))
    keep(ws, "a", 2, ttl=10)
    assert all_of(ws) == {"a": 2}
    ws.clock.advance(minutes=9)
    assert all_of(ws) == {"a": 2}


def test_paths_find_what_they_name() -> None:
    """Members, elements by place from either end, all of them, and what is not there."""
    value = {"a": {"b": [1, {"c": "x"}]}, "d": "y"}
    wanted = {"a.b[0]": [1], "a.b[-1].c": ["x"], "a.b[*]": [1, {"c": "x"}], "d": ["y"], "$": [value]}
    wanted |= {
        "a.b[7]": [],
        "a.b[x]": [],
        "d.e": [],
        "": [value],
        "*": [{"b": [1, {"c": "x"}]}, "y"],
        "a[0]": [],
    }
    assert {path: [found for found, _ in at_path(value, path)] for path in wanted} == wanted


def test_words_stand_alone_and_mere_values_with_their_names() -> None:
    """Prose is searched as it is, a single word or number with the name of its member, true and null as JSON."""
    value = {
        "text": "User likes tea",
        "theme": "dark",
        "n": 3,
        "on": True,
        "none": None,
        "tags": ["a", "b c"],
    }
    assert text_of(value) == "User likes tea\ntheme: dark\nn: 3\non: true\ntags: a\nb c"
    assert text_of(value, index=False) == ""
    assert text_of(value, index=("theme", "missing")) == "theme: dark"


def test_depth_is_counted_and_bounded() -> None:
    """Levels count lists and objects; a hundred thousand of them are counted no further than asked."""
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    assert (depth_of(1), depth_of([]), depth_of({"a": [1]}), depth_of(deep, 5)) == (0, 1, 2, 6)


def test_forgotten_lines_leave_the_shape() -> None:
    """Only lines that may not be read change; a text of which no line alone tells is left out whole."""
    hides = lambda text: "secret" in text or text == "a\nb"  # noqa: E731
    value = {"x": ["ok", "one\nthe secret\r\ntwo", "a\nb"], "secret": 1, "n": None}
    assert withheld(value, hides) == {
        "x": ["ok", "one\n[forgotten]\r\ntwo", "[forgotten]"],
        "[forgotten]": 1,
        "n": None,
    }


@pytest.mark.parametrize("value", [None, "x", 5, [], {}, True, [1]])
def test_a_filter_never_raises_for_what_a_value_holds(value: Any) -> None:
    """Whatever a value is, every operator answers; an unknown one is a clear error."""
    for operator in ("$eq", "$ne", "$gt", "$gte", "$lt", "$lte"):
        for other in (None, 1, "x", [], {"a": 1}):
            assert admits({"m": value}, {"m": {operator: other}}) in (True, False)
    with pytest.raises(UsageError):
        admits({"m": value}, {"m": {"$regex": "x"}})


def test_a_value_is_stored_as_readable_json(ws: Workspace) -> None:
    """The line holds the value as JSON, not as JSON in a text, so that a person can read it."""
    keep(ws, "a", {"text": "茶", "n": 2**70})
    line = json.loads((ws.disk.read(layout.KV) or b"").decode())
    assert line["value"] == {"text": "茶", "n": 2**70}
    assert isinstance(
        msgspec.json.decode((ws.disk.read(layout.KV) or b"").strip(), type=KeyValue).value, msgspec.Raw
    )
