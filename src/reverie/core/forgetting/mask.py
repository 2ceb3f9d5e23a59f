"""The one mask every reader passes: what is forgotten, told from ids, places and keyed hashes alone.

Owns making a tombstone and asking it; promises that a tombstone holds no readable text, that the same id, place or
words are hidden wherever they come back from, and that a statement with another word in it ("peanuts" for "walnuts")
is not; never reads a file.

What is hidden:

- an entry by its id; by its words; by its telling words in the same order (spelling, inflection, grammar words and a
  few synonyms aside), which is put up for review; by the evidence it was read from, in the same session;
- a line or text that cites a forgotten entry, or in which a forgotten statement or its evidence stands;
- a turn that holds the evidence; a summary or history record that covers such a turn.

The hashes are made with a key that never leaves the workspace. Whoever has key and tombstones can test a guess, word
by word; whoever has the tombstones alone learns nothing but how many words were forgotten.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Literal

import msgspec

from reverie.core.guard.echoes import ENOUGH, sentences
from reverie.core.records import Entry, Sketch, Span, Tombstone
from reverie.core.search.rows import Row
from reverie.core.sessions.active_window import parse_range
from reverie.core.text.phrases import BORDERLESS, may_stand, phrase, telling, weight, words

ERASED = "[erased]"  # what stands where a text was erased
ERASED_CATEGORY = "erased"
SIGNATURE = 64  # keyed hashes of a signature, at most
LEAST = 2  # words a text must weigh to be looked for inside others
FEWEST = 2  # telling words below which only the very same words are the same statement

Why = Literal["", "id", "words", "alike", "place", "erased", "retracted"]

_CITED = re.compile(r"(?:\^|mem_id:\s*|`)([0-9a-f]{16})(?![0-9a-f])")
_LINE = re.compile(r"[^\r\n]+")
_MARKUP = re.compile(r"\[\[[^\[\]]*\]\]|`mem_id:[^`]*`|^\s*(?:[-+*>]|\d+[.)])\s+|^[●○—]{5}\s", re.MULTILINE)
_LONGEST_LINE = 600  # characters; a longer line is prose, and no line of ours that says one thing
_PAIRS_KEPT = 200_000


class Cipher(msgspec.Struct, frozen=True):
    """The keyed hashes of one workspace; an empty key (the key file is lost) matches nothing."""

    key: bytes

    def phrase(self, wanted: Sequence[str]) -> str:
        """Return the hash of a phrase, or of the place of one in a text."""
        return self._hmac(b"phrase", wanted)

    def alike(self, wanted: Sequence[str]) -> str:
        """Return the hash of telling words, or nothing when they are too few to tell."""
        return self._hmac(b"alike", wanted) if len(wanted) >= FEWEST else ""

    def word(self, word: str) -> int:
        """Return a short hash of one word."""
        data = word.encode("utf-8", "surrogatepass")
        return int.from_bytes(hashlib.blake2b(data, key=self.key[:64], digest_size=4).digest())

    def signature(self, wanted: Sequence[str]) -> tuple[int, ...]:
        """Return the smallest hashes of telling words: a bottom-k minhash, whole when there are no more than k."""
        return tuple(sorted({self.word(one) for one in wanted})[:SIGNATURE])

    def sketch(self, text: str, least: float) -> Sketch | None:
        """Return the phrase of a text as it may be found in others; None when it weighs less than `least` words."""
        wanted = phrase(text)
        return (
            Sketch(self.phrase(wanted), len(wanted), self.word(" ".join(wanted[:2])))
            if weight(wanted) >= least
            else None
        )

    def _hmac(self, kind: bytes, wanted: Sequence[str]) -> str:
        data = kind + b"\0" + "\0".join(wanted).encode("utf-8", "surrogatepass")
        return hmac.digest(self.key, data, "sha256").hex()


def tombstone_of(cipher: Cipher, entry: Entry, *, spans: Sequence[Span], at: datetime, by: str) -> Tombstone:
    """Return the tombstone of one entry; its id is the entry's, so that forgetting twice is forgetting once."""
    said = telling(entry.text)
    # A "yes" that was evidence once stands in many turns: too little to find anything by.
    sketches = [cipher.sketch(entry.text, LEAST), cipher.sketch(entry.evidence, BORDERLESS)]
    return Tombstone(
        id=entry.id,
        at=at,
        entries=(entry.id,),
        spans=tuple(spans),
        keyed=cipher.phrase(phrase(entry.text)),
        alike=cipher.alike(said),
        phrases=tuple(dict.fromkeys(one for one in sketches if one is not None)),
        signature=cipher.signature(said),
        by=by,
    )


