"""A model's prose, taken for what it is: words that may be anything.

Owns telling a usable text from an error page, a refusal, leaked thinking, silence or a copy of what was asked;
promises that whatever is doubtful is refused with a reason, which is ModelFailed of kind `unusable`, so that the
asker falls back on what needs no model; never repairs what a reply says.
"""

from __future__ import annotations

import re

from reverie.core.text.patterns import Words
from reverie.errors import ModelFailed
from reverie.model.asking import Reply

_THINKING = re.compile(
    r"<(think|thinking|reasoning|thought|scratchpad)\b[^>]*>.*?(?:</\1\s*>|\Z)", re.IGNORECASE | re.DOTALL
)
# Some chat templates open the block in the prompt, so that a reply holds its end alone.
_THOUGHT_BEFORE = re.compile(
    r"\A.*?</(?:think|thinking|reasoning|thought|scratchpad)\s*>", re.IGNORECASE | re.DOTALL
)
_CHANNEL = re.compile(r"<\|channel\|>\s*(?:analysis|commentary)\b.*?(?=<\|channel\|>\s*final|\Z)", re.DOTALL)
_MARKER = re.compile(r"<\|[a-z_]{1,30}\|>(?:final|assistant)?|</?s>|\[/?INST\]", re.IGNORECASE)
_FENCE = re.compile(r"\A```[\w-]*\n(.*?)\n?```\Z", re.DOTALL)
_PAGE = re.compile(
    r"<!doctype\b|<\?xml\b|<(?:html|head|body|script|style|title|center|h1|div|iframe)[\s>]", re.IGNORECASE
)
_NOTHING = Words(
    r"""[\s\-*_.()\[\]{}"'`#:]*(?:(?:there is |there's |i have )?(?:nothing|none|n/?a|null|empty|no summary|no (?:new )?
    (?:facts|information|content|turns))(?: (?:to (?:note|summari[sz]e|report|add)|new|here|available|was said))?
    |无|没有|没有内容)?[\s\-*_.()\[\]{}"'`!。]*""",
    fold=True,
)
_REFUSAL = Words(
    r"""(?:(?:i'?m|i am) (?:very |really |so )?(?:sorry|afraid)|sorry,|i (?:can(?:no|')t|cannot|can not|won't|will not
    |am (?:not able|unable)|'?m (?:not able|unable)|must decline|have to decline)\b|as an ai\b|i apologi[sz]e
    |unfortunately,? i\b|(?:抱歉|对不起|很遗憾)|我(?:无法|不能)|作为(?:一个|一名)?(?:ai|人工智能))""",
    fold=True,
)


def prose(reply: Reply, *, source: str) -> str:
    """Return what a reply says, without thinking, channel marks and an outer code fence.

    Raises ModelFailed of kind `unusable` when it was cut off, says nothing, is a web page, refuses, or is not shorter
    than `source`, the text it was to condense.
    """
    text = bare(reply.text)
    if _NOTHING.fullmatch(text):
        raise unusable("it said nothing")
    if not reply.finished:
        raise unusable("its reply was cut off")
    if _PAGE.search(text[:2_000]):
        raise unusable("it answered with a web page")
    if _REFUSAL.match(text.lstrip("-*#> \"'“")):
        raise unusable("it refused")
    if len(text) >= len(source):
        raise unusable(f"its reply is no shorter than what it was to condense ({len(text):,} characters)")
    return text


def bare(text: str) -> str:
    """Return a reply's text without thinking, channel marks and an outer code fence."""
    text = _CHANNEL.sub("", _THINKING.sub("", text.replace("\r\n", "\n")))
    text = _MARKER.sub("", _THOUGHT_BEFORE.sub("", text)).strip()
    fence = _FENCE.match(text)
    return fence[1].strip() if fence else text


def unusable(reason: str) -> ModelFailed:
    """Return the error of a reply that came and cannot be used."""
    return ModelFailed(
        f"the model's answer cannot be used: {reason}; it is asked again later: if that stays so, use another model",
        kind="unusable",
    )
