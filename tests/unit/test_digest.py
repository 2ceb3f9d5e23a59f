"""Step 6: summaries of sessions."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memory_states import CALENDAR, DAY
from talks import (
    NOON,
    S,
    agent,
    entry,
    extracted,
    happened,
    read_digest,
    remembered,
    say,
    state_of,
    texts,
    user,
    workspace,
)

from reverie.core.fold import fold
from reverie.core.forgetting.mask import Mask
from reverie.core.records import Span, Tombstone, Turn
from reverie.core.sessions.summary import groups, parse, request_of, section_of, title_of
from reverie.core.settings.value import Settings
from reverie.digest import digest, summarise
from reverie.store import sessions, summaries
from reverie.store.workspace import Workspace
from reverie.testing import CrashDisk, FixedClock, counter_ids, crash_loop

if TYPE_CHECKING:
    from collections.abc import Callable

FILE = re.compile(r"summaries/2026-07-02_team-standup-[0-9a-f]{8}\.md")
FIRST = [
    user("Please draft the announcement for Friday."),
    agent("Here is a draft."),
    user("Good. We ship on Friday, and I prefer short mails."),
    agent("Noted."),
    user("Thanks"),
    agent("You are welcome."),
]
FOUND = [
    entry(1, "The team ships on Friday", category="decision", turns="2"),
    entry(2, "User prefers short mails", category="preference", turns="2", sig=0.8),
]
SECTION = """\
# Session Summary - 2026-07-02 (session:: team standup)

## 2026-07-02T12:00:00Z

- Asked: Please draft the announcement for Friday. (turn:: 0)
- Decision: The team ships on Friday `mem_id: 0000000000000001`
- Preference: User prefers short mails `mem_id: 0000000000000002`

(turns:: 0-5)
"""
RACER = """
import sys
from pathlib import Path
from talks import state_of
from reverie.core.settings.value import Settings
from reverie.digest import summarise
from reverie.store.workspace import Workspace
from reverie.testing import FixedClock, counter_ids
from talks import NOON
ws = Workspace(Path(sys.argv[1]), Settings(), clock=FixedClock(NOON), new_id=counter_ids())
state = state_of(ws)
sys.stdin.readline()
print(summarise(ws, state).sections)
"""


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """Return a new workspace."""
    return workspace(tmp_path)


# Summaries


def test_six_turns_are_summarised(ws: Workspace) -> None:
    """Six new turns give a section with what was found in them and what the user asked for, each with its source."""
    say(ws, FIRST)
    extracted(ws, 6, FOUND)
    done = summarise(ws, state_of(ws))
    assert (done.sections, done.sessions, done.due.digest) == (1, (S,), True)
    ((path, text),) = texts(ws).items()
    assert FILE.fullmatch(path)
    assert text == SECTION


def test_a_summary_resumes_where_it_stopped(ws: Workspace) -> None:
    """Running again writes nothing, and more turns are summarised from the first new one on."""
    say(ws, FIRST)
    extracted(ws, 6)
    summarise(ws, state_of(ws))
    assert summarise(ws, state_of(ws)).sections == 0
    say(ws, FIRST * 2)
    extracted(ws, 18, start=6)
    assert summarise(ws, state_of(ws)).sections == 2
    ((_, text),) = texts(ws).items()
    assert [(one.first, one.last) for one in parse(text).sections] == [(0, 5), (6, 11), (12, 17)]
    assert text.count("# Session Summary") == 1


def test_fewer_turns_wait_for_the_end_of_the_session(ws: Workspace) -> None:
    """Fewer than six turns of the present day are summarised when the session ends."""
    say(ws, FIRST[:3])
    extracted(ws, 3)
    assert summarise(ws, state_of(ws)).sections == 0
    sessions.switch(ws, S, "end")
    assert summarise(ws, state_of(ws)).sections == 1
    assert summarise(ws, state_of(ws)).sections == 0


def test_a_session_nobody_closed_is_summarised_the_next_day(ws: Workspace) -> None:
    """Turns of a day that is over are summarised, though the session is still open."""
    yesterday = NOON - timedelta(days=1)
    say(ws, [Turn(role="user", content="Please renew the domain.", at=yesterday)])
    extracted(ws, 1)
    assert summarise(ws, state_of(ws)).sections == 1
    assert next(iter(texts(ws))).startswith("summaries/2026-07-01_")


def test_turns_wait_until_they_are_extracted(ws: Workspace) -> None:
    """Turns that nobody has extracted are not summarised without what they say."""
    say(ws, FIRST)
    assert summarise(ws, state_of(ws)).sections == 0
    extracted(ws, 6)
    assert summarise(ws, state_of(ws)).sections == 1


def test_a_session_across_midnight_has_a_file_a_day(ws: Workspace) -> None:
    """A section holds turns of one logical day, and stands in that day's file (R-40)."""
    before = NOON - timedelta(days=1)
    say(ws, [user(f"Please do {n} and report", at=before) for n in range(4)] + FIRST)
    extracted(ws, 10)
    assert summarise(ws, state_of(ws)).sections == 2
    assert [path[10:20] for path in texts(ws)] == ["2026-07-01", "2026-07-02"]


