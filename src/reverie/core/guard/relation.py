"""The near-repeat guard: whether a new statement repeats, strengthens, succeeds, corrects or contradicts an old one.

Owns the verdict on two entries; promises that statements are folded into one only when no difference is left
between them, and that one succeeds another only for the same subject, with a change marker or a single-valued
attribute, later, and said by whom the old one may be changed by; never reads or writes an entry elsewhere.

Wrongly folding or replacing a memory loses it, so everything uncertain is None: both stay, side by side.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Literal

import msgspec

from reverie.core.days import utc
from reverie.core.guard.chances import may_relate
from reverie.core.guard.claims import claims
from reverie.core.guard.contrast import differences, likeness, literal
from reverie.core.guard.disputes import denied, moved, says_more
from reverie.core.guard.reading import read
from reverie.core.guard.signature import comparable
from reverie.core.guard.turns import Turned, corrected, ended, flipped, replaced, retyped
from reverie.core.guard.words import UNITS
from reverie.core.records import Entry
from reverie.core.text.letters import bare, is_latin

__all__ = ["Relation", "differences", "likeness", "relate"]

RelationKind = Literal["repeats", "strengthens", "supersedes", "corrects", "contradicts"]
_TRUSTED = frozenset(("user", "agent"))
_YEAR = re.compile(r"(?<![\w.,-])(?:19|20)[0-9]{2}(?![\w,]|[.][0-9])")
_SPEAKERS = frozenset("i me my mine we us our he him she they 我 我们 咱们 他 她 他们 她们".split())
_RELATED = 0.25  # likeness below which neither a number nor a negation can be all that differs
_LONGEST = 2000  # characters from which a text is a document, which repeats another or stands by itself
_MEASURES = frozenset(UNITS.values())
_EVENTS = frozenset(("episode", "event"))


class Relation(msgspec.Struct, frozen=True):
    """What a new entry is to an old one, and why, in words for a person."""

    kind: RelationKind
    why: str


def relate(new: Entry, old: Entry) -> Relation | None:
    """Return what `new` is to `old`, or None when both simply stand side by side.

    A succession needs `new` to hold later than `old`: by `since` where both give it, else by when it was said. Only
    what the user or the agent said may replace what the user or the agent said; otherwise the two contradict.
    """
    if new.about and old.about and _plain(new.about) != _plain(old.about):
        return None
    if old.id and old.id in new.supersedes:
        return _replacing(new, old, "supersedes", "its writer says so", later=True)
    if (
        not comparable(new.text, old.text)
        or not may_relate(new.text, old.text)
        or _speaks_of_another(new, old)
    ):
        return None
    share = likeness(new.text, old.text)
    if share == 1.0 and not differences(new.text, old.text):
        return _folding(new, old)
    if new.status != "active" or old.status != "active":
        return None
    if max(len(new.text), len(old.text)) > _LONGEST:
        return None
    turned = _turned(new.text, old.text, related=share >= _RELATED)
    if turned is None:
        return None
    if turned.kind == "contradicts":
        same_time = not _events_apart(new, old)
        return Relation("contradicts", turned.why) if same_time else None
    return _replacing(new, old, turned.kind, turned.why, later=_later(new, old), flips=turned.flips)


def _plain(text: str) -> str:
    return " ".join(read(text).text.casefold().split())


def _speaks_of_another(new: Entry, old: Entry) -> bool:
    """Tell whether a text in the first or third person is about somebody else than the same words were before."""
    if not (new.who and old.who) or _plain(new.who) == _plain(old.who):
        return False
    return any(t.kind == "person" and t.raw.casefold() in _SPEAKERS for t in read(new.text).tokens)


def _folding(new: Entry, old: Entry) -> Relation | None:
    """Return that two statements without a difference are one, unless they are two events or claims of two kinds."""
    if new.scope != old.scope or (new.status == "discussed") != (old.status == "discussed"):
        return None
    if new.due != old.due or (new.since and old.since and new.since != old.since):
        return None
    if (new.until or "") != (old.until or "") or _events_apart(new, old):
        return None
    if literal(new.text, old.text):
        return Relation("repeats", "it says the same in the same words")
    return Relation("strengthens", "it says the same in other words, and no difference was found")


def _events_apart(new: Entry, old: Entry) -> bool:
    """Tell whether two entries tell of events of different days: the same words, but two visits."""
    undated = not read(new.text).has("date")
    past = any(t.past or t.form in {"was", "了", "过"} for t in read(new.text).content)
    return undated and (past or {new.category, old.category} <= _EVENTS) and _start(new) != _start(old)


def _turned(new: str, old: str, *, related: bool) -> Turned | None:
    """Return how the new text turns the old one, the surest way first; `related` texts share enough for any way."""
    turned = corrected(new, old)
    if turned:
        return turned
    for claim in claims(new):
        for other in claims(old):
            if other.ends or claim.key != other.key:
                continue
            if claim.ends:
                if claim.value == other.value:
                    return Turned("supersedes", f"it ends the {claim.attribute} {other.value}")
            elif claim.value != other.value and _comparable(claim.value, other.value):
                why = f"{_named(claim.attribute)} has one value at a time"
                if says_more(old):
                    return Turned("contradicts", f"{why}, but the older statement says more")
                return Turned("supersedes", why)
            elif (
                claim.value != other.value
                and (claim.doubtful or other.doubtful)
                and read(new).has("now", "change")
            ):
                return Turned("contradicts", f"it may be another {claim.attribute}")
    if related:
        turned = ended(new, old) or replaced(new, old) or retyped(new, old) or flipped(new, old)
    return turned or denied(new, old) or moved(new, old)


def _named(attribute: str) -> str:
    return {"number": "such a number", "date": "such a date", "named": "such a role"}.get(
        attribute, attribute
    )


def _comparable(one: str, two: str) -> bool:
    """Tell whether two values are of one level and script, so that they differ and are not details of one another."""
    if one.partition(":")[0] != two.partition(":")[0] and ":" in one and not one[0].isdigit():
        return False
    if "?" in one[:1] + two[:1]:
        return False
    if not bare(one).isdisjoint(bare(two)):
        return False  # `Müller` and `Mueller`
    words = set(one.split()), set(two.split())
    if words[0] <= words[1] or words[1] <= words[0]:
        return False
    measured = [{word for word in side if word in _MEASURES} for side in words]
    if all(measured) and measured[0] != measured[1]:
        return False  # 900 euros and 900 dollars
    return any(c.isdigit() for c in one + two) or is_latin(one) == is_latin(two)


def _replacing(
    new: Entry, old: Entry, kind: RelationKind, why: str, *, later: bool, flips: bool = False
) -> Relation | None:
    """Return a succession if the new entry may replace the old one, else at most that they contradict."""
    if new.origin in _TRUSTED or old.origin not in _TRUSTED:
        if later or kind == "corrects":
            return Relation(kind, why) if kind != "corrects" or new.at >= old.at else None
        return Relation("contradicts", why + ", but it is not later") if flips or new.at == old.at else None
    return Relation("contradicts", why + f", but {new.origin} text may not replace what was said")


def _later(new: Entry, old: Entry) -> bool:
    """Tell whether the new entry holds after the old one."""
    years = [int(found) for found in _YEAR.findall(new.text)]
    if years and max(years) < old.at.year:
        return False
    if new.since and old.since and _start(new) != _start(old):
        return _start(new) > _start(old)
    if new.since and not old.since and _ends(new.since) < utc(old.at).strftime("%Y-%m-%d"):
        return False
    return new.at > old.at


def _start(entry: Entry) -> str:
    """Return the first day an entry is about, `YYYY-MM-DD`."""
    return _day(entry.since)[:10].ljust(10, "0") if entry.since else utc(entry.at).strftime("%Y-%m-%d")


def _ends(when: str) -> str:
    """Return the last day of a `When` in a form that compares by letters: months and years end after their days."""
    return _day(when)[:10].ljust(10, "~")


def _day(when: str) -> str:
    """Return a `When` with an instant turned to its UTC day."""
    if "T" not in when:
        return when
    try:
        return utc(datetime.fromisoformat(when)).strftime("%Y-%m-%d")
    except ValueError:
        return when
