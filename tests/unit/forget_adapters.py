"""The adapters as readers and ways back, for the matrix of what a forget must close; without their extras, nothing."""

from __future__ import annotations

import asyncio
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reverie import Memory

SAID = "User is allergic to macadamia nuts"


def read_by_adapters(memory: Memory) -> list[str]:
    """Return every text that the adapters give their frameworks."""
    found: list[str] = []
    if find_spec("langgraph"):
        from reverie.adapters.langgraph import ReverieStore

        store = ReverieStore(memory)
        items = [*store.search((), limit=50), *store.search((), query="macadamia allergic", limit=50)]
        found += [str(item.dict()) for item in items]
    if find_spec("agents"):
        from reverie.adapters.openai_agents import ReverieSession

        for name in memory.opened.sessions():
            found += map(str, asyncio.run(ReverieSession(name, memory).get_items()))
    return found


def a_value_says_it(memory: Memory) -> None:
    """Let an agent keep it in its store, under a key that says it and in a value, and overwrite one of them."""
    if find_spec("langgraph"):
        from reverie.adapters.langgraph import ReverieStore

        store = ReverieStore(memory)
        store.put(
            ("users", "dana"),
            "diet",
            {"notes": [SAID, "Soup on Sundays"], "deep": {"text": f"Note:\n{SAID}"}},
        )
        store.put(("users", "dana"), SAID, {"since": "May"})
        store.put(("users", "dana"), "old", {"text": SAID})
        store.put(("users", "dana"), "old", {"text": "Soup"})
        store.sweep()
    memory.consolidate()


def an_agents_session_says_it(memory: Memory) -> None:
    """Let an agent of the OpenAI SDK hear it, note it by a tool, and repeat it; then pop and add an item."""
    if find_spec("agents"):
        from reverie.adapters.openai_agents import ReverieSession

        session = ReverieSession("sdk", memory)
        call = {"type": "function_call", "call_id": "c", "name": "note", "arguments": f'{{"text": "{SAID}"}}'}
        told = {"role": "assistant", "content": [{"type": "output_text", "text": f"Noted. {SAID}."}]}
        items = [{"role": "user", "content": SAID}, call, told, {"role": "user", "content": "Thanks."}]

        async def talk() -> None:
            await session.add_items(items)
            await session.pop_item()
            await session.add_items(items[-1:])

        asyncio.run(talk())
        memory.end("sdk")
    memory.consolidate()
