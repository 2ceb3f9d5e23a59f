"""What is said about something else is no wish, no habit has a date, and a debt that was paid is closed."""

import pytest

from reverie.core.days import Calendar, parse_instant
from reverie.core.guard.keeping import keeps
from reverie.core.records import Entry, Turn
from reverie.model.rules.turns import extract

BERLIN = Calendar("Europe/Berlin", "00:00")


def entries(said: str, day: str = "2026-11-30") -> list[Entry]:
    """What the extractor finds in one message of a day."""
    turn = Turn(role="user", content=said, at=parse_instant(f"{day}T10:00:00+01:00"), session="s", n=1)
    return [found.entry for found in extract([turn], BERLIN)]


@pytest.mark.parametrize(
    "said",
    [
        "Good news, Miso isn't diabetic. No more insulin.",
        "No more chemo, the doctor says",
        "No more money.",
        "No insulin anymore.",
        "No more questions, the judge said.",
        "把小赵的事都忘了吧，不要再记着",
    ],
)
def test_no_wish_is_made_of_what_the_agent_cannot_do(said: str) -> None:
    """A thing that is used up or given up, and a request to forget, give no entry."""
    assert not entries(said)


@pytest.mark.parametrize("said", ["No more emojis, please.", "No more apologies!", "No emojis anymore."])
def test_a_wish_about_the_agents_answers_is_kept(said: str) -> None:
    """What an agent does in its answers may be asked to end."""
    assert [entry.category for entry in entries(said)] == ["preference"]


def test_a_habit_has_no_date() -> None:
    """What one usually does at weekends happens on none in particular."""
    (habit,) = entries("我周末一般去爬山")
    assert (habit.category, habit.text, habit.since) == ("preference", "用户周末一般去爬山", "")
    assert not [entry for entry in entries("周航周末才来") if entry.since]


def test_what_one_asks_to_be_reminded_of_is_due() -> None:
    """A duty with a day to come that is not to be forgotten is a commitment, due on that day."""
    (duty,) = entries("别忘了周五交房租")
    assert (duty.category, duty.due) == ("commitment", "2026-12-04")


def test_what_something_is_has_no_date() -> None:
    """A correction of what something is keeps no date of what is told behind it."""
    (fact,) = entries("豆包不是猫，是一只柯基，上周刚满一岁")
    assert (fact.category, fact.text, fact.since, fact.until) == ("fact", "豆包不是猫，是一只柯基", "", "")


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("I paid Felix back the 200 euros today.", True),
        ("I paid Felix 50 of the 200 euros today.", False),
        ("I paid Felix 50 euros today.", False),
        ("I paid Lena back the 200 euros today.", False),
    ],
)
def test_a_debt_is_closed_by_paying_all_of_it(said: str, kept: object) -> None:
    """Who owes a sum has paid it where the same sum went to the same person; a part closes nothing."""
    (debt,) = entries("I owe Felix 200 euros.", "2026-11-29")
    (paid,) = entries(said)
    assert keeps(paid, debt) is kept
