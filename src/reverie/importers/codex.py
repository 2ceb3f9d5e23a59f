"""Codex rollouts: two logs interleaved in one file, most messages standing in both.

`response_item` lines are what the model saw, `event_msg` lines what was shown. Owns telling them apart; promises that
what stands in both is taken once, in the place where it came first, that the same words said twice are taken twice, and
that context the tool put in, and what memory itself answered, is passed over; never stores anything.

A rollout that was forked may begin with a copy of the one it goes on from: that one's `session_meta`, then its lines,
their times written anew. What was said there is given as that session's, under the ids that its own rollout gives, so
that whichever of the two comes first, it is stored once. The copy is told by the ids of its turns, UUIDs of version 7:
they say when each began, and what began before the fork was made was said in the session that was the latest then.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec

from reverie.core.days import parse_instant
from reverie.core.entries import derived_id
from reverie.core.records import Role, ToolCall, Turn
from reverie.importers.met import SIZE, Met
from reverie.importers.own import ANSWERED, is_own
from reverie.importers.taken import Found, Passed
from reverie.importers.turns import Defaults, text_of, without_nul

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
_BEGINS_TURN = ("turn_context", "task_started", "turn_started")
# A UUID that tells its time.
_DATED = re.compile(r"([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
_LATEST_MS = 253_402_300_800_000  # the year 10000, in milliseconds since 1970
_APART = 50_000  # messages after which what one log holds is not awaited in the other any more

_Said = tuple[Role, str]


def is_codex(value: Any) -> bool:  # noqa: ANN401 - foreign JSON
    """Whether a decoded line is of a rollout, today's or the flat one of before."""
    if not isinstance(value, dict):
        return False
    if value.get("type") in _TYPES and isinstance(value.get("payload"), dict):
        return True
    return value.get("record_type") == "state" or {"id", "timestamp", "instructions"} <= value.keys()


class _Talk:
    """A session that speaks in a rollout: what was met in one log and not yet in the other, and what was said."""

    def __init__(self, session: str) -> None:
        """Begin with nothing said."""
        self.session = session
        # By mark, not by words: a rollout may be larger than memory.
        self.items: Counter[bytes] = Counter()
        self.events: Counter[bytes] = Counter()
        self.said, self.again = Met(), Counter[bytes]()  # what was said, and how often after the first time


class Rollout:
    """One rollout being read: whose lines those being read are, and their latest time."""

    def __init__(self, defaults: Defaults) -> None:
        """Stand before the first line."""
        self.own = self.talk = _Talk(defaults.session)
        self.named = False
        self.at: datetime = defaults.now
        self.before: dict[str, _Talk] = {}  # the sessions this one goes on from, by their names
        self.began: datetime | None = None  # the turn being read, when it is a copy
        self.asked: set[str] = set()  # calls of memory's own tools whose answers are still to come

    def line(self, value: Any) -> Iterator[Found]:  # noqa: ANN401 - foreign JSON
        """Yield the turn of one line, or why it holds none; raises UsageError for a time that is none."""
        if not isinstance(value, dict):
            yield Passed("no event")
            return
        if value.get("timestamp"):
            self.at = parse_instant(str(value["timestamp"]))
        payload, kind = value.get("payload"), str(value.get("type"))
        if isinstance(payload, dict) and (kind in _BEGINS_TURN or payload.get("type") in _BEGINS_TURN):
            self._turn_begins(payload.get("turn_id"))
        self.at = self.began or self.at
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
        """Take the session's id; of a continued session the file's own comes first, then those it goes on from."""
        if not isinstance(name, str) or not name:
            return
        if not self.named:
            self.own.session, self.named = name, True
        elif name != self.own.session:
            self.before.setdefault(name, _Talk(name))

    def _turn_begins(self, name: Any) -> None:  # noqa: ANN401 - foreign JSON
        """Note whose turn begins: of the sessions met so far, the latest that was there when it was begun."""
        begun, made = _minted(name), _minted(self.own.session)
        if begun is None or made is None or not self.before:
            return
        self.talk, self.began = self.own, None
        if begun < made:
            made_of = ((_minted(one) or 0, one) for one in self.before)
            there = [found for found in made_of if found[0] <= begun]
            if there:
                self.talk = self.before[max(there)[1]]
                self.began = datetime.fromtimestamp(begun / 1000, UTC)

    def _item(self, payload: dict[str, Any]) -> Iterator[Found]:
        kind = str(payload.get("type"))
        if kind == "message":
            role, words = payload.get("role"), without_nul(text_of(payload.get("content")) or "")
            if role not in _SHOWN.values():  # which may be unhashable
                yield Passed(f"said by {str(role)[:40]}")
            elif words.lstrip().startswith(_PUT_IN):
                yield Passed("context that the tool put in")
            else:
                said: _Said = ("user" if role == "user" else "assistant", words.strip())
                yield from self._once(said, mine=self.talk.items, other=self.talk.events)
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
        words = without_nul(str(payload.get("message") or "")).strip()
        yield from self._once((_SHOWN[kind], words), mine=self.talk.events, other=self.talk.items)

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
        if not self.talk.said.add(mark):
            self.talk.again[mark] += 1
        name = derived_id("turn", self.talk.session, *said, str(self.talk.again[mark] + 1))
        yield Turn(role=said[0], content=said[1], at=self.at, session=self.talk.session, id=name)

    def _call(self, payload: dict[str, Any]) -> Turn:
        if is_own(str(payload.get("name")), str(payload.get("namespace") or "")):
            self.asked.add(str(payload.get("call_id")))
        given = next((payload[key] for key in ("arguments", "input", "action") if key in payload), "")
        arguments = given if isinstance(given, str) else msgspec.json.encode(given).decode()
        call = str(payload.get("call_id") or payload.get("id") or "")
        tool = ToolCall(id=call, name=str(payload.get("name") or "shell"), arguments=arguments)
        name = derived_id("turn", self.talk.session, "call", call, arguments)
        return Turn(
            role="assistant", content="", at=self.at, session=self.talk.session, id=name, calls=(tool,)
        )

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
            content=without_nul(words),
            at=self.at,
            session=self.talk.session,
            id=derived_id("turn", self.talk.session, "result", call),
            call=call,
        )


def _minted(name: Any) -> int | None:  # noqa: ANN401 - foreign JSON
    """Return when an id was made, in milliseconds since 1970; None for one that does not tell."""
    told = _DATED.fullmatch(name) if isinstance(name, str) else None
    made = int(told[1] + told[2], 16) if told else _LATEST_MS
    return made if made < _LATEST_MS else None
