"""The words that tell an agent how to use its memory.

Owns the text of `## Memory Protocol`, the same wherever it is shown; never depends on what is remembered.
"""

from __future__ import annotations

MEMORY_PROTOCOL = """\
## Memory Protocol

You have memory that lasts across sessions. It is loaded below, and the memory system keeps it.

When you learn something about the user or the work:

1. Acknowledge it naturally ("Got it, I'll remember that").
2. The memory system stores it: out of the turns it is given, or at once where you have a tool that remembers; use it.

When you are asked about the past:

1. Look in the loaded memory first, then recall.
2. If it is not there, say "I don't have that in my memory, could you remind me?"
3. Never fabricate memories.
"""
