"""The one tokeniser: what a text, and a query, is made of.

Owns the splitting of any text, in any script, into terms; promises that a stored text and a query are cut by the
same rules, that any `str` at all (lone surrogates included) gives a list, and that a term holds no blank, no
control character and at most `LONGEST` characters; never drops a word from a stored text.

Words are casefolded, stripped of Latin accents and stemmed (English rules for Latin letters, Russian for
Cyrillic). Han, Kana and Hangul give every character and every pair of neighbours, so that one- and two-character
queries match without a dictionary; Thai, Lao, Khmer and Burmese likewise. Identifiers (`snake_case`, `camelCase`,
paths, `v2.3.1`) give the whole and its parts. Each emoji is a term. A search also takes irregular forms and other
spellings for one word (`search_terms`); what counts as the same statement does not.
"""

from __future__ import annotations

import threading
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache
from itertools import chain
from operator import add
from typing import Final

import Stemmer

from reverie.core.text import stopwords, word_forms
from reverie.core.text.patterns import Words

VERSION: Final = 2  # goes up whenever the terms of any text change, so that indexes built before are rebuilt
LONGEST: Final = 64  # characters of one term; a longer one (base64, hashes, URLs) is cut here
_SCRAPS: Final = 4  # parts of letters and digits a word with a digit may have before it is taken for a key
LIGHT: Final = 0.4  # what a word that says little by itself counts for in a query
_ROOT: Final = 3  # letters of an Arabic word that must remain without its article
_KEPT: Final = 16_384  # pieces whose terms are kept, about 4 MB
_FEW: Final = 8  # terms of a piece that is kept: a word, a date, a path, but no sentence without blanks

_CJK = "\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3040-\u309a\u309d-\u30fa\u30fc-\u30ff"
_CJK += (
    "\u3105-\u312f\u3130-\u318f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
)
_CJK += "\uff66-\uff9f\U0001b000-\U0001b16f\U00020000-\U000323af"
_NO_BLANKS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf"  # scripts written without blanks
)
_ARABIC = "\u0600-\u060b\u060e-\u061a\u0620-\u066f\u0671-\u06d3\u06d5-\u06ff\u0750-\u077f\u08a0-\u08ff"
_EMOJI = "\u203c\u2049\u2190-\u21ff\u231a-\u23ff\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff"
_EMOJI += "\U0001f000-\U0001f3fa\U0001f400-\U0001faff"  # skin tones are left out: one hand, one term
# `\w` leaves out the vowel signs of the Indic scripts and combining accents; without them a Hindi word falls apart.
_WORD = r"\w\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf-\u05c7\u0900-\u0963\u0966-\u0dff\u0f18-\u0fbc"

