"""Scripted replies to a request for extraction, made from what was asked, and what became of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from ledger import said

from reverie.capture import capture
from reverie.core.records import Extraction
from reverie.model.asking import Request
from reverie.store import journal
from reverie.store.workspace import Workspace
from reverie.testing import ScriptedModel


def asked(request: Request) -> list[dict[str, Any]]:
    """Return the lines of a request's data."""
    return [json.loads(line) for line in request.text.splitlines() if line.startswith("{")]


def unread(request: Request) -> list[dict[str, Any]]:
    """Return the turns that a request wants read."""
    return [line for line in asked(request) if "known" not in line and not line.get("context")]


def item(text: str, evidence: str, n: int, **fields: Any) -> dict[str, Any]:
    """Return one item of a reply."""
    rest = {"category": "fact", "tags": ["said"], "significance": 0.5, "confidence": 0.9, "about": ""}
    dates = {"from": "", "until": "", "due": "", "replaces": ""}
    return {"text": text, "turn": n, "evidence": evidence, **rest, **dates, **fields}


def reply(*items: dict[str, Any]) -> str:
    """Return a whole reply."""
    return json.dumps({"entries": items}, ensure_ascii=False)


def word_for_word(request: Request) -> str:
    """Take each turn's words for one memory."""
    return reply(*(item(" ".join(line["text"].split()), line["text"], line["n"]) for line in unread(request)))


def but_for(word: str, *, instead: str = "I cannot say.") -> Callable[[Request], str]:
    """Answer word for word, but with `instead` whenever `word` is among what is to be read."""

    def answer(request: Request) -> str:
        return instead if any(word in line["text"] for line in unread(request)) else word_for_word(request)

    return answer


def told(ws: Workspace, *texts: str, session: str = "s1", role: str = "user") -> None:
    """Capture what was said."""
    for text in texts:
        capture(ws, session, said(text, role=role))


def records(ws: Workspace) -> list[Extraction]:
    """Return every extraction, drained or not."""
    every = [*journal.archived(ws), *journal.waiting(ws).records]
    return [record for record in every if isinstance(record, Extraction)]


def texts(ws: Workspace) -> list[str]:
    """Return the texts of all entries extracted."""
    return sorted(entry.text for record in records(ws) for entry in record.entries)


def always(answer: Any = word_for_word) -> ScriptedModel:
    """Return a model that gives the same answer to everything."""
    return ScriptedModel([answer], loop=True)
