"""Step 3 with a model: spans read exactly once, tried again, halved, kept raw, and never read by rule instead."""

from __future__ import annotations

import threading
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest
from answering import always, asked, item, records, reply, texts, told, unread, word_for_word
from ledger import NOON, account, clock, opened, reading, said

from reverie import layout
from reverie.capture import capture, end
from reverie.core.fold import EntryState
from reverie.core.forgetting.mask import Mask
from reverie.core.records import Entry, Event, Span, Tombstone
from reverie.core.sessions.extracting import Extracted, Reading
from reverie.drain import drain
from reverie.errors import ModelFailed
from reverie.extract import extract
from reverie.model.asking import Request
from reverie.store import sessions, stream
from reverie.store.workspace import Workspace
from reverie.testing import ScriptedModel

TEA, JOB, CITY = "I prefer tea over coffee.", "I work at Kestrel.", "I moved to Lisbon."


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """Return an empty workspace."""
    return opened(tmp_path)


def test_a_span_is_one_record_of_the_model_that_read_it(ws: Workspace) -> None:
    """What a model finds is journalled as one record that names it and its prompt; nothing is asked again."""
    told(ws, JOB, CITY)
    model = always()
    done = extract(ws, reading(ws), model=model)
    assert (done.spans, done.entries, done.asked, done.due.drain) == (1, 2, 1, True)
    (record,) = records(ws)
    assert (record.start, record.stop, record.extractor) == (0, 2, "scripted:model extract/1")
    assert extract(ws, reading(ws), model=model) == Extracted()
    told(ws, TEA)
    extract(ws, reading(ws), model=model)
    assert [line["text"] for line in asked(model.requests[-1])] == [JOB, CITY, TEA]
    assert [line["text"] for line in unread(model.requests[-1])] == [TEA]


def test_a_long_session_is_read_span_by_span(ws: Workspace) -> None:
    """Each request's turns become a record of their own, so that a late failure costs no earlier span."""
    told(ws, *(f"I keep {n} jars." for n in range(100)))
    model = ScriptedModel([word_for_word, word_for_word, ModelFailed("down", kind="down")])
    done = extract(ws, reading(ws), model=model)
    assert (done.spans, done.entries, done.problems) == (2, 80, ("down",))
    assert extract(ws, reading(ws), model=always()).entries == 20
    assert [(one.start, one.stop) for one in records(ws)] == [(0, 40), (40, 80), (80, 100)]


def test_two_readings_at_once_store_one(ws: Workspace) -> None:
    """A reading that overtakes another while its model thinks wins; the slow one stores nothing (P-02)."""
    told(ws, JOB, CITY)

    def slow(request: Request) -> str:
        fast = opened(ws.root, first=1 << 32)
        assert extract(fast, reading(fast), model=always()).entries == 2
        return reply(item("User is at Kestrel.", JOB, 0))

    done = extract(ws, reading(ws), model=ScriptedModel([slow]))
    assert done == Extracted(asked=1)
    assert texts(ws) == [CITY, JOB]


def test_a_drain_while_a_model_thinks_doubles_nothing(ws: Workspace) -> None:
    """The mark is found in the archive as in the queue."""
    told(ws, JOB)

    def slow(request: Request) -> str:
        fast = opened(ws.root, first=1 << 32)
        extract(fast, reading(fast), model=always())
        drain(fast)
        return word_for_word(request)

    extract(ws, reading(ws), model=ScriptedModel([slow]))
    drain(ws)
    assert list(account(ws).texts.values()) == [JOB]


def test_turns_said_while_a_model_thinks_are_read_next(ws: Workspace) -> None:
    """No lock is held while a model answers: capture goes on, and the new turn waits for the next span (P-02)."""
    told(ws, JOB)

    def slow(request: Request) -> str:
        told(opened(ws.root, first=1 << 32), CITY)
        return word_for_word(request)

    extract(ws, reading(ws), model=ScriptedModel([slow, word_for_word]))
    assert [(one.start, one.stop) for one in sorted(records(ws), key=lambda one: one.start)] == [
        (0, 1),
        (1, 2),
    ]


