"""Step 5: what leaves a session's window, where it is cut, and what a crash leaves."""

from __future__ import annotations

import shutil
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from talks import NOON, S, agent, calling, chat, result, say, user, workspace

from reverie.compact import active, compact
from reverie.core.days import Calendar
from reverie.core.records import Attachment, Turn
from reverie.core.sessions.active_window import (
    content_of,
    exchanges,
    oldest_slices,
    parse_range,
    range_of,
    tokens_of,
    unread,
)
from reverie.core.settings.value import CompactionSettings, Settings
from reverie.core.text.tokens import estimate
from reverie.errors import BudgetOverflow, UsageError
from reverie.store import history, sessions
from reverie.store.workspace import Workspace
from reverie.testing import CrashDisk, FixedClock, counter_ids, crash_loop

if TYPE_CHECKING:
    from collections.abc import Callable

CALENDAR = Calendar("Europe/Berlin", "00:00")
SETTINGS = Settings(compaction=CompactionSettings(context_tokens=1_000))


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """Return a new workspace with a window of 1,000 tokens."""
    return workspace(tmp_path)


def numbered(turns: list[Turn]) -> list[Turn]:
    """Return the turns with ordinals."""
    return [
        Turn(**{**{name: getattr(turn, name) for name in turn.__struct_fields__}, "n": n})
        for n, turn in enumerate(turns)
    ]


@st.composite
def talks(draw: st.DrawFn) -> list[Turn]:
    """Return a conversation in which calls are answered at once, later, twice, or never."""
    turns: list[Turn] = []
    ids = count()
    waiting: list[str] = []
    for kind in draw(st.lists(st.sampled_from(("user", "agent", "call", "result", "again")), max_size=40)):
        words = "word " * draw(st.integers(0, 60))
        if kind == "user":
            turns.append(user(words or "?"))
        elif kind == "agent":
            turns.append(agent(words or "!"))
        elif kind == "call":
            waiting.append(f"c{next(ids) % 3}")
            turns.append(calling("search", waiting[-1]))
        elif waiting:
            turns.append(result(waiting.pop(0) if kind == "result" else waiting[0], words))
    return numbered(turns)


@given(talks(), st.integers(10, 400), st.floats(0.1, 0.95))
def test_a_cut_stands_at_a_user_turn_and_never_within_a_call(
    turns: list[Turn], budget: int, ratio: float
) -> None:
    """Whatever is said, slices are whole exchanges from the front, and no result loses the call before it."""
    slices = oldest_slices(turns, budget=budget, ratio=ratio)
    gone = [turn for part in slices for turn in part]
    left = turns[len(gone) :]
    assert gone == turns[: len(gone)]
    assert [turn for piece in exchanges(turns) for turn in piece] == turns
    total = sum(map(tokens_of, turns))
    assert bool(gone) == (total > budget and len(exchanges(turns)) > 1)
    assert (
        sum(map(tokens_of, left)) <= budget
        or len(exchanges(turns)) == 1
        or left == list(exchanges(turns)[-1])
    )
    for part in slices[1:] + [left] * bool(gone):
        assert part[0].role == "user"
    for turn in left:
        calls = [one for one in turns[: turn.n] if any(call.id == turn.call for call in one.calls)]
        answered = [one.call for one in turns[calls[-1].n : turn.n]] if calls else []
        if calls and turn.call not in answered:
            assert calls[-1] in left


def test_a_short_session_stays_whole(ws: Workspace) -> None:
    """A session within its budget is left alone, and nothing is written."""
    say(ws, chat(4, words=10))
    done = compact(ws, S)
    assert (done.archived, done.cursor, done.kept) == (0, None, 4)
    assert history.read(ws) == []


def test_the_oldest_turns_leave_until_the_rest_fits(ws: Workspace) -> None:
    """Slices of about half the budget are archived whole, in order, until what is active is within it (N-11)."""
    stored = say(ws, chat(80))
    done = compact(ws, S)
    records = history.read(ws)
    assert done.kept + done.archived == 80
    assert done.tokens <= 1_000
    assert done.due.sessions == (S,)
    assert len(records) > 2
    assert all(record.raw and record.session == S and record.timestamp == NOON for record in records)
    spans = [parse_range(record.turns) for record in records]
    assert [span[0] for span in spans if span] == [0, *(span[1] + 1 for span in spans[:-1] if span)]
    assert all(500 <= estimate(record.content) < 900 for record in records[:-1])
    archived = "\n".join(record.content for record in records)
    assert all(turn.content in archived for turn in stored[: done.archived])
    assert [turn.n for turn in active(ws, S)] == list(range(done.archived, 80))


def test_a_raw_slice_is_kept_whole_however_long(ws: Workspace) -> None:
    """A turn of half a megabyte that leaves the window stands in the history to its last word (N-05)."""
    long = "word " * 100_000 + "and the end"
    say(ws, [user(long), agent("noted"), *chat(40)])
    compact(ws, S)
    first = history.read(ws)[0]
    assert first.raw
    assert long in first.content


def test_compacting_again_does_nothing(ws: Workspace) -> None:
    """A second compaction finds nothing to do, and one of the grown session goes on where the first stopped."""
    say(ws, chat(80))
    first = compact(ws, S)
    again = compact(ws, S)
    assert (again.archived, again.kept) == (0, first.kept)
    say(ws, chat(20))
    assert compact(ws, S).archived > 0
    assert history.verify(ws) == []


