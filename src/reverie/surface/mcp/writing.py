"""The tools that write: remember, note, correct, feedback, done, forget.

Owns what they take and say; promises that each answer says what became of the call, also when nothing was stored;
never erases, undoes, restores, trusts or sets: those are for a person at the command line.
"""

from __future__ import annotations

import msgspec

from reverie.core.days import parse_instant
from reverie.core.records import Draft
from reverie.core.text.plural import many
from reverie.memory import Memory
from reverie.remember import Remembered
from reverie.surface.entry_text import entry_json, settled
from reverie.surface.mcp.answers import FLAG, INTEGER, TEXT, TEXTS, Answer, listing, shape
from reverie.surface.mcp.fields import Field
from reverie.surface.mcp.tools import ID, ORIGIN, Tool, Values, origin_of
from reverie.surface.results import forgetting
from reverie.surface.scores_text import stare_of

_SCORE = (0, 1)
_STORED = shape(
    "id",
    "queued",
    **dict.fromkeys(("queued", "repeated", "asked"), FLAG),
    **dict.fromkeys(("id", "refused", "hint", "when"), TEXT),
    redacted=TEXTS,
)


def _remember(memory: Memory, values: Values) -> Answer:
    replaced = tuple(memory.get(one).entry.id for one in values["supersedes"])
    draft = Draft(
        category=values["category"],
        tags=values["tags"],
        sig=values["significance"],
        conf=values["confidence"],
        stare=stare_of(values["stare"], "stare"),
        who=values["who"],
        about=values["about"],
        since=values["since"],
        until=values["until"],
        due=values["due"],
        every=values["every"],
        scope="team" if values["scope"] == "team" else "private",
        origin=origin_of(values),
        status="discussed" if values["status"] == "discussed" else "active",
        supersedes=replaced,
        evidence=values["evidence"],
        pin=values["pin"],
        at=parse_instant(values["at"]) if values["at"] else None,
        session=values["session"],
        key=values["key"],
    )
    done = memory.remember(values["text"], draft)
    own = f" ({done.hint}.)" if done.hint else ""
    return Answer(_became(done) + _taken(done) + own, _stored(done))


def _became(done: Remembered) -> str:
    """Return what became of a text."""
    if done.refused:
        return f"Not stored: {done.refused}."
    if done.repeated:
        return f"Known already: {done.id}."
    if done.asked:
        return f"Stored as {done.id} and hidden, for something like it was forgotten: the user is asked about it."
    due = f" It is due {done.when}." if done.when else ""
    return f"Stored as {done.id}; recall finds it from now on.{due}"


def _taken(done: Remembered) -> str:
    """Return which secrets are not in what was stored, a sentence of its own."""
    return f" Taken out before it was stored: {', '.join(done.redacted)}." if done.redacted else ""


def _stored(done: Remembered) -> dict[str, object]:
    return dict(msgspec.to_builtins(done))


def _note(memory: Memory, values: Values) -> Answer:
    path = memory.note(values["text"])
    return Answer(f"Added to {path}.", {"note": path})


def _correct(memory: Memory, values: Values) -> Answer:
    mistake = values["why"] == "mistake"
    done = memory.correct(
        values["id"], values["text"], why="mistake" if mistake else "change", by=origin_of(values)
    )
    if done.refused:
        return Answer(_became(done), _stored(done))
    became = "is said never to have been true" if mistake else "is shown as previous"
    return Answer(f"Stored as {done.id}; the old text {became}.{_taken(done)}", _stored(done))


def _feedback(memory: Memory, values: Values) -> Answer:
    record = memory.feedback(values["id"], values["value"], why=values["why"])
    return Answer(f"QUEUED — not yet applied ({record}).", {"id": record, "status": "QUEUED"})


def _done(memory: Memory, values: Values) -> Answer:
    cancelled, until = values["cancelled"], values["until"]
    memory.done(values["id"], cancelled=cancelled, until=until)
    state = memory.get(values["id"])
    said = settled(state, cancelled=cancelled, until=until)
    return Answer(f"{state.entry.text}: {said}.", {"entry": entry_json(state)})


def _forget(memory: Memory, values: Values) -> Answer:
    done = memory.forget(values["ids"], dry_run=values["dry_run"])
    number = many(len(done.ids), "entry") + (f" and {many(done.turns, 'turn')}" if done.turns else "")
    said = f"Would forget {number}" if values["dry_run"] else f"Forgot {number}"
    text = f"{said}: {', '.join(done.ids)}." if done.ids else f"{said}."
    if done.places:
        text += (
            f" Until a person runs `reverie erase`, the bytes remain, unread, in: {', '.join(done.places)}."
        )
    if done.similar:
        text += f" Left as they are, though they say it and more: {', '.join(done.similar)}."
    for one in done.still:
        text += f" Still naming {one.name}: {', '.join((*one.entries, many(one.turns, 'turn')))}."
    if done.problems:
        text += f" Not withdrawn yet: {'; '.join(done.problems)}."
    return Answer(text, msgspec.to_builtins(forgetting(done, dry_run=values["dry_run"])))


