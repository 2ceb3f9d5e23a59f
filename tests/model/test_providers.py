"""Models by name, against a real server that answers or misbehaves: what comes back, and what each failure says."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
import speaking
from speaking import Server, fails, says, sends

from reverie.errors import ModelFailed
from reverie.model.access import Access
from reverie.model.asking import Request
from reverie.model.failures import failed
from reverie.model.providers import open_model

if TYPE_CHECKING:
    from speaking import Act

    from reverie.model.asking import Reply

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"facts": {"type": "array", "items": {"type": "string"}}},
    "required": ["facts"],
    "additionalProperties": False,
}
ASK = Request(purpose="extraction", instructions="Read.", text="Dana likes tea", schema=SCHEMA)
KEY = "sk-very-secret"


def ask(server: Server, *, name: str = "openai:small", request: Request = ASK, **access: Any) -> Reply:
    """Ask the server once."""
    told = {"base_url": server.url, "key": KEY, "timeout": 20.0, **access}
    model = open_model(name, Access(**told))
    assert model is not None
    return model.complete(request)


def test_a_reply_comes_back_as_it_was_written() -> None:
    """The text is the model's own, fences and all, with the tokens that its server counted."""
    with Server(says("```json\n{}\n``` ")) as server:
        reply = ask(server)
    assert reply.text == "```json\n{}\n``` "
    assert (reply.usage.calls, reply.usage.input_tokens, reply.usage.output_tokens) == (1, 11, 7)
    assert reply.finished
    assert server.keys == [f"Bearer {KEY}"]


def test_what_is_sent() -> None:
    """Instructions are the system's words and the text is the user's; the schema constrains the reply."""
    with Server(says("{}")) as server:
        ask(server, name="small")
        ask(server, request=Request(purpose="summary", instructions="Sum up.", text="x", max_tokens=77))
    first, second = server.asked
    assert first["messages"] == [
        {"role": "system", "content": "Read."},
        {"role": "user", "content": "Dana likes tea"},
    ]
    assert first["model"] == "small"
    assert first["response_format"]["type"] == "json_schema"
    assert first["response_format"]["json_schema"]["schema"] == SCHEMA
    assert "response_format" not in second
    assert second["max_completion_tokens"] == 77


def test_a_reply_cut_off_says_so() -> None:
    """A reply that stopped at the limit of tokens is handed over as unfinished."""
    with Server(says('{"facts": ["Dana', finish="length")) as server:
        assert not ask(server).finished


