"""Read a correction that names only the wrong word and the right one: "sorry, it's Lena, not Lea".

Owns what such a sentence is and which statements it mends; promises to mend only what was stated before in the same
turns and holds the wrong word as a whole, and to keep a correction that mends none as it was said. Never guesses whom
or what it is about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from reverie.core.text.patterns import Words
from reverie.model.rules.claims import STRONG, Claim, Scene
from reverie.model.rules.sentences import Sentence

MENDED = 3  # statements that one correction mends at most
_LOOKED = 20  # statements looked at, the latest first

_SORRY = r"(?:(?:no|nope|sorry|oops|wait|actually|correction|my (?:mistake|bad)|i misspoke)[\s,.:;!–—-]+)*"
_EN = Words(
    rf"^{_SORRY}(?:(?:it|that|this|he|she)(?:['’]s| is)(?: called| named)? |(?:her|his|its|the|their) (?:\w+ )?"
    r"(?:name )?is |i meant |make that |i mean )?(?P<right>[\w'’.:€$£%/-]+(?: [\w'’.:€$£%/-]+){0,3}?),? (?:and )?not "
    r"(?P<wrong>[\w'’.:€$£%/-]+(?: [\w'’.:€$£%/-]+){0,3}?)[.!]*$",
    fold=True,
)
_PLAIN = frozenset(
    "yet now really sure again only just always it that this so if because ok good bad".split()
)
_EMPTY_ZH = Words(r"[我你您他她它们吧吗呢啊呀?？这那真谁]")
_ZH = (
    Words(
        r"^(?:(?:不对|说错了?|我说错了?|更正一?下?|抱歉|不好意思|口误)[,，:：。\s]*)*(?:不是|不叫|不姓)"
        r"(?P<wrong>[^，,。；是不]{1,12}?)[，,]?(?:而是|应该是|是|叫|姓)(?P<right>[^，,。；是不]{1,12}?)(?:[，,。！!].{0,16})?$"
    ),
    Words(
        r"^(?:(?:不对|说错了?|我说错了?|更正一?下?|抱歉|不好意思|口误)[,，:：。\s]*)*(?:应该)?(?:是|叫|姓)"
        r"(?P<right>[^，,。；是不]{1,12}?)[，,](?:不是|不叫|不姓)(?P<wrong>[^，,。；是不]{1,12}?)[。！!]?$"
    ),
)


def mends(sentence: Sentence, before: Sequence[Claim], *, scene: Scene) -> Iterator[Claim]:
    """Yield the statements of `before` that a sentence corrects, mended, or the bare correction itself.

    `before` are the claims of earlier sentences, in their order.
    """
    found = _bare(sentence.text)
    if found is None:
        return
    right, wrong = found
    mended = list(_mended(right, wrong, before))
    chinese = not wrong.isascii()
    for one in mended:
        text = f"更正：{one.text}，不是{wrong}" if chinese else f"Correction: {one.text}, not {wrong}"
        yield replace(one, text=text, start=sentence.start, end=sentence.end, sig=STRONG, origin=None)
    if not mended and _telling(right) and _telling(wrong):
        said = f"{scene.me if scene.me != 'User' else '用户'}更正：是{right}，不是{wrong}"
        text = said if chinese else f"Correction: it is {right}, not {wrong}"
        yield Claim(category="fact", text=text, start=sentence.start, end=sentence.end, sig=STRONG)


def _telling(words: str) -> bool:
    """Tell whether a word tells something by itself: a name or a number."""
    if not words.isascii():
        return len(words) > 1 and _EMPTY_ZH.search(words) is None
    return all(
        (word[0].isupper() or word[0].isdigit()) and word.split("'")[0] != "I" for word in words.split()
    )


def _bare(text: str) -> tuple[str, str] | None:
    """Return the right and the wrong word of a bare correction."""
    if " not " not in text and "不" not in text:
        return None
    match = _EN.match(text) if text.isascii() else next((m for p in _ZH if (m := p.match(text))), None)
    if match is None or match["right"].casefold() == match["wrong"].casefold():
        return None
    if {match["wrong"].split()[0].casefold(), match["right"].split()[-1].casefold()} & _PLAIN:
        return None
    return match["right"].strip(), match["wrong"].strip(" .!")


def _mended(right: str, wrong: str, before: Sequence[Claim]) -> Iterator[Claim]:
    """Yield the last claims that hold the wrong word, with the right one in its place."""
    whole = re.compile(rf"(?<!\w){re.escape(wrong)}(?!\w)" if wrong.isascii() else re.escape(wrong))
    made = 0
    seen: set[str] = set()
    for claim in reversed(before[-_LOOKED:]):
        if claim.text in seen or right in claim.text or whole.search(claim.text) is None:
            continue
        seen.add(claim.text)
        about = right if claim.about == wrong else claim.about
        yield replace(claim, text=whole.sub(lambda _: right, claim.text), about=about)
        made += 1
        if made == MENDED:
            return
