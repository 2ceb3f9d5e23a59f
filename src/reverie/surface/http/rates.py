"""How many requests each caller may send: a bucket a caller, which fills as time goes by.

Owns the buckets; promises that a caller who waits as long as told is let in, that one caller's requests cost no other
one's, and that callers without end take no memory without end; never knows what is asked.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import msgspec

AT_ONCE: Final = 6  # of a minute's requests, one in so many may come at once
MOST: Final = 10_000  # callers remembered; those whose buckets are fullest are forgotten first


class _Bucket(msgspec.Struct):
    """How many requests were left at an instant of the monotonic clock."""

    left: float
    at: float


class Rates:
    """What each caller has left."""

    def __init__(self, per_minute: int, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        """Let each caller send so many requests in a minute, 0 for without end."""
        self._a_second, self._most = per_minute / 60, max(per_minute / AT_ONCE, 1.0)
        self._monotonic = monotonic
        self._buckets: dict[str, _Bucket] = {}

    def take(self, caller: str) -> float:
        """Count a request; return 0, or how many seconds the caller has to wait before it may send it."""
        if not self._a_second:
            return 0.0
        now = self._monotonic()
        bucket = self._buckets.get(caller)
        if bucket is None:
            self._make_room(now)
            bucket = self._buckets[caller] = _Bucket(self._most, now)
        bucket.left, bucket.at = self._left(bucket, now), now
        if bucket.left < 1:
            return (1 - bucket.left) / self._a_second
        bucket.left -= 1
        return 0.0

    def _left(self, bucket: _Bucket, now: float) -> float:
        return min(bucket.left + (now - bucket.at) * self._a_second, self._most)

    def _make_room(self, now: float) -> None:
        """Forget the fuller half of the callers once there are too many: they come back as they would be anyway."""
        if len(self._buckets) >= MOST:
            kept = sorted(self._buckets.items(), key=lambda one: self._left(one[1], now))
            self._buckets = dict(kept[: MOST // 2])
