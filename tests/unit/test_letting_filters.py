"""Letting go by a filter: what one verb took out of sight, the same filter of another verb still reaches."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

import reverie
from reverie import Draft, Memory, Opening
from reverie.core.records import Turn
from reverie.core.where import Where
from reverie.errors import NotFound, UsageError
from reverie.testing import FixedClock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
GONE, STAYS = "Jonas Weigel lives in Potsdam", "Dana rides a tandem"
FILTERS = {
    "category": Where(category="personal"),
    "tag": Where(tag="family"),
    "session": Where(session="s1"),
    "about": Where(about="Jonas"),
    "who": Where(who="Mira"),
    "scope": Where(scope="team"),
    "since": Where(since="2026-06-20"),
    "until": Where(until="2026-06-25"),
    "as of": Where(as_of=datetime(2026, 6, 21, tzinfo=UTC)),
}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """Return a memory of two entries that no filter above takes for one another."""
    opening = Opening(
        path=tmp_path / "ws",
        config_dir=tmp_path / "config",
        environment={"HOME": str(tmp_path), "TZ": "UTC", "REVERIE_EMBEDDER": "none"},
        clock=FixedClock(NOON),
    )
    with reverie.init(opening) as made:
        yield made


def told(memory: Memory, name: str) -> None:
    """Remember what goes, and what stays, on the other side of the filter's days."""
    days = 60 if name == "since" else -10
    gone = Draft(
        category="personal",
        tags=("family",),
        session="s1",
        about="Jonas",
        who="Mira",
        scope="team",
        at=datetime(2026, 6, 20, 12, tzinfo=UTC),
    )
    memory.remember(GONE, gone)
    at = datetime(2026, 6, 20, tzinfo=UTC) - timedelta(days=days)
    memory.remember(STAYS, Draft(at=max(at, datetime(2026, 4, 1, tzinfo=UTC))))
    memory.drain()


def holders(memory: Memory) -> list[str]:
    """Return the files in which the words stand."""
    files = (path for path in memory.root.rglob("*") if path.is_file())
    return [path.name for path in files if b"Potsdam" in path.read_bytes()]


def shown(memory: Memory) -> list[str]:
    """Return the texts that are listed, faded or not."""
    return sorted(state.entry.text for state in memory.list(Where(include_faded=True)))


@pytest.mark.parametrize("name", FILTERS)
def test_erase_reaches_what_the_same_filter_forgot(memory: Memory, name: str) -> None:
    """`forget` and then `erase` by one filter leaves no byte of it, and everything else; a dry run says which."""
    told(memory, name)
    where = FILTERS[name]
    (gone,) = memory.forget(where=where).ids
    assert memory.erase(where=where, dry_run=True).ids == (gone,)
    assert holders(memory)
    done = memory.erase(where=where)
    assert (done.ids, done.leftovers) == ((gone,), ())
    assert holders(memory) == []
    assert shown(memory) == [STAYS]
    assert memory.gone() == []
    assert memory.erase(where=where) == reverie.forget.Erased(elsewhere=done.elsewhere)


@pytest.mark.parametrize("name", FILTERS)
def test_erase_reaches_what_the_same_filter_hid(memory: Memory, name: str) -> None:
    """`hide` and then `erase` by one filter leaves no byte of it."""
    told(memory, name)
    assert memory.hide(where=FILTERS[name]) == 1
    assert memory.erase(where=FILTERS[name]).leftovers == ()
    assert holders(memory) == []
    assert shown(memory) == [STAYS]


@pytest.mark.parametrize("name", FILTERS)
def test_the_filter_that_let_go_brings_back(memory: Memory, name: str) -> None:
    """What a filter forgot, or hid, the same filter restores, once; a dry run says which and changes nothing."""
    told(memory, name)
    where, clock = FILTERS[name], memory.opened.ws.clock
    assert isinstance(clock, FixedClock)
    (gone,) = memory.forget(where=where).ids
    assert shown(memory) == [STAYS]
    assert [one.id for one in memory.gone(where)] == [gone]
    assert memory.forget(where=where, restore=True, dry_run=True).ids == (gone,)
    assert shown(memory) == [STAYS]
    assert memory.forget(where=where, restore=True).ids == (gone,)
    assert shown(memory) == sorted([GONE, STAYS])
    with pytest.raises(NotFound, match="nothing is forgotten there"):
        memory.forget(where=where, restore=True)
    assert memory.hide(where=where) == 1
    assert memory.hide(where=where) == 0
    assert memory.hide(where=where, unhide=True, dry_run=True) == 1
    clock.advance(seconds=1)
    assert memory.hide(where=where, unhide=True) == 1
    assert memory.hide(where=where, unhide=True) == 0
    assert shown(memory) == sorted([GONE, STAYS])


