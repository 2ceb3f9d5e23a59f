"""Tests of core.memory_file: what MEMORY.md holds, in which form and order."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from memory_states import (
    AT,
    DAY,
    compiled,
    headings,
    publishing,
    state_of,
)
from msgspec import structs

from reverie.core.fold import EntryState, fold
from reverie.core.glance.memory_file import merge_block
from reverie.core.pages.blocks import Block, find_block
from reverie.core.records import Entry, Event
from reverie.core.settings.value import Settings

# What a line and the file look like


def test_the_documented_file() -> None:
    """The design's example comes out byte for byte: sections in order, marks, text, id."""
    states = [
        state_of(
            3,
            "Dana from Zephyr Logistics escalated ticket 4411 on the call today; we agreed a workaround.",
            id="1e66c92f07e2d62d",
            category="episode",
        ),
        state_of(
            2,
            "Zephyr Logistics renews its support contract every March.",
            id="83f33219d7033862",
            stare=(0.8, 0.3, None, None, None),
        ),
        state_of(1, "To issue a refund, run scripts/refund.sh.", id="2b47366a861a87ca", category="procedure"),
    ]
    assert compiled(states) == (
        "# Memory\n\n"
        "## Capabilities\n\n"
        "- ————— To issue a refund, run scripts/refund.sh. `mem_id: 2b47366a861a87ca`\n\n"
        "## Core Facts\n\n"
        "- ●○——— Zephyr Logistics renews its support contract every March. `mem_id: 83f33219d7033862`\n\n"
        "## Key Episodes\n\n"
        "- ————— Dana from Zephyr Logistics escalated ticket 4411 on the call today; we agreed a workaround. "
        "`mem_id: 1e66c92f07e2d62d`\n"
    )


def test_an_empty_store_has_a_title() -> None:
    """With nothing to show the block is its title."""
    assert compiled([]) == "# Memory\n"


def test_sections_stand_in_one_order() -> None:
    """Capabilities, facts, decisions, episodes, the other known categories, then the store's own by name."""
    kinds = [
        "zoo",
        "lesson",
        "event",
        "user_preference",
        "own-kind",
        "decision",
        "commitment",
        "fact",
        "procedure",
    ]
    states = [state_of(number, category=kind) for number, kind in enumerate(kinds)]
    assert headings(compiled(states)) == [
        "# Memory",
        "## Capabilities",
        "## Commitments",
        "## Core Facts",
        "## Key Decisions",
        "## Key Episodes",
        "## Preferences",
        "## Lessons",
        "## Own Kind",
        "## Zoo",
    ]


@pytest.mark.parametrize(
    "state",
    [
        state_of(1, happened="hide"),
        state_of(1, happened="forget"),
        state_of(1, category="commitment", happened="complete"),
        state_of(1, category="commitment", happened="cancel"),
        state_of(1, status="discussed"),
        state_of(1, sig=0.1),
        state_of(1, sig=0.21, at=AT - timedelta(days=9)),
        state_of(1, until="2026-07-01"),
        state_of(1, category="procedure", origin="web"),
        fold(
            Entry(id="1" * 16, text="x", at=AT, day=DAY),
            (Event(id="e", at=AT, kind="supersede", entry="2" * 16, other="1" * 16),),
        ),
        fold(
            Entry(id="1" * 16, text="x", at=AT, day=DAY),
            (Event(id="e", at=AT, kind="feedback", entry="1" * 16, value="wrong"),),
        ),
    ],
)
def test_what_does_not_hold_is_left_out(state: EntryState) -> None:
    """Hidden, forgotten, done, cancelled, discussed, faded, ended, superseded and wrong entries are not shown."""
    assert compiled([state]) == "# Memory\n"


def test_a_pin_is_shown_however_low() -> None:
    """A pinned entry of low significance stays."""
    assert "Fact number 1." in compiled([state_of(1, sig=0.05, happened="pin")])


def test_the_new_employer_is_shown_alone() -> None:
    """After "works at Microsoft" superseded "works at Google", MEMORY.md says Microsoft (R-01, P-10)."""
    link = Event(id="e", at=AT, kind="supersede", entry=f"{2:016x}", other=f"{1:016x}")
    old, new = (state_of(n, f"User works at {name}").entry for n, name in ((1, "Google"), (2, "Microsoft")))
    inner = compiled([fold(old, (link,)), fold(new, (link,))])
    assert "Microsoft" in inner
    assert "Google" not in inner


