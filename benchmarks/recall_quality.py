"""How well recall finds the turn that answers a question, beside plain BM25 on the same words.

Run `make bench-recall [DATA=file]`, or `python -m benchmarks.recall_quality [FILES...] [--embedder NAME ...]
[--answers FILE]`. Without FILES: LoCoMo and BEAM from `../shared/data` beside the checkout, and the two sets of
`benchmarks/data`. The licences of LoCoMo and BEAM forbid copies, so they are read where they lie, and the answer to
each question goes to `build/recall-answers.jsonl`, which stands in no repository. The last line is one JSON object:
embedder -> set -> system -> group -> figures.

Protocol: each conversation is an index of its own, fed with its turns as rows; a question's ranking is what
`Index.search` and `core.search.rank.rank` give; the truth is the question's evidence turns (a question without any is
left out). Sessions rank by their best turn. Nothing in the loop is a language model. The weights of `core.search.rank`
and the lists of words were chosen on the first three LoCoMo conversations and on BEAM, whose figures are therefore no
test of them. The other two conversations were never searched, but their figures were in sight when values that do
nearly equally well were chosen between: a check, not unseen data. The bilingual sets were written before the weights.

The controls are BM25 (k1 1.2, b 0.75) over each turn's own speaker and text: `bm25` on lower-cased words, `bm25-terms`
on the terms of `core.text.tokens`, the question's without stop words.
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
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path

from benchmarks.recall_data import OWN, SHARED, Chat, Question, read
from benchmarks.recall_figures import figures, interval, mcnemar, mean

from reverie.core.search import query, rank
from reverie.core.settings.value import Settings
from reverie.core.text import tokens
from reverie.index.choosing import open_index
from reverie.index.embed.choosing import open_embedder
from reverie.index.embedder import Embedder
from reverie.index.protocol import DEPTH

TUNED = 3  # LoCoMo conversations the weights were chosen on
ANSWERS = Path(__file__).resolve().parents[1] / "build" / "recall-answers.jsonl"
COLUMNS = (
    *("frac@1", "frac@5", "frac@10", "frac@20", "any@5", "any@10", "all@10", "mrr", "ndcg@10"),
    *("s-any@1", "s-any@5", "s-all@5"),
)
SYSTEMS = ("bm25", "bm25-terms", "reverie")
LEAST = (("frac@10", 0.79), ("s-any@5", 0.95), ("s-all@5", 0.84))  # of the answerable questions of LoCoMo
ABOVE = 0.12  # of frac@10 above bm25, there
LEAST_BEAM = 0.57  # of frac@10
RARE = 0.05  # a p below it is significant

Ask = Callable[[str], list[str]]
Answers = dict[str, dict[str, list[dict[str, float]]]]  # group -> system -> one entry a question


def ours(chat: Chat, folder: Path, embedder: Embedder | None) -> Ask:
    """Index a chat and return what ranks its turns for a question."""
    settings = Settings(zone="UTC")
    index = open_index(settings, folder, name="", embedder=embedder, lock=lambda _: nullcontext())
    index.rows.upsert(chat.rows)
    index.commit()
    index.embed()
    reference = max(row.at for row in chat.rows)

    def ask(text: str) -> list[str]:
        parsed = query.parse(text, reference.date())
        found = index.search(parsed, vector=index.meaning(text))
        return [one.id for one in rank.rank(parsed, found, reference=reference, k=DEPTH)]

    return ask


def bm25(chat: Chat, cut: Callable[[str], Sequence[str]], asked: Callable[[str], Sequence[str]]) -> Ask:
    """Return a plain BM25 over the turns' own text, `cut` into words."""
    documents = [Counter(cut(f"{row.person} {row.text}")) for row in chat.rows]
    lengths = [document.total() for document in documents]
    average = statistics.fmean(lengths)
    holders = Counter(word for document in documents for word in document)

    def ask(text: str) -> list[str]:
        scores = [0.0] * len(documents)
        for word in set(asked(text)):
            idf = math.log(1 + (len(documents) - holders[word] + 0.5) / (holders[word] + 0.5))
            for place, document in enumerate(documents):
                if often := document[word]:
                    scores[place] += (
                        idf * often * 2.2 / (often + 1.2 * (0.25 + 0.75 * lengths[place] / average))
                    )
        order = sorted(range(len(documents)), key=lambda place: (-scores[place], place))
        return [chat.rows[place].id for place in order[:DEPTH] if scores[place] > 0]

    return ask


