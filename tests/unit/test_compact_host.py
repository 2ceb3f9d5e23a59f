"""Step 5 for hosts: messages that are captured or not, what leaves their prompt, and the fixed part of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from desk import NOON, SESSION, Desk
from hypothesis import given
from hypothesis import strategies as st

from reverie.compact import Compacted
from reverie.core.records import Turn
from reverie.core.sessions.active_match import matched, told
from reverie.errors import BudgetOverflow, UsageError
from reverie.store import sessions

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SYSTEM = {"role": "system", "content": "You are a helpful agent. " + "rule " * 100}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Return a desk."""
    return Desk(tmp_path)


def talk(count: int, *, words: int = 60, start: int = 0) -> list[dict[str, Any]]:
    """Return so many messages of user and assistant in turn, none alike."""
    roles = ("user", "assistant")
    return [
        {"role": roles[n % 2], "content": f"message {n} " + "word " * words}
        for n in range(start, start + count)
    ]


def stored(desk: Desk) -> list[str]:
    """Return what the session has stored, in order."""
    return [turn.content for turn in sessions_of(desk)]


def sessions_of(desk: Desk) -> list[Turn]:
    """Return the turns of the session."""
    return sessions.read(desk.memory.opened.ws, SESSION)


def compacted(desk: Desk, messages: Sequence[Any], budget: int = 1_000) -> Compacted:
    """Compact the session of a host with these messages."""
    return desk.memory.compact(SESSION, messages, budget=budget)


def test_messages_are_captured_before_they_leave(desk: Desk) -> None:
    """A host that never captured anything loses nothing: every message but the system's is a turn afterwards."""
    messages = [SYSTEM, *talk(40)]
    done = compacted(desk, messages)
    assert stored(desk) == [one["content"] for one in messages[1:]]
    assert done.archived > 0
    assert done.left == tuple(range(1, done.archived + 1))
    assert [turn.content for turn in done.stays] == [one["content"] for one in messages[1 + done.archived :]]
    assert done.cursor == done.records[-1].cursor
    assert sum(record.raw for record in done.records) == len(done.records)


def test_the_same_messages_again_add_nothing(desk: Desk) -> None:
    """Handing over the same list twice, and then a list trimmed to what stays, stores each message once (P-09)."""
    messages = [SYSTEM, *talk(40)]
    first = compacted(desk, messages)
    again = compacted(desk, messages)
    assert (again.archived, again.left) == (0, first.left)
    trimmed = [one for place, one in enumerate(messages) if place not in first.left]
    assert compacted(desk, trimmed).left == ()
    assert len(stored(desk)) == 40


def test_only_what_is_new_is_captured(desk: Desk) -> None:
    """Of a list that a host has captured in part, the rest is captured, in its order."""
    messages = talk(20)
    for message in messages[:12]:
        desk.say(message["content"], role=message["role"])
    compacted(desk, messages)
    assert stored(desk) == [one["content"] for one in messages]


def test_a_message_said_again_is_a_new_turn(desk: Desk) -> None:
    """A trimmed list that ends with words said long before is not taken for those."""
    compacted(
        desk, [*talk(20), {"role": "user", "content": "go on"}, {"role": "assistant", "content": "done"}]
    )
    compacted(desk, [*talk(6, start=20)])
    compacted(desk, [*talk(6, start=20), {"role": "user", "content": "go on"}])
    assert stored(desk).count("go on") == 2
    assert len(stored(desk)) == 29


def test_an_id_tells_messages_apart(desk: Desk) -> None:
    """Messages with ids are the turns with these ids, whatever order or repetition they come in."""
    messages = [{"role": "user", "content": "go on", "id": f"m{n}"} for n in range(5)]
    compacted(desk, messages)
    compacted(desk, [*messages[3:], {"role": "user", "content": "go on", "id": "m5"}])
    assert [turn.id for turn in sessions_of(desk)] == [f"m{n}" for n in range(6)]


