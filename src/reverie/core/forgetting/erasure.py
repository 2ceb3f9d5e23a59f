"""Taking a text out of a file's bytes, whatever kind of file it is, and leaving all else as it was.

Owns what becomes of each kind of file when something is erased; promises that the same erasure applied twice changes
nothing the second time, that a file which does not hold the text keeps every byte, that unknown members and fields
survive, and that ordinals, offsets and checksums stay right; never reads a file.

An entry's line, and its record in the journal and the events, becomes a stub with an id of its own. A line of a page,
summary or MEMORY.md that cites the entry goes. Anywhere else the words become `[erased]`.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any

import msgspec

from reverie import layout
from reverie.core.days import Calendar
from reverie.core.forgetting import stubs
from reverie.core.forgetting.mask import ERASED
from reverie.core.formats import framing
from reverie.core.formats.gzipped import pack, unpack
from reverie.core.formats.readings import DEEPEST, decoded, readings, text_of, unescaped
from reverie.core.formats.utf8 import to_bytes, to_text
from reverie.core.pages.blocks import Block, find_block, render_block
from reverie.core.records import Span
from reverie.core.sessions.active_window import parse_range
from reverie.core.text.names import is_day, safe_name
from reverie.core.text.phrases import BORDERLESS, by_first, find, phrase, spelled, weight, words

_NESTED = re.compile(r"\s*[\[{]")
_COVERED = re.compile(r"\(turns:: ([\d-]+)\)", re.ASCII)
_OF_TURN = re.compile(r"\(turn:: (\d{1,15})\)\s*$", re.ASCII)
_SECTIONS = re.compile(r"(?m)^(?=## )")
_MANY = 40  # texts from which on it is quicker to look closely at once

Spans = list[tuple[int, int]]


class Erasure(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="erase"):
    """What is to be erased: the stub of each entry, the texts, and the turns they were said in.

    `texts` go wherever they stand; `own` only in `turns`, being too short to be looked for elsewhere. Of turns that go
    as a `whole` nothing is left but their place.
    """

    id: str
    stubs: dict[str, str]
    texts: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    turns: tuple[Span, ...] = ()
    whole: tuple[Span, ...] = ()


class Order(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="order"):
    """What an erasure has to do elsewhere: the stubs, the texts, and the folders of the people it is still to reach."""

    id: str
    stubs: dict[str, str]
    texts: tuple[str, ...] = ()
    people: tuple[str, ...] = ()


class Eraser:
    """An erasure made ready to be applied to files."""

    def __init__(self, erasure: Erasure, calendar: Calendar) -> None:
        """Take the erasure; `calendar` reads the daily logs."""
        self.erasure = erasure
        self._calendar = calendar
        said = [found for text in erasure.texts if (found := phrase(text))]
        self._phrases = by_first(said)
        self._own = by_first([*said, *map(phrase, erasure.own)])
        # Its longest word tells most texts apart without a closer look.
        self._needles = {max(found, key=len) for found in said}
        long = (text for text in erasure.texts if weight(phrase(text)) >= BORDERLESS)
        self._bytes = [text.encode("utf-8", "replace") for text in long]
        self._whole = {(span.session, span.turn) for span in erasure.whole}
        self._turns = {(span.session, span.turn) for span in (*erasure.turns, *erasure.whole)}
        self._ordinals: dict[str, set[int]] = {}
        for span in (*erasure.turns, *erasure.whole):
            self._ordinals.setdefault(safe_name(span.session), set()).add(span.n)

    # Files

    def file(self, path: str, data: bytes) -> bytes:
        """Return what the file at `path` holds without the text; `data` itself where nothing has to go."""
        if path.endswith(".gz"):
            plain, lost = unpack(data)
            new = plain if lost else self.lines(plain)  # a damaged file is left, and found by the search
            return data if new == plain else pack(new)
        if path.endswith((".jsonl", ".json")):
            return self.lines(data)
        text = text_of(data)
        if text is None:
            return data
        folder, _, name = path.rpartition("/")
        if folder == layout.ARCHIVE and name.endswith(".md") and is_day(name[:-3]):
            text = stubs.replaced(text, name[:-3], calendar=self._calendar, ids=self.erasure.stubs)
            new_text = self.text(text)
        elif folder == layout.SUMMARIES:
            new_text = self._summary(text, name[11:-3])
        elif path == layout.MEMORY:
            new_text = self._memory(text)
        else:
            new_text = self.page(text)
        return to_bytes(new_text)

    def lines(self, data: bytes) -> bytes:
        """Return a stream of records without the text, each changed one framed anew."""
        sound, damage = framing.read(data)
        out: list[bytes] = []
        session = ""
        pieces: list[framing.Line | framing.Damage] = [*sound, *damage]
        for piece in sorted(pieces, key=lambda one: one.offset):
            raw = piece.raw
            if isinstance(piece, framing.Line):
                record = decoded(raw)
                if record.get("type") == "session":
                    session = str(record.get("session", ""))
                new = self.json(record, session=session) if self._concerned(raw, session) else record
                if new != record:
                    body = {name: one for name, one in new.items() if name not in {"v", "crc"}}
                    raw = framing.frame(body, version=new["v"])[:-1]
            else:
                raw = self._broken(raw)
            out.append(raw + data[piece.offset + len(piece.raw) : piece.end])
        return b"".join(out)

    def page(self, text: str) -> str:
        """Return a page without the lines that cite an erased entry, and without the text."""
        if self.names(text):
            text = stubs.uncited(text, self.erasure.stubs)
        return self.text(text)

    def _memory(self, text: str) -> str:
        """Return MEMORY.md without the text, its block under a checksum that says nobody edited it, if nobody had."""
        found = find_block(text)
        if not isinstance(found, Block) or not found.intact:
            return self.page(text)
        inner = self.page(found.inner)
        if inner == found.inner:
            return (
                self.page(text[: found.start]) + text[found.start : found.end] + self.page(text[found.end :])
            )
        newline = "\r\n" if "\r\n" in text[found.start : found.end] else "\n"
        block = render_block(inner.replace("\r\n", "\n")).replace("\n", newline)
        return self.page(text[: found.start]) + block + self.page(text[found.end :])

    def _summary(self, text: str, session: str) -> str:
        """Return summaries without lines on the erased turns, and without what else was said of sections over them."""
        ordinals = self._ordinals.get(session, set())
        return self.page("".join(self._section(one, ordinals) for one in _SECTIONS.split(text)))

    @staticmethod
    def _section(text: str, ordinals: set[int]) -> str:
        covered = _COVERED.search(text)
        span = parse_range(covered[1]) if covered else None
        if span is None or not any(span[0] <= one <= span[1] for one in ordinals):
            return text
        kept = []
        for line in text.splitlines(keepends=True):
            of_turn = _OF_TURN.search(line)
            if of_turn and int(of_turn[1]) in ordinals:
                continue
            # A line that names neither turn nor entry may tell of any of them, in words of its own.
            if (
                line.startswith("- ")
                and not of_turn
                and "`mem_id: " not in line
                and not line.startswith("- and ")
            ):
                continue
            kept.append(line)
        return "".join(kept)

    # Texts

    def text(self, text: str, *, own: bool = False) -> str:
        """Return `text` with `[erased]` where the texts stand; `own` is for the very turns they were said in."""
        return _without(text, self._spans(text, own=own))

    def _spans(self, text: str, *, own: bool) -> Spans:
        if not own and not self._suspected(text):
            return []
        return find(words(text), self._own if own else self._phrases, anywhere=own)

    def _suspected(self, text: str) -> bool:
        if not self._needles or len(self._needles) > _MANY:
            return bool(self._needles)
        folded = spelled(text)
        return any(needle in folded for needle in self._needles)

    # Records

    def json(self, value: Any, *, session: str = "", depth: int = 0) -> Any:  # noqa: ANN401 - JSON
        """Return a JSON value without the text; `session` is the file's, where it has one."""
        if depth > DEEPEST:
            return value
        if isinstance(value, str):
            return self._string(value, session, depth)
        if isinstance(value, list):
            return [self.json(one, session=session, depth=depth + 1) for one in value]
        if not isinstance(value, dict):
            return value
        stub = self.erasure.stubs.get(str(value.get("id")))
        if stub is not None and "text" in value and "day" in value:
            return stubs.record(value, stub)
        changed = {
            self.text(key): one if key == "base64" else self.json(one, session=session, depth=depth + 1)
            for key, one in value.items()
        }
        return self._special(value, changed, session)

    def _special(self, old: dict[str, Any], new: dict[str, Any], session: str) -> dict[str, Any]:
        """Return a changed record with what its kind demands: turns, history, remarks on an erased entry, raw bytes."""
        content = old.get("content")
        where = str(old.get("session") or session)
        if isinstance(content, str) and old.get("type") == "turn":
            own = (where, str(old.get("id"))) in self._turns
            if (where, str(old.get("id"))) in self._whole:
                left = {name: one for name, one in new.items() if name not in {"injected", "calls", "item"}}
                return {**left, "content": ERASED}
            spans = self._spans(content, own=own)
            new["content"] = _without(content, spans)
            if spans and old.get("injected"):
                new["injected"] = [
                    [_moved(start, spans), _moved(end, spans)] for start, end in old["injected"]
                ]
            if own and old.get("item"):
                new["item"] = self._item(str(old["item"]))
            if own and "calls" in old:
                new["calls"] = [
                    {**call, "arguments": self.text(str(call.get("arguments", "")), own=True)}
                    for call in new["calls"]
                ]
        elif isinstance(content, str) and "cursor" in old and self._covers(where, str(old.get("turns"))):
            new["content"] = self.text(content, own=True) if old.get("raw") else ERASED
        if str(old.get("entry")) in self.erasure.stubs:
            new.update({name: ERASED for name in ("why", "reason") if old.get(name)})
        packed = old.get("base64")
        if isinstance(packed, str):
            new["base64"] = self._packed(packed)
        return new

    def _string(self, value: str, session: str, depth: int) -> str:
        if _NESTED.match(value):
            try:
                inner = msgspec.json.decode(value)
            except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
                inner = None
            if isinstance(inner, (dict, list)):
                new = self.json(inner, session=session, depth=depth + 1)
                return value if new == inner else msgspec.json.encode(new).decode()
        if value in self.erasure.stubs:
            return value  # a reference, which says nothing
        return self._spelled(value)

    def _item(self, item: str) -> str:
        """Return a host's own form of a turn without the texts that are looked for in that turn alone, too."""
        try:
            inner = msgspec.json.decode(item)
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            return self.text(item, own=True)
        new = self._own_json(inner)
        return item if new == inner else msgspec.json.encode(new).decode()

    def _own_json(self, value: Any, depth: int = 0) -> Any:  # noqa: ANN401 - JSON
        if isinstance(value, str):
            return (
                self._item(value) if depth <= DEEPEST and _NESTED.match(value) else self.text(value, own=True)
            )
        if isinstance(value, list) and depth <= DEEPEST:
            return [self._own_json(one, depth + 1) for one in value]
        if isinstance(value, dict) and depth <= DEEPEST:
            return {key: self._own_json(one, depth + 1) for key, one in value.items()}
        return value

    def _packed(self, packed: str) -> str:
        try:
            raw = base64.b64decode(packed, validate=True)
        except (binascii.Error, ValueError):
            return packed
        new = self._broken(raw)
        return packed if new == raw else base64.b64encode(new).decode()

    def _broken(self, raw: bytes) -> bytes:
        """Return bytes that are no record without the text."""
        return to_bytes(self._spelled(to_text(raw)))

    def _spelled(self, text: str) -> str:
        """Return a string without the text; where escapes of JSON hide it, nothing of the string is left."""
        new = self.page(text)
        return ERASED if "\\" in new and self.holds(unescaped(new)) else new

    def _covers(self, session: str, turns: str) -> bool:
        span = parse_range(turns)
        ordinals = self._ordinals.get(safe_name(session), ()) if session else ()
        return span is not None and any(span[0] <= one <= span[1] for one in ordinals)

    def _concerned(self, raw: bytes, session: str) -> bool:
        """Whether a record may have to change: it names an entry, a turn's session, or may say the text."""
        if session and safe_name(session) in self._ordinals:
            return True
        text = raw.decode("utf-8", "replace")
        if self.names(text) or any(session in text for session, _ in self._turns):
            return True
        return "\\u" in text or '"base64"' in text or self._suspected(text)

    # Proof

    def names(self, text: str) -> bool:
        """Whether the id of an erased entry stands in `text`."""
        return any(found in self.erasure.stubs for found in stubs.ids_in(text))

    def holds(self, text: str) -> bool:
        """Whether one of the texts stands in `text`, by its words alone."""
        return self._suspected(text) and bool(find(words(text), self._phrases))

    def found_in(self, path: str, data: bytes) -> bool:
        """Whether a text stands in the file: in its name, its bytes, or what they decode to."""
        # What is no text may hold the words all the same: there they are looked for byte by byte.
        return any(one in data for one in self._bytes) or any(map(self.holds, readings(path, data)))


def _without(text: str, spans: Spans) -> str:
    out, at = [], 0
    for start, end in spans:
        out += [text[at:start], ERASED]
        at = end
    return "".join([*out, text[at:]])


def _moved(offset: int, spans: Spans) -> int:
    """Return where a character of the old text stands in the new one; inside what went, where that began."""
    shift = 0
    for start, end in spans:
        if offset >= end:
            shift += len(ERASED) - (end - start)
        elif offset > start:
            return start + shift
    return offset + shift
