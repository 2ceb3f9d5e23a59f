"""Values made to burst their reader, with checksums that hold: each costs its own line, and every verb goes on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

import pytest
from lived import copy, open_memory
from planting import LET_GO, OPENED, World, known
from rounds import Round

from reverie import layout, trust
from reverie.errors import BadSettings, DamagedFile

DEEP = 100_000
BOMBS = {
    "lists": b"[" * DEEP + b"]" * DEEP,
    "objects": b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    "no end": b"[" * DEEP,
    "digits": b"9" * 5_000,
    "exponent": b"1e999999",
    "no number": b"NaN",
    "infinite": b"-Infinity",
    "no UTF-8": b'"\xff\xfe"',
    "half a character": b'"\\ud800"',
    "line separator": '"a\u2028b"'.encode(),
    "NUL": b'"a\\u0000b"',
    "keys": b"{" + b",".join(b'"k%d":%d' % (n, n) for n in range(20_000)) + b"}",
    "the same key": b'1,"v":2,"v":1,"type":"turn","type":"x","id":"z","id":5',
}
FRAMED = (
    f"{layout.JOURNAL_ARCHIVE}/",
    f"{layout.SEGMENTS}/",
    f"{layout.QUARANTINE}/",
    f"{layout.DREAMS}/dream-",
    layout.RUNS,
    layout.EVENTS,
    layout.KV,
    layout.OUTCOMES,
    layout.RECALL_LOG,
    f"{layout.RENDERED}/",
    layout.TOMBSTONES,
    layout.HISTORY,
    f"{layout.SESSIONS}/",
)
QUICK = (
    "status",
    "list",
    "recall",
    "check",
    "capture",
    "more",
    "remember",
    "value",
    "drain",
    "erase",
    "again",
)
MANY = 60_000
TEXTS = {
    "quotes": "> " * MANY,
    "brackets": "[" * MANY,
    "links": "[a](" * MANY,
    "page links": "[[" * MANY,
    "citations": "[[archive/2026-07-01#^" * MANY,
    "stars": "*a **b" * MANY,
    "backticks": "".join("`" * (n % 300) + " " for n in range(MANY // 100)),
    "tags": "<a " * MANY,
    "comments": "<!-- " * MANY,
    "lists": "".join("  " * min(n, 500) + "- x\n" for n in range(MANY // 100)),
    "fields": "(a:: " * MANY,
    "tables": "|a" * MANY + "\n" + "|-" * MANY,
    "entities": "&#x26;" * MANY,
    "marks that combine": "a" + "\u0301" * MANY,
    "one line": "word " * MANY,
}
FRONTS = {
    "aliases": 'a: &a ["x","x"]\n' + "".join(f"b{n}: &b{n} [*a,*a,*a]\n" for n in range(20)),
    "itself": "a: &a [*a]",
    "lists": "title: " + "[" * 10_000,
    "maps": "title: " + "{a: " * 5_000,
    "indents": "".join(" " * n + "a:\n" for n in range(170)),
    "digits": "updated: " + "9" * 20_000,
    "a date that is none": "updated: 9999-99-99",
    "code": 'title: !!python/object/apply:os.system ["true"]',
    "keys": "".join(f"k{n}: 1\n" for n in range(MANY)),
    "the same key": "title: a\ntitle: b",
}
TOML = {
    "lists": b"exclusions = " + b"[" * DEEP,
    "tables": b"a" + b".a" * 20_000 + b" = 1\n",
    "inline": b"a = " + b"{a = " * 20_000,
    "digits": b"day_starts_at = " + b"9" * 5_000,
    "the same key": b'zone = "UTC"\nzone = "UTC"\n',
    "no UTF-8": b'zone = "\xff"\n',
    "NUL": b'zone = "\0"\n',
    "not a number": b"facts.min_importance = nan\n",
    "keys": b"".join(b"k%d = 1\n" % n for n in range(50_000)),
}


def framed(body: bytes) -> bytes:
    """Return a line with a checksum that holds for whatever stands in it."""
    return b'%b,"crc":"%08x"}\n' % (body[:-1], crc32(body))


def armed(line: bytes, bomb: bytes) -> Iterator[bytes]:
    """Yield a record with the bomb in a member nobody knows, then in the place of each member of its own."""
    body = line.rstrip(b"\n")[:-18] + b"}"
    yield framed(body[:-1] + b',"other":' + bomb + b"}")
    record = json.loads(body)
    for wrong in record:
        members = (
            b"%b:%b" % (json.dumps(name).encode(), bomb if name == wrong else json.dumps(value).encode())
            for name, value in record.items()
        )
        if wrong != "v":
            yield framed(b"{" + b",".join(members) + b"}")


def path_of(world: World, kind: str) -> str:
    """Return the path of the first file of a kind."""
    base = world.home / "agent"
    return next(path for path in world.places if path.startswith(kind) and (base / path).is_file())


def held_out(world: World, home: Path, *verbs: str) -> Round:
    """Run verbs over a harmed home, and check that nothing which was acknowledged is lost by it."""
    done = Round(home).run(*verbs)
    assert lost(world, home, done) == []
    return done


def lost(world: World, home: Path, done: Round) -> list[str]:
    """Return what was known before, or acknowledged in a round, and is there no more."""
    entries, turns = known(home)
    gone = (world.entries | set(done.kept)) - entries | (world.turns | set(done.turns)) - turns
    return [text for text in gone if text and not any(word in text for word in LET_GO)]


@pytest.mark.slow
@pytest.mark.parametrize("kind", FRAMED)
def test_a_line_that_bursts_its_reader_costs_no_other(world: World, tmp_path: Path, kind: str) -> None:
    """Depth, digits, keys and bytes beyond reason in any member of a record leave every other record as it was."""
    home = copy(world.home, tmp_path / "home")
    path = path_of(world, kind)
    whole = (home / "agent" / path).read_bytes()
    last = whole.splitlines(keepends=True)[-1]
    wrong = [
        line
        for bomb in BOMBS.values()
        for line in list(armed(last, bomb))[: 2 if len(bomb) > 9_999 else None]
    ]
    (home / "agent" / path).write_bytes(whole + b"".join(wrong))
    done = held_out(world, home, *QUICK)
    assert done.errors == {}
    if kind != f"{layout.RENDERED}/":
        assert path in done.said["check"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", FRAMED)
def test_every_verb_goes_on_beside_lines_that_burst_their_reader(
    world: World, tmp_path: Path, kind: str
) -> None:
    """No verb ends in a traceback, and none loses a record, whichever stream was filled with bombs."""
    home = copy(world.home, tmp_path / "home")
    path = path_of(world, kind)
    last = (home / "agent" / path).read_bytes().splitlines(keepends=True)[-1]
    with (home / "agent" / path).open("ab") as file:
        file.writelines(line for bomb in BOMBS.values() for line in list(armed(last, bomb))[:2])
    held_out(world, home)


@pytest.mark.slow
@pytest.mark.parametrize("bomb", BOMBS)
def test_a_small_file_that_bursts_its_reader_is_named(world: World, tmp_path: Path, bomb: str) -> None:
    """In the place of intents, counters and leases a bomb is told, and what does not need them is answered."""
    base = world.home / "agent"
    paths = [
        path for path in world.places
        if path.endswith(".json") and not path.startswith(layout.INDEX) and path not in OPENED
    ]  # fmt: skip
    home = copy(world.home, tmp_path / "home")
    for path in paths:
        (home / "agent" / path).parent.mkdir(parents=True, exist_ok=True)
        like = (
            (base / path).read_bytes()
            if (base / path).is_file()
            else b'{"v":1,"type":"x","crc":"00000000"}\n'
        )
        (home / "agent" / path).write_bytes(next(armed(like, BOMBS[bomb])))
    done = Round(home).run("status", "list", "recall", "check", "capture", "more", "doctor")
    assert done.errors == {}
    for path in paths:
        (home / "agent" / path).unlink(missing_ok=True)
        if (base / path).is_file():
            (home / "agent" / path).write_bytes((base / path).read_bytes())
    assert lost(world, home, done) == []


@pytest.mark.parametrize("bomb", [name for name in BOMBS if name not in {"line separator", "NUL"}])
def test_an_identity_that_bursts_its_reader_is_damaged(world: World, tmp_path: Path, bomb: str) -> None:
    """Whatever stands in the identity's members, opening says that it is damaged, and a new seal opens it again."""
    home = copy(world.home, tmp_path / "home")
    path = home / "agent" / layout.ORIGIN
    for line in list(armed(path.read_bytes(), BOMBS[bomb]))[1:3]:
        path.write_bytes(line)
        with pytest.raises(DamagedFile, match="reverie trust"):
            open_memory(home)
    trust(home / "agent", config_dir=home / "config").close()
    assert known(home) == (world.entries, world.turns)


