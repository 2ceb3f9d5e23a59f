"""A model's reply read as the list that was asked for, whatever stands around it."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.errors import ModelFailed
from reverie.model.reading_json import LONGEST, Items, items

ONE, TWO = {"text": "User likes tea", "tags": []}, {"text": "User lives in Lisbon, {not} [Porto]"}
WHOLE = json.dumps({"entries": [ONE, TWO]}, indent=1)


def read(text: str) -> Items:
    """Read a reply."""
    return items(text, named="entries", having="text")


@pytest.mark.parametrize(
    "reply",
    [
        WHOLE,
        json.dumps([ONE, TWO]),
        f"Here is what I found:\n```json\n{WHOLE}\n```\nLet me know!",
        f"```\n{WHOLE}\n```",
        f'<think>Maybe {{"entries": []}}? Or [{{"text": 1}}] …</think>\n{WHOLE}',
        f"I reason about {{braces}} first.</think>{WHOLE}",
        f"Sure! {WHOLE} Anything else?",
        f"The shape is {{}} or [], so: {WHOLE}",
        f"<|channel|>analysis<|message|>hm {{<|end|><|channel|>final<|message|>{WHOLE}",
        WHOLE.replace('Porto]"', 'Porto]",').replace("}\n ]", "},\n ]"),
        WHOLE.replace(" ", "\n"),
    ],
)
def test_a_list_is_found_in_whatever_surrounds_it(reply: str) -> None:
    """Fences, prose, reasoning with braces in it and trailing commas hide no item (R-17, P-16)."""
    found = read(reply)
    assert found.whole
    assert [one["text"].split() for one in found.values] == [one["text"].split() for one in (ONE, TWO)]


def test_one_object_stands_for_a_list_of_one() -> None:
    """A model that found one thing often sends it alone (R-17, P-16)."""
    assert read(json.dumps(ONE)) == read(json.dumps({"entries": ONE})) == Items((ONE,))


@pytest.mark.parametrize("reply", ["[]", '{"entries": []}', '```json\n{"entries":[]}\n```'])
def test_an_empty_list_is_an_answer(reply: str) -> None:
    """Nothing worth keeping, said in the form that was asked for, is no failure."""
    assert read(reply) == Items(())


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "   \n",
        "There are no facts.",
        "null",
        '"entries"',
        "{}",
        '{"error": {"message": "overloaded"}}',
        '{"facts": ["User likes tea"]}',
        '["User likes tea"]',
        "I found [] nothing.",
        "[1, 2]",
        "<think>I should list the facts and then",
        "<think>done</think>",
        "<html><body>502 Bad Gateway</body></html>",
        "I'm sorry, I can't help with that.",
        "[" * 5_000,
        "{" * 5_000,
        "x" * (LONGEST + 1),
    ],
)
def test_what_holds_no_list_is_never_taken_for_an_empty_one(reply: str) -> None:
    """Silence, prose, other shapes, web pages and floods are errors of kind `unusable` (R-17, P-16)."""
    with pytest.raises(ModelFailed) as failed:
        read(reply)
    assert failed.value.kind == "unusable"


@given(st.integers(1, len(WHOLE) - 1))
def test_a_list_without_its_end_is_never_whole(size: int) -> None:
    """Cut anywhere, a reply gives only items that stood in it whole, and says that it is cut, or is an error (R-17)."""
    with suppress(ModelFailed):
        found = read(WHOLE[:size])
        assert not found.whole
        assert list(found.values) in ([], [ONE], [ONE, TWO])