def test_a_torn_section_is_written_again(ws: Workspace) -> None:
    """A section that a crash cut off says nothing, and its turns are summarised again below it."""
    say(ws, FIRST)
    extracted(ws, 6, FOUND)
    summarise(ws, state_of(ws))
    (path,) = texts(ws)
    (ws.root / path).write_text(SECTION[:180], encoding="utf-8")
    assert summarise(ws, state_of(ws)).sections == 1
    (section,) = parse(texts(ws)[path]).sections
    assert (section.first, section.last, len(section.items)) == (0, 5, 3)


@pytest.mark.slow
def test_no_crash_loses_or_doubles_a_summary(tmp_path: Path) -> None:
    """Wherever the power is cut, the next run leaves each turn in exactly one whole section."""
    places = count()
    begun = workspace(tmp_path / "begun")
    say(begun, FIRST * 2)
    extracted(begun, 12, FOUND)
    state_of(begun).close()

    def make() -> Path:
        return Path(shutil.copytree(begun.root, tmp_path / str(next(places))))

    def scenario(disk: CrashDisk, tell: Callable[[str], None]) -> None:
        found = Workspace(disk.root, Settings(), clock=FixedClock(NOON), new_id=counter_ids(), disk=disk)
        state = state_of(found)
        tell(str(summarise(found, state).sections))
        digest(found, state)

    for wreck in crash_loop(make, scenario, seeds=(0, 2, 3)):
        found = Workspace(wreck.root, Settings(), clock=FixedClock(NOON), new_id=counter_ids())
        state = state_of(found)
        if wreck.told:
            assert summarise(found, state).sections == 0
        summarise(found, state)
        digest(found, state)
        ((_, text),) = texts(found).items()
        summary = parse(text)
        assert (summary.day, summary.session) == (DAY, S)
        assert [(one.first, one.last) for one in summary.sections] == [(0, 5), (6, 11)]
        assert "The team ships on Friday" in read_digest(found, "today")


def test_two_processes_summarise_once(ws: Workspace) -> None:
    """Two processes that summarise at once write each section once between them (L-22)."""
    say(ws, FIRST * 5)
    extracted(ws, 30)
    state_of(ws).close()
    command = [sys.executable, "-c", RACER, str(ws.root)]
    folder = str(Path(__file__).parent)
    racers = [
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={"PYTHONPATH": folder}
        )
        for _ in range(2)
    ]
    told = [int(racer.communicate("\n", timeout=120)[0]) for racer in racers]
    written = sum(told)
    ((_, text),) = texts(ws).items()
    assert len(parse(text).sections) == written
    summarise(ws, state_of(ws))
    ((_, text),) = texts(ws).items()
    assert [(one.first, one.last) for one in parse(text).sections] == [(6 * n, 6 * n + 5) for n in range(5)]


def test_nothing_forgotten_or_excluded_is_summarised(tmp_path: Path) -> None:
    """A forgotten turn, a forgotten entry and an excluded topic are in no summary that is written afterwards."""
    ws = workspace(tmp_path)
    stored = say(
        ws, [user("Please order walnuts today."), user("Can you book the dentist appointment?"), *FIRST[:4]]
    )
    extracted(ws, 6, FOUND)
    mask = Mask([Tombstone(id="t", at=NOON, entries=(FOUND[0].id,), spans=(Span(S, stored[0].id, n=0),))])
    hushed = Workspace(
        tmp_path, Settings(exclusions=("dentist",)), clock=FixedClock(NOON), new_id=counter_ids()
    )
    summarise(hushed, state_of(hushed, mask), masked=mask)
    ((_, text),) = texts(ws).items()
    assert "walnuts" not in text
    assert "dentist" not in text
    assert "ships" not in text
    assert "short mails" in text


