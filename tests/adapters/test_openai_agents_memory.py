"""What a session of the OpenAI Agents SDK shares with the memory it is in: retractions, forgetting, people, exports."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hosts import REASONING, last, run, said

import reverie
from reverie import Turn
from reverie.store import sessions

agents = pytest.importorskip("agents", reason="the extra `openai-agents` is not installed")


from reverie.adapters.openai_agents import ReverieSession  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

    from reverie import Memory, Opening
    from reverie.testing import FixedClock

NUTS = "I'm allergic to macadamia nuts."
HELLO = {"role": "user", "content": "Which tea do I like?"}


@pytest.fixture
def session(memory: Memory) -> ReverieSession:
    """Return a session of an empty memory."""
    return ReverieSession("c7", memory)


def test_what_is_popped_is_never_heard_of_again(memory: Memory, session: ReverieSession) -> None:
    """A popped turn is not recalled, extracted, summarised or shown, after a rebuild neither, and its neighbour is."""
    run(
        session.add_items(
            [{"role": "user", "content": "I moved to Lisbon."}, {"role": "user", "content": NUTS}]
        )
    )
    assert any("macadamia" in text for text in said(memory, "macadamia"))
    assert last(session.pop_item()) == {"role": "user", "content": NUTS}
    memory.end("c7")
    for step in (memory.consolidate, memory.reindex, memory.consolidate):
        step()
        assert [text for text in said(memory, "macadamia nuts allergic") if "macadamia" in text] == []
        assert [one.entry.text for one in memory.list()] == ["User moved to Lisbon"]
    assert "macadamia" not in memory.context().text
    assert last(session.get_items()) == [{"role": "user", "content": "I moved to Lisbon."}]


def test_entries_go_with_the_turns_they_stand_on(memory: Memory, session: ReverieSession) -> None:
    """Clearing a session takes back what came from it alone, in MEMORY.md too; what was said elsewhere stays."""
    memory.capture(
        "other", Turn(role="user", content="I prefer tea over coffee.", at=memory.opened.ws.clock())
    )
    run(
        session.add_items(
            [{"role": "user", "content": NUTS}, {"role": "user", "content": "I moved to Lisbon."}]
        )
    )
    memory.end("c7")
    memory.consolidate()
    assert len(memory.list()) == 3
    run(session.clear_session())
    assert [one.entry.text for one in memory.list()] == ["User prefers tea over coffee"]
    assert "macadamia" not in (memory.root / "MEMORY.md").read_text()
    assert last(session.get_items()) == []
    memory.reindex()
    assert [one.entry.text for one in memory.list()] == ["User prefers tea over coffee"]


def test_what_was_taken_back_may_be_said_again(memory: Memory, session: ReverieSession) -> None:
    """The same words added after a pop are heard anew, and nobody is asked: only the place was taken back."""
    item = {"role": "user", "content": NUTS}
    run(session.add_items([item]))
    memory.end("c7")
    memory.consolidate()
    run(session.pop_item(), session.add_items([item]))
    memory.end("c7")
    memory.consolidate()
    assert [one.entry.text for one in memory.list()] == ["User is allergic to macadamia nuts"]
    assert last(session.get_items()) == [item]
    assert [one for one in memory.review() if one.topic == "forgotten"] == []


def test_restoring_an_entry_brings_its_turn_back(memory: Memory, session: ReverieSession) -> None:
    """A retraction is taken back as a forget is: by the entry's id, and the item stands in the session again."""
    item = {"role": "user", "content": NUTS}
    run(session.add_items([item]))
    memory.end("c7")
    memory.consolidate()
    (entry,) = [one.entry.id for one in memory.list()]
    run(session.clear_session())
    memory.forget([entry], restore=True)
    assert last(session.get_items()) == [item]
    assert [one.entry.id for one in memory.list()] == [entry]


def test_an_extraction_under_way_stores_nothing_that_is_seen(memory: Memory, session: ReverieSession) -> None:
    """An entry that is stored after its turns were taken back, by whoever was reading them, is hidden all the same."""
    run(session.add_items([{"role": "user", "content": NUTS}]))
    reading = memory.opened.reading()
    shown = reading.masked
    run(session.clear_session())
    assert memory.opened.mask is not shown
    memory.end("c7")
    turns = sessions.read(memory.opened.ws, "c7")
    late = reverie.Draft(session="c7")
    assert turns[0].content == NUTS
    entry = memory.remember("User is allergic to macadamia nuts", late)
    assert entry.queued
    found = memory.get(entry.id).entry
    assert memory.opened.mask.why(found) == ""
    placed = type(found)(**{**{name: getattr(found, name) for name in found.__struct_fields__}, "turns": "0"})
    assert memory.opened.mask.why(placed) == "retracted"


def test_forgotten_words_leave_the_items(memory: Memory, session: ReverieSession) -> None:
    """A forget reaches the items that say it, calls and outputs too, and leaves their shape and their neighbours."""
    run(
        session.add_items(
            [
                {"role": "user", "content": f"{NUTS}\nI moved to Lisbon."},
                {
                    "type": "function_call",
                    "call_id": "c",
                    "name": "note",
                    "arguments": json.dumps({"text": "User is allergic to macadamia nuts", "tag": "food"}),
                },
                {"type": "function_call_output", "call_id": "c", "output": "ok"},
            ]
        )
    )
    memory.end("c7")
    memory.consolidate()
    memory.forget([one.entry.id for one in memory.list() if "macadamia" in one.entry.text])
    first, call, output = last(session.get_items())
    assert first == {"role": "user", "content": "[forgotten]\nI moved to Lisbon."}
    assert json.loads(call["arguments"]) == {"text": "[forgotten]", "tag": "food"}
    assert output["output"] == "ok"
    assert last(session.pop_item(), session.pop_item()) == call


