"""What a demo shows of the memory it made: its files, and what they answer.

Owns the wording and the choice of what is shown; promises that every line printed was read from the workspace at that
moment; never changes anything in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from reverie import layout
from reverie.core.fold import EntryState
from reverie.core.pages.citations import citing_lines
from reverie.core.text.plural import many
from reverie.core.text.tokens import query_terms, terms
from reverie.core.where import Where
from reverie.recall import Ask, Hit
from reverie.store import sessions
from reverie.surface.cli.demo_life import DayLived, Life, spread, turns_of
from reverie.surface.cli.demo_talk import Question
from reverie.surface.entry_text import cut, place_of
from reverie.surface.render import Line, Styled, bold, dim, line

_QUESTIONS = 4
_TOP = 10  # hits in which an answer counts as found
_HITS = 3  # of them that are shown
_LINES = 12  # of a file that is shown
_WORDS = 160  # characters of a turn or a text

_PLACES = {
    layout.SESSIONS: "every turn, append-only",
    layout.ARCHIVE: "the daily logs: one entry a line",
    layout.NOTEBOOK: "the wiki that the dream keeps",
    layout.SUMMARIES: "what each session was about",
    layout.DIGESTS: "today, week, long-term",
    layout.MEMORY: "what a context window gets",
    layout.JOURNAL: "the queue, and all that went through it",
    layout.STATE: "what happened to entries, and each dream",
    layout.OBJECTS: "every version of the notebook",
    layout.INDEX: "search; may be deleted at any time",
}


def heading(text: str) -> Line:
    """Return a heading."""
    return line(Styled(text, "bold cyan"))


def day_line(lived: DayLived) -> Line:
    """Return what one day brought on one line."""
    done = lived.dreamt
    counts = ", ".join(f"{number} {kind}" for kind, number in done.counts.items() if number)
    pages = f" on {many(len(done.pages), 'page')}" if done.pages else ""
    return line(
        Styled(f"  {lived.day}", "cyan"),
        f"  {many(lived.turns, 'turn'):>9} in {many(lived.sessions, 'session') + ',':<12}"
        f" {many(lived.entries, 'entry'):>10}; ",
        dim(f"dream: {counts or done.result}{pages}"),
        indent=14,
    )


def pages(life: Life) -> Iterator[Line]:
    """Yield everything a demo shows of a memory once it has lived."""
    yield from _tree(life)
    yield from _daily_log(life)
    yield from _notebook_page(life)
    yield from _file(life, layout.MEMORY, "MEMORY.md, what a context window gets")
    yield from _due(life)
    yield from _changed(life)
    yield from _kept_out(life)
    yield from _questions(life)


def _tree(life: Life) -> Iterator[Line]:
    yield line("")
    yield heading("The workspace")
    yield line(f"  {life.memory.root}/")
    disk = life.memory.opened.ws.disk
    for place, what in _PLACES.items():
        if place == layout.MEMORY:
            name, size = place, f"{disk.size(place) or 0:,} bytes"
        else:
            name, size = f"{place}/", many(sum(1 for _ in disk.walk(place)), "file")
        yield line(f"    {name:<12}", dim(f"{size:>12}  {what}"))


def _daily_log(life: Life) -> Iterator[Line]:
    day = max(life.days, key=lambda lived: (lived.entries, lived.day)).day
    yield from _file(
        life, layout.log_file(day), "A daily log: each entry with its turns, its words and its id"
    )


def _notebook_page(life: Life) -> Iterator[Line]:
    """Yield the page of the notebook that stands on most entries, the overview aside."""
    ws = life.memory.opened.ws
    cited: dict[str, int] = {}
    for path in ws.disk.walk(ws.notebook):
        inside = path.removeprefix(f"{ws.notebook}/")
        if layout.is_page(inside) and inside != layout.OVERVIEW:
            text = (ws.disk.read(path) or b"").decode("utf-8", "replace")
            cited[path] = sum(1 for _ in citing_lines(text))
    if cited and max(cited.values()):
        path = max(cited, key=lambda one: (cited[one], one))
        yield from _file(
            life, path, "A notebook page: each line cites the entries it stands on", skip_front=True
        )


def _file(life: Life, path: str, title: str, *, skip_front: bool = False) -> Iterator[Line]:
    """Yield the beginning of a file of the workspace."""
    text = (life.memory.opened.ws.disk.read(path) or b"").decode("utf-8", "replace")
    rows = text.split("\n")
    if skip_front and rows[0] == "---" and "---" in rows[1:]:
        rows = rows[rows.index("---", 1) + 1 :]
    rows = [row for row in rows if row.strip()]
    yield line("")
    yield line(Styled(title, "bold cyan"), dim(f"  {path}"))
    for row in rows[:_LINES]:
        yield line(dim("  │ "), row, indent=6)
    if len(rows) > _LINES:
        yield line(dim(f"  │ … {len(rows) - _LINES} more lines"))


def _due(life: Life) -> Iterator[Line]:
    found = life.memory.due().lines
    if found:
        yield line("")
        yield line(Styled("What is due", "bold cyan"), dim("  reverie due"))
        yield from (line(f"  {one.line}", indent=4) for one in found)


def _changed(life: Life) -> Iterator[Line]:
    """Yield facts that changed: what holds, and what held before."""
    everything = {state.entry.id: state for state in life.memory.list(Where(include_previous=True))}
    pairs = [
        (everything[state.superseded_by], state)
        for state in everything.values()
        if state.superseded_by in everything and everything[state.superseded_by].current
    ]
    if pairs:
        yield line("")
        yield line(
            Styled("What changed", "bold cyan"), dim("  nothing is overwritten: reverie list --previous")
        )
    for now, before in pairs[:_QUESTIONS]:
        kind = "never was true" if before.wrong else "previously"
        yield line(dim("  currently       "), _short(now.entry.text), dim(f"  ({now.entry.day})"), indent=18)
        yield line(dim(f"  {kind:<16}"), _short(before.entry.text), dim(f"  ({before.entry.day})"), indent=18)


def _kept_out(life: Life) -> Iterator[Line]:
    """Yield what was taken out or refused before anything was written."""
    if life.redacted or life.refused or life.talk.skipped:
        yield line("")
        yield heading("What never reached the disk")
    for one in life.redacted:
        turn = next(
            iter(sessions.read(life.memory.opened.ws, one.session, start=one.n, stop=one.n + 1)), None
        )
        said = turn.content if turn else ""
        at = said.find("[redacted:")
        around = said[max(at - 40, 0) : at + 60] if at >= 0 else said
        yield line(
            f"  {', '.join(one.kinds)}", dim(f"  {one.session}, turn {one.n}: “…{cut(around)}…”"), indent=4
        )
    for reason in (*life.refused, *(f"line {one.place}: {one.reason}" for one in life.talk.skipped)):
        yield line(f"  refused: {reason}", indent=4)


def _questions(life: Life) -> Iterator[Line]:
    """Yield questions with their answers, each down to the words that were said."""
    asked = {one.text: one for one in life.talk.questions} or {
        text: Question(text) for text in _own_questions(life)
    }
    yield line("")
    yield line(Styled("Questions", "bold cyan"), dim("  reverie recall …, reverie why ID"))
    sentences = [text for text in asked if text.endswith(("?", "？"))]
    for text in spread(sentences if len(sentences) >= _QUESTIONS else list(asked), _QUESTIONS):
        yield from _answered(life, asked[text])
    if life.talk.benchmark and asked:
        yield from _score(life, list(asked.values()))


def _own_questions(life: Life) -> list[str]:
    """Return questions about a conversation that brings none: what its most significant entries are about."""
    states = sorted(life.memory.list(), key=lambda state: (-state.sig, state.entry.id))
    return [" ".join(state.entry.text.split()[:6])[:60] for state in states[: _QUESTIONS * 2]]


def _answered(life: Life, question: Question) -> Iterator[Line]:
    """Yield one question, its best hits, and the turn behind the first."""
    hits = life.memory.recall(question.text, k=_TOP).hits
    yield line("")
    yield line(Styled("  ? ", "bold yellow"), bold(question.text), indent=4)
    for number, hit in enumerate(hits[:_HITS], 1):
        came = ", ".join(_ids(life, hit))
        day, place = ("", hit.source) if hit.kind == "page" else (hit.day, place_of(hit.session, hit.turns))
        standing = "" if hit.standing == "current" else hit.standing
        told = [hit.kind, day, place or hit.source, hit.heading, standing, came and f"turn id {came}"]
        yield line(f"    {number}. {_short(_nearest(hit.text, question.text))}", indent=7)
        yield line(dim(f"       {' · '.join(one for one in told if one)}"), indent=7)
    if not hits:
        yield line("    nothing is known about that")
        return
    yield from _words(life, hits[0], question.text)
    if question.turns:
        reached = {one for hit in hits for one in _ids(life, hit)}
        found = [one for one in question.turns if one in reached]
        said = (
            f"answered by {', '.join(found)}"
            if found
            else f"not among the first {_TOP}: {', '.join(question.turns)}"
        )
        yield line(Styled("       ✓ " if found else "       ✗ ", "green" if found else "red"), dim(said))


def _nearest(text: str, query: str) -> str:
    """Return the line of a page's paragraph, or of any text, that shares most words with the query."""
    wanted = set(query_terms(query))
    return max(text.split("\n"), key=lambda row: len(wanted.intersection(terms(row)))).removeprefix("- ")


