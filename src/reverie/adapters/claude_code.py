"""Claude Code: what its hooks do, and which of them `reverie install claude-code` puts into its settings.

Owns what the hooks do and print, and telling our hooks from others; `claude_code_events` has what they are given;
promises that a session's new turns are captured at every event, that what is printed is fenced as data, holds nothing
forgotten and fits into what the host takes whole, and that no model is called while a person waits; never writes to a
transcript.

| event | does | prints |
|---|---|---|
| SessionStart | capture what an earlier hook missed | what is known, as context |
| UserPromptSubmit | capture | what is known about the prompt, as context |
| Stop | capture; without a model, extract what is due | nothing |
| PreCompact | capture; extract the session before it is condensed, with the model when there is one | nothing |
| SessionEnd | capture; end the session | nothing |
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from reverie.adapters.claude_code_events import EVENTS, TIMEOUTS, Event, take_in
from reverie.context import Context, ContextRequest, context
from reverie.core.formats import json_edit
from reverie.core.formats.json_edit import Node
from reverie.core.sessions.pipeline import Moment, due, rhythm_of
from reverie.core.text.tokens import terms
from reverie.errors import ReverieError, UsageError
from reverie.store import sessions
from reverie.store.hosts import hooks

if TYPE_CHECKING:
    from reverie.memory import Memory
    from reverie.recall import Hit

LONGEST = 9_500  # UTF-16 units of a context: the host takes 10,000 whole and shows a part of more
_START_TOKENS, _PROMPT_TOKENS = 2_400, 1_000
_PROMPT_PARTS = ("due", "relevant")
WAITED_FOR, _COMPACTED = 200, 2_000  # unread turns that a hook reads: about a second's, and some seconds'
_SESSIONS = 5  # read at one session's end
_LOOKED_AT = 8 << 20  # bytes of sessions, those that changed last, among which what is due is looked for
_LEAST = 300  # tokens below which a context is given up rather than cut again
_OURS = re.compile(r"(?:^|[\s/\\\"'])(?:reverie(?:\.exe)?|-m reverie)[\"']?\s+hook\s+(\w+)\b")


def hook(memory: Memory, event: Event) -> str:
    """Do what an event asks for, and return what the host is to read on standard output, nothing for most."""
    problems = take_in(memory.opened.writable, event)
    printed = ""
    if event.name == "SessionStart":
        printed = _printed(event, _start(memory, event))
    elif event.name == "UserPromptSubmit":
        printed = _printed(event, _prompt(memory, event))
    elif event.name == "PreCompact":
        _extract(memory, _due(memory, event, "compaction", most=_COMPACTED))
    elif event.name == "SessionEnd" and event.session:
        memory.end(event.session)
    if event.name in {"Stop", "SessionEnd"} and memory.opened.ws.settings.model == "none":
        # With a model this would keep the person waiting: `consolidate`, or the next PreCompact, reads the turns.
        _extract(memory, _due(memory, event, "tick", most=WAITED_FOR))
    hooks.went(memory.opened.ws, event.name, "; ".join(problems))
    return printed


def _due(memory: Memory, event: Event, moment: Moment, *, most: int) -> list[str]:
    """Return the sessions to read now: this one, at a session's end any; a longer backlog waits for `consolidate`."""
    ws, mark = memory.opened.ws, memory.opened.state_now().mark
    talks = [
        one
        for one in sessions.talks(ws, mark, within=_LOOKED_AT)
        if one.unread <= most and (one.session == event.session or event.name == "SessionEnd")
    ]
    rhythm = rhythm_of(ws.settings.extraction)
    return list(due(talks, moment, now=ws.clock(), calendar=ws.calendar, rhythm=rhythm))[-_SESSIONS:]


def _extract(memory: Memory, names: list[str]) -> None:
    """Read sessions, and let MEMORY.md show it, for nobody else may come by before the next session begins."""
    if names and memory.extract(names).entries:
        memory.drain()
        memory.publish()


def _start(memory: Memory, event: Event) -> str:
    """Return what a session is told at its start."""
    request = ContextRequest(session=event.session, budget=_START_TOKENS)
    return _fitting(memory, request, ())


def _prompt(memory: Memory, event: Event) -> str:
    """Return what is known about a prompt, nothing when that is nothing."""
    if not terms(event.prompt):
        return ""
    opened = memory.opened
    opened.trusted_or_raise()
    found = memory.recall(event.prompt[:20_000], k=opened.ws.settings.context.relevant_hits).hits
    # What the session said itself stands in its own window.
    hits = tuple(hit for hit in found if not (hit.kind == "turn" and hit.session == event.session))
    if not hits:
        return ""
    request = ContextRequest(
        session=event.session, budget=_PROMPT_TOKENS, protocol=False, parts=_PROMPT_PARTS
    )
    return _fitting(memory, request, hits)


def _fitting(memory: Memory, request: ContextRequest, hits: tuple[Hit, ...]) -> str:
    """Return a context that is no longer than the host takes whole."""
    while True:
        made = _context(memory, request, hits)
        length = len(made.text.encode("utf-16-le", "replace")) // 2
        if length <= LONGEST:
            return made.text
        budget = request.budget * LONGEST // length * 9 // 10
        if budget < _LEAST:
            return ""
        request = msgspec.structs.replace(request, budget=budget)


