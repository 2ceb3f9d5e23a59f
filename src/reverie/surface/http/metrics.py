"""What the server counts, for Prometheus.

Owns the names of its metrics; promises that no label or value holds anything of a memory: no text, no name of a
workspace or a person, no address; never counts for two servers together.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from reverie.errors import UsageError
from reverie.surface.http.hosted import Hosted

MISSING = "the server needs more packages than are installed: run `pip install 'reverie[server]'`"

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)


class Metrics:
    """The counts of one server."""

    def __init__(self, hosted: Hosted) -> None:
        """Begin with nothing; raises UsageError where the client of Prometheus is not installed."""
        try:
            from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
        except ImportError as error:
            raise UsageError(MISSING) from error
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "reverie_http_requests",
            "Requests answered, by operation and status.",
            ("operation", "status"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "reverie_http_request_seconds",
            "How long a request took, by operation.",
            ("operation",),
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._refused = Counter(
            "reverie_http_refused",
            "Requests that the door did not let in, by kind.",
            ("kind",),
            registry=self._registry,
        )
        open_ = Gauge("reverie_open_memories", "Memories that are open.", registry=self._registry)
        open_.set_function(lambda: hosted.open)
        busy = Gauge("reverie_calls", "Calls of memories that wait or run.", registry=self._registry)
        busy.set_function(lambda: hosted.busy)

    @contextmanager
    def timed(self, operation: str) -> Iterator[Callable[[int], None]]:
        """Time a request, and count it under the status that is told."""
        began = time.perf_counter()

        def ended(status: int) -> None:
            self._requests.labels(operation, str(status)).inc()

        try:
            yield ended
        finally:
            self._seconds.labels(operation).observe(time.perf_counter() - began)

    def refused(self, kind: str) -> None:
        """Count a request that the door did not let in."""
        self._refused.labels(kind).inc()

    def text(self) -> bytes:
        """Return all of it in the text format of Prometheus."""
        from prometheus_client import generate_latest

        return generate_latest(self._registry)
