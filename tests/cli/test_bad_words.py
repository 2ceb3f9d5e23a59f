"""Wrong input to the verbs on entries: one error each, with what to do, the same from Python and the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest

import reverie
from reverie.core.records import Draft
from reverie.entrance import Opening
from reverie.errors import ReverieError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Shell

    from reverie.memory import Memory

Known = dict[str, str]

# what is wrong: the command line, the same from Python, how it exits, and words of the remedy; {…} are entries
CASES: dict[str, tuple[str, Callable[[Memory, Known], Any], int, str]] = {
    "an unknown id": ("get ffffffff", lambda m, _: m.get("ffffffff"), 66, "`reverie recall` shows ids"),
    "an id that is none": ("get %_", lambda m, _: m.get("%_"), 66, "`reverie recall` shows ids"),
    "an ambiguous beginning": ("pin {both}", lambda m, k: m.pin(k["both"]), 67, "more digits"),
    "feedback on an unknown id": (
        "feedback ffffffff helpful",
        lambda m, _: m.feedback("ffffffff", "helpful"),
        66,
        "`reverie recall` shows ids",
    ),
    "a word on no item": ("review accept ''", lambda m, _: m.review("", accept=True), 64, "review list"),
    "feedback that is none": (
        "feedback {tea} great",
        lambda m, k: m.feedback(k["tea"], "great"),
        64,
        "use helpful",
    ),
    "feedback out of range": (
        "feedback {tea} 1.5",
        lambda m, k: m.feedback(k["tea"], "1.5"),
        64,
        "from 0 to 1",
    ),
    "feedback on a forgotten entry": (
        "feedback {gone} helpful",
        lambda m, k: m.feedback(k["gone"], "helpful"),
        66,
        "--restore` brings it back",
    ),
    "a pin on a forgotten entry": (
        "pin {gone}",
        lambda m, k: m.pin(k["gone"]),
        66,
        "--restore` brings it back",
    ),
    "a due time that is none": (
        "remember Call --due 2026-13-45",
        lambda m, _: m.remember("Call", Draft(due="2026-13-45")),
        65,
        "use YYYY-MM-DD",
    ),
    "a due hour that is none": (
        "remember Call --due 2027-07-10T25:00",
        lambda m, _: m.remember("Call", Draft(due="2027-07-10T25:00")),
        65,
        "use YYYY-MM-DD",
    ),
    "a due hour without a zone": (
        "remember Call --due 2027-07-10T15:00",
        lambda m, _: m.remember("Call", Draft(due="2027-07-10T15:00")),
        65,
        "as in 2027-07-10T15:00+02:00, or set `zone`",
    ),
    "a promise put off to an hour without a zone": (
        "done {promise} --until 2099-07-12T15:00",
        lambda m, k: m.done(k["promise"], until="2099-07-12T15:00"),
        64,
        "as in 2099-07-12T15:00+02:00, or set `zone`",
    ),
    "done with an unknown id": (
        "done ffffffff",
        lambda m, _: m.done("ffffffff"),
        66,
        "`reverie due` shows ids",
    ),
    "put off to no time": (
        "done {promise} --until soon",
        lambda m, k: m.done(k["promise"], until="soon"),
        64,
        "YYYY-MM or YYYY, or a date and time",
    ),
    "due in the past": (
        "remember Call --due 2020-01-01",
        lambda m, _: m.remember("Call", Draft(due="2020-01-01")),
        65,
        "give a date to come",
    ),
    "put off into the past": (
        "done {promise} --until 2020-01-01",
        lambda m, k: m.done(k["promise"], until="2020-01-01"),
        64,
        "give a date to come",
    ),
    "done with what is no promise": ("done {tea}", lambda m, k: m.done(k["tea"]), 64, "`reverie due` lists"),
    "a pin over the budget": ("pin {long}", lambda m, k: m.pin(k["long"]), 81, "unpin one"),
    "a correction without a text": (
        "correct {tea} '' --why change",
        lambda m, k: m.correct(k["tea"], "", why="change"),
        65,
        "empty",
    ),
    "a filter that admits everything": (
        "hide --dry-run",
        lambda m, _: m.hide(where=reverie.Where(), dry_run=True),
        64,
        "by a filter",
    ),
    "restoring what is not forgotten": (
        "forget {tea} --restore",
        lambda m, k: m.forget([k["tea"]], restore=True),
        66,
        "review list",
    ),
}


def test_an_error_names_the_option(shell: Shell) -> None:
    """On the command line an error names the option to give, where Python's names the argument."""
    said = shell("remember", "Call", "--due", "2020-01-01").err
    assert "or in `--at` when it was promised" in said


