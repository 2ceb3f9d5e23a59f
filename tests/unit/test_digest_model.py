"""Step 6 with a model: whose words a summary holds, and what happens when it has none."""

from __future__ import annotations

import shutil
from datetime import timedelta
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from talks import NOON, S, agent, entry, extracted, read_digest, say, shown, state_of, texts, user, workspace

from reverie.core.forgetting.mask import Mask
from reverie.core.records import Span, Tombstone, Turn
from reverie.core.sessions.summary import parse
from reverie.core.settings.value import Settings
from reverie.digest import Summarised, digest, summarise
from reverie.errors import ModelFailed
from reverie.model.asking import Reply, Request
from reverie.store import sessions
from reverie.store.workspace import Workspace
from reverie.testing import CrashDisk, FixedClock, ScriptedModel, counter_ids, crash_loop

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TALK = [
    user("Please draft the announcement for Friday."),
    agent("Here is a draft."),
    user("Good. We ship on Friday, and I prefer short mails."),
    agent("Noted."),
    user("Thanks"),
    agent("The draft is with the press list."),
]
FOUND = [entry(1, "The team ships on Friday", category="decision", turns="2")]
TOLD = """\
- Asked [0] Draft the announcement for Friday.
- Decision [2] We ship on Friday.
- Done [5] The draft is with the press list.
"""
SECTION = """\
# Session Summary - 2026-07-02 (session:: team standup)

## 2026-07-02T12:00:00Z

- Asked: Draft the announcement for Friday. (turn:: 0)
- Decision: We ship on Friday. (turn:: 2)
- Done: The draft is with the press list. (turn:: 5)

(turns:: 0-5) (by:: scripted:model)
"""
DOWN = ModelFailed("the server cannot be reached: start it", kind="down")


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """Return a new workspace with six turns that are extracted."""
    found = workspace(tmp_path)
    say(found, TALK)
    extracted(found, 6, FOUND)
    return found


def told(ws: Workspace, *replies: Any, mask: Mask | None = None, **more: Any) -> Summarised:
    """Summarise with these replies, the last again and again."""
    model = ScriptedModel(replies, loop=True)
    return summarise(ws, state_of(ws, mask), masked=mask or Mask(), model=model, **more)


def covered(ws: Workspace) -> list[tuple[int, int]]:
    """Return the ranges of all sections."""
    return [(one.first, one.last) for text in texts(ws).values() for one in parse(text).sections]


def test_a_section_in_the_models_words(ws: Workspace) -> None:
    """Six turns give a section of the model's lines, each with its turn, and the section says whose words it has."""
    done = told(ws, TOLD)
    assert (done.sections, done.by_model, done.problems) == (1, 1, ())
    assert list(texts(ws).values()) == [SECTION]


def test_only_new_turns_are_sent(ws: Workspace) -> None:
    """A later summary is asked about the turns that came since, and about no other (L-16)."""
    told(ws, TOLD)
    say(ws, [user(f"We meet in room {n}.") for n in range(6)])
    extracted(ws, 12, start=6)
    model = ScriptedModel(["- Fact [6] We meet in room 0."])
    assert summarise(ws, state_of(ws), model=model).by_model == 1
    assert "announcement" not in model.requests[0].text
    assert covered(ws) == [(0, 5), (6, 11)]
    assert summarise(ws, state_of(ws), model=ScriptedModel([])).sections == 0


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "Nothing.",
        "<html><body>502</body></html>",
        "I cannot help with that.",
        TOLD * 20,
        "- Fact [0] Ada joined Initech on 2031-01-01.",
        Reply(text=TOLD, finished=False),
        ModelFailed("it refused", kind="refused"),
    ],
)
def test_an_answer_that_cannot_be_used_is_never_kept(ws: Workspace, reply: str | Reply | ModelFailed) -> None:
    """The rule writes a section for which the model had no usable words, and the reason is told (R-17, R-20)."""
    done = told(ws, reply)
    assert (done.sections, done.by_model) == (1, 0)
    assert done.problems[0].startswith("summaries: ")
    (text,) = texts(ws).values()
    assert "`mem_id: 0000000000000001`" in text
    assert "(by::" not in text


def test_a_model_that_is_away_is_waited_for(ws: Workspace) -> None:
    """Turns of today wait for a model that cannot be reached, and the next run resumes with them (P-05)."""
    done = told(ws, DOWN)
    assert (done.sections, done.problems) == (0, (f"summaries: {DOWN}",))
    assert texts(ws) == {}
    assert told(ws, TOLD).by_model == 1
    assert covered(ws) == [(0, 5)]


