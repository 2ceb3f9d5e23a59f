"""How a model is reached: its server, its key, how long it may take, how much of an answer is read.

Owns the value that settings are turned into; promises that printing it shows no key; never reads the environment.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit

LARGEST = 4_000_000  # bytes of an answer; one of 100,000 tokens has a tenth of it


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Where a model is and what opens it.

    `base_url` is the address of an OpenAI-compatible server, empty for the provider's own. `key` is the key itself,
    empty where the provider's library finds it; `key_variable` names where it came from, for the sentence that asks
    for a better one. `timeout` is in seconds and covers an answer from the first byte sent to the last received.
    """

    base_url: str = ""
    key: str = field(default="", repr=False)
    key_variable: str = ""
    timeout: float = 120.0
    largest: int = LARGEST

    @property
    def host(self) -> str:
        """The server's name and port as a message may show them, without what else an address can hold."""
        parts = urlsplit(self.base_url)
        return parts.netloc.rpartition("@")[2]
