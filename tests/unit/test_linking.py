"""The links of what one reading found, however much that is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from reverie.core.guard.linking import linked
from reverie.core.records import Entry, Event

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)


def said(texts: list[str]) -> list[Entry]:
    """Return entries that the user said one after the other."""
    return [
        Entry(id=f"{n:016x}", text=text, at=NOON + timedelta(seconds=n), day="2026-07-01", origin="user")
        for n, text in enumerate(texts)
    ]


def links(texts: list[str]) -> list[Event]:
    """Return the links among what was said, where nothing stood before."""
    return linked(said(texts), {}, alike=lambda _: (), at=NOON, by="rules/1", zone="UTC")


@pytest.mark.slow
def test_what_one_session_says_again_is_linked_however_much_lies_between() -> None:
    """A repeat and a change of employer meet what they are of, though hundreds of statements were said meanwhile."""
    between = [f"User keeps item {n} of the collection in drawer {n * 7}" for n in range(300)]
    found = links(
        ["User prefers tea without sugar", "User works at Acme", *between, "User prefers tea without sugar",
         "User now works at Initech"]
    )  # fmt: skip
    told = {(one.kind, int(one.entry, 16), int(one.other, 16)) for one in found}
    assert ("repeat", 302, 0) in told
    assert ("supersede", 303, 1) in told
    assert len(told) == 2


def test_few_statements_are_each_compared_with_all() -> None:
    """Among a handful, a statement is linked to one it shares no rare word with: a home, though the verb is another."""
    found = links(["User lives in Berlin", "User likes jazz", "User moved to Lisbon"])
    assert [(one.kind, int(one.other, 16)) for one in found] == [("supersede", 0)]
