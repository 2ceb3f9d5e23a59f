"""The rule by which models are asked: short waits, a rest after failures, ceilings, books that outlive a restart."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from desk import Desk

from reverie import layout
from reverie.core.ledger import Call, by_purpose, last_troubles
from reverie.errors import ModelFailed
from reverie.model.asking import Reply, Request, Usage
from reverie.models import Asked, Kept, name_for
from reverie.store import usage
from reverie.testing import ScriptedModel

if TYPE_CHECKING:
    from pathlib import Path

    from reverie.model.asking import Model

ASK = Request(purpose="extraction", instructions="Read.", text="Dana likes tea")
DOWN = ModelFailed("m cannot be reached: check the network", kind="down")


class Rule:
    """A model under the rule of a desk's workspace; `waits` are the seconds that it would have slept."""

    def __init__(self, desk: Desk, *replies: Any, run: str = "", chance: float = 0.5, **books: Any) -> None:
        """Script the model."""
        self.waits: list[float] = []
        self.script = ScriptedModel(replies, loop=True, name="test:m")
        kept = Kept(
            desk.memory.opened.ws,
            "test:m",
            **{"purpose": "extraction", "run": run, "chance": lambda: chance, **books},
        )
        self.model: Model = Asked(kept, self.script, wait=self.waits.append)

    def ask(self) -> str:
        """Ask once and return the text."""
        return self.model.complete(ASK).text

    def fail(self) -> ModelFailed:
        """Ask once and return the failure."""
        with pytest.raises(ModelFailed) as raised:
            self.ask()
        return raised.value


def used(tokens: int = 0, cost: float = 0.0) -> Reply:
    """Return a reply that used so much."""
    return Reply(text="ok", usage=Usage(calls=1, input_tokens=tokens, cost=cost))


def test_a_passing_failure_is_tried_again(desk: Desk) -> None:
    """Two short failures and an answer are an answer, after two waits that double."""
    rule = Rule(desk, DOWN, DOWN, "yes")
    assert rule.ask() == "yes"
    assert rule.waits == [0.5, 1.0]
    assert [call.kind for call in calls(desk)] == ["down", "down", ""]


def test_after_its_last_try_a_model_rests(desk: Desk) -> None:
    """Once all tries have failed, questions fail at once with the same remedy until the rest is over."""
    rule = Rule(desk, DOWN)
    first = rule.fail()
    assert (first.kind, len(rule.script.requests)) == ("down", 3)
    again = rule.fail()
    assert again.kind == "down"
    assert "m cannot be reached: check the network (not asked again before 2026-07-01 12:" in str(again)
    assert len(rule.script.requests) == 3
    desk.clock.advance(seconds=rest_of(desk) + 1)
    assert Rule(desk, "back").ask() == "back"


def test_a_restart_resets_neither_rest_nor_ceiling(desk: Desk) -> None:
    """Another process, or the same one started again, finds the rest and what the day has used."""
    Rule(desk, DOWN).fail()
    fresh = Rule(desk, "yes")
    assert fresh.fail().kind == "down"
    assert fresh.script.requests == []
    with Desk(
        desk.home, now=desk.clock() + timedelta(hours=2), **{"models.max_tokens_per_day": "100"}
    ) as later:
        Rule(later, used(100)).ask()
        assert Rule(later, "yes").fail().kind == "ceiling"


def test_each_rest_is_twice_the_one_before(desk: Desk) -> None:
    """Failures in a row double the rest up to an hour, and an answer starts anew."""
    rests = []
    for _ in range(12):
        Rule(desk, DOWN).fail()
        rests.append(rest_of(desk))
        desk.clock.advance(seconds=rests[-1])
    # Three tries make one question, so the row grows by three.
    assert rests[0] == 15 * 2**2
    assert rests == sorted(rests)
    assert rests[-1] == 3600
    Rule(desk, "yes").ask()
    Rule(desk, DOWN).fail()
    assert rest_of(desk) == rests[0]


def test_a_short_wish_of_the_provider_is_waited_for(desk: Desk) -> None:
    """Retry-After of a few seconds is kept to the second within the call."""
    rule = Rule(desk, ModelFailed("busy: later", kind="limit", retry_after=2), "yes")
    assert rule.ask() == "yes"
    assert rule.waits == [2]


def test_a_long_wish_of_the_provider_is_not_waited_for(desk: Desk) -> None:
    """A longer Retry-After fails at once, and so does every later question until the instant has passed."""
    rule = Rule(desk, ModelFailed("busy: later", kind="limit", retry_after=600), "yes")
    assert rule.fail().kind == "limit"
    assert rule.waits == []
    desk.clock.advance(seconds=599)
    assert Rule(desk, "yes").fail().kind == "limit"
    desk.clock.advance(seconds=2)
    assert Rule(desk, "yes").ask() == "yes"