def test_lines_of_a_section_stand_by_rank() -> None:
    """Pins come first, then weight decides."""
    states = [
        state_of(1, sig=0.3),
        state_of(2, sig=0.8),
        state_of(3, sig=0.4, happened="pin"),
        state_of(4, sig=0.95),
    ]
    ids = [line[-17:-1] for line in compiled(states).splitlines() if line.startswith("- ")]
    assert [int(id_, 16) for id_ in ids] == [3, 4, 2, 1]


@pytest.mark.parametrize(
    "text",
    [
        "a\nb\r\nc\u2028d",
        "<!-- reverie:end -->",
        "`<!-- reverie:begin sha256=00 -->`",
        "```\ncode",
        "# heading\n## Core Facts\n- item",
        "say ` and \\",
        "nul \x00 bell \x07 lone \ud800 over\u202eride",
        "![pixel](http://example.invalid/p.png) [[Other#^abc]] <script>",
        "mem_id: ffffffffffffffff `mem_id: ffffffffffffffff`",
    ],
)
def test_memory_text_cannot_break_the_file(text: str) -> None:
    """Any text is one line with its own id last, in a block that reads back intact (P-18)."""
    inner = compiled([state_of(1, text)])
    lines = inner.splitlines()
    assert len(lines) == 5
    assert headings(inner) == ["# Memory", "## Core Facts"]
    assert lines[-1].endswith(" `mem_id: 0000000000000001`")
    assert lines[-1].count("`mem_id: ") == 1
    file = merge_block("mine\n", inner).text.encode().decode()
    found = find_block(file)
    assert isinstance(found, Block)
    assert found.intact


def test_uses_decide_between_equals_alone() -> None:
    """Of two entries of one weight the used one stands first, and uses lift none over a heavier one (R-31)."""
    plain, used = state_of(1, "plain"), structs.replace(state_of(2, "used"), uses=1_000)
    heavier = state_of(3, "heavier", sig=0.51)
    text = compiled([plain, used, heavier])
    assert text.index("heavier") < text.index("used") < text.index("plain")


def test_line_breaks_stay_visible() -> None:
    """The steps of a procedure stay apart."""
    assert "1\\. stop<br>2\\. start" in compiled([state_of(1, "1. stop\n\n2. start", category="procedure")])


def test_decay_settings_are_honoured() -> None:
    """Without decay an old entry of low significance is shown."""
    old = state_of(1, sig=0.25, at=AT - timedelta(days=60))
    still = replace(Settings(), facts=replace(Settings().facts, max_importance_decay=0.0))
    assert compiled([old]) == "# Memory\n"
    assert "Fact number 1." in compiled([old], settings=still)


# Commitments


def promises() -> list[EntryState]:
    """Return promises that are overdue, due today, to come, and without a date, and a procedure."""
    whens = ["2026-07-10", "", "2026-07-02", "2026-06-30"]
    found = [
        state_of(n, f"promise {n}", category="commitment", who="Agent", due=due)
        for n, due in enumerate(whens, start=1)
    ]
    return [*found, state_of(9, category="procedure")]


def test_commitments_have_their_list_when_enabled() -> None:
    """The list stands after the capabilities, in the form and order of `due`, as of the day's first instant."""
    inner = compiled(promises(), settings=publishing(commitments=True))
    assert inner == (
        "# Memory\n\n## Capabilities\n\n- ————— Fact number 9. `mem_id: 0000000000000009`\n\n"
        "## Commitments (due / overdue)\n\n"
        "- overdue 2026-06-30: promise 4 (from Agent) `mem_id: 0000000000000004`\n"
        "- today 2026-07-02: promise 3 (from Agent) `mem_id: 0000000000000003`\n"
        "- upcoming 2026-07-10: promise 1 (from Agent) `mem_id: 0000000000000001`\n"
        "- no date: promise 2 (from Agent) `mem_id: 0000000000000002`\n"
    )


def test_commitments_are_a_category_when_not() -> None:
    """Without the list, open promises are lines like others under their category's heading."""
    inner = compiled(promises())
    assert headings(inner) == ["# Memory", "## Capabilities", "## Commitments"]
    assert "- ——" in inner


def test_pressing_promises_go_after_other_plain_lines() -> None:
    """When room is short, a light promise that is overdue stays and heavier plain facts go."""
    facts = [state_of(n, "x" * 200, sig=0.8) for n in range(100, 300)]
    late = state_of(1, "promise", category="commitment", due="2026-06-30", sig=0.3)
    assert "promise" in compiled([*facts, late], settings=publishing(commitments=True))
