"""The rule extractor reads what people state, in English and Chinese, and stays silent on everything else."""

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from counting import calls
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.days import Calendar, parse_instant
from reverie.core.records import Entry, Turn
from reverie.model.rules.sentences import READ, pieces, sentences
from reverie.model.rules.turns import MOST, extract

BERLIN = Calendar("Europe/Berlin", "00:00")
AT = parse_instant("2026-07-01T10:00:00+02:00")
ROWS: list[dict[str, Any]] = tomllib.loads(
    (Path(__file__).parents[1] / "data" / "rules.toml").read_text(encoding="utf-8")
)["row"]
FIELDS = ("due", "since", "until", "about", "sig", "status", "origin")


def said(content: str, role: Any = "user", **fields: Any) -> Turn:
    """One turn of the third place in a session."""
    return Turn(role=role, content=content, at=AT, session="s", n=3, **fields)


def entries(*turns: Turn) -> list[Entry]:
    """What the extractor finds in the turns."""
    return [found.entry for found in extract(turns, BERLIN)]


def meets(entry: Entry, row: dict[str, Any]) -> bool:
    """Whether an entry is what a row of the table asks for."""
    return (
        entry.category == row["category"]
        and all(words in entry.text for words in row.get("must", ()))
        and all(getattr(entry, field) == row[field] for field in FIELDS if field in row)
    )


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["said"][:40])
def test_a_message_gives_what_the_table_says(row: dict[str, Any]) -> None:
    """Each message of the table gives the entry of its row, or nothing when the row asks for none."""
    found = entries(said(row["said"], row.get("role", "user")))
    if "category" in row:
        assert any(meets(entry, row) for entry in found), found
    else:
        assert not found


def test_the_table_is_large_and_mostly_about_restraint() -> None:
    """The table has at least 120 rows in two languages, at least 50 of which must give nothing."""
    assert len(ROWS) >= 120
    assert sum("category" not in row for row in ROWS) >= 50
    assert sum(any(char > "\u4e00" for char in row["said"]) for row in ROWS) >= 50


@given(st.lists(st.sampled_from([row["said"] for row in ROWS]), min_size=1, max_size=4), st.text(max_size=80))
def test_evidence_stands_in_the_turn(parts: Sequence[str], noise: str) -> None:
    """Whatever surrounds a statement, the evidence of an entry is a verbatim part of its turn."""
    content = noise.join(parts)
    for entry in entries(said(content)):
        assert entry.evidence
        assert entry.evidence in content
        assert entry.text
        assert "\n" not in entry.text
        assert 1 <= len(entry.tags) <= 3


@given(st.text())
def test_any_text_is_read_without_an_error(content: str) -> None:
    """Arbitrary Unicode is read without an exception, and the same text gives the same entries."""
    assert entries(said(content)) == entries(said(content))


def test_an_entry_knows_its_turn() -> None:
    """An entry carries its turn's instant, session, ordinal and speaker, and leaves id and day to the caller."""
    (found,) = extract([said("I prefer tea.", name="Mira")], BERLIN)
    assert found.n == 3
    assert (found.entry.id, found.entry.day) == ("", "")
    assert (found.entry.at, found.entry.session, found.entry.turns) == (AT, "s", "3")
    assert (found.entry.who, found.entry.text) == ("Mira", "Mira prefers tea")
    assert (found.entry.origin, found.entry.status) == ("user", "active")


def test_injected_memory_is_not_read_again() -> None:
    """A span that was memory rendered into the prompt gives no entry, while the words around it do."""
    content = "I prefer tea.\nUser lives: I live in Oslo.\nI hate mornings in winter."
    start = content.index("User lives")
    turn = said(content, injected=((start, start + len("User lives: I live in Oslo.")),))
    assert [entry.text for entry in entries(turn)] == ["User prefers tea", "User hates mornings in winter"]


def test_a_joke_taken_back_is_no_fact() -> None:
    """What a later sentence of the paragraph calls a joke is left out; the next paragraph stands."""
    found = entries(said("I live in a lighthouse. Just kidding!\n\nI live in Bremen."))
    assert [entry.text for entry in found] == ["User lives in Bremen"]


def test_a_pronoun_needs_one_person_to_mean() -> None:
    """The word "she" means the one person named before; between two persons, nothing is claimed of either."""
    clear = entries(said("Ines is our new designer. She lives in Graz."))
    assert [entry.text for entry in clear][1:] == ["Ines lives in Graz"]
    unclear = entries(said("Ines is our new designer, my sister Eva knows her. She lives in Graz."))
    assert not [entry for entry in unclear if "Graz" in entry.text]