@pytest.mark.parametrize("kind", ["auth", "no_such_model", "timeout", "missing", "refused", "unusable"])
def test_what_waiting_cannot_mend_is_not_tried_again(desk: Desk, kind: Any) -> None:
    """A wrong key, name or package, a refusal and an answer that took too long are asked once."""
    rule = Rule(desk, ModelFailed("no: mend it", kind=kind))
    assert rule.fail().kind == kind
    assert (rule.waits, len(rule.script.requests)) == ([], 1)


def test_a_question_at_fault_lets_others_through(desk: Desk) -> None:
    """A refusal or an unusable answer is about one question, so the next is asked at once."""
    rule = Rule(desk, ModelFailed("no", kind="refused"), ModelFailed("no", kind="unusable"), "yes")
    rule.fail()
    rule.fail()
    assert rule.ask() == "yes"


@pytest.mark.parametrize(
    ("setting", "reply"),
    [
        ("models.max_tokens_per_day", used(tokens=1000)),
        ("models.max_cost_per_day", used(cost=1000)),
        ("models.max_tokens_per_run", used(tokens=1000)),
        ("models.max_cost_per_run", used(cost=1000)),
    ],
)
def test_a_ceiling_stops_the_next_question(tmp_path: Path, setting: str, reply: Reply) -> None:
    """Once a ceiling is reached nothing is asked any more; the day's ends with the day, the run's with the run."""
    with Desk(tmp_path, **{"models.max_cost_per_day": "0", setting: "1000"}) as desk:
        rule = Rule(desk, reply, run="r1")
        rule.ask()
        failure = rule.fail()
        assert failure.kind == "ceiling"
        assert "1,000" in str(failure)
        assert f"({setting})" in str(failure)
        assert len(rule.script.requests) == 1
        if setting.endswith("_run"):
            assert Rule(desk, "yes", run="r2").ask() == "yes"
        else:
            assert Rule(desk, "yes", run="r2").fail().kind == "ceiling"
            desk.clock.advance(days=1)
            assert Rule(desk, "yes", run="r2").ask() == "yes"


def test_status_names_a_ceiling(tmp_path: Path) -> None:
    """A ceiling that stops questions is told once by status, with the setting that raises it."""
    with Desk(tmp_path, **{"models.max_tokens_per_day": "10"}) as desk:
        rule = Rule(desk, used(10))
        rule.ask()
        rule.fail()
        rule.fail()
        problems = [one for one in desk.memory.status().problems if "ceiling" in one.what]
        assert len(problems) == 1
        assert "models.max_tokens_per_day" in problems[0].remedy
        assert len(calls(desk)) == 2


def test_seconds_are_counted_by_the_clock(tmp_path: Path) -> None:
    """What a question took counts against the seconds of a day."""
    with Desk(tmp_path, **{"models.max_seconds_per_day": "60"}) as desk:

        def slow(_: Request) -> str:
            desk.clock.advance(seconds=61)
            return "late"

        rule = Rule(desk, slow)
        rule.ask()
        assert rule.fail().kind == "ceiling"
        assert calls(desk)[0].seconds == 61


def test_a_dream_has_ceilings_of_its_own(tmp_path: Path) -> None:
    """A dream's steps are counted by its run, whoever resumes it (N-37)."""
    with Desk(tmp_path, **{"dream.max_steps": "2"}) as desk:
        first = Rule(desk, "one", run="dream:1", purpose="dream")
        first.ask()
        Rule(desk, "two", run="dream:1", purpose="dream").ask()
        assert "dream.max_steps" in str(Rule(desk, "three", run="dream:1", purpose="dream").fail())
        assert Rule(desk, "three", run="dream:2", purpose="dream").ask() == "three"