def test_a_call_stays_with_its_result(ws: Workspace) -> None:
    """A long chain of calls without a user turn is archived as one piece, or not at all."""
    chain = [turn for n in range(20) for turn in (calling("search", f"c{n}"), result(f"c{n}", "word " * 40))]
    say(ws, [user("Find it."), *chain, agent("Found."), user("Thanks.")])
    assert compact(ws, S).archived == 42
    assert [turn.content for turn in active(ws, S)] == ["Thanks."]


def test_the_newest_exchange_alone_over_the_budget_is_told(ws: Workspace) -> None:
    """The newest exchange is never archived: a run says so, a caller with a budget gets an error, both do the rest."""
    say(ws, [*chat(10), user("word " * 2_000)])
    done = compact(ws, S)
    assert (done.archived, done.kept) == (10, 1)
    assert "newest exchange" in done.problem
    say(ws, [*chat(10), user("word " * 2_000)])
    with pytest.raises(BudgetOverflow, match="newest exchange"):
        compact(ws, S, budget=900)
    assert [turn.n for turn in active(ws, S)] == [21]


def test_an_oversized_exchange_in_the_middle_is_archived(ws: Workspace) -> None:
    """An exchange that alone exceeds the budget leaves like any other once it is not the newest."""
    say(ws, [user("word " * 5_000), agent("ok"), user("And now?")])
    assert compact(ws, S).archived == 2
    assert "word " * 4_999 in history.read(ws)[0].content


def test_an_impossible_budget_is_a_wrong_call(ws: Workspace) -> None:
    """A budget of no tokens is refused."""
    with pytest.raises(UsageError):
        compact(ws, S, budget=0)


def test_nothing_is_compacted_while_memory_is_off(tmp_path: Path) -> None:
    """With the master switch off a long session stays as it is."""
    say(workspace(tmp_path), chat(80))
    off = Workspace(tmp_path, Settings(enabled=False), clock=FixedClock(NOON), new_id=counter_ids())
    assert compact(off, S).archived == 0
    assert history.read(off) == []


def test_another_process_may_be_first(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """What another process archives between reading and writing is not archived again, and the rest still is."""
    say(ws, chat(80))
    first = history.append
    raced: list[int] = []

    def late(ws: Workspace, record: history.History, known: history.Reached) -> history.History | None:
        if not raced:
            raced.append(1)
            first(ws, record, known)
        return first(ws, record, known)

    monkeypatch.setattr(history, "append", late)
    done = compact(ws, S)
    assert history.verify(ws) == []
    assert done.tokens <= 1_000
    assert (
        sum(1 + span[1] - span[0] for record in history.read(ws) if (span := parse_range(record.turns)))
        == 80 - done.kept
    )


def test_no_crash_loses_or_doubles_a_turn(tmp_path: Path) -> None:
    """Wherever the power is cut, the turns stay in their session, and compacting again archives each once."""
    places = count()
    say(workspace(tmp_path / "begun"), chat(40))

    def make() -> Path:
        return Path(shutil.copytree(tmp_path / "begun", tmp_path / str(next(places))))

    def scenario(disk: CrashDisk, tell: Callable[[str], None]) -> None:
        found = Workspace(disk.root, SETTINGS, clock=FixedClock(NOON), new_id=counter_ids(), disk=disk)
        tell(str(compact(found, S).cursor))

    for wreck in crash_loop(make, scenario):
        found = Workspace(wreck.root, SETTINGS, clock=FixedClock(NOON), new_id=counter_ids())
        if wreck.told:
            assert [str(record.cursor) for record in history.read(found)][-1:] == wreck.told
        compact(found, S)
        assert len(sessions.read(found, S)) == 40
        kept = active(found, S)
        archived = [span for record in history.read(found) if (span := parse_range(record.turns))]
        assert [n for first, last in archived for n in range(first, last + 1)] == list(range(40 - len(kept)))


def test_turns_read_as_text(ws: Workspace) -> None:
    """A turn reads with its ordinal, local time, speaker, calls and attachments, and without injected memory."""
    shown = "- User likes tea"
    photo = Attachment("p.png", media_type="image/png")
    first = user(f"Here: {shown} and my photo", name="Dana", injected=((6, 22),), attachments=(photo,))
    turns = say(ws, [first, calling("search", "c"), result("c", name="search")])
    assert unread(turns[0]) == "Here:  and my photo"
    assert content_of(turns, CALENDAR) == (
        "[0] 2026-07-02 14:00 user (Dana): Here:  and my photo\n  attached: image/png p.png\n\n"
        '[1] 2026-07-02 14:00 assistant: \n  calls search({"q": "x"})\n\n'
        "[2] 2026-07-02 14:00 tool (search): found"
    )
    assert (range_of(turns), range_of(turns[1:2])) == ("0-2", "1")


@pytest.mark.parametrize(
    ("text", "span"), [("3", (3, 3)), ("3-5", (3, 5)), ("5-3", None), ("", None), ("3-", None), ("٣", None)]
)
def test_ranges_are_read(text: str, span: tuple[int, int] | None) -> None:
    """Ordinals are read as they are written, and nothing else is."""
    assert parse_range(text) == span