def test_quotes_fences_and_pastes_are_told_from_own_words() -> None:
    """Quotes, fences, logs and pastes are never own words; a fence that never closes reaches to the end."""
    content = "Look:\n> I live in Rome\n\n```\nI like tea\n```\nmine\n2026-07-01 10:00:00 INFO x\n~~~\nopen"
    kinds = [(piece.kind, content[piece.start : piece.end].strip()) for piece in pieces(content)]
    assert ("quote", "> I live in Rome") in kinds
    assert ("fence", "```\nI like tea\n```") in kinds
    assert ("own", "mine") in kinds
    assert ("fence", "~~~\nopen") in kinds
    assert not [
        one for one in sentences(content) if "Rome" in one.text or "tea" in one.text or "open" in one.text
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    "part",
    [
        "I like tea. ",
        "a",
        "I ",
        "我喜欢茶，",
        "`",
        '"',
        "((((",
        "\n",
        "- x\n",
        "> y\n",
        "```\n",
        "my ",
        "and I will ",
        "in 2 days ",
        "明天",
        " \u3000",
    ],
)
def test_a_hostile_turn_is_bounded(part: str) -> None:
    """Of five megabytes of anything a bounded part is read, for a bounded number of entries and work in proportion."""

    def work(unit: str, length: int) -> int:
        turn = said(unit * (length // len(unit)))
        assert len(entries(turn)) <= MOST
        return calls(lambda: entries(turn))

    quarter = work(part, 1_250_000)
    assert work(part, 5_000_000) <= quarter + 100
    sentence = part * (590 // len(part)) + ".\n\n"
    quarter = work(sentence, READ // 4)
    assert work(sentence, READ) < 6 * quarter + 1_000


FRESH: list[dict[str, Any]] = tomllib.loads(
    (Path(__file__).parents[1] / "data" / "rules_fresh.toml").read_text(encoding="utf-8")
)["row"]


@pytest.mark.parametrize("row", FRESH, ids=lambda row: row["said"][:40])
def test_a_fresh_message_gives_each_fact_and_nothing_where_there_is_none(row: dict[str, Any]) -> None:
    """Each fact a careful reader would keep is in an entry, and small talk, questions and suppositions give none."""
    found = entries(said(row["said"], row.get("role", "user")))
    for fact in row.get("facts", ()):
        assert any(
            all(must.casefold() in f"{entry.text} {entry.evidence}".casefold() for must in fact["must"])
            and entry.category == fact.get("category", entry.category)
            for entry in found
        ), (fact, found)
    assert bool(found) == bool(row.get("facts"))


@pytest.mark.parametrize(
    ("before", "correction", "text"),
    [
        (
            "My sister Lea studies law.",
            "Sorry, it's Lena, not Lea.",
            "Correction: User's sister Lena studies law, not Lea",
        ),
        ("The gate code is 4417.", "Oops, 4471, not 4417.", "Correction: The gate code is 4471, not 4417"),
        ("我妹妹叫李娅。", "说错了，是李雅，不是李娅。", "更正：用户妹妹叫李雅，不是李娅"),
        ("I like tea.", "Lena, not Lea.", "Correction: it is Lena, not Lea"),
    ],
)
def test_a_bare_correction_mends_what_was_said_before(before: str, correction: str, text: str) -> None:
    """`Lena, not Lea` alone repeats the statement it corrects, mended; without one it is kept as it was said."""
    (*_, last) = entries(said(before), said(correction))
    assert last.text == text
    assert last.evidence == correction


@pytest.mark.parametrize(
    "words",
    ["I'm happy, not sad.", "maybe not today", "Not yet, but soon.", "不是我，是他。", "不是吧，是真的吗？"],
)
def test_what_only_sounds_like_a_correction_is_none(words: str) -> None:
    """Feelings, refusals and questions with `not` in them correct nothing."""
    assert not entries(said(words))


def test_a_name_in_an_introduction_is_kept() -> None:
    """`I'm Priya` names the user, whatever follows; `I'm German` does not."""
    texts = [entry.text for entry in entries(said("Hi! I'm Priya, I work at Tallow & Finch."))]
    assert texts == ["User's name is Priya", "User works at Tallow & Finch"]
    assert not entries(said("I'm German."))
