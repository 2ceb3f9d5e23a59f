"""The rule extractor meets the hand-written answers to the sample conversations: precision, recall, and nevers."""

import json
import sys
import tomllib
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from reverie.core.days import Calendar, parse_instant
from reverie.core.records import Entry, Turn
from reverie.core.secrets.redact import redact
from reverie.model.rules.turns import extract

SAMPLES = Path(__file__).parents[2] / "samples"
ANSWERS: dict[str, list[dict[str, Any]]] = tomllib.loads(
    (SAMPLES / "answers.toml").read_text(encoding="utf-8")
)
FILES = [block["name"] for block in ANSWERS["file"]]
PRECISION = 0.88
RECALL = 0.80


def found_in(name: str) -> dict[str, list[Entry]]:
    """What the extractor finds in a sample file, by the id of the turn, from turns redacted as capture does it."""
    zone = next(block["zone"] for block in ANSWERS["file"] if block["name"] == name)
    rows = [json.loads(line) for line in (SAMPLES / name).read_text(encoding="utf-8").splitlines()]
    turns = [
        Turn(
            role=row["role"],
            content=redact(row["content"]).text,
            at=parse_instant(row["timestamp"]),
            session=row["session"],
            id=row["id"],
            n=at,
        )
        for at, row in enumerate(rows)
    ]
    entries = defaultdict(list)
    for found in extract(turns, Calendar(zone, "00:00")):
        entries[rows[found.n]["id"]].append(found.entry)
    return entries


FOUND = {name: found_in(name) for name in FILES}


def turns_of(answer: dict[str, Any]) -> list[str]:
    """The turns an answer may come from."""
    return answer.get("turns") or [answer["turn"]]


def answers(entry: Entry, answer: dict[str, Any]) -> bool:
    """Whether a reader of the entry finds all that the answer asks for."""
    words = f"{entry.text} {entry.evidence}".casefold()
    return all(must.casefold() in words for must in answer["must"])


def scored(name: str) -> tuple[int, int, int, int]:
    """Entries that some answer of their turn asks for, all entries, answers that were found, all answers."""
    asked = [answer for answer in ANSWERS["entry"] if answer["file"] == name]
    entries = [(turn, entry) for turn, found in FOUND[name].items() for entry in found]
    right = sum(
        any(turn in turns_of(answer) and answers(entry, answer) for answer in asked)
        for turn, entry in entries
    )
    met = sum(
        any(answers(entry, answer) for turn in turns_of(answer) for entry in FOUND[name].get(turn, ()))
        for answer in asked
    )
    return right, len(entries), met, len(asked)


def test_precision_and_recall_are_high_enough(capsys: pytest.CaptureFixture[str]) -> None:
    """Precision and recall over both sample weeks stay above their floors; the numbers are printed."""
    totals = [0, 0, 0, 0]
    lines = []
    for name in FILES:
        counts = scored(name)
        totals = [total + count for total, count in zip(totals, counts, strict=True)]
        right, all_, met, asked = counts
        lines.append(
            f"{name}: precision {right / all_:.3f} ({right}/{all_}), recall {met / asked:.3f} ({met}/{asked})"
        )
    right, all_, met, asked = totals
    lines.append(
        f"together: precision {right / all_:.3f} ({right}/{all_}), recall {met / asked:.3f} ({met}/{asked})"
    )
    with capsys.disabled():
        sys.stdout.write("\n  " + "\n  ".join(lines) + "\n")
    assert right / all_ >= PRECISION
    assert met / asked >= RECALL


@pytest.mark.parametrize("answer", ANSWERS["never"], ids=lambda answer: f"{answer['turn']}-{answer['why']}")
def test_what_must_not_be_stored_is_no_active_entry(answer: dict[str, Any]) -> None:
    """Secrets are in no entry at all; injections, jokes, questions, hypotheses and small talk in no active one."""
    for entry in FOUND[answer["file"]].get(answer["turn"], ()):
        if answer["why"] == "secret":
            assert answer["text"] not in f"{entry.text} {entry.evidence} {' '.join(entry.tags)}"
        elif entry.status == "active":
            assert answer["text"].casefold() not in f"{entry.text} {entry.evidence}".casefold()


@pytest.mark.parametrize(
    "answer", [one for one in ANSWERS["entry"] if "due" in one], ids=lambda answer: answer["turn"]
)
def test_a_promise_that_is_found_is_due_on_its_day(answer: dict[str, Any]) -> None:
    """A found entry that answers for a promise with a date carries that date, if it is a commitment."""
    for turn in turns_of(answer):
        for entry in FOUND[answer["file"]].get(turn, ()):
            if answers(entry, answer) and entry.due:
                assert entry.due.startswith(answer["due"].isoformat())
