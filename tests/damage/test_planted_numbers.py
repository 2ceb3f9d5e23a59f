"""Numbers that nobody counts to, planted with valid checksums: each costs its own line, and every verb goes on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from zlib import crc32

import msgspec
import pytest
from lived import copy, open_memory

from reverie import Memory, ReverieError, layout
from reverie.consolidate import Plan

HUGE = (2**63 - 1, 2**64 - 1, 10**30, -(2**63), -1)
VERBS: tuple[Callable[[Memory], object], ...] = (
    lambda memory: memory.recall("tea"),
    lambda memory: memory.extract(),
    lambda memory: memory.compact_all(),
    lambda memory: memory.consolidate(Plan(drain_only=True)),
    lambda memory: memory.consolidate(),
    lambda memory: memory.reindex(),
    lambda memory: memory.status(),
    lambda memory: memory.log(),
    lambda memory: memory.review(),
    lambda memory: memory.context(),
    lambda memory: memory.check(),
)


def framed(value: object) -> bytes:
    """Return a line with a checksum that holds."""
    body = json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
    return b'%b,"crc":"%08x"}\n' % (body[:-1], crc32(body))


def planted(value: object, number: int) -> Iterator[object]:
    """Yield the value once for each number in it, with `number` in its place."""
    if isinstance(value, dict):
        for key, one in value.items():
            if key != "v":
                yield from ({**value, key: other} for other in planted(one, number))
    elif isinstance(value, list):
        for place, one in enumerate(value):
            yield from ([*value[:place], other, *value[place + 1 :]] for other in planted(one, number))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield number


def lines_of(data: bytes) -> list[dict[str, object]]:
    """Return the records of a file without their checksums; none where it holds no JSON."""
    found = []
    for line in data.splitlines():
        try:
            value = msgspec.json.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue
        if isinstance(value, dict):
            value.pop("crc", None)
            found.append(value)
    return found


@pytest.mark.parametrize("number", HUGE)
def test_a_planted_number_never_ends_a_verb(lived: Path, tmp_path: Path, number: int) -> None:
    """Every number of every record, replaced by one beyond all counting, leaves each verb an answer or an error."""
    home = copy(lived, tmp_path / "w")
    base = home / "agent"
    for path in sorted(base.rglob("*.json*")):
        inside = path.relative_to(base).as_posix()
        if not path.is_file() or inside.startswith((layout.INDEX, layout.OBJECTS)):
            continue
        records = lines_of(path.read_bytes())
        wrong = [other for record in records for other in planted(record, number)]
        if path.suffix == ".jsonl":
            with path.open("ab") as file:
                file.writelines(map(framed, wrong))
        elif wrong:
            path.write_text(json.dumps(wrong[-1]), encoding="utf-8")
    for verb in VERBS:
        with open_memory(home) as memory, suppress(ReverieError):  # any other error is a fault
            verb(memory)


def test_a_turn_beyond_counting_is_damage_of_its_line(lived: Path, tmp_path: Path) -> None:
    """A turn with an ordinal that no database holds is told as damage, and those around it are read."""
    home = copy(lived, tmp_path / "w")
    (path, *_) = sorted((home / "agent" / layout.SESSIONS).iterdir())
    before = path.read_bytes()
    turn = next(one for one in lines_of(before) if one["type"] == "turn")
    path.write_bytes(before + framed({**turn, "n": 2**63 - 1}))
    with open_memory(home) as memory:
        assert memory.recall("sister in Lisbon").hits
        assert any(path.name in finding.place for finding in memory.check())
        memory.reindex()
        assert memory.recall("sister in Lisbon").hits
