"""Recall: what was acknowledged is found, in any script and by any query, current before previous, forgotten never."""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from desk import NOON, SESSION, Desk, days_ago
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reverie.core.text import tokens
from reverie.core.where import Where
from reverie.errors import UsageError
from reverie.recall import catch_up

if TYPE_CHECKING:
    from collections.abc import Iterator

_ELSEWHERE = """
import sys
from pathlib import Path
import reverie
memory = reverie.open(Path(sys.argv[1]), config_dir=Path(sys.argv[2]))
"""


def _process(desk: Desk, code: str) -> subprocess.CompletedProcess[str]:
    """Run code with `memory` open on the workspace in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", _ELSEWHERE + code, str(desk.root), str(desk.home / "config")],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )


# What was acknowledged is found


def test_a_memory_is_found_before_the_drain(desk: Desk) -> None:
    """What `remember` returned for is found at once, while it still waits in the journal (R-35)."""
    kept = desk.remember("Dana prefers calls before noon")
    assert desk.memory.get(kept).entry.text == "Dana prefers calls before noon"
    assert [hit.id for hit in desk.hits("when to call Dana?")] == [kept]
    assert desk.memory.status().queued == 1


def test_another_process_finds_it_before_the_drain(desk: Desk) -> None:
    """A process that had nothing to do with the write finds what waits in the journal, as its own writes (R-35)."""
    desk.remember("The staging database listens on port 6543")
    done = _process(desk, "print(memory.recall('staging database port').hits[0].text)")
    assert done.stdout.strip() == "The staging database listens on port 6543"


def test_a_memory_open_beside_sees_each_write(desk: Desk) -> None:
    """Two memories open on one workspace see each other's writes, drained or not, as they happen."""
    other = desk.again()
    assert desk.found("parrot", other) == []
    desk.remember("The parrot is called Kiwi")
    assert desk.found("parrot", other) == ["The parrot is called Kiwi"]
    other.drain()
    assert desk.found("parrot") == ["The parrot is called Kiwi"]
    desk.remember("The parrot eats grapes", other)
    assert len(desk.found("parrot")) == 2


def test_a_drained_memory_stands_once(desk: Desk) -> None:
    """The same memory is one hit before the drain, after it and after a rebuild, under the same id."""
    kept = desk.remember("The boiler was serviced")
    seen = [[hit.id for hit in desk.hits("boiler")]]
    desk.memory.drain()
    seen.append([hit.id for hit in desk.hits("boiler")])
    desk.memory.reindex()
    seen.append([hit.id for hit in desk.hits("boiler")])
    assert seen == [[kept]] * 3


def test_turns_are_found_at_once(desk: Desk) -> None:
    """A captured turn is found before anything read it, with its session and ordinal."""
    desk.say("The spare key hangs behind the fuse box")
    (hit,) = desk.hits("spare key")
    assert (hit.kind, hit.session, hit.turns, hit.place) == ("turn", SESSION, "0", 0)


def test_what_was_just_said_is_found_however_late_it_is(desk: Desk) -> None:
    """On a machine that takes all the patience for itself a little is read all the same, and the rest is counted."""
    opened = desk.memory.opened

    def left() -> int:
        state = opened.state_now()
        return catch_up(opened.ws, state, index=opened.index, masked=opened.mask.row, patience=-1.0)

    desk.say("The spare key hangs behind the fuse box")
    desk.page("0_Inbox/Key.md", "The spare key is brass.")
    assert left() == 0
    assert len(desk.hits("spare key")) == 2
    for number in range(4):
        desk.say(f"A long story {'of a key ' * 8_000}", session=f"s{number}")
    assert left() == 4
    desk.memory.reindex()
    assert left() == 0


