"""Step 5 with a model: what it condenses, and what becomes of a slice when it fails."""

from __future__ import annotations

import shutil
from itertools import count
from typing import TYPE_CHECKING

import pytest
from talks import NOON, S, chat, say, user, workspace

from reverie.compact import active, compact
from reverie.core.forgetting.mask import Mask
from reverie.core.records import History, Span, Tombstone
from reverie.core.sessions.active_window import parse_range
from reverie.core.settings.value import CompactionSettings, Settings
from reverie.errors import ModelFailed
from reverie.model.asking import Reply, Request
from reverie.store import history, sessions
from reverie.store.workspace import Workspace
from reverie.testing import CrashDisk, FixedClock, ScriptedModel, counter_ids, crash_loop

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SETTINGS = Settings(compaction=CompactionSettings(context_tokens=1_000))
SAID = "The user counts turns and says word after word."
DOWN = ModelFailed("the server cannot be reached: start it", kind="down")


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """Return a new workspace with a window of 1,000 tokens."""
    return workspace(tmp_path)


def spans(ws: Workspace) -> list[int]:
    """Return every ordinal that the history covers, in order."""
    found = [span for record in history.read(ws) if (span := parse_range(record.turns))]
    return [n for first, last in found for n in range(first, last + 1)]


def test_what_leaves_is_condensed(ws: Workspace) -> None:
    """With a model each slice becomes its words, under the next cursor, and says who wrote them."""
    say(ws, chat(80))
    model = ScriptedModel([SAID], loop=True)
    done = compact(ws, S, model=model)
    records = history.read(ws)
    assert records == list(done.records)
    assert {(one.content, one.raw, one.by, one.why) for one in records} == {(SAID, False, model.name, "")}
    assert len(model.requests) == len(records) > 2
    assert (done.problem, spans(ws)) == ("", list(range(done.archived)))
    assert [turn.n for turn in active(ws, S)] == [turn.n for turn in done.stays]
    assert all("word word" in request.text for request in model.requests)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "(nothing)",
        "<html><body>502</body></html>",
        "I'm sorry, but I can't do that.",
        "word " * 5_000,
        "The user works at Initech since 2031-01-01.",
        Reply(text=SAID, finished=False),
        ModelFailed("it refused", kind="refused"),
    ],
)
def test_an_answer_that_cannot_be_used_costs_form_alone(
    ws: Workspace, reply: str | Reply | ModelFailed
) -> None:
    """After an empty, foreign, invented or endless answer that slice alone is raw, and says why (N-13, N-14)."""
    said = say(ws, chat(80))
    model = ScriptedModel([reply, SAID], loop=True)
    done = compact(ws, S, model=model)
    first, *rest = history.read(ws)
    assert first.raw
    assert first.why
    assert said[0].content in first.content
    assert not [one for one in rest if one.raw]
    assert first.why in done.problem


def test_a_model_that_is_away_is_asked_once(ws: Workspace) -> None:
    """When the model cannot be reached every slice of that run is raw, and nobody waits for it again (P-05)."""
    said = say(ws, chat(80))
    model = ScriptedModel([DOWN])
    done = compact(ws, S, model=model)
    records = history.read(ws)
    assert len(model.requests) == 1
    assert {(one.raw, one.why) for one in records} == {(True, str(DOWN))}
    assert all(turn.content in "".join(one.content for one in records) for turn in said[: done.archived])
    assert str(DOWN) in done.problem


def test_without_a_model_raw_is_no_failure(ws: Workspace) -> None:
    """With no model raw records are the normal form: they say no reason, and nothing is a problem (R-50)."""
    say(ws, chat(80))
    done = compact(ws, S)
    assert {(one.raw, one.why) for one in done.records} == {(True, "")}
    assert done.problem == ""


