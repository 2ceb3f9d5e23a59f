"""Codex rollouts: two logs interleaved in one file, most messages standing in both.

`response_item` lines are what the model saw, `event_msg` lines what was shown. Owns telling them apart; promises that
what stands in both is taken once, in the place where it came first, that the same words said twice are taken twice, and
that context the tool put in, and what memory itself answered, is passed over; never stores anything.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import msgspec

from reverie.core.days import parse_instant
from reverie.core.entries import derived_id
from reverie.core.records import Role, ToolCall, Turn
from reverie.importers.met import SIZE, Met
from reverie.importers.own import ANSWERED, is_own
from reverie.importers.taken import Found, Passed
from reverie.importers.turns import Defaults, text_of

_TYPES = ("session_meta", "response_item", "event_msg", "turn_context", "compacted")
_SHOWN: dict[str, Role] = {"user_message": "user", "agent_message": "assistant"}
_PUT_IN = (
    "<environment_context>",
    "<user_instructions>",
    "<permissions instructions>",
    "<turn_aborted>",
    "<skill>",
    "# AGENTS.md instructions",
)
_CALLS = ("function_call", "custom_tool_call", "local_shell_call")
_RESULTS = ("function_call_output", "custom_tool_call_output")
_APART = 50_000  # messages after which what one log holds is not awaited in the other any more

_Said = tuple[Role, str]


def is_codex(value: Any) -> bool:  # noqa: ANN401 - foreign JSON
    """Whether a decoded line is of a rollout, today's or the flat one of before."""
    if not isinstance(value, dict):
        return False
    if value.get("type") in _TYPES and isinstance(value.get("payload"), dict):
        return True
    return value.get("record_type") == "state" or {"id", "timestamp", "instructions"} <= value.keys()


class Rollout:
    """One rollout being read: its session, its latest time, and what was met in one log and not yet in the other."""

    def __init__(self, defaults: Defaults) -> None:
        """Stand before the first line."""
        self.session, self.named = defaults.session, False
        self.at: datetime = defaults.now
        # By mark, not by words: a rollout may be larger than memory.
        self.items: Counter[bytes] = Counter()
        self.events: Counter[bytes] = Counter()
        self.asked: set[str] = set()  # calls of memory's own tools whose answers are still to come
        self.said, self.again = Met(), Counter[bytes]()  # what was said, and how often after the first time

    def line(self, value: Any) -> Iterator[Found]:  # noqa: ANN401 - foreign JSON
        """Yield the turn of one line, or why it holds none; raises UsageError for a time that is none."""
        if not isinstance(value, dict):
            yield Passed("no event")
            return
        if value.get("timestamp"):
            self.at = parse_instant(str(value["timestamp"]))
        payload, kind = value.get("payload"), str(value.get("type"))
        if not isinstance(payload, dict):
            yield from self._flat(value, kind)
        elif kind == "session_meta":
            self._name(payload.get("id"))
        elif kind == "response_item":
            yield from self._item(payload)
        elif kind == "event_msg":
            yield from self._event(payload)
        else:
            yield Passed(f"an event of type {kind[:40]}")

    def _flat(self, value: dict[str, Any], kind: str) -> Iterator[Found]:
        """Yield what a line of the flat form holds."""
        if "instructions" in value or (not self.named and "type" not in value and "id" in value):
            self._name(value.get("id"))
        elif kind == "message" or kind in _CALLS + _RESULTS:
            yield from self._item(value)
        else:
            yield Passed(f"an event of type {kind[:40]}")

    def _name(self, name: Any) -> None:  # noqa: ANN401 - foreign JSON
        """Take the session's id; of a continued session the file's own comes first."""
        if not self.named and isinstance(name, str) and name:
            self.session, self.named = name, True

    def _item(self, payload: dict[str, Any]) -> Iterator[Found]:
        kind = str(payload.get("type"))
        if kind == "message":
            role, words = payload.get("role"), (text_of(payload.get("content")) or "").replace("\0", "�")
            if role not in _SHOWN.values():  # which may be unhashable
                yield Passed(f"said by {str(role)[:40]}")
            elif words.lstrip().startswith(_PUT_IN):
                yield Passed("context that the tool put in")
            else:
                said: _Said = ("user" if role == "user" else "assistant", words.strip())
                yield from self._once(said, mine=self.items, other=self.events)
        elif kind in _CALLS:
            yield self._call(payload)
        elif kind in _RESULTS:
            yield self._result(payload)
        else:
            yield Passed(f"an item of type {kind[:40]}")

    def _event(self, payload: dict[str, Any]) -> Iterator[Found]:
        kind = str(payload.get("type"))
        if kind not in _SHOWN:
            yield Passed(f"an event of type {kind[:40]}")
            return
        words = str(payload.get("message") or "").replace("\0", "�").strip()
        yield from self._once((_SHOWN[kind], words), mine=self.events, other=self.items)

    def _once(self, said: _Said, *, mine: Counter[bytes], other: Counter[bytes]) -> Iterator[Found]:
        """Yield what was said unless the other log had it."""
        if not said[1]:
            yield Passed("empty")
            return
        mark = hashlib.blake2b("\0".join(said).encode("utf-8", "surrogatepass"), digest_size=SIZE).digest()
        if other[mark] > 0:
            other[mark] -= 1
            if not other[mark]:
                del other[mark]
            yield Passed("in both logs")
            return
        mine[mark] += 1
        if len(mine) > _APART:
            del mine[next(iter(mine))]
        if not self.said.add(mark):
            self.again[mark] += 1
        name = derived_id("turn", self.session, *said, str(self.again[mark] + 1))
        yield Turn(role=said[0], content=said[1], at=self.at, session=self.session, id=name)

    def _call(self, payload: dict[str, Any]) -> Turn:
        if is_own(str(payload.get("name")), str(payload.get("namespace") or "")):
            self.asked.add(str(payload.get("call_id")))
        given = next((payload[key] for key in ("arguments", "input", "action") if key in payload), "")
        arguments = given if isinstance(given, str) else msgspec.json.encode(given).decode()
        call = str(payload.get("call_id") or payload.get("id") or "")
        tool = ToolCall(id=call, name=str(payload.get("name") or "shell"), arguments=arguments)
        name = derived_id("turn", self.session, "call", call, arguments)
        return Turn(role="assistant", content="", at=self.at, session=self.session, id=name, calls=(tool,))

    def _result(self, payload: dict[str, Any]) -> Found:
        given, call = payload.get("output"), str(payload.get("call_id") or "")
        if call in self.asked:
            self.asked.discard(call)
            return ANSWERED
        if isinstance(given, dict):
            given = given.get("content", given)
        words = text_of(given) if isinstance(given, str | list) else msgspec.json.encode(given).decode()
        if not words:
            return Passed("empty")
        return Turn(
            role="tool",
            content=words.replace("\0", "�"),
            at=self.at,
            session=self.session,
            id=derived_id("turn", self.session, "result", call),
            call=call,
        )