def test_no_outage_keeps_a_day_without_a_summary(tmp_path: Path) -> None:
    """Turns of a day that is over are summarised by rule when the model stays away, after asking it once."""
    ws = workspace(tmp_path)
    for session in ("one", "two"):
        say(ws, [Turn(role="user", content="Please renew the domain.", at=NOON - timedelta(days=1))], session)
        extracted(ws, 1, session=session)
    model = ScriptedModel([DOWN])
    assert summarise(ws, state_of(ws), model=model).sections == 2
    assert len(model.requests) == 1
    assert all("Asked: Please renew the domain." in text for text in texts(ws).values())


def test_what_may_not_be_read_is_not_sent(tmp_path: Path) -> None:
    """Injected memory, excluded topics and secrets reach neither the model nor the summary (R-44, P-09)."""
    ws = Workspace(
        tmp_path, Settings(exclusions=("lottery",)), clock=FixedClock(NOON), new_id=counter_ids(0x1000)
    )
    key, memory = "ghp_16C7e42F292c6912E7710c838347Ae178B4a", "- Dana prefers calls before noon"
    hidden = [
        user(f"{memory} and so on", injected=((0, len(memory)),)),
        user("I won the lottery"),
        user(f"The key is {key}."),
    ]
    say(ws, [*hidden, *TALK[:3]])
    extracted(ws, 6)
    model = ScriptedModel([f"{TOLD}- Fact [2] The key is {key}.\n- Fact [1] The lottery was won."])
    assert summarise(ws, state_of(ws), model=model).by_model == 1
    (request,) = model.requests
    (text,) = texts(ws).values()
    for one in (memory, "lottery", key):
        assert one not in request.text + text
    assert "and so on" in request.text


def forgetting(ws: Workspace, n: int) -> Mask:
    """Return a mask under which one turn of the session is forgotten."""
    turn = sessions.read(ws, S)[n]
    return Mask([Tombstone(id="t", at=NOON, spans=(Span(session=S, turn=turn.id, n=n),))])


def test_a_forgotten_turn_is_not_sent(ws: Workspace) -> None:
    """A group of which something is forgotten is the rule's, which tells nothing of that turn."""
    model = ScriptedModel([])
    mask = forgetting(ws, 0)
    assert summarise(ws, state_of(ws), masked=mask, model=model).sections == 1
    assert model.requests == []
    (text,) = texts(ws).values()
    assert "announcement" not in text


def test_forgetting_a_turn_hides_the_models_section(ws: Workspace) -> None:
    """A line of a model may draw on any turn, so a section over a forgotten one is in no prompt and no digest."""
    told(ws, TOLD)
    assert "We ship on Friday." in shown(ws).text
    mask = forgetting(ws, 4)
    assert "We ship on Friday." not in shown(ws, mask=mask).text
    digest(ws, state_of(ws, mask), masked=mask)
    assert "announcement" not in read_digest(ws, "today")


def test_a_digest_takes_requests_from_a_models_words(ws: Workspace) -> None:
    """Of a model's lines a digest shows what was asked for, and where; facts come from entries alone (L-21)."""
    told(ws, TOLD)
    digest(ws, state_of(ws))
    text = read_digest(ws, "today")
    assert "- Asked: Draft the announcement for Friday. [[summaries/2026-07-02_team-standup-" in text
    assert "press list" not in text


def test_a_second_process_while_the_model_thinks(ws: Workspace) -> None:
    """When another process summarises the same turns meanwhile, its section stands and the late one is dropped."""

    def meanwhile(_: Request) -> str:
        summarise(ws, state_of(ws))
        return TOLD

    assert told(ws, meanwhile).sections == 0
    assert covered(ws) == [(0, 5)]
    assert "(by::" not in "".join(texts(ws).values())


def test_no_crash_loses_or_doubles_a_section(tmp_path: Path) -> None:
    """Wherever the power is cut while a model writes summaries, each turn is in one section afterwards."""
    places = count()
    begun = workspace(tmp_path / "begun")
    say(begun, TALK * 2)
    extracted(begun, 12)

    def make() -> Path:
        return tmp_path.joinpath(shutil.copytree(tmp_path / "begun", tmp_path / str(next(places))))

    def opened(root: Path, disk: CrashDisk | None = None) -> Workspace:
        return Workspace(root, Settings(), clock=FixedClock(NOON), new_id=counter_ids(), disk=disk)

    replies = [TOLD, TOLD.replace("[0]", "[6]").replace("[2]", "[8]").replace("[5]", "[11]")]
    state = state_of(begun)

    def scenario(disk: CrashDisk, tell: Callable[[str], None]) -> None:
        done = summarise(opened(disk.root, disk), state, model=ScriptedModel(replies))
        tell(str(done.sections))

    for wreck in crash_loop(make, scenario, seeds=(0, 1, 2)):
        found = opened(wreck.root)
        before = covered(found)
        if wreck.told:
            assert before == [(0, 5), (6, 11)]
        model = ScriptedModel(replies[len(before) :])
        summarise(found, state, model=model)
        assert covered(found) == [(0, 5), (6, 11)]
        assert len(model.requests) == 2 - len(before)
