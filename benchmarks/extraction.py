"""How well and how fast turns become entries: by rule, and by a model.

Run `python -m benchmarks.extraction [--model NAME [--base-url URL] | --local FILE]`. Without a model the rules are
measured alone. `--local` starts llama.cpp's server with a GGUF file (`reverie[local]`); `--model` is a name as settings
have it, whose key the provider's own variable holds.

The data are the sample conversations (`samples/`), whose answers were written by hand: an entry is right when an answer
of its turn asks for it, an answer is found when an entry of one of its turns has all that the answer must have. The
rules were written with these conversations in sight, so their figures say what they reach, not what to expect.
A model reads the same turns in the same requests as `reverie extract`; `refused` are its items that nobody said.
"""

from __future__ import annotations

import argparse
import json
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec
from benchmarks.invented import Inventor

from reverie.core.days import Calendar, parse_instant
from reverie.core.records import Entry, Turn
from reverie.core.secrets.redact import redact
from reverie.core.text.tokens import estimate
from reverie.model.access import Access
from reverie.model.asking import Model, Reply, Request, Usage
from reverie.model.extraction_request import CONTEXT_TURNS, Span, batches, requests
from reverie.model.providers import open_model
from reverie.model.rules.turns import extract as by_rule
from reverie.model.spans import Taken, take

SAMPLES = Path(__file__).resolve().parents[1] / "samples"
TARGET = 5_000  # turns a second, by rule
SPEED_TURNS = 4_000


class Score(msgspec.Struct):
    """What a reader found: entries that are right, all of them, answers that were met, all of them; and its trouble."""

    right: int = 0
    entries: int = 0
    met: int = 0
    asked: int = 0
    turns: int = 0
    seconds: float = 0.0
    refused: Counter[str] = msgspec.field(default_factory=Counter)
    unread: int = 0


class Counting:
    """A model that counts what it was asked, and whose replies may be kept short."""

    def __init__(self, inner: Model, most: int = 0) -> None:
        """Count what `inner` uses; its replies have at most `most` tokens, 0 for what is asked."""
        self.inner, self.most, self.used = inner, most, Usage()

    @property
    def name(self) -> str:
        """The model's own name."""
        return self.inner.name

    def complete(self, request: Request) -> Reply:
        """Ask, and count."""
        if self.most:
            request = msgspec.structs.replace(request, max_tokens=self.most)
        reply = self.inner.complete(request)
        self.used += Usage(calls=1) + msgspec.structs.replace(reply.usage, calls=0)
        return reply


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.extraction",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--model", default="", help="a model as settings name it")
    parser.add_argument("--base-url", default="", help="the address of an OpenAI-compatible server")
    parser.add_argument("--local", type=Path, help="a GGUF file to serve and to ask")
    parser.add_argument("--turns", type=int, default=0, help="read only so many turns of each conversation")
    parser.add_argument("--max-tokens", type=int, default=0, help="cut replies at so many tokens")
    given = parser.parse_args()
    print("| reader | precision | recall | entries | refused | unread turns | per 1,000 turns | turns/s |")
    print("|---|---|---|---|---|---|---|---|")
    by_rule(_sample_turns()[:200], Calendar("UTC", "00:00"))  # patterns are compiled before the clock runs
    print(_row("rules", _scored(None, given.turns), Usage()))
    with ExitStack() as stack:
        model = _model(given, stack)
        if model is not None:
            counting = Counting(model, given.max_tokens)
            score = _scored(counting, given.turns)
            print(_row(model.name, score, counting.used))
            print("\nrefused: " + "; ".join(f"{n} × {why}" for why, n in score.refused.most_common(12)))
    print()
    for every in (6, 0):
        print(_cost(every))
    print()
    for what, turns in (("invented turns", _invented()), ("sample turns", _sample_turns())):
        began = time.process_time()
        found = by_rule(turns, Calendar("UTC", "00:00"))
        took = time.process_time() - began
        rate = len(turns) / took
        print(
            f"by rule, {len(turns):,} {what} ({len(found):,} entries): {rate:,.0f} turns/s of CPU (target {TARGET:,})"
        )


def _cost(every: int) -> str:
    """Return what reading the samples asks of any model, when a session is read after so many turns (0: at its end)."""
    calls = tokens = turns = 0
    for path in sorted(SAMPLES.glob("*.jsonl")):
        for _, group in groupby(_turns(path.name)[0], key=lambda turn: turn.session):
            whole = tuple(group)
            turns += len(whole)
            step = every or len(whole)
            for start in range(0, len(whole), step):
                for piece in batches(whole[start : start + step]):
                    before = tuple(turn for turn in whole if turn.n < piece[0].n)[-CONTEXT_TURNS:]
                    asked = requests(
                        Span(turns=piece, before=before), Calendar("UTC", "00:00"), nonce="0" * 16
                    )
                    calls += len(asked)
                    tokens += sum(estimate(one.instructions) + estimate(one.text) for one in asked)
    per = 1_000 / turns
    when = f"every {every} turns" if every else "at a session's end"
    return f"read {when}: {calls * per:,.0f} calls and about {tokens * per:,.0f} tokens in, for 1,000 turns"


def _model(given: argparse.Namespace, stack: ExitStack) -> Model | None:
    """Return the model that was asked for, its server started."""
    if given.local is not None:
        from reverie.model.local import LocalServer

        server = stack.enter_context(LocalServer(given.local, name=given.local.stem))
        return open_model(given.local.stem, Access(base_url=server.base_url, timeout=600.0))
    return open_model(given.model or "none", Access(base_url=given.base_url, timeout=600.0))


