"""The schedules that the guide shows: each command line of them really drains."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from reverie import layout

if TYPE_CHECKING:
    from conftest import Shell

GUIDE = Path(__file__).parents[2] / "docs" / "how-to" / "schedule-consolidate.md"
SCHEDULED = re.compile(r"^(?:ExecStart=|[*/\d][\d*/, -]* )(\S*/?reverie .*)$", re.MULTILINE)


def scheduled() -> list[list[str]]:
    """Return the words of each command that a line of the guide's crontab or unit runs, without redirections."""
    lines = SCHEDULED.findall(GUIDE.read_text(encoding="utf-8"))
    return [shlex.split(re.split(r"\s(?:\d?>|\|)", line)[0])[1:] for line in lines]


def test_the_guide_shows_a_crontab_and_a_unit() -> None:
    """There is more than one scheduled command to try, and each is `consolidate`."""
    assert len(scheduled()) >= 2
    assert all("consolidate" in words for words in scheduled())


@pytest.mark.parametrize("words", scheduled(), ids=" ".join)
def test_a_scheduled_command_drains_the_queue(shell: Shell, words: list[str]) -> None:
    """Run as the schedule runs it, the command stores what is queued in the daily log and exits 0 (R-53)."""
    shell.ok("remember", "Dana prefers calls before noon")
    segments = shell.folder / layout.SEGMENTS
    assert list(segments.iterdir())
    named = {"--agent-id", "--workspace"}  # another workspace than the one that is tried
    own = [
        word for at, word in enumerate(words) if word not in named and (at == 0 or words[at - 1] not in named)
    ]
    assert shell(*own).code == 0
    assert not list(segments.iterdir())
    logs = [path.read_text(encoding="utf-8") for path in (shell.folder / layout.ARCHIVE).glob("*.md")]
    assert "Dana prefers calls before noon" in "".join(logs)
