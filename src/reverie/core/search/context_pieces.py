"""The parts of a context as pieces, each in order of rank.

Owns how MEMORY.md, hand-written files, hits, digests, summaries and history are taken apart; promises that a line
naming entries is passed on only while all of them are known and one of them holds, and that nothing forgotten is;
never decides how much of a part there is room for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from reverie.core.fold import EntryState
from reverie.core.forgetting.mask import Mask
from reverie.core.glance.budget import rank
from reverie.core.glance.digest_lines import claim_of
from reverie.core.glance.memory_lines import cited_line, id_code, one_line
from reverie.core.pages.source import split
from reverie.core.search.context_plan import Piece
from reverie.core.search.standings import NOTES, items_on_one_line
from reverie.core.sessions.summary import Section, shortened
from reverie.core.settings.value import FactSettings
from reverie.core.significance import faded
from reverie.core.text.cues import only_acknowledges

HIT_LONGEST = (
    800  # characters of a hit, and of a turn from the history: more would leave room for nothing else
)
TURN_LONGEST = 1_200
LINES_READ = 5_000  # of a hand-written file; none that is meant for a prompt is longer

_MEM_ID = re.compile(r"`mem_id: ([0-9a-f]{16})`")
_MARKER = re.compile(r"\s*<!--\s*reverie:(?:begin|end)\b.*-->\s*", re.IGNORECASE)
_HEADING = re.compile(r"#{1,6}\s+\S")
_TURN_START = re.compile(r"(?m)\n\n(?=\[\d+\] \d{4}-\d\d-\d\d )")


class Hit(Protocol):
    """What a search found, as `recall` gives it: `entries` are those a page's paragraph cites."""

    @property
    def id(self) -> str:
        """Its id, an entry's own for entries."""

    @property
    def kind(self) -> str:
        """`entry`, `page`, `core`, `history` or `turn`."""

    @property
    def text(self) -> str:
        """What it says."""

    @property
    def day(self) -> str:
        """Its logical day."""

    @property
    def source(self) -> str:
        """The file it stands in."""

    @property
    def role(self) -> str:
        """Who said a turn."""

    @property
    def standing(self) -> str:
        """How it stands, as `core.search.standings` has it."""

    @property
    def bare(self) -> bool:
        """Whether it only says what a page is about."""

    @property
    def entries(self) -> tuple[str, ...]:
        """The entries it cites."""


class Lines:
    """Lines that name entries, judged by what is known of these now."""

    def __init__(
        self,
        find: Callable[[list[str]], Mapping[str, EntryState]],
        *,
        now: datetime,
        facts: FactSettings,
        masked: Mask,
    ) -> None:
        """Look entries up with `find`, and judge them as of `now`."""
        self._find, self._now, self._facts, self._masked = find, now, facts, masked
        self._known: dict[str, EntryState] = {}

    def memory(self, text: str) -> tuple[Piece, ...]:
        """Return MEMORY.md's lines: those people wrote first, then the others by what their entries weigh."""
        lines = _under_headings(text)
        self._look_up(lines)
        ranked: list[tuple[tuple[object, ...], Piece]] = []
        for place, (above, line, ids) in enumerate(lines):
            if not self._shown(line, ids):
                continue
            heading = "" if above == "# Memory" else above  # the part has that title
            key: tuple[object, ...] = (0, place)
            if ids:
                best = min(rank(claim_of(self._known[one], self._now, facts=self._facts)) for one in ids)
                # An entry's own line stands below what pages and digests say of it, and has its marks: it is preferred.
                key = (1, *best, -place)
            ranked.append((key, Piece(line, heading, ids, place)))
        return tuple(piece for _, piece in sorted(ranked, key=lambda pair: pair[0]))

    def digest(self, text: str) -> tuple[Piece, ...]:
        """Return the lines of a digest that name entries, under its title, in the order it has them."""
        lines = _under_headings(text)
        self._look_up(lines)
        title = f"#{text.partition(chr(10))[0]}"  # one level below the part's own
        return tuple(
            Piece(line, title, ids, place)
            for place, (_, line, ids) in enumerate(lines)
            if ids and self._shown(line, ids)
        )

    def written(self, text: str) -> tuple[Piece, ...]:
        """Return the lines of a file that people write, from its beginning, without front matter and title."""
        lines = [line for line in split(text).body.splitlines() if line.strip()][:LINES_READ]
        if lines and lines[0].startswith("# "):
            lines = lines[1:]  # the part has a title of its own
        return tuple(
            Piece(line, place=place) for place, line in enumerate(lines) if not self._masked.text(line)
        )

    def pinned(self, states: Iterable[EntryState]) -> tuple[Piece, ...]:
        """Return the pinned entries that still hold."""
        kept = [state for state in states if state.current and not state.done and not state.cancelled]
        return tuple(
            Piece(cited_line(state.entry.text, [state.entry.id]), ids=(state.entry.id,), place=place)
            for place, state in enumerate(kept)
        )

    def _look_up(self, lines: Sequence[tuple[str, str, tuple[str, ...]]]) -> None:
        wanted = [one for _, _, ids in lines for one in ids if one not in self._known]
        self._known.update(self._find(wanted))

    def _shown(self, line: str, ids: tuple[str, ...]) -> bool:
        """Whether a line is shown: nothing it names is forgotten, hidden or wrong, and something of it holds."""
        if self._masked.text(line):
            return False
        if not ids:
            return True
        states = [self._known[one] for one in ids if one in self._known]
        if len(states) < len(ids) or any(state.hidden or state.wrong for state in states):
            return False
        return any(
            (state.current or state.merged_into)
            and not (state.done or state.cancelled)
            and not faded(state, self._now, facts=self._facts)
            for state in states
        )