def test_what_may_not_be_read_is_not_sent(tmp_path: Path) -> None:
    """Injected memory, excluded topics and secrets reach neither the model nor the record (R-44, P-09)."""
    settings = Settings(compaction=CompactionSettings(context_tokens=1_000), exclusions=("lottery",))
    ws = Workspace(tmp_path, settings, clock=FixedClock(NOON), new_id=counter_ids())
    key = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
    shown = "- Dana prefers calls before noon"
    say(
        ws,
        [
            user(f"{shown} and so on", injected=((0, len(shown)),)),
            user("I won the lottery"),
            user(f"The key is {key}."),
            *chat(60),
        ],
    )
    model = ScriptedModel([f"{SAID}\nThe key is {key}.\nThe lottery was won."], loop=True)
    done = compact(ws, S, model=model)
    everything = "".join(request.text for request in model.requests)
    everything += "".join(one.content for one in done.records)
    for hidden in (shown, "lottery", key):
        assert hidden not in everything
    assert "and so on" in model.requests[0].text


def test_a_slice_with_something_forgotten_is_not_sent(ws: Workspace) -> None:
    """A slice of which something is forgotten stays raw, without that turn, so that the rest can be shown."""
    turns = say(ws, [user("I like walnuts"), *chat(80)])
    span = Span(session=S, turn=turns[0].id, n=0)
    mask = Mask([Tombstone(id="t", at=NOON, spans=(span,))])
    model = ScriptedModel([SAID], loop=True)
    first, *rest = compact(ws, S, model=model, masked=mask).records
    assert (first.raw, first.why, "walnuts" in first.content) == (True, "", False)
    assert turns[1].content in history.content(ws, first, mask)
    assert not [one for one in rest if one.raw]
    assert not [request for request in model.requests if "walnuts" in request.text]


def test_a_second_process_while_the_model_thinks(ws: Workspace) -> None:
    """What another process archives while the model is asked is not archived again, and cursors only grow (N-17)."""
    say(ws, chat(80))

    def meanwhile(_: Request) -> str:
        compact(ws, S)
        return SAID

    done = compact(ws, S, model=ScriptedModel([meanwhile, SAID], loop=True))
    assert done.archived == 0
    assert history.verify(ws) == []
    assert [one.cursor for one in history.read(ws)] == list(range(1, len(history.read(ws)) + 1))
    assert spans(ws) == list(range(80 - done.kept))


def test_no_crash_loses_or_doubles_a_condensed_turn(tmp_path: Path) -> None:
    """Wherever the power is cut, each turn is covered once by the history, or is still active."""
    places = count()
    say(workspace(tmp_path / "begun"), chat(40))

    def make() -> Path:
        return tmp_path.joinpath(shutil.copytree(tmp_path / "begun", tmp_path / str(next(places))))

    def scenario(disk: CrashDisk, tell: Callable[[str], None]) -> None:
        found = Workspace(disk.root, SETTINGS, clock=FixedClock(NOON), new_id=counter_ids(), disk=disk)
        tell(str(compact(found, S, model=ScriptedModel([SAID, ""], loop=True)).cursor))

    for wreck in crash_loop(make, scenario, seeds=(0, 1)):
        found = Workspace(wreck.root, SETTINGS, clock=FixedClock(NOON), new_id=counter_ids())
        if wreck.told:
            assert [str(record.cursor) for record in history.read(found)][-1:] == wreck.told
        compact(found, S, model=ScriptedModel([SAID], loop=True))
        assert len(sessions.read(found, S)) == 40
        assert spans(found) == list(range(40 - len(active(found, S))))


def test_a_record_of_turns_that_are_not_there_hides_none(ws: Workspace) -> None:
    """A record beyond the session's end, as a restored file leaves it, hides no turn and stops no compaction (N-18)."""
    say(ws, chat(80))
    first = compact(ws, S, model=ScriptedModel([SAID], loop=True))
    beyond = History(cursor=0, timestamp=NOON, session=S, turns="900-901", content="x")
    assert history.append(ws, beyond, history.reached(ws, S)) is not None
    assert [turn.n for turn in active(ws, S)] == list(range(first.archived, 80))
    say(ws, chat(40))
    assert compact(ws, S, model=ScriptedModel([SAID], loop=True)).archived > 0
    assert len(sessions.read(ws, S)) == 120
