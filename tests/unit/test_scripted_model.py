"""The scripted model: it says what it was given, in turn, and keeps what it was asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reverie.errors import ModelFailed
from reverie.model.asking import Model, Reply, Request
from reverie.testing import ScriptedModel

if TYPE_CHECKING:
    from desk import Desk

ASK = Request(purpose="extraction", instructions="Read.", text="Dana likes tea")


def test_each_kind_of_reply() -> None:
    """A text, a whole reply, an exception and a function of the request each stand for one answer."""
    model = ScriptedModel(
        ["one", Reply(text="two", finished=False), ModelFailed("down"), lambda asked: asked.text.upper()]
    )
    assert model.complete(ASK).text == "one"
    assert not model.complete(ASK).finished
    with pytest.raises(ModelFailed, match="down"):
        model.complete(ASK)
    assert model.complete(ASK).text == "DANA LIKES TEA"
    assert model.requests == [ASK] * 4


def test_more_questions_than_replies() -> None:
    """A question too many fails the test that asked it, unless the last reply is repeated."""
    model = ScriptedModel(["once"])
    model.complete(ASK)
    with pytest.raises(AssertionError, match="asked 2 times and has 1"):
        model.complete(ASK)
    again = ScriptedModel(["first", "then"], loop=True)
    assert [again.complete(ASK).text for _ in range(3)] == ["first", "then", "then"]
    with pytest.raises(AssertionError, match="has 0 replies"):
        ScriptedModel(loop=True).complete(ASK)


def test_it_is_a_model_for_every_purpose(desk: Desk) -> None:
    """A memory opened with a model uses it for every purpose, and without one goes by rules."""
    model: Model = ScriptedModel(["[]"], loop=True)
    opened = desk.again(model=model).opened
    for purpose in ("extraction", "summary", "dream"):
        given = opened.model(purpose)
        assert given is not None
        assert given.complete(ASK).text == "[]"
        assert given.name == "scripted:model"
        assert desk.memory.opened.model(purpose) is None
