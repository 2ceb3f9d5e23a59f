"""Step 1: what is captured, what is refused, what is kept off the record."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import msgspec
import pytest
from ledger import NOON, opened, said

from reverie import layout
from reverie.capture import Captured, capture, end, pause, resume
from reverie.core.records import Attachment, ToolCall
from reverie.core.settings.value import Settings
from reverie.errors import InvalidRecord, StoreUnwritable, UsageError
from reverie.store import quarantine, sessions
from reverie.store.workspace import Workspace
from reverie.testing import CrashDisk

KEY = "sk-proj-" + "Ab3" * 16 + "T3BlbkFJ" + "Zy9" * 16


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """Return an empty workspace."""
    return opened(tmp_path)


def texts(ws: Workspace, session: str = "s1") -> list[str]:
    """Return what the session holds."""
    return [turn.content for turn in sessions.read(ws, session)]


def test_a_turn_is_on_disk_when_the_call_returns(ws: Workspace) -> None:
    """A captured turn is read back by anybody else at once, with its ordinal and id."""
    done = capture(ws, "s1", said("I moved to Lisbon."))
    (turn,) = sessions.read(opened(ws.root), "s1")
    assert (done.id, done.n, done.recorded) == (turn.id, 0, True)
    assert turn.content == "I moved to Lisbon."


def test_a_turn_sent_again_does_no_harm(ws: Workspace) -> None:
    """A host that did not hear the answer sends the turn again under its id, and it is read once (P-09)."""
    for _ in range(3):
        capture(ws, "s1", said("Once", id="t1"))
    assert texts(ws) == ["Once"]


def test_a_turn_sent_again_is_told(ws: Workspace) -> None:
    """The same id and words again answer `repeated` and the first ordinal, to anybody; other words do not."""
    first = capture(ws, "s1", said("Once", id='t"1'))
    capture(ws, "s1", said("Between", calls=(ToolCall('t"1', "deploy"), ToolCall("t9", "deploy"))))
    assert (first.repeated, first.n) == (False, 0)
    for who in (ws, ws, opened(ws.root)):
        again = capture(who, "s1", said("Once", id='t"1'))
        assert (again.repeated, again.id, again.n) == (True, first.id, 0)
    elsewhere = capture(ws, "s2", said("Once", id='t"1'))
    other = capture(ws, "s1", said("Twice", id='t"1'))
    called = capture(ws, "s1", said("Once", id="t9"))
    assert not any(one.repeated for one in (elsewhere, other, called))
    assert texts(ws) == ["Once", "Between", "Twice", "Once"]


def test_a_turn_that_another_process_stored_is_told(ws: Workspace) -> None:
    """What another process stored meanwhile is known, and a file put back from a backup is looked through anew."""
    capture(ws, "s1", said("One", id="t1"))
    before = (ws.root / sessions.path_of("s1")).read_bytes()
    capture(opened(ws.root), "s1", said("Two", id="t2"))
    assert capture(ws, "s1", said("Two", id="t2")).repeated
    (ws.root / sessions.path_of("s1")).write_bytes(before)
    assert not capture(ws, "s1", said("Two", id="t2")).repeated
    assert texts(ws) == ["One", "Two"]


@pytest.mark.parametrize("given", [{"role": "user", "content": "Hi"}, "Hi", None])
def test_what_is_no_turn_is_told(ws: Workspace, given: Any) -> None:
    """A dictionary or a text in the place of a Turn is a usage error that names Turn, and stores nothing."""
    with pytest.raises(UsageError, match=r"a Turn is needed, not (dict|str|NoneType): give Turn\("):
        capture(ws, "s1", given)
    assert texts(ws) == []


@pytest.mark.parametrize("verb", [end, pause, resume])
def test_a_session_is_named_by_a_text(ws: Workspace, verb: Any) -> None:
    """A number for a session's name is a usage error of the verbs on sessions."""
    with pytest.raises(UsageError, match="a name is text"):
        verb(ws, 7)


def test_secrets_never_reach_the_disk(ws: Workspace) -> None:
    """No byte of a secret is in any file, wherever in the turn it stood, and the kinds are said (R-44, P-18)."""
    turn = said(
        f"my key is {KEY}",
        calls=(ToolCall("c1", "deploy", f'{{"key": "{KEY}"}}'),),
        attachments=(Attachment(f"https://x.test/?token={KEY}", name=KEY),),
    )
    done = capture(ws, "s1", turn)
    assert done.redacted
    with pytest.raises(InvalidRecord):
        capture(opened(ws.root, max_turn_bytes=10), "s1", turn)
    files = [path.read_bytes() for path in ws.root.rglob("*") if path.is_file()]
    assert not any(KEY.encode() in data for data in files)
    assert len(quarantine.listed(ws)) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("turn", "reason"),
    [
        (said(""), "empty"),
        (said("x" * (Settings().max_turn_bytes + 1)), "bytes"),
        (said("half \ud800"), "surrogate"),
        (said("a", name="half \udfff"), "surrogate"),
        (said("a", calls=(ToolCall("c", "t", "\ud83d"),)), "surrogate"),
        (said("a", at=datetime(2026, 7, 1, 12)), "zone"),  # noqa: DTZ001 - that it has none is the point
    ],
)
def test_a_turn_that_cannot_be_stored_is_refused_and_kept(ws: Workspace, turn: object, reason: str) -> None:
    """A malformed turn is refused with what to change, and stands in quarantine (R-17)."""
    with pytest.raises(InvalidRecord, match=reason):
        capture(ws, "s1", turn)
    assert len(quarantine.listed(ws)) == 1
    assert texts(ws) == []


