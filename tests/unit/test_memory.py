"""The front door: each verb reads the files as they are, does its step, and leaves nothing open."""

from __future__ import annotations

from datetime import timedelta

import pytest
from desk import NOON, SESSION, Desk, days_ago

from reverie import layout
from reverie.context import ContextRequest
from reverie.core.records import Draft, Recalled, Turn
from reverie.core.sessions.injected import SHORTEST, spans_of
from reverie.core.where import Where
from reverie.errors import AmbiguousId, Conflict, InvalidRecord, NotFound, UsageError
from reverie.store import stream


def _ids(desk: Desk, where: Where | None = None) -> list[str]:
    return [state.entry.id for state in desk.memory.list(where)]


# Opening and closing


def test_closing_twice_is_closing_once(desk: Desk) -> None:
    """A closed memory may be closed again, and opens what it needs when it is used again."""
    kept = desk.remember("User likes tea")
    desk.memory.close()
    desk.memory.close()
    assert [hit.id for hit in desk.hits("tea")] == [kept]


def test_what_recalls_showed_is_noted_on_closing(desk: Desk) -> None:
    """What was shown is noted once, when the memory closes, and a memory that recalled nothing notes nothing."""
    kept = desk.remember("User likes tea")
    desk.found("tea")
    desk.found("cello")
    ws = desk.memory.opened.ws
    assert ws.disk.size(layout.RECALL_LOG) is None
    with desk.memory:
        pass
    desk.memory.close()
    read: stream.Read[Recalled] = stream.read(ws, layout.RECALL_LOG, Recalled)
    assert [one.shown for one in read.records] == [(kept,)]


def test_the_recall_log_is_bounded(desk: Desk) -> None:
    """A long recall log is halved at a line, so that it never grows for ever and stays readable."""
    desk.remember("User likes tea")
    line = b'{"v":1,"at":"2026-07-01T12:00:00Z","shown":["x"]}\n'
    (desk.root / layout.RECALL_LOG).write_bytes(line * 25_000)
    desk.found("tea")
    desk.memory.close()
    data = (desk.root / layout.RECALL_LOG).read_bytes()
    assert len(data) < 700_000
    assert data.startswith(b'{"v":1')


# Write


def test_a_session_ends_pauses_and_goes_on(desk: Desk) -> None:
    """A paused session keeps nothing, a resumed one goes on, and an ended one says what is due."""
    desk.say("First.")
    desk.memory.pause(SESSION)
    desk.say("Off the record.")
    desk.memory.resume(SESSION)
    desk.say("Second.")
    assert desk.memory.end(SESSION).sessions == (SESSION,)
    assert "Off the record" not in desk.text("sessions/standup-c0fbdc38.jsonl")
    desk.memory.pause()
    desk.say("Nothing at all.", session="other")
    desk.memory.resume()
    assert desk.found("Nothing at all") == []


def test_memory_that_comes_back_is_not_captured_again(desk: Desk) -> None:
    """Text that a context rendered for the session is marked when it comes back, and is read by nobody (P-09)."""
    desk.remember("User prefers jasmine tea in the morning", category="preference", pin=True)
    text = desk.memory.context(ContextRequest(session=SESSION)).text
    desk.say(f"{text}\nI prefer window seats on trains.")
    desk.memory.extract()
    desk.memory.drain()
    assert len([state for state in desk.memory.list() if "jasmine" in state.entry.text]) == 1
    assert [hit.kind for hit in desk.hits("jasmine tea morning")] == ["entry"]


def test_short_texts_are_never_taken_for_injected() -> None:
    """A line shorter than twenty characters also occurs in what people write, and marks nothing."""
    rendered = ("# Memory\n- ok\nUser prefers jasmine tea in the morning",)
    assert spans_of("# Memory - ok", rendered) == ()
    assert SHORTEST == 20
    said = "As you know: User prefers jasmine tea in the morning. Right?"
    assert [said[start:end] for start, end in spans_of(said, rendered)] == [
        "User prefers jasmine tea in the morning"
    ]
    assert spans_of("", rendered) == spans_of(said, ()) == ()


def test_overlapping_injections_are_one_span() -> None:
    """Rendered texts that overlap or stand side by side are one span, whatever their order."""
    first, second = "the quick brown fox jumps", "brown fox jumps over the dog"
    said = "the quick brown fox jumps over the dog"
    assert spans_of(said, (first, second)) == spans_of(said, (second, first)) == ((0, len(said)),)


