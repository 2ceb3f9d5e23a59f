"""Read turns with a model: what it replies, checked item by item against what was said.

Owns the way from a reply to entries; promises that an entry's evidence stands in one unread turn, that it states no
name, number, date, address or code that no turn states, that its origin is the worst of what its evidence touches, and
that nothing a model says of itself (significance, what it replaces) is taken beyond what anybody's words may claim.
Never takes a reply that cannot be read, or that was cut, for one in which nothing stands.

Each refused item has its reason. An optional field that is wrong is left out, and the item stays: a wrong tag is no
reason to lose a fact.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

import msgspec
from msgspec.structs import replace

from reverie.core.categories import category
from reverie.core.days import Calendar, is_when
from reverie.core.entries import OWN
from reverie.core.records import Entry, Status, Turn
from reverie.model.asking import Model, Reply, Request
from reverie.model.extraction_request import (
    HAVING,
    HINT,
    ITEMS,
    NAME,
    NAMED,
    QUOTED,
    SLUG,
    TAG,
    TAGS,
    TEXT,
    TIME,
    Span,
    instructions,
    requests,
    speaker,
)
from reverie.model.grounding import (
    Ground,
    Quote,
    absolute,
    anchor_of,
    dates_named,
    flips,
    ground,
    located,
)
from reverie.model.reading_json import Items, items
from reverie.model.replies import unusable
from reverie.model.rules.claims import RAISED, Claim, bounded
from reverie.model.rules.topics import tags
from reverie.model.rules.turns import EVIDENCE, MOST, Found

OTHERS_SIG = 0.5  # what a page, a file or a tool says matters at most as much as any fact
_CATEGORIES = {
    "person": "personal",
    "people": "personal",
    "relationship": "personal",
    "health": "personal",
    "tech": "technical",
    "adr": "decision",
    "project_decision": "decision",
    "bug": "lesson",
    "pitfall": "lesson",
    "gotcha": "lesson",
    "failure": "lesson",
    "benchmark": "technical",
    "perf": "technical",
    "model_benchmark": "technical",
    "runbook": "procedure",
    "playbook": "procedure",
    "workflow": "procedure",
    "todo": "commitment",
    "task": "commitment",
    "promise": "commitment",
    "career": "work",
    "job": "work",
    "other": "fact",
    "misc": "fact",
    "general": "fact",
}  # fmt: skip
_ORDINAL = re.compile(r"[0-9]{1,9}")
_SELF = frozenset(("", "user", "the user", "speaker", "self", "me", "i", "none", "null", "n/a", "用户"))
_AGENT = frozenset(("agent", "assistant", "the agent", "the assistant", "ai", "you", "助手"))


class Read(msgspec.Struct, frozen=True):
    """What a model's replies about a span hold: the entries, the refused items' reasons, and how often it was asked.

    `cut` says that a reply ended before its end: the span holds more than one reply does, and is not read.
    """

    found: tuple[Found, ...] = ()
    refused: tuple[str, ...] = ()
    calls: int = 0
    cut: bool = False


def extract(model: Model, span: Span, *, calendar: Calendar, nonce: Callable[[], str]) -> Read:
    """Return what the model finds in the span's turns, in their order.

    Raises ModelFailed: of kind "unusable" when a reply cannot be read as the list that was asked for, of any other as
    the model raised it.
    """
    ground_of = _Grounds(span, calendar)
    found: list[Found] = []
    refused: list[str] = []
    cut = False
    asked = requests(span, calendar, nonce=nonce())
    for request in asked:
        reply = model.complete(replace(request, accept=_listed))
        listed = _listed(reply)
        cut = cut or not (reply.finished and listed.whole)
        for place, item in enumerate(listed.values):
            one = _checked(item, ground_of) if place < ITEMS else f"more than {ITEMS} in one reply"
            if isinstance(one, str):
                refused.append(one)
            else:
                found.append(one)
    kept, doubled = _once(found)
    return Read(kept, (*refused, *doubled), len(asked), cut)


class Submission(msgspec.Struct, frozen=True):
    """What a host's own model submitted, as a model whose every reply it is; `name` is what that model goes by."""

    name: str
    text: str

    def complete(self, _: Request) -> Reply:
        """Return what was submitted."""
        return Reply(text=self.text)


