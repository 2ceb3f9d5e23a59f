"""The text index: what a search finds, in every script, committed or not."""

from __future__ import annotations

import subprocess
import sys
from contextlib import nullcontext

import pytest
from july import AT, FACTS, TODAY, ids, row, scores, turn

from reverie.core.search.query import parse
from reverie.core.search.rank import rank
from reverie.core.search.rows import Filter
from reverie.index.text import SCANNED, TextIndex


@pytest.fixture
def index(tmp_path):
    """Give an empty open index."""
    opened = TextIndex(tmp_path / ".index", nullcontext)
    yield opened
    opened.close()


@pytest.mark.parametrize("committed", [True, False])
@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Where did the user move?", "en"),
        ("painted a lake", "en"),
        ("上海", "zh"),
        ("茶", "zh"),
        ("他喜欢喝什么", "zh"),
        ("コーヒー", "ja"),
        ("한국", "ko"),
        ("กาแฟ", "th"),
        ("مدرسة", "ar"),
        ("config.yaml", "id"),
        ("max_retries", "id"),
        ("retries", "id"),
        ("v2.3.1", "id"),
    ],
)
def test_a_query_finds_its_row_in_every_script_before_and_after_the_commit(
    index, question, expected, committed
):
    """P-13, R-22: keyword search works without a model in every script, from the first moment."""
    index.rows.upsert(FACTS)
    if committed:
        index.commit()
    assert ids(index, question)[0] == expected


@pytest.mark.parametrize(
    "question",
    [
        "",
        " ",
        "/ - : . ' \" ( ) *",
        "AND OR NEAR NOT",
        "a\"b'c:d*e^f~g",
        "(",
        "own:lake",
        "\x00",
        "\ud800",
        "lake\x00",
        "?!…",
    ],
)
def test_no_punctuation_breaks_a_search(index, question):
    """P-14: syntax of any query language is plain text here."""
    index.rows.upsert(FACTS)
    index.commit()
    index.rows.upsert([row("p", "pending lake")])
    found = ids(index, question)
    assert ("en" in found) == ("lake" in question)


def test_a_query_of_fifty_thousand_letters_is_answered(index):
    """P-14: of a pasted text the rarest words are asked for."""
    index.rows.upsert([*FACTS, *(row(f"n{n}", f"filler w{n % 100}") for n in range(200))])
    index.commit()
    paste = " ".join(f"w{n} filler" for n in range(100)) + " " + "blah " * 10_000 + "lakes"
    assert "en" in ids(index, paste)


def test_lone_surrogates_in_a_row_do_no_harm(index):
    """A text no encoding can hold is stored with its bad characters replaced, and found."""
    index.rows.upsert([row("x", "broken \ud800 lake", tags=("\udfff",), heading="\ud83d")])
    assert ids(index, "lake") == ["x"]
    index.commit()
    assert ids(index, "lake") == ["x"]


def test_pending_rows_score_like_indexed_ones(index, tmp_path):
    """A row is ranked alike whether it is in the text index, waits for it, or is handed in."""
    rows = [turn(n, f"talk {n} about {'lakes' if n % 7 == 0 else 'hills'} and w{n % 5}") for n in range(60)]
    index.rows.upsert(rows)
    waiting = scores(index, "lakes w3")
    index.commit()
    indexed = scores(index, "lakes w3")
    assert waiting.keys() == indexed.keys()
    assert all(abs(waiting[id_] - indexed[id_]) < 0.06 * max(indexed.values()) for id_ in indexed)
    other = TextIndex(tmp_path / "other", nullcontext)
    assert scores(other, "lakes w3", extra=rows) == pytest.approx(waiting)
    other.close()


def test_extra_rows_join_the_ranking_and_win_over_stored_ones(index):
    """Rows in no file yet are found at once, and the newest text of an id is the one that counts."""
    index.rows.upsert([row("a", "lake one"), row("b", "hill")])
    index.commit()
    assert ids(index, "lake", extra=[row("c", "lake two"), row("a", "desert")]) == ["c"]


def test_a_turn_is_found_by_the_words_around_it(index):
    """The answer to a question is found though it repeats none of its words, but not across sessions."""
    index.rows.upsert(
        [
            turn(0, "Where shall we go for the anniversary dinner?"),
            turn(1, "Luigi's"),
            turn(2, "fine"),
            turn(3, "bye"),
            turn(4, "far away"),
            turn(0, "elsewhere", "t"),
        ]
    )
    for _ in range(2):
        assert set(ids(index, "anniversary dinner")) == {"s#0", "s#1", "s#2"}
        index.commit()


def test_a_new_turn_renews_the_windows_of_its_neighbours(index):
    """A turn taken in before its neighbour came is found by that neighbour's words afterwards."""
    index.rows.upsert([turn(0, "hello")])
    index.commit()
    index.rows.upsert([turn(1, "zebra")])
    index.commit()
    assert set(ids(index, "zebra")) == {"s#0", "s#1"}
    index.rows.delete(["s#1"])
    index.commit()
    assert ids(index, "zebra") == []


