"""Session files: ordinals, ids, pauses, and what damage costs."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from ledger import NOON, clock, opened, said

from reverie.core.formats import framing
from reverie.core.records import Opened, Switched, Turn
from reverie.errors import StoreUnwritable
from reverie.store import sessions
from reverie.store.workspace import Workspace
from reverie.testing import CrashDisk


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """Return an empty workspace."""
    return opened(tmp_path)


def talk(ws: Workspace, *texts: str, session: str = "s1") -> list[int]:
    """Append a turn for each text, and return the ordinals."""
    return [sessions.append(ws, session, said(text)).n for text in texts]


def file(ws: Workspace, session: str = "s1") -> Path:
    """Return the session's file."""
    return ws.root / sessions.path_of(session)


def texts(ws: Workspace, session: str = "s1") -> list[str]:
    """Return what was said."""
    return [turn.content for turn in sessions.read(ws, session)]


def test_turns_come_back_whole_with_ordinals_and_ids(ws: Workspace) -> None:
    """Turns get ordinals from 0 and an id each, and are read with everything they carried."""
    stored = sessions.append(ws, "s1", said("Hello", name="Dana", user="u1", call="c7"))
    assert (stored.n, stored.session) == (0, "s1")
    assert talk(ws, "b", "c") == [1, 2]
    assert sessions.read(ws, "s1")[0] == stored
    assert len({turn.id for turn in sessions.read(ws, "s1")}) == 3
    assert [turn.n for turn in sessions.read(ws, "s1", start=1, stop=2)] == [1]


def test_an_absent_session_is_empty_and_open(ws: Workspace) -> None:
    """Reading a session nobody wrote gives nothing and makes no file."""
    assert sessions.load(ws, "s1") == sessions.Session([], sessions.SessionState(name="s1"), [])
    assert not file(ws).exists()


def test_a_turn_sent_twice_is_read_once(ws: Workspace) -> None:
    """A turn sent again under its id is read once, at the place of the first (P-09)."""
    for text in ("a", "b"):
        sessions.append(ws, "s1", said(text, id=f"id-{text}"))
    sessions.append(ws, "s1", said("a", id="id-a"))
    talk(ws, "c")
    assert texts(ws) == ["a", "b", "c"]
    assert sessions.load(ws, "s1").state.turns == 4


def test_names_of_sessions_are_kept_whole(ws: Workspace) -> None:
    """Sessions with names that files cannot have, or that differ in case alone, stay apart and keep their names."""
    names = ["a/../b", "A", "a", "CON", "会话 1", "x" * 300, "é", "e\u0301", " "]
    for name in names:
        talk(ws, f"in {name}", session=name)
    assert sessions.names(ws) == sorted(names)
    assert all(texts(ws, name) == [f"in {name}"] for name in names)
    assert len(sessions.files(ws)) == len(names)


def test_a_session_ends_and_opens_again(ws: Workspace) -> None:
    """Ending twice is ending once, and the next turn opens the session again."""
    talk(ws, "a")
    sessions.switch(ws, "s1", "end")
    size = file(ws).stat().st_size
    sessions.switch(ws, "s1", "end")
    assert file(ws).stat().st_size == size
    assert not sessions.load(ws, "s1").state.open
    assert talk(ws, "b") == [1]
    assert sessions.load(ws, "s1").state.open


def test_nothing_is_stored_while_paused(ws: Workspace) -> None:
    """A paused session takes no turn, ended or not, until it is resumed, and ordinals go on where they were."""
    talk(ws, "a")
    sessions.switch(ws, "s1", "pause")
    assert sessions.append(ws, "s1", said("secret")) is None
    sessions.switch(ws, "s1", "end")
    assert sessions.append(ws, "s1", said("secret")) is None
    assert sessions.load(ws, "s1").state.paused
    sessions.switch(ws, "s1", "resume")
    assert talk(ws, "b") == [1]
    assert texts(ws) == ["a", "b"]


