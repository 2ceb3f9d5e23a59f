"""Short ways to ask what the adapters give: the tests of each framework share them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reverie import Memory

DOCS = {
    "doc1": {"text": "red apple", "color": "red", "score": 4.5},
    "doc2": {"text": "red car", "color": "red", "score": 3.0},
    "doc3": {"text": "green apple", "color": "green", "score": 4.0},
    "doc4": {"text": "blue car", "color": "blue", "score": 3.5},
}
REASONING = {
    "type": "reasoning",
    "id": "rs_6867",
    "summary": [{"type": "summary_text", "text": "The user wants tea."}],
    "encrypted_content": "gAAAAABoZ" + "Qk3x9" * 40,
}


def run(*coroutines: Any) -> list[Any]:
    """Run coroutines one after another in one loop, and return what each gave."""

    async def all_of_them() -> list[Any]:
        return [await one for one in coroutines]

    return asyncio.run(all_of_them())


def last(*coroutines: Any) -> Any:
    """Run coroutines one after another, and return what the last gave."""
    return run(*coroutines)[-1]


def keys(found: Any) -> list[str]:
    """Return the keys of items."""
    return [one.key for one in found]


def said(memory: Memory, query: str) -> list[str]:
    """Return what recall finds."""
    return [hit.text for hit in memory.recall(query, k=50).hits]
