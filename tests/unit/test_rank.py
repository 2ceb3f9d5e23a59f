"""Reading queries, and the order recall gives to what it found."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.search import rank as ranking
from reverie.core.search.query import parse
from reverie.core.search.rows import Candidate, Filter, Row
from reverie.core.text import tokens
from reverie.core.text.cues import mentions_time, states_a_wish

TODAY = date(2026, 11, 30)  # a Monday
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def row(id_, text, *, days_ago=10, **more):
    """Return a user's turn said some days before NOW."""
    at = NOW - timedelta(days=days_ago)
    more = {"kind": "turn", "role": "user", "source": "sessions/s.jsonl", "day": at.date().isoformat()} | more
    return Row(id=id_, text=text, at=at, **more)


def order(question, *candidates, k=10):
    """Return the ids in ranked order."""
    return [one.id for one in ranking.rank(parse(question, TODAY), candidates, reference=NOW, k=k)]


def found(one, lexical=1.0, **more):
    """Return a candidate with that keyword score."""
    return Candidate(row=one, lexical=lexical, **more)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("on 7 May 2023", "2023-05-07", "2023-05-07"),
        ("May 7th, 2023", "2023-05-07", "2023-05-07"),
        ("2023-05-07", "2023-05-07", "2023-05-07"),
        ("in May", "2026-05-01", "2026-05-31"),
        ("in December", "2025-12-01", "2025-12-31"),
        ("during 2022", "2022-01-01", "2022-12-31"),
        ("yesterday", "2026-11-29", "2026-11-29"),
        ("last week", "2026-11-23", "2026-11-29"),
        ("last month", "2026-10-01", "2026-10-31"),
        ("this year", "2026-01-01", "2026-12-31"),
        ("last Monday", "2026-11-23", "2026-11-23"),
        ("three days ago", "2026-11-27", "2026-11-27"),
        ("the past two weeks", "2026-11-16", "2026-11-30"),
        ("上周", "2026-11-23", "2026-11-29"),
        ("上周三", "2026-11-25", "2026-11-25"),
        ("昨天", "2026-11-29", "2026-11-29"),
        ("前天", "2026-11-28", "2026-11-28"),
        ("五月", "2026-05-01", "2026-05-31"),
        ("十二月", "2025-12-01", "2025-12-31"),
        ("2023年5月7日", "2023-05-07", "2023-05-07"),
        ("5月7号", "2026-05-07", "2026-05-07"),
        ("去年", "2025-01-01", "2025-12-31"),
        ("上个月", "2026-10-01", "2026-10-31"),
        ("三天前", "2026-11-27", "2026-11-27"),
    ],
)
def test_a_query_names_these_days(text, first, last):
    """Dates and relative days are read in English and Chinese, counted from the given day."""
    periods = parse(f"what happened {text}?", TODAY).periods
    assert [(p.first.isoformat(), p.last.isoformat()) for p in periods] == [(first, last)]


@pytest.mark.parametrize(
    "text", ["may I march on", "what is the plan", "31 Mayhem", "room 12", "June 31st", "明月几时有"]
)
def test_words_that_only_look_like_dates_name_no_day(text):
    """Verbs, names, numbers and days that do not exist are no dates."""
    assert parse(text, TODAY).periods == ()


@given(st.text(max_size=300), st.dates())
def test_any_query_parses_on_any_day(text, today):
    """P-14: nothing a person types makes parsing fail, on no day of the calendar."""
    parse(text, today)


def test_what_a_query_asks_for_is_seen():
    """Questions for a time, about the assistant's words, and quoted parts are told apart."""
    assert parse("When did we meet?", TODAY).asks_when
    assert parse("什么时候搬家", TODAY).asks_when
    assert not parse("Where did we meet?", TODAY).asks_when
    assert parse("What did you recommend for dinner?", TODAY).of_assistant
    assert parse("你上次建议我吃什么", TODAY).of_assistant
    assert not parse("What would you recommend?", TODAY).of_assistant
    assert parse('who said "Too Late"?', TODAY).phrases == ("too late",)


def test_a_text_says_when():
    """Dates and words of time are seen in both languages; plain text has none."""
    assert mentions_time("I went there yesterday")
    assert mentions_time("we met in May")
    assert mentions_time("back in 2019")
    assert mentions_time("上周去了")
    assert not mentions_time("may I ask about the room")


def test_better_words_come_first():
    """With all else equal the keyword score decides."""
    assert order("tea", found(row("a", "x y"), 1.0), found(row("b", "y x"), 2.0)) == ["b", "a"]


def test_the_person_named_in_the_query_comes_first():
    """What the named speaker said stands above what another said with the same words."""
    mine, hers = row("a", "the lake", person="Melanie"), row("b", "a lake", person="Caroline")
    assert order("What did Caroline's sister paint?", found(mine), found(hers)) == ["b", "a"]