def examined(values: Iterable[Any], span: Span, *, calendar: Calendar) -> list[str]:
    """Return for each item of a submission why it is refused, empty when it is not."""
    grounds = _Grounds(span, calendar)
    found = [_checked(one, grounds) for one in values]
    return [
        (one if isinstance(one, str) else "") if place < ITEMS else f"more than {ITEMS} at once"
        for place, one in enumerate(found)
    ]


def _listed(reply: Reply) -> Items:
    """Return the list of a reply; raises ModelFailed when there is none, or no item has the wanted keys."""
    listed = items(reply.text, named=NAMED, having=HAVING)
    if listed.values and not any(isinstance(one, dict) and HAVING in one for one in listed.values):
        raise unusable(f"no item of its list has the key {HAVING!r}")
    return listed


def _once(found: Iterable[Found]) -> tuple[tuple[Found, ...], list[str]]:
    """Return the entries in the order of their turns, each text once, and at most `MOST` of a turn."""
    kept: dict[tuple[int, str], Found] = {}
    counts: dict[int, int] = {}
    doubled: list[str] = []
    for one in sorted(found, key=lambda one: one.n):
        key = (one.n, one.entry.text.casefold())
        if key in kept:
            doubled.append("said twice in one reply")
        elif counts.get(one.n, 0) >= MOST:
            doubled.append(f"more than {MOST} from one turn")
        else:
            kept[key] = one
            counts[one.n] = counts.get(one.n, 0) + 1
    return tuple(kept.values()), doubled


class _Grounds:
    """The turns of a span, and what each of them and those before it allow to be stated."""

    def __init__(self, span: Span, calendar: Calendar) -> None:
        self.calendar = calendar
        self.turns = {turn.n: turn for turn in span.turns}
        self._before = tuple(turn for turn in span.before if turn.role in {"user", "assistant"})
        self._every = (*self._before, *span.turns)
        self._ground: dict[int, Ground] = {}

    def of(self, turn: Turn) -> Ground:
        """Return what may be stated of a turn: what it says and what was said before it."""
        if turn.n not in self._ground:
            upto = [one for one in self._every if one.n <= turn.n]
            named = {name for one in upto for name in (one.name, one.user, speaker(one)) if name}
            self._ground[turn.n] = ground(upto, self.calendar, names=sorted(named))
        return self._ground[turn.n]

    def quoted(self, item: Mapping[str, Any], evidence: str) -> tuple[Turn, Quote] | None:
        """Return the turn in which the evidence stands: the one the item names, else the only one that has it."""
        named = self.turns.get(_whole(item.get("turn")))
        if named is not None and (quote := located(named, evidence)) is not None:
            return named, quote
        having = [(turn, quote) for turn in self.turns.values() if (quote := located(turn, evidence))]
        return having[0] if len(having) == 1 else None


def _checked(item: Any, grounds: _Grounds) -> Found | str:  # noqa: ANN401 - any JSON
    """Return the entry that one item of a reply stands for, or why it is refused."""
    if not isinstance(item, dict):
        return "no object"
    text, evidence = _line(item.get(HAVING)), item.get("evidence")
    if not text or not isinstance(evidence, str):
        return "no text or no evidence"
    if len(text) > TEXT:
        return "longer than one sentence"
    if len(evidence) > QUOTED:
        return "its evidence is longer than a quote"
    place = grounds.quoted(item, evidence)
    if place is None:
        return "its evidence stands in no unread turn"
    turn, quote = place
    text = absolute(text, turn.at, calendar=grounds.calendar)
    words = turn.content[quote.start : quote.end]
    if reason := _ungrounded(text, words, grounds.of(turn)) or _stranger(item, grounds.of(turn)):
        return reason
    entry = _entry(item, turn, quote, text=text)
    entry = _timed(entry, item, turn, grounds=grounds)
    return Found(entry, turn.n, _line(item.get("replaces"))[:HINT])


def _ungrounded(text: str, evidence: str, said: Ground) -> str:
    """Return what a text states that nobody said, as a reason; empty when nothing."""
    low = said.said.text
    for name in instructions().invented:
        if name.casefold() in text.casefold() and name.casefold() not in low and name not in said.said.dates:
            return f"{name} stands in the prompt alone"
    if new := said.novel(text):
        return f"{new} was not said"
    if not said.speaks_of(text):
        return "it speaks of something else than the turns"
    return "it turns its evidence round" if flips(text, evidence) else ""


