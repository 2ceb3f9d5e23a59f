"""Step 6: the digests of today, the week and the long term."""

from __future__ import annotations

from pathlib import Path

import pytest
from memory_states import CALENDAR, STORE
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

from reverie.core.forgetting.mask import Mask
from reverie.core.glance.digest_lines import Request, compile_digest, periods
from reverie.core.glance.memory_lines import cited_lines
from reverie.core.records import Tombstone
from reverie.core.settings.value import FactSettings, SummarySettings
from reverie.core.text.tokens import estimate
from reverie.digest import digest, summarise
from reverie.store.workspace import Workspace

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


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """Return a new workspace."""
    return workspace(tmp_path)


def all_digests(ws: Workspace) -> list[str]:
    """Return the three digests."""
    return [read_digest(ws, name) for name in ("today", "week", "longterm")]


# Digests


def test_an_empty_store_has_valid_digests(ws: Workspace) -> None:
    """With nothing remembered the three digests are small valid files, written once."""
    state = state_of(ws)
    done = digest(ws, state)
    assert done.changed == ("digests/today.md", "digests/week.md", "digests/longterm.md")
    assert all_digests(ws) == [
        "# Today - 2026-07-02\n\nNothing yet.\n",
        "# Week - 2026-06-22 to 2026-07-01\n\nNothing yet.\n",
        "# Long-term - up to 2026-06-21\n\nNothing yet.\n",
    ]
    assert digest(ws, state).changed == ()


def test_each_digest_holds_its_own_days(ws: Workspace) -> None:
    """Today's digest holds only today, however long ago its session began, and no entry is in two digests (R-41)."""
    days = ("2026-07-02", "2026-07-01", "2026-06-22", "2026-06-21", "2024-01-01")
    remembered(ws, *(entry(n, f"Fact number {n}", day=day, session=S, sig=0.9) for n, day in enumerate(days)))
    digest(ws, state_of(ws))
    found = [sorted(int(cited.ids[0], 16) for cited in cited_lines(text)) for text in all_digests(ws)]
    assert found == [[0], [1, 2], [3, 4]]


def test_a_digest_reads_by_section_with_requests_last(ws: Workspace) -> None:
    """Entries stand under their categories with their ids, requests last with the summary they are from."""
    say(ws, FIRST)
    extracted(ws, 6, FOUND)
    summarise(ws, state_of(ws))
    digest(ws, state_of(ws))
    (path,) = texts(ws)
    assert read_digest(ws, "today") == (
        "# Today - 2026-07-02\n\n"
        "## Key Decisions\n\n- The team ships on Friday `mem_id: 0000000000000001`\n\n"
        "## Preferences\n\n- User prefers short mails `mem_id: 0000000000000002`\n\n"
        f"## Requests\n\n- Asked: Please draft the announcement for Friday. [[{path[:-3]}]]\n"
    )


def test_the_same_store_gives_the_same_bytes(ws: Workspace) -> None:
    """A digest compiled again, deleted or not, has the same bytes, and is written when they differ (R-42, L-20)."""
    remembered(ws, *(entry(n, f"Fact number {n}", sig=n % 10 / 10) for n in range(100)))
    digest(ws, state_of(ws))
    before = all_digests(ws)
    for _ in range(5):
        assert digest(ws, state_of(ws)).changed == ()
    (ws.root / "digests/today.md").unlink()
    assert digest(ws, state_of(ws)).changed == ("digests/today.md",)
    assert all_digests(ws) == before


def test_only_what_holds_is_digested(ws: Workspace) -> None:
    """What is hidden, superseded, done, forgotten or only discussed is in no digest (P-10)."""
    kinds = {1: "hide", 2: "complete", 3: "cancel"}
    remembered(
        ws,
        *(entry(n, f"Fact number {n}", category="commitment") for n in kinds),
        entry(4, "Works at Google"),
        entry(5, "Works at Microsoft"),
        entry(6, "Somebody said the moon is cheese", status="discussed"),
        entry(7, "Likes walnuts"),
    )
    for n, kind in kinds.items():
        happened(ws, kind, n)
    happened(ws, "supersede", 5, other=f"{4:016x}")
    mask = Mask([Tombstone(id="t", at=NOON, entries=(f"{7:016x}",))])
    digest(ws, state_of(ws, mask), masked=mask)
    assert [cited.text for cited in cited_lines(read_digest(ws, "today"))] == ["Works at Microsoft"]


@pytest.mark.parametrize("tokens", [100, 400, 2_000])
def test_a_digest_stays_within_its_tokens_and_keeps_the_most_significant(tokens: int) -> None:
    """Of two thousand entries the most significant are kept, each once, within the tokens there are (L-19)."""
    settings = SummarySettings(max_longterm_tokens=tokens)
    period = periods("2027-01-01", settings)[2]
    requests = [Request("2026-07-01T00:00:00Z", "Asked: why?", "summaries/x.md")]
    now = CALENDAR.start("2026-07-02")
    text = compile_digest(period, STORE, requests=requests, now=now, facts=FactSettings(), calendar=CALENDAR)
    again = compile_digest(
        period, STORE[::-1], requests=requests, now=now, facts=FactSettings(), calendar=CALENDAR
    )
    ids = [one for cited in cited_lines(text) for one in cited.ids]
    assert text == again
    assert estimate(text) <= tokens
    assert len(ids) == len(set(ids)) > 0
    shown = {state.entry.id: state for state in STORE}
    assert all(shown[one].pinned for one in ids) or tokens == 2_000
    assert "Asked" not in text