_CHUNK = Words(rf"[{_WORD}]+(?:[-'’.,:/\\@&+][{_WORD}]+)*(?:\+\+|#(?![{_WORD}]))?")
_ASCII_CHUNK = Words(r"[A-Za-z0-9_]+(?:[-'.,:/\\@&+][A-Za-z0-9_]+)*(?:\+\+|#(?!\w))?")
_RUN = Words(f"([{_CJK}]+|[{_NO_BLANKS}]+|[{_ARABIC}]+|[{_EMOJI}])")
_ARABIC_RUN = Words(f"[{_ARABIC}]")
_EMOJI_RUN = Words(f"[{_EMOJI}]")
_CAMEL = Words(r"[a-z][A-Z]|[A-Z]{2}[a-z]{2}")
_CAMEL_PART = Words(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[^\W\dA-Z_]+|[A-Z]+|\d+")
_PART = Words(
    r"\d+|[^\W\d_]+[\u0300-\u036f\u0591-\u05c7\u0900-\u0dff]*(?:[^\W\d_]|[\u0300-\u036f\u0591-\u05c7\u0900-\u0dff])*"
)
_SPLIT = Words(r"[-'’.,:/\\@&+#_]+")
_LIST = Words(r"[,&]")
_THOUSANDS = Words(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_CLITIC = Words(r"['’](?:s|ll|re|ve|d|m)$")
_ELISION = Words(r"^(?:[cdjlmnst]|qu)['’](?=\w{3})")
_ACRONYM = Words(r"\w(?:\.\w)+")
_ARABIC_MARKS = Words("[\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed]+")
_ARABIC_FORMS = str.maketrans(
    {
        "\u0623": "\u0627",
        "\u0625": "\u0627",
        "\u0622": "\u0627",
        "\u0671": "\u0627",
    }  # alef with hamza, madda, wasla
    | {
        "\u0649": "\u064a",
        "\u06cc": "\u064a",
        "\u0629": "\u0647",
        "\u06a9": "\u0643",
    }  # maksura, Persian yeh, ta marbuta, kaf
)
_LATIN_MARKS = Words("([a-z\u0370-\u03ff])[\u0300-\u036f]+")
_LATIN_FORMS = str.maketrans(
    {"ø": "o", "đ": "d", "ł": "l", "ı": "i", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th", "ё": "е"}
)
_CYRILLIC = Words("[\u0400-\u04ff]")
_BLANKS = Words(r"\s+")
_DIGIT_ZEROS = (
    0x660,
    0x6F0,
    0x7C0,
    0x966,
    0x9E6,
    0xA66,
    0xAE6,
    0xB66,
    0xBE6,
    0xC66,
    0xCE6,
    0xD66,
    0xE50,
    0xED0,
    0x1040,
    0x17E0,
)
_DIGITS = {zero + n: str(n) for zero in _DIGIT_ZEROS for n in range(10)}
_OTHER_DIGITS = Words(f"[{''.join(map(chr, _DIGITS))}]")

_TOKEN = Words(  # each alternative is about one token of today's byte-pair vocabularies
    r"[A-Za-z\u00c0-\u024f]{1,8}|\d{1,3}|[\u0370-\u052f]{1,4}|[\u0590-\u08ff]{1,3}"
    r"|[\u0900-\u0eff\u1000-\u109f\u1780-\u17ff]{1,2}|\n+| {2,}|\S"
)


class _Stemmers(threading.local):
    """One pair of stemmers a thread, because a Snowball stemmer keeps state while it works."""

    english: Callable[[str], str]
    russian: Callable[[str], str]

    def __init__(self) -> None:
        self.english = Stemmer.Stemmer("english").stemWord
        self.russian = Stemmer.Stemmer("russian").stemWord


_STEMMERS = _Stemmers()


def normalise(text: str) -> str:
    """Return `text` in one spelling: NFKC, casefolded, runs of blanks collapsed to one and none at the ends."""
    if text.isascii():
        return " ".join(text.lower().split())  # the same, in a fifth of the time
    return _BLANKS.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip()


def terms(text: str) -> list[str]:
    """Return the terms of `text` in the order it holds them, repeats included; the whole precedes its parts."""
    return list(chain.from_iterable(map(_TERMS.__getitem__, text.split())))


def cut(text: str) -> list[str]:
    """Return what `terms` does, by cutting the text as a whole."""
    out: list[str] = []
    if text.isascii():
        _words([text] if text.isalnum() else _ASCII_CHUNK.findall(text), out)
        return out
    text = unicodedata.normalize("NFKC", text)
    if _OTHER_DIGITS.search(text):
        text = text.translate(_DIGITS)
    for place, piece in enumerate(_RUN.split(text)):
        if place % 2 == 0:
            if piece.isascii():
                out += _TERMS[piece]
            else:
                _words(_CHUNK.findall(piece), out)
        elif _ARABIC_RUN.match(piece):
            out.append(_arabic(piece))
        elif _EMOJI_RUN.match(piece):
            out.append(piece)
        else:
            _pairs(piece, out)
    return list(filter(None, out))


def search_terms(text: str) -> list[str]:
    """Return the terms of `text` by which it is found: irregular forms and other spellings under one word."""
    return list(chain.from_iterable(map(_SEARCHED.__getitem__, text.split())))


def query_terms(text: str) -> list[str]:
    """Return the terms of a query, each once, without question and grammar words unless nothing else is left."""
    every = list(dict.fromkeys(search_terms(text)))
    stop = stop_terms()
    return [term for term in every if term not in stop] or every


def heft(term: str) -> float:
    """Return what a query's term counts for, 0 to 1."""
    return LIGHT if term in _light_terms() else 1.0


@cache
def _light_terms() -> frozenset[str]:
    return frozenset(term for word in stopwords.LIGHT for term in search_terms(word))


@cache
def _forms() -> dict[str, str]:
    """Return the stems that have another one's place in a search."""
    return {_stem(form): _stem(word) for form, word in word_forms.pairs()}


@cache
def stop_terms() -> frozenset[str]:
    """Return the terms of the words that carry no content in a question."""
    return (
        frozenset(_stem(word) for word in stopwords.WORDS)
        | stopwords.HAN
        | stopwords.HANGUL
        | frozenset(_arabic(word) for word in stopwords.ARABIC)
    )


def estimate(text: str) -> int:
    """Return about how many tokens a language model counts in `text`.

    Eight Latin letters, three digits, one Han character or one mark each count one; over a tenth too high on
    English prose, so that a budget kept by it is kept.
    """
    return len(_TOKEN.findall(text))


def _cut_for_search(text: str) -> list[str]:
    forms = _forms()
    found = cut(text)
    return list(map(forms.get, found, found))


class _Kept(dict[str, tuple[str, ...]]):
    """What was cut lately, by piece: no term reaches over a blank, and most words of a text were met before."""

    def __init__(self, cut: Callable[[str], Iterable[str]]) -> None:
        super().__init__()
        self._cut = cut

    def __missing__(self, piece: str) -> tuple[str, ...]:
        """Cut a piece and keep it, unless it is long; whatever is kept is let go of when it becomes too much."""
        found = tuple(self._cut(piece))
        if len(piece) <= LONGEST and len(found) <= _FEW:
            if len(self) >= _KEPT:
                self.clear()
            self[piece] = found
        return found


_TERMS = _Kept(cut)
_SEARCHED = _Kept(_cut_for_search)


def _words(chunks: list[str], out: list[str]) -> None:
    """Append the terms of chunks of alphabetic text to `out`."""
    english = _STEMMERS.english
    for chunk in chunks:
        if chunk.isascii() and chunk.isalpha():
            if _CAMEL.search(chunk):
                _identifier(chunk, out)
            else:
                out.append(english(chunk.lower()[:LONGEST]))
        elif chunk.isdigit():
            out.append(chunk[:LONGEST])
        elif chunk.isalpha():
            out.append(_stem(chunk.casefold()))
        else:
            _compound(chunk, out)


def _compound(chunk: str, out: list[str]) -> None:
    """Append the terms of a chunk that holds digits, marks or joiners."""
    if "'" in chunk or "’" in chunk:
        chunk = _ELISION.sub("", _CLITIC.sub("", chunk))
        chunk = chunk.replace("'", "").replace("’", "")
        if chunk.isalpha():
            out.append(_stem(chunk.casefold()))
            return
    if _THOUSANDS.fullmatch(chunk):
        out.append(chunk.replace(",", "")[:LONGEST])
        return
    if _ACRONYM.fullmatch(chunk) and not any(c.isdigit() for c in chunk):
        out.append(chunk.replace(".", "").casefold()[:LONGEST])
        return
    if "," in chunk or "&" in chunk:
        _words([piece for piece in _LIST.split(chunk) if piece], out)
        return
    _identifier(chunk, out)


def _identifier(chunk: str, out: list[str]) -> None:
    """Append the whole of an identifier, path, version or hyphenated word, then its parts."""
    whole = _fold(chunk)
    pieces = [piece for piece in _SPLIT.split(chunk) if piece]
    hyphened = "-" in chunk and all(piece.isalpha() for piece in pieces)
    out.append((whole.replace("-", "") if hyphened else whole)[:LONGEST])
    for piece in pieces:
        parts = _CAMEL_PART.findall(piece) if piece.isascii() else _PART.findall(piece)
        if len(parts) > _SCRAPS and any(
            c.isdigit() for c in piece
        ):  # a hash or key: its scraps match by chance
            parts = [piece]
        if len(parts) == 1 and len(pieces) == 1 and _fold(parts[0]) == whole:
            continue
        out.extend(_stem(part.casefold()) for part in parts)


def _pairs(run: str, out: list[str]) -> None:
    """Append every character of a run and every pair of neighbours."""
    folded = run.casefold()
    out.extend(folded)
    out.extend(map(add, folded, folded[1:]))


def _arabic(run: str) -> str:
    """Return an Arabic word without tatweel, vowel marks, variant letters and the article."""
    word = _ARABIC_MARKS.sub("", run).translate(_ARABIC_FORMS)
    for prefix in ("وال", "بال", "كال", "فال", "ال", "لل"):
        if word.startswith(prefix) and len(word) - len(prefix) >= _ROOT:
            return word[len(prefix) :][:LONGEST]
    return word[:LONGEST]


def _fold(word: str) -> str:
    """Return `word` casefolded and, for Latin and Greek letters, without accents."""
    word = word.casefold()
    if word.isascii():
        return word
    word = _LATIN_MARKS.sub(r"\1", unicodedata.normalize("NFD", word))
    return unicodedata.normalize("NFC", word).translate(_LATIN_FORMS)


def _stem(word: str) -> str:
    """Return the stem of a casefolded word."""
    word = _fold(word)[:LONGEST]
    if _CYRILLIC.match(word):
        return _STEMMERS.russian(word)
    return _STEMMERS.english(word)
