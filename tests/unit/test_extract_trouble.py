"""Step 3 with a model whose answers cannot be used: tried again, halved, kept raw, and never taken for none."""

from __future__ import annotations

from pathlib import Path

import pytest
from answering import always, but_for, item, records, reply, texts, told, unread, word_for_word
from ledger import clock, fresh_folders, opened, reading

from reverie.core.sessions.extracting import Extracted
from reverie.errors import ModelFailed
from reverie.extract import RAW, extract
from reverie.model.asking import Reply, Request
from reverie.store import history, sessions, tries
from reverie.store.workspace import Workspace
from reverie.testing import CrashDisk, crash_loop

TEA, JOB, CITY = "I prefer tea over coffee.", "I work at Kestrel.", "I moved to Lisbon."


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """Return an empty workspace."""
    return opened(tmp_path)


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
    """The span stays unread and is asked about again, by the next process too (R-11, R-17, P-16, L-25)."""
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
    """After tries that survive restarts it stands alone and goes raw into the history; the rest is read (R-11)."""

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
