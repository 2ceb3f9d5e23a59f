"""Recent history in prompts: by session, past the dream cursor, bounded, nothing skipped when dreams begin late."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from desk import NOON, Desk, days_ago
from talks import NOON as TALK_NOON
from talks import S, chat, say, shown, user, workspace

from reverie.compact import compact
from reverie.consolidate import Plan
from reverie.context import ContextRequest
from reverie.core.forgetting.mask import Mask
from reverie.core.records import History, Run, Span, Tombstone, Turn
from reverie.core.settings.value import CompactionSettings, Settings
from reverie.errors import ModelFailed
from reverie.layout import HISTORY, RUNS
from reverie.store import history, stream
from reverie.store.workspace import Workspace
from reverie.testing import FixedClock, ScriptedModel, counter_ids

if TYPE_CHECKING:
    from pathlib import Path

SAID = "The user counts turns and says word after word."
DOWN = ModelFailed("the server cannot be reached: start it", kind="down")


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """Return a new workspace with a window of 1,000 tokens."""
    return workspace(tmp_path)


def keep(ws: Workspace, session: str, content: str, *, days: int = 0, n: int = 0, raw: bool = False) -> None:
    """Append a record of one turn."""
    at = TALK_NOON - timedelta(days=days)
    record = History(cursor=0, timestamp=at, session=session, turns=str(n), content=content, raw=raw)
    assert history.append(ws, record, history.reached(ws, session)) is not None


def test_a_session_sees_its_own_past(ws: Workspace) -> None:
    """A context for a session shows what left its window and nothing of others; one for none shows all (N-15)."""
    keep(ws, "one", "Dana plants tulips")
    keep(ws, "two", "Omar fixes bikes")
    assert "tulips" in shown(ws, session="one").text
    assert "bikes" not in shown(ws, session="one").text
    assert {"tulips", "bikes"} <= set(shown(ws).text.split())


def test_other_sessions_do_not_push_it_out(ws: Workspace) -> None:
    """A session's last record is found behind megabytes that others archived since."""
    keep(ws, "one", "Dana plants tulips")
    for n in range(6):
        keep(ws, "two", "word " * 60_000, n=n, raw=True)
    assert "tulips" in shown(ws, session="one").text


def test_what_a_dream_has_passed_is_left_out(ws: Workspace) -> None:
    """Records of days that the notebook has reached are in no prompt any more, later ones are."""
    keep(ws, S, "Dana plants tulips", days=2)
    keep(ws, S, "Omar fixes bikes", days=1, n=1)
    run = Run(
        run="dream:1", kind="dream", started=TALK_NOON, ended=TALK_NOON, dreamer="t", result="productive",
        watermark="2026-06-30",
    )  # fmt: skip
    stream.append(ws, RUNS, run)
    text = shown(ws, session=S).text
    assert ("tulips" in text, "bikes" in text) == (False, True)


def test_a_summary_is_shown_whole_and_in_order(ws: Workspace) -> None:
    """The lines of a summary follow one another as they were written, however long it is."""
    lines = [f"Line {n} tells of tulips and bikes." for n in range(60)]
    keep(ws, S, "\n".join(lines))
    found = [line for line in shown(ws, session=S).text.splitlines() if line.startswith("Line ")]
    assert found == lines


def test_the_budget_bounds_it(ws: Workspace) -> None:
    """However much left the window, the prompt stays within its tokens, and the newest is what it shows."""
    say(ws, chat(400))
    compact(ws, S)
    built = shown(ws, session=S, budget=1_500)
    assert built.tokens <= 1_500
    last = history.read(ws)[-1].content.rpartition("turn ")[2].split()[0]
    assert f"turn {last} " in built.text
    assert "turn 0 " not in built.text


def test_forgotten_and_excluded_turns_are_in_no_prompt(tmp_path: Path) -> None:
    """What was forgotten or excluded after it left the window is left out, and its neighbours stay."""
    ws = workspace(tmp_path)
    turns = say(ws, [user("I like walnuts"), user("I won the lottery"), user("I like plums"), *chat(60)])
    compact(ws, S)
    later = Workspace(
        tmp_path,
        Settings(exclusions=("lottery",), compaction=CompactionSettings(context_tokens=1_000)),
        clock=FixedClock(TALK_NOON),
        new_id=counter_ids(0x2000),
    )
    mask = Mask([Tombstone(id="t", at=TALK_NOON, spans=(Span(session=S, turn=turns[0].id, n=0),))])
    text = shown(later, mask=mask, session=S, budget=60_000).text
    assert [word for word in ("walnuts", "lottery", "plums") if word in text] == ["plums"]