def test_the_user_comes_before_the_assistant_except_about_the_assistants_words():
    """Facts come from people; a question about what the assistant said turns it round."""
    user, assistant = row("a", "soup today"), row("b", "today soup", role="assistant")
    assert order("soup", found(assistant, 1.1), found(user)) == ["a", "b"]
    assert order("what soup did you recommend", found(assistant, 1.1), found(user)) == ["b", "a"]


def test_the_days_a_query_names_count():
    """What was said, or is dated, in the named days comes before better words of another time."""
    old, new = row("a", "dinner one", days_ago=200), row("b", "dinner two", days_ago=3)
    dated = row("c", "dinner on 2026-11-26", days_ago=90)
    assert order("dinner last week", found(old, 1.2), found(new), found(dated))[-1] == "a"


def test_a_superseded_fact_stands_below_its_successor_and_is_marked():
    """P-10, R-01: the present employer comes first, the former one stays, and says what it is."""
    then = found(row("a", "User works at Google"), 1.05, standing="superseded")
    now = found(row("b", "User now works at Microsoft", days_ago=2))
    ranked = ranking.rank(parse("Where does the user work?", TODAY), [then, now], reference=NOW)
    assert [one.id for one in ranked] == ["b", "a"]
    assert ranked[1].why[0] == "superseded"


@pytest.mark.parametrize("standing", ["faded", "done", "discussed", "superseded"])
def test_what_no_longer_stands_is_lower_but_found(standing):
    """R-49: an entry that faded, ended or was merely discussed is below a standing one, never gone."""
    assert order("tea", found(row("a", "tea x"), standing=standing), found(row("b", "tea y"))) == ["b", "a"]


def test_significance_decides_between_equals():
    """Of two equal matches the more significant comes first."""
    assert order("tea", found(row("a", "tea x"), sig=0.2), found(row("b", "tea y"), sig=0.9)) == ["b", "a"]


def test_the_session_with_the_match_lifts_its_turns():
    """A weak match beside a strong one of the same session stands above an equal one elsewhere."""
    strong = found(row("a", "the trip to Kyoto", session="x", n=4), 3.0)
    beside = found(row("b", "it was lovely", session="x", n=5), 0.5)
    other = found(row("c", "lovely it was", session="y", n=5), 0.5)
    assert order("Kyoto trip", other, beside, strong) == ["a", "b", "c"]


def test_equal_texts_are_shown_once_and_named():
    """R-03: ten sayings of one thing take one place, and the others' ids stand with it."""
    ranked = ranking.rank(
        parse("tea", TODAY),
        [found(row(str(n), "I like tea." if n % 2 else "I like  TEA")) for n in range(10)],
        reference=NOW,
        k=3,
    )
    assert len(ranked) == 1
    assert len(ranked[0].alike) == 9


@pytest.mark.parametrize(
    ("one", "other"),
    [("budget is 500", "budget is 800"), ("I eat pork", "I don't eat pork"), ("likes tea", "likes coffee")],
)
def test_texts_that_differ_in_one_word_stay_apart(one, other):
    """R-02: a number, negation or object that differs makes two results."""
    assert set(order("what", found(row("a", one)), found(row("b", other)))) == {"a", "b"}


def test_the_order_is_the_same_whatever_order_candidates_come_in():
    """Ranking depends on the candidates alone, ties included."""
    candidates = [found(row(f"{n:02}", f"tea {n}"), 1.0) for n in range(20)]
    assert order("tea", *candidates, k=20) == order("tea", *reversed(candidates), k=20)


@given(
    st.lists(
        st.tuples(
            st.text(max_size=40), st.floats(0, 30), st.sampled_from(["current", "faded", "superseded"])
        ),
        max_size=12,
    ),
    st.text(max_size=60),
)
def test_ranking_never_fails_or_invents(texts, question):
    """Any candidates and query give an order of those candidates, scores falling, none twice."""
    candidates = [
        found(row(str(n), text), lexical, standing=standing)
        for n, (text, lexical, standing) in enumerate(texts)
    ]
    ranked = ranking.rank(parse(question, TODAY), candidates, reference=NOW, k=50)
    shown = [one.id for one in ranked] + [id_ for one in ranked for id_ in one.alike]
    assert sorted(shown) == sorted(str(n) for n in range(len(texts)))
    assert all(a.score >= b.score for a, b in pairwise(ranked))


