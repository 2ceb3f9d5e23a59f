"""The settings of an embedder that is a server: where it is, which variable holds its key, how long it may take.

Owns the table `[embedders]`; promises that a workspace's own file can send no text elsewhere; never holds a key, only
the name of the variable that has it.
"""

from __future__ import annotations

from dataclasses import dataclass

from reverie.core.settings.keys import key


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderSettings:
    """Where texts are sent to become vectors, for `openai:MODEL` and `ollama:MODEL`."""

    base_url: str = key(
        "The address of the server that embeds; \"\" is OpenAI's own, or Ollama's port on this machine.",
        default="",
    )
    key_variable: str = key(
        'The environment variable that holds its key; "" is OPENAI_API_KEY at OpenAI\'s own address, else none.',
        default="",
    )
    timeout_seconds: float = key("How long one answer may take.", default=30.0, within=(0.1, 600))
