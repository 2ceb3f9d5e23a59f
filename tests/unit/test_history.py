"""The history file: cursors, who archives what, what damage costs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from talks import NOON, S, say, user, workspace

from reverie import layout
from reverie.core.forgetting.mask import Mask
from reverie.core.records import History, Span, Tombstone
from reverie.errors import InvalidRecord
from reverie.store import history
from reverie.store.history import Reached
from reverie.store.workspace import Workspace

WRITER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from reverie.core.records import History
from reverie.core.settings.value import Settings
from reverie.store import history
from reverie.store.workspace import Workspace
settings = Settings(lock_wait_seconds=60.0)
ws = Workspace(Path(sys.argv[1]), settings, clock=lambda: datetime.now(UTC), new_id=lambda: "0" * 16)
sys.stdin.readline()
for n in range(40):
    for session in (sys.argv[2], "shared"):
        turns = f"{2 * n}-{2 * n + 1}"
        record = History(cursor=0, timestamp=ws.clock(), session=session, turns=turns, content="x" * 500, raw=True)
        known = history.reached(ws, session)
        stored = history.append(ws, record, known)
        if stored is not None:
            print(session, stored.cursor, flush=True)
"""


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """Return a new workspace."""
    return workspace(tmp_path)


def record(turns: str, session: str = S, content: str = "said", *, raw: bool = True) -> History:
    """Return a record that has no cursor yet."""
    return History(cursor=0, timestamp=NOON, session=session, turns=turns, content=content, raw=raw)


def test_cursors_count_up(ws: Workspace) -> None:
    """Each record takes the cursor after the last one, whichever session it is of."""
    for turns, session in (("0-3", S), ("0-3", "other"), ("4", S)):
        assert history.append(ws, record(turns, session), history.reached(ws, session)) is not None
    assert [one.cursor for one in history.read(ws)] == [1, 2, 3]
    assert [one.turns for one in history.read(ws, since=2)] == ["4"]
    assert history.verify(ws) == []


def test_turns_are_archived_once(ws: Workspace) -> None:
    """Turns that the history holds by now are not archived again, however old the caller's knowledge is."""
    before = history.reached(ws, S)
    assert history.append(ws, record("0-3"), before) is not None
    assert history.append(ws, record("0-3"), before) is None
    assert history.append(ws, record("2-5"), before) is None
    assert history.append(ws, record("4-5"), before) is not None
    assert history.reached(ws, S).ordinal == 5


def test_two_processes_write_one_history(ws: Workspace) -> None:
    """Two processes that archive at once get cursors that only grow, and archive a shared session's turns once."""
    command = [sys.executable, "-c", WRITER, str(ws.root)]
    writers = [
        subprocess.Popen([*command, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for name in ("first", "second")
    ]
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("\n")
        writer.stdin.flush()
    told = [line.split() for writer in writers for line in writer.communicate(timeout=120)[0].splitlines()]
    records = history.read(ws)
    assert [one.cursor for one in records] == list(range(1, 121))
    assert sorted(int(cursor) for _, cursor in told) == list(range(1, 121))
    assert sum(one.session == "shared" for one in records) == 40
    assert history.verify(ws) == []


def test_a_torn_tail_costs_itself_alone(ws: Workspace) -> None:
    """After a torn line the next record stands on a line of its own, and its cursor is above the torn one's."""
    history.append(ws, record("0-3"), Reached())
    path = ws.root / layout.HISTORY
    whole = path.read_bytes()
    path.write_bytes(whole + whole.replace(b'"cursor":1', b'"cursor":2')[:60])
    assert history.append(ws, record("4-5"), history.reached(ws, S)) is not None
    assert [one.cursor for one in history.read(ws)] == [1, 3]
    assert len(history.verify(ws)) == 1


def test_a_flipped_record_does_not_give_its_cursor_away(ws: Workspace) -> None:
    """The cursor of a damaged record is not given to another one, and its turns can be archived again."""
    history.append(ws, record("0-3"), Reached())
    history.append(ws, record("4-5", content="second"), history.reached(ws, S))
    path = ws.root / layout.HISTORY
    path.write_bytes(path.read_bytes().replace(b"second", b"sec\x00nd"))
    known = history.reached(ws, S)
    assert known.ordinal == 3
    stored = history.append(ws, record("4-5"), known)
    assert stored is not None
    assert stored.cursor == 3


def test_a_long_last_record_is_found(ws: Workspace) -> None:
    """The last cursor is found behind a record far longer than one look at the file's end."""
    history.append(ws, record("0-3", content="词 " * 300_000), Reached())
    stored = history.append(ws, record("4"), history.reached(ws, S))
    assert stored is not None
    assert stored.cursor == 2
    assert [one.cursor for one in history.newest(ws)][-1] == 2


def test_a_shortened_file_is_read_again(ws: Workspace) -> None:
    """Knowledge of a file that was rewritten shorter since is not trusted."""
    history.append(ws, record("0-3", content="x" * 5_000), Reached())
    known = history.reached(ws, "other")
    path = ws.root / layout.HISTORY
    path.write_bytes(b"")
    history.append(ws, record("0-1", "other"), history.reached(ws, "other"))
    assert history.append(ws, record("0-1", "other"), known) is None


def test_verify_reports_what_is_out_of_order(ws: Workspace) -> None:
    """A cursor that does not grow and turns archived twice are reported."""
    history.append(ws, record("0-3"), Reached())
    path = ws.root / layout.HISTORY
    path.write_bytes(path.read_bytes() * 2)
    assert [one.reason for one in history.verify(ws)] == ["cursor 1 follows 1"]


def test_a_record_without_turns_is_refused(ws: Workspace) -> None:
    """A record whose turns are no ordinals is refused before anything is written."""
    with pytest.raises(InvalidRecord, match="12-13"):
        history.append(ws, record("all"), Reached())
    assert history.read(ws) == []


def test_forgotten_turns_leave_a_record(ws: Workspace) -> None:
    """A raw record is read without a forgotten turn and with its neighbours; a summary of it is not read at all."""
    turns = say(
        ws, [user("I like walnuts"), user("I like plums"), user("[1] 2026-07-02 12:00 user: walnuts")]
    )
    span = Span(session=S, turn=turns[0].id, n=0)
    mask = Mask([Tombstone(id="t", at=NOON, spans=(span,))])
    text = history.content(ws, record("0-2", content="walnuts plums"), mask)
    assert "I like plums" in text
    assert "I like walnuts" not in text
    assert history.content(ws, record("0-2", raw=False), mask) == ""
    assert history.content(ws, record("1-2", content="plums"), mask) == "plums"


def test_turns_set_aside_stay_in_their_window_and_are_kept_once(tmp_path: Path) -> None:
    """What no extraction could read gets a cursor of its own, once, and archives no turn of the window."""
    ws = workspace(tmp_path)
    aside = History(cursor=0, timestamp=NOON, session="s1", turns="4", content="[4] odd words")
    first = history.set_aside(ws, aside)
    assert first is not None
    assert (first.cursor, first.raw, first.aside) == (1, True, True)
    assert history.set_aside(ws, aside) is None
    assert history.reached(ws, "s1").ordinal == -1
    whole = msgspec.structs.replace(aside, turns="0-5", content="all of it")
    stored = history.append(ws, whole, history.reached(ws, "s1"))
    assert stored is not None
    assert stored.cursor == 2
    assert history.verify(ws) == []