def _row(name: str, score: Score, used: Usage) -> str:
    """Return a line of the table."""
    per = 1_000 / max(score.turns, 1)
    cost = f"{used.calls * per:,.0f} calls, {used.input_tokens * per:,.0f} + {used.output_tokens * per:,.0f} tokens"
    cells = (
        name,
        f"{score.right / max(score.entries, 1):.3f} ({score.right}/{score.entries})",
        f"{score.met / max(score.asked, 1):.3f} ({score.met}/{score.asked})",
        str(score.entries),
        str(score.refused.total()),
        str(score.unread),
        cost if used.calls else "no calls",
        f"{score.turns / max(score.seconds, 1e-9):,.1f}",
    )
    return f"| {' | '.join(cells)} |"


def _scored(model: Model | None, limit: int) -> Score:
    """Read the samples and compare what was found with the answers."""
    answers: dict[str, list[dict[str, Any]]] = tomllib.loads((SAMPLES / "answers.toml").read_text("utf-8"))
    score = Score()
    for block in answers["file"]:
        turns, names = _turns(block["name"])
        read = turns[: limit or len(turns)]
        score.turns += len(read)
        began = time.perf_counter()
        found: defaultdict[str, list[Entry]] = defaultdict(list)
        for taken, span in _read(model, read, Calendar(block["zone"], "00:00")):
            score.unread += len(span) if taken.trouble else 0
            score.refused.update(taken.made_up)
            for one in () if taken.trouble else taken.found:
                found[names[one.n]].append(one.entry)
        score.seconds += time.perf_counter() - began
        seen = set(names[: len(read)])
        asked = [one for one in answers["entry"] if one["file"] == block["name"] and seen & {*_turns_of(one)}]
        _compare(score, found, asked)
    return score


def _read(
    model: Model | None, turns: Sequence[Turn], calendar: Calendar
) -> Iterator[tuple[Taken, tuple[Turn, ...]]]:
    """Yield what was read of each request's turns, session by session."""
    for _, group in groupby(turns, key=lambda turn: turn.session):
        whole = tuple(group)
        for span in batches(whole) if model else (whole,):
            before = tuple(turn for turn in whole if turn.n < span[0].n)[-CONTEXT_TURNS:]
            yield from _halved(model, Span(turns=span, before=before), calendar)


def _halved(model: Model | None, span: Span, calendar: Calendar) -> Iterator[tuple[Taken, tuple[Turn, ...]]]:
    """Yield what was read of a span, in halves where it could not be read, as extraction does after its tries."""
    taken = take(model, span, calendar=calendar, nonce=lambda: "5d1f0c7a9b3e8264")
    half = len(span.turns) // 2
    if not taken.trouble or not half:
        yield taken, span.turns
        return
    first, second = span.turns[:half], span.turns[half:]
    yield from _halved(model, Span(turns=first, before=span.before), calendar)
    yield from _halved(model, Span(turns=second, before=(span.before + first)[-CONTEXT_TURNS:]), calendar)


def _compare(score: Score, found: dict[str, list[Entry]], asked: list[dict[str, Any]]) -> None:
    """Count what is right and what was met."""
    score.entries += sum(map(len, found.values()))
    score.asked += len(asked)
    score.right += sum(
        any(name in _turns_of(answer) and _answers(entry, answer) for answer in asked)
        for name, entries in found.items()
        for entry in entries
    )
    score.met += sum(
        any(_answers(entry, answer) for name in _turns_of(answer) for entry in found.get(name, ()))
        for answer in asked
    )


def _answers(entry: Entry, answer: dict[str, Any]) -> bool:
    """Whether an entry has all that an answer asks for."""
    words = f"{entry.text} {entry.evidence}".casefold()
    return all(must.casefold() in words for must in answer["must"])


def _turns_of(answer: dict[str, Any]) -> list[str]:
    """Return the turns an answer may come from."""
    return answer.get("turns") or [answer["turn"]]


def _turns(name: str) -> tuple[list[Turn], list[str]]:
    """Return a conversation's turns, redacted as capture does it, and their names."""
    rows = [json.loads(line) for line in (SAMPLES / name).read_text("utf-8").splitlines()]
    turns = [
        Turn(
            role=row["role"],
            content=redact(row["content"]).text,
            at=parse_instant(row["timestamp"]),
            session=row["session"],
            id=row["id"],
            n=n,
        )
        for n, row in enumerate(rows)
    ]
    return turns, [row["id"] for row in rows]


def _sample_turns() -> list[Turn]:
    """Return the samples' turns, over and over."""
    turns = [turn for path in sorted(SAMPLES.glob("*.jsonl")) for turn in _turns(path.name)[0]]
    return (turns * (SPEED_TURNS // len(turns) + 1))[:SPEED_TURNS]


def _invented() -> list[Turn]:
    """Return invented turns, a quarter of them Chinese."""
    return list(_first(Inventor(seed=0).turns(), SPEED_TURNS))


def _first(turns: Iterable[Turn], number: int) -> Iterator[Turn]:
    for n, turn in zip(range(number), turns, strict=False):
        yield msgspec.structs.replace(turn, n=n)


if __name__ == "__main__":
    main()
