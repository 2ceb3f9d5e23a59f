"""Entries, hits and turns as a person reads them, and as `--json` gives them.

Owns both forms of what a memory holds; promises that each line ends in the id by which other commands find it; never
looks anything up.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

import msgspec

from reverie.core.due_list import DueLine
from reverie.core.fold import EntryState
from reverie.core.forgetting.letting_go import Naming
from reverie.core.records import Event, Outcome, Turn
from reverie.core.search.standings import items_on_one_line
from reverie.core.text.plural import many
from reverie.recall import Hit
from reverie.surface.render import Line, Styled, bold, dim, line
from reverie.unforget import Gone
from reverie.why import Behind, Why

_NAMED = 5  # entries that still say a name and are told one by one
_DEEDS = {"forget": "forgotten", "retract": "taken back", "alike": "says what was forgotten"}
_LONGEST = 400  # characters of a text in a list; a single entry is shown whole


def marks(state: EntryState) -> list[str]:
    """Return in words whatever is not plain about an entry."""
    said = {
        "pinned": state.pinned,
        "hidden": state.hidden,
        "never was true": state.wrong,
        "no longer true": state.ended,
        "done": state.done,
        "cancelled": state.cancelled,
        "only discussed": state.entry.status == "discussed",
        f"until {state.replaced[:10]}": state.replaced and not state.entry.until,
        f"replaced by {state.superseded_by}": state.superseded_by,
        f"repeats {state.merged_into}": state.merged_into,
        f"said {state.observations} times": state.observations > 1,
        f"contradicts {', '.join(state.conflicts)}": state.conflicts,
        f"due {state.due}": state.due and not state.done,
        f"every {state.entry.every}": state.entry.every,
        f"from {state.entry.since}": state.entry.since,
        f"until {state.entry.until}": state.entry.until,
        f"of {state.along}, read from here": state.along,
    }
    return [words for words, holds in said.items() if holds]


def entry_json(state: EntryState) -> dict[str, object]:
    """Return an entry and what happened to it as one flat object."""
    told: dict[str, object] = dict(msgspec.to_builtins(state.entry))
    about = msgspec.to_builtins(state)
    told |= {name: about[name] for name in about if name != "entry"}
    return {"sig": state.sig, "category": state.entry.category, "current": state.current} | told


def due_json(one: DueLine) -> dict[str, object]:
    """Return a promise for programs: the entry, its part of the list, how it is shown, and when it is due."""
    by = one.by.isoformat() if one.part != "undated" else ""
    return entry_json(one.state) | {"part": one.part, "shown": one.shown, "by": by}


def entry_line(state: EntryState) -> Line:
    """Return an entry on one line: day, category, text, what is not plain about it, id."""
    notes = marks(state)
    return line(
        Styled(state.entry.day, "cyan"),
        dim(f" [{state.entry.category}] "),
        cut(state.entry.text),
        dim(f" ({'; '.join(notes)})") if notes else "",
        dim(f" ^{state.entry.id}"),
        indent=4,
    )


def entry_lines(state: EntryState) -> list[Line]:
    """Return everything about one entry."""
    entry = state.entry
    facts = {
        "day": entry.day,
        "said at": entry.at.isoformat(),
        "category": entry.category,
        "significance": f"{state.sig:.2f}",
        "judged": judged(state),
        "tags": " ".join(entry.tags),
        "who": entry.who,
        "about": entry.about,
        "origin": entry.origin,
        "scope": entry.scope,
        "source": place_of(entry.session, entry.turns),
        "words": entry.evidence,
        "state": "; ".join(marks(state)),
    }
    return [
        line(bold(entry.text)),
        *(line(dim(f"  {name:<13}"), value, indent=15) for name, value in facts.items() if value),
        line(dim(f"  {'id':<13}"), entry.id),
    ]


def gone_line(gone: Gone) -> Line:
    """Return a forgotten entry on one line: its day, category, when it was let go and how, id; never its words."""
    return line(
        Styled(gone.day, "cyan"),
        dim(f" [{gone.category}] "),
        f"{_DEEDS[gone.deed]} {gone.at:%Y-%m-%d %H:%M} by {gone.by}",
        dim(f" ({gone.event})" if gone.event else ""),
        dim(f" ^{gone.id}"),
        indent=4,
    )


def still_lines(still: Naming, *, erasing: bool = False) -> Iterator[str]:
    """Yield what else says a name after a forget or an erase, and how one reaches it."""
    verb, name = "erase" if erasing else "forget", shlex.quote(still.name)
    for one in still.entries[:_NAMED]:
        yield f"left, though it names {still.name}: {one} (`reverie {verb} {one}`)"
    if (more := len(still.entries) - _NAMED) > 0:
        yield f"left, though they name {still.name}: {many(more, 'entry')} more"
    if still.turns:
        yield f"{many(still.turns, 'turn')} still saying {still.name}: `reverie {verb} turn:…` takes one whole"
        if not erasing:
            yield f"`reverie erase --about {name}` takes what they say of {still.name}, and is for good"
        yield f"`reverie recall {name} --kind turn` shows them, with their ids"


def judged(state: EntryState) -> str:
    """Return an outside judge's significance beside the writer's own, with the reason; empty when there is none."""
    if state.judged is None:
        return ""
    own = "" if state.entry.sig is None else f", the writer's own {state.entry.sig:.2f}"
    why = f": {state.judged_why}" if state.judged_why else ""
    return f"{state.judged:.2f} by {state.judged_by or 'other'}{own}{why}"


def settled(state: EntryState, *, cancelled: bool, until: str) -> str:
    """Return what became of a promise that was said to be kept, or cancelled, or due `until` another time."""
    if until:
        return f"due {state.due}"
    if cancelled:
        return "cancelled"
    return f"done; due again {state.due}" if state.kept else "done"


def history_lines(events: Sequence[Event]) -> Iterator[Line]:
    """Yield what happened to an entry, one event a line, each with the id by which it can be taken back."""
    if events:
        yield line(bold("What happened to it"))
        yield from map(event_line, events)


def place_of(session: str, turns: str) -> str:
    """Return where in a conversation something was said, in words."""
    if not session:
        return ""
    return f"{session}, turn {turns}" if turns else session


def hit_lines(hit: Hit, number: int) -> list[Line]:
    """Return a hit: its text, then where it stands, where it comes from and why it ranked."""
    at = f":{hit.place}" if hit.place > 0 else ""  # an entry that waits for the drain has no line yet
    place = f"{hit.source}{at}" if hit.kind != "turn" else f"{hit.source} turn {hit.place}"
    # What `why` takes; of a page the entries it cites, which the other verbs take too.
    ids = [*hit.entries] or [hit.id]
    came = place_of(hit.session, hit.turns) if hit.kind == "entry" else hit.heading
    said = [
        hit.kind if not hit.category else f"{hit.kind} [{hit.category}]",
        hit.day,
        hit.person or hit.role,
        came,
    ]
    if hit.standing != "current":
        said.append(hit.standing)
    lines = [
        line(
            dim(f"{number:>2}. "),
            bold(said_by(hit)) if hit.kind in {"entry", "page"} else said_by(hit),
            indent=4,
        ),
        line(dim(f"    {' · '.join(part for part in said if part)}"), indent=4),
        line(dim("    " + " · ".join([place, ", ".join(hit.why), f"{hit.score:.2f}", *ids])), indent=4),
    ]
    if hit.evidence and hit.evidence not in hit.text:
        lines.insert(1, line(dim("    “"), cut(hit.evidence), dim("”"), indent=5))
    return lines


def said_by(hit: Hit) -> str:
    """Return what a hit says on one line; the items of a page's list are set apart."""
    return cut(items_on_one_line(hit.text) if hit.kind == "page" else hit.text)