def test_a_call_leaves_together_with_its_result(desk: Desk) -> None:
    """OpenAI's tool calls are captured, and neither a call nor its result leaves without the other."""
    call = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"q": "rent"}'}}
    chain = [
        {"role": "user", "content": "Find the rent."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "900 " * 300},
        {"role": "assistant", "content": "It is 900."},
    ]
    done = compacted(desk, [*chain, *talk(10)])
    assert set(range(4)) <= set(done.left)
    assert [turn.call for turn in sessions_of(desk)[:4]] == ["", "", "c1", ""]


def test_the_fixed_part_alone_over_the_budget_is_told(desk: Desk) -> None:
    """System messages that exceed the budget by themselves give a clear error, nothing is lost (R-51)."""
    huge = {"role": "system", "content": "rule " * 3_000}
    with pytest.raises(BudgetOverflow, match="system messages take"):
        compacted(desk, [huge, *talk(10)])
    assert len(stored(desk)) == 10
    assert desk.memory.compact(SESSION).archived == 0


def test_what_is_off_the_record_stays_with_the_host(desk: Desk) -> None:
    """Messages of a paused session are not stored, so none of them may leave the host's prompt."""
    desk.memory.pause(SESSION)
    done = compacted(desk, talk(40))
    assert (done.left, stored(desk)) == ((), [])


def test_a_message_that_is_none_is_named(desk: Desk) -> None:
    """A message without a known role is refused by its place, before anything is stored."""
    with pytest.raises(UsageError, match="message 1: its role"):
        compacted(desk, [*talk(1), {"role": "oracle", "content": "x"}])
    assert stored(desk) == []


def test_secrets_do_not_hide_a_message(desk: Desk) -> None:
    """A message that was redacted on its way to the disk is known again, and its secret is in no record (R-44)."""
    secret = {"role": "user", "content": "The key is ghp_16C7e42F292c6912E7710c838347Ae178B4a, keep it."}
    for _ in range(2):
        done = compacted(desk, [secret, *talk(20)])
    assert len(stored(desk)) == 21
    assert "ghp_16C7" not in "".join(record.content for record in done.records) + "".join(stored(desk))


def test_what_leaves_is_extracted_first(desk: Desk) -> None:
    """Turns are read before they leave the window: afterwards no turn of the session is unread."""
    compacted(desk, [{"role": "user", "content": "I moved to Lisbon."}, *talk(20)])
    assert desk.memory.status().unread == {}
    assert desk.found("where does the user live")[0] == "User moved to Lisbon"


def test_nothing_is_read_while_the_session_fits(desk: Desk) -> None:
    """A compaction that has nothing to archive leaves extraction to its own triggers."""
    compacted(desk, talk(4), budget=100_000)
    assert desk.memory.status().unread == {SESSION: 4}


# Matching, in itself

WORDS = st.sampled_from("abc")


@given(st.lists(WORDS, max_size=30), st.integers(0, 30), st.lists(WORDS, max_size=6))
def test_a_list_that_ends_with_new_messages_stores_these_at_least(
    before: list[str], cut: int, fresh: list[str]
) -> None:
    """Whatever was said, a host's list that goes on from what is stored gains its new messages, none twice in a row."""
    made = [_turn(word, n) for n, word in enumerate(before)]
    given_ = [_turn(word) for word in (*before[cut:], *fresh)]
    found = matched(given_, made)
    assert [told(turn) for turn in found] == [told(turn) for turn in given_]
    new = [turn for turn in found if turn.n < 0]
    assert len({turn.id for turn in new}) == len(new)
    after = [*made, *(_turn(turn.content, len(made) + n, turn.id) for n, turn in enumerate(new))]
    again = matched(given_, after)
    if cut == 0:
        assert len(new) >= len(fresh)
        assert not [turn for turn in again if turn.n < 0]


def _turn(word: str, n: int = -1, turn_id: str = "") -> Turn:
    return Turn(
        role="user", content=word, at=NOON, n=n, id=turn_id or (f"s{n}" if n >= 0 else ""), session="s"
    )