def test_words_without_quotes_are_told(shell: Shell) -> None:
    """A text of several words that the shell took apart is refused with what it needs."""
    answer = shell("remember", "I", "like", "tea")
    assert answer.code == 64
    assert "(like tea) (a text of several words needs quotes)" in answer.err


def test_a_likely_slip_of_a_category_is_told(shell: Shell) -> None:
    """Categories are free: one that is none of the known is stored, and told with the one it is like."""
    assert "did you mean preference?" in shell.ok("remember", "Tea", "--category", "preferences").out
    assert "did you mean preference?" not in shell.ok("remember", "Tea", "--category", "preference").out
    assert "did you mean decision?" in shell.ok("list", "--category", "decisions").out


@pytest.mark.parametrize("given", [{"category": "work"}, {}, "work"])
def test_what_is_no_draft_is_told(shell: Shell, given: Any) -> None:
    """A dictionary or a text in the place of a Draft, and a text that is none, are usage errors that name them."""
    shell.ok("status")
    with reverie.open(Opening(path=shell.folder, config_dir=shell.config)) as memory:
        with pytest.raises(UsageError, match="give a Draft or None"):
            memory.remember("Call", given)
        for call in (memory.remember, memory.note):
            with pytest.raises(UsageError, match=r"7 \(int\): give "):
                call(cast("Any", 7))


@pytest.fixture
def known(shell: Shell) -> Known:
    """Entries to be wrong about."""
    shell.ok("status")
    with reverie.open(Opening(path=shell.folder, config_dir=shell.config)) as memory:
        found = {
            name: memory.remember(text, draft).id
            for name, text, draft in (
                ("tea", "User likes tea", Draft(origin="user")),
                ("gone", "User is allergic to macadamia nuts", Draft(origin="user")),
                ("promise", "Send Dana the quote", Draft(due="2099-07-10")),
                ("long", "Rule: " + "be exact. " * 1_600, Draft(origin="user")),
                ("pinned", "Rule: " + "be brief. " * 1_600, Draft(origin="user", pin=True)),
            )
        }
        memory.forget([found["gone"]])
    return found | {"both": ""}


@pytest.mark.parametrize("case", sorted(CASES))
def test_wrong_input_is_told_with_a_remedy(shell: Shell, known: Known, case: str) -> None:
    """Each wrong input is an error of its own that says what to do, writes no event, and exits as the error says."""
    words, call, code, remedy = CASES[case]
    events = shell.folder / ".state" / "events.jsonl"
    before = events.read_bytes()
    if "without a zone" in case:
        settings = shell.folder / "reverie.toml"
        settings.write_text(settings.read_text().replace('zone = "UTC"', ""))
    with reverie.open(Opening(path=shell.folder, config_dir=shell.config)) as memory:
        if case == "an ambiguous beginning":
            for number in range(17):  # of 17 ids two begin alike
                memory.remember(f"Number {number}")
            starts = [state.entry.id[:1] for state in memory.list()]
            known["both"] = next(one for one in starts if starts.count(one) > 1)
        with pytest.raises(ReverieError) as told:
            call(memory, known)
    assert remedy in str(told.value)
    assert told.value.exit_code == code
    answer = shell(*(word.format(**known).strip("'") for word in words.split()))
    assert answer.code == code, answer
    assert remedy in " ".join(answer.err.split())
    assert events.read_bytes() == before
