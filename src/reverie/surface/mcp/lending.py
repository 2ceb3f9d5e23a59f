"""The tools by which the client's own model dreams and reads turns: offered only where the user's settings ask for it.

Owns what they take and say; promises that each says what to do next, and that what a model is handed stands apart, as
data, from what is asked of it; never judges anything: `reverie.lending` does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from reverie.errors import UsageError
from reverie.memory import Memory
from reverie.model.extraction_request import FIELDS
from reverie.surface.driving import (
    Asked,
    begin,
    begun_text,
    finished_text,
    step,
    submission,
    submission_text,
    turns,
    turns_text,
)
from reverie.surface.mcp.answers import FLAG, INTEGER, OBJECT, TEXT, TEXTS, Answer, listing, shape
from reverie.surface.mcp.fields import Field
from reverie.surface.mcp.tools import Tool, Values

_RUN = Field("run", "text", "The run's name, as memory_dream_start gave it.", required=True)
_BY = Field("model", "text", "What you go by, for the record.", default="host")
_OUTCOMES = ("cited", "merged", "superseded", "declined")
_SAID = shape("text", "refused", text=TEXT, refused=FLAG)
_DONE = shape(
    "result", "reason", result=TEXT, reason=TEXT, counts=OBJECT, pages=TEXTS, review=TEXT, problems=TEXTS
)


def _start(memory: Memory, values: Values) -> Answer:
    asked = Asked(now=values["now"], day=values["day"], most=values["most"], by=values["model"])
    found = begin(memory, asked, guest="mcp")
    return Answer(begun_text(found), msgspec.to_builtins(found))


def _said(memory: Memory, run: str, tool: str, **arguments: object) -> Answer:
    said = step(memory, run, tool=tool, arguments=arguments)
    return Answer(said.text, msgspec.to_builtins(said))


def _read(memory: Memory, values: Values) -> Answer:
    asked = [name for name in ("path", "words", "query") if values[name]]
    if len(asked) > 1:
        raise UsageError(f"{' and '.join(asked)} exclude each other: ask for one at a time")
    path, run = values["path"], values["run"]
    if values["words"]:
        return _said(memory, run, "search", words=values["words"])
    if values["query"]:
        return _said(memory, run, "recall", query=values["query"])
    if not path or path.endswith("/"):
        return _said(memory, run, "list", folder=path)
    return _said(memory, run, "read", path=path, start=values["start"])


def _edit(memory: Memory, values: Values) -> Answer:
    path, run, old = values["path"], values["run"], values["old"]
    if old and values["text"]:
        raise UsageError(
            "text and old exclude each other: give the whole text, or a passage and what it becomes"
        )
    if old:
        return _said(memory, run, "edit", path=path, old=old, new=values["new"])
    return _said(memory, run, "write", path=path, text=values["text"])


def _settle(memory: Memory, values: Values) -> Answer:
    more = {name: values[name] for name in ("outcome", "page", "into", "reason", "part")}
    return _said(memory, values["run"], "settle", entry=values["entries"], **more)


def _finish(memory: Memory, values: Values) -> Answer:
    done = memory.dream_finish(values["run"], give_up=values["give_up"])
    return Answer(finished_text(done), msgspec.to_builtins(done))


def _turns(memory: Memory, values: Values) -> Answer:
    found = turns(memory, values["session"], by=values["model"])
    submit = (
        f"Submit the entries with memory_extract_submit and the handle {found.handle}, instead of a reply."
    )
    value = msgspec.to_builtins(found)
    del value["form"]  # the schema of memory_extract_submit says it
    return Answer(turns_text(found, submit), value)


def _submit(memory: Memory, values: Values) -> Answer:
    if values["entries"] is None:
        raise UsageError("entries is missing: an empty list says that nothing is worth keeping")
    done = submission(memory.extract_submit(values["handle"], values["entries"]))
    return Answer(submission_text(done), msgspec.to_builtins(done))


_ITEM: Mapping[str, Any] = {
    "type": "object",
    "properties": FIELDS,
    "required": ["text", "evidence"],
}

LENDING = (
    Tool(
        name="memory_dream_start",
        title="Begin to dream",
        summary="Begin to fold the entries of past days into the notebook: gives a run, what is asked of you, and the"
        " entries. Only when the user asked for it.",
        run=_start,
        fields=(
            Field(
                "now", "flag", "Do not wait until enough time has passed and enough entries have gathered."
            ),
            Field("day", "text", "Only the entries of this day, as YYYY-MM-DD."),
            Field("most", "integer", "At most so many entries; 0 for as many as fit.", within=(0, 10_000)),
            _BY,
        ),
        output=shape("run", run=TEXT, reason=TEXT, until=TEXT, instructions=TEXT, batch=TEXT, entries=TEXTS),
    ),
    Tool(
        name="memory_dream_read",
        title="Look, while dreaming",
        summary="Read a file of the memory, list a folder, find lines of pages, or find entries.",
        run=_read,
        fields=(
            _RUN,
            Field(
                "path", "text", "A file, or a folder with a slash at its end; nothing lists what there is."
            ),
            Field("start", "integer", "From which character of the file on.", within=(0, 1_000_000_000)),
            Field("words", "text", "Find lines of pages that hold all of these words."),
            Field("query", "text", "Find entries that answer this question."),
        ),
        output=_SAID,
        repeats=True,
    ),
    Tool(
        name="memory_dream_edit",
        title="Edit, while dreaming",
        summary="Make a page or give it a whole new text, or replace a passage that stands once in it.",
        run=_edit,
        fields=(
            _RUN,
            Field("path", "text", "The page, such as notebook/3_Personal/Work.md.", required=True),
            Field("text", "text", "Its whole new text."),
            Field("old", "text", "A passage that stands once in it."),
            Field("new", "text", "What that passage becomes."),
        ),
        output=_SAID,
    ),
    Tool(
        name="memory_dream_settle",
        title="Settle, while dreaming",
        summary="Say what becomes of entries of the batch.",
        run=_settle,
        fields=(
            _RUN,
            Field("entries", "texts", "The entries' ids.", required=True),
            Field("outcome", "text", "What becomes of them.", required=True, choices=_OUTCOMES),
            Field("page", "text", "The page that cites them."),
            Field("into", "text", "The entry they were merged into or are superseded by."),
            Field("reason", "text", "Why they are declined."),
            Field("part", "integer", "Which part of an entry that comes in parts.", within=(0, 1_000_000)),
        ),
        output=_SAID,
        repeats=True,
    ),
    Tool(
        name="memory_dream_finish",
        title="End the dream",
        summary="Have the run judged; what holds is installed in one commit, after the user's word the first time.",
        run=_finish,
        fields=(_RUN, Field("give_up", "flag", "Change nothing; the entries are pending again.")),
        output=_DONE,
    ),
    Tool(
        name="memory_extract_start",
        title="Begin to read turns",
        summary="Get turns of past conversations that nobody has read yet, and what is asked of whoever reads them.",
        run=_turns,
        fields=(Field("session", "text", "Only of this session."), _BY),
        output=shape(
            "handle",
            **dict.fromkeys(("handle", "session", "until", "instructions", "turns"), TEXT),
            **{"from": INTEGER, "to": INTEGER},
        ),
    ),
    Tool(
        name="memory_extract_submit",
        title="Submit what was read",
        summary="Submit the entries found in turns; each needs `text` and `evidence`, the words of a turn that say it."
        " An empty list says that nothing in them is worth keeping.",
        run=_submit,
        fields=(
            Field("handle", "text", "As memory_extract_start gave it.", required=True),
            Field("entries", "objects", "The entries found.", items=_ITEM),
        ),
        output=shape(
            "read",
            "entries",
            "refused",
            read=FLAG,
            entries=INTEGER,
            links=INTEGER,
            refused=listing(shape("item", "reason", item=INTEGER, reason=TEXT)),
            review=TEXT,
            reason=TEXT,
        ),
    ),
)