def test_a_filter_lets_go_of_what_held_before_too(memory: Memory) -> None:
    """What was superseded is found by recall, so that a forget by filter takes it with what holds now."""
    old = memory.remember(GONE, Draft(about="Jonas")).id
    new = memory.remember("Jonas Weigel lives in Berlin", Draft(about="Jonas", supersedes=(old,))).id
    assert memory.hide(where=Where(about="Jonas"), dry_run=True) == 2
    assert set(memory.forget(where=Where(about="Jonas")).ids) == {old, new}
    assert memory.recall("Jonas Potsdam").hits == ()


def test_what_waits_for_the_drain_is_reached_as_well(memory: Memory) -> None:
    """An entry that was forgotten while it was still queued is restored, and erased, by the same filter."""
    gone = memory.remember(GONE, Draft(about="Jonas")).id
    memory.forget(where=Where(about="Jonas"))
    assert [one.id for one in memory.gone()] == [gone]
    memory.forget(where=Where(about="Jonas"), restore=True)
    memory.forget(where=Where(about="Jonas"))
    memory.erase(where=Where(about="Jonas"))
    memory.drain()
    assert holders(memory) == []


def test_what_is_forgotten_is_listed_without_its_words(memory: Memory) -> None:
    """The list has id, day, category, when and by which deed, which `take_back` takes."""
    told(memory, "about")
    (gone,) = memory.forget(where=Where(about="Jonas")).ids
    (one,) = memory.gone()
    assert (one.id, one.day, one.category, one.at, one.by, one.deed) == (
        gone, "2026-06-20", "personal", NOON, "user", "forget",
    )  # fmt: skip
    assert "Potsdam" not in repr(one)
    assert memory.gone(Where(about="Dana")) == []
    assert memory.take_back(one.event) == gone
    assert memory.gone() == []


def test_what_resembles_is_told_apart_and_not_restored_by_a_filter(memory: Memory) -> None:
    """A later statement that a tombstone hides is listed as `alike`, and restored by name, not by a filter."""
    memory.remember(GONE, Draft(about="Jonas"))
    memory.forget(where=Where(about="Jonas"))
    again = memory.remember(GONE, Draft(about="Weigel")).id
    memory.drain()
    assert [(one.id, one.deed) for one in memory.gone(Where(about="Weigel"))] == [(again, "alike")]
    with pytest.raises(NotFound):
        memory.forget(where=Where(about="Weigel"), restore=True)
    assert again in memory.forget([again], restore=True).ids


def test_a_forget_says_what_still_names_whom_it_was_about(memory: Memory) -> None:
    """Its answer, and its dry run, name the entries and count the turns that say the name and stay."""
    told(memory, "about")
    other = memory.remember("Jonas Weigel plays the cello").id
    memory.remember("Jonasson wrote a book")
    for text in ("Is Jonas well?", "Tea is fine."):
        memory.capture("s2", Turn(role="user", content=text, at=NOON))
    memory.capture("s2", Turn(role="assistant", content="Jonas is well.", at=NOON))
    for dry_run in (True, False):
        (still,) = memory.forget(where=Where(about="Jonas"), dry_run=dry_run).still
        assert (still.name, still.entries, still.turns) == ("Jonas", (other,), 2)
    assert memory.forget([other]).still == ()


def test_a_filter_that_leaves_nothing_out_lets_go_of_nothing(memory: Memory) -> None:
    """Restoring by an empty filter, or by one beside ids, is refused, as forgetting is."""
    told(memory, "about")
    for arguments in (
        {"where": Where()},
        {"where": Where(about="Jonas"), "entries": ["2b47"]},
        {"where": Where(limit=1)},
    ):
        for restore in (True, False):
            with pytest.raises(UsageError):
                memory.forget(**arguments, restore=restore)