def test_turns_set_aside_unread_are_not_shown_twice(ws: Workspace) -> None:
    """Turns that nothing could extract are still in the session's window, so the history shows them to nobody."""
    aside = History(cursor=0, timestamp=TALK_NOON, session=S, turns="0", content="[0] tulips")
    history.set_aside(ws, aside)
    assert "tulips" not in shown(ws, session=S).text


# Over time


def month(desk: Desk, days: int, turns: int) -> None:
    """Talk so many turns on each of the days before today, and consolidate every night."""
    for day in range(days, 0, -1):
        desk.clock.set(days_ago(day))
        for n in range(turns):
            role = ("user", "assistant")[n % 2]
            text = f"I prefer supplier {day * 1000 + n} for the office." if n % 20 == 0 else "word " * 30
            desk.memory.capture("long", Turn(role=role, content=text, at=desk.clock()))
        desk.memory.consolidate()


@pytest.mark.slow
def test_a_month_without_dreams_is_caught_up_later(tmp_path: Path) -> None:
    """After a month without dreams prompts stay bounded, and nothing of it is skipped (R-16, N-07, N-34)."""
    with Desk(
        tmp_path,
        **{"dream.enabled": "false", "compaction.context_tokens": "2000", "context.budget_tokens": "3000"},
    ) as desk:
        month(desk, 30, 80)
        desk.clock.set(NOON)
        assert desk.memory.context(ContextRequest(session="long")).tokens <= 3_000
        ids = {one.entry.id for one in desk.memory.list()}
        raw = [one for one in history.read(desk.memory.opened.ws) if one.raw]
        assert len(ids) > 60
        assert len(raw) > 60
        assert sum(desk.memory.status().pending.values()) == len(ids) + len(raw)
        awake = desk.again(flags={"zone": "UTC", "compaction.context_tokens": "2000"})
        while sum(awake.status().pending.values()):
            before = awake.status().pending
            awake.dream(now=True)
            assert awake.status().pending != before
        outcomes = awake.status().outcomes
        assert sum(outcomes.values()) >= len(ids) + len(raw)
        assert awake.status().watermark == "2026-06-30"
        assert [one for one in awake.check() if one.severity == "error"] == []


def test_a_slice_that_no_model_condensed_is_named(tmp_path: Path) -> None:
    """`status` names slices that are raw because the model failed, until a dream has settled them."""
    with Desk(tmp_path, **{"compaction.context_tokens": "1000"}) as desk:
        memory = desk.again(model=ScriptedModel([DOWN], loop=True))
        for n in range(40):
            desk.say(f"word {n} " * 30, session="s1")
        done = memory.compact("s1")
        assert str(DOWN) in done.problem
        named = [one for one in memory.status().problems if "word for word" in one.what]
        assert str(DOWN) in named[0].what
        desk.memory.consolidate()
        desk.clock.advance(days=1)
        desk.memory.dream(now=True)
        assert [one for one in desk.memory.status().problems if "word for word" in one.what] == []


def test_a_stage_that_fails_stays_named_until_it_runs(tmp_path: Path) -> None:
    """`status` names what failed when it was last run: a run of another part keeps it, a good one clears it."""
    with Desk(tmp_path) as desk:
        for n in range(6):
            desk.say(f"I moved desk {n} to the window.", session="s1")
        desk.memory.consolidate(Plan(drain_only=True))
        desk.memory.extract()
        memory = desk.again(model=ScriptedModel([DOWN], loop=True))
        done = memory.consolidate(Plan(promote_only=True))
        assert done.problems == (f"digest: summaries: {DOWN}",)
        assert done.stages == ("digest", "publish")
        told = f"digest: summaries: {DOWN}"
        assert told in [one.what for one in memory.status().problems]
        desk.memory.consolidate(Plan(drain_only=True))
        assert told in [one.what for one in memory.status().problems]
        desk.memory.consolidate()
        assert told not in [one.what for one in memory.status().problems]


def test_history_is_compacted_before_a_prompt_is_built(tmp_path: Path) -> None:
    """A context for a session that is over its budget shows the summary of what just left (N-10)."""
    with Desk(tmp_path, **{"compaction.context_tokens": "1000"}) as desk:
        for n in range(60):
            desk.say(f"word {n} " * 20, session="s1")
        desk.memory.extract()
        memory = desk.again(model=ScriptedModel([SAID], loop=True))
        assert SAID in memory.context(ContextRequest(session="s1")).text
        assert (desk.root / HISTORY).exists()
