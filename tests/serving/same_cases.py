"""The table of cases that every surface has to answer alike: what a case is, and those of reading and writing."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from reverie.context import ContextRequest
from reverie.core.days import parse_instant
from reverie.core.records import Draft
from reverie.core.where import Where
from reverie.memory import Memory
from reverie.surface.entry_text import due_json, entry_json, why_json

Http = tuple[str, str, Mapping[str, Any] | bytes | None]
Tool = tuple[str, Mapping[str, Any]]

SAID_AT = "2026-06-01T10:00:00Z"
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
FLAGS = {"zone": "UTC", "embedder": "none", "mcp.host_model": "true"}


@dataclass(frozen=True)
class Ready:
    """A workspace with some life in it, and the ids of what is in it.

    `tea` is an entry, `quote` a promise, `hidden` out of sight, `gone` forgotten; `event` happened to one, `turn` is a
    hit that is no entry, `run` a dream, `item` waits for a word.
    """

    home: Path
    tea: str
    quote: str
    hidden: str
    gone: str
    event: str
    turn: str
    run: str
    item: str

    @property
    def talk(self) -> Path:
        """A conversation to take in."""
        return self.home / "talk.jsonl"

    def copied(self, where: str, case: Case) -> Path:
        """Return a copy of the workspace as a case wants it, for one surface to change."""
        target = self.home / "root" / where
        shutil.copytree(self.home / "root" / "ready", target)
        case.before(target)
        return target


@dataclass(frozen=True)
class Case:
    """One thing to do, as each surface does it; `tool` is None where MCP does not offer it, on purpose.

    `seen` returns from a result, as JSON, what has to be the same. `before` is done to the workspace first; in one of a
    `stranger` nobody here has trusted it; on a `full` disk nothing can be written. `outside` are settings in which `{}`
    is the address of a provider that refuses everything; what `told` names is raised then, and told in the answer.
    """

    name: str
    python: Callable[[Memory, Ready], Any]
    words: Callable[[Ready], Sequence[str]]
    tool: Callable[[Ready], Tool] | None
    http: Callable[[Ready], Http]
    seen: Callable[[Any], Any] = lambda value: value
    before: Callable[[Path], None] = lambda _root: None
    error: str = ""
    stranger: bool = False
    full: bool = False
    outside: Mapping[str, str] = field(default_factory=dict)
    told: str = ""

    def flags(self, refusing: str) -> dict[str, str]:
        """Return the settings for every surface, `refusing` the address of the provider."""
        return FLAGS | {name: value.replace("{}", refusing) for name, value in self.outside.items()}


def entries(value: Any) -> Any:
    """Return a list of entries, whether it stands in an object or alone."""
    return value["entries"] if isinstance(value, Mapping) else value


def part(*names: str) -> Callable[[Any], Any]:
    """Return what picks these members of an object."""
    return lambda value: {name: value[name] for name in names}


def hits(value: Any) -> Any:
    """Return what has to be the same of hits; a surface may leave out what is empty."""
    return [(one["id"], one["kind"], one["text"], one["day"], one["standing"]) for one in value["hits"]]


def some_hits(value: Any) -> Any:
    """Return what has to be the same of hits that have to be there."""
    assert value["hits"]
    return hits(value)


def promises(value: Any) -> Any:
    """Return what has to be the same of promises."""
    return value["promises"] if isinstance(value, Mapping) else value


def one_entry(value: Any) -> Any:
    """Return an entry, whether it stands in an object or alone, without its history."""
    found = value.get("entry", value) if isinstance(value.get("entry", value), Mapping) else value
    return {name: told for name, told in found.items() if name != "history"}


def dues(memory: Memory, _: Ready) -> Any:
    """Return the promises as JSON."""
    return [due_json(one) for one in memory.due().lines]


def found(memory: Memory, where: Where) -> Any:
    """Return the entries that a filter admits as JSON, which are some."""
    told = [entry_json(one) for one in memory.list(where)]
    assert told, where
    return told


def remembered_secret(value: Any) -> Any:
    """Return the kinds that were taken out, of which there is one, and what else is the same."""
    assert list(value["redacted"]) == ["github-token"]
    return part("queued", "repeated", "refused", "redacted")(value)


def remember_whole(memory: Memory, ready: Ready) -> Any:
    """Remember with whatever a draft may say."""
    draft = Draft(
        stare=(0.8, None, 0.3, None, None), conf=0.9, scope="team", origin="user", status="discussed",
        evidence="we meet",
        at=datetime(2026, 6, 1, 10, tzinfo=UTC), since="2026", until="2031", who="Bo", session="s1",
        supersedes=(ready.tea,),
    )  # fmt: skip
    return memory.remember("Dana meets Bo", draft)


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
    Case("list by another name of a category", lambda memory, _: found(memory, Where(category="user_preference")),
         lambda _: ["list", "--category", "user_preference"], lambda _: ("memory_list",
         {"category": "user_preference"}),
         lambda _: ("GET", "/entries?category=user_preference", None), entries),
    Case("list what a person wrote by such a name", lambda memory, _: found(memory, Where(category="episode",
         include_faded=True)),
         lambda _: ["list", "--category", "episode", "--faded"], lambda _: ("memory_list", {"category": "episode",
         "faded": "true"}),
         lambda _: ("GET", "/entries?category=episode&faded=true", None), entries),
    Case("recall what a person wrote by such a name",
         lambda memory, _: memory.recall("Bo house", where=Where(category="Episode")),
         lambda _: ["recall", "Bo house", "--category", "Episode"],
         lambda _: ("memory_recall", {"query": "Bo house", "category": "Episode"}),
         lambda _: ("POST", "/recall", {"query": "Bo house", "category": "Episode"}), some_hits),
    Case("recall by another name of a category",
         lambda memory, _: memory.recall("Dana tea", where=Where(category="User Preference")),
         lambda _: ["recall", "Dana tea", "--category", "User Preference"],
         lambda _: ("memory_recall", {"query": "Dana tea", "category": "User Preference"}),
         lambda _: ("POST", "/recall", {"query": "Dana tea", "category": "User Preference"}), some_hits),
    Case("recall in a category that is a slip", lambda memory, _: memory.recall("tea",
         where=Where(category="preferense")),
         lambda _: ["recall", "tea", "--category", "preferense"],
         lambda _: ("memory_recall", {"query": "tea", "category": "preferense"}),
         lambda _: ("POST", "/recall", {"query": "tea", "category": "preferense"}), part("hint", "behind")),
    Case("list filtered every way",
         lambda memory, _: found(memory, Where(about="Dana", who="", scope="private", since="2026-01-01",
                                               until="2999-01-01", include_previous=True, include_faded=True)),
         lambda _: ["list", "--about", "Dana", "--scope", "private", "--since", "2026-01-01", "--until", "2999-01-01",
                    "--previous", "--faded"],
         lambda _: ("memory_list", {"about": "Dana", "scope": "private", "since": "2026-01-01", "until": "2999-01-01",
                                    "previous": "true", "faded": True}),
         lambda _: ("GET", "/entries?about=Dana&scope=private&since=2026-01-01&until=2999-01-01&previous=true&faded=1",
                    None), entries),
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
         part("queued", "repeated", "asked", "refused", "hint", "due")),
    Case("remember in a category of one's own", lambda memory, _: memory.remember("Tea", Draft(category="preferense")),
         lambda _: ["remember", "Tea", "--category", "preferense"],
         lambda _: ("memory_remember", {"text": "Tea", "category": "preferense"}),
         lambda _: ("POST", "/entries", {"text": "Tea", "category": "preferense"}), part("queued", "hint")),
    Case("remember a secret", lambda memory, _: memory.remember(f"The token is {SECRET}"),
         lambda _: ["remember", f"The token is {SECRET}", "--by", "agent"],
         lambda _: ("memory_remember", {"text": f"The token is {SECRET}"}),
         lambda _: ("POST", "/entries", {"text": f"The token is {SECRET}"}), remembered_secret),
    Case("remember whole", remember_whole,
         lambda ready: ["remember", "Dana meets Bo", "--stare", "0.8,,0.3,,", "--conf", "0.9", "--scope", "team",
         "--by",
                        "user", "--status", "discussed", "--at", "2026-06-01T10:00:00Z", "--from", "2026", "--evidence",
                        "we meet", "--who", "Bo", "--session", "s1", "--supersedes", ready.tea, "--until", "2031"],
         lambda ready: ("memory_remember", {"text": "Dana meets Bo", "stare": "0.8,,0.3,,", "confidence": "0.9",
                        "scope": "team", "origin": "user", "status": "discussed", "at": "2026-06-01T10:00:00Z",
                        "since": "2026", "evidence": "we meet", "who": "Bo", "session": "s1", "supersedes": [ready.tea],
                        "until": "2031"}),
         lambda ready: ("POST", "/entries", {"text": "Dana meets Bo", "stare": [0.8, None, 0.3, None, None],
                        "conf": 0.9, "scope": "team", "origin": "user", "status": "discussed",
                        "at": "2026-06-01T10:00:00Z", "since": "2026", "evidence": "we meet", "who": "Bo",
                        "session": "s1", "supersedes": [ready.tea], "until": "2031"}),
         part("queued", "refused", "asked")),
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
    Case("remember what is due in words",
         lambda memory, _: memory.remember("Pay", Draft(due="by next Friday", at=parse_instant(SAID_AT))),
         lambda _: ["remember", "Pay", "--due", "by next Friday", "--at", SAID_AT, "--by", "agent"],
         lambda _: ("memory_remember", {"text": "Pay", "due": "by next Friday", "at": SAID_AT}),
         lambda _: ("POST", "/entries", {"text": "Pay", "due": "by next Friday", "at": SAID_AT}),
         part("queued", "refused", "when")),
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
    Case("done, cancelled and put off at once",
         lambda memory, ready: memory.done(ready.quote, cancelled=True, until="2031-01-01"),
         lambda ready: ["done", ready.quote, "--cancelled", "--until", "2031-01-01"],
         lambda ready: ("memory_done", {"id": ready.quote, "cancelled": True, "until": "2031-01-01"}),
         lambda ready: ("POST", f"/entries/{ready.quote}/done", {"cancelled": True, "until": "2031-01-01"})),
    Case("forget", lambda memory, ready: memory.forget([ready.tea]), lambda ready: ["forget", ready.tea],
         lambda ready: ("memory_forget", {"ids": [ready.tea]}), lambda ready: ("POST", "/forget", {"ids": [ready.tea]}),
         part("ids", "places", "similar", "problems", "turns")),
    Case("forget nothing that is", lambda memory, _: memory.forget(["fffe"]), lambda _: ["forget", "fffe"],
         lambda _: ("memory_forget", {"ids": ["fffe"]}), lambda _: ("POST", "/forget", {"ids": ["fffe"]})),
]  # fmt: skip