def test_a_filter_lets_through_what_it_says():
    """Fields are joined by and, values of one field by or, tags by and."""
    one = row("a", "x", session="s", person="Ann", category="work", tags=("t", "u"), days_ago=0)
    assert Filter().allows(one)
    assert Filter(kinds=("turn", "page"), persons=("Ann",), tags=("t", "u"), since="2026-11-30").allows(one)
    assert not Filter(tags=("t", "z")).allows(one)
    assert not Filter(until="2026-11-29").allows(one)
    assert not Filter(kinds=("entry",)).allows(one)


def test_a_text_that_holds_the_words_stands_above_its_neighbour():
    """A turn that holds every word of the query comes before one to which a window lends them."""
    exact = row("a", "Paris and emacs are both editors to me", session="s", n=3)
    beside = row("b", "Yes, I see what you mean, and there is much to be said for it", session="s", n=4)
    assert order("Paris emacs", found(beside, 1.05), found(exact, 1.0)) == ["a", "b"]


@pytest.mark.parametrize(
    "text",
    [
        "Always give me the version numbers",
        "Please never call before noon",
        "Show the code when I ask about the API",
        "I prefer plain text to tables",
        "以后回答请用要点",
        "从现在起周三不开会",
    ],
)
def test_a_lasting_wish_is_seen_and_counts(text):
    """What the user wants from now on comes before equal words that state no wish, when the user says it."""
    assert states_a_wish(text.casefold())
    wish, plain = row("a", text), row("b", text[::-1])
    assert order("x", found(plain), found(wish)) == ["a", "b"]
    said = row("c", text, role="assistant")
    assert order("x", found(row("d", text[::-1], role="assistant", days_ago=0)), found(said)) == ["d", "c"]


def test_a_summary_is_of_what_both_said():
    """Asked for a summary, the assistant's turns count like the user's."""
    user, assistant = row("a", "soup today"), row("b", "today soup", role="assistant")
    assert order("soup", found(assistant, 1.1), found(user)) == ["a", "b"]
    assert order("Give me a summary of the soup", found(assistant, 1.1), found(user)) == ["b", "a"]
    assert parse("请总结一下项目", TODAY).overall


def test_words_that_say_little_count_less():
    """Asked for the kind of a thing, the thing weighs more than the word kind; a query of light words alone works."""
    assert tokens.heft("kind") < tokens.heft("engin") == 1.0
    assert [tokens.heft(term) for term in parse("both kinds", TODAY).terms] == [tokens.LIGHT] * 2


@given(
    st.lists(
        st.tuples(
            st.floats(0, 30),
            st.sampled_from(["", "current", "faded", "superseded"]),
            st.floats(0, 1),
        ),
        max_size=60,
    ),
    st.integers(1, 12),
)
def test_judging_the_best_alone_gives_the_order_of_judging_all(facts, k):
    """Significance and standing asked for batch by batch, best first, give the same first `k` as asked for all."""
    rows = [row(f"{n:02}", f"tea {n:02}", days_ago=n, kind="entry") for n in range(len(facts))]
    bare = [found(one, fact[0]) for one, fact in zip(rows, facts, strict=True)]
    judged = {
        one.row.id: found(one.row, lexical, standing=standing, sig=sig)
        for one, (lexical, standing, sig) in zip(bare, facts, strict=True)
        if standing
    }

    def judge(asked):
        return [judged[one.row.id] for one in asked if one.row.id in judged]

    query = parse("tea", TODAY)
    lazily = ranking.rank(query, bare, reference=NOW, k=k, judge=judge)
    # What is left out lends the others its match all the same, so both rank among the same candidates.
    everything = [judged.get(one.row.id, one) for one in bare]
    at_once = ranking.rank(query, everything, reference=NOW, k=len(facts) + 1)
    assert lazily == [one for one in at_once if one.id in judged][:k]


def test_an_entry_weighs_by_who_said_it():
    """M-30: of entries that match alike the user's stands first, then the agent's, then a stranger's, newest or not."""
    origins = ("web", "file", "tool", "import", "other", "agent", "user")
    entries = {
        origin: row(
            origin, f"Dana likes tea with {origin}", kind="entry", role="", origin=origin, days_ago=number
        )
        for number, origin in enumerate(origins)
    }
    ranked = order("does Dana like tea", *map(found, entries.values()))
    assert ranked[:2] == ["user", "agent"]
    assert set(ranked[2:]) == {"web", "file", "tool", "import", "other"}
    told = order("what tea did you recommend to Dana", found(entries["agent"]), found(entries["web"]))
    assert told == ["agent", "web"]


def test_who_said_it_lifts_no_entry_over_a_better_match():
    """A stranger's entry that holds the words stands before one of the user's that holds half of them."""
    web = row("web", "The ferry leaves from the north pier", kind="entry", role="", origin="web")
    user = row("user", "The ferry is slow", kind="entry", role="user", origin="user")
    assert order("ferry north pier", found(web, 2.0), found(user, 1.0)) == ["web", "user"]
