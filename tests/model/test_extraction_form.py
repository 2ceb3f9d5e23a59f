"""The form that a model's list is to have, and that what is read of it is held to the same bounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from test_extraction import item, read, turn

from reverie.model.extraction_request import ITEMS, SCHEMA, Span
from reverie.model.rules.turns import EVIDENCE

FIELDS: dict[str, Any] = SCHEMA["properties"]["entries"]["items"]["properties"]
SAID = turn("I prefer tea. " + "Dana reads on. " * 80)


def leaves(schema: Any, name: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every part of a schema that has no parts, and every list."""
    if schema["type"] == "object":
        assert schema["additionalProperties"] is False
        assert schema["required"] == [*schema["properties"]]
        for key, part in schema["properties"].items():
            yield from leaves(part, key)
        return
    yield name, schema
    if schema["type"] == "array":
        yield from leaves(schema["items"], name)


def test_everything_in_the_form_is_bounded() -> None:
    """Each text has a greatest length, each list a greatest number of items, each share its ends."""
    bounds = {
        "string": {"maxLength"},
        "array": {"maxItems"},
        "number": {"minimum", "maximum"},
        "integer": set(),
    }
    for name, part in leaves(SCHEMA):
        assert part.keys() - {"type", "items"} == bounds[part["type"]], name


@pytest.mark.parametrize(
    ("name", "taken"), [("text", True), ("text", False), ("evidence", True), ("evidence", False)]
)
def test_an_item_whose_sentence_or_quote_is_too_long_is_refused(name: str, *, taken: bool) -> None:
    """At its greatest length a text is read; one character more, and the item is refused with the reason."""
    most = FIELDS[name]["maxLength"] + (not taken)
    one = item("User prefers tea", "I prefer tea")
    one[name] = "User prefers tea".ljust(most, ".") if name == "text" else SAID.content[:most]
    found = read(SAID, one)
    assert bool(found.found) is taken, found.refused
    if taken:
        assert len(found.found[0].entry.evidence) <= EVIDENCE
    else:
        assert "longer than" in found.refused[0]


@pytest.mark.parametrize("name", ["category", "from", "until", "due"])
def test_a_field_that_is_too_long_is_left_out(name: str) -> None:
    """A category or a time beyond its length is none, and the item stays."""
    value = "2026-07-01".ljust(FIELDS[name]["maxLength"] + 1, " ")
    (found,) = read(
        turn("I prefer tea, since 2026-07-01."), item("User prefers tea", "I prefer tea", **{name: value})
    ).found
    assert found.entry.category == "fact"
    assert (found.entry.since, found.entry.until, found.entry.due) == ("", "", "")


def test_tags_and_hints_are_no_longer_and_no_more_than_the_form_allows() -> None:
    """Of many tags the first short ones stay, and a hint ends at its bound."""
    most, tag = FIELDS["tags"]["maxItems"], FIELDS["tags"]["items"]["maxLength"]
    tags = ["x" * (tag + 1), "y" * tag, *(f"tag{n}" for n in range(9))]
    (found,) = read(SAID, item("User prefers tea", "I prefer tea", tags=tags, replaces="z" * 9_000)).found
    assert found.entry.tags == ("y" * tag, "tag0", "tag1")
    assert len(found.entry.tags) == most
    assert len(found.hint) == FIELDS["replaces"]["maxLength"]


def test_a_person_whose_name_is_a_paragraph_is_nobody() -> None:
    """Words that were said are no name of a person when there are more of them than a name has."""
    about = SAID.content[: FIELDS["about"]["maxLength"] + 5].strip()
    assert read(SAID, item("User prefers tea", "I prefer tea", about=about)).refused


def test_a_list_without_end_is_read_as_far_as_the_form_goes() -> None:
    """Items beyond the greatest number are refused with the reason, whatever they say."""
    assert SCHEMA["properties"]["entries"]["maxItems"] == ITEMS
    turns = [turn(f"I prefer tea number {n}.", n) for n in range(ITEMS + 5)]
    listed = [
        item(f"User prefers tea number {n}", f"I prefer tea number {n}.", turn=n) for n in range(ITEMS + 5)
    ]
    found = read(Span(turns=tuple(turns)), *listed)
    assert len(found.found) == ITEMS
    assert found.refused == (f"more than {ITEMS} in one reply",) * 5
