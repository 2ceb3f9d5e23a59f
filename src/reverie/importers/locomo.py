"""LoCoMo conversations: long dialogues of two people over many sessions, with questions about them.

Owns reading that benchmark's JSON; promises that turn ids are the file's own (`D1:3`), so that its evidence can be
looked up; never ships any of it.

Both speakers are people, so both have the role of a user, each by name. A picture's caption follows the words as
`[image: …]`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import msgspec

from reverie.core.days import Calendar
from reverie.core.records import Turn
from reverie.errors import UsageError
from reverie.importers.turns import wall_clock

_SESSION = re.compile(r"session_(\d+)")
_TIME = re.compile(r"(\d{1,2}):(\d{2}) ?([ap])m on (\d{1,2}) (\w+),? (\d{4})", re.IGNORECASE)
_MONTHS = "january february march april may june july august september october november december".split()
_PACE = timedelta(seconds=30)  # the file tells when a session began, and nothing of its turns


class Question(msgspec.Struct, frozen=True):
    """A question of the benchmark: its text, the ids of the turns that answer it, and its category 1 to 5."""

    text: str
    evidence: tuple[str, ...]
    category: int


class Sample(msgspec.Struct, frozen=True):
    """One conversation: its name, its turns in order, and the questions about it."""

    name: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]


def is_locomo(value: Any) -> bool:  # noqa: ANN401 - foreign JSON
    """Whether a decoded JSON value is a LoCoMo file: a sample, or a list of them."""
    first = value[0] if isinstance(value, list) and value else value
    return isinstance(first, dict) and isinstance(first.get("conversation"), dict)


def samples(value: Any, calendar: Calendar) -> Iterator[Sample]:  # noqa: ANN401 - foreign JSON
    """Yield the conversations of a decoded file; raises UsageError when it is no LoCoMo file."""
    if not is_locomo(value):
        raise UsageError("it is no LoCoMo file: a list of objects with `conversation` is wanted")
    for number, sample in enumerate(value if isinstance(value, list) else [value], 1):
        if not is_locomo(sample):
            raise UsageError(f"sample {number} of the LoCoMo file has no `conversation`")
        name = str(sample.get("sample_id") or f"sample-{number}")
        asked = sample.get("qa")
        yield Sample(
            name,
            tuple(_turns(sample["conversation"], name, calendar)),
            tuple(_question(one) for one in asked if isinstance(one, dict))
            if isinstance(asked, list)
            else (),
        )


def _turns(conversation: dict[str, Any], name: str, calendar: Calendar) -> Iterator[Turn]:
    """Yield the turns of all sessions, by the number of the session."""
    numbers = sorted(int(match[1]) for key in conversation if (match := _SESSION.fullmatch(key)))
    for number in numbers:
        began = _began(str(conversation.get(f"session_{number}_date_time", "")), calendar)
        said = conversation[f"session_{number}"]
        for place, one in enumerate(said if isinstance(said, list) else ()):
            if not isinstance(one, dict) or not isinstance(one.get("text"), str):
                continue
            caption = one.get("blip_caption")
            yield Turn(
                role="user",
                content=f"{one['text']} [image: {caption}]" if caption else one["text"],
                at=began + place * _PACE,
                session=f"{name}-session-{number:02d}",
                id=str(one.get("dia_id") or f"D{number}:{place + 1}"),
                name=str(one.get("speaker") or ""),
            )


def _began(text: str, calendar: Calendar) -> datetime:
    """Return the instant a session began; raises UsageError when the file does not say it as LoCoMo does."""
    match = _TIME.search(text)
    if match is None or match[5].lower() not in _MONTHS:
        raise UsageError(f"{text!r} is no LoCoMo time: `1:56 pm on 8 May, 2023` is wanted")
    hour = int(match[1]) % 12 + (12 if match[3].lower() == "p" else 0)
    month = _MONTHS.index(match[5].lower()) + 1
    try:
        return wall_clock(datetime(int(match[6]), month, int(match[4]), hour, int(match[2])), calendar)  # noqa: DTZ001
    except ValueError as error:
        raise UsageError(f"{text!r} is no LoCoMo time: {error}") from error


def _question(value: dict[str, Any]) -> Question:
    evidence = value.get("evidence")
    return Question(
        text=str(value.get("question", "")),
        evidence=tuple(str(one) for one in evidence) if isinstance(evidence, list) else (),
        category=value["category"] if isinstance(value.get("category"), int) else 0,
    )
