"""Procedures that became a habit, as skills: which they are, and how one is written.

Owns when a procedure counts as a skill, its name, and the text of `SKILL.md` (the Agent Skills format); promises that
only what the user or the agent said themselves is counted or written, that three occasions stand behind each skill and
are cited in it, and that the same entries give the same text; never looks at a file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence

import msgspec

from reverie import layout
from reverie.core.entries import OWN
from reverie.core.fold import EntryState, effective
from reverie.core.formats.utf8 import to_bytes
from reverie.core.pages.active import active_content
from reverie.core.pages.blocks import escape_memory_text
from reverie.core.pages.citations import citations, cite
from reverie.core.pages.front_matter import read
from reverie.core.pages.source import split
from reverie.core.records import Entry, Event
from reverie.core.secrets.redact import redact

OCCASIONS = 3
NAME_CHARACTERS = 64
DESCRIPTION_CHARACTERS = 1024
MAX_BYTES = 16_000
KEY = "reverie-entry"

_SAYS_SAME = frozenset({"repeat", "strengthen"})
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_CLAUSE = re.compile(r"[.,:;!?()\n]|\s[-–—]\s")
_OPENING = re.compile(r"(?:always|please|how to|to|when|whenever|before|after)\s+", re.IGNORECASE)
_MOST_WORDS = 7
_LEAST_NAME = 3  # characters; a shorter name tells nothing


class Skill(msgspec.Struct, frozen=True, kw_only=True):
    """A skill to be written: its path, its text, and the entry and occasions it stands on, oldest first."""

    path: str
    text: str
    entry: str
    occasions: tuple[str, ...]


def occasions(
    state: EntryState, *, events: Callable[[str], list[Event]], find: Callable[[str], EntryState | None]
) -> tuple[Entry, ...]:
    """Return the entries that said a procedure, oldest first: one for each session and day, none of a stranger's."""
    seen, waiting = {state.entry.id}, [state.entry.id]
    said = [state.entry]
    while waiting:
        here = waiting.pop()
        for event in effective(events(here)):
            if event.kind in _SAYS_SAME and event.other == here and event.entry not in seen:
                seen.add(event.entry)
                waiting.append(event.entry)
                found = find(event.entry)
                said += [found.entry] if found is not None and not (found.hidden or found.wrong) else []
    counted: dict[tuple[str, str], Entry] = {}
    for entry in sorted(said, key=lambda one: (one.at, one.id)):
        if is_own(entry):
            counted.setdefault((entry.session, entry.day), entry)
    return tuple(counted.values())


def is_own(entry: Entry) -> bool:
    """Tell whether the user or the agent stated it themselves."""
    return entry.origin in OWN and entry.status == "active"


def is_ripe(state: EntryState, said: Sequence[Entry]) -> bool:
    """Tell whether a procedure may become a skill."""
    entry = state.entry
    own = is_own(entry) and entry.category == "procedure"
    return own and state.current and len(said) >= OCCASIONS


def skill_of(state: EntryState, said: Sequence[Entry], *, taken: Callable[[str], bool]) -> Skill:
    """Return the skill of a procedure; `taken` tells whether a name is in use."""
    entry = state.entry
    name = name_of(entry)
    if taken(name):
        name = f"{name[: NAME_CHARACTERS - 9].rstrip('-')}-{entry.id[:8]}"
    first = said[:OCCASIONS]
    return Skill(
        path=f"{layout.SKILLS}/{name}/SKILL.md",
        text=_rendered(name, entry, first),
        entry=entry.id,
        occasions=tuple(one.id for one in first),
    )


def holds(entry: str, find: Callable[[str], EntryState | None]) -> bool:
    """Tell whether what an entry says holds now, in itself or in the one it was folded into."""
    state, passed = find(entry), set[str]()
    while state is not None and state.merged_into and state.entry.id not in passed:
        passed.add(state.entry.id)
        state = find(state.merged_into)
    return state is not None and state.current


def successor(entry: str, find: Callable[[str], EntryState | None]) -> EntryState | None:
    """Return the procedure of the user's or the agent's own that replaced an entry and holds now, if there is one."""
    state, passed = find(entry), set[str]()
    while state is not None and not state.current and state.entry.id not in passed:
        passed.add(state.entry.id)
        state = find(state.superseded_by or state.merged_into)
    own = state is not None and is_own(state.entry)
    return (
        state if own and state is not None and state.current and state.entry.category == "procedure" else None
    )