def test_an_erase_takes_the_bytes_of_items(memory: Memory, session: ReverieSession) -> None:
    """After an erase no file holds the words, and every item can still be read."""
    message = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": f"So: {NUTS}"}],
    }
    run(
        session.add_items(
            [{"role": "user", "content": NUTS}, message, {"role": "user", "content": "Thanks."}]
        )
    )
    memory.end("c7")
    memory.consolidate()
    memory.erase([one.entry.id for one in memory.list()])
    holding = [
        path for path in memory.root.rglob("*") if path.is_file() and b"macadamia" in path.read_bytes()
    ]
    assert holding == []
    found = last(session.get_items())
    assert "macadamia" not in json.dumps(found)
    assert found[1]["content"][0]["type"] == "output_text"
    assert memory.check() == ()


def test_secrets_never_reach_the_disk(memory: Memory, session: ReverieSession) -> None:
    """Keys are taken out of every part of an item before its first byte is written, and opaque parts stay (R-44)."""
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    call = {"type": "function_call", "call_id": "c", "name": "use", "arguments": json.dumps({"token": key})}
    part = {"role": "user", "content": [{"type": "input_text", "text": f"My key is {key}"}]}
    found = last(session.add_items([call, part, REASONING]), session.get_items())
    assert key not in json.dumps(found)
    assert found[2] == REASONING
    assert not [
        path for path in memory.root.rglob("*") if path.is_file() and key.encode() in path.read_bytes()
    ]


def test_excluded_topics_are_not_extracted(memory: Memory, session: ReverieSession) -> None:
    """A topic that is never stored gives no entry when it is said in a session of the SDK's."""
    memory.exclude("macadamia")
    run(session.add_items([{"role": "user", "content": f"{NUTS} I moved to Lisbon."}]))
    memory.end("c7")
    memory.consolidate()
    assert [one.entry.text for one in memory.list()] == ["User moved to Lisbon"]


def test_conversations_and_people_are_apart(memory: Memory) -> None:
    """Items of another session, of another person, or of the agent itself never appear (R-34)."""
    mine, other = ReverieSession("c7", memory), ReverieSession("c8", memory)
    with memory.person("Dana") as dana, memory.person("Bo") as bo:
        hers = ReverieSession("c7", dana)
        run(mine.add_items([HELLO]), hers.add_items([{"role": "user", "content": NUTS}]))
        assert run(other.get_items(), ReverieSession("c7", bo).get_items()) == [[], []]
        run(mine.clear_session())
        assert len(last(hers.get_items())) == 1
        assert [
            text for text in said(bo, "macadamia") + said(memory, "macadamia") if "macadamia" in text
        ] == []


def test_an_untrusted_folder_gives_no_items(
    memory: Memory, session: ReverieSession, opening: Callable[..., Opening], clock: FixedClock
) -> None:
    """Of a workspace that came from elsewhere nothing goes into a prompt."""
    run(session.add_items([HELLO]))
    stranger = reverie.open(Opening_with(opening(), clock))
    with pytest.raises(reverie.ReverieError, match="trust"):
        last(ReverieSession("c7", stranger).get_items())
    assert memory.root == stranger.root


def Opening_with(opening: Opening, clock: FixedClock) -> Opening:  # noqa: N802 - stands for another user's opening
    """Return how another user would open the same folder."""
    return reverie.Opening(
        path=opening.path,
        config_dir=opening.folder().parent / "another",
        environment=opening.environment,
        clock=clock,
    )


def test_an_export_keeps_items_and_what_was_taken_back(
    memory: Memory, session: ReverieSession, opening: Callable[..., Opening], clock: FixedClock
) -> None:
    """Imported into an empty workspace or beside others, items are equal, and what was popped stays away (R-30)."""
    run(session.add_items([REASONING, HELLO, {"role": "user", "content": NUTS}]), session.pop_item())
    memory.export(memory.root.parent / "out")
    for folder in ("empty", "lived"):
        with reverie.init(opening(folder)) as other:
            if folder == "lived":
                other.capture("elsewhere", Turn(role="user", content="I like soup.", at=clock()))
            other.import_(memory.root.parent / "out")
            other.consolidate()
            assert last(ReverieSession("c7", other).get_items()) == [REASONING, HELLO]
            assert [text for text in said(other, "macadamia") if "macadamia" in text] == []
            assert [one for one in other.check() if one.severity == "error"] == []


@pytest.mark.parametrize("arguments", ["[" * 100_000, '{"a":' * 700 + "1" + "}" * 700, "nonsense"])
def test_a_call_nested_without_end_is_read_after_something_was_forgotten(
    memory: Memory, session: ReverieSession, arguments: str
) -> None:
    """A call's arguments that no reader of JSON can follow hinder nobody from reading the session, forgets or not."""
    bomb = {"type": "function_call", "call_id": "c", "name": "note", "arguments": arguments}
    said = {"role": "user", "content": f"{NUTS}\nI moved to Lisbon."}
    run(session.add_items([said, bomb]))
    memory.end("c7")
    memory.consolidate()
    memory.forget([one.entry.id for one in memory.list() if "macadamia" in one.entry.text])
    assert last(session.get_items()) == [
        {"role": "user", "content": "[forgotten]\nI moved to Lisbon."},
        bomb,
    ]
