"""How well recall finds the turn that answers a question, beside plain BM25 on the same words.

Run `python -m benchmarks.recall_quality [FOLDER] [--answers FILE]`. FOLDER holds `locomo_dev.json` and
`beam_dev.json` (default `../shared/data` beside the checkout). The data's licence forbids copies, so it is read where
it lies, and the per-question answers are written only to a FILE you name.

Protocol: each conversation is an index of its own, fed with its turns as rows; a question's ranking is what
`TextIndex.search` and `core.rank.rank` give; the truth is the question's evidence turns (a question without any is
left out). `frac@k` is the mean share of the evidence in the first k; `any` and `all`, of questions with some, or all,
of it there; sessions rank by their best turn. The weights of `core.rank` were searched for on the first three LoCoMo
conversations and on BEAM, whose figures are therefore no test of them. The other two conversations were never
searched, but their figures were in sight when values that do nearly equally well were chosen between: read them as
a check, not as unseen data. The controls are BM25 (k1 1.2, b 0.75) over each turn's own speaker and text: `words`,
lower-cased words; `terms`, the query terms of `core.tokens`.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from reverie.core import query, rank, tokens
from reverie.core.rows import Row
from reverie.index.text import DEPTH, TextIndex

DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data"
TUNED = 3  # LoCoMo conversations the weights were searched on
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
ANSWERED = frozenset(CATEGORIES.values()) - {"adversarial"}


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


@dataclass
class Score:
    """The sums of one line of the table."""

    values: dict[str, list[float]] = field(default_factory=dict)

    def add(self, **values: float) -> None:
        """Add one question's values."""
        for name, value in values.items():
            self.values.setdefault(name, []).append(value)

    def mean(self, name: str) -> float:
        """Return the mean of one column, NaN when no question had it."""
        return statistics.fmean(self.values[name]) if self.values.get(name) else math.nan


