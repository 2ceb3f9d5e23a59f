"""What a text says besides its words: when, how things are to be from now on, or only that it was heard.

Owns the marks by which recall tells a text with a time, or with a lasting wish, from another; promises that any text
can be asked and that a miss only costs a place in the ranking; never interprets what it finds.
"""

from __future__ import annotations

import re
from typing import Final

from reverie.core.text.patterns import Words

MONTHS: Final = (
    "january february march april may june july august september october november december".split()
)
WEEKDAYS: Final = "monday tuesday wednesday thursday friday saturday sunday".split()

_WORD = Words(r"\w+")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_TIME_WORDS = frozenset(
    "yesterday today tonight tomorrow ago since recently weekend weekends day days week weeks month months year years "
    "summer winter autumn".split()
).union(WEEKDAYS, (month for month in MONTHS if month not in {"may", "march"}), ["May", "March"])
_TIME_MARKS = Words(
    r"今天|昨天|前天|明天|后天|今年|去年|明年|[上下本这]个?(?:周|星期|月)|周[一二三四五六日末]|[年月日号]前?"
)

_LOOKED_AT = 400  # characters: a wish is said at the beginning
_OPENING = re.compile(
    r"\W*(?:please |also,? |and |but )?"
    r"(?:always|never|from now on|in future|remember to|make sure|whenever|every time)\b"
)
_WISHES = Words(r"\b(?:when|whenever|if|every time) i ask\b|\bi(?:['’]d| would)? (?:always )?prefer\b")
_SHORT_ANSWER = 120  # characters; a longer answer says something
_SENTENCE_END = re.compile(r"[,;:.!?…—–\-\n]+|[，。；：！？、]+")
_THAT = r"(?: (?:that|this|it))?"
_ACKNOWLEDGES = re.compile(
    r"(?:ah |oh |and |so )?(?:"
    r"ok|okay|all right|alright|sure|sure thing|of course|certainly|absolutely|great|perfect|nice|done|saved|noted"
    r"|duly noted|got it|understood|i see|will do|no problem|sounds good|good to know|thanks|thank you|you're welcome"
    r"|(?:i'll|i will|i'm going to|let me) (?:remember|keep|note|save|store|make a note of)(?: of)?"
    rf"{_THAT}(?: down)?(?: in mind)?(?: for (?:you|later|next time|the future))?"
    rf"|i(?:'ve| have)? (?:noted|saved|remembered|stored|updated|made a note of|got){_THAT}(?: down)?"
    rf"|(?:thanks|thank you) for (?:telling me|letting me know|sharing|the update){_THAT}"
    r"|好|好的|好吧|行|嗯|收到|明白|明白了|知道了|记住了|了解|没问题|我记住了|我记下了|我会记住(?:的)?|谢谢(?:你)?(?:告诉我)?"
    r")"
)
_WISHES_HAN = Words("以后(?:请|都|不|别|回答)|从现在起|从今以后|请总是|每次都|每当我")


def only_acknowledges(text: str) -> bool:
    """Return whether `text` says no more than that something was heard, or will be kept in mind."""
    said = [one.strip() for one in _SENTENCE_END.split(text.casefold().replace("’", "'")) if one.strip()]
    return len(text) <= _SHORT_ANSWER and all(_ACKNOWLEDGES.fullmatch(one) for one in said)


def mentions_time(text: str) -> bool:
    """Return whether `text` says when: a date, a weekday, or words such as `last week` and `ago`."""
    words = _WORD.findall(text)
    if not _TIME_WORDS.isdisjoint(words) or not _TIME_WORDS.isdisjoint(map(str.lower, words)):
        return True
    if ("20" in text or "19" in text) and _YEAR.search(text):
        return True
    return not text.isascii() and bool(_TIME_MARKS.search(text))


def states_a_wish(text: str) -> bool:
    """Return whether the casefolded `text` says how its speaker wants things from now on, or always."""
    head = text[:_LOOKED_AT]
    # Looked for first, because that is all that is done about most texts.
    if ("prefer" in head or "i ask" in head) and _WISHES.search(head):
        return True
    return bool(_OPENING.match(head)) or (not head.isascii() and bool(_WISHES_HAN.search(head)))