def merged(lines: Iterable[Tombstone]) -> list[Tombstone]:
    """Return the tombstones that a file's lines amount to: those of one id together, the last word on lifting."""
    found: dict[str, Tombstone] = {}
    for line in lines:
        old = found.get(line.id)
        found[line.id] = line if old is None else _joined(old, line)
    return list(found.values())


def _joined(old: Tombstone, new: Tombstone) -> Tombstone:
    def both(name: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*getattr(old, name), *getattr(new, name))))

    return msgspec.structs.replace(
        old,
        at=new.at if new.keyed else old.at,  # when it was forgotten, not when a line was added to that
        entries=both("entries"),
        spans=both("spans"),
        phrases=both("phrases"),
        spared=both("spared"),
        keyed=new.keyed or old.keyed,
        alike=new.alike or old.alike,
        signature=new.signature or old.signature,
        lifted=new.lifted,
    )


class Mask:
    """Everything that is forgotten in a workspace; call it with an entry. An empty one hides nothing but stubs."""

    def __init__(self, tombstones: Iterable[Tombstone] = (), key: bytes = b"") -> None:
        """Take the tombstones as `merged` gives them; lifted ones count for nothing."""
        self.tombstones = tuple(one for one in tombstones if not one.lifted)
        self._cipher = Cipher(key)
        self._ids = {entry: one for one in self.tombstones for entry in one.entries}
        self._spared = {entry for one in self.tombstones for entry in one.spared} - self._ids.keys()
        self._turns = {(span.session, span.turn) for one in self.tombstones for span in one.spans}
        self._ordinals: dict[str, set[int]] = {}
        for one in self.tombstones:
            for span in one.spans:
                self._ordinals.setdefault(span.session, set()).add(span.n)
        back = [(span, one) for one in self.tombstones if not one.keyed for span in one.spans]
        self._retracted = {(span.session, span.n): one for span, one in back}
        self._taken_back = {(span.session, span.turn) for span, _ in back}
        # Without the key no hash can be compared: ids and turns still hide.
        known = self.tombstones if key else ()
        self._keyed = {one.keyed: one for one in known if one.keyed}
        self._alike = {one.alike: one for one in known if one.alike}
        self._evidence: dict[tuple[str, str], list[tuple[int, Tombstone]]] = {}
        for one in known:
            for span in one.spans:
                if span.digest:
                    self._evidence.setdefault((span.session, span.digest), []).append((span.n, one))
        self._sketches: dict[int, dict[int, set[str]]] = {}
        for sketch in (sketch for one in known for sketch in one.phrases):
            self._sketches.setdefault(sketch.head, {}).setdefault(sketch.words, set()).add(sketch.keyed)
        self._phrases = {sketch.keyed: one for one in known for sketch in one.phrases}
        self._begun: dict[tuple[str, str], Mapping[int, set[str]]] = {}

    def __bool__(self) -> bool:
        """Whether anything is forgotten."""
        return bool(self.tombstones)

    def __call__(self, entry: Entry) -> bool:
        """Whether `entry` is hidden."""
        return bool(self.why(entry))

    def why(self, entry: Entry) -> Why:
        """Return what hides `entry`, if anything.

        Its id, its words, other words for it, the evidence it stands on, or that all its turns were retracted.
        """
        if entry.category == ERASED_CATEGORY and entry.text == ERASED:
            return "erased"
        if not self.tombstones or entry.id in self._spared:
            return ""
        if entry.id in self._ids:
            return "id"
        if self._retracting(entry) is not None:
            return "retracted"
        if not self._keyed:
            return ""
        if self._cipher.phrase(phrase(entry.text)) in self._keyed:
            return "words"
        if self._alike_one(entry.text) is not None:
            return "alike"
        if entry.evidence and entry.session and self._evidence_of(entry) is not None:
            return "place"
        return ""

    def tombstone(self, entry: Entry) -> Tombstone | None:
        """Return the tombstone that hides `entry`."""
        return (
            self._ids.get(entry.id)
            or self._retracting(entry)
            or self._keyed.get(self._cipher.phrase(phrase(entry.text)))
            or self._alike_one(entry.text)
            or self._evidence_of(entry)
        )

    def contained(self, text: str) -> Tombstone | None:
        """Return a tombstone all of whose telling words are among those of `text`, in whatever order."""
        said = {self._cipher.word(one) for one in telling(text)} if self._keyed else set()
        for one in self.tombstones:
            if FEWEST <= len(one.signature) < SIGNATURE and said.issuperset(one.signature):
                return one
        return None

    def text(self, text: str) -> bool:
        """Whether a line, paragraph or page says something forgotten: it cites it, says it, or quotes its evidence."""
        if not self.tombstones:
            return False
        if any(cited[1] in self._ids for cited in _CITED.finditer(text)):
            return True
        return self._says(text) or any(self._alike_one(line) is not None for line in _statements(text))

    def said(self, text: str) -> Tombstone | None:
        """Return a tombstone whose statement, or its evidence, stands in `text` word for word."""
        return self._phrases.get(self._said(text))

    def echoed(self, text: str) -> Tombstone | None:
        """Return a tombstone of which a sentence of `text`, an answer to what says it, repeats telling words."""
        for sentence in sentences(text) if self._keyed else ():
            words_of = {self._cipher.word(one) for one in telling(sentence) if one != "user"}
            for one in self.tombstones:
                if len(words_of.intersection(one.signature)) >= ENOUGH:
                    return one
        return None

    def turn(self, session: str, turn_id: str) -> bool:
        """Whether a turn holds the evidence of something forgotten."""
        return (session, turn_id) in self._turns

    def retracted(self, session: str, turn_id: str) -> bool:
        """Whether a turn was taken back as a whole, so that it counts as never said."""
        return (session, turn_id) in self._taken_back

    def covers(self, session: str, turns: str) -> bool:
        """Whether the ordinals `turns` (`12`, `12-13`) of a session take in a turn that holds forgotten evidence."""
        ordinals = self._ordinals.get(session)
        if not ordinals or not turns:
            return False
        span = parse_range(turns)
        return span is not None and any(span[0] <= one <= span[1] for one in ordinals)

    def row(self, row: Row) -> bool:
        """Whether a search row is hidden. Of entries only ids are looked at: the state has judged their words."""
        if not self.tombstones:
            return False
        if row.kind == "entry":
            return row.id in self._ids
        if row.kind == "turn":
            return self.turn(row.session, row.digest) or self._says(row.text)
        if any(cited in self._ids for cited in row.digest.split()):
            return True
        if row.kind == "value" and self.text(row.heading):
            return True  # a key may say as much as what stands under it
        return self.text(row.text) or (row.kind == "history" and self.covers(row.session, row.digest))

    def _retracting(self, entry: Entry) -> Tombstone | None:
        span = parse_range(entry.turns) if self._retracted and entry.session and entry.turns else None
        if span is None or (entry.session, span[0]) not in self._retracted:
            return None
        every = all((entry.session, n) in self._retracted for n in range(span[0], span[1] + 1))
        return self._retracted[entry.session, span[0]] if every else None

    def _alike_one(self, text: str) -> Tombstone | None:
        found = self._cipher.alike(telling(text)) if self._alike else ""
        return self._alike.get(found) if found else None

    def _evidence_of(self, entry: Entry) -> Tombstone | None:
        found = self._evidence.get((entry.session, self._cipher.phrase(phrase(entry.evidence))), ())
        span = parse_range(entry.turns)
        return next((one for n, one in found if span is None or span[0] <= n <= span[1]), None)

    def _says(self, text: str) -> bool:
        return bool(self._said(text))

    def _said(self, text: str) -> str:
        """Return the hash of a forgotten phrase in a text; few pairs of words begin one, so few places are hashed."""
        if not self._sketches:
            return ""
        texts = phrase(text)
        begun = [
            (start, found) for start, pair in enumerate(pairwise(texts)) if (found := self._begun_by(pair))
        ]
        if not begun:
            return ""
        said = words(text)
        found_ = (
            (start, size, keyed)
            for start, found in begun
            for size, hashes in found.items()
            if start + size <= len(texts)
            and (keyed := self._cipher.phrase(texts[start : start + size])) in hashes
        )
        return next((keyed for start, size, keyed in found_ if may_stand(said, start, end=start + size)), "")

    def _begun_by(self, pair: tuple[str, str]) -> Mapping[int, set[str]]:
        """Return the forgotten phrases that may begin with two words, by their length."""
        found = self._begun.get(pair)
        if found is None:
            if len(self._begun) > _PAIRS_KEPT:
                self._begun.clear()
            found = self._begun[pair] = self._sketches.get(self._cipher.word(" ".join(pair)), {})
        return found


def _statements(text: str) -> Iterator[str]:
    """Yield each line that may say one thing, without list marks, citations and STARE marks."""
    for line in _LINE.finditer(text):
        if line.end() - line.start() <= _LONGEST_LINE:
            yield _MARKUP.sub(" ", line[0])
