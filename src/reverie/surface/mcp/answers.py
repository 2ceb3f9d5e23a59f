"""What a tool answers: a text for the model, and the same as a value for the program around it.

Owns the form of both; promises that neither holds a character that acts or hides instead of being read, nor the folder
the memory lies in; never looks anything up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from reverie.errors import ReverieError
from reverie.surface.render import Line, plain
from reverie.surface.unplaced import WORKSPACE, unplaced, unplaced_all

ERROR = "reverie/error"  # the key in a result's `_meta` under which an error's class, code and chance stand

OBJECT = {"type": "object"}
TEXT = {"type": "string"}
NUMBER = {"type": "number"}
INTEGER = {"type": "integer"}
FLAG = {"type": "boolean"}
TEXTS = {"type": "array", "items": TEXT}


class Answer(msgspec.Struct, frozen=True):
    """A text and the value that says the same."""

    text: str
    value: dict[str, Any]


def shape(*required: str, **fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an object with these fields, which may hold others beside them."""
    told: dict[str, Any] = {"type": "object", "properties": fields}
    return told | {"required": list(required)} if required else told


def listing(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a list."""
    return {"type": "array", "items": item}


def lines(found: Iterable[Line | str], nothing: str = "") -> str:
    """Return lines as one text, or what is said when there are none."""
    return "\n".join(one if isinstance(one, str) else plain(one) for one in found) or nothing


def fit(answer: Answer, root: Path) -> Answer:
    """Return the answer as it may leave: every text cleaned, the workspace's folder unnamed."""
    folders = ((WORKSPACE, root),)
    return Answer(unplaced(answer.text, folders), unplaced_all(answer.value, folders))


def told(error: ReverieError, root: Path) -> Answer:
    """Return what is said of an error: its class and exit code, what to do, and whether trying again can help."""
    kind = type(error)
    again = " Trying again shortly may help." if kind.retryable else ""
    value = {
        "class": kind.__name__,
        "exit_code": kind.exit_code,
        "retryable": kind.retryable,
        "message": str(error),
    }
    return fit(Answer(f"{kind.__name__} (exit code {kind.exit_code}): {error}.{again}", value), root)