@pytest.mark.parametrize(
    ("setting", "reply"),
    [("dream.max_tokens", used(tokens=1000)), ("dream.max_cost", used(cost=1000))],
)
def test_a_dreams_tokens_and_money_end_with_its_run(tmp_path: Path, setting: str, reply: Reply) -> None:
    """What a dream's run used is in the books under its name, for whoever resumes it; the next begins anew (N-37)."""
    with Desk(tmp_path, **{"models.max_cost_per_day": "0", setting: "1000"}) as desk:
        Rule(desk, reply, run="dream:1", purpose="dream").ask()
        resumed = Rule(desk, "yes", run="dream:1", purpose="dream")
        failure = resumed.fail()
        assert (failure.kind, resumed.script.requests) == ("ceiling", [])
        assert setting in str(failure)
        assert Rule(desk, "yes", run="dream:2", purpose="dream").ask() == "yes"
        assert desk.memory.status().models["dream"].calls == 2
        spent = [(call.run, call.purpose, call.input_tokens, call.cost) for call in calls(desk) if call.calls]
        assert spent[0] == ("dream:1", "dream", reply.usage.input_tokens, reply.usage.cost)
        assert [run for run, *_ in spent] == ["dream:1", "dream:2"]


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (" ", "empty answer"),
        ("<!DOCTYPE html><html>", "web page"),
        ("Sure! Here are the facts.", "ignored the form"),
    ],
)
def test_an_answer_that_is_none(desk: Desk, reply: str, words: str) -> None:
    """An empty answer, a page and words in place of the JSON asked for are failures that were paid for."""
    rule = Rule(desk, reply)
    asked = Request(purpose="extraction", instructions="Read.", text="x", schema={"type": "object"})
    with pytest.raises(ModelFailed, match=words) as raised:
        rule.model.complete(asked)
    assert raised.value.kind == "unusable"
    assert [(call.calls, call.kind) for call in calls(desk)] == [(1, "unusable")]
    assert calls(desk)[0].input_tokens > 0


def test_a_model_handed_over_decides_itself(desk: Desk) -> None:
    """A host's own model is counted, but neither tried again nor left alone after it failed."""
    script = ScriptedModel([DOWN, "yes"])
    model = desk.again(model=script).opened.model("summary")
    assert model is not None
    with pytest.raises(ModelFailed):
        model.complete(ASK)
    assert model.complete(ASK).text == "yes"
    assert [(call.purpose, call.kind) for call in calls(desk)] == [("summary", "down"), ("summary", "")]


def test_each_purpose_may_have_its_own_model(tmp_path: Path) -> None:
    """What a purpose's own setting leaves empty is the model of `model` (N-35)."""
    flags = {"model": "openai:a", "extraction.model": "ollama:b", "dream.model": "none"}
    with Desk(tmp_path, **flags) as desk:
        settings = desk.memory.opened.ws.settings
        assert [name_for(one, settings) for one in ("extraction", "summary", "dream")] == [
            "ollama:b", "openai:a", "none",
        ]  # fmt: skip
        assert desk.memory.opened.model("dream") is None
        extracting = desk.memory.opened.model("extraction")
        assert extracting is not None
        assert extracting.name == "ollama:b"


def test_a_key_is_read_where_the_settings_say(tmp_path: Path) -> None:
    """A variable that is named and empty is told before anything is sent."""
    with Desk(tmp_path, **{"model": "openai:a", "models.key_variable": "MY_KEY"}) as desk:
        model = desk.memory.opened.model("extraction")
        assert model is not None
        with pytest.raises(ModelFailed, match="set the environment variable MY_KEY") as raised:
            model.complete(ASK)
        assert raised.value.kind == "auth"


def test_no_prompt_is_kept(desk: Desk) -> None:
    """The books hold numbers and our own sentences, never what was asked or answered."""
    Rule(desk, "Dana likes tea, says the model").ask()
    kept = desk.text(layout.USAGE)
    assert "tea" not in kept
    assert "Read." not in kept


def test_a_reader_notes_what_it_could_not_use(desk: Desk) -> None:
    """A reply that its reader refuses is told in the books without being counted twice."""
    Rule(desk, "[]").ask()
    usage.note(
        desk.memory.opened.ws,
        ModelFailed("odd: retry", kind="unusable"),
        purpose="extraction",
        model="test:m",
    )
    lines = usage.read(desk.memory.opened.ws)
    assert last_troubles(lines)["extraction"].problem == "odd: retry"
    assert by_purpose(lines, day="2026-07-01")["extraction"].calls == 1


def test_a_damaged_line_costs_itself(desk: Desk) -> None:
    """The books are read around what cannot be read."""
    Rule(desk, "yes").ask()
    path = desk.root / layout.USAGE
    path.write_bytes(b'{"v":1,"type":"call"\n' + path.read_bytes())
    assert Rule(desk, "yes").ask() == "yes"
    assert len(calls(desk)) == 2


def calls(desk: Desk) -> list[Call]:
    """Return the calls in the books."""
    return [line for line in usage.read(desk.memory.opened.ws) if isinstance(line, Call)]


def rest_of(desk: Desk) -> float:
    """Return the seconds of the rest that the last call began."""
    last = calls(desk)[-1]
    assert last.until is not None
    return (last.until - last.at).total_seconds()
