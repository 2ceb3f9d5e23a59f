"""A real model behind a real server: what it says is not judged, only that everything on the way holds."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from reverie.errors import ModelFailed, UsageError
from reverie.model.access import Access
from reverie.model.asking import Request
from reverie.model.local import LocalServer
from reverie.model.providers import open_model

if TYPE_CHECKING:
    from pathlib import Path

    from reverie.model.asking import Reply

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "facts": {
            "type": "array",
            "maxItems": 2,
            "items": {
                "type": "object",
                "properties": {
                    "text": {"type": "string", "maxLength": 60},
                    "category": {"enum": ["preference", "biography", "event"]},
                },
                "required": ["text", "category"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["facts"],
    "additionalProperties": False,
}
TEXT = "Anna: I moved from Berlin to Lisbon last March and I work as a nurse now."


def ask(server: LocalServer, request: Request, **access: Any) -> Reply:
    """Ask the small model."""
    told = {"base_url": server.base_url, "timeout": 120.0, **access}
    model = open_model("smollm2", Access(**told))
    assert model is not None
    return model.complete(request)


@pytest.mark.slow
def test_it_completes(llama_server: LocalServer) -> None:
    """A question in words gets words, and the tokens are counted by the server."""
    asked = Request(purpose="summary", instructions="Sum up in one sentence.", text=TEXT, max_tokens=40)
    reply = ask(llama_server, asked)
    assert reply.text.strip()
    assert 0 < reply.usage.output_tokens <= 40
    assert reply.usage.input_tokens > 20


@pytest.mark.slow
def test_a_schema_holds_it(llama_server: LocalServer) -> None:
    """Held to a schema, even a model that invents freely answers in its form."""
    asked = Request(
        purpose="extraction", instructions="List facts.", text=TEXT, schema=SCHEMA, max_tokens=400
    )
    reply = ask(llama_server, asked)
    facts = json.loads(reply.text)["facts"]
    assert len(facts) <= 2
    assert all(set(fact) == {"text", "category"} for fact in facts)
    assert all(fact["category"] in {"preference", "biography", "event"} for fact in facts)


@pytest.mark.slow
def test_a_limit_of_tokens_cuts_it_off(llama_server: LocalServer) -> None:
    """A reply that reaches its limit is handed over as unfinished."""
    asked = Request(purpose="summary", instructions="Tell a long story.", text="Begin.", max_tokens=5)
    assert not ask(llama_server, asked).finished


@pytest.mark.slow
def test_it_is_given_up_in_time(llama_server: LocalServer) -> None:
    """An answer that takes too long is given up, and the next question is answered."""
    asked = Request(
        purpose="summary", instructions="Tell a very long story.", text="Begin.", max_tokens=4_000
    )
    with pytest.raises(ModelFailed, match=r"did not finish within 0\.2 s") as raised:
        ask(llama_server, asked, timeout=0.2)
    assert raised.value.kind == "timeout"
    assert ask(llama_server, Request(purpose="summary", instructions="Greet.", text="Hi", max_tokens=5)).text


@pytest.mark.slow
def test_a_wrong_address_is_named(llama_server: LocalServer) -> None:
    """A server that knows nothing at an address is told apart from one that is down."""
    asked = Request(purpose="summary", instructions="Greet.", text="Hi", max_tokens=5)
    with pytest.raises(ModelFailed, match=r"check `model` and models\.base_url") as raised:
        ask(llama_server, asked, base_url=f"{llama_server.base_url}/nowhere")
    assert raised.value.kind == "no_such_model"


@pytest.mark.slow
def test_a_question_too_long_is_named(llama_server: LocalServer) -> None:
    """A question beyond the model's window is the question's own fault, so that it can be split."""
    asked = Request(purpose="extraction", instructions="List facts.", text=TEXT * 1_000, max_tokens=5)
    with pytest.raises(ModelFailed, match="cannot take a question of this length") as raised:
        ask(llama_server, asked)
    assert raised.value.kind == "unusable"


def test_a_file_that_is_no_model(tmp_path: Path) -> None:
    """A missing file is named before anything is loaded."""
    with pytest.raises(UsageError, match="is no file: name a model in the GGUF format"):
        LocalServer(tmp_path / "none.gguf")


def test_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the extra is not installed, the error is the command that installs it."""
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(ModelFailed, match=r"pip install 'reverie\[local\]'"):
        LocalServer(tmp_path / "none.gguf")
