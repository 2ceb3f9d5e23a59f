"""Whether a statement tells that a promise was kept.

Owns `keeps`; promises that it holds only where the promiser says, later and as a thing of the past, all that was
promised, apart from when; a promise that is told in other words, or in part, stays due. Never looks at who may
close a promise, nor closes one.
"""

from __future__ import annotations

from reverie.core.guard.contrast import in_the_past, subject
from reverie.core.guard.reading import Reading, Token, read
from reverie.core.records import Entry

_TRUSTED = frozenset(("user", "agent"))
_KINDS = frozenset(("word", "code", "number", "unit", "version"))
_LITTLE_WORDS = frozenset("得 答 应 out back".split())
_DONE = frozenset(("了", "过"))
_OPEN = frozenset(("negation", "modality", "correction"))
_PAYS = frozenset("pay repay return give transfer".split())  # by which is done what somebody owes
_FEWEST = 2  # a deed and what it was done to


def keeps(new: Entry, promise: Entry) -> bool:
    """Tell whether `new` says that what `promise` promised is done; the caller knows that the promise is open."""
    if new.category == "commitment" or new.due or new.at <= promise.at:
        return False
    if new.origin not in _TRUSTED or new.status != "active" or new.about != promise.about:
        return False
    one, two = read(new.text), read(promise.text)
    if one.has(*_OPEN) or not (in_the_past(one) or any(t.raw in _DONE for t in one.tokens)):
        return False
    if not _same_actor(new.text, promise.text):
        return False
    promised = [t for t in two.content if t.kind in _KINDS and t.form not in _LITTLE_WORDS]
    told = {form for t in one.content for form in t.forms}
    if any("owe" in t.forms for t in promised) and told & _PAYS and _numbers(one) == _numbers(two):
        told.add("owe")
    return len(promised) >= _FEWEST and not two.has("negation") and all(_told(t, told) for t in promised)


def _numbers(reading: Reading) -> set[str]:
    return {token.form for token in reading.content if token.kind == "number"}


def _told(token: Token, told: set[str]) -> bool:
    return bool(token.forms & told)


def _same_actor(new: str, promise: str) -> bool:
    """Tell whether both speak of one person's deed: by the subject in English, by any mention in Chinese."""
    one, two = read(new), read(promise)
    if one.text.isascii():
        return bool(subject(one)) and subject(one) == subject(two)
    actors = [{t.form for t in side.tokens if t.kind == "person"} for side in (one, two)]
    return actors[0] == actors[1]
