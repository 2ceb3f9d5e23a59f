"""The store in a graph that LangGraph compiled: given to its nodes and its tools."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Any

import pytest
from hosts import said

pytest.importorskip("langgraph.graph", reason="LangGraph is not installed")

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedStore, ToolNode, tools_condition
from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore

from reverie.adapters.langgraph import ReverieStore

if TYPE_CHECKING:
    from collections.abc import Callable

    from langgraph.graph.state import CompiledStateGraph

    from reverie import Memory

DANA = ("users", "dana")


def graph(memory: Memory, begins: Callable[[], None] = list) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Return an agent that notes what it is told with a tool, and looks up in a node what is known."""

    @tool
    async def note(key: str, text: str, store: Annotated[BaseStore, InjectedStore()]) -> str:
        """Note something about Dana."""
        begins()
        await store.aput(DANA, key, {"text": text})
        return f"noted {key}"

    async def looks(state: MessagesState, runtime: Runtime) -> dict[str, Any]:
        last = state["messages"][-1]
        assert runtime.store is not None
        if isinstance(last, HumanMessage) and last.text.startswith("note "):
            _, key, text = last.text.split(" ", 2)
            call = {"name": "note", "args": {"key": key, "text": text}, "id": f"call-{key}"}
            return {"messages": [AIMessage("", tool_calls=[call])]}
        found = await runtime.store.asearch(DANA, query=last.text, limit=1)
        return {"messages": [AIMessage("; ".join(item.value["text"] for item in found))]}

    made = StateGraph(MessagesState)
    made.add_node("agent", looks)
    made.add_node("tools", ToolNode([note]))
    made.add_edge(START, "agent")
    made.add_conditional_edges("agent", tools_condition, {"tools": "tools", END: END})
    made.add_edge("tools", END)
    return made.compile(store=ReverieStore(memory))


async def asked(agent: CompiledStateGraph[Any, Any, Any, Any], *words: str) -> list[Any]:
    """Ask an agent one thing after another, and return its last messages."""
    return [(await agent.ainvoke({"messages": [HumanMessage(one)]}))["messages"][-1] for one in words]


def test_nodes_and_tools_share_the_memory(memory: Memory) -> None:
    """What a tool puts a node of a later run finds, and so does the memory itself; what is forgotten neither finds."""
    agent = graph(memory)
    first, second, third = asyncio.run(
        asked(
            agent,
            "note tea Dana drinks oolong in the morning",
            "note city Dana moved to Lisbon",
            "what does she drink in the morning?",
        )
    )
    assert (type(first), first.content, second.content) == (ToolMessage, "noted tea", "noted city")
    assert third.content == "Dana drinks oolong in the morning"
    (text,) = said(memory, "Lisbon")
    assert "Dana moved to Lisbon" in text
    memory.forget([memory.remember("Dana drinks oolong in the morning").id])
    (last,) = asyncio.run(asked(agent, "what does she drink in the morning?"))
    assert "oolong" not in last.content
    assert not [text for text in said(memory, "oolong") if "oolong" in text]


def test_many_runs_at_once_lose_nothing(memory: Memory) -> None:
    """Twenty runs of one graph that note at the same time are all found by it, and after another opens the folder."""
    agent = graph(memory)

    async def story() -> list[Any]:
        return await asyncio.gather(*(asked(agent, f"note n{n} Fact number {n}") for n in range(20)))

    assert sorted(one[0].content for one in asyncio.run(story())) == sorted(f"noted n{n}" for n in range(20))
    again = ReverieStore(memory)
    assert {item.key for item in again.search(DANA, limit=50)} == {f"n{n}" for n in range(20)}


def test_a_stopped_run_leaves_what_it_put(memory: Memory) -> None:
    """A run that is cancelled while its tool puts a value has put it whole, and the next run goes on."""

    async def story() -> list[Any]:
        begun = asyncio.Event()
        agent = graph(memory, begun.set)
        task = asyncio.ensure_future(asked(agent, "note tea Dana drinks oolong"))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return await asked(agent, "note city Dana moved to Lisbon", "where did Dana move?")

    assert asyncio.run(story())[-1].content == "Dana moved to Lisbon"
    assert {item.key for item in ReverieStore(memory).search(DANA)} == {"tea", "city"}
    assert [one for one in memory.check() if one.severity == "error"] == []
