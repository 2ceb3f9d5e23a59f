"""LoCoMo dialogues: two people by name, ids that the benchmark's evidence names, times as the file tells them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from desk import Desk

from reverie.core.days import Calendar
from reverie.importers import locomo
from reverie.store import sessions

if TYPE_CHECKING:
    from reverie.core.records import Turn
    from reverie.importers.taken import Imported

LOCOMO = Path(__file__).parents[3] / "shared" / "data" / "locomo_dev.json"


def _take(desk: Desk, name: str, text: str | bytes, **options: Any) -> Imported:
    """Write a file beside the workspace and import it."""
    path = desk.home / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return desk.memory.import_(path, **options)


def _stored(desk: Desk, session: str) -> list[Turn]:
    return sessions.read(desk.memory.opened.ws, session)


DIALOGUE = {
    "sample_id": "two friends",
    "conversation": {
        "speaker_a": "Ada",
        "speaker_b": "Ben",
        "session_10_date_time": "12:05 am on 1 March, 2026",
        "session_10": [{"speaker": "Ben", "dia_id": "D10:1", "text": "Later."}],
        "session_2_date_time": "1:56 pm on 8 May, 2025",
        "session_2": [
            {"speaker": "Ada", "dia_id": "D2:1", "text": "I bought a kayak.", "blip_caption": "a red kayak"},
            {"speaker": "Ben", "text": "Nice."},
            {"speaker": "Ben"},
            "noise",
        ],
    },
    "qa": [{"question": "What did Ada buy?", "evidence": ["D2:1"], "category": 1}, "noise", {"question": 7}],
}


def test_locomo_dialogues_are_read(desk: Desk) -> None:
    """Both speakers are people by name, ids are the file's own, sessions keep their order and their times."""
    done = _take(desk, "dialogue.json", json.dumps([DIALOGUE]))
    assert (done.format, done.turns) == ("locomo", 3)
    assert done.sessions == ("two friends-session-02", "two friends-session-10")
    first, second = _stored(desk, "two friends-session-02")
    assert (first.role, first.name, first.id) == ("user", "Ada", "D2:1")
    assert first.content == "I bought a kayak. [image: a red kayak]"
    assert first.at == datetime(2025, 5, 8, 13, 56, tzinfo=UTC)
    assert (second.id, second.at - first.at) == ("D2:2", timedelta(seconds=30))
    assert _stored(desk, "two friends-session-10")[0].at == datetime(2026, 3, 1, 0, 5, tzinfo=UTC)
    assert desk.hits("What did Ada buy? kayak")[0].person == "Ada"
    assert _take(desk, "dialogue.json", json.dumps(DIALOGUE)).turns == 0


def test_the_questions_of_a_dialogue_are_read() -> None:
    """Questions come with the ids of the turns that answer them, and noise among them is passed over."""
    (sample,) = locomo.samples(DIALOGUE, Calendar("UTC"))
    assert sample.questions[0] == locomo.Question("What did Ada buy?", ("D2:1",), 1)
    assert len(sample.questions) == 2


@pytest.mark.parametrize(
    "change",
    [
        {"session_2_date_time": "yesterday"},
        {"session_2_date_time": "1:56 pm on 31 February, 2025"},
        {"session_2_date_time": "1:56 pm on 8 Brumaire, 2025"},
        {"session_2_date_time": None},
    ],
)
def test_a_dialogue_without_its_time_is_told(desk: Desk, change: dict[str, object]) -> None:
    """A session whose time cannot be read is set aside with a reason that shows how one is written."""
    broken = {**DIALOGUE, "conversation": {**DIALOGUE["conversation"], **change}}  # type: ignore[dict-item]
    done = _take(desk, "dialogue.json", json.dumps([broken]))
    (skipped,) = done.skipped
    assert "LoCoMo time" in skipped.reason
    assert (done.unread, len(desk.memory.status().quarantine)) == (1, 1)


def test_a_list_that_is_dialogues_only_in_part_is_told(desk: Desk) -> None:
    """An element that is no dialogue is set aside under its number, and the others are stored."""
    done = _take(desk, "dialogue.json", json.dumps([DIALOGUE, {"sample_id": "x"}]))
    assert done.turns > 0
    assert [(one.place, "conversation" in one.reason) for one in done.skipped] == [(2, True)]


def test_the_developers_half_of_locomo_is_read(desk: Desk) -> None:
    """The benchmark's own file gives every turn and question it holds, under the ids its evidence names."""
    if not LOCOMO.exists():
        pytest.skip("locomo_dev.json does not lie in shared/data beside the checkout: it is not ours to ship")
    raw = json.loads(LOCOMO.read_text(encoding="utf-8"))
    samples = list(locomo.samples(raw, desk.memory.opened.ws.calendar))
    assert len(samples) == len(raw)
    for sample, given_ in zip(samples, raw, strict=True):
        talk = given_["conversation"]
        said = [
            one for key, value in talk.items() if isinstance(value, list) for one in value if one.get("text")
        ]
        assert len(sample.turns) == len(said)
        assert {turn.id for turn in sample.turns} == {one["dia_id"] for one in said}
        assert {turn.name for turn in sample.turns} == {talk["speaker_a"], talk["speaker_b"]}
        assert len(sample.questions) == len(given_["qa"])
    assert samples[0].turns[0].id == "D1:1"
