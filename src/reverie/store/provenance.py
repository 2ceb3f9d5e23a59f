"""Where entries came from: the turns they were read from, and the files that hold their bytes.

Owns the way from an entry back to its turns; promises that a turn is named by its id, which outlives any rewriting;
never changes a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from reverie import layout
from reverie.core.forgetting.erasure import Erasure
from reverie.core.forgetting.mask import LEAST, Cipher, Mask, tombstone_of
from reverie.core.forgetting.saying import Saying, spoken
from reverie.core.guard.echoes import answers, echoes
from reverie.core.records import Entry, Span, Tombstone, Turn
from reverie.core.sessions.active_window import parse_range
from reverie.core.text.phrases import BORDERLESS, by_first, find, phrase, weight, words
from reverie.store import sessions
from reverie.store.forgotten import tombstones
from reverie.store.workspace import Workspace


class Origins:
    """The turns of entries, each session read once."""

    def __init__(self, ws: Workspace, cipher: Cipher) -> None:
        """Bind to a workspace; `cipher` makes the hash of the evidence."""
        self._ws, self._cipher = ws, cipher
        self._turns: dict[str, list[Turn]] = {}

    def spans(self, entry: Entry) -> list[Span]:
        """Return the turns an entry was read from: those that hold its evidence, or all that it names when none does.

        Only the former have a digest.
        """
        named = parse_range(entry.turns)
        if named is None or not entry.session:
            return []
        turns = [turn for turn in self._session(entry.session) if named[0] <= turn.n <= named[1]]
        evidence = phrase(entry.evidence)
        holding = [turn for turn in turns if find(words(turn.content), by_first([evidence]), anywhere=True)]
        digest = self._cipher.phrase(evidence) if holding else ""
        return [Span(entry.session, turn.id, digest, turn.n) for turn in holding or turns]

    def echoed(self, entry: Entry) -> dict[Span, list[str]]:
        """Return the answers to those turns that repeat the entry, each with the sentences that do."""
        said = [span.n for span in self.spans(entry)]
        found: dict[Span, list[str]] = {}
        for turn, answering in answers(self._session(entry.session), said) if said else ():
            texts = (turn.content, *(call.arguments for call in turn.calls))
            sentences = [one for text in texts for one in echoes(entry, text, answering=answering)]
            if sentences:
                digest = self._cipher.phrase(phrase(sentences[0]))
                found[Span(entry.session, turn.id, digest, turn.n)] = sentences
        return found

    def _session(self, name: str) -> list[Turn]:
        if name not in self._turns:
            self._turns[name] = sessions.read(self._ws, name)
        return self._turns[name]


def tombstones_of(
    ws: Workspace, meant: dict[str, Entry], *, spared: tuple[str, ...], by: str
) -> tuple[Tombstone, ...]:
    """Return the tombstones of entries that are forgotten together; each names all of them, as they are restored.

    `spared` are entries that share evidence with them and stay. Makes the workspace's key when it has none.
    """
    cipher = Cipher(tombstones.made_key(ws))
    origins, at = Origins(ws, cipher), ws.clock()
    made = [
        tombstone_of(cipher, one, spans=[*origins.spans(one), *origins.echoed(one)], at=at, by=by)
        for one in meant.values()
    ]
    return tuple(msgspec.structs.replace(one, entries=tuple(meant), spared=spared) for one in made)


def said_again(ws: Workspace, mask: Mask, session: str) -> list[Tombstone]:
    """Return what tombstones gain from a session in which something forgotten was said too: its turns, and the answers.

    For conversations that came in after the forget, which nobody could look through then.
    """
    turns = sessions.read(ws, session)
    by_turn = {turn.n: tomb for turn in turns if (tomb := mask.said(turn.content)) is not None}
    said = [turn for turn in turns if turn.n in by_turn]
    for turn, _ in answers(turns, tuple(by_turn)):
        tomb = mask.echoed("\n".join((turn.content, *(call.arguments for call in turn.calls))))
        if tomb is not None:
            by_turn.setdefault(turn.n, tomb)
            said.append(turn)
    at, cipher = ws.clock(), Cipher(tombstones.key(ws))
    return [
        Tombstone(
            id=by_turn[turn.n].id,
            at=at,
            spans=(Span(session, turn.id, cipher.phrase(phrase(turn.content)), turn.n),),
        )
        for turn in said
        if not mask.turn(session, turn.id)
    ]


def tombstones_of_said(ws: Workspace, said: Sequence[Saying], *, by: str) -> tuple[Tombstone, ...]:
    """Return a tombstone for each text of turns, which hides these very words wherever they come back, and no place.

    What else was said in those turns stays shown. The same words have the same tombstone.
    """
    cipher, at = Cipher(tombstones.made_key(ws)), ws.clock()
    made: dict[str, Tombstone] = {}
    for text in (text for one in said for text in one.texts):
        keyed, sketch = cipher.phrase(phrase(text)), cipher.sketch(text, BORDERLESS)
        phrases = () if sketch is None else (sketch,)
        made[keyed] = Tombstone(id=keyed[:16], at=at, keyed=keyed, phrases=phrases, by=by)
    return tuple(made.values())


def erasure_of(
    ws: Workspace,
    meant: dict[str, Entry],
    *,
    retracted: Sequence[tuple[str, Turn]] = (),
    said: Sequence[Saying] = (),
) -> Erasure:
    """Return what has to go: texts wherever they stand, those too short to be looked for in their own turns alone.

    A text is its own: two words, or one with a digit in it. Evidence was cut out of somebody's talk, and four are
    needed before it is looked for elsewhere. What answers repeat of it goes there alone. Of `retracted` turns, each
    with its session, all goes, and what the history has of them; the same words said elsewhere were not taken back.
    What is `said` goes as a text of its own does.
    """
    origins = Origins(ws, Cipher(b""))
    texts: dict[str, bool] = {}
    turns: list[Span] = []
    for entry in meant.values():
        heavy = weight(phrase(entry.text)) >= LEAST or any(map(str.isdigit, entry.text))
        texts[entry.text] = texts.get(entry.text, False) or heavy
        if entry.evidence:
            known = texts.get(entry.evidence, False)
            texts[entry.evidence] = known or weight(phrase(entry.evidence)) >= BORDERLESS
        echoed = origins.echoed(entry)
        turns += [*origins.spans(entry), *echoed]
        for sentence in (one for sentences in echoed.values() for one in sentences):
            texts.setdefault(sentence, False)
    for _, turn in retracted:
        for text in spoken(turn):
            texts.setdefault(text, False)
    for one in said:
        for text in one.texts:
            turns.append(Span(one.session, one.turn.id, Cipher(b"").phrase(phrase(text)), one.turn.n))
            texts[text] = texts.get(text, False) or weight(phrase(text)) >= LEAST
    return Erasure(
        id=ws.new_id(),
        stubs={entry: ws.new_id() for entry in meant},
        texts=tuple(text for text, heavy in texts.items() if heavy),
        own=tuple(text for text, heavy in texts.items() if not heavy),
        turns=tuple(dict.fromkeys(turns)),
        whole=tuple(Span(session, turn.id, n=turn.n) for session, turn in retracted),
    )


def places_of(ws: Workspace, entries: Iterable[Entry]) -> set[str]:
    """Return the files and folders that hold the bytes of entries, as far as their own fields tell."""
    found = {layout.JOURNAL, layout.INDEX}
    for entry in entries:
        found.add(layout.log_file(entry.day))
        if entry.session and entry.turns:
            found.update((sessions.path_of(entry.session), layout.SUMMARIES, layout.HISTORY))
    return {path for path in found if ws.disk.stat(path) is not None}
