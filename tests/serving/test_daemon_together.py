"""A minute of mixed traffic on one workspace: three clients, the daemon's own schedule, and commands beside it."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING

import pytest
from daemons import Estate
from ports import held_port
from traffic import ALL, LONG_AGO, LONGEST, Traffic

from reverie.core.records import Draft
from reverie.core.where import Where
from reverie.store import sessions

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.slow

SECONDS = 60.0


@pytest.fixture
def estate(estate: Estate) -> Estate:
    """A home with one workspace that is looked after every minute."""
    with estate.memory("agent") as memory:
        for number in range(8):
            memory.remember(f"User wrote note {number} long ago", Draft(origin="user", at=LONG_AGO))
        memory.drain()
    (estate.root / "agent" / "reverie.toml").write_text('zone = "UTC"\n[dream]\ninterval_seconds = 60\n')
    return estate


def together(traffic: Traffic, parts: list[Callable[[], None]], meanwhile: Callable[[], object]) -> None:
    """Have everybody speak at once until the time is up, and do something meanwhile."""
    threads = [threading.Thread(target=part) for part in parts]
    for one in threads:
        one.start()
    meanwhile()
    for one in threads:
        one.join(LONGEST + 60)
    assert not any(one.is_alive() for one in threads)
    print(dict(traffic.done), dict(traffic.troubles))  # noqa: T201 - how much was done, for whoever reads along


def nothing_is_lost(estate: Estate, traffic: Traffic) -> None:
    """Hold that everybody spoke, that no error was undocumented, and that all that was acknowledged is there."""
    assert traffic.wrong == []
    assert traffic.awaited <= set(traffic.done)
    with estate.memory("agent") as memory:
        memory.drain()
        every = memory.list(Where(include_previous=True, include_faded=True))
        held = {one.entry.id: one.entry.text for one in every}
        talks = memory.opened.sessions()
        said = {turn.content for name in talks for turn in sessions.read(memory.opened.ws, name)}
        assert traffic.entries.items() <= held.items()
        assert traffic.turns <= said
        assert not traffic.gone & held.keys()
        assert len(every) == len(held)
        assert sum(one.entry.day == "2020-01-01" for one in every) == 8 + traffic.done["long ago"]
        assert memory.check() == ()


def test_a_minute_of_mixed_traffic_loses_nothing(estate: Estate) -> None:
    """Three clients, the daemon and commands write one workspace: all of it is there, and no error is undocumented."""
    estate.start()
    traffic = Traffic(estate, SECONDS)
    parts = [traffic.by_mcp, traffic.by_stdio, traffic.by_http, traffic.by_commands]
    together(traffic, parts, lambda: None)
    assert estate.end() == 0
    assert any(one["event"] == "consolidated" for one in estate.log)
    nothing_is_lost(estate, traffic)


def test_a_daemon_that_is_killed_in_its_midst_loses_nothing(estate: Estate) -> None:
    """After kill -9 amid such traffic the next daemon serves at once, and what either acknowledged is there."""
    with held_port() as port:
        estate.start("--port", f"{port}")
        traffic = Traffic(estate, SECONDS / 2, awaited=ALL | {"broken off"})
        parts = [
            traffic.again(traffic.by_mcp),
            traffic.by_stdio,
            traffic.again(traffic.by_http),
            traffic.by_commands,
        ]

        def killed() -> None:
            assert traffic.under_way.wait(LONGEST)
            assert estate.end(signal.SIGKILL) == -signal.SIGKILL
            estate.start("--port", f"{port}")

        together(traffic, parts, killed)
        assert estate.end() == 0
    nothing_is_lost(estate, traffic)
