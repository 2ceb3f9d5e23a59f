"""What the near-repeat guard folds, replaces, flags and leaves alone."""

from __future__ import annotations

import string
import tomllib
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from counting import calls
from hypothesis import given, settings
from hypothesis import strategies as st

from reverie.core.guard.chances import may_relate
from reverie.core.guard.grammar import GRAMMAR, grammar_of
from reverie.core.guard.relation import _RELATED, _turned, differences, likeness, relate
from reverie.core.guard.signature import comparable
from reverie.core.records import Entry

DATA = Path(__file__).parent.parent / "data"
PAIRS: dict[str, list[list[str]]] = tomllib.loads((DATA / "guard_pairs.toml").read_text(encoding="utf-8"))
FRESH: dict[str, dict[str, list[list[str]]]] = tomllib.loads(
    (DATA / "guard_pairs_fresh.toml").read_text(encoding="utf-8")
)
SETS = {**FRESH, "first": PAIRS}
TEXTS = sorted({text for told in SETS.values() for pairs in told.values() for pair in pairs for text in pair})
MERGES = {"repeats", "strengthens", "supersedes", "corrects"}
BEFORE = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)


def entry(text: str, *, days: int = 0, **more: object) -> Entry:
    """Build an entry that the user said `days` after the first of July."""
    at = BEFORE + timedelta(days=days)
    values = {"origin": "user", "at": at, "day": at.strftime("%Y-%m-%d"), "id": f"{days:016x}", **more}
    return Entry(text=text, **values)  # type: ignore[arg-type]


def kind(old: str, new: str) -> str:
    """Return what the new text, said five days later, is to the old one."""
    relation = relate(entry(new, days=5), entry(old))
    return relation.kind if relation else "none"


@pytest.mark.parametrize(("name", "least"), [("first", 200), ("en", 100), ("zh", 100), ("again", 70)])
def test_no_pair_is_folded_or_replaced_that_must_stand_apart(name: str, least: int) -> None:
    """Over all labelled pairs not one false merge; the confusion matrix and the recall of each kind are printed."""
    matrix: Counter[tuple[str, str]] = Counter()
    false = []
    told = SETS[name]
    for truth, pairs in told.items():
        for old, new in pairs:
            found = kind(old, new)
            matrix[truth, found] += 1
            if truth in {"none", "contradicts"} and found in MERGES:
                false.append((found, old, new))
    kinds = [*told]
    lines = ["truth \\ found  " + " ".join(f"{name:>11}" for name in kinds) + "   recall"]
    for truth in kinds:
        row = [matrix[truth, name] for name in kinds]
        lines.append(
            f"{truth:14} " + " ".join(f"{n:11}" for n in row) + f"   {matrix[truth, truth] / sum(row):.3f}"
        )
    print("\n".join(lines))  # noqa: T201 - the report
    assert sum(matrix.values()) >= least
    assert false == []
    for truth in kinds:
        assert matrix[truth, truth] >= 0.75 * len(told[truth]), truth


def test_no_trap_is_sprung_in_the_other_direction_by_folding() -> None:
    """Pairs that must stand apart are not folded with their order reversed either."""
    folded = [
        (old, new)
        for told in SETS.values()
        for truth in ("none", "contradicts")
        for old, new in told[truth]
        if kind(new, old) in {"repeats", "strengthens"}
    ]
    assert folded == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("User works at Google", "User now works at Microsoft"),
        ("User works at Google", "User works at Microsoft"),
        ("用户在谷歌工作", "用户现在在微软工作"),
    ],
)
def test_a_new_employer_supersedes_the_old_one(old: str, new: str) -> None:
    """`works at B` after `works at A` is a succession, never a repeat (R-01, P-10, S-B1)."""
    assert kind(old, new) == "supersedes"


