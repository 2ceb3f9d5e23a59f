"""Anthropic's tool runner over HTTP, streamed: the memory tool against a model's API on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from scripted_api import ScriptedApi, text, use

anthropic = pytest.importorskip("anthropic", reason="the extra `models` is not installed")

from reverie.adapters.anthropic_memory import memory_tool  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reverie import Memory


@pytest.fixture
def api() -> Iterator[ScriptedApi]:
    """Return a model that answers by a script."""
    made = ScriptedApi()
    yield made
    made.close()


def test_a_streamed_conversation_keeps_its_files(memory: Memory, api: ScriptedApi) -> None:
    """The runner streams messages, carries commands out and sends the answers, without lines that are forgotten."""
    api.script += [
        [text("I look."), use("memory", command="view", path="/memories")],
        [
            use(
                "memory",
                command="create",
                path="/memories/a.md",
                file_text="Likes macadamia nuts\nLikes tea\n",
            )
        ],
        [use("memory", command="view", path="/memories/../secrets")],
        [text("Noted.")],
    ]
    tool = memory_tool(memory)
    with anthropic.Anthropic(base_url=api.address, api_key="k", max_retries=0) as client:

        def told() -> tuple[str, list[str]]:
            before = len(api.requests) + 1
            runner = client.beta.messages.tool_runner(
                model="claude-test",
                max_tokens=99,
                tools=[tool],
                messages=[{"role": "user", "content": "I like tea."}],
                stream=True,
            )
            words = "".join(one for stream in runner for one in stream.text_stream)
            # The API keeps what was sent before: each request has the answers alone.
            return words, [
                part["content"]
                for request in api.requests[before:]
                for part in request["messages"][-1]["content"]
                if part["type"] == "tool_result"
            ]

        words, answers = told()
        assert words == "I look.Noted."
        assert answers[0].startswith("Here're the files and directories")
        assert answers[1] == "File created successfully at: /memories/a.md"
        assert "would escape" in answers[2]
        memory.forget([memory.remember("Likes macadamia nuts").id])
        api.script += [[use("memory", command="view", path="/memories/a.md")], [text("I see.")]]
        words, answers = told()
    assert words == "I see."
    assert "tea" in answers[0]
    assert "macadamia" not in answers[0]
