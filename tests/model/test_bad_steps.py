"""Each step that asks a model, against a provider that misbehaves: named in status, and nothing else notices."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
import speaking
from speaking import Server, fails, says
from test_bad_providers import BRIEF, Home

from reverie.core.records import Turn

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from speaking import Act

    from reverie.memory import Memory

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)


def extracted(memory: Memory) -> None:
    """Read the turns."""
    memory.extract()


def summarised(memory: Memory) -> None:
    """Summarise the sessions, once they were read by rule."""
    memory.extract()
    memory.digest()


def compacted(memory: Memory) -> None:
    """Condense what leaves the window."""
    memory.compact("talk", budget=300)


def dreamt(memory: Memory) -> None:
    """Fold yesterday into the notebook."""
    memory.dream(now=True)


STEPS: dict[str, tuple[Callable[[Memory], None], str]] = {
    "extract": (extracted, "reading turns"),
    "digest": (summarised, "summaries"),
    "compact": (compacted, "summaries"),
    "dream": (dreamt, "dreams"),
}
TROUBLE: dict[str, tuple[Act, str, str]] = {
    "provider down": (fails(503), "down", "it is asked again in a while"),
    "401": (fails(401, code="invalid_api_key"), "auth", "name the environment variable"),
    "429": (fails(429, retry_after="900"), "limit", "it is asked again when it allows"),
    "500": (fails(500), "down", "it is asked again in a while"),
    "timeout mid-stream": (speaking.trickles, "timeout", "raise models.timeout_seconds"),
    "empty": (says(""), "unusable", "use another model"),
    "refusal": (says(None, refusal="no"), "refused", "another model may take it"),
    "10 MB": (speaking.floods, "unusable", "use another model"),
    "wrong model name": (fails(404, code="model_not_found"), "no_such_model", "check `model`"),
}
IGNORED: dict[str, tuple[str, str]] = {
    "prose for a list": ("extract", "Sure, I read it."),
    "a list of others": ("extract", '{"entries": [{"name": "Dana", "score": 3}]}'),
    "another object": ("extract", '{"ok": true}'),
    "thinking alone": ("extract", "<think>[{</think>"),
    "an invented summary": ("digest", "Fact: Klara met Zoltan in Ulaanbaatar on 2031-05-05."),
    "no labels": ("digest", "They talked."),
    "an invented digest": ("compact", "Klara met Zoltan in Ulaanbaatar on 2031-05-05."),
    "a web page": ("compact", "<!doctype html><html><body>busy</body></html>"),
}


def lived(folder: Path, server: Server, *, step: str, **flags: str) -> Home:
    """Return a memory with a long talk, and an entry of yesterday that no dream settled; others read by rule."""
    home = Home(folder, server, **flags, **({} if step == "extract" else {"extraction.model": "none"}))
    home.clock.set(NOON - timedelta(days=1))
    home.memory.remember("Dana prefers calls before noon")
    home.memory.drain()
    home.clock.set(NOON)
    for n in range(8):
        role = "user" if n % 2 == 0 else "assistant"
        words = f"In round {n} Dana drinks green tea and reads the report of the warehouse again. " * 4
        home.memory.capture("talk", Turn(role=role, content=words, at=NOON))
    return home


def unaffected(home: Home) -> None:
    """Demand that capture, explicit writes, the drain and recall do what they always do."""
    memory = home.memory
    before = len(memory.opened.sessions())
    assert memory.capture("another", Turn(role="user", content="The boiler is loud", at=NOON)).recorded
    assert len(memory.opened.sessions()) == before + 1
    memory.remember("The spare key hangs behind the boiler")
    assert memory.drain().stored >= 1
    assert memory.recall("where is the spare key?").hits[0].text == "The spare key hangs behind the boiler"
    assert memory.recall("when to call Dana?").hits[0].text == "Dana prefers calls before noon"


@pytest.mark.slow
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("trouble", TROUBLE)
def test_whatever_a_provider_does_status_names_it_for_the_step(
    tmp_path: Path, step: str, trouble: str
) -> None:
    """Status says for which work no answer came, how it failed and what to do; no turn, entry or recall is lost."""
    act, kind, remedy = TROUBLE[trouble]
    run, work = STEPS[step]
    with Server(act) as server:
        home = lived(tmp_path, server, step=step, **(BRIEF if kind == "timeout" else {}))
        run(home.memory)
        assert server.asked or kind == "timeout"  # a machine that stalls may give up before it has asked
        told = [one for one in home.memory.status().problems if f"{work}: {kind}, on " in one.what]
        assert len(told) == 1, home.memory.status().problems
        assert remedy in told[0].remedy
        unaffected(home)
        home.memory.close()


@pytest.mark.parametrize("case", IGNORED)
def test_a_form_that_is_ignored_is_named_in_status(tmp_path: Path, case: str) -> None:
    """An answer whose form or content its reader refuses is told with a remedy, though the provider was well."""
    step, answer = IGNORED[case]
    run, work = STEPS[step]
    with Server(says(answer)) as server:
        home = lived(tmp_path, server, step=step)
        run(home.memory)
        told = [one for one in home.memory.status().problems if f"{work}: unusable, on " in one.what]
        assert len(told) == 1, home.memory.status().problems
        assert "use another model" in told[0].remedy
        used = home.memory.status().models["extraction" if step == "extract" else "summary"]
        assert used.calls == used.failed > 0
        unaffected(home)
        home.memory.close()
