"""The table of cases that every surface has to answer alike."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reverie.context import ContextRequest
from reverie.core.records import Draft, Turn
from reverie.core.where import Where
from reverie.memory import Memory
from reverie.surface.entry_text import entry_json, why_json

Http = tuple[str, str, Mapping[str, Any] | None]
Tool = tuple[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Ready:
    """A workspace with some life in it, and the ids of three entries: liked, promised, hidden."""

    home: Path
    tea: str
    quote: str
    hidden: str

    def copied(self, where: str) -> Path:
        """Return a copy of the workspace, for one surface to change."""
        target = self.home / "root" / where
        shutil.copytree(self.home / "root" / "ready", target)
        return target


@dataclass(frozen=True)
class Case:
    """One thing to do, as each surface does it; `tool` is None where MCP does not offer it, on purpose.

    `seen` returns from a result, as JSON, what has to be the same.
    """

    name: str
    python: Callable[[Memory, Ready], Any]
    words: Callable[[Ready], Sequence[str]]
    tool: Callable[[Ready], Tool] | None
    http: Callable[[Ready], Http]
    seen: Callable[[Any], Any] = lambda value: value


def entries(value: Any) -> Any:
    """Return a list of entries, whether it stands in an object or alone."""
    return value["entries"] if isinstance(value, Mapping) else value


def part(*names: str) -> Callable[[Any], Any]:
    """Return what picks these members of an object."""
    return lambda value: {name: value[name] for name in names}


def hits(value: Any) -> Any:
    """Return what has to be the same of hits; a surface may leave out what is empty."""
    return [(one["id"], one["kind"], one["text"], one["day"], one["standing"]) for one in value["hits"]]


def promises(value: Any) -> Any:
    """Return what has to be the same of promises."""
    found = value["promises"] if isinstance(value, Mapping) else value
    return [(one["id"], one["text"], one["due"], one["part"], one["shown"]) for one in found]


def one_entry(value: Any) -> Any:
    """Return an entry, whether it stands in an object or alone, without its history."""
    found = value.get("entry", value) if isinstance(value.get("entry", value), Mapping) else value
    return {name: told for name, told in found.items() if name != "history"}


def dues(memory: Memory, _: Ready) -> Any:
    """Return the promises as JSON."""
    return [entry_json(one.state) | {"part": one.part, "shown": one.shown} for one in memory.due().lines]


CASES = [
    Case("recall", lambda memory, _: memory.recall("what does Dana prefer?"),
         lambda _: ["recall", "what does Dana prefer?"],
         lambda _: ("memory_recall", {"query": "what does Dana prefer?"}),
         lambda _: ("POST", "/recall", {"query": "what does Dana prefer?"}), hits),
    Case("recall filtered", lambda memory, _: memory.recall("quote tea", k=1, where=Where(category="preference")),
         lambda _: ["recall", "quote tea", "-k", "1", "--category", "preference"],
         lambda _: ("memory_recall", {"query": "quote tea", "limit": 1, "category": "preference"}),
         lambda _: ("POST", "/recall", {"query": "quote tea", "limit": 1, "category": "preference"}), hits),
    Case("recall of nothing", lambda memory, _: memory.recall("submarine"),
         lambda _: ["recall", "submarine"],
         lambda _: ("memory_recall", {"query": "submarine"}),
         lambda _: ("POST", "/recall", {"query": "submarine"}), hits),
    Case("list", lambda memory, _: [entry_json(one) for one in memory.list()],
         lambda _: ["list"], lambda _: ("memory_list", {}), lambda _: ("GET", "/entries", None), entries),
    Case("list filtered", lambda memory, _: [entry_json(one) for one in memory.list(Where(tag="drink"))],
         lambda _: ["list", "--tag", "drink"], lambda _: ("memory_list", {"tag": "drink"}),
         lambda _: ("GET", "/entries?tag=drink", None), entries),
    Case("get", lambda memory, ready: entry_json(memory.get(ready.tea)),
         lambda ready: ["get", ready.tea], lambda ready: ("memory_get", {"id": ready.tea}),
         lambda ready: ("GET", f"/entries/{ready.tea}", None), one_entry),
    Case("get by a prefix", lambda memory, ready: entry_json(memory.get(ready.tea[:9])),
         lambda ready: ["get", ready.tea[:9]], lambda ready: ("memory_get", {"id": ready.tea[:9]}),
         lambda ready: ("GET", f"/entries/{ready.tea[:9]}", None), one_entry),
    Case("get nothing", lambda memory, _: entry_json(memory.get("ffffffffffffffff")),
         lambda _: ["get", "ffffffffffffffff"], lambda _: ("memory_get", {"id": "ffffffffffffffff"}),
         lambda _: ("GET", "/entries/ffffffffffffffff", None)),
    Case("why", lambda memory, ready: why_json(memory.why(ready.tea)),
         lambda ready: ["why", ready.tea], lambda ready: ("memory_get", {"id": ready.tea, "source": True}),
         lambda ready: ("GET", f"/why/{ready.tea}", None)),
    Case("due", dues, lambda _: ["due"], lambda _: ("memory_due", {}), lambda _: ("GET", "/due", None), promises),
    Case("context", lambda memory, _: memory.context(ContextRequest(query="tea", budget=3000)),
         lambda _: ["context", "tea", "--budget", "3000"],
         lambda _: ("memory_context", {"query": "tea", "budget": 3000}),
         lambda _: ("POST", "/context", {"query": "tea", "budget": 3000}), part("ids", "left_out", "cut")),
    Case("context too small", lambda memory, _: memory.context(ContextRequest(budget=1)),
         lambda _: ["context", "--budget", "1"], lambda _: ("memory_context", {"budget": 1}),
         lambda _: ("POST", "/context", {"budget": 1})),
    Case("status", lambda memory, _: memory.status(), lambda _: ["status"], lambda _: ("memory_status", {}),
         lambda _: ("GET", "/status", None),
         part("agent", "entries", "current", "promises", "pins", "queued", "sessions", "problems", "quarantine")),
    Case("remember", lambda memory, _: memory.remember("Mira has a cat", Draft(about="Mira", tags=("pet",), sig=0.7)),
         lambda _: ["remember", "Mira has a cat", "--about", "Mira", "--tag", "pet", "--sig", "0.7", "--by", "agent"],
         lambda _: ("memory_remember", {"text": "Mira has a cat", "about": "Mira", "tags": "pet", "significance": 0.7}),
         lambda _: ("POST", "/entries", {"text": "Mira has a cat", "about": "Mira", "tags": ["pet"], "sig": 0.7}),
         part("queued", "repeated", "asked", "refused")),
    Case("remember under a key again", lambda memory, _: memory.remember("User likes tea", Draft(key="k")),
         lambda _: ["remember", "User likes tea", "--key", "k", "--by", "agent"],
         lambda _: ("memory_remember", {"text": "User likes tea", "key": "k"}),
         lambda _: ("POST", "/entries", {"text": "User likes tea", "key": "k"}), part("id", "repeated")),
    Case("remember another text under the key", lambda memory, _: memory.remember("Else", Draft(key="k")),
         lambda _: ["remember", "Else", "--key", "k", "--by", "agent"],
         lambda _: ("memory_remember", {"text": "Else", "key": "k"}),
         lambda _: ("POST", "/entries", {"text": "Else", "key": "k"})),
    Case("remember blanks", lambda memory, _: memory.remember("   "), lambda _: ["remember", "   "],
         lambda _: ("memory_remember", {"text": "   "}), lambda _: ("POST", "/entries", {"text": "   "})),
    Case("remember with a wrong date", lambda memory, _: memory.remember("Pay", Draft(due="someday")),
         lambda _: ["remember", "Pay", "--due", "someday"],
         lambda _: ("memory_remember", {"text": "Pay", "due": "someday"}),
         lambda _: ("POST", "/entries", {"text": "Pay", "due": "someday"})),
    Case("pin a stranger's words", lambda memory, _: memory.remember("Obey", Draft(origin="web", pin=True)),
         lambda _: ["remember", "Obey", "--by", "web", "--pin"],
         lambda _: ("memory_remember", {"text": "Obey", "origin": "web", "pin": True}),
         lambda _: ("POST", "/entries", {"text": "Obey", "origin": "web", "pin": True})),
    Case("note", lambda memory, _: {"note": memory.note("Deployed v2.")}, lambda _: ["note", "Deployed v2."],
         lambda _: ("memory_note", {"text": "Deployed v2."}), lambda _: ("POST", "/notes", {"text": "Deployed v2."})),
    Case("correct", lambda memory, ready: memory.correct(ready.tea, "User likes coffee", why="change"),
         lambda ready: ["correct", ready.tea, "User likes coffee", "--why", "change"],
         lambda ready: ("memory_correct", {"id": ready.tea, "text": "User likes coffee", "why": "change"}),
         lambda ready: ("POST", f"/entries/{ready.tea}/correct", {"text": "User likes coffee", "why": "change"}),
         part("queued", "repeated", "refused")),
    Case("feedback", lambda memory, ready: {"id": memory.feedback(ready.tea, "helpful"), "status": "QUEUED"},
         lambda ready: ["feedback", ready.tea, "helpful"],
         lambda ready: ("memory_feedback", {"id": ready.tea, "value": "helpful"}),
         lambda ready: ("POST", f"/entries/{ready.tea}/feedback", {"value": "helpful"}), part("status")),
    Case("feedback that is none", lambda memory, ready: memory.feedback(ready.tea, "great"),
         lambda ready: ["feedback", ready.tea, "great"],
         lambda ready: ("memory_feedback", {"id": ready.tea, "value": "great"}),
         lambda ready: ("POST", f"/entries/{ready.tea}/feedback", {"value": "great"})),
    Case("done", lambda memory, ready: (memory.done(ready.quote), entry_json(memory.get(ready.quote)))[1],
         lambda ready: ["done", ready.quote], lambda ready: ("memory_done", {"id": ready.quote}),
         lambda ready: ("POST", f"/entries/{ready.quote}/done", {}), one_entry),
    Case("done with what was never promised", lambda memory, ready: memory.done(ready.tea),
         lambda ready: ["done", ready.tea], lambda ready: ("memory_done", {"id": ready.tea}),
         lambda ready: ("POST", f"/entries/{ready.tea}/done", {})),
    Case("forget", lambda memory, ready: memory.forget([ready.tea]), lambda ready: ["forget", ready.tea],
         lambda ready: ("memory_forget", {"ids": [ready.tea]}), lambda ready: ("POST", "/forget", {"ids": [ready.tea]}),
         part("ids", "places")),
    Case("forget nothing that is", lambda memory, _: memory.forget(["fffe"]), lambda _: ["forget", "fffe"],
         lambda _: ("memory_forget", {"ids": ["fffe"]}), lambda _: ("POST", "/forget", {"ids": ["fffe"]})),
    Case("pin", lambda memory, ready: (memory.pin(ready.tea), entry_json(memory.get(ready.tea)))[1],
         lambda ready: ["pin", ready.tea], None, lambda ready: ("POST", f"/entries/{ready.tea}/pin", {}), one_entry),
    Case("judge",
         lambda memory, ready: (memory.judge(ready.tea, 0.3, why="aside"), entry_json(memory.get(ready.tea)))[1],
         lambda ready: ["judge", ready.tea, "0.3", "--why", "aside"], None,
         lambda ready: ("POST", f"/entries/{ready.tea}/judge", {"value": 0.3, "why": "aside"}), one_entry),
    Case("used", lambda memory, ready: {"used": memory.used([ready.tea, ready.quote])},
         lambda ready: ["used", ready.tea, ready.quote], None,
         lambda ready: ("POST", "/used", {"ids": [ready.tea, ready.quote]})),
    Case("drain", lambda memory, _: memory.drain(), lambda _: ["drain"], None, lambda _: ("POST", "/drain", {}),
         part("stored", "feedback", "refused", "repeated", "problems")),
    Case("extract", lambda memory, _: memory.extract(), lambda _: ["extract"], None,
         lambda _: ("POST", "/extract", {}), part("entries", "spans", "refused", "problems")),
    Case("digest", lambda memory, _: memory.digest(), lambda _: ["digest"], None, lambda _: ("POST", "/digest", {}),
         part("changed", "sections", "problems")),
    Case("publish", lambda memory, _: memory.publish(), lambda _: ["publish"], None,
         lambda _: ("POST", "/publish", {}), part("path", "changed", "characters", "left_out")),
    Case("dream too early", lambda memory, _: memory.dream(), lambda _: ["dream"], None,
         lambda _: ("POST", "/dream", {}), part("result", "reason", "runs")),
    Case("lint", lambda memory, _: memory.lint(), lambda _: ["lint"], None, lambda _: ("POST", "/lint", {}),
         part("pages", "findings", "refused")),
    Case("exclude", lambda memory, _: {"entries": [entry_json(one) for one in memory.exclude("tea", preview=True)]},
         lambda _: ["exclude", "tea", "--preview"], None,
         lambda _: ("POST", "/exclusions", {"topic": "tea", "preview": True}), entries),
    Case("erase", lambda memory, ready: memory.erase([ready.tea]), lambda ready: ["erase", ready.tea, "--yes"], None,
         lambda ready: ("POST", "/erase", {"ids": [ready.tea]}),
         lambda value: part("ids", "leftovers")(value.get("result", value))),
    Case("undo nothing that ran", lambda memory, _: memory.undo("dream:20260701-030000"),
         lambda _: ["undo", "dream:20260701-030000"], None, lambda _: ("POST", "/runs/dream:20260701-030000/undo", {})),
    Case("diff of nothing", lambda memory, _: memory.diff("dream:20260701-030000"),
         lambda _: ["diff", "dream:20260701-030000"], None,
         lambda _: ("GET", "/runs/dream:20260701-030000/diff", None)),
    Case("log", lambda memory, _: memory.log(), lambda _: ["log"], None, lambda _: ("GET", "/runs", None),
         lambda value: value["runs"] if isinstance(value, Mapping) else value),
    Case("review", lambda memory, _: memory.review(), lambda _: ["review", "list"], None,
         lambda _: ("GET", "/review", None), lambda value: value["items"] if isinstance(value, Mapping) else value),
    Case("check", lambda memory, _: memory.check(), lambda _: ["check"], None, lambda _: ("GET", "/check", None),
         lambda value: value["findings"] if isinstance(value, Mapping) else value),
    Case("capture",
         lambda memory, _: memory.capture("s9", Turn(role="user", content="Hi", at=memory.opened.ws.clock(), id="t")),
         lambda _: ["capture", "s9", "user", "Hi", "--id", "t"], None,
         lambda _: ("POST", "/turns", {"session": "s9", "role": "user", "content": "Hi", "id": "t"}),
         part("id", "n", "redacted", "repeated")),
    Case("end a session that never was", lambda memory, _: {"due": memory.end("nobody")}, lambda _: ["end", "nobody"],
         None, lambda _: ("POST", "/sessions/end", {"session": "nobody"}),
         lambda value: value.get("due", value)),
    Case("take back nothing that was", lambda memory, _: memory.take_back("ffff"), lambda _: ["take-back", "ffff"],
         None, lambda _: ("POST", "/events/ffff/take-back", {})),
]  # fmt: skip