def relevant_pieces(hits: Iterable[Hit]) -> tuple[Piece, ...]:
    """Return what a query found, best first, but for what has faded and the files that are parts of their own.

    What only says what a page is about goes when anything else was found, and so does a mere "Noted.".
    """
    told = [hit for hit in hits if hit.standing != "faded" and hit.kind != "core" and not _is_empty(hit)]
    if not all(hit.bare for hit in told):
        told = [hit for hit in told if not hit.bare]
    pieces: list[Piece] = []
    for place, hit in enumerate(told):
        text = items_on_one_line(hit.text) if hit.kind == "page" else hit.text
        said = one_line(shortened(text, HIT_LONGEST))
        about = ", ".join(filter(None, (hit.day, NOTES.get(hit.standing, ""))))
        source = id_code(hit.id) if hit.kind == "entry" else f"[[{hit.source.removesuffix('.md')}]]"
        ids = (hit.id,) if hit.kind == "entry" else hit.entries
        pieces.append(Piece(f"- {said} ({about}) {source}", ids=ids, place=place))
    return tuple(pieces)


def _is_empty(hit: Hit) -> bool:
    """Whether a hit is a turn in which an assistant says no more than that it heard."""
    return hit.kind == "turn" and hit.role == "assistant" and only_acknowledges(hit.text)


def summary_pieces(heading: str, sections: Iterable[Section], *, place: int) -> list[Piece]:
    """Return the lines of a session's summary, newest section first; `place` numbers the first."""
    items = [item for section in sections for item in section.items]
    return [
        Piece(item.line, heading, (item.entry,) if item.entry else (), place + number)
        for number, item in enumerate(items)
    ]


def history_pieces(
    heading: str, content: str, *, raw: bool, place: int, hides: Callable[[str], bool]
) -> list[Piece]:
    """Return the turns of a raw history record, or the lines of a summary, newest first; `place` numbers the last.

    They are to be read in order. A turn is shortened; a summary is short already.
    """
    said = _TURN_START.split(content) if raw else content.split("\n")
    kept = [one.strip() for one in said if one.strip() and not hides(one)]
    return [
        Piece(shortened(one, TURN_LONGEST), heading, place=place - number)
        for number, one in enumerate(reversed(kept))
    ]


def _under_headings(text: str) -> list[tuple[str, str, tuple[str, ...]]]:
    """Return each line that says something with the heading it stands under and the entries it names."""
    found: list[tuple[str, str, tuple[str, ...]]] = []
    heading = ""
    for line in split(text).body.splitlines():
        if not line.strip() or _MARKER.fullmatch(line):
            continue
        if _HEADING.match(line):
            heading = line.strip()
        else:
            found.append((heading, line, tuple(dict.fromkeys(_MEM_ID.findall(line)))))
    return found