def words(text: str) -> list[str]:
    """Return the lower-cased words of a text."""
    return re.findall(r"\w+", text.lower())


def measure(
    chats: Sequence[Chat], embedder: Embedder | None, note: Callable[..., None]
) -> tuple[Answers, list[float]]:
    """Return the figures of each question by group and system, and the seconds that each of ours took."""
    answers: Answers = {}
    times: list[float] = []
    for chat in (one for one in chats if one.questions):
        session = {row.id: row.session for row in chat.rows}
        with tempfile.TemporaryDirectory() as folder:
            systems = {
                "bm25": bm25(chat, words, words),
                "bm25-terms": bm25(chat, tokens.search_terms, tokens.query_terms),
                "reverie": ours(chat, Path(folder), embedder),
            }
            for asked in chat.questions:
                for system, ask in systems.items():
                    start = time.perf_counter()
                    ranking = ask(asked.text)
                    times += [time.perf_counter() - start] * (system == "reverie")
                    found = figures(ranking, asked.evidence, session)
                    for group in groups(asked):
                        answers.setdefault(group, {}).setdefault(system, []).append(found)
                    note(chat, asked, system=system, ranking=ranking)
    return answers, times


def groups(asked: Question) -> tuple[str, ...]:
    """Return the lines of the table a question counts in; LoCoMo's answerable ones are a line of their own."""
    answerable = asked.category in {"multi-hop", "temporal", "open-domain", "single-hop"}
    return ("all", *(["1-4"] if answerable else []), asked.category)