# Any script, any query


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("用户住在上海浦东", "上海"),
        ("会議は京都で行われる", "京都"),
        ("Vitamin C helps her", "C"),
        ("她喜欢茶", "茶"),
        ("The release was marked 🚀 in the calendar", "🚀"),
        ("The job runs `parse_invoice_v2` nightly", "parse_invoice_v2"),
        ("The job runs `parseInvoiceV2` nightly", "invoice"),
        ("Ticket OPS-1234 blocks the launch", "OPS-1234"),
        ("ต้องการกาแฟเย็น", "กาแฟ"),
        ("يفضل القهوة العربية", "القهوة"),
        ("Their café is in Zürich", "zurich cafe"),
        ("The server is at 10.20.30.40", "10.20.30.40"),
        ("Дана любит читать книги по вечерам", "какую книгу читает"),
        ("사용자는 서울에서 커피를 마신다", "서울 커피"),
        ("ユーザーはコーヒーが好き", "コーヒー"),
        ("ผู้ใช้อาศัยอยู่ที่เชียงใหม่", "เชียงใหม่"),
        ("המשתמש אוהב תה", "תה"),
        ("उपयोगकर्ता को चाय पसंद है", "चाय"),
        ("Ο χρήστης πίνει καφέ", "καφε"),
        ("我在用 Rust 写 parser", "rust 解析 parser"),
        ("Er wohnt in der Straße 5", "strasse"),
        ("The log is in /var/log/reverie/app.log", "/var/log/reverie/app.log"),
        ("The log is in C:\\data\\reverie.db", "reverie.db"),
        ("We pinned numpy==1.26.4", "1.26.4"),
        ("The tag is v2.3.1-rc1", "v2.3.1"),
        ("The budget is 1,250,000 euros", "1250000"),
        ("The room has ٢٥ chairs", "25"),
        ("Birthday cake 🎂 ordered", "🎂"),
        ("Set maxRetryCount to five", "retry count"),
        ("她住在北京市朝阳区望京街道", "北京望京"),
        ("国立京都国際会館で会う", "京都国際会館"),
    ],
)
def test_every_script_and_identifier_is_found(desk: Desk, text: str, query: str) -> None:
    """Two letters of Chinese, one letter, an emoji, identifiers and other scripts are found by words alone (P-13)."""
    kept = desk.remember(text)
    desk.remember("Nothing of the kind was ever said")
    assert [hit.id for hit in desk.hits(query)][:1] == [kept]
    desk.memory.drain()
    desk.memory.reindex()
    assert [hit.id for hit in desk.hits(query)][:1] == [kept]


@pytest.mark.parametrize(
    "query",
    [
        'tea AND "milk" OR (NEAR',
        "tea NEAR/3 milk",
        "tea:milk -sugar +lemon",
        "tea/milk - sugar : lemon . 'cup'",
        "te*a tea*",
        "tea\x00\x1b[31m\x07",
        "\ud800tea",
        "tea' OR 1=1; DROP TABLE entry; --",
        "tea " * 12_500,
        "^tea~2 [a TO z] {x}",
        "\\tea\\",
        "ＴＥＡ",
    ],
)
def test_syntax_never_hides_a_word(desk: Desk, query: str) -> None:
    """Operators, quotes, control characters and length never make a query that holds the word find nothing (P-14)."""
    desk.remember("User likes tea")
    assert "User likes tea" in desk.found(query)
    desk.memory.reindex()
    assert "User likes tea" in desk.found(query)


@pytest.mark.parametrize("query", ["", "   \n", "?!...", "()", "\x00\x01", "\ud800", '""', "- - -"])
def test_a_query_without_a_word_is_an_error(desk: Desk, query: str) -> None:
    """A query that asks for nothing is answered with a sentence, not with silence (P-14)."""
    desk.remember("User likes tea")
    with pytest.raises(UsageError, match="no word or number"):
        desk.memory.recall(query)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """A memory with a few entries that no test changes."""
    with Desk(tmp_path_factory.mktemp("shared")) as made:
        for text in ("User likes tea", "用户喜欢茶", "The rocket 🚀 is called v2.3", "O'Neil's \"plan\" (B)"):
            made.remember(text)
        made.memory.reindex()
        yield made


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(query=st.text(st.characters(codec=None, exclude_categories=()), max_size=60))
def test_any_query_is_answered(shared: Desk, query: str) -> None:
    """Any string, lone surrogates included, gives hits or one clear error (P-14)."""
    if tokens.terms(query):
        assert len(shared.hits(query)) <= 10
    else:
        with pytest.raises(UsageError, match="no word"):
            shared.hits(query)


@pytest.mark.parametrize("k", [0, -1, 1_001])
def test_a_number_of_hits_out_of_range_is_an_error(desk: Desk, k: int) -> None:
    """Fewer than one hit, or more than a thousand, cannot be asked for."""
    with pytest.raises(UsageError, match=f"k is {k}"):
        desk.memory.recall("tea", k=k)


def test_how_to_fill_in_a_core_file_is_no_memory(desk: Desk) -> None:
    """USER.md and SOUL.md are found once somebody wrote in them, and not by the words they start with."""
    assert desk.found("name, language, time zone and how to be addressed") == []
    desk.write("USER.md", "# User\n\nCall her Dana; her language is Dutch.\n")
    assert desk.hits("language")[0].kind == "core"


# Current before previous