def test_a_source_is_replaced_as_a_whole(index):
    """R-23: rename, change and emptying of a page leave no stale or doubled rows."""
    page = {"kind": "page", "source": "notebook/a'b_%.md"}
    index.rows.replace_source(
        page["source"], [row("p1", "lake", **page), row("p2", "hill", **page)], stamp="1"
    )
    index.commit()
    index.rows.replace_source(
        page["source"], [row("p2", "hill", **page), row("p3", "lake house", **page)], stamp="2"
    )
    for _ in range(2):
        assert ids(index, "lake") == ["p3"]
        assert ids(index, "hill") == ["p2"]
        index.commit()
    assert index.rows.positions() == {page["source"]: "2"}
    index.rows.replace_source(page["source"], [])
    assert ids(index, "lake hill") == []
    assert index.rows.positions() == {}
    assert index.rows.count() == 0


def test_an_unchanged_source_costs_no_commit(index):
    """Reading a file again that says the same leaves nothing for the text index to do."""
    index.rows.replace_source("archive/2026-07-01.md", FACTS, stamp="1")
    index.commit()
    index.rows.replace_source("archive/2026-07-01.md", FACTS, stamp="2")
    assert index.rows.behind() == 0
    index.rows.replace_source("archive/2026-07-01.md", [*FACTS[:-1], row("id", "else")], stamp="3")
    assert index.rows.behind() == 1


def test_filters_hold_for_indexed_and_waiting_rows(index):
    """Kind, session, person, category, scope, tags and days filter in the index, not after it."""
    noise = [row(f"n{n}", "lake lake lake", category="noise") for n in range(300)]
    index.rows.upsert(
        [
            *noise,
            row(
                "a",
                "a lake",
                category="work",
                tags=("x", "two words"),
                person="Ann B",
                scope="team",
                day="2026-07-03",
            ),
            turn(0, "the lake", session="a session/with: marks" + "long" * 60),
        ]
    )
    session = "a session/with: marks" + "long" * 60
    for _ in range(2):
        assert ids(index, "lake", where=Filter(categories=("work", "none"))) == ["a"]
        assert ids(index, "lake", where=Filter(tags=("x", "two words"))) == ["a"]
        assert ids(index, "lake", where=Filter(tags=("x", "three"))) == []
        assert ids(index, "lake", where=Filter(persons=("Ann B",), scopes=("team",))) == ["a"]
        assert ids(index, "lake", where=Filter(sessions=(session,))) == [f"{session}#0"]
        assert ids(index, "lake", where=Filter(kinds=("turn",))) == [f"{session}#0"]
        assert ids(index, "lake", where=Filter(since="2026-07-02", until="2026-07-04")) == ["a"]
        index.commit()


def test_a_query_of_nothing_but_days_finds_what_happened_then(index):
    """`yesterday` alone finds that day's rows, whatever they say, within the filter."""
    index.rows.upsert([row("a", "swimming", day="2026-07-09"), row("b", "skating", day="2026-06-09")])
    for _ in range(2):
        assert ids(index, "yesterday") == ["a"]
        assert ids(index, "昨天") == ["a"]
        assert ids(index, "yesterday", where=Filter(until="2026-07-01")) == []
        index.commit()


def test_more_waiting_rows_than_are_read_are_counted(index):
    """`behind` says how many rows a search cannot see, and a commit brings it to nothing."""
    index.rows.upsert([row(f"n{n}", f"lake {n}") for n in range(SCANNED + 7)])
    assert index.behind() == 7
    assert index.commit() == SCANNED + 7
    assert index.behind() == 0
    assert index.commit() == 0


def test_ids_and_times_survive_a_rebuild(index):
    """R-23b: after a rebuild the same rows are found with the same scores."""
    index.rows.upsert(FACTS)
    index.commit()
    before = {
        one.row.id: (one.row, round(one.lexical, 5)) for one in index.search(parse("lake 茶 v2.3.1", TODAY))
    }
    index.rebuild()
    after = {
        one.row.id: (one.row, round(one.lexical, 5)) for one in index.search(parse("lake 茶 v2.3.1", TODAY))
    }
    assert before == after


def test_turns_come_in_order(index):
    """The turns with these ordinals come in order, within the session."""
    index.rows.upsert([turn(n, f"t{n}") for n in range(6)] + [turn(2, "other", "t")])
    assert [one.text for one in index.rows.turns("s", range(1, 4))] == ["t1", "t2", "t3"]
    assert index.rows.get(["s#0", "nobody"]) == {"s#0": turn(0, "t0")}


def test_importing_the_index_does_not_load_tantivy():
    """P-20: what only a search needs is loaded when an index is opened."""
    code = "import sys, reverie.index.text; print('tantivy' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "False"


def test_search_and_rank_answer_a_question_over_all_kinds(index):
    """Entries, pages and turns are ranked together, with reasons."""
    index.rows.upsert(
        [
            row("e", "User's sister Lena lives in Lisbon", about="Lena"),
            row("p", "Lena is a nurse", kind="page", source="notebook/Lena.md", heading="Lena"),
            turn(0, "What should I bring to Lisbon?", role="assistant"),
        ]
    )
    query = parse("Where does Lena live?", TODAY)
    ranked = rank(query, index.search(query), reference=AT)
    assert [one.id for one in ranked][:2] == ["e", "p"]
    assert "about Lena" in ranked[0].why