def test_a_promise_is_due_until_it_is_kept(desk: Desk) -> None:
    """A promise is on the list at once, moves when it is put off, and leaves when it is kept or cancelled (R-36)."""
    kept = desk.remember("Send Dana the quote", due="2026-07-10")
    late = desk.remember("Renew the passport", due="2026-06-10", at=NOON - timedelta(days=30))
    assert [one.part for one in desk.memory.due().lines] == ["overdue", "upcoming"]
    desk.memory.done(late, until="2026-07-01")
    assert [one.part for one in desk.memory.due().lines] == ["today", "upcoming"]
    desk.memory.done(late, cancelled=True)
    desk.memory.done(kept)
    assert desk.memory.due().lines == ()
    desk.memory.drain()
    assert desk.memory.due().lines == ()


def test_feedback_waits_for_the_drain(desk: Desk) -> None:
    """A judgement is queued and applied once by the next drain."""
    kept = desk.remember("User likes tea", sig=0.5)
    desk.memory.drain()
    desk.memory.feedback(kept[:12], "helpful")
    assert desk.memory.get(kept).sig == 0.5
    for _ in range(2):
        desk.memory.drain()
        assert desk.memory.get(kept).sig == pytest.approx(0.55)
    with pytest.raises(UsageError):
        desk.memory.feedback(kept, "splendid")


def test_a_key_stands_for_one_text(desk: Desk) -> None:
    """The same key with the same text is no second memory, with another text a conflict."""
    told = Draft(key="k1")
    first = desk.memory.remember("User likes tea", told)
    again = desk.again().remember("User likes tea", told)
    assert (first.id, first.repeated, again.repeated) == (again.id, False, True)
    with pytest.raises(Conflict, match="new key"):
        desk.memory.remember("User likes coffee", told)
    assert len(desk.memory.list()) == 1


def test_a_pin_is_in_memory_and_context_until_it_is_taken_back(desk: Desk) -> None:
    """A pinned entry stands in MEMORY.md and in every context, an unpinned one by its own weight."""
    kept = desk.remember("User likes tea", sig=0.1)
    desk.memory.pin(kept)
    assert desk.memory.get(kept).pinned
    desk.memory.publish()
    assert kept in desk.text(layout.MEMORY)
    assert kept in desk.memory.context().ids
    desk.memory.pin(kept, unpin=True)
    assert not desk.memory.get(kept).pinned


@pytest.mark.parametrize(("text", "kept"), [("", 0), ("   ", 0), ("half \ud800 a character", 1)])
def test_what_cannot_be_stored_is_refused_and_kept(desk: Desk, text: str, kept: int) -> None:
    """A text that cannot be stored is refused with a reason, and what it says is kept aside."""
    with pytest.raises(InvalidRecord):
        desk.memory.remember(text)
    assert len(desk.memory.status().quarantine) == kept
    assert desk.memory.list() == []


@pytest.mark.slow
def test_a_turn_that_cannot_be_stored_is_refused_and_kept(desk: Desk) -> None:
    """A malformed turn is refused with a reason, its bytes are kept aside, and the session goes on."""
    for turn in (
        Turn(role="user", content="", at=NOON),
        Turn(role="user", content="x" * 6_000_000, at=NOON),
        Turn(role="user", content="\udc00", at=NOON),
        Turn(role="user", content="x", at=NOON.replace(tzinfo=None)),
    ):
        with pytest.raises(InvalidRecord):
            desk.memory.capture(SESSION, turn)
    assert desk.memory.status().quarantine
    desk.say("Sound.")
    assert desk.found("sound") == ["Sound."]


# Read


