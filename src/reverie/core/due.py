"""What a step found to have become due.

Owns the one value by which steps hand work on; promises that a step only says what is due and never does it.
"""

from __future__ import annotations

import msgspec


class Due(msgspec.Struct, frozen=True, kw_only=True):
    """Work that has become due: sessions to summarise and extract, and whether to drain, digest, publish or learn."""

    sessions: tuple[str, ...] = ()
    drain: bool = False
    digest: bool = False
    publish: bool = False
    skills: bool = False

    def __or__(self, other: Due) -> Due:
        """Return what either found due."""
        return Due(
            sessions=tuple(dict.fromkeys(self.sessions + other.sessions)),
            drain=self.drain or other.drain,
            digest=self.digest or other.digest,
            publish=self.publish or other.publish,
            skills=self.skills or other.skills,
        )
