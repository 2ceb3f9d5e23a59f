"""A session for agents of the OpenAI Agents SDK: its `Session`, over one of a workspace's own sessions.

    from reverie.adapters.openai_agents import ReverieSession

    session = ReverieSession("conversation-7", reverie.open("support"))
    result = await Runner.run(agent, "What did I say about tea?", session=session)

Owns what the SDK's operations mean here; promises that every item comes back as it was given, secrets apart, that items
which were added are on disk, all of them or none, that what is popped or cleared is never shown, extracted or recalled
again, and that a task which is cancelled goes on only when it is settled whether its operation took place; never asks a
model.

Each item is a turn of the session, so what is said in it becomes memory as in any other session: run `consolidate`, and
give the agent what it should know by `context`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from reverie.adapters.one_at_a_time import finished, lock_of
from reverie.capture import capture_many
from reverie.core.records import Turn
from reverie.errors import Busy, IndexUnavailable, UsageError
from reverie.importers.agent_items import items_of, turn_of, without
from reverie.memory import Memory
from reverie.retract import Retracted, retract, standing
from reverie.store import history

try:
    from agents.memory import SessionABC, SessionSettings
except ImportError as error:
    message = "the OpenAI Agents SDK is not installed: run pip install 'reverie[openai-agents]'"
    raise ImportError(message) from error

if TYPE_CHECKING:
    from agents.items import TResponseInputItem


class ReverieSession(SessionABC):
    """One conversation of the OpenAI Agents SDK; safe to use from several tasks and threads.

    `session_id` is the session's name in the workspace. With `active`, items that were compacted into the history are
    left out, for `context` tells what they came to; without, all are returned, as the SDK expects.
    """

    def __init__(
        self,
        session_id: str,
        memory: Memory,
        *,
        active: bool = False,
        session_settings: SessionSettings | None = None,
    ) -> None:
        """Work on `memory`, which stays the caller's to close."""
        if not session_id.strip():
            raise UsageError("the session has no name: give each conversation one")
        self.session_id = session_id
        self.session_settings = session_settings or SessionSettings()
        self._memory, self._active = memory, active
        self._lock = lock_of(memory)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the latest `limit` items in order, all of them without; without a limit the settings' one counts."""
        settings = self.session_settings
        most = limit if limit is not None else settings.limit if settings is not None else None
        return cast("list[TResponseInputItem]", await finished(lambda: self._items(most)))

    async def add_items(self, items: Sequence[TResponseInputItem]) -> None:
        """Store items at the end, all of them or none; on return they are on disk.

        Nothing is stored while the session is paused. Raises UsageError for what is no item, InvalidRecord for one that
        is too large, StoreUnwritable, Busy.
        """
        given = list(items)
        await finished(lambda: self._add(given))

    async def pop_item(self) -> TResponseInputItem | None:
        """Take the latest item back and return it; None when there is none. Raises StoreUnwritable, Busy."""
        return cast("TResponseInputItem | None", await finished(self._pop))

    async def clear_session(self) -> None:
        """Take every item back, and with them the entries that rest on nothing else; raises StoreUnwritable, Busy."""
        await finished(lambda: self._retract(lambda turns: turns))

    # What is done on another thread, one call at a time

    def _items(self, limit: int | None) -> list[dict[str, Any]]:
        with self._lock:
            opened = self._memory.opened
            opened.trusted_or_raise()
            start = history.reached(opened.ws, self.session_id).ordinal + 1 if self._active else 0
            turns = standing(opened.ws, self.session_id, masked=opened.mask, start=start)
            if limit is None:
                return [item for turn in turns for item in self._shown(turn)]
            found: list[dict[str, Any]] = []
            for turn in reversed(turns):
                if len(found) >= limit:
                    break
                found[:0] = self._shown(turn)
            return found[max(0, len(found) - limit) :] if limit > 0 else []

    def _shown(self, turn: Turn) -> list[dict[str, Any]]:
        """Return the items of a turn without what was forgotten since."""
        mask = self._memory.opened.mask
        if not mask:
            return items_of(turn)
        whole = mask.turn(self.session_id, turn.id)
        return [without(item, mask.text, whole=whole) for item in items_of(turn)]

    def _add(self, items: Sequence[Any]) -> None:
        with self._lock:
            opened = self._memory.opened
            ws = opened.writable
            now = ws.clock()
            turns = [turn_of(item, at=now, turn_id=ws.new_id()) for item in items]
            capture_many(ws, self.session_id, turns, rendered=opened.rendered(self.session_id))

    def _pop(self) -> dict[str, Any] | None:
        items: list[dict[str, Any]] = []

        def last(turns: list[Turn]) -> list[Turn]:
            items[:] = [item for turn in turns[-1:] for item in self._shown(turn)]
            return turns[-1:]

        self._retract(last)
        return items[-1] if items else None

    def _retract(self, choose: Callable[[list[Turn]], Sequence[Turn]]) -> Retracted:
        with self._lock:
            opened = self._memory.opened
            done = retract(opened.writable, opened.state_now(), self.session_id, choose=choose)
            self._unsearch(done)
            if done.due.publish:
                self._memory.digest()
                self._memory.publish()
            return done

    def _unsearch(self, done: Retracted) -> None:
        """Take the turns out of the search rows, in whose windows their words stand beside their neighbours'."""
        if not done.turns:
            return
        opened, mask = self._memory.opened, self._memory.opened.mask
        ordinals = range(done.turns[0].n, done.turns[-1].n + 1)
        with suppress(IndexUnavailable, Busy):  # what cannot be changed is masked by every reader
            rows = opened.index.rows
            rows.delete([row.id for row in rows.turns(self.session_id, ordinals) if mask.row(row)])