def _stranger(item: Mapping[str, Any], said: Ground) -> str:
    """Return a reason when an item is about somebody whom no turn names."""
    about = _line(item.get("about"))
    if about.casefold() in _SELF | _AGENT or (len(about) <= NAME and about.casefold() in said.said.text):
        return ""
    return "it is about somebody who was not named"


def _entry(item: Mapping[str, Any], turn: Turn, quote: Quote, *, text: str) -> Entry:
    """Return the entry of an item without its times."""
    own = quote.origin in OWN
    status: Status = "active" if own else "discussed"
    slug = _category(item.get("category"))
    sig, conf = _unit(item.get("significance")), _unit(item.get("confidence"))
    about = _line(item.get("about"))
    if about.casefold() in _SELF or about == speaker(turn):
        about = ""
    return Entry(
        id="",
        day="",
        text=text,
        at=turn.at,
        category=slug,
        tags=_tags(item.get("tags")) or tags(text, slug),
        sig=None if sig is None else min(sig, RAISED if own else OTHERS_SIG),
        conf=conf,
        who=turn.name or turn.user,
        about="agent" if about.casefold() in _AGENT else about,
        origin=quote.origin,
        status=status,
        session=turn.session,
        turns=str(turn.n) if turn.n >= 0 else "",
        evidence=_short(turn.content[quote.start : quote.end]),
    )


def _timed(entry: Entry, item: Mapping[str, Any], turn: Turn, *, grounds: _Grounds) -> Entry:
    """Give an entry its times: those its evidence names by our own rules, else those of the item that were said."""
    said, calendar = grounds.of(turn), grounds.calendar
    promise = entry.category == "commitment" and entry.status == "active"
    since, until, due = (_when(item.get(name), said, turn, calendar) for name in ("from", "until", "due"))
    named = dates_named(entry.evidence, turn.at, calendar=calendar)
    if named and (promise or entry.category == "episode"):
        claim = Claim(category=entry.category, text=entry.text, start=0, end=0)
        anchor = anchor_of(turn.at, calendar)
        ours = bounded(claim, named, anchor=anchor, due=promise)
        since, until, due = ours.since or since, ours.until or until, ours.due or due
    return replace(entry, since=since, until=until, due=due if promise else "")


def _when(value: Any, said: Ground, turn: Turn, calendar: Calendar) -> str:  # noqa: ANN401 - any JSON
    """Return a date of an item as a `When`, empty when it is none or nobody said it."""
    text = value.strip() if isinstance(value, str) and len(value) <= TIME else ""
    if text and not is_when(text):
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            return ""
        text = moment.replace(tzinfo=calendar.local(turn.at).tzinfo).isoformat(timespec="seconds")
    return text if text and said.has_date(text) else ""


def _category(value: Any) -> str:  # noqa: ANN401 - any JSON
    known = isinstance(value, str) and len(value) <= SLUG
    name = category(value.strip().lower() if known else "fact").name
    return _CATEGORIES.get(name.replace("-", "_"), name)


def _tags(value: Any) -> tuple[str, ...]:  # noqa: ANN401 - any JSON
    """Return the first few short tags of words."""
    if not isinstance(value, list):
        return ()
    plain = ("-".join(one.lower().split()) for one in value if isinstance(one, str))
    return tuple(
        dict.fromkeys(
            one for one in plain if 0 < len(one) <= TAG and one.replace("-", "").replace("_", "").isalnum()
        )
    )[:TAGS]


def _unit(value: Any) -> float | None:  # noqa: ANN401 - any JSON
    """Return a number from 0 to 1, None for anything else."""
    try:
        number = float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else -1
    except ValueError:
        return None
    return round(number, 2) if math.isfinite(number) and 0 <= number <= 1 else None


def _whole(value: Any) -> int:  # noqa: ANN401 - any JSON
    """Return a turn's number as an item gives it, -1 for none."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return int(value) if isinstance(value, str) and _ORDINAL.fullmatch(value) else -1


def _line(value: Any) -> str:  # noqa: ANN401 - any JSON
    """Return a text on one line, empty for anything that is none."""
    return " ".join(value.split()) if isinstance(value, str) else ""


def _short(words: str) -> str:
    """Return evidence, cut at a border of words if it is long."""
    words = words.strip()
    return words if len(words) <= EVIDENCE else words[: EVIDENCE + 1].rsplit(None, 1)[0][:EVIDENCE].rstrip()