@pytest.mark.parametrize(
    ("old", "new", "difference"),
    [
        ("User has 2 cats", "User has 3 cats", "number"),
        ("The trip is in March", "The trip is in May", "date"),
        ("Zephyr renews its contract in March 2026", "Zephyr renews its contract in March 2027", "date"),
        ("User eats pork", "User does not eat pork", "negation"),
        ("Anna likes jazz", "Ben likes jazz", "name"),
        ("User likes jazz", "User's sister likes jazz", "subject"),
        ("The office is in Berlin", "The office is in Vienna", "place"),
        ("The pool is 5 m long", "The pool is 5 ft long", "unit"),
        ("User likes jazz", "User might like jazz", "modality"),
        ("User works at Acme", "User worked at Acme", "tense"),
        ("User likes some jazz", "User likes all jazz", "quantity"),
        ("Lunch is before the talk", "Lunch is after the talk", "antonym"),
        ("Orion is on v2.3.1", "Orion is on v2.3.2", "version"),
        ("Call get_user first", "Call get_users first", "code"),
        ("Anna likes Ben", "Ben likes Anna", "order"),
        ("用户每年三月续签", "用户每年五月续签", "number"),
        ("用户吃猪肉", "用户不吃猪肉", "negation"),
        ("用户住在北京", "用户住在上海", "place"),
        ("用户喜欢爵士乐", "用户的妹妹喜欢爵士乐", "subject"),
    ],
)
def test_a_single_change_is_found_and_never_strengthens(old: str, new: str, difference: str) -> None:
    """A changed number, month, negation, person, place, unit, tense or order keeps two statements apart (R-02)."""
    assert difference in differences(old, new)
    assert kind(old, new) not in {"repeats", "strengthens"}


def test_ten_observations_of_one_fact_are_repeats() -> None:
    """The same fact, said in ten sessions, repeats the first every time (R-03)."""
    first = entry("User is allergic to peanuts")
    for day in range(1, 10):
        relation = relate(entry("User is allergic to peanuts", days=day), first)
        assert relation is not None
        assert relation.kind == "repeats"


@given(st.sampled_from(TEXTS))
def test_a_statement_repeats_itself(text: str) -> None:
    """Every statement repeats itself, and has no difference from itself."""
    assert differences(text, text) == ()
    relation = relate(entry(text), entry(text))
    assert relation is not None
    assert relation.kind == "repeats"


@pytest.mark.slow
@settings(max_examples=1000)
@given(st.sampled_from(TEXTS), st.sampled_from(TEXTS))
def test_what_the_signature_tells_apart_has_no_relation(old: str, new: str) -> None:
    """Two statements that are never compared, because they share no word and no attribute, turn nothing."""
    if not comparable(new, old):
        assert _turned(new, old, related=likeness(new, old) >= _RELATED) is None
        assert likeness(new, old) < 1.0


@given(st.sampled_from(TEXTS), st.sampled_from(TEXTS))
def test_what_may_not_relate_has_no_relation(old: str, new: str) -> None:
    """Two statements that are told apart before their words are matched repeat nothing and turn nothing."""
    if not may_relate(new, old):
        assert _turned(new, old, related=likeness(new, old) >= _RELATED) is None
        assert likeness(new, old) < 1.0 or differences(new, old)


@given(st.one_of(st.text(alphabet=string.printable, max_size=60), st.sampled_from(TEXTS)))
def test_a_text_is_cut_alike_by_its_own_grammar(text: str) -> None:
    """The shorter expressions, for what a text cannot hold, cut it as the whole one does."""
    cuts = [
        [(found.lastgroup, found.span()) for found in grammar.finditer(text)]
        for grammar in (grammar_of(text), GRAMMAR)
    ]
    assert cuts[0] == cuts[1]


@given(st.text(max_size=60))
def test_any_text_repeats_itself(text: str) -> None:
    """Any Unicode text can be read, and repeats itself."""
    relation = relate(entry(text), entry(text))
    assert relation is not None
    assert relation.kind == "repeats"
    assert likeness(text, text) == 1.0


@given(st.sampled_from(TEXTS), st.sampled_from(TEXTS))
def test_differences_and_likeness_are_symmetric(a: str, b: str) -> None:
    """Which statement comes first does not matter to how they differ."""
    assert differences(a, b) == differences(b, a)
    assert likeness(a, b) == pytest.approx(likeness(b, a))
    assert 0.0 <= likeness(a, b) <= 1.0


@settings(max_examples=500)
@given(
    st.one_of(
        st.sampled_from([text for text in TEXTS if any(c in "0123456789" for c in text)]),
        st.text(alphabet="0123456789.,:-/ %年月日号kvam元", min_size=1, max_size=20),
        st.text(max_size=20),
    ),
    st.data(),
)
def test_any_changed_digit_is_a_difference(text: str, data: st.DataObject) -> None:
    """Whatever a digit stands in (a date, a version, a path, a price), changing it shows as a number or a date."""
    places = [place for place, c in enumerate(text) if c.isascii() and c.isdigit()]
    if not places:
        return
    place = data.draw(st.sampled_from(places))
    digit = data.draw(st.sampled_from([d for d in "0123456789" if d != text[place]]))
    other = text[:place] + digit + text[place + 1 :]
    assert {"number", "date"} & set(differences(text, other))
    assert kind(text, other) not in {"repeats", "strengthens"}


