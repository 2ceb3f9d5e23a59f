"""`reverie dream`: its options, and what it says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Shell

LOG = "# Daily Log - {day}\n\n## 14:05 — abc12345\n\n{lines}"


@pytest.fixture
def past(shell: Shell) -> Shell:
    """Return a shell with entries of two closed days."""
    shell.ok("status")
    for day, said in (("2020-01-01", ("tea", "coffee")), ("2020-01-02", ("cake",))):
        lines = "".join(f"- [preference] User likes {what}\n" for what in said)
        (shell.folder / "archive" / f"{day}.md").write_text(LOG.format(day=day, lines=lines))
    return shell


def test_a_day_and_a_number_narrow_a_dream(past: Shell) -> None:
    """`--date` takes the entries of one day, `--batch` so many in one batch, and the rest waits."""
    assert past.json("dream", "--now", "--date", "2020-01-02")["counts"] == {"cited": 1}
    assert past.json("dream", "--now", "--batch", "1")["counts"] == {"cited": 1}
    assert sum(past.json("status")["pending"].values()) == 1


def test_a_dry_run_shows_and_writes_nothing(past: Shell) -> None:
    """`--dry-run` prints the diff; afterwards everything is pending as before."""
    assert "+- User likes tea [[archive/2020-01-01#^" in past.ok("dream", "--now", "--dry-run").out
    assert sum(past.json("status")["pending"].values()) == 3


def test_what_a_dream_did_is_told_in_words(past: Shell) -> None:
    """The first line counts entries, outcomes and pages; a second dream says why it did nothing."""
    assert past.ok("dream", "--now").out.startswith("productive: 3 entries: 3 cited on 1 page dream:")
    assert past.ok("dream", "--now").out == "nothing: no entry of a closed day is pending\n"


def test_a_date_that_is_none_is_refused(shell: Shell) -> None:
    """A day that is no day is a usage error that says how to write one."""
    answer = shell("dream", "--now", "--date", "yesterday")
    assert answer.code == 64
    assert "2026-07-01" in answer.err
