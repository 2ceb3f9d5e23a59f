"""What the rules see at a glance changes nothing that they would read."""

from __future__ import annotations

import json
import re
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reverie.model.rules import deeds_en, words_en
from reverie.model.rules.dates_en import FIND, named
from reverie.model.rules.sentences import _CODE_LINE, _may_be_code
from reverie.model.rules.subject_en import _FRONT, behind_front

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
TURNS = [
    json.loads(line)["content"]
    for path in sorted(SAMPLES.glob("*.jsonl"))
    for line in path.read_text("utf-8").splitlines()
]
WORDS = sorted({word for turn in TURNS for word in turn.split()})
LEADS = sorted(
    set(re.findall(r"[a-zA-Z]+", words_en.LEAD.source + _FRONT.source + words_en.MAYBE_DATE.source))
)
TIMES = sorted(set(re.findall(r"[a-z]{2,}|\d", FIND.source)) | {"a", "2026-07-03", "5th", "1", "of", "the"})
MARKS = [
    "",
    " ",
    ", ",
    ": ",
    ". ",
    "' ",
    "’",
    " - ",
    "—",
    "\n",
    "_",
    "3",
    " = ",
    "(",
    "`",
    "```",
    "> ",
    "    ",
]
TEXTS = st.lists(
    st.tuples(st.sampled_from([*WORDS, *LEADS, "İ", "ſo", "früh"]), st.sampled_from(MARKS)), max_size=6
).map(lambda parts: "".join(word + mark for word, mark in parts))


@pytest.mark.slow
@settings(max_examples=1000)
@given(TEXTS)
def test_what_is_passed_over_at_a_glance_holds_no_match(text: str) -> None:
    """Openings, fronts and dates that the first word or a hint rules out are none by their whole pattern either."""
    if not words_en.may_lead(text, 0):
        assert words_en.LEAD.match(text) is None
    front = _FRONT.match(text)
    assert behind_front(text) == (front.end() if front else 0)
    low = text.lower()
    assert words_en.may_date(low) == (words_en.MAYBE_DATE.search(low) is not None)
    if not _may_be_code(text + "\n", text.lstrip()[:1]):
        assert _CODE_LINE.match(text + "\n") is None
    if not words_en.may_cut(text):
        assert words_en.CLAUSE.search(text) is None
    other = re.search(r"\b(?:[Hh]e|[Ss]he|[Hh]is|[Hh]er|[Tt]hey|[Tt]heir)\b", text)
    found = words_en.OTHER.search(text)
    assert (found and found.span()) == (other and other.span())


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.one_of(TEXTS, st.sampled_from(TIMES), st.from_regex(FIND.pattern)), max_size=4).map(" ".join)
)
def test_a_time_is_found_though_it_is_looked_for_at_few_words(text: str) -> None:
    """The times found at the words with which one can begin are those that the whole pattern finds, in order."""
    assert [one.span() for one in named(text)] == [one.span() for one in FIND.finditer(text)]


def test_each_opening_is_seen_at_a_glance() -> None:
    """Whatever word an opening begins with, in any case, the first word lets it through."""
    for word in LEADS:
        for said in (word, word.capitalize(), word.upper()):
            for rest in (", I live here", ": the plan", " - no", " that I am", " you to that", " this: ok"):
                assert words_en.may_lead(said + rest, 0) or not words_en.LEAD.match(said + rest)


@settings(max_examples=300)
@given(TEXTS)
def test_an_agent_states_nothing_without_a_word_that_begins_such_a_clause(text: str) -> None:
    """No place of a sentence without those words begins a promise, a decision or a result of the agent."""
    low = text.lower()
    if deeds_en.AGENT_MAY.search(low) is None:
        starts = (place.start() for place in re.finditer(r"\b\w", low))
        for start in islice(starts, 40):
            for pattern in (deeds_en.RESULT, deeds_en.AGENT_DECIDED, deeds_en.AGENT_WILL):
                assert pattern.match(low, start) is None
