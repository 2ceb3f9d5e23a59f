"""Step 3 with a model: spans read exactly once, tried again, halved, kept raw, and never read by rule instead."""

from __future__ import annotations

import threading
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest
from answering import asked, but_for, item, reply, unread, word_for_word
from ledger import NOON, account, clock, fresh_folders, opened, reading, said

from reverie import layout
from reverie.capture import capture, end
from reverie.core.extracting import Extracted, Reading
from reverie.core.fold import EntryState
from reverie.core.forgetting import Mask
from reverie.core.records import Entry, Event, Extraction, Span, Tombstone
from reverie.drain import drain
from reverie.errors import ModelFailed
from reverie.extract import RAW, extract
from reverie.model.asking import Reply, Request
from reverie.store import history, journal, sessions, stream, tries
from reverie.store.workspace import Workspace
from reverie.testing import CrashDisk, ScriptedModel, crash_loop

TEA, JOB, CITY = "I prefer tea over coffee.", "I work at Kestrel.", "I moved to Lisbon."


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """Return an empty workspace."""
    return opened(tmp_path)


def told(ws: Workspace, *texts: str, session: str = "s1", role: str = "user") -> None:
    """Capture what was said."""
    for text in texts:
        capture(ws, session, said(text, role=role))


def records(ws: Workspace) -> list[Extraction]:
    """Return every extraction, drained or not."""
    every = [*journal.archived(ws), *journal.waiting(ws).records]
    return [record for record in every if isinstance(record, Extraction)]


def texts(ws: Workspace) -> list[str]:
    """Return the texts of all entries extracted."""
    return sorted(entry.text for record in records(ws) for entry in record.entries)


def always(answer: object = word_for_word) -> ScriptedModel:
    """Return a model that gives the same answer to everything."""
    return ScriptedModel([answer], loop=True)


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


@pytest.mark.parametrize("kind", ["missing", "auth", "limit", "down", "timeout", "no_such_model", "ceiling"])
def test_a_model_that_cannot_be_asked_leaves_everything_unread(ws: Workspace, kind: str) -> None:
    """No rule stands in, no other session is asked about, no try is counted, and the remedy is told (P-05)."""
    told(ws, JOB)
    told(ws, CITY, session="s2")
    failing = always(ModelFailed("set the key", kind=kind))
    for _ in range(5):
        assert extract(ws, reading(ws), model=failing) == Extracted(problems=("set the key",))
    assert len(failing.requests) == 5
    assert records(ws) == []
    assert tries.read(ws) == tries.Tries()
    assert extract(ws, reading(ws), model=always()).entries == 2


@pytest.mark.parametrize(
    "unusable", ["", "There are no facts.", "<html></html>", '{"facts": []}', "<think>hm"]
)
def test_an_unreadable_answer_is_no_empty_one(ws: Workspace, unusable: str) -> None:
    """The span stays unread and is asked about again, by the next process too (R-11, R-17, P-16)."""
    told(ws, JOB)
    done = extract(ws, reading(ws), model=always(unusable))
    assert (done.spans, done.entries) == (0, 0)
    assert "could not be read" in done.problems[0]
    assert tries.of(opened(ws.root), "s1", "0").tries == 1
    assert extract(ws, reading(ws), model=always()).entries == 1
    assert tries.read(ws).waiting == {}


def test_an_empty_list_is_an_answer(ws: Workspace) -> None:
    """A span in which nothing is worth keeping is read once, like any other (R-08)."""
    told(ws, "Hello!")
    done = extract(ws, reading(ws), model=always(reply()))
    assert (done.spans, done.entries) == (1, 0)
    assert extract(ws, reading(ws), model=always(reply())) == Extracted()


