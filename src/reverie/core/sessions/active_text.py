"""What of a turn a later step may read: no injected memory, nothing forgotten, no excluded topic, no secret.

Owns the one look that summaries, compaction and whatever is sent to a model pass; promises that a turn of which
something may not be read is left out whole, for the rest of it may say the same in other words; never changes a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec

from reverie.core.forgetting.exclusions import excluded_by
from reverie.core.forgetting.mask import Mask
from reverie.core.records import Turn
from reverie.core.secrets.redact import redact
from reverie.core.sessions.active_window import unread
from reverie.core.settings.value import Settings

NOTHING_FORGOTTEN = Mask()


@dataclass(frozen=True, slots=True)
class Readable:
    """The turns of `session` as `settings` and what is forgotten let them be read."""

    session: str
    settings: Settings
    masked: Mask = NOTHING_FORGOTTEN

    def turns(self, turns: Iterable[Turn]) -> list[Turn]:
        """Return what may be read of each turn; those of which nothing may are left out."""
        return [clean for turn in turns if (clean := self.turn(turn)) is not None]

    def turn(self, turn: Turn) -> Turn | None:
        """Return the turn without injected memory and secrets, None when it may not be read."""
        own = unread(turn)
        every = "\n".join((own, *(call.arguments for call in turn.calls)))
        if self.masked.turn(self.session, turn.id) or self.hides(every):
            return None
        calls = tuple(
            msgspec.structs.replace(call, arguments=self.redacted(call.arguments)) for call in turn.calls
        )
        return msgspec.structs.replace(turn, content=self.redacted(own), calls=calls, injected=())

    def hides(self, text: str) -> bool:
        """Tell whether a text says something forgotten or names an excluded topic."""
        return self.masked.text(text) or bool(excluded_by(text, self.settings.exclusions))

    def redacted(self, text: str) -> str:
        """Return the text without secrets, where redaction is on."""
        if not text or not self.settings.redaction:
            return text
        return redact(text, allow=self.settings.redaction_allow).text

    def line(self, text: str) -> str:
        """Return a text of somebody else's as it may be kept: without secrets, empty when it may not be."""
        return "" if self.hides(text) else self.redacted(text)

    def whole(self, turns: Sequence[Turn]) -> bool:
        """Tell whether nothing of the turns is forgotten.

        A summary of others is hidden with the forgotten ones it covers, so it had better not be written.
        """
        return not any(self.masked.turn(self.session, turn.id) for turn in turns)
