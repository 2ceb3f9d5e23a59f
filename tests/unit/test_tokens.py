"""The tokeniser: what counts as one word, in every script."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.text import tokens, word_forms

# Blanks of several kinds, joiners, marks that combine, and letters that NFKC takes apart.
PIECES = [
    *" \t\n\x1c\x85\xa0\u2003\u3000-'.,#+\u0301\u200baA1é茶가ك",
    "went",
    "C#",
    "don't",
    "ﬁ",
    "½",
    "¨",
    "k\u0308",
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Caroline's painting", ["carolin", "paint"]),
        ("we'll don't", ["we", "dont"]),
        ("e-mail", ["email", "e", "mail"]),
        ("U.S.A.", ["usa"]),
        ("snake_case", ["snake_case", "snake", "case"]),
        ("getUserName", ["getusername", "get", "user", "name"]),
        ("src/core/tokens.py", ["src/core/tokens.py", "src", "core", "token", "py"]),
        ("v2.3.1", ["v2.3.1", "v", "2", "3", "1"]),
        ("C++ and C#", ["c++", "c", "and", "c#", "c"]),
        ("1,000 of 3.5", ["1000", "of", "3.5", "3", "5"]),
        ("2023-05-08", ["2023-05-08", "2023", "05", "08"]),
        ("café CAFE", ["cafe", "cafe"]),
        ("喝茶", ["喝", "茶", "喝茶"]),
        ("ｔｅａ　３杯", ["tea", "3", "杯"]),
        ("книгами", ["книг"]),
        ("الكِتَاب", ["كتاب"]),
        ("أحمد", ["احمد"]),
        ("ดี", ["ด", "ี", "ดี"]),
        ("हिन्दी", ["हिन्दी"]),
        ("👍🏽 hi 👍", ["👍", "hi", "👍"]),
        ("٣ cats", ["3", "cat"]),
        ("a3f9c2e1b7d4", ["a3f9c2e1b7d4"]),
        ("?!… ---", []),
        ("", []),
    ],
)
def test_a_text_is_cut_into_these_terms(text, expected):
    """Each kind of word gives the terms its readers would search for."""
    assert tokens.terms(text) == expected


@pytest.mark.parametrize(
    ("stored", "query"),
    [
        ("我昨天搬到了上海", "上海"),
        ("小猫名叫咪咪", "猫"),
        ("他的猫叫咪咪", "他的猫叫什么"),
        ("コーヒーが好きです", "コーヒー"),
        ("東京に住んでいます", "東京"),
        ("한국어를 배웁니다", "한국"),
        ("ฉันชอบกาแฟ", "กาแฟ"),
        ("أعمل في المدرسة", "مدرسة"),
        ("Она купила книгу", "книги"),
        ("she painted a lake", "When did she paint lakes?"),
        ("moved to naïve straße", "naive strasse"),
        ("set MAX_RETRIES in config.yaml", "config.yaml retries"),
    ],
)
def test_a_query_in_its_own_script_meets_the_stored_text(stored, query):
    """P-13, R-22: words of a query are found in a stored text of every script, without a model."""
    assert set(tokens.query_terms(query)) & set(tokens.terms(stored))


def test_question_words_leave_a_query_unless_nothing_else_is_left():
    """A query keeps its content words, or, having none, all of them, each once."""
    assert tokens.query_terms("When did Caroline go to the support group?") == [
        "carolin",
        "go",
        "support",
        "group",
    ]
    assert tokens.query_terms("The Who") == ["the", "who"]
    assert tokens.query_terms("tea, tea and tea") == ["tea"]
    assert tokens.query_terms("什么") != []


@given(st.text(st.characters(), max_size=200))
def test_any_text_at_all_gives_clean_terms(text):
    """P-14: no text fails, and no term holds a blank, a control character, a lone surrogate or too many letters."""
    for term in tokens.terms(text) + tokens.query_terms(text):
        assert term
        assert not any(c.isspace() or "\ud800" <= c <= "\udfff" or c < " " for c in term)
        assert len(term) <= tokens.LONGEST
    assert tokens.estimate(text) >= 0


@given(st.text(max_size=100))
def test_a_text_finds_itself(text):
    """Every term of a query made of a stored text is one by which that text is found."""
    assert set(tokens.query_terms(text)) <= set(tokens.search_terms(text))


@given(st.lists(st.one_of(st.text(max_size=12), st.sampled_from(PIECES)), max_size=20))
def test_words_met_before_give_what_the_whole_text_gives(pieces):
    """No term reaches over a blank, so that words that are kept by piece give the terms of the text."""
    text = "".join(pieces)
    assert tokens.terms(text) == tokens.cut(text)
    assert tokens.terms(text) == tokens.cut(text)


def test_more_words_than_are_kept_are_cut_rightly():
    """A text of more different words than are kept gives every term, twice over."""
    text = " ".join(f"word{number}, went" for number in range(20_000))
    whole = tokens.cut(text)
    assert len(whole) == 20_000 * 4
    assert tokens.terms(text) == whole
    assert tokens.terms(text) == whole


@given(st.text(max_size=100))
def test_normalising_is_settled_after_one_pass_for_case_and_blanks(text):
    """Blanks are single and outer ones gone, whatever stood there."""
    plain = tokens.normalise(text)
    assert plain == plain.strip()
    assert "  " not in plain
    assert tokens.normalise(f"  {text}\n\t") == plain


def test_stems_are_right_in_many_threads_at_once():
    """Threads do not share a stemmer, so none sees another's half-done word."""
    seen = set()

    def work():
        for _ in range(300):
            seen.add(tuple(tokens.terms("running painted книгами")))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == {("run", "paint", "книг")}


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("Hello there, how are you doing today?", 8, 11),
        ("我喜欢喝茶。", 5, 7),
        ("def estimate(text: str) -> int:", 8, 14),
        ("1234567890", 3, 4),
        ("", 0, 0),
        ("word " * 1000, 1000, 1100),
    ],
)
def test_the_estimate_is_near_what_models_count(text, low, high):
    """The estimate lies within a tenth or so above what byte-pair vocabularies give."""
    assert low <= tokens.estimate(text) <= high


def test_a_huge_text_of_one_letter_is_one_short_term():
    """R-17: five million letters without a blank give one bounded term, at once."""
    assert tokens.terms("a" * 5_000_000) == ["a" * tokens.LONGEST]


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("We went to the lake", "Where did they go?"),
        ("I bought two bicycles", "What bike did I buy?"),
        ("The children's favourite colour", "kid's favorite color"),
        ("Mum's photograph of the mice", "mother picture of a mouse"),
    ],
)
def test_forms_of_one_word_find_each_other(said, asked):
    """Irregular forms, spellings of two countries and everyday names of one thing are one term in a search."""
    assert set(tokens.query_terms(asked)) <= set(tokens.search_terms(said))


def test_a_form_stands_under_one_word_that_is_itself():
    """No form is listed twice, and what it stands under stands under nothing else."""
    forms = [form for form, _ in word_forms.pairs()]
    assert len(forms) == len(set(forms))
    assert {word for _, word in word_forms.pairs()}.isdisjoint(forms)


def test_what_says_the_same_is_not_loosened_by_search():
    """The terms by which statements are compared keep each form apart: "went" is not "go" there."""
    assert tokens.terms("went") == ["went"]
    assert tokens.search_terms("went") == ["go"]
