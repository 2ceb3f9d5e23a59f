"""What a model that dreams is told: its instructions, and the batch as data.

Owns the form of the task and of the tools; promises that every word of the batch, of the notebook's own guidance and
of the history is fenced as data under a nonce its writers could not know, and that of what is forgotten nothing but ids
is told; never asks a model.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Literal

import msgspec

from reverie.core.dreams.batch import Part
from reverie.core.dreams.policy import may_decline
from reverie.model.prompt_files import fenced, prompt

_NUMBERS = ("start", "part")
_FORGOTTEN = 100  # ids told; the policy knows them all

# How a model that a host drives uses the tools: those of our MCP server, commands, or by their own names.
Guest = Literal["mcp", "cli", "verbs"]
_GUESTS: Mapping[Guest, str] = {"mcp": "host", "cli": "shell", "verbs": "guest"}  # the prompt that says so


class Told(msgspec.Struct, frozen=True):
    """What a model is told of a tool, and the JSON schema of what it takes."""

    says: str
    schema: dict[str, Any]


def _tool(says: str, wanted: str, more: str = "") -> Told:
    """Return a tool that takes texts; `more` may be left out, and `start` and `part` are numbers."""
    names = [*wanted.split(), *more.split()]
    kinds = {name: {"type": "integer" if name in _NUMBERS else "string"} for name in names}
    return Told(says, {"type": "object", "properties": kinds, "required": wanted.split()})


TOOLS: Mapping[str, Told] = {
    "read": _tool("Read a file, from a character on.", "path", "start"),
    "list": _tool("List a folder.", "", "folder"),
    "search": _tool("Find lines of pages that hold words.", "words"),
    "recall": _tool("Find entries that answer a question.", "query"),
    "write": _tool("Make a page, or give a file a whole new text.", "path text"),
    "edit": _tool("Replace a passage that stands once in a file.", "path old new"),
    "settle": _tool("Say what becomes of an entry.", "entry outcome", "page into reason part"),
}


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """A batch and what comes with it.

    `guidance` is what the notebook says of itself, `history` what sessions of these days were condensed to, `undone`
    what a run that was taken back had changed, `forgotten` ids of entries; `skills` whether skills may be proposed. A
    `guest` is a model that a host drives, with fewer rights; it says how that one uses the tools.
    """

    parts: tuple[Part, ...]
    today: str
    notebook: str
    nonce: str
    guidance: str = ""
    history: str = ""
    undone: str = ""
    forgotten: tuple[str, ...] = ()
    skills: bool = True
    guest: Guest | None = None

    @property
    def tools(self) -> tuple[str, ...]:
        """The names of the tools it takes."""
        return tuple(TOOLS)

    @property
    def instructions(self) -> str:
        """What is asked, whatever the batch."""
        asked = prompt("dream").text
        if self.guest:
            before, _, rest = asked.partition("## What you can do\n")
            return f"{before}{prompt(_GUESTS[self.guest]).text}\n\n## {rest.partition('## ')[2]}"
        return f"{asked}\n\n{prompt('skills').text}" if self.skills else asked

    @property
    def text(self) -> str:
        """The batch and what comes with it."""
        return "\n\n".join(self._sections())

    def _sections(self) -> Iterator[str]:
        yield from beginning(self.today, self.notebook, guidance=self.guidance, nonce=self.nonce)
        if self.history:
            yield f"What the sessions of these days were about:\n\n{fenced(self.history, self.nonce)}"
        if self.undone:
            asked = "A person took these changes back and wants another try; do not make them again:"
            yield f"{asked}\n\n{fenced(self.undone, self.nonce)}"
        if self.forgotten:
            ids = ", ".join(self.forgotten[-_FORGOTTEN:])
            more = len(self.forgotten) - _FORGOTTEN
            yield f"Forgotten, not to be written or cited: {ids}" + (f" and {more} more" if more > 0 else "")
        lines = "\n".join(_line(part) for part in self.parts)
        yield f"The {len(self.parts)} entries to settle, one a line:\n\n{fenced(lines, self.nonce)}"


def beginning(today: str, notebook: str, *, guidance: str, nonce: str) -> Iterator[str]:
    """Yield what everybody who works on the notebook is told first: the day, the folder, and how it is kept."""
    yield f"Today is {today}. The notebook is the folder `{notebook}/`."
    if guidance:
        yield f"How this notebook is kept (wording and placement):\n\n{fenced(guidance, nonce)}"


def _line(part: Part) -> str:
    """Return an entry, or a part of one, as a line of JSON."""
    state, entry = part.state, part.state.entry
    told: dict[str, object] = {
        "id": entry.id,
        "link": f"[[archive/{entry.day}#^{entry.id}]]",
        "part": f"{part.number} of {part.of}" if part.of > 1 else None,
        "text": part.text,
        "category": entry.category,
        "said": f"{entry.at:%Y-%m-%d %H:%M}",
        "by": entry.origin,
        "who": entry.who,
        "about": entry.about,
        "from": entry.since,
        "until": entry.until,
        "due": entry.due,
        "significance": state.sig,
        "keep": bool(may_decline(part)) or None,
        "only said": entry.status == "discussed" or None,
        "repeats": state.merged_into,
        "superseded by": state.superseded_by,
        "contradicts": [*state.conflicts],
        "supersedes": [*entry.supersedes],
    }
    kept = {name: value for name, value in told.items() if value not in (None, "", [])}
    return json.dumps(kept, ensure_ascii=False)


def dreamer(model: str) -> str:
    """Return what a run's record names as its dreamer."""
    return f"{model} {prompt('dream').version}"
