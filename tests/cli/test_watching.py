"""Bars for long work: what they count, that they are shown to people alone, and that they change nothing."""

from __future__ import annotations

import io
import re
import shutil
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from reverie import layout
from reverie.surface.cli.watching import Work, adding, dreaming, erasing, reindexing, watched

if TYPE_CHECKING:
    from conftest import Shell


class Terminal(io.StringIO):
    """Standard error that a person looks at."""

    def isatty(self) -> bool:
        """Say that it is one."""
        return True


def looked_at(patch: pytest.MonkeyPatch) -> Terminal:
    """Put a terminal in the place of standard error, in the test itself: pytest puts its own there before each."""
    seen = Terminal()
    patch.setattr(sys, "stderr", seen)
    patch.setenv("TERM", "xterm")
    patch.setenv("COLUMNS", "120")
    return seen


def shown(terminal: Terminal) -> str:
    """Return the text that a person sees, without what moves the cursor or colours it."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", terminal.getvalue())


@pytest.mark.parametrize(("total", "said"), [(8, "5 of 8 stones"), (0, "5 stones")])
def test_a_person_sees_how_far_it_has_come(total: int, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal the name, the count, the total where it is known, and the unit are shown."""
    terminal = looked_at(monkeypatch)
    asked, twice = threading.Event(), []

    def count() -> int:
        twice.append(1)
        if len(twice) > 1:
            asked.set()
        return 5

    with watched(lambda: Work(name="carry", unit="stones", count=count, total=total), quiet=False):
        assert asked.wait(30)
    assert "carry" in terminal.getvalue()
    assert said in terminal.getvalue()
    assert re.search(r"-:--:--|\d:\d\d:\d\d", terminal.getvalue())  # the time left, or that went by


def test_nobody_sees_it_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    """With `--json`, and where standard error is no terminal, nothing is shown and nothing is counted."""

    def never() -> Work:
        raise AssertionError("nobody looks")

    for quiet in (True, False):
        with watched(never, quiet=quiet):
            pass
    assert capsys.readouterr() == ("", "")


def test_an_error_within_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    """What goes wrong in the work comes through, and the bar goes away."""
    looked_at(monkeypatch)
    before = set(threading.enumerate())
    work = Work(name="carry", unit="stones", count=lambda: 1)
    with pytest.raises(ZeroDivisionError), watched(lambda: work, quiet=False):
        raise ZeroDivisionError
    assert not [one for one in threading.enumerate() if one.name == "watching" and one not in before]


def test_the_files_tell_how_far_it_is(shell: Shell) -> None:
    """What is read counts by its bytes, a dream by outcomes, a reindex by derived bytes, an erase by files."""
    begun = adding(shell.folder, "consolidate")
    tea = shell.json("remember", "User likes tea")["id"]
    shell.ok("consolidate")
    assert begun.count() > begun.total == 0
    dream = dreaming(shell.folder, 3)
    with (shell.folder / layout.OUTCOMES).open("ab") as file:
        file.write(b"{}\n{}\n")
    assert (dream.count(), dream.total) == (2, 3)
    whole = reindexing(shell.folder)
    assert whole.total == whole.count() > 0
    shutil.rmtree(shell.folder / layout.INDEX)
    assert reindexing(shell.folder).total > reindexing(shell.folder).count() == 0
    erase = erasing(shell.folder, len(shell.json("erase", tea, "--dry-run")["places"]))
    assert erase.total > erase.count() == 0
    shell.ok("erase", tea, "--yes")
    assert erase.count() > 1


def test_commands_show_it(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each command shows a bar with counts on a terminal, on standard error alone, and none with `--json`."""
    calls = (
        (("extract",), "extract"),
        (("consolidate",), "consolidate"),
        (("reindex",), "reindex"),
        (("dream", "--now"), "dream"),
        (("erase", "", "--yes"), "erase"),
    )
    for words, name in calls:
        for told in ((), ("--json",)):
            tea = shell.json("remember", f"User likes tea, said for {name} {told}")["id"]
            terminal = looked_at(monkeypatch)
            answer = shell.ok(*(word or tea for word in words), *told)
            assert "\x1b" not in answer.out
            assert (name in terminal.getvalue()) is not bool(told)
            total = re.search(r"\d of \d", shown(terminal))  # nothing is pending for the dream
            assert bool(total) is not bool(told or name in {"dream", "extract", "consolidate"})


def test_an_import_shows_how_far_it_is(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """An import shows on a terminal how much was read of how much, what was found, and the time left."""
    talk = shell.folder.parent / "talk.jsonl"
    talk.write_text('{"role": "user", "content": "I like bees."}\n' * 2_000)
    for told in ((), ("--json",)):
        terminal = looked_at(monkeypatch)
        shell.ok("import", str(talk), "--dry-run", *told)
        seen = re.search(r"\d/\d[\d.]* .?B +[\d,]+ found +(-:--:--|\d:\d\d:\d\d)", shown(terminal))
        assert bool(seen) is not bool(told), terminal.getvalue()