def test_threads_that_read_together_read_each_span_once(ws: Workspace) -> None:
    """Of four threads with models of their own, each span is stored by one (P-02)."""
    told(ws, *(f"I own {n} bikes." for n in range(90)))
    barrier = threading.Barrier(4)

    def run(first: int) -> None:
        own = opened(ws.root, first=first << 32, lock_wait_seconds=60.0)
        barrier.wait()
        extract(own, reading(own), model=always())

    threads = [threading.Thread(target=run, args=(number,)) for number in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Counter(texts(ws)) == Counter(f"I own {n} bikes." for n in range(90))


def test_nothing_forgotten_excluded_or_rendered_reaches_a_model(tmp_path: Path) -> None:
    """What was forgotten of a turn, excluded topics and memory that came back are not sent (P-09, R-25, R-28)."""
    ws = opened(tmp_path, exclusions=("salary",))
    capture(ws, "s1", said("I like tea.\nI moved to Lisbon."), rendered=["I like tea, that is known."])
    capture(ws, "s1", said("My salary is 90,000 EUR. I ride a bike."))
    capture(ws, "s1", said("I like tea, that is known.\nI swim."), rendered=["I like tea, that is known."])
    first = sessions.load(ws, "s1").turns[0]
    masked = Mask([Tombstone(id="1" * 16, at=NOON, spans=(Span("s1", first.id, n=0),))], b"")
    asks = reading(ws)
    model = always()
    extract(
        ws,
        Reading(mark=asks.mark, note=asks.note, known=asks.known, alike=asks.alike, masked=masked),
        model=model,
    )
    (request,) = model.requests
    assert [line["text"] for line in unread(request)] == ["I ride a bike.", "I swim."]


def test_an_agent_that_repeats_what_it_was_shown_has_observed_nothing(ws: Workspace) -> None:
    """An entry in an assistant's turn that says what the session was shown is an echo; a user's is an observation."""
    shown = Entry(id="a" * 16, text="User prefers tea over coffee.", at=NOON, day="2026-06-01", origin="user")
    asks = reading(ws)
    seeing = Reading(
        mark=asks.mark, note=asks.note, known=asks.known, alike=asks.alike, shown=lambda _: (shown,)
    )
    told(ws, "You prefer tea over coffee.", role="assistant")
    told(ws, TEA)

    def both(request: Request) -> str:
        return reply(*(item(shown.text, line["text"], line["n"]) for line in unread(request)))

    model = always(both)
    done = extract(ws, seeing, model=model)
    assert (done.entries, done.echoes) == (1, 1)
    assert records(ws)[0].entries[0].origin == "user"
    assert [line["known"] for line in asked(model.requests[0]) if "known" in line] == [shown.text]


def test_a_hint_of_what_is_replaced_is_asked_about_and_never_done(ws: Workspace) -> None:
    """What a model says an entry replaces becomes a question where the guard sees no change (R-01, R-02)."""
    old = Entry(
        id="a" * 16, text="User likes coffee.", at=NOON - timedelta(days=9), day="2026-06-22", origin="user"
    )
    asks = reading(ws)
    state = EntryState(entry=old, sig=0.5, confirmed=old.at)
    seeing = Reading(mark=asks.mark, note=asks.note, known=asks.known, alike=lambda _: (state,))
    told(ws, "I like tea.")
    extract(
        ws,
        seeing,
        model=always(reply(item("User likes tea.", "I like tea", 0, replaces="User likes coffee"))),
    )
    (event,) = stream.read(ws, layout.EVENTS, Event).records
    assert (event.kind, event.other) == ("conflict", old.id)
    assert records(ws)[0].entries[0].supersedes == ()


def test_secrets_in_a_reply_reach_no_file(tmp_path: Path) -> None:
    """What a model copies out of a turn captured without redaction is redacted like any entry (R-44)."""
    open_ws = opened(tmp_path, redaction=False)
    told(open_ws, "My key is AKIAIOSFODNN7EXAMPLQ, keep it.")
    ws = opened(tmp_path, first=1 << 32)
    extract(ws, reading(ws), model=always())
    assert "AKIAIOSFODNN7EXAMPLQ" not in str(records(ws)[0].entries)


def test_a_lost_session_file_is_read_whole_by_a_model_too(ws: Workspace) -> None:
    """Turns under ordinals that were read before the file was lost are read as one span, once (R-47)."""
    told(ws, *(f"I own {n} bikes." for n in range(60)))
    extract(ws, reading(ws), model=always())
    (ws.root / sessions.path_of("s1")).unlink()
    ws.ends.clear()
    told(ws, *(f"I own {n} cars." for n in range(45)))
    for _ in range(3):
        extract(ws, reading(ws), model=always())
    assert sum("cars" in one for one in texts(ws)) == 45
    assert len(texts(ws)) == 105


def test_what_is_due_is_read_and_what_goes_on_is_left_alone(ws: Workspace) -> None:
    """Asked by the clock, sessions that ended, fell silent or said enough are read; a fresh one waits for its turn."""
    told(ws, *(f"I own {n} bikes." for n in range(6)), session="enough")
    told(ws, JOB, session="ended")
    end(ws, "ended")
    told(ws, CITY, session="fresh")
    model = always()
    assert extract(ws, reading(ws), model=model, moment="tick").spans == 2
    clock(ws).advance(minutes=15)
    assert extract(ws, reading(ws), model=model, moment="tick").spans == 1
    assert extract(ws, reading(ws), model=model, moment="hand") == Extracted()
    assert len(texts(ws)) == 8