def test_a_session_may_begin_paused(ws: Workspace) -> None:
    """A session paused before its first turn stores none."""
    sessions.switch(ws, "s1", "pause")
    assert sessions.append(ws, "s1", said("secret")) is None
    assert b"secret" not in file(ws).read_bytes()


@pytest.mark.parametrize(
    "junk", [b"null\n", b"\n", bytes(50) + b"\n", b"<p>\n", b"\xff\n", b'{"v":1,"type":"turn"}\n']
)
def test_a_damaged_line_costs_itself_alone(ws: Workspace, junk: bytes) -> None:
    """Junk is reported with its place, the turns around it are read, and no ordinal comes twice (P-03)."""
    talk(ws, "a", "b")
    place = file(ws).stat().st_size
    with file(ws).open("ab") as out:
        out.write(junk)
    later = talk(ws, "c", "d")
    session = sessions.load(ws, "s1")
    assert [turn.content for turn in session.turns] == ["a", "b", "c", "d"]
    assert [(one.offset, one.raw) for one in session.damaged] == [(place, junk.rstrip(b"\n"))]
    assert later[0] > 1
    assert session.state.turns == later[1] + 1


@pytest.mark.parametrize("cut", [1, 20, 90])
def test_a_torn_turn_is_not_glued_to_the_next(ws: Workspace, cut: int) -> None:
    """After a turn whose end is missing the next one stands on its own line, and the torn one is reported (P-03)."""
    talk(ws, "a", "b")
    file(ws).write_bytes(file(ws).read_bytes()[:-cut])
    talk(ws, "c")
    if cut == 1:
        assert texts(ws) == ["a", "b", "c"]
    else:
        assert texts(ws) == ["a", "c"]
        assert len(sessions.load(ws, "s1").damaged) == 1


def test_the_ordinal_of_a_damaged_turn_is_never_given_again(ws: Workspace) -> None:
    """When the last turn is damaged after it was read, the next one still gets a higher ordinal (R-47)."""
    talk(ws, "a", "b", "long " * 200)
    data = file(ws).read_bytes()
    at = data.rfind(b"long")
    file(ws).write_bytes(data[:at] + b"\0" + data[at + 1 :])
    assert sessions.load(ws, "s1").state.turns >= 3
    assert talk(ws, "c")[0] >= 3


def test_glued_turns_are_both_read(ws: Workspace) -> None:
    """Two turns on one line are two turns (P-03)."""
    talk(ws, "a", "b", "c")
    file(ws).write_bytes(file(ws).read_bytes().replace(b"}\n{", b"}{"))
    assert texts(ws) == ["a", "b", "c"]
    assert talk(ws, "d") == [3]


def test_a_file_of_nothing_but_damage_is_begun_anew_above_it(ws: Workspace) -> None:
    """A session file with no readable line goes on, reported, under its name and with ordinals not used before."""
    file(ws).write_bytes(bytes(1_000))
    assert talk(ws, "a")[0] >= 10
    assert texts(ws) == ["a"]
    assert sessions.names(ws) == ["s1"]


def test_a_turn_larger_than_the_first_look_is_found(ws: Workspace) -> None:
    """A last line longer than what is looked at first still gives the next ordinal."""
    talk(ws, "a", "x" * 500_000)
    assert talk(ws, "b") == [2]


def test_lifted_ordinals_go_on_above(ws: Workspace) -> None:
    """A lift, done once and to a file as it was read, sets the least next ordinal; pauses and ends stay as they are."""
    talk(ws, "a")
    sessions.switch(ws, "s1", "pause")
    sessions.lift(ws, "s1", to=12, size=file(ws).stat().st_size)
    size = file(ws).stat().st_size
    sessions.lift(ws, "s1", to=5, size=size)
    sessions.lift(ws, "s1", to=30, size=size - 1)  # it was read before its last line came
    assert file(ws).stat().st_size == size
    assert sessions.load(ws, "s1").state.turns == 12
    assert sessions.append(ws, "s1", said("secret")) is None
    sessions.switch(ws, "s1", "resume")
    assert talk(ws, "b") == [12]
    sessions.switch(ws, "s1", "end")
    sessions.lift(ws, "s1", to=20, size=file(ws).stat().st_size)
    assert not sessions.load(ws, "s1").state.open