def test_the_new_employer_comes_first_everywhere(desk: Desk) -> None:
    """After a change of employer recall, the page and MEMORY.md show the new one first, the old as previous (P-10)."""
    desk.clock.set(days_ago(5))
    desk.say("I work at Acme.", session="one")
    desk.clock.set(days_ago(3))
    desk.say("I now work at Globex.", session="two")
    desk.clock.set(NOON)
    desk.memory.extract()
    desk.memory.drain()
    entries = desk.hits("where does the user work", where=Where(include_previous=True))
    entries = [hit for hit in entries if hit.kind == "entry"]
    assert [hit.standing for hit in entries] == ["current", "superseded"]
    assert ["Globex" in hit.text for hit in entries] == [True, False]
    assert entries[0].score > entries[1].score
    assert desk.memory.dream(now=True).counts == {"cited": 1, "superseded": 1}
    (page,) = [path for path in desk.root.glob("notebook/3_Personal/*.md") if path.name != "Overview.md"]
    lines = [
        line for line in page.read_text(encoding="utf-8").splitlines() if "work" in line and "[[" in line
    ]
    assert ("Globex" in lines[0], "Previously" in lines[1], "Acme" in lines[1]) == (True, True, True)
    assert "Globex" in desk.text("MEMORY.md")
    assert "Acme" not in desk.text("MEMORY.md")
    hits = [hit for hit in desk.hits("where does the user work") if hit.kind != "turn"]
    assert "Globex" in hits[0].text
    assert all("Globex" in hit.text.partition("Acme")[0] for hit in hits)


def test_a_corrected_memory_ranks_below(desk: Desk) -> None:
    """What a correction replaced is found below its successor and marked, and nothing is lost (R-01)."""
    old = desk.remember("The office is in Bergen")
    new = desk.memory.correct(old, "The office is in Oslo", why="mistake").id
    hits = desk.hits("office")
    assert [(hit.id, hit.standing) for hit in hits] == [(new, "current"), (old, "wrong")]
    assert hits[1].why[0] == "wrong"


def test_as_of_a_day_nothing_later_counts(desk: Desk) -> None:
    """Asked as of an instant, recall shows what was known then, standing as it stood then."""
    old = desk.remember("The office is in Bergen")
    then = desk.clock()
    desk.clock.advance(days=3)
    new = desk.memory.correct(old, "The office is in Oslo", why="change").id
    desk.clock.advance(days=3)
    at = Where(as_of=then + timedelta(days=1))
    assert [(hit.id, hit.standing) for hit in desk.hits("office", where=at)] == [(old, "current")]
    now = Where(as_of=desk.clock())
    assert [hit.id for hit in desk.hits("office", where=now)] == [new, old]
    assert desk.found("office", where=Where(as_of=then - timedelta(seconds=1))) == []


def test_kept_promises_rank_as_done(desk: Desk) -> None:
    """A promise that was kept is still found, and marked as done."""
    kept = desk.remember("Send Dana the quote", due="2026-07-10")
    desk.memory.done(kept)
    assert [(hit.id, hit.standing) for hit in desk.hits("quote")] == [(kept, "done")]


def test_what_was_merely_discussed_is_marked(desk: Desk) -> None:
    """A text that was only quoted is found as discussed, below what was stated."""
    quoted = desk.remember("Backups run hourly", status="discussed")
    stated = desk.remember("Backups run nightly")
    assert [(hit.id, hit.standing) for hit in desk.hits("backups run")] == [
        (stated, "current"),
        (quoted, "discussed"),
    ]


def test_a_repeat_yields_to_what_it_repeats(desk: Desk) -> None:
    """The same statement made again is one hit, and each observation stands alone when one filters (R-03)."""
    for day in (3, 2, 1):
        desk.clock.set(days_ago(day))
        desk.say("I prefer window seats on trains.", session=f"day-{day}")
    desk.clock.set(NOON)
    desk.memory.extract()
    desk.memory.drain()
    assert [hit.day for hit in desk.hits("window seats") if hit.kind == "entry"] == ["2026-06-28"]
    preference = desk.memory.list()[0].entry.category
    assert len(desk.hits("window seats", where=Where(category=preference, session="day-1"))) == 1


@pytest.mark.slow
def test_two_processes_recall_and_write_at_once(desk: Desk) -> None:
    """While two processes write and recall, each finds every write of its own at once, and afterwards all stand."""
    code = """
for number in range(15):
    text = f"{sys.argv[3]} counted to {number} sheep"
    kept = memory.remember(text).id
    assert kept in {hit.id for hit in memory.recall(text).hits}, text
    if number % 5 == 4:
        memory.drain()
memory.close()
"""
    arguments = [str(desk.root), str(desk.home / "config")]
    running = [
        subprocess.Popen([sys.executable, "-c", _ELSEWHERE + code, *arguments, name], stderr=subprocess.PIPE)
        for name in ("anna", "boris")
    ]
    said = [process.communicate(timeout=120)[1].decode() for process in running]
    assert said == ["", ""]
    desk.memory.drain()
    assert desk.memory.status().entries == 30
    assert len(desk.hits("sheep", k=100)) == 30