def test_lists_hold_what_is_current(desk: Desk) -> None:
    """A list leaves out what was replaced and hidden, unless asked for, and filters by what entries carry."""
    desk.clock.set(days_ago(3))
    old = desk.remember("The office is in Bergen", category="work", about="office")
    desk.clock.set(NOON)
    new = desk.memory.correct(old, "The office is in Oslo", why="change").id
    hidden = desk.remember("A nickname", category="personal", tags=("name",))
    desk.memory.hide([hidden])
    assert _ids(desk) == [new]
    assert set(_ids(desk, Where(include_previous=True))) == {old, new}
    assert set(_ids(desk, Where(include_hidden=True))) == {new, hidden}
    assert _ids(desk, Where(tag="name")) == []
    assert _ids(desk, Where(tag="name", include_hidden=True)) == [hidden]
    assert _ids(desk, Where(until="2026-06-30", include_previous=True)) == [old]
    assert _ids(desk, Where(as_of=days_ago(1))) == [old]
    assert _ids(desk, Where(about="office", include_previous=True)) == [old, new]
    everything = Where(include_hidden=True, include_previous=True)
    assert (
        _ids(desk, Where(limit=1, include_hidden=True, include_previous=True)) == _ids(desk, everything)[-1:]
    )


def test_an_entry_is_named_by_the_beginning_of_its_id(desk: Desk) -> None:
    """A prefix names an entry when it names one; else the error says what to do."""
    kept = desk.remember("User likes tea")
    desk.remember("User likes milk")
    assert desk.memory.get(kept).entry.id == kept
    with pytest.raises(AmbiguousId):
        desk.memory.get(kept[:4])
    for wrong in ("", "ffff", "%", "_", "' OR 1=1"):
        with pytest.raises(NotFound):
            desk.memory.get(wrong)


def test_a_context_is_built_for_any_words_of_a_turn(desk: Desk) -> None:
    """A query that asks for nothing, as a turn may be, gives a context without what is relevant to it."""
    desk.remember("User likes tea", category="preference", pin=True)
    for query in ("?!", "", "tea", "\x00", "🎉"):
        assert "User likes tea" in desk.memory.context(ContextRequest(query=query, session=SESSION)).text


def test_a_long_session_is_compacted_before_its_context(desk: Desk) -> None:
    """A context of a session over its budget moves the oldest turns into the history first."""
    impatient = desk.again(flags={"zone": "UTC", "compaction.context_tokens": "1000"})
    for number in range(40):
        role = "user" if number % 2 == 0 else "assistant"
        desk.say(f"Turn {number} says " + "many words " * 30, memory=impatient, role=role)
    assert impatient.compact(SESSION, budget=100_000).archived == 0
    impatient.context(ContextRequest(session=SESSION))
    assert (desk.root / layout.HISTORY).exists()
    assert impatient.compact_all().archived == 0


# Let go


def test_hiding_is_taken_back(desk: Desk) -> None:
    """Hidden entries are out of lists and recall, and come back as they were."""
    ids = [desk.remember("User likes tea"), desk.remember("User likes milk")]
    before = desk.memory.list()
    assert desk.memory.hide(ids) == 2
    assert desk.memory.list() == []
    assert desk.memory.hide(ids, unhide=True) == 2
    assert desk.memory.list() == before


def test_an_excluded_topic_is_never_stored(desk: Desk) -> None:
    """A topic that is excluded is not stored, whole words only, until the exclusion is taken back (R-28, R-29)."""
    kept = desk.remember("User likes art")
    desk.remember("User likes the start of spring")
    assert [state.entry.id for state in desk.memory.exclude("art", preview=True)] == [kept]
    assert desk.remember("More art")
    desk.memory.exclude("art")
    again = desk.again()
    assert again.remember("Even more art").refused
    assert again.remember("An article about the start").id
    again.exclude("art", remove=True)
    assert desk.again().remember("Art once more").id


def test_a_dry_run_lets_nothing_go(desk: Desk) -> None:
    """Forgetting and erasing in a dry run name what they would take, and take nothing."""
    kept = desk.remember("User likes tea")
    desk.memory.drain()
    before = desk.bytes()
    assert desk.memory.forget([kept], dry_run=True).ids == (kept,)
    assert desk.memory.erase([kept], dry_run=True).ids == (kept,)
    assert desk.bytes() == before


def test_erasing_leaves_no_byte(desk: Desk) -> None:
    """After an erase no file of the workspace holds the words, and recall finds what was next to them."""
    gone, kept = desk.remember("The safe opens with zebra"), desk.remember("The safe is grey")
    desk.night()
    desk.found("safe")
    done = desk.memory.erase([gone])
    assert done.leftovers == ()
    desk.memory.close()
    assert not [path for path, data in desk.bytes(derived=True).items() if b"zebra" in data]
    assert any(kept in (hit.id, *hit.entries) for hit in desk.hits("safe"))