def table(name: str, answers: Answers, times: Sequence[float]) -> Iterator[str]:
    """Yield one set's table, each group beside its controls, with intervals and tests of the last."""
    yield f"\n### {name}: {len(times)} questions\n"
    yield "| questions | n | system | " + " | ".join(COLUMNS) + " |"
    yield "|---|---|---|" + "---|" * len(COLUMNS)
    order = sorted(answers, key=lambda group: (group not in {"all", "1-4"}, group))
    for group in order:
        for system in SYSTEMS:
            one = answers[group][system]
            cells = " | ".join(f"{mean(one, column):.3f}" for column in COLUMNS)
            yield f"| {group} | {len(one)} | {system} | {cells} |"
    yield "\n| questions | figure | reverie, 95 % interval | against bm25: won, lost, p | against bm25-terms |"
    yield "|---|---|---|---|---|"
    for group in order:
        for figure in ("frac@10", "any@10", "s-any@5", "s-all@5"):
            values = {system: [one[figure] for one in answers[group][system]] for system in SYSTEMS}
            low, high = interval(values["reverie"])
            tests = []
            for control in SYSTEMS[:2]:
                won, lost, p = mcnemar(values["reverie"], values[control])
                tests.append(f"{won}, {lost}, {p:.2g}")
            yield f"| {group} | {figure} | {low:.3f} - {high:.3f} | " + " | ".join(tests) + " |"
    late = sorted(times)[len(times) * 95 // 100]
    yield f"\nSearch and rank: p50 {statistics.median(times) * 1e3:.1f} ms, p95 {late * 1e3:.1f} ms."


def missed(name: str, answers: Answers) -> Iterator[str]:
    """Yield a sentence for each binding figure that is not reached; a set's format is told by its groups."""
    if "1-4" in answers:
        found, control = (answers["1-4"][system] for system in ("reverie", "bm25"))
        for figure, least in LEAST if "," not in name else ():  # a part is no test of the whole
            if (value := mean(found, figure)) < least:
                yield f"{name}: {figure} is {value:.3f}, below {least}"
        if (gain := mean(found, "frac@10") - mean(control, "frac@10")) < ABOVE:
            yield f"{name}: frac@10 is {gain:.3f} above bm25, less than {ABOVE}"
    elif len(answers) > 2:  # all, and types of questions
        if (value := mean(answers["all"]["reverie"], "frac@10")) < LEAST_BEAM:
            yield f"{name}: frac@10 is {value:.3f}, below {LEAST_BEAM}"
        for group, systems in answers.items():
            if mean(systems["reverie"], "frac@10") < mean(systems["bm25"], "frac@10"):
                yield f"{name}: frac@10 of {group} is below bm25"
    for group, systems in answers.items():
        for figure in ("any@10", "s-any@5"):
            values = [[one[figure] for one in systems[system]] for system in ("reverie", "bm25")]
            won, lost, p = mcnemar(*values)
            if lost > won and p < RARE:
                yield f"{name}: {figure} of {group} is significantly below bm25"


def sets(files: Sequence[Path]) -> dict[str, list[Chat]]:
    """Return what to measure, by name; LoCoMo's conversations also apart by whether the weights were chosen on them."""
    if files:
        stems = Counter(path.stem for path in files)
        return {path.stem if stems[path.stem] == 1 else str(path): read(path) for path in files}
    found: dict[str, list[Chat]] = {}
    if (SHARED / "locomo_dev.json").is_file():
        chats = read(SHARED / "locomo_dev.json")
        found = {"locomo": chats, "locomo, tuned": chats[:TUNED], "locomo, the rest": chats[TUNED:]}
    if (SHARED / "beam_dev.json").is_file():
        found["beam"] = read(SHARED / "beam_dev.json")
    return found | {path.stem: read(path) for path in sorted(OWN.glob("*.txt"))}


def joined(parts: Sequence[Answers]) -> Answers:
    """Return the answers of several sets as of one."""
    whole: Answers = {}
    for part in parts:
        for group, systems in part.items():
            for system, one in systems.items():
                whole.setdefault(group, {}).setdefault(system, []).extend(one)
    return whole


def results(answers: Answers) -> Mapping[str, Mapping[str, Mapping[str, float]]]:
    """Return the means of every figure, system -> group -> figure."""
    return {
        system: {
            group: {"n": len(one[system])}
            | {name: round(mean(one[system], name), 4) for name in one[system][0]}
            for group, one in answers.items()
        }
        for system in SYSTEMS
    }


def main() -> None:
    """Print the tables, what is missed, and the JSON line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument(
        "files", nargs="*", type=Path, metavar="FILES", help="in the format of LoCoMo or BEAM"
    )
    parser.add_argument("--embedder", action="append", help="none, auto, ...; repeatable (default: none)")
    parser.add_argument("--answers", type=Path, default=ANSWERS, help="JSONL of each question's ranking")
    given = parser.parse_args()
    given.answers.parent.mkdir(parents=True, exist_ok=True)
    try:
        chosen = sets(given.files)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    # A part of LoCoMo is measured once: the whole is both parts together.
    measured = {name: chats for name, chats in chosen.items() if name != "locomo" or given.files}
    everything: dict[str, object] = {}
    with given.answers.open("w", encoding="utf-8") as file:
        for name in given.embedder or ["none"]:
            embedder = open_embedder(Settings(embedder=name))
            print(f"\n## Embedder: {embedder.name if embedder else 'none'}")
            found: dict[str, Answers] = {}
            times: dict[str, list[float]] = {}
            for title, chats in measured.items():

                def note(
                    chat: Chat, asked: Question, *, system: str, ranking: Sequence[str], told: str = name
                ) -> None:
                    line: dict[str, object] = {"embedder": told, "chat": chat.name, "system": system}
                    line |= {"category": asked.category, "question": asked.text}
                    line |= {"evidence": sorted(asked.evidence), "ranking": list(ranking[:20])}
                    file.write(json.dumps(line, ensure_ascii=False) + "\n")

                found[title], times[title] = measure(chats, embedder, note)
            parts = [] if given.files else [title for title in found if title.startswith("locomo, ")]
            if parts:
                found["locomo"] = joined([found[title] for title in parts])
                times["locomo"] = [one for title in parts for one in times[title]]
            for title, answers in found.items():
                print("\n".join(table(title, answers, times[title])))
            sentences = [one for title, answers in found.items() for one in missed(title, answers)]
            print("\n" + ("\n".join(sentences) or "Every binding figure is reached."))
            everything[name] = {title: results(answers) for title, answers in found.items()}
    print(json.dumps(everything, ensure_ascii=False, separators=(",", ":")))


if __name__ == "__main__":
    main()