def turn_line(turn: Turn) -> Line:
    """Return a turn on one line: its ordinal, who spoke, when, and what was said."""
    who = f"{turn.role} {turn.name}".strip()
    return line(dim(f"  turn {turn.n} · {turn.at:%Y-%m-%d %H:%M} · {who}: "), cut(turn.content), indent=4)


def why_lines(why: Why) -> Iterator[Line]:
    """Yield the chain behind an entry, from the pages that cite it down to the turns it came from."""
    entry = why.state.entry
    yield from entry_lines(why.state)
    yield line(bold("Pages that cite it" if why.pages else "No page cites it yet"))
    for page, number in why.pages:
        yield line(f"  {page}:{number}")
    yield line(bold("Daily log"))
    yield line(f"  {why.log} ", dim(f"^{entry.id}"))
    if why.turns:
        yield line(bold(f"Said in session {entry.session}"))
        yield from map(turn_line, why.turns)
    else:
        yield line(bold("Written outright" if not entry.session else f"Written in session {entry.session}"))
    yield from history_lines(why.events)
    if why.outcomes:
        yield line(bold("What dreams did with it"))
        yield from map(outcome_line, why.outcomes)
    if why.others:
        yield line(bold("Linked entries"))
        yield from (line("  ", *entry_line(other).parts, indent=4) for other in why.others)


