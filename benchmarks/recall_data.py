"""The questions that recall is measured on: conversations with the turns that answer each question.

Owns the reading of LoCoMo and BEAM files, which lie beside the checkout and whose licences forbid copies, and of this
project's own two sets in `benchmarks/data`; promises that a question without a turn that answers it is left out, and
that a file which cannot be measured is one sentence that says why.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from reverie.core.search.rows import Row

SHARED = Path(__file__).resolve().parents[1].parent / "shared" / "data"
OWN = Path(__file__).resolve().parent / "data"
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}


@dataclass(frozen=True)
class Question:
    """One question with the ids of the turns that answer it."""

    text: str
    category: str
    evidence: frozenset[str]


@dataclass(frozen=True)
class Chat:
    """One conversation and its questions."""

    name: str
    rows: list[Row]
    questions: list[Question]


def read(path: Path) -> list[Chat]:
    """Return the chats of a file, whichever of the formats it has.

    Raises ValueError for another, for one that lacks what a format needs, and for one without a question to measure.
    """
    chats = own(path) if path.suffix == ".txt" else _documents(path)
    if not any(chat.questions for chat in chats):
        message = (
            f"{path} holds no question that one of its turns answers: `evidence` must name turns by their ids"
        )
        raise ValueError(message)
    return chats


def _documents(path: Path) -> list[Chat]:
    try:
        found = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        message = f"{path} is no JSON ({error})"
        raise ValueError(message) from error
    documents = found if isinstance(found, list) else [found]
    for needed, made in ({"conversation", "qa"}, _locomo), ({"turns", "questions"}, _beam):
        if documents and all(isinstance(one, dict) and needed <= one.keys() for one in documents):
            return [_made(path, number, made, one) for number, one in enumerate(documents, start=1)]
    message = (
        f"{path} is neither a LoCoMo nor a BEAM file: it must hold one conversation or a list of them, each with"
        " `conversation` and `qa`, or with `turns` and `questions`"
    )
    raise ValueError(message)


def _made(path: Path, number: int, made: Callable[[dict[str, Any]], Chat], document: dict[str, Any]) -> Chat:
    """Return one conversation of a file; raises ValueError that says which one is at fault, and how."""
    try:
        return made(document)
    except KeyError as error:
        fault = f"something in it has no {error}"
    except (ValueError, TypeError, AttributeError) as error:
        fault = str(error)
    message = f"conversation {number} of {path} cannot be read: {fault}"
    raise ValueError(message)


def _locomo(document: dict[str, Any]) -> Chat:
    """Return a LoCoMo conversation; both speakers are people, so both are users with a name."""
    conversation, rows = document["conversation"], []
    numbers = sorted(int(key.split("_")[1]) for key in conversation if re.fullmatch(r"session_\d+", key))
    for number in numbers:
        when = conversation.get(f"session_{number}_date_time", "")
        at = datetime.strptime(when, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        for n, turn in enumerate(conversation[f"session_{number}"]):
            caption = f" [image: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
            text = f"{turn.get('text', '')}{caption}"
            rows.append(_row(turn["dia_id"], text, at, (str(number), n), person=turn.get("speaker", "")))
    questions = []
    for asked in document["qa"]:
        told = asked.get("evidence") or []
        cited = re.findall(r"D:?(\d+):0*(\d+)", told if isinstance(told, str) else " ".join(map(str, told)))
        evidence = frozenset(f"D{session}:{turn}" for session, turn in cited)
        questions.append(Question(asked["question"], _category(asked), evidence))
    return _chat(str(document.get("sample_id", "")), rows, questions)


def _category(asked: dict[str, Any]) -> str:
    """Return the name of a question's category, what stands there when it is none of LoCoMo's."""
    told = str(asked.get("category", "no category"))
    return CATEGORIES.get(int(told), told) if told.isdecimal() else told


def _beam(document: dict[str, Any]) -> Chat:
    """Return a BEAM chat of a user with an assistant."""
    rows, counts = [], Counter[str]()
    for turn in document["turns"]:
        session = str(turn["session"])
        at = datetime.strptime(turn["time"], "%B-%d-%Y").replace(tzinfo=UTC)
        place = session, counts[session]
        rows.append(_row(str(turn["id"]), turn["content"], at, place, role=turn["role"]))
        counts[session] += 1
    questions = [
        Question(
            asked["question"], asked.get("type", "no type"), frozenset(map(str, asked.get("evidence") or []))
        )
        for asked in document["questions"]
    ]
    return _chat(str(document["id"]), rows, questions)


def own(path: Path) -> list[Chat]:
    """Return one of the two sets made for this project.

    `# DAY` begins a session, `user:` and `assistant:` are its turns, `? QUESTION = N, N` names those that answer.
    """
    rows: list[Row] = []
    questions = []
    session, at, n = "", datetime.now(UTC), 0
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("# "):
            session, n = line[2:], 0
            at = datetime.fromisoformat(session).replace(hour=9, tzinfo=UTC)
        elif line.startswith("? "):
            text, _, answers = line[2:].rpartition(" = ")
            evidence = frozenset(f"{session}/{number.strip()}" for number in answers.split(","))
            questions.append(Question(text, path.stem, evidence))
        elif line:
            role, _, text = line.partition(": ")
            rows.append(_row(f"{session}/{n}", text, at + timedelta(minutes=n), (session, n), role=role))
            n += 1
    return [_chat(path.stem, rows, questions)]


def _chat(name: str, rows: list[Row], questions: list[Question]) -> Chat:
    """Return a chat with the questions that one of its turns answers."""
    known = {row.id for row in rows}
    kept = [
        Question(one.text, one.category, one.evidence & known) for one in questions if one.evidence & known
    ]
    return Chat(name, rows, kept)


def _row(
    id_: str, text: str, at: datetime, place: tuple[str, int], *, person: str = "", role: str = "user"
) -> Row:
    session, n = place
    return Row(
        id=id_,
        kind="turn",
        source=f"sessions/{session}.jsonl",
        text=text,
        at=at,
        day=at.date().isoformat(),
        session=session,
        n=n,
        person=person,
        role=role,
    )