def _words(life: Life, hit: Hit, query: str) -> Iterator[Line]:
    """Yield the words behind a hit: the file, the ordinal and what was said there."""
    ws = life.memory.opened.ws
    state = _entry_behind(life, hit, query)
    session, place = (state.entry.session, state.entry.turns) if state else (hit.session, hit.turns)
    first = place.partition("-")[0]
    if not session or not first.isdigit():
        return
    for turn in sessions.read(ws, session, start=int(first), stop=int(first) + 1):
        yield line(
            dim(f"       {sessions.path_of(session)}, turn {turn.n}, {turn.name or turn.role}: "),
            f"“{_short(turn.content)}”",
            indent=9,
        )


def _entry_behind(life: Life, hit: Hit, query: str) -> EntryState | None:
    """Return the entry a hit is, or the one of those a page's paragraph cites that shares most words with the query."""
    wanted = set(query_terms(query))
    states = [life.memory.get(one) for one in ((hit.id,) if hit.kind == "entry" else hit.entries)]
    return max(states, key=lambda state: len(wanted.intersection(terms(state.entry.text))), default=None)


def _ids(life: Life, hit: Hit) -> list[str]:
    """Return the file's own ids of the turns a hit comes from."""
    if hit.kind == "page":
        states = [life.memory.get(one) for one in hit.entries]
        found = [
            one for state in states for one in turns_of(life, state.entry.session, turns=state.entry.turns)
        ]
        return list(dict.fromkeys(found))
    return turns_of(life, hit.session, turns=hit.turns)


def _score(life: Life, asked: list[Question]) -> Iterator[Line]:
    """Yield how often a turn that answers a question is among the first ten turns found for it."""
    right = 0
    for question in asked:
        hits = life.memory.ask(Ask(query=question.text, k=_TOP, kinds=("turn",))).hits
        right += any(one in question.turns for hit in hits for one in _ids(life, hit))
    share = right / len(asked)
    yield line("")
    yield line(
        bold(
            f"  {right} of {len(asked)} questions ({share:.0%}): a turn that answers is among the first {_TOP}"
        )
    )


def _short(text: str) -> str:
    """Return the beginning of a text on one line."""
    said = "".join(islice(" ".join(text.split()), _WORDS))
    return said if len(said) < _WORDS else f"{said}…"
