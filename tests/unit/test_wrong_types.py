"""Values of wrong types and of impossible sizes, given to every verb: one of our errors, and nothing stored."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from inspect import Parameter, getattr_static, signature
from pathlib import Path
from typing import Any

import pytest

import reverie
from reverie import Draft, Memory, ReverieError, Turn, Where
from reverie.core.limits import LONGEST
from reverie.core.records import ToolCall
from reverie.errors import InvalidRecord, UsageError
from reverie.values import Put, put

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
SETTINGS = {"zone": "UTC", "embedder": "none", "durability": "os"}
LONG = "a" * 200_000
WRONG: tuple[Any, ...] = (
    None,
    5,
    1.5,
    float("nan"),
    2**70,
    True,
    b"x",
    object(),
    [5],
    [None],
    {"a": 1},
    "\ud800",
    "a\0b",
    date(2026, 7, 1),
    timedelta(1),
    Path("x"),
    datetime(2026, 7, 1),  # noqa: DTZ001 - a time without a zone
    Where(as_of=datetime(2026, 7, 1)),  # noqa: DTZ001
    Where(limit="a"),  # type: ignore[arg-type]
    Where(category=5),  # type: ignore[arg-type]
    Draft(at=datetime(2026, 7, 1)),  # noqa: DTZ001
    Draft(due=date(2026, 7, 1)),  # type: ignore[arg-type]
    Where(since=date(2026, 7, 1)),  # type: ignore[arg-type]
    Draft(tags="abc", sig="x"),  # type: ignore[arg-type]
    Turn(role="user", content=5, at=NOON),  # type: ignore[arg-type]
    Turn(role="user", content="Hi", at=NOON, n=2**63 - 1),
)
VERBS = sorted(
    name
    for name in dir(Memory)
    if not name.startswith("_") and name != "close" and callable(getattr_static(Memory, name))
)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """Return a memory that holds one entry."""
    with reverie.init(tmp_path / "w", settings=SETTINGS) as opened:
        opened.remember("Likes tea")
        opened.drain()
        yield opened


def part(name: str) -> dict[str, Any]:
    """Return a member that is far too long, by its name."""
    return {name: LONG}


def good(memory: Memory, verb: str) -> dict[str, Any]:
    """Return arguments that a verb can work with, for those it must be given."""
    told = {
        "session": "s1",
        "turn": Turn(role="user", content="Hi", at=NOON),
        "text": "Likes cake",
        "entry": memory.list()[0].entry.id,
        "value": "helpful" if verb == "feedback" else 0.5,
        "why": "change",
        "source": memory.root / "none",
        "target": memory.root.parent / "copy",
        "tool": "list",
        "arguments": {},
        "entries": [],
    }
    needed = signature(getattr(Memory, verb)).parameters.values()
    found = {one.name: told.get(one.name, "abc") for one in needed if one.default is Parameter.empty}
    found.pop("self")
    return found | ({"preview": True} if verb == "exclude" else {})


@pytest.mark.parametrize("verb", VERBS)
def test_a_wrong_type_is_an_error_in_words(memory: Memory, verb: str) -> None:
    """Each argument of each verb, of each wrong type, gives an answer or one of our errors, which says something."""
    refused = 0
    for name in signature(getattr(memory, verb)).parameters:
        for value in WRONG:
            try:
                getattr(memory, verb)(**(good(memory, verb) | {name: value}))
            except ReverieError as error:
                refused += len(str(error)) > 10
    assert refused or not signature(getattr(memory, verb)).parameters


@pytest.mark.parametrize(
    "ask",
    [
        lambda memory: memory.recall(5),
        lambda memory: memory.recall("tea", k="3"),
        lambda memory: memory.recall("tea", where=Where(as_of=datetime(2026, 7, 1))),  # noqa: DTZ001
        lambda memory: memory.note(None),
        lambda memory: memory.remember(None),
        lambda memory: memory.remember("Likes cake", {"category": "fact"}),
        lambda memory: memory.erase([memory.list()[0].entry.id], dry_run="no"),
        lambda memory: memory.forget([5]),
        lambda memory: memory.correct(memory.list()[0].entry.id, "Likes cake", why="whim"),
        lambda memory: memory.import_("file"),
        lambda memory: memory.get(None),
    ],
)
def test_what_is_of_a_wrong_type_stores_nothing(memory: Memory, ask: Callable[[Any], object]) -> None:
    """A verb that is refused for a type says which argument it was, and no file changed."""
    before = {path: path.read_bytes() for path in memory.root.rglob("*.jsonl")}
    with pytest.raises(UsageError, match="give"):
        ask(memory)
    assert {path: path.read_bytes() for path in memory.root.rglob("*.jsonl")} == before


@pytest.mark.parametrize("where", [5, b"w", [], {}, True, "a\0b", "\ud800", Path("a\0b")])
def test_what_names_no_folder_opens_nothing(tmp_path: Path, where: Any) -> None:
    """A folder of a wrong type, or with what no name may hold, is a usage error of all three ways to open."""
    for way in (reverie.open, reverie.init, reverie.trust):
        with pytest.raises(UsageError, match="names no folder"):
            way(where)
        with pytest.raises(UsageError, match="names no folder"):
            way(tmp_path, config_dir=where)


@pytest.mark.parametrize("zone", ["UTC", "Pacific/Kiritimati", "Etc/GMT+12"])
def test_the_ends_of_the_calendar_are_days_like_others(tmp_path: Path, zone: str) -> None:
    """A time at the first or the last moment that a datetime holds, in any zone, is stored or refused in words."""
    with reverie.init(tmp_path / "w", settings=SETTINGS | {"zone": zone}) as memory:
        for end in (datetime.min, datetime.max):  # noqa: DTZ901 - each in each zone
            for hours in (-23, 0, 23):
                at = end.replace(tzinfo=timezone(timedelta(hours=hours)))
                for draft in (
                    Draft(at=at),
                    Draft(at=at, every="friday"),
                    Draft(due="9999-12-31T23:00", every="week"),
                    Draft(since="0001-01-01T00:00", until="9999-12-31T23:59:59"),
                ):
                    try:
                        memory.remember("Likes cake", draft)
                    except ReverieError as error:
                        assert len(str(error)) > 10  # noqa: PT017 - some are stored
                memory.recall("cake", where=Where(as_of=at))
                memory.list(Where(as_of=at))


@pytest.mark.parametrize(
    "ask",
    [
        lambda memory: memory.capture(LONG, Turn(role="user", content="Hi", at=NOON)),
        lambda memory: memory.end(LONG),
        lambda memory: memory.pause(LONG),
        lambda memory: memory.person(LONG),
        lambda memory: memory.exclude(LONG),
        lambda memory: memory.feedback(memory.list()[0].entry.id, "helpful", why=LONG),
        lambda memory: memory.judge(memory.list()[0].entry.id, 0.5, why=LONG),
        *(
            lambda memory, name=name: memory.capture(
                "s1", Turn(role="user", content="Hi", at=NOON, **part(name))
            )
            for name in ("id", "name", "user", "call")
        ),
        *(
            lambda memory, name=name: memory.remember("Likes cake", Draft(**part(name)))
            for name in ("who", "about", "category", "evidence", "session", "key", "since", "due", "every")
        ),
        lambda memory: memory.remember("Likes cake", Draft(tags=(LONG,))),
        lambda memory: memory.remember("Likes cake", Draft(tags=("a",) * 10_000)),
        lambda memory: memory.remember("Likes cake", Draft(supersedes=(LONG,))),
        lambda memory: put(memory.opened.ws, [Put(namespace=(LONG,), key="k", value=1)]),
        lambda memory: put(memory.opened.ws, [Put(namespace=("a",) * 10_000, key="k", value=1)]),
        lambda memory: put(memory.opened.ws, [Put(namespace=("a",), key=LONG, value=1)]),
    ],
)
def test_no_part_of_what_is_given_may_be_of_any_size(memory: Memory, ask: Callable[[Any], object]) -> None:
    """Two hundred thousand characters where a name belongs are refused with the limit, and nothing is stored."""
    with pytest.raises((InvalidRecord, UsageError), match=r"at most [\d,]+ fit") as refused:
        ask(memory)
    assert len(str(refused.value)) < 500
    assert [state.entry.text for state in memory.list()] == ["Likes tea"]
    assert memory.opened.sessions() == []


@pytest.mark.slow
def test_arguments_of_tool_calls_count_as_bytes_of_their_turn(memory: Memory) -> None:
    """A turn whose tool calls hold more than `max_turn_bytes` is refused, and one with the longest parts is stored."""
    call = ToolCall(id="1", name="search", arguments="a" * 3_000_000)
    with pytest.raises(InvalidRecord, match="at most 4,000,000 fit"):
        memory.capture("s1", Turn(role="assistant", content="", at=NOON, calls=(call, call)))
    most: dict[str, Any] = {name: "a" * LONGEST[name] for name in ("id", "name", "user", "call")}
    assert memory.capture("s" * LONGEST["session"], Turn(role="user", content="Hi", at=NOON, **most)).recorded


def test_an_import_sets_aside_what_is_too_long_and_counts_it(memory: Memory, tmp_path: Path) -> None:
    """Of imported turns the one with a far too long name is set aside and told; the others are stored."""
    file = tmp_path / "talk.jsonl"
    lines = ('{"role":"user","content":"One"}', f'{{"role":"user","content":"Two","name":"{LONG}"}}')
    file.write_text("\n".join(lines), encoding="utf-8")
    done = memory.import_(file)
    assert (done.turns, done.unread) == (1, 1)
    assert "at most 1,000 fit" in done.skipped[0].reason
