"""Summaries by a model: a few turns as labelled lines, the oldest part of a session as prose.

Owns both requests and the reading of both replies; promises that a line is kept only when it names a turn it was
asked about and states no number, date, address, code or name that stands in none of the turns; never keeps a reply
that is empty, refuses, is a web page or is longer than the turns: that is ModelFailed of kind `unusable`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from reverie.core.days import Calendar
from reverie.core.records import Turn
from reverie.core.sessions.active_window import content_of
from reverie.core.sessions.summary import ASKED, LONGEST, MOST, Item
from reverie.core.text.patterns import Words
from reverie.core.text.said import Sources, content, sources
from reverie.core.text.tokens import estimate
from reverie.errors import ModelFailed
from reverie.model.asking import Model, Reply, Request
from reverie.model.prompt_files import fenced, prompt
from reverie.model.replies import prose, unusable

T = TypeVar("T")

LABELS = ("Fact", "Decision", "Preference", "Done", ASKED)
SHARE = 3  # a summary is to have a third of the tokens it replaces
LEAST_TOKENS, MOST_TOKENS = 300, 4_000
LONGEST_SOURCE = 100_000  # tokens; more is more than most models can be handed, and costs more than it tells
# These failures say something of the turns; all others say something of the model, and asking again may help.
OWN_FAULT = frozenset({"unusable", "refused"})

_LINE = Words(
    r"""\s*(?:[-*+•]|\d{1,3}[.)])?\s*\**(?P<label>fact|decision|preference|done|task|asked|request)s?\**
    \s*:?\**\s*(?:[\[(](?:turns?:*\s*)?(?P<turn>\d{1,15})[^\])\n]{0,60}[\])])?\s*:?\s*(?P<text>\S.*)""",
    fold=True,
)
_ALIASES = {"task": "Done", "request": ASKED}
# Lines that read like the turns themselves: in a prompt they would pass for what was said.
_TURN_LIKE = re.compile(r"\s*\[\d+\] \d{4}-\d\d-\d\d ")
_FENCE_LIKE = re.compile(r"\s*(?:===|```|~~~|<!--|</?reverie)", re.IGNORECASE)


def summarise(
    model: Model, turns: Sequence[Turn], *, calendar: Calendar, nonce: str, keep: Callable[[str], str]
) -> tuple[Item, ...]:
    """Return the lines that stand for `turns`, in the order of the turns they name.

    `keep` returns a line as it may be stored, empty when it may not be. Raises ModelFailed.
    """
    source = content_of(turns, calendar)
    allowed, known = sources([source]), {turn.n: turn for turn in turns}

    def read(said: str) -> tuple[Item, ...]:
        found: dict[str, Item] = {}
        for line in said.split("\n"):
            match = _LINE.fullmatch(line)
            text = keep(match["text"].strip()) if match else ""
            if match is None or not text or len(text) > 3 * LONGEST or allowed.novel(text):
                continue
            n = int(match["turn"]) if match["turn"] else _nearest(text, turns)
            label = match["label"].lower()
            if n in known:
                item = Item(f"{_ALIASES.get(label, label.capitalize())}: {text}", turn=n)
                found.setdefault(item.text, item)
        return tuple(sorted(list(found.values())[:MOST], key=lambda item: item.turn))

    return _asked(model, "summary", source, nonce=nonce, read=read)


def condense(
    model: Model, turns: Sequence[Turn], *, calendar: Calendar, nonce: str, keep: Callable[[str], str]
) -> str:
    """Return prose that stands for `turns`; `keep` as for `summarise`. Raises ModelFailed."""
    source = content_of(turns, calendar)
    allowed = sources([source])

    def read(said: str) -> str:
        return "\n".join(_grounded(said, allowed, keep)).strip()

    return _asked(model, "compaction", source, nonce=nonce, read=read)


def _asked(model: Model, name: str, source: str, *, nonce: str, read: Callable[[str], T]) -> T:
    """Return what is `read` from the model's words on `source` under the prompt of that name; nothing is no answer."""
    tokens = estimate(source)
    if tokens > LONGEST_SOURCE:
        message = f"the turns have {tokens:,} tokens: more than a model is handed at once"
        raise ModelFailed(message, kind="unusable")

    def accept(reply: Reply) -> T:
        found = read(prose(reply, source=source))
        if not found:
            raise unusable("none of its lines says what the turns say")
        return found

    request = Request(
        purpose="summary",
        instructions=prompt(name).text,
        text=fenced(source, nonce),
        max_tokens=min(max(tokens // SHARE, LEAST_TOKENS), MOST_TOKENS),
        accept=accept,
    )
    return accept(model.complete(request))


def _grounded(said: str, allowed: Sources, keep: Callable[[str], str]) -> Iterator[str]:
    """Yield the lines of a reply that state nothing new and cannot pass for turns, headings or fences."""
    for line in said.split("\n"):
        text = keep(line.strip().lstrip("#").strip())
        if text and not (allowed.novel(text) or _TURN_LIKE.match(text) or _FENCE_LIKE.match(text)):
            yield text


def _nearest(text: str, turns: Sequence[Turn]) -> int:
    """Return the turn whose content words a line shares most of; -1 when it shares none."""
    wanted = content(text)
    shared = [(len(wanted & content(turn.content)), -turn.n) for turn in turns]
    most, place = max(shared, default=(0, 1))
    return -place if most else -1