def test_likeness_sees_through_inflection_and_synonyms() -> None:
    """Reworded statements are fully alike, statements with one other word less, unrelated ones hardly."""
    assert likeness("User lives in Berlin", "User is living in Berlin") == 1.0
    assert likeness("用户住在北京", "用户居住在北京") == 1.0
    assert 0.4 < likeness("User likes tea", "User likes coffee") < 1.0
    assert likeness("User likes tea", "The deploy failed on Monday") < 0.2


def test_only_trusted_text_replaces_what_the_user_said() -> None:
    """Web, file or tool text never supersedes or corrects what the user or the agent said; it contradicts it."""
    old = entry("User works at Google")
    for origin in ("web", "file", "tool", "import", "other"):
        relation = relate(entry("User now works at Microsoft", days=1, origin=origin), old)
        assert relation is not None
        assert relation.kind == "contradicts"
        assert origin in relation.why
    agent = relate(entry("User now works at Microsoft", days=1, origin="agent"), old)
    assert agent is not None
    assert agent.kind == "supersedes"


def test_what_was_merely_discussed_touches_nothing() -> None:
    """An entry with status discussed neither repeats nor replaces an active one (P-18)."""
    old = entry("User works at Google")
    for text in ("User works at Google", "User now works at Microsoft"):
        assert relate(entry(text, days=1, status="discussed", origin="web"), old) is None


def test_succession_follows_event_time() -> None:
    """What was said later supersedes; what holds earlier, though written later, does not (P-12)."""
    new = "User lives in Lisbon"
    old = entry("User lives in Berlin", days=3)
    assert relate(entry(new, days=1), old) is None
    assert relate(entry("User moved to Lisbon in 2019", days=9), old) is None
    assert relate(entry(new, days=9, since="2019"), old) is None
    later = relate(entry(new, days=9, since="2026-07"), old)
    assert later is not None
    assert later.kind == "supersedes"


def test_both_dates_decide_when_both_are_given() -> None:
    """With `since` on both sides the later one holds, whichever was said last."""
    old = entry("User works at Google", since="2024-01-01", days=9)
    relation = relate(entry("User works at Microsoft", since="2025-01-01", days=1), old)
    assert relation is not None
    assert relation.kind == "supersedes"


def test_other_persons_and_other_due_dates_are_not_folded() -> None:
    """The same words about another person, due another day or of another scope stay apart."""
    text = "Send the report"
    assert relate(entry(text, days=1, about="Dana"), entry(text, about="Ben")) is None
    assert relate(entry(text, days=1, due="2026-07-10"), entry(text, due="2026-07-03")) is None
    assert relate(entry(text, days=1, scope="team"), entry(text)) is None
    assert relate(entry("I like jazz", days=1, who="Dana"), entry("I like jazz", who="Ben")) is None


def test_undated_events_of_two_days_are_two_events() -> None:
    """The same visit told on two days may be two visits; a fact told on two days is one."""
    text = "User went to the dentist"
    assert relate(entry(text, days=9), entry(text)) is None
    dated = "User went to the dentist on 2026-06-30"
    relation = relate(entry(dated, days=9), entry(dated))
    assert relation is not None
    assert relation.kind == "repeats"


def test_a_stated_succession_is_followed() -> None:
    """What the writer says it supersedes is superseded, whatever the words, if the writer may."""
    old = entry("User drinks oat milk")
    said = relate(entry("User is vegan", days=1, supersedes=(old.id,)), old)
    assert said is not None
    assert said.kind == "supersedes"
    web = relate(entry("User is vegan", days=1, supersedes=(old.id,), origin="web"), old)
    assert web is not None
    assert web.kind == "contradicts"


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit", ["a.", "a", "1,", "user not ", "may ", "用户不", "a_", "@", "/", "`", "x@y."]
)
def test_a_hostile_text_costs_work_in_proportion(unit: str) -> None:
    """Four times the text costs about four times the work, never sixteen times."""

    def work(length: int) -> int:
        text = (unit * length)[:length]
        return calls(lambda: relate(entry(text + " x", days=1), entry(text)))

    quarter = work(3_000)
    assert work(12_000) < 6 * quarter + 20_000