@pytest.mark.parametrize("name", ["", "  ", "half \ud800"])
def test_a_session_needs_a_name(ws: Workspace, name: str) -> None:
    """A turn for a session without a name that can be written is refused and kept."""
    with pytest.raises(InvalidRecord):
        capture(ws, name, said("Hello"))
    assert len(quarantine.listed(ws)) == 1


def test_a_session_named_like_a_path_stays_inside(ws: Workspace) -> None:
    """A session's name with path parts makes a file among the sessions and nowhere else (R-45)."""
    capture(ws, "../../etc/passwd", said("Hello"))
    assert texts(ws, "../../etc/passwd") == ["Hello"]
    assert not (ws.root.parent / "etc").exists()


def test_memory_that_came_back_is_marked(ws: Workspace) -> None:
    """Text that Reverie rendered for the session is marked where the turn repeats it, and only there (P-09)."""
    shown = "- [preference] User prefers compact dashboards\n- ok"
    content = f"As you know:\n{shown}\nBut I also like charts."
    capture(ws, "s1", said(content), rendered=[shown])
    (turn,) = sessions.read(ws, "s1")
    ((start, stop),) = turn.injected
    assert turn.content[start:stop] == shown
    assert turn.content == content


def test_paused_is_off_the_record(ws: Workspace) -> None:
    """Nothing is captured while a session, or everything, is paused, and nothing of it is in any file."""
    capture(ws, "s1", said("before"))
    pause(ws, "s1")
    assert capture(ws, "s1", said("hush")) == Captured()
    assert capture(ws, "s2", said("aloud")).recorded
    pause(ws)
    assert not capture(ws, "s2", said("hush")).recorded
    resume(ws, "s1")
    assert not capture(ws, "s1", said("hush")).recorded
    resume(ws)
    resume(ws)
    assert capture(ws, "s1", said("after")).n == 1
    assert not any(b"hush" in path.read_bytes() for path in ws.root.rglob("*") if path.is_file())


def test_a_switched_off_memory_captures_nothing(ws: Workspace) -> None:
    """With `enabled = false` a turn is not stored and no file is made."""
    assert capture(opened(ws.root, enabled=False), "s1", said("x")) == Captured()
    assert sessions.files(ws) == []


def test_what_becomes_due_is_said(ws: Workspace) -> None:
    """Every sixth turn makes its session due, and the end of a session makes everything of it due."""
    due = [capture(ws, "s1", said(f"{n}")).due.sessions for n in range(12)]
    assert [n for n, sessions_due in enumerate(due) if sessions_due] == [5, 11]
    ended = end(ws, "s1")
    assert (ended.sessions, ended.drain, ended.digest) == (("s1",), True, True)


def test_a_session_that_was_cut_off_is_still_there_days_later(ws: Workspace) -> None:
    """Three turns of a session nobody closed are read by whoever comes next, and the session is open (R-43)."""
    for n in range(3):
        capture(ws, "s1", said(f"turn {n}"))
    later = opened(ws.root, now=datetime(2026, 7, 4, tzinfo=UTC))
    state = sessions.load(later, "s1").state
    assert (state.turns, state.open, state.last) == (3, True, NOON)


def test_a_turn_that_could_not_be_written_is_told(ws: Workspace) -> None:
    """When the disk refuses, the caller hears it, and the same turn sent again is stored once (R-06)."""
    failing = opened(ws.root, disk=CrashDisk(ws.root, fail_at=4), first=1 << 32)
    with pytest.raises(StoreUnwritable):
        capture(failing, "s1", said("Hello", id="t1"))
    capture(failing, "s1", said("Hello", id="t1"))
    assert texts(ws) == ["Hello"]


def test_capture_needs_neither_journal_nor_state(ws: Workspace) -> None:
    """With the journal's and the index's folders broken a turn is still captured."""
    for folder in (layout.JOURNAL, layout.INDEX):
        (ws.root / folder).rename(ws.root / f"{folder}-away")
        (ws.root / folder).write_bytes(b"")
    assert capture(ws, "s1", said("Hello")).recorded


@pytest.mark.parametrize(
    "wrong",
    [
        {"id": 5},
        {"id": ["a"]},
        {"name": None},
        {"user": 7},
        {"at": datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=23)))},
        {"at": datetime(9999, 12, 31, 23, tzinfo=timezone(-timedelta(hours=23)))},
    ],
)
def test_what_no_reader_would_take_is_refused(ws: Workspace, wrong: dict[str, object]) -> None:
    """A member of a wrong type, or a time no calendar holds, is refused and never acknowledged and then lost."""
    turn = msgspec.structs.replace(said("I moved to Lisbon."), **wrong)
    with pytest.raises(InvalidRecord):
        capture(ws, "s1", turn)
    capture(ws, "s1", said("I prefer tea."))
    assert texts(ws) == ["I prefer tea."]
