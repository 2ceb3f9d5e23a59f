"""Read one span, by a model or, where there is none, by rule.

Owns the choice between them, and turning a reply that cannot be read into a value; promises that a span about which
nothing could be read never looks like one in which nothing stands; never reads a span by rule because a model failed.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from reverie.core.days import Calendar
from reverie.errors import ModelFailed
from reverie.model import extraction
from reverie.model.asking import Model
from reverie.model.extraction_request import Span, extractor, unread_rest
from reverie.model.rules.turns import EXTRACTOR, Found
from reverie.model.rules.turns import extract as by_rule

_OF_THE_SPAN = frozenset(("unusable", "refused"))  # another span may fare better


class Taken(msgspec.Struct, frozen=True, kw_only=True):
    """What was read from a span, by whom, how often a model was asked, and why some of its items were refused.

    With `trouble` the span is not read; `found` is then what could be made out of a reply that was `cut` short.
    `left` says in words what of the turns was too long to be read.
    """

    extractor: str = EXTRACTOR
    found: tuple[Found, ...] = ()
    asked: int = 0
    made_up: tuple[str, ...] = ()
    trouble: str = ""
    cut: bool = False
    left: tuple[str, ...] = ()


def take(model: Model | None, span: Span, *, calendar: Calendar, nonce: Callable[[], str]) -> Taken:
    """Return what the span holds; raises ModelFailed for whatever says nothing about the span itself."""
    if model is None:
        return Taken(found=by_rule(span.turns, calendar))
    name = extractor(model.name)
    try:
        read = extraction.extract(model, span, calendar=calendar, nonce=nonce)
    except ModelFailed as error:
        if error.kind not in _OF_THE_SPAN:
            raise
        return Taken(extractor=name, asked=1, trouble=str(error))
    return Taken(
        extractor=name,
        found=read.found,
        asked=read.calls,
        made_up=read.refused,
        trouble="the model's reply was cut short" if read.cut else "",
        cut=read.cut,
        left=tuple(
            f"the last {rest:,} characters of turn {turn.n} of {turn.session} are too far in to be read"
            for turn in span.turns
            if (rest := unread_rest(turn))
        ),
    )


def together(first: Taken, second: Taken) -> Taken:
    """Return what two spans hold that become one record; the first trouble stands for both."""
    return Taken(
        extractor=second.extractor,
        found=first.found + second.found,
        asked=first.asked + second.asked,
        made_up=first.made_up + second.made_up,
        trouble=first.trouble or second.trouble,
        cut=first.cut or second.cut,
        left=first.left + second.left,
    )