BAD: dict[str, tuple[Act, str, str]] = {
    "a wrong key": (fails(401, code="invalid_api_key"), "auth", "refused the key (HTTP 401, invalid_api_key)"),
    "a key without rights": (fails(403), "auth", "refused the key (HTTP 403)"),
    "a wrong name": (fails(404, code="model_not_found"), "no_such_model", "is not known to its provider"),
    "too many questions": (fails(429), "limit", "takes no more questions for now (HTTP 429)"),
    "no credit": (fails(429, code="insufficient_quota"), "limit", "has no credit left"),
    "an error of the server": (fails(500), "down", "is out of order at its provider (HTTP 500)"),
    "overload": (fails(503), "down", "is out of order at its provider (HTTP 503)"),
    "a broken stream": (speaking.breaks_off, "down", "broke off its answer"),
    "a page": (speaking.page, "down", "answers with a web page"),
    "other JSON": (sends(b'{"ok": true}'), "down", "in a form that its API does not have"),
    "no JSON": (sends(b"hello", kind="text/plain"), "down", "in a form that its API does not have"),
    "nothing": (sends(b""), "down", "in a form that its API does not have"),
    "an empty reply": (says("  \n"), "unusable", "gave an empty answer"),
    "no reply": (says(None), "unusable", "gave an empty answer"),
    "only thoughts": (says("", finish="length"), "unusable", "reached its limit of tokens before it answered"),
    "a refusal": (says(None, refusal="I cannot help with that"), "refused", "refused to answer"),
    "a filter": (says("", finish="content_filter"), "refused", "refused to answer"),
    "a question refused": (fails(400, code="bad_schema"), "refused", "does not accept the question"),
    "a question too long": (fails(400, code="context_length_exceeded"), "unusable", "of this length"),
    "ten megabytes": (speaking.floods, "unusable", "sent more than 4,000,000 bytes"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_each_failure_has_its_kind_and_remedy(case: str) -> None:
    """Whatever a provider does, the error says which kind it is and what to do, and repeats no key and no prompt."""
    act, kind, words = BAD[case]
    with Server(act) as server, pytest.raises(ModelFailed) as raised:
        ask(server, name="openai:small")
    message = str(raised.value)
    assert raised.value.kind == kind
    assert words in message
    assert ": " in message.replace("openai:small", "")  # the remedy stands behind the colon
    assert "secret" not in message
    assert "tea" not in message
    assert len(server.asked) == 1  # trying again is left to the rule that counts it


@pytest.mark.parametrize(
    "data",
    [
        "null", "1", "[]", '"text"', "{}", '{"choices": null}', '{"choices": []}', '{"choices": 3}', '{"choices": [3]}',
        '{"choices": [{}]}', '{"choices": [{"message": null}]}', '{"choices": [{"message": {"content": 7}}]}',
        '{"choices": [{"message": {"content": ["x"]}}], "usage": "many"}', '{"error": {"message": "odd"}}',
        '{"choices": [{"message": {"role": "assistant", "content": "{}"}, "finish_reason": "stop"}], "usage": 3}',
    ],
)  # fmt: skip
def test_an_answer_of_another_form(data: str) -> None:
    """JSON that is no answer, whatever it is, ends as a failure with a remedy and never as another error."""
    with Server(sends(data.encode())) as server, pytest.raises(ModelFailed) as raised:
        ask(server)
    assert raised.value.kind in {"down", "unusable"}


@pytest.mark.parametrize("act", [speaking.hangs, speaking.trickles])
def test_a_slow_answer_is_given_up(act: Act) -> None:
    """The time counts for the whole answer: a server that sends a byte now and then gains nothing by it."""
    with Server(act) as server, pytest.raises(ModelFailed, match=r"did not finish within 0\.5 s") as raised:
        ask(server, timeout=0.5)
    assert raised.value.kind == "timeout"


def test_the_providers_wish_is_kept() -> None:
    """Retry-After comes with the error, in seconds."""
    with Server(fails(429, retry_after="77")) as server, pytest.raises(ModelFailed) as raised:
        ask(server)
    assert raised.value.retry_after == 77


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("openai:gpt-5-mini", "auth", "OPENAI_API_KEY"),
        ("anthropic:claude-haiku-4-5", "auth", "ANTHROPIC_API_KEY"),
        ("nowhere:model", "no_such_model", "write it as provider:name"),
        ("gpt-5-mini", "no_such_model", "write it as provider:name"),
    ],
)
def test_a_name_without_what_it_needs(
    name: str, kind: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A missing key or a name that means nothing is told before anything is sent."""
    for variable in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    model = open_model(name)
    assert model is not None
    with pytest.raises(ModelFailed, match=words) as raised:
        model.complete(ASK)
    assert raised.value.kind == kind


@pytest.mark.parametrize(
    ("base_url", "words"),
    [
        ("http://someone:password@127.0.0.1:9/v1", "see that the server at 127.0.0.1:9 runs"),
        ("127.0.0.1:8080", "models.base_url is no address"),
    ],
)
def test_nobody_at_the_address(base_url: str, words: str) -> None:
    """An address where nothing listens is named by host and port alone."""
    model = open_model("openai:small", Access(base_url=base_url, timeout=20))
    assert model is not None
    with pytest.raises(ModelFailed, match=words) as raised:
        model.complete(ASK)
    assert raised.value.kind == "down"
    assert "password" not in str(raised.value)


def test_the_openai_key_stays_with_openai(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key for OpenAI in the environment is not sent to a server of somebody else's."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with Server(says("{}")) as server:
        ask(server, key="")
    assert KEY not in server.keys[0]


def test_a_missing_package_names_the_extra() -> None:
    """Without the package of a provider, the error is the command that installs it."""
    access = Access()
    gone = ImportError('you can use the `google` optional group: `pip install "pydantic-ai-slim[google]"`')
    assert str(failed(gone, "google:g", access=access)).endswith("pip install 'pydantic-ai-slim[google]'")
    ours = ImportError('`pip install "pydantic-ai-slim[openai]"`')
    assert str(failed(ours, "openai:g", access=access)).endswith("pip install 'reverie[models]'")


def test_without_pydantic_ai(monkeypatch: pytest.MonkeyPatch) -> None:
    """While the extra is not installed, a model's first question says so."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "pydantic_ai"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pydantic_ai", None)
    model = open_model("openai:small")
    assert model is not None
    with pytest.raises(ModelFailed, match=r"pip install 'reverie\[models\]'") as raised:
        model.complete(ASK)
    assert raised.value.kind == "missing"


def test_none_is_no_model() -> None:
    """`none`, and nothing, is no model."""
    assert open_model("none") is None
    assert open_model("") is None


def test_a_model_answers_inside_an_event_loop() -> None:
    """A host that calls from within its own event loop gets its answer, too."""
    with Server(says("{}")) as server:

        async def host() -> str:
            return ask(server).text

        assert asyncio.run(host()) == "{}"


def test_naming_a_model_imports_nothing() -> None:
    """Until the first question nothing of a provider's library is loaded."""
    code = (
        "import sys; from reverie.model.providers import open_model; open_model('openai:x');"
        "assert not {'pydantic_ai', 'openai', 'httpx2', 'pydantic'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_an_access_shows_no_key() -> None:
    """Printing how a model is reached leaves its key out."""
    assert KEY not in repr(Access(key=KEY))