@pytest.mark.parametrize(
    "instead", ["no JSON", ModelFailed("I won't", kind="refused")], ids=["odd", "refused"]
)
def test_the_turn_that_cannot_be_read_is_isolated_and_kept_raw(ws: Workspace, instead: object) -> None:
    """After some tries the span is halved until the turn stands alone; it goes raw into the history, the rest is read.

    The tries survive restarts (R-11, P-07), and no turn leaves the active window.
    """

    def answer(request: Request) -> str:
        if any("poison" in line["text"] for line in unread(request)):
            if isinstance(instead, Exception):
                raise instead
            return str(instead)
        return word_for_word(request)

    told(
        ws, *(f"I own {n} bikes." for n in range(5)), "a poison word", *(f"I own {n} cars." for n in range(6))
    )
    problems: list[str] = []
    for restart in range(30):
        again = opened(ws.root, first=(restart + 1) << 32)
        done = extract(again, reading(again), model=always(answer))
        problems += done.problems
        if not done.problems and not done.spans:
            break
    assert len(texts(ws)) == 11
    (raw,) = history.read(ws)
    assert (raw.turns, raw.raw, raw.aside, raw.session) == ("5", True, True, "s1")
    assert "a poison word" in raw.content
    assert history.reached(ws, "s1").ordinal == -1
    assert [one.extractor for one in records(ws) if not one.entries] == [RAW]
    (given_up,) = tries.read(ws).given_up
    assert given_up.what == "turns 5 of s1"
    assert problems[-1] == f"{given_up.what} was kept raw: {given_up.why}"
    spans = sorted((one.start, one.stop) for one in records(ws))
    assert [start for start, _ in spans[1:]] == [stop for _, stop in spans[:-1]]
    assert (spans[0][0], spans[-1][1]) == (0, 12)


def test_a_reply_that_was_cut_is_asked_for_again_in_halves_at_once(ws: Workspace) -> None:
    """A span that holds more than one reply does is halved without waiting, and every turn is read once (R-17)."""

    def short(request: Request) -> Reply:
        return Reply(text=word_for_word(request)[:400], finished=False) if len(unread(request)) > 2 else Reply(
            text=word_for_word(request)
        )  # fmt: skip

    told(ws, *(f"I own {n} bikes." for n in range(9)))
    done = extract(ws, reading(ws), model=always(short))
    assert (done.entries, done.problems) == (9, ())
    assert texts(ws) == sorted(f"I own {n} bikes." for n in range(9))


def test_a_turn_that_is_always_cut_gives_what_stood_in_its_reply_whole(ws: Workspace) -> None:
    """When not even one turn fits a reply, its whole items are kept beside the raw turn."""
    told(ws, f"{TEA} {CITY}")
    whole = reply(item("User prefers tea.", TEA, 0), item("User moved to Lisbon.", CITY, 0))
    done = extract(ws, reading(ws), model=always(Reply(text=whole[:-40], finished=False)))
    assert texts(ws) == ["User prefers tea."]
    assert [one.turns for one in history.read(ws)] == ["0"]
    assert "kept raw" in done.problems[0]


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


def test_a_power_cut_anywhere_costs_no_turn_and_doubles_none(tmp_path: Path) -> None:
    """Whatever call the power is cut at, the next extraction reads what is unread, and each turn once (R-04, R-43)."""

    def life(disk: CrashDisk, tell: object) -> None:
        ws = opened(disk.root, disk=disk, durability="full")
        told(ws, JOB, "a poison word", CITY)
        for _ in range(4):
            extract(ws, reading(ws), model=always(but_for("poison")))

    for wreck in crash_loop(fresh_folders(tmp_path), life, seeds=(0, 1, 7), step=5):
        ws = opened(wreck.root, first=1 << 32)
        stored = [turn.content for turn in sessions.load(ws, "s1").turns]
        for _ in range(14):
            extract(ws, reading(ws), model=always(but_for("poison")))
        raw = [one.turns for one in history.read(ws)]
        assert texts(ws) == sorted(one for one in stored if "poison" not in one), (wreck.at, wreck.seed)
        assert raw == (["1"] if len(stored) > 1 else []), (wreck.at, wreck.seed)
        assert history.verify(ws) == []


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


def test_a_turn_too_long_to_be_read_whole_is_told(ws: Workspace) -> None:
    """A document in a turn is read up to a limit, and the rest is named, not passed over in silence (R-17, R-18)."""
    told(ws, "A line of a log.\n" * 6_000)
    done = extract(ws, reading(ws), model=always(reply()))
    assert done.spans == 1
    assert "are too far in to be read" in done.problems[0]


