"""A provider that misbehaves, seen from a whole memory: status names it with its remedy, and all else goes on."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
import speaking
from speaking import Server, fails, says, sends

import reverie
from reverie.errors import ModelFailed
from reverie.model.asking import Request
from reverie.models import Models
from reverie.opening import Opening
from reverie.surface.status_text import status_lines
from reverie.testing import FixedClock, counter_ids

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from speaking import Act

    from reverie.memory import Memory

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
ASK = Request(
    purpose="extraction",
    instructions="Read.",
    text="Dana likes tea",
    schema={"type": "object", "properties": {}, "additionalProperties": False},
)
BRIEF = {"models.timeout_seconds": "1"}  # for a provider that never answers
BAD: dict[str, tuple[Act, str, str]] = {
    "401": (fails(401, code="invalid_api_key"), "auth", "name the environment variable"),
    "429": (fails(429, retry_after="900"), "limit", "it is asked again when it allows"),
    "500": (fails(500), "down", "it is asked again in a while"),
    "hang": (speaking.hangs, "timeout", "raise models.timeout_seconds"),
    "slow stream": (speaking.trickles, "timeout", "raise models.timeout_seconds"),
    "broken stream": (speaking.breaks_off, "down", "check models.base_url"),
    "empty": (says(""), "unusable", "use another model"),
    "refusal": (says(None, refusal="no"), "refused", "another model may take it"),
    "10 MB": (speaking.floods, "unusable", "sent more than 4,000,000 bytes"),
    "HTML": (speaking.page, "down", "check models.base_url"),
    "HTML as a reply": (says("<html><body>busy</body></html>"), "unusable", "answered with a web page"),
    "wrong name": (fails(404, code="model_not_found"), "no_such_model", "check `model`"),
    "schema ignored": (says("Sure, I read it."), "unusable", "ignored the form"),
    "wrong schema": (sends(b'{"choices": 3}'), "down", "in a form that its API does not have"),
}


class Home:
    """A memory whose model is behind a server."""

    def __init__(self, folder: Path, server: Server, **flags: str) -> None:
        """Make it; a question may take a minute, for a busy machine is no provider that hangs."""
        self.clock = FixedClock(NOON)
        settings = {
            "zone": "UTC",
            "model": "openai:small",
            "models.base_url": server.url,
            "models.timeout_seconds": "60",
            "models.tries": "1",
            **flags,
        }
        self.opening = Opening(
            path=folder / "agent",
            config_dir=folder / "config",
            environment={},
            flags=settings,
            clock=self.clock,
            new_id=counter_ids(),
        )
        self.memory: Memory = reverie.init(self.opening)

    def ask(self) -> ModelFailed:
        """Ask the model as a step does, and return how it failed."""
        model = self.memory.opened.model("extraction")
        assert model is not None
        with pytest.raises(ModelFailed) as raised:
            model.complete(ASK)
        return raised.value


@pytest.fixture
def home(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Home]:
    """A memory whose model misbehaves in the way of the parameter."""
    act, kind, _ = BAD[request.param]
    with Server(act) as server:
        made = Home(tmp_path, server, **(BRIEF if kind == "timeout" else {}))
        yield made
        made.memory.close()


@pytest.mark.slow
@pytest.mark.parametrize(("home", "case"), [(name, name) for name in BAD], indirect=["home"])
def test_status_names_it_with_its_remedy(home: Home, case: str) -> None:
    """Status says what went wrong, for what, and what to do; capture, remember and recall do not notice."""
    _, kind, words = BAD[case]
    assert home.ask().kind == kind
    problems = [one for one in home.memory.status().problems if "reading turns" in one.what]
    assert len(problems) == 1
    assert f"reading turns: {kind}, on 2026-07-01 12:00 UTC" in problems[0].what
    assert words in problems[0].remedy
    page = "".join("".join(str(part) for part in one.parts) for one in status_lines(home.memory.status()))
    assert words in page
    turn = reverie.Turn(role="user", content="Dana drinks green tea", at=NOON)
    assert home.memory.capture("s1", turn).id
    home.memory.remember("Dana prefers calls before noon")
    assert home.memory.recall("when to call Dana?").hits[0].text == "Dana prefers calls before noon"


@pytest.mark.parametrize("home", ["500"], indirect=True)
def test_an_answer_ends_the_problem(home: Home) -> None:
    """Once the model answers again, status has nothing to say but what it used."""
    home.ask()
    assert "reading turns" in str(home.memory.status().problems)
    home.clock.advance(hours=1)
    with Server(says("{}")) as mended:
        flags = {**(home.opening.flags or {}), "models.base_url": mended.url}
        with reverie.open(Opening(**{**_fields(home.opening), "flags": flags})) as memory:
            model = memory.opened.model("extraction")
            assert model is not None
            assert model.complete(ASK).text == "{}"
            seen = memory.status()
    assert "reading turns" not in str(seen.problems)
    used = seen.models["extraction"]
    assert (used.calls, used.failed, used.tokens) == (2, 1, 18)


@pytest.mark.parametrize("home", ["429"], indirect=True)
def test_a_provider_that_wants_peace_gets_it(home: Home) -> None:
    """After a long Retry-After no request is sent until its time, by no process."""
    home.ask()
    assert home.ask().kind == "limit"
    home.clock.advance(minutes=14)
    with reverie.open(home.opening) as other:
        model = other.opened.model("summary")
        assert model is not None
        with pytest.raises(ModelFailed, match="not asked again before 2026-07-01 12:15:00 UTC"):
            model.complete(ASK)
    asked = [line.calls for line in home.memory.status().models.values()]
    assert asked == [1]


def test_a_passing_failure_is_not_noticed(tmp_path: Path) -> None:
    """One error and one answer within a call are an answer, and two questions in the books."""
    with Server(fails(503, retry_after="0"), says("{}")) as server:
        home = Home(tmp_path, server, **{"models.tries": "2"})
        model = Models(home.memory.opened.ws).ask("extraction")
        assert model is not None
        assert model.complete(ASK).text == "{}"
        assert home.memory.status().models["extraction"].calls == 2
        assert not [one for one in home.memory.status().problems if "model" in one.what]
        home.memory.close()


def test_an_old_failure_is_not_told_for_ever(tmp_path: Path) -> None:
    """A week after a model was last asked, its failure is no problem any more."""
    with Server(fails(500)) as server:
        home = Home(tmp_path, server)
        home.ask()
        home.clock.advance(days=8)
        assert "reading turns" not in str(home.memory.status().problems)
        home.memory.close()


def _fields(opening: Opening) -> dict[str, Any]:
    """Return what an opening was made of."""
    return {name: getattr(opening, name) for name in opening.__struct_fields__}