def revision(path: str, state: EntryState, *, said: Iterable[Entry]) -> Skill:
    """Return the skill at `path` as what replaced its procedure would have it; `said` are the occasions of both."""
    every = {one.id: one for one in sorted(said, key=lambda one: (one.at, one.id))}
    return Skill(
        path=path,
        text=_rendered(path.split("/")[1], state.entry, list(every.values())),
        entry=state.entry.id,
        occasions=tuple(every),
    )


def name_of(entry: Entry) -> str:
    """Return a skill's name: the first words of the procedure, in what the format allows."""
    clause = _CLAUSE.split(_OPENING.sub("", entry.text.strip(), count=1), maxsplit=1)[0]
    words = re.findall(r"[a-z0-9]+", clause.lower().replace("'s", "").replace("’s", ""))
    name = "-".join(words[:_MOST_WORDS])[:NAME_CHARACTERS].strip("-")
    return name if len(name) >= _LEAST_NAME else f"procedure-{entry.id[:8]}"


def problem(path: str, text: str, *, masked: Callable[[str], bool], allow: Iterable[str] = ()) -> str:
    """Return why a file is no skill that may be installed, empty when it is."""
    parts = path.split("/")
    if len(parts) != 3 or (parts[0], parts[2]) != (layout.SKILLS, "SKILL.md"):  # noqa: PLR2004 - skills, name, file
        return "a skill is skills/<name>/SKILL.md"
    if not _NAME.fullmatch(parts[1]) or len(parts[1]) > NAME_CHARACTERS:
        return f"{parts[1][:80]!r} is no name of a skill: a-z, 0-9 and single hyphens, {NAME_CHARACTERS} characters"
    if len(to_bytes(text)) > MAX_BYTES:
        return f"a skill has at most {MAX_BYTES // 1000} kB"
    if reason := _front_problem(parts[1], text):
        return reason
    if found := redact(text, allow=tuple(allow)).kinds:
        return f"it holds a secret ({found[0]})"
    if running := active_content(text):
        return f"line {running[0].line} holds raw HTML or active content"
    if any(masked(line) for line in text.splitlines() if line.strip()):
        return "it says what was forgotten"
    return ""


def stands_on(text: str) -> str:
    """Return the entry that a skill which Reverie wrote stands on, empty for any other file."""
    found = re.search(rf'^  {KEY}: "([0-9a-f]{{16}})"$', split(text).front or "", re.MULTILINE)
    return found.group(1) if found else ""


def rests_on(text: str) -> tuple[str, ...]:
    """Return the entries that a skill rests on: the one it stands on where that is noted, else all it cites."""
    own = stands_on(text)
    return (own,) if own else tuple(dict.fromkeys(one.id for one in citations(text)))


def _front_problem(name: str, text: str) -> str:
    front = split(text).front or ""
    if not split(text).body.strip():
        return "it says nothing"
    told = read(front)
    if told.broken or told.problems:
        return (told.problems or ("the front matter cannot be read",))[0]
    stated = re.search(r"^name: (\S+)$", front, re.MULTILINE)
    if stated is None or stated.group(1) != name:
        return f"its front matter must say `name: {name}`, like its folder"
    if not 0 < len(told.description) <= DESCRIPTION_CHARACTERS:
        return f"its description must have 1 to {DESCRIPTION_CHARACTERS} characters"
    return ""


def _rendered(name: str, entry: Entry, said: Sequence[Entry]) -> str:
    line = " ".join(entry.text.split())
    description = f"{line[: DESCRIPTION_CHARACTERS - 1]}…" if len(line) > DESCRIPTION_CHARACTERS else line
    steps = [escape_memory_text(one.strip()) for one in entry.text.splitlines() if one.strip()]
    where = [
        f"- {one.day}{f', session {escape_memory_text(one.session)}' if one.session else ''}: {cite(one.day, one.id)}"
        for one in said
    ]
    body = "\n".join(steps)
    return (
        f"---\nname: {name}\ndescription: {json.dumps(description, ensure_ascii=False)}\n"
        f'metadata:\n  {KEY}: "{entry.id}"\n---\n\n'
        f"# {name.replace('-', ' ').capitalize()}\n\n{body}\n\n## When this was said\n\n"
        + "\n".join(where)
        + "\n"
    )
