"""One call at a time: what stands between a host's many threads and tasks, and a Memory that is used by one.

Owns the lock of each Memory that adapters share; promises that a call which was begun is finished and its outcome known
before a cancelled task goes on; never opens a Memory.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar
from weakref import WeakKeyDictionary

from reverie.memory import Memory

T = TypeVar("T")

_guard = threading.Lock()
_locks: WeakKeyDictionary[Memory, threading.RLock] = WeakKeyDictionary()


def lock_of(memory: Memory) -> threading.RLock:
    """Return the one lock under which every adapter of `memory` works."""
    with _guard:
        return _locks.setdefault(memory, threading.RLock())


async def finished(call: Callable[[], T]) -> T:
    """Do a blocking call on a thread of its own, and return what it returns.

    A task that is cancelled meanwhile is cancelled once the call has ended: nobody has to guess whether it took place.
    """
    task = asyncio.ensure_future(asyncio.to_thread(call))
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = cancelled or error
    if cancelled is not None:
        task.exception()  # looked at, so that it is no error that nobody retrieved
        raise cancelled
    return task.result()