def test_what_is_forgotten_later_is_no_longer_read(ws: Workspace) -> None:
    """Lines of a summary on a turn or an entry forgotten since are passed over, their neighbours are not (R-25)."""
    stored = say(ws, FIRST)
    extracted(ws, 6, FOUND)
    summarise(ws, state_of(ws))
    mask = Mask([Tombstone(id="t", at=NOON, entries=(FOUND[0].id,), spans=(Span(S, stored[0].id, n=0),))])
    (path,) = texts(ws)
    summary = summaries.read(ws, path)
    known = state_of(ws, mask).find(summary.entries)
    (section,) = summaries.shown(summary, known, masked=mask)
    assert [item.text for item in section.items] == ["Preference: User prefers short mails"]


def test_secrets_do_not_enter_a_summary(ws: Workspace) -> None:
    """A secret in a turn captured without redaction is taken out of the request's line (R-44)."""
    say(ws, [user("Please deploy with AKIAIOSFODNN7EXAMPLE to staging."), *FIRST[1:]])
    extracted(ws, 6)
    summarise(ws, state_of(ws))
    ((_, text),) = texts(ws).items()
    assert "AKIA" not in text
    assert "Please deploy with" in text


def test_done_promises_and_silence_are_told(ws: Workspace) -> None:
    """A promise kept reads as done; turns that say nothing give a section that says so, and are not looked at again."""
    say(ws, [agent("…")] * 12)
    remembered(ws, entry(7, "Send Dana the quote", category="commitment", turns="3", session=S))
    happened(ws, "complete", 7)
    extracted(ws, 12)
    assert summarise(ws, state_of(ws)).sections == 2
    assert summarise(ws, state_of(ws)).sections == 0
    ((_, text),) = texts(ws).items()
    assert "- Done: Send Dana the quote `mem_id: 0000000000000007`" in text
    assert "Nothing to note." in text


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("Hi! Could you check the build?", "Could you check the build?"),
        ("The build is red. What broke it?", "What broke it?"),
        ("ok thanks", ""),
        ("And you?", ""),
        ("I moved to Lisbon.", ""),
        ("帮我查一下周五的航班。谢谢", "帮我查一下周五的航班。"),
        ("> Can you read this quoted question?\nNo.", ""),
        ("```\nplease run this code\n```", ""),
        ("Fix the parser\nand nothing else", "Fix the parser"),
    ],
)
def test_requests_are_told_from_statements(text: str, asked: str) -> None:
    """What a user asks for is his first question or request in his own words, quotes and code aside."""
    assert request_of(user(text)) == asked


def test_injected_memory_is_no_request() -> None:
    """Memory that came back in a turn is not what the user asks for (P-09)."""
    assert request_of(user("Can you book the table again?", injected=((0, 29),))) == ""


@given(st.text(max_size=400), st.text(max_size=80), st.integers(0, 9))
def test_any_text_reads_back_from_a_section(text: str, name: str, n: int) -> None:
    """Whatever entries, requests and names hold, a section reads back with its turns, ids and nothing forged."""
    name = name.encode("utf-8", "ignore").decode() or "s"
    found = entry(5, text or "x", turns=str(n))
    said = section_of([user(text, n=n)], [fold(found, ())], clean=lambda _turn, _text: text.strip())
    summary = parse(f"{title_of(DAY, name)}{said}")
    assert (summary.day, summary.session) == (DAY, name)
    (section,) = summary.sections
    assert (section.first, section.last) == (n, n)
    assert {item.entry for item in section.items} - {""} <= {found.id}
    assert {item.turn for item in section.items} - {-1} <= {n}


@given(st.lists(st.integers(0, 3), max_size=30), st.integers(1, 7), st.booleans(), st.integers(0, 30))
def test_groups_do_not_depend_on_when_they_are_made(
    days: list[int],
    every: int,
    ended: bool,  # noqa: FBT001 - drawn by hypothesis
    seen: int,
) -> None:
    """Turns fall into the same groups whether all are there or some came first, and no group spans two days."""
    turns = [
        Turn(role="user", content="x", at=NOON + timedelta(days=day), n=n)
        for n, day in enumerate(sorted(days))
    ]

    def made(some: list[Turn], *, end: bool) -> list[tuple[Turn, ...]]:
        return groups(some, every=every, calendar=CALENDAR, today=DAY, ended=end)

    whole = made(turns, end=ended)
    first = made(turns[:seen], end=False)
    rest = made(turns[sum(map(len, first)) :], end=ended)
    assert first + rest == whole
    assert all(len({CALENDAR.day(turn.at) for turn in group}) == 1 and len(group) <= every for group in whole)
    assert not ended or sum(map(len, whole)) == len(turns)
