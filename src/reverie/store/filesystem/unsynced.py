"""What a crash may make of one file's unsynced writes, and when it comes.

Owns the plan of a crash, the lots it draws and the bytes a file is left with; promises the same outcome for the
same plan; never touches a real file.
"""

from __future__ import annotations

import errno
import random

import msgspec


class Crashed(BaseException):
    """The power is gone: nothing but letting go works any more. No `except Exception` may outlive it."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """Which counted call (from 1; 0 is none) crashes, and which fails with which error, once or from then on."""

    crash_at: int = 0
    seed: int = 0
    fail_at: int = 0
    error: int = errno.ENOSPC
    forever: bool = False


class Lot:
    """What happens to each unsynced effect."""

    def __init__(self, plan: Plan) -> None:
        self._seed = plan.seed
        self._random = random.Random(plan.seed * 1_000_003 + plan.crash_at)  # noqa: S311 - repeatable by design

    def lands(self) -> bool:
        """Return whether the next effect that cannot be torn is found afterwards."""
        return self._seed == 1 or (self._seed > 1 and self._random.random() < 0.5)  # noqa: PLR2004 - a coin

    def write(self, data: bytes) -> bytes:
        """Return what of a write is found afterwards."""
        if self._seed <= 1 or self._random.random() < 0.5:  # noqa: PLR2004 - a coin
            return data if self.lands() else b""
        cut = self._random.randrange(len(data))
        rest = len(data) - cut
        return data[:cut] + self._random.choice((b"", bytes(rest), self._random.randbytes(rest)))


class File(msgspec.Struct):
    """A file's bytes as last synced, and what was done since: writes as (offset, bytes), cuts as a size."""

    synced: bytearray
    pending: list[tuple[int, bytes] | int] = msgspec.field(default_factory=list)
    doomed: bool = False

    def written(self) -> int:
        """Return the size a reader sees now."""
        size = len(self.synced)
        for effect in self.pending:
            size = effect if isinstance(effect, int) else effect[0] + len(effect[1])
        return size

    def settle(self) -> None:
        """Take everything done so far as synced."""
        for effect in self.pending:
            self._do(self.synced, effect)
        self.pending.clear()

    def survive(self, lot: Lot) -> None:
        """Make what the crash leaves the file's bytes."""
        for effect in self.pending:
            if not isinstance(effect, int):
                left = lot.write(effect[1])
                if left:
                    self._do(self.synced, (effect[0], left))
            elif lot.lands():
                self._do(self.synced, effect)
        self.pending.clear()

    @staticmethod
    def _do(content: bytearray, effect: tuple[int, bytes] | int) -> None:
        if isinstance(effect, int):
            del content[effect:]
            return
        offset, data = effect
        content.extend(
            bytes(max(0, offset - len(content)))
        )  # a write after one that vanished leaves a hole of NULs
        content[offset : offset + len(data)] = data
