"""The sample conversations and their answer file agree with each other and show what they promise to show."""

import json
import re
import tomllib
from collections import Counter, defaultdict
from datetime import date, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

SAMPLES = Path(__file__).parents[2] / "samples"
FILES = ("aria.jsonl", "xiaolan.jsonl")
CATEGORIES = {
    *("fact", "decision", "episode", "procedure", "commitment", "preference"),
    *("personal", "work", "project", "technical", "goal", "lesson"),
}
REASONS = {"secret", "injection", "smalltalk", "hypothetical", "question", "joke", "tool"}
HAN = re.compile(r"[\u4e00-\u9fff]")

Turn = dict[str, Any]
Block = dict[str, Any]


def turns_of(name: str) -> list[Turn]:
    """All turns of one sample file, in the order of its lines."""
    text = (SAMPLES / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


TURNS = {name: {turn["id"]: turn for turn in turns_of(name)} for name in FILES}
ANSWERS: dict[str, list[Block]] = tomllib.loads((SAMPLES / "answers.toml").read_text(encoding="utf-8"))
ZONES = {block["name"]: ZoneInfo(block["zone"]) for block in ANSWERS["file"]}


def said(block: Block) -> str:
    """The words of the turn, or of all the turns, that an answer names."""
    ids = block.get("turns") or [block["turn"]]
    return "\n".join(TURNS[block["file"]][turn]["content"] for turn in ids)


def said_on(block: Block) -> date:
    """The day, by the user's own clock, on which the turn of an answer was said."""
    return datetime.fromisoformat(TURNS[block["file"]][block["turn"]]["timestamp"]).date()


def missing(wanted: list[str], text: str) -> list[str]:
    """Those of the wanted strings that do not stand in the text, whatever their case."""
    return [string for string in wanted if string.lower() not in text.lower()]


@pytest.mark.parametrize("name", FILES)
def test_a_line_is_one_turn_with_the_documented_keys(name: str) -> None:
    """Every line is an object with session, id, role, content and timestamp, and a name only where a tool speaks."""
    for turn in turns_of(name):
        assert set(turn) - {"name"} == {"session", "id", "role", "content", "timestamp"}
        assert turn["role"] in {"user", "assistant", "tool"}
        assert ("name" in turn) == (turn["role"] == "tool")
        assert turn["content"].strip()


@pytest.mark.parametrize("name", FILES)
def test_turn_ids_are_unique(name: str) -> None:
    """No two turns of a file share an id."""
    assert len(TURNS[name]) == len(turns_of(name))


@pytest.mark.parametrize("name", FILES)
def test_time_only_moves_forward(name: str) -> None:
    """The turns of a file, and so of each session, are in order of time, none at the same second."""
    times = [datetime.fromisoformat(turn["timestamp"]) for turn in turns_of(name)]
    assert times == sorted(set(times))


@pytest.mark.parametrize("name", FILES)
def test_a_session_is_one_stretch_of_lines(name: str) -> None:
    """Once another session has begun, a session does not come back."""
    order = [turn["session"] for turn in turns_of(name)]
    starts = [now for before, now in zip([None, *order], order, strict=False) if now != before]
    assert len(starts) == len(set(starts))


@pytest.mark.parametrize("name", FILES)
def test_the_offset_is_that_of_the_users_zone(name: str) -> None:
    """Every timestamp carries the offset that the zone named in the answers has at that instant."""
    for turn in turns_of(name):
        instant = datetime.fromisoformat(turn["timestamp"])
        assert instant.utcoffset() == instant.astimezone(ZONES[name]).utcoffset()


@pytest.mark.parametrize("name", FILES)
def test_one_session_crosses_midnight(name: str) -> None:
    """Each file has exactly one session that begins on one local day and ends on the next."""
    days: dict[str, set[str]] = defaultdict(set)
    for turn in turns_of(name):
        days[turn["session"]].add(turn["timestamp"][:10])
    assert sorted(len(of) for of in days.values())[-2:] == [1, 2]


def test_the_samples_are_large_and_varied_enough() -> None:
    """Both files cover 8 days, at least 160 turns together, with days of several sessions and with tool output."""
    every = [turn for name in FILES for turn in turns_of(name)]
    for name in FILES:
        turns = turns_of(name)
        assert len({turn["timestamp"][:10] for turn in turns}) == 8
        sessions = Counter(day for _, day in {(turn["session"], turn["timestamp"][:10]) for turn in turns})
        assert max(sessions.values()) >= 2
        assert any(turn["role"] == "tool" for turn in turns)
        assert any("\n> " in turn["content"] for turn in turns)
    assert len(every) >= 160


def test_one_file_is_english_and_one_is_chinese_with_english_in_it() -> None:
    """The main language of each file is what the answers say, and the Chinese one has turns in English too."""
    languages = {block["name"]: block["language"] for block in ANSWERS["file"]}
    for name in FILES:
        spoken = [turn["content"] for turn in turns_of(name) if turn["role"] != "tool"]
        chinese = sum(1 for text in spoken if HAN.search(text))
        assert (languages[name], chinese / len(spoken) > 0.9) in {("en", False), ("zh", True)}
    assert any(
        not HAN.search(turn["content"]) for turn in turns_of("xiaolan.jsonl") if turn["role"] == "user"
    )


def test_every_answer_names_turns_that_exist() -> None:
    """Each block names a sample file, and each turn it names stands in that file."""
    for kind in ("entry", "never", "optional", "due", "current", "question"):
        for block in ANSWERS[kind]:
            ids = [*block.get("turns", []), *([block["turn"]] if "turn" in block else [])]
            ids += [block["done"]] if "done" in block else []
            assert ids
            assert not [turn for turn in ids if turn not in TURNS[block["file"]]], block


def test_entries_use_known_words() -> None:
    """Categories, further categories and statuses of entries come from the documented lists."""
    for entry in ANSWERS["entry"]:
        assert {entry["category"], *entry.get("also", [])} <= CATEGORIES, entry
        assert entry["category"] not in entry.get("also", []), entry
        assert entry.get("status", "current") in {"current", "previous", "corrected"}, entry
        assert entry["about"], entry
        assert entry["must"], entry


@pytest.mark.parametrize("kind", ["entry", "current", "question"])
def test_what_must_be_found_was_said(kind: str) -> None:
    """Every must-string stands in the turns its block names; dates are answered apart, in date and due."""
    for block in ANSWERS[kind]:
        assert not missing(block["must"], said(block)), block


def test_what_is_due_was_said_and_is_an_entry() -> None:
    """Every due block repeats one commitment, its day is not before the day it was said, and done lies after it."""
    commitments = [entry for entry in ANSWERS["entry"] if entry["category"] == "commitment"]
    assert len(commitments) == len(ANSWERS["due"])
    for due, entry in zip(ANSWERS["due"], commitments, strict=True):
        assert (due["file"], due["turn"], due["what"]) == (entry["file"], entry["turn"], entry["must"])
        assert (due["date"], due["who"]) == (entry["due"], entry["who"])
        assert due["date"] >= said_on(due)
        if "done" in due:
            turns = TURNS[due["file"]]
            assert turns[due["done"]]["timestamp"] > turns[due["turn"]]["timestamp"]


def test_repeats_are_joined_over_turns() -> None:
    """A group joins at least two turns of one file, and both an exact and a reworded repeat are among the groups."""
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for entry in ANSWERS["entry"]:
        if "group" in entry:
            groups[entry["file"], entry["group"]].append(entry["turn"])
    assert all(len(set(turns)) >= 2 for turns in groups.values())
    assert {file for file, _ in groups} == set(FILES)
    for sentence in (
        "I prefer short answers without preamble.",
        "Dana from Zephyr Logistics prefers calls before noon",
    ):
        assert sum(sentence in turn["content"] for turn in turns_of("aria.jsonl")) == 2
    assert len(groups["aria.jsonl", "dana-calls"]) == 3


def test_what_must_not_be_stored_was_said_once_and_is_wanted_by_no_entry() -> None:
    """A never-text stands in its turn, in no other of its file, and no must-string of that turn lies in it."""
    for never in ANSWERS["never"]:
        assert never["why"] in REASONS, never
        assert (never.get("on_disk", True) is False) == (never["why"] == "secret"), never
        holders = [
            key for key, turn in TURNS[never["file"]].items() if not missing([never["text"]], turn["content"])
        ]
        assert holders == [never["turn"]], never
        for entry in ANSWERS["entry"]:
            if (entry["file"], entry["turn"]) == (never["file"], never["turn"]):
                assert all(missing([must], never["text"]) for must in entry["must"]), (never, entry)


@pytest.mark.parametrize("name", FILES)
def test_each_file_shows_every_reason_not_to_store(name: str) -> None:
    """Each file holds a secret, an injection, small talk, a hypothetical, a question, a joke and tool output."""
    assert {never["why"] for never in ANSWERS["never"] if never["file"] == name} == REASONS


def test_secrets_have_the_shape_of_real_ones() -> None:
    """A service key, a cloud key pair and a private key block of several lines stand in turns of users."""
    shapes = (
        r"\bsk-[A-Za-z0-9]{40,}\b",
        r"\bAKIA[0-9A-Z]{16}\b",
        r"-----BEGIN OPENSSH PRIVATE KEY-----\n(.+\n){3,}-----END OPENSSH PRIVATE KEY-----",
    )
    text = "\n".join(turn["content"] for name in FILES for turn in turns_of(name) if turn["role"] == "user")
    assert not [shape for shape in shapes if not re.search(shape, text)]


def test_optional_words_stand_in_their_turn() -> None:
    """Every optional text was said in the turn it names."""
    for block in ANSWERS["optional"]:
        assert not missing([block["text"]], said(block)), block


def test_the_truth_is_about_as_large_as_the_talk_deserves() -> None:
    """There are entries of every category, changes and corrections in both files, and tens of promises."""
    entries = ANSWERS["entry"]
    assert len(entries) >= 70
    assert {entry["category"] for entry in entries} == CATEGORIES
    for name in FILES:
        mine = [entry for entry in entries if entry["file"] == name]
        assert len(mine) >= 30
        assert {entry.get("status") for entry in mine} >= {"previous", "corrected", "current"}
        assert sum(block["file"] == name for block in ANSWERS["due"]) >= 8
        assert any(block["previous"] for block in ANSWERS["current"] if block["file"] == name)


@pytest.mark.parametrize("name", FILES)
def test_there_are_questions_to_ask(name: str) -> None:
    """Each file has at least eight questions, the Chinese one four of two characters and some in English."""
    questions = [block["text"] for block in ANSWERS["question"] if block["file"] == name]
    assert len(questions) == len(set(questions)) >= 8
    if name == "xiaolan.jsonl":
        assert sum(len(text) == 2 for text in questions) >= 4
        assert any(not HAN.search(text) for text in questions)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("aria.jsonl", ["next Friday", "yesterday", "in two weeks", "by the end of the month", "tomorrow"]),
        ("xiaolan.jsonl", ["下周五", "昨天", "月底", "两周后", "后天", "今晚"]),
    ],
)
def test_relative_dates_are_spoken(name: str, words: list[str]) -> None:
    """Users say days relative to the day of the talk."""
    text = "\n".join(turn["content"] for turn in turns_of(name) if turn["role"] == "user")
    assert not missing(words, text)