WRITING = (
    Tool(
        name="memory_remember",
        title="Remember",
        summary="Store one fact, preference, decision, procedure, event or promise, in one sentence that will be"
        " understood alone, with names and dates instead of `he` or `tomorrow`. Not for what only matters now.",
        run=_remember,
        fields=(
            Field("text", "text", "What to remember.", required=True),
            Field(
                "category",
                "text",
                "fact, decision, episode, procedure, commitment, preference, personal, work, project, technical, goal,"
                " lesson, or a word of your own.",
                default="fact",
            ),
            Field("tags", "texts", "Words to find it by."),
            Field(
                "significance",
                "number",
                "How much it matters, from 0 to 1; left out: as usual.",
                within=_SCORE,
            ),
            Field("confidence", "number", "How sure it is, from 0 to 1.", within=_SCORE),
            Field(
                "stare",
                "text",
                "Five scores from 0 to 1 with commas between, empty where not scored: 0.8,,0.3,,",
            ),
            Field("about", "text", "Whom or what it concerns; of a promise, to whom."),
            Field("who", "text", "Who said or promised it."),
            ORIGIN,
            Field(
                "status",
                "text",
                "discussed: said, not agreed; it reaches no prompt.",
                choices=("active", "discussed"),
                default="active",
            ),
            Field(
                "scope",
                "text",
                "team: also for the shared workspace that the user subscribed to, when they want that.",
                choices=("private", "team"),
                default="private",
            ),
            Field(
                "at", "text", "When it was said, as an instant such as 2026-07-01T12:00:00Z; now if left out."
            ),
            Field("evidence", "text", "The words it stands on, as they were said."),
            Field(
                "due",
                "text",
                "By when it is promised, as a date, an instant, or words such as next Friday; makes it a commitment.",
            ),
            Field("every", "text", "How often the promise comes again: day, 2 weeks, month, year, friday."),
            Field("since", "text", "From when it is true, as a date, a month, a year, an instant or words."),
            Field("until", "text", "Until when it is true, likewise."),
            Field("supersedes", "texts", "Ids of entries that it replaces."),
            Field("pin", "flag", "Keep it in every context."),
            Field("session", "text", "The session it was said in."),
            Field("key", "text", "A key of yours: the same key and text again store nothing."),
        ),
        output=_STORED,
    ),
    Tool(
        name="memory_note",
        title="Note",
        summary="Add to your own note of the day, free text of any length, from which entries are drawn later.",
        run=_note,
        fields=(Field("text", "text", "What to note.", required=True),),
        output=shape("note", note=TEXT),
    ),
    Tool(
        name="memory_correct",
        title="Correct",
        summary="Put a text in the place of an entry: it changed since, or never was true.",
        run=_correct,
        fields=(
            ID,
            Field("text", "text", "What holds instead.", required=True),
            Field(
                "why",
                "text",
                "change: it was true before; mistake: it never was.",
                required=True,
                choices=("change", "mistake"),
            ),
            ORIGIN,
        ),
        output=_STORED,
        destroys=True,
    ),
    Tool(
        name="memory_feedback",
        title="Feedback",
        summary="Say what an entry was worth; applied with the next drain.",
        run=_feedback,
        fields=(
            ID,
            Field(
                "value",
                "text",
                "helpful, wrong, outdated, more, less, or a number from 0 to 1.",
                required=True,
            ),
            Field("why", "text", "The reason, for whoever looks later."),
        ),
        output=shape("id", "status", id=TEXT, status=TEXT),
    ),
    Tool(
        name="memory_done",
        title="Done",
        summary="Say that a promise is kept, cancelled, or due at another time.",
        run=_done,
        fields=(
            ID,
            Field("cancelled", "flag", "It no longer holds."),
            Field(
                "until", "text", "It is due then instead, as a date, an instant, or words such as tomorrow."
            ),
        ),
        output=shape("entry", entry=shape("id", "text", id=TEXT, text=TEXT, due=TEXT)),
    ),
    Tool(
        name="memory_forget",
        title="Forget",
        summary="Forget entries and the words they came from, because the user wants them gone. Ask with `dry_run`"
        " first when in doubt.",
        run=_forget,
        fields=(
            Field("ids", "texts", "The entries' ids; a turn by its whole id.", required=True),
            Field("dry_run", "flag", "Only say what would be forgotten."),
        ),
        output=shape(
            "ids",
            "dry_run",
            dry_run=FLAG,
            turns=INTEGER,
            **dict.fromkeys(("ids", "places", "similar", "problems"), TEXTS),
            still=listing(shape("name", "entries", "turns", name=TEXT, entries=TEXTS, turns=INTEGER)),
        ),
        destroys=True,
        repeats=True,
    ),
)
