"""Turns handed out to a host's own model to be read, and what became of what it submitted.

Owns these values; promises nothing about them: `reverie.lending` does.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec


class Lent(msgspec.Struct, frozen=True, kw_only=True):
    """A span under a lease: turns `[start, stop)` of a session are `by` somebody's to read until then."""

    handle: str
    session: str
    start: int
    stop: int
    by: str
    until: datetime


class Handed(msgspec.Struct, frozen=True, kw_only=True):
    """A span handed out: what is asked, the turns as fenced data, and the JSON schema of what is to be submitted."""

    handle: str
    session: str
    start: int
    stop: int
    until: datetime
    instructions: str
    text: str
    form: Mapping[str, Any]


class Submitted(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a submission: whether the span counts as `read`, and how many entries were stored.

    `refused` are the items that were not taken, by their place in the submission (from 0), and why; `review` is the
    item under which the rest waits for a person's word; `reason` says in words why the span is unread.
    """

    read: bool = False
    entries: int = 0
    links: int = 0
    refused: Mapping[int, str] = {}
    review: str = ""
    reason: str = ""