def _context(memory: Memory, request: ContextRequest, hits: tuple[Hit, ...]) -> Context:
    """Return what is known, without compacting the session first: the host keeps its own window."""
    opened = memory.opened
    opened.trusted_or_raise()
    return context(opened.ws, opened.state_now(), request, hits=hits, masked=opened.mask)


def _printed(event: Event, text: str) -> str:
    """Return the answer that gives a text to the model, nothing for no text."""
    if not text:
        return ""
    told = {"hookSpecificOutput": {"hookEventName": event.name, "additionalContext": text}}
    return json.dumps(told)


def note(memory: Memory, event: str, error: Exception) -> None:
    """Keep what went wrong, where the workspace can be written, for `status` to tell."""
    with suppress(ReverieError):
        name = event if event in EVENTS else "of another name"
        hooks.went(memory.opened.writable, name, str(error) or type(error).__name__)


# Settings


def with_hooks(text: str, command: Mapping[str, str]) -> str:
    """Return Claude Code's settings with one hook of ours for each event, the rest as it was, byte for byte.

    `command` has the command line of each event. Raises UsageError for settings that are no JSON object, or hold hooks
    in another form.
    """
    if not text.strip("\ufeff \t\r\n"):
        text = "{\n}\n"
    for event, line in command.items():
        text = _one_hook(text, event, line)
    return text


def without_hooks(text: str) -> str:
    """Return the settings without any hook of ours, and without what stood there for their sake alone."""
    while (found := _ours(text)) is not None:
        text = _taken_out(text, *found)
    return text


def commands_in(text: str) -> list[tuple[str, str]]:
    """Return the event and the command line of each hook in Claude Code's settings, anybody's; raises UsageError."""
    return [(event, command) for event, _, _, command in _each(json_edit.parse(text))]


def _one_hook(text: str, event: str, line: str) -> str:
    """Return the settings with the hook of one event."""
    found = [one for one in _all_ours(json_edit.parse(text)) if one[0] == event]
    for name, group, place in reversed(found[1:]):
        text = _taken_out(text, name, group, place)
    if found:
        hook_ = _groups(json_edit.parse(text), event)[found[0][1]].get("hooks")
        command = hook_.items[found[0][2]].get("command") if hook_ is not None else None
        same = command is None or command.value == line
        return text if same or command is None else json_edit.instead(text, command, value=line)
    new = {"hooks": [{"type": "command", "command": line, "timeout": TIMEOUTS[event]}]}
    root = json_edit.parse(text)
    box = _object(root, "the settings")
    held = box.get("hooks")
    if held is None:
        return json_edit.put(text, box, value={event: [new]}, key="hooks", depth=0)
    groups = _object(held, "`hooks`").get(event)
    if groups is None:
        return json_edit.put(text, held, value=[new], key=event, depth=1)
    if not groups.is_list:
        message = f"`hooks.{event}` is no list"
        raise UsageError(message)
    return json_edit.put(text, groups, value=new, depth=2)


def _taken_out(text: str, event: str, group: int, place: int) -> str:
    """Return the settings without one hook, nor the group, event and object that would hold nothing without it."""

    def stays(box: Node) -> bool:
        return len(box.items) > 1 or json_edit.commented(text, box)

    root = json_edit.parse(text)
    held = root.get("hooks")
    groups = held.get(event) if held is not None else None
    inner = groups.items[group].get("hooks") if groups is not None else None
    if held is None or groups is None or inner is None:
        return text
    if stays(inner) or json_edit.commented(text, groups.items[group]):
        return json_edit.without(text, inner, place=place)
    if stays(groups):
        return json_edit.without(text, groups, place=group)
    if stays(held):
        return json_edit.without(text, held, place=(held.keys or ()).index(event))
    return json_edit.without(text, root, place=(root.keys or ()).index("hooks"))


def _ours(text: str) -> tuple[str, int, int] | None:
    """Return the last hook of ours: its event, its group, its place there."""
    found = _all_ours(_object(json_edit.parse(text), "the settings"))
    return found[-1] if found else None


def _all_ours(root: Node) -> list[tuple[str, int, int]]:
    """Return each hook of ours, wherever it stands: its event, its group, its place there."""
    return [(event, group, place) for event, group, place, line in _each(root) if _OURS.search(line)]


def _each(root: Node) -> Iterator[tuple[str, int, int, str]]:
    """Yield each hook that is a command: its event, its group, its place there, its command line."""
    held = root.get("hooks")
    for event in dict.fromkeys((held.keys or ()) if held is not None else ()):
        for group, node in enumerate(_groups(root, event)):
            for place, one in enumerate(_items(node.get("hooks"))):
                command = one.get("command")
                if command is not None and isinstance(command.value, str):
                    yield event, group, place, command.value


def _groups(root: Node, event: str) -> tuple[Node, ...]:
    held = root.get("hooks")
    return _items(held.get(event) if held is not None else None)


def _items(node: Node | None) -> tuple[Node, ...]:
    return node.items if node is not None and node.is_list else ()


def _object(node: Node, what: str) -> Node:
    if node.keys is None:
        message = f"{what} are no JSON object" if what == "the settings" else f"{what} is no JSON object"
        raise UsageError(message)
    return node