def locomo(path: Path) -> list[Chat]:
    """Read the LoCoMo conversations; both speakers are people, so both are users with a name."""
    chats = []
    for document in json.loads(path.read_text("utf-8")):
        conversation, rows = document["conversation"], []
        numbers = sorted(int(key.split("_")[1]) for key in conversation if re.fullmatch(r"session_\d+", key))
        for number in numbers:
            when = conversation.get(f"session_{number}_date_time", "")
            at = datetime.strptime(when, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
            for n, turn in enumerate(conversation[f"session_{number}"]):
                caption = f" [image: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
                rows.append(
                    _row(
                        turn["dia_id"],
                        f"{turn.get('text', '')}{caption}",
                        at,
                        str(number),
                        n,
                        person=turn["speaker"],
                    )
                )
        known = {row.id for row in rows}
        questions = []
        for asked in document["qa"]:
            cited = re.findall(r"D:?(\d+):0*(\d+)", " ".join(map(str, asked.get("evidence") or [])))
            evidence = frozenset(f"D{a}:{b}" for a, b in cited) & known
            if evidence:
                questions.append(Question(asked["question"], CATEGORIES[asked["category"]], evidence))
        chats.append(Chat(document["sample_id"], rows, questions))
    return chats


def beam(path: Path) -> list[Chat]:
    """Read the BEAM chats of a user with an assistant."""
    chats = []
    for document in json.loads(path.read_text("utf-8")):
        rows, counts = [], Counter[str]()
        for turn in document["turns"]:
            session = str(turn["session"])
            at = datetime.strptime(turn["time"], "%B-%d-%Y").replace(tzinfo=UTC)
            rows.append(
                _row(str(turn["id"]), turn["content"], at, session, counts[session], role=turn["role"])
            )
            counts[session] += 1
        known = {row.id for row in rows}
        questions = [
            Question(asked["question"], asked["type"], frozenset(map(str, asked["evidence"])) & known)
            for asked in document["questions"]
        ]
        chats.append(Chat(document["id"], rows, [asked for asked in questions if asked.evidence]))
    return chats


def _row(
    id_: str, text: str, at: datetime, session: str, n: int, *, person: str = "", role: str = "user"
) -> Row:
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


def reverie(chat: Chat, folder: Path) -> Callable[[str], list[str]]:
    """Index a chat and return what ranks its turns for a question."""
    index = TextIndex(folder, nullcontext)
    index.rows.upsert(chat.rows)
    index.commit()
    reference = max(row.at for row in chat.rows)

    def ask(text: str) -> list[str]:
        parsed = query.parse(text, reference.date())
        ranked = rank.rank(parsed, index.search(parsed), reference=reference, k=DEPTH)
        return [one.id for one in ranked]

    return ask


def bm25(chat: Chat, cut: Callable[[str], Sequence[str]]) -> Callable[[str], list[str]]:
    """Return a plain BM25 over the turns' own text, `cut` into words."""
    documents = [Counter(cut(f"{row.person} {row.text}")) for row in chat.rows]
    mean = statistics.fmean(sum(document.values()) for document in documents)
    holders = Counter(word for document in documents for word in document)

    def ask(text: str) -> list[str]:
        scores = [0.0] * len(documents)
        for word in set(cut(text)):
            idf = math.log(1 + (len(documents) - holders[word] + 0.5) / (holders[word] + 0.5))
            for place, document in enumerate(documents):
                if document[word]:
                    norm = 1.2 * (0.25 + 0.75 * sum(document.values()) / mean)
                    scores[place] += idf * document[word] * 2.2 / (document[word] + norm)
        order = sorted(range(len(documents)), key=lambda place: (-scores[place], place))
        return [chat.rows[place].id for place in order[:DEPTH] if scores[place] > 0]

    return ask


def score(ranking: Sequence[str], evidence: frozenset[str], session: dict[str, str]) -> dict[str, float]:
    """Return one question's values."""
    values: dict[str, float] = {}
    for k in (1, 5, 10):
        found = len(evidence & set(ranking[:k]))
        values |= {
            f"frac@{k}": found / len(evidence),
            f"any@{k}": found > 0,
            f"all@{k}": found == len(evidence),
        }
    values["mrr"] = next((1 / place for place, id_ in enumerate(ranking, start=1) if id_ in evidence), 0.0)
    sessions = list(dict.fromkeys(session[id_] for id_ in ranking))[:5]
    wanted = {session[id_] for id_ in evidence}
    return values | {"s-any@5": bool(wanted & set(sessions)), "s-all@5": wanted <= set(sessions)}


COLUMNS = ("frac@5", "frac@10", "any@5", "any@10", "all@10", "mrr", "s-any@5", "s-all@5")
SYSTEMS = ("words", "terms", "reverie")


def measure(name: str, chats: Sequence[Chat], answers: Path | None) -> Iterator[str]:
    """Yield the lines of one data set's table."""
    lines: dict[tuple[str, str], Score] = {}
    times: list[float] = []
    for chat in chats:
        session = {row.id: row.session for row in chat.rows}
        with tempfile.TemporaryDirectory() as folder:
            systems = {
                "words": bm25(chat, lambda text: re.findall(r"\w+", text.lower())),
                "terms": bm25(chat, tokens.query_terms),
                "reverie": reverie(chat, Path(folder)),
            }
            for asked in chat.questions:
                for system, ask in systems.items():
                    start = time.perf_counter()
                    ranking = ask(asked.text)
                    if system == "reverie":
                        times.append(time.perf_counter() - start)
                    values = score(ranking, asked.evidence, session)
                    groups = ["all", asked.category] + ["1-4"] * (asked.category in ANSWERED)
                    for group in groups:
                        lines.setdefault((group, system), Score()).add(**values)
                    if answers and system == "reverie":
                        _note(answers, chat, asked, ranking)
    yield f"\n{name}: {len(times)} questions, {sum(len(chat.rows) for chat in chats)} turns"
    yield f"{'questions':22}{'n':>5} {'system':9}" + "".join(f"{column:>9}" for column in COLUMNS)
    for group in sorted(
        {group for group, _ in lines}, key=lambda group: (group not in {"all", "1-4"}, group)
    ):
        for system in SYSTEMS:
            line = lines[group, system]
            cells = "".join(f"{line.mean(column):9.3f}" for column in COLUMNS)
            yield f"{group:22}{len(line.values['mrr']):5} {system:9}{cells}"
    cut = statistics.quantiles(times, n=20)
    yield f"search and rank: p50 {statistics.median(times) * 1e3:.2f} ms, p95 {cut[-1] * 1e3:.2f} ms"


def _note(answers: Path, chat: Chat, asked: Question, ranking: Sequence[str]) -> None:
    line = {
        "chat": chat.name,
        "category": asked.category,
        "question": asked.text,
        "evidence": sorted(asked.evidence),
    }
    with answers.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line | {"ranking": ranking[:10]}, ensure_ascii=False) + "\n")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("folder", nargs="?", type=Path, default=DATA)
    parser.add_argument("--answers", type=Path, help="append each question's ranking to this JSONL file")
    given = parser.parse_args()
    if not (given.folder / "locomo_dev.json").is_file():
        parser.exit(1, f"no locomo_dev.json in {given.folder}; name the folder that holds it\n")
    chats = locomo(given.folder / "locomo_dev.json")
    sets = [
        ("LoCoMo, searched", chats[:TUNED]),
        ("LoCoMo, the rest", chats[TUNED:]),
        ("LoCoMo, both", chats),
    ]
    if (given.folder / "beam_dev.json").is_file():
        sets.append(("BEAM", beam(given.folder / "beam_dev.json")))
    for name, part in sets:
        answers = given.answers if name != "LoCoMo, both" else None
        for line in measure(name, part, answers):
            print(line)


if __name__ == "__main__":
    main()
