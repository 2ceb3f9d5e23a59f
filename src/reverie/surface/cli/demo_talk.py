"""The conversations a demo runs on: the samples of the checkout, or a file of the user's own.

Owns reading them; promises that turns come in the order they were said, each with its session, id and time; never
writes.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from reverie.core.days import Calendar
from reverie.core.formats import framing
from reverie.core.records import Turn
from reverie.errors import NotFound, UsageError
from reverie.importers import locomo, turns
from reverie.importers.turns import Defaults, Skipped

SAMPLES = Path(__file__).parents[4] / "samples"
_ANSWERS = "answers.toml"
_MIDNIGHT = "00:00"


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a conversation, and the ids of the turns that answer it."""

    text: str
    turns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """One conversation: agent, user, the zone of its days, turns, questions, and the lines that were no turns."""

    agent: str
    user: str
    zone: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    benchmark: bool = False

    @property
    def calendar(self) -> Calendar:
        """The calendar of its days."""
        return Calendar(self.zone, _MIDNIGHT)


def sample_talks(zone: str = "") -> list[Talk]:
    """Return the sample conversations; raises NotFound where the package was installed without them."""
    answers = SAMPLES / _ANSWERS
    if not answers.is_file():
        message = "the sample conversations come with the source only: name a file of your own with --input"
        raise NotFound(message)
    known = tomllib.loads(answers.read_text(encoding="utf-8"))
    return [_sample(one, known["question"], zone or one["zone"]) for one in known["file"]]


def _sample(told: dict[str, Any], asked: list[dict[str, Any]], zone: str) -> Talk:
    """Return one sample with its questions."""
    taken, skipped = _taken((SAMPLES / told["name"]).read_bytes(), told["agent"], zone)
    questions = [Question(one["text"], tuple(one["turns"])) for one in asked if one["file"] == told["name"]]
    return Talk(
        agent=told["agent"],
        user=told["user"],
        zone=zone,
        turns=taken,
        skipped=skipped,
        questions=tuple(questions),
    )


def talks_of(source: Path, zone: str) -> list[Talk]:
    """Return the conversations of a file: one for JSONL, one a sample for LoCoMo. Raises NotFound, UsageError."""
    try:
        data = source.read_bytes()
    except (FileNotFoundError, IsADirectoryError) as error:
        message = f"there is no file {source}: give a JSONL of turns, or a LoCoMo JSON"
        raise NotFound(message) from error
    whole = _whole(data)
    if whole is not None and locomo.is_locomo(whole):
        return [_benchmark(one, zone) for one in locomo.samples(whole, Calendar(zone, _MIDNIGHT))]
    taken, skipped = _taken(data, source.stem, zone)
    if not taken:
        reason = f"; line {skipped[0].place}: {skipped[0].reason}" if skipped else ""
        message = f'{source} holds no turn{reason}: each line is {{"role": …, "content": …, "timestamp": …}}'
        raise UsageError(message)
    user = next((turn.name or turn.user for turn in taken if turn.role == "user"), "") or "the user"
    return [Talk(agent=source.stem, user=user, zone=zone, turns=taken, skipped=skipped)]


def _benchmark(sample: locomo.Sample, zone: str) -> Talk:
    """Return a conversation of a benchmark with those of its questions that some turn answers."""
    user = next((turn.name for turn in sample.turns if turn.role == "user"), "the user")
    asked = [Question(one.text, one.evidence) for one in sample.questions if one.evidence]
    return Talk(
        agent=sample.name,
        user=user,
        zone=zone,
        turns=tuple(sorted(sample.turns, key=lambda turn: turn.at)),
        questions=tuple(asked),
        benchmark=True,
    )


def _taken(data: bytes, session: str, zone: str) -> tuple[tuple[Turn, ...], tuple[Skipped, ...]]:
    """Return the turns of JSON lines in order of time, and the lines that are none."""
    defaults = Defaults(
        session=session, now=datetime(2026, 1, 1, 9, tzinfo=UTC), calendar=Calendar(zone, _MIDNIGHT)
    )
    found = list(_read(data, defaults))
    taken = sorted((one for one in found if isinstance(one, Turn)), key=lambda turn: turn.at)
    return tuple(taken), tuple(one for one in found if isinstance(one, Skipped))


def _read(data: bytes, defaults: Defaults) -> Iterator[Turn | Skipped]:
    yield from turns.read(data.split(b"\n"), defaults)


def _whole(data: bytes) -> Any | None:  # noqa: ANN401 - foreign JSON
    """Return the one JSON value that `data` is, or None."""
    try:
        return msgspec.json.decode(data)
    except framing.NO_JSON:
        return None