def behind_lines(found: Behind) -> Iterator[Line]:
    """Yield what stands behind a hit that is no entry: where it stands, its turn, and the chain of each entry."""
    row = found.row
    along = f" · of {found.along}, read from here" if found.along else ""
    yield line(dim(f"{row.source}:{row.place} · {row.day} · {row.heading}".rstrip(" ·") + along))
    if found.turns:
        yield line(bold(f"Said in session {row.session}"))
        yield from map(turn_line, found.turns)
    else:
        yield from (line("  ", part, indent=4) for part in row.text.splitlines())
    if not found.entries:
        yield line(bold("No entry came of it" if row.kind == "turn" else "It cites no entry"))
    for one in found.entries:
        yield line()
        yield from why_lines(one)


def event_line(event: Event) -> Line:
    """Return an event on one line."""
    other = event.other and f"with {event.other}"
    parts = [event.kind, event.value, event.when, event.of, other, event.why]
    by = f" (by {event.by})" if event.by else ""
    said = " ".join(part for part in parts if part)
    return line(dim(f"  {event.at:%Y-%m-%d %H:%M} "), said, dim(f"{by} {event.id}"), indent=4)


def outcome_line(outcome: Outcome) -> Line:
    """Return what a dream did with an entry on one line."""
    parts = [outcome.outcome, outcome.page and f"on {outcome.page}", outcome.into and f"into {outcome.into}"]
    said = " ".join(part for part in (*parts, outcome.reason) if part)
    return line(dim(f"  {outcome.at:%Y-%m-%d %H:%M} "), said, dim(f" ({outcome.run})"), indent=4)


def behind_json(found: Behind) -> dict[str, object]:
    """Return what stands behind a hit that is no entry for programs."""
    row = found.row
    return {
        "hit": {"id": row.id, "kind": row.kind, "source": row.source, "place": row.place, "text": row.text}
        | {"heading": row.heading, "day": row.day, "session": row.session},
        "turns": [msgspec.to_builtins(turn) | {"n": turn.n} for turn in found.turns],
        "entries": [why_json(one) for one in found.entries],
        **({"along": found.along} if found.along else {}),
    }


def why_json(why: Why) -> dict[str, object]:
    """Return the chain behind an entry for programs."""
    return {
        "entry": entry_json(why.state),
        "log": why.log,
        "pages": [{"page": page, "line": number} for page, number in why.pages],
        "turns": [msgspec.to_builtins(turn) | {"n": turn.n} for turn in why.turns],
        "events": msgspec.to_builtins(why.events),
        "outcomes": msgspec.to_builtins(why.outcomes),
        "others": [entry_json(other) for other in why.others],
    }


def cut(text: str) -> str:
    """Return a text on one line and no longer than a list has room for."""
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