def test_what_is_no_file_is_left_alone(ws: Workspace) -> None:
    """A folder, a link or a second name among the session files hides no other session."""
    talk(ws, "a", session="good")
    (ws.root / "sessions" / "folder.jsonl").mkdir()
    (ws.root / "sessions" / "link.jsonl").symlink_to(file(ws, "good"))
    (ws.root / "sessions" / ".DS_Store").write_bytes(b"junk")
    assert sessions.names(ws) == ["good"]


def test_threads_share_a_session(tmp_path: Path) -> None:
    """Turns from several threads at once each get an ordinal of their own (P-02)."""

    def run(number: int) -> None:
        mine = opened(tmp_path, first=(number + 1) << 32, lock_wait_seconds=60)
        for n in range(25):
            sessions.append(mine, "s1", said(f"{number} {n}"))

    threads = [threading.Thread(target=run, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [turn.n for turn in sessions.read(opened(tmp_path), "s1")] == list(range(100))


def test_a_failed_append_leaves_no_turn(ws: Workspace) -> None:
    """When the disk is full nothing of the turn stays, and sending it again stores it once."""
    talk(ws, "a")
    calls = CrashDisk(ws.root)
    sessions.append(opened(ws.root, disk=calls, first=99), "s2", said("dry"))
    for at in range(1, calls.calls + 1):
        failing = opened(ws.root, disk=CrashDisk(ws.root, fail_at=at), first=at << 32)
        try:
            sessions.append(failing, "s1", said("b", id="b"))
        except StoreUnwritable:
            sessions.append(failing, "s1", said("b", id="b"))
        assert texts(ws) == ["a", "b"], at
        assert sessions.load(ws, "s1").damaged == [], at


def test_a_clock_set_back_does_not_reorder(ws: Workspace) -> None:
    """Turns stay in the order they were captured, whatever their clocks say (R-40)."""
    for minutes in (0, -90, 10):
        clock(ws).advance(minutes=minutes)
        sessions.append(ws, "s1", said(f"{minutes}", at=ws.clock()))
    assert texts(ws) == ["0", "-90", "10"]


def test_lines_of_other_kinds_are_damage(ws: Workspace) -> None:
    """A framed record that is no session line is reported, not taken for a turn."""
    talk(ws, "a")
    with file(ws).open("ab") as out:
        out.write(framing.frame({"type": "remember", "id": "x"}))
    assert [len(part) for part in (texts(ws), sessions.load(ws, "s1").damaged)] == [1, 1]


def test_a_file_by_a_persons_hand_needs_no_first_line(ws: Workspace) -> None:
    """A session file whose first line is missing is read, and its state is what its last line says."""
    lines = [framing.frame(said("a", id="a", n=0)), framing.frame(Switched(to="end", at=NOON, n=1))]
    file(ws).write_bytes(b"".join(lines))
    loaded = sessions.load(ws, "s1")
    assert (loaded.state.name, loaded.state.turns, loaded.state.open) == ("s1", 1, False)
    assert Opened(session="s1", at=NOON).n == 0


def test_a_new_turn_under_an_old_id_is_kept(tmp_path: Path) -> None:
    """P-01: a host that reuses an id for other words loses neither turn; the same turn sent again is read once."""
    ws = opened(tmp_path / "w")
    for words in ("I moved to Lisbon.", "I am allergic to walnuts.", "I moved to Lisbon."):
        sessions.append(ws, "s1", Turn(role="user", content=words, at=NOON, id="t1"))
    assert [turn.content for turn in sessions.read(ws, "s1")] == [
        "I moved to Lisbon.",
        "I am allergic to walnuts.",
    ]