def test_what_cannot_be_read_is_told_with_what_to_do(ws: Workspace) -> None:
    """A span that waits for another try, and one that was kept raw, are named, the latter for a week."""
    told(ws, "a poison word")
    extract(ws, reading(ws), model=always(but_for("poison")))
    ((what, remedy),) = tries.told(ws)
    assert "s1" in what
    assert "reverie extract" in remedy
    for _ in range(2):
        extract(ws, reading(ws), model=always(but_for("poison")))
    ((what, remedy),) = tries.told(ws)
    assert "turns 0 of s1" in what
    assert "recall" in remedy
    clock(ws).advance(days=8)
    assert list(tries.told(ws)) == []


def note_file(ws: Workspace, text: str) -> None:
    """Write the note of the day."""
    (ws.root / "notes").mkdir(exist_ok=True)
    (ws.root / "notes/2026-07-01.md").write_text(text, encoding="utf-8")


def test_an_edited_note_gives_a_model_only_what_is_new(ws: Workspace) -> None:
    """Paragraphs that gave entries are not asked about again, whatever words a model would find now (M-11, P-09)."""
    note_file(ws, "Deployed version 2.\n\nDana prefers calls.")
    model = always()
    assert extract(ws, reading(ws), model=model).entries == 2
    assert extract(ws, reading(ws), model=model) == Extracted()
    note_file(ws, "Deployed version 2.\n\nDana prefers calls.\n\nThe server moved to Oslo.")
    assert extract(ws, reading(ws), model=model).entries == 1
    assert [line["text"] for line in unread(model.requests[-1])] == ["The server moved to Oslo."]
    assert {entry.origin for record in records(ws) for entry in record.entries} == {"agent"}
    assert {entry.session for record in records(ws) for entry in record.entries} == {""}


def test_a_long_note_is_read_in_pieces_that_are_kept(ws: Workspace) -> None:
    """What was read of a note before its model failed is not read again, and the note is done when all is."""
    note_file(ws, "\n\n".join(f"Shelf {n} holds {n + 3} boxes." for n in range(60)))
    failing = ScriptedModel([word_for_word, ModelFailed("down", kind="down")])
    assert extract(ws, reading(ws), model=failing).entries == 40
    clock(ws).advance(minutes=5)
    model = always()
    assert extract(ws, reading(ws), model=model).entries == 20
    assert len(unread(model.requests[0])) == 20
    clock(ws).advance(minutes=5)
    assert extract(ws, reading(ws), model=model) == Extracted()
    assert len(set(texts(ws))) == 60


def test_a_paragraph_that_cannot_be_read_does_not_hold_up_its_note(ws: Workspace) -> None:
    """It is tried, halved out, told in the status, and stays in its file; the others become entries (R-11)."""
    note_file(ws, "Shelf 1 holds 4 boxes.\n\na poison word\n\nShelf 2 holds 5 boxes.")
    for _ in range(12):
        clock(ws).advance(minutes=5)
        extract(ws, reading(ws), model=always(but_for("poison")))
    assert texts(ws) == ["Shelf 1 holds 4 boxes.", "Shelf 2 holds 5 boxes."]
    assert [one.what for one in tries.read(ws).given_up] == ["a paragraph of notes/2026-07-01.md"]


def test_two_readings_of_a_note_at_once_store_one(ws: Workspace) -> None:
    """The slower of two readings of a note finds it read and stores nothing (P-02)."""
    note_file(ws, "\n\n".join(f"Shelf {n} holds {n + 3} boxes." for n in range(50)))

    def slow(request: Request) -> str:
        fast = opened(ws.root, first=1 << 32)
        extract(fast, reading(fast), model=always())
        return word_for_word(request)

    extract(ws, reading(ws), model=ScriptedModel([slow]))
    assert Counter(texts(ws)) == Counter(f"Shelf {n} holds {n + 3} boxes." for n in range(50))


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