@pytest.mark.slow
@pytest.mark.parametrize("place", ["page", "SOUL.md", "daily log", "note"])
def test_a_text_that_bursts_its_reader_is_read_in_time(world: World, tmp_path: Path, place: str) -> None:
    """Markdown of one mark by the ten thousand, in a page, a core file, a log or a note, keeps no verb from its end."""
    home = copy(world.home, tmp_path / "home")
    base = home / "agent"
    for number, text in enumerate(TEXTS.values()):
        path = {
            "page": base / layout.NOTEBOOK / "3_Personal" / f"Bomb {number}.md",
            "SOUL.md": base / layout.SOUL,
            "daily log": base / layout.ARCHIVE / "2026-07-01.md",
            "note": base / "notes" / "2026-07-01.md",
        }[place]
        with path.open("a", encoding="utf-8") as file:
            file.write(f"\n\n{text}\n")
    done = held_out(
        world, home, "recall", "check", "capture", "extract", "drain", "publish", "dream", "erase", "again"
    )
    assert done.errors == {}


@pytest.mark.slow
def test_front_matter_that_bursts_its_reader_is_told(world: World, tmp_path: Path) -> None:
    """Aliases that multiply, depth, tags that ask for code, and keys by the ten thousand cost only their own page."""
    home = copy(world.home, tmp_path / "home")
    for number, front in enumerate(FRONTS.values()):
        page = home / "agent" / layout.NOTEBOOK / "3_Personal" / f"Bomb {number}.md"
        page.write_text(f"---\n{front}\n---\n# Bomb\n\nKite {number} is red.\n", encoding="utf-8")
    done = held_out(world, home, "recall", "check", "digest", "publish", "dream", "lint", "again")
    assert done.errors == {}
    with open_memory(home, first=1 << 46) as memory:
        assert len([hit for hit in memory.recall("red kite", k=50).hits if hit.kind == "page"]) == len(FRONTS)


@pytest.mark.parametrize("bomb", TOML)
def test_settings_that_burst_their_reader_are_refused_in_words(
    world: World, tmp_path: Path, bomb: str
) -> None:
    """No workspace is opened on settings that cannot be read: the file is named, and with it mended all is there."""
    home = copy(world.home, tmp_path / "home")
    path = home / "agent" / layout.SETTINGS
    before = path.read_bytes()
    path.write_bytes(TOML[bomb])
    with pytest.raises(BadSettings, match=r"reverie\.toml"):
        open_memory(home)
    path.write_bytes(before)
    assert known(home) == (world.entries, world.turns)
