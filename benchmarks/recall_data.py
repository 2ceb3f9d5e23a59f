"""The questions that recall is measured on: conversations with the turns that answer each question.

Owns the reading of LoCoMo and BEAM files, which lie beside the checkout and whose licences forbid copies, and of this
project's own two sets in `benchmarks/data`; promises that a question without a turn that answers it is left out.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from reverie.core.rows import Row

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
    """Return the chats of a file, whichever of the formats it has; raises ValueError for another."""
    if path.suffix == ".txt":
        return own(path)
    found = json.loads(path.read_text("utf-8"))
    documents = found if isinstance(found, list) else [found]
    if all("conversation" in one and "qa" in one for one in documents):
        return [_locomo(one) for one in documents]
    if all("turns" in one and "questions" in one for one in documents):
        return [_beam(one) for one in documents]
    message = f"{path} is neither a LoCoMo nor a BEAM file"
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
            rows.append(_row(turn["dia_id"], text, at, (str(number), n), person=turn["speaker"]))
    questions = []
    for asked in document["qa"]:
        cited = re.findall(r"D:?(\d+):0*(\d+)", " ".join(map(str, asked.get("evidence") or [])))
        evidence = frozenset(f"D{session}:{turn}" for session, turn in cited)
        questions.append(Question(asked["question"], CATEGORIES[asked["category"]], evidence))
    return _chat(str(document.get("sample_id", "")), rows, questions)


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
        Question(asked["question"], asked["type"], frozenset(map(str, asked["evidence"])))
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
