"""What a look at an installation finds: values, and the little that all looks share.

Owns the shape of a symptom; promises that each says where, what, and what to do; never looks at anything.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import msgspec

from reverie.entrance import Opening

Severity = Literal["error", "warning", "note"]


class Symptom(msgspec.Struct, frozen=True, kw_only=True):
    """Something that is not as it should be. A `note` hinders nothing; an `error` keeps something from working."""

    part: str
    place: str
    what: str
    remedy: str
    severity: Severity = "warning"


class Patient(msgspec.Struct, frozen=True, kw_only=True):
    """The installation looked at: how its workspace is opened, and whether anything may be asked over a network."""

    opening: Opening
    online: bool = False


class Examined(msgspec.Struct, frozen=True, kw_only=True):
    """What a whole look found: the versions, the parts looked at, and the symptoms, errors first."""

    version: str
    python: str
    workspace: str
    parts: tuple[str, ...]
    symptoms: tuple[Symptom, ...]

    @property
    def errors(self) -> int:
        """How many symptoms keep something from working."""
        return sum(one.severity == "error" for one in self.symptoms)


def typed(path: Path) -> str:
    """Return a path as it is typed into a shell: a remedy with spaces or quotes in it can be copied as it stands."""
    return shlex.quote(str(path))


Look = Callable[[Patient], Iterator[Symptom]]
