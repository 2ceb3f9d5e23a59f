"""Opening: what is no workspace, newer, damaged, somebody else's or read-only is told in a sentence, and mended."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

import pytest
from desk import Desk, contents

import reverie
from reverie import layout
from reverie.context import ContextRequest
from reverie.core.formats import framing
from reverie.core.records import Entry, Remember
from reverie.errors import (
    DamagedFile,
    NewerFormat,
    NotAWorkspace,
    StoreUnwritable,
    Untrusted,
)
from reverie.memory import Memory
from reverie.opening import make_workspace, open_workspace, trust_workspace
from reverie.store.intents import DrainIntent
from reverie.testing import CrashDisk


def test_a_folder_that_is_no_workspace_is_refused(desk: Desk, tmp_path: Path) -> None:
    """Opening any other folder, or none, says how to make a workspace there and makes nothing."""
    (tmp_path / "plain").mkdir()
    for name in ("plain", "nowhere"):
        with pytest.raises(NotAWorkspace, match="reverie init"):
            open_workspace(desk.opening(path=tmp_path / name))
    assert list((tmp_path / "plain").iterdir()) == []
    assert not (tmp_path / "nowhere").exists()


def test_the_way_to_make_a_workspace_makes_the_one_that_was_meant(desk: Desk, tmp_path: Path) -> None:
    """The command in the error names the folder or the agent that was asked for; none, where none was."""
    meant = {
        f"`reverie init '{tmp_path}/my notes'`": {"path": tmp_path / "my notes"},
        "`reverie init --agent-id coder`": {"path": None, "agent": "coder"},
        "`reverie init`": {"path": None, "agent": None},
    }
    for said, named in meant.items():
        with pytest.raises(NotAWorkspace) as caught:
            open_workspace(desk.opening(environment={"HOME": str(tmp_path)}, **named))
        assert said in str(caught.value)


def test_an_agent_is_called_as_it_was_named(desk: Desk, tmp_path: Path) -> None:
    """The name that led to a workspace is its agent's, `default` too; where a folder did, the agent has its name."""
    home = {"HOME": str(tmp_path)}
    named = {
        "default": {},
        "support bot": {"environment": home | {"REVERIE_AGENT_ID": "support bot"}},
        "coder": {"agent": "coder"},
        "my notes": {"path": tmp_path / "my notes"},
        "Mira": {"path": tmp_path / "elsewhere", "agent": "Mira"},
    }
    for name, given in named.items():
        opening = desk.opening(**{"path": None, "agent": None, "environment": home} | given)
        with Memory(make_workspace(opening)) as made:
            assert made.status().agent == name


def test_what_is_to_be_typed_is_quoted(desk: Desk, tmp_path: Path) -> None:
    """A command in a message or a remedy can be pasted, though the folder that it names has a blank."""
    here = tmp_path / "my notes"
    with pytest.raises(NotAWorkspace) as caught:
        desk.opening().workspace(here).identity()
    assert f"`reverie init '{here}'`" in str(caught.value)
    reverie.init(here, config_dir=tmp_path / "config").close()
    with reverie.open(here, config_dir=tmp_path / "other") as memory:
        remedies = [one.remedy for one in memory.status().problems]
    assert any(f"`reverie trust '{here}'`" in one for one in remedies)


def test_making_a_workspace_twice_keeps_every_file(desk: Desk) -> None:
    """`init` on a workspace changes nothing that is there and makes again what is missing."""
    desk.remember("User likes tea")
    desk.memory.drain()
    before = desk.bytes()
    shutil.rmtree(desk.root / "notebook" / "4_Assets")
    Desk(desk.home).memory.close()
    assert desk.bytes() == before
    assert (desk.root / "notebook" / "4_Assets").is_dir()


def test_a_newer_workspace_is_refused_untouched(desk: Desk) -> None:
    """A workspace that a newer version made is neither read nor written, and the error says to upgrade."""
    identity = desk.memory.opened.identity
    (desk.root / layout.ORIGIN).write_bytes(framing.frame(identity, version=layout.FORMAT + 1))
    before = contents(desk.root, derived=True)
    with pytest.raises(NewerFormat, match="upgrade"):
        desk.again()
    assert contents(desk.root, derived=True) == before


@pytest.mark.parametrize("harm", [b"", b"{}\n", b"\x00" * 80, b'{"v":1,"id":"1","crc":"00000000"}\n'])
def test_a_damaged_identity_is_told_and_trust_mends_it(desk: Desk, harm: bytes) -> None:
    """Where the identity cannot be read nothing opens, and `trust` gives the workspace a new one."""
    desk.remember("User likes tea")
    (desk.root / layout.ORIGIN).write_bytes(harm)
    with pytest.raises(DamagedFile, match="reverie trust"):
        desk.again()
    mended = desk.keep(Memory(trust_workspace(desk.opening())))
    assert desk.found("tea", mended) == ["User likes tea"]
    assert desk.again().status().trusted


def test_a_workspace_from_elsewhere_is_read_only(desk: Desk, tmp_path: Path) -> None:
    """Copied to another user it is read, but refuses every write and gives nothing to a prompt, until trusted."""
    kept = desk.remember("User likes tea")
    desk.memory.person("Dana").remember("Dana likes plums")
    desk.memory.close()
    theirs = tmp_path / "theirs"
    shutil.copytree(desk.root, theirs)
    before = contents(theirs)
    other = {"path": theirs, "config_dir": tmp_path / "their-config"}
    memory = desk.again(**other)
    assert desk.found("tea", memory) == ["User likes tea"]
    assert not memory.status().trusted
    for verb in (
        lambda: memory.remember("Coffee"),
        lambda: memory.feedback(kept, "wrong"),
        lambda: memory.note("A note"),
        lambda: memory.hide([kept]),
        lambda: memory.forget([kept]),
        lambda: memory.pin(kept),
        memory.drain,
        memory.extract,
        memory.dream,
        memory.publish,
        memory.lint,
        memory.reindex,
        memory.consolidate,
        memory.context,
        lambda: memory.context(ContextRequest(query="tea")),
        lambda: memory.person("Dana"),
        lambda: memory.check(repair=True),
        lambda: memory.import_(tmp_path / "x.jsonl"),
    ):
        with pytest.raises(Untrusted, match="reverie trust"):
            verb()
    assert memory.check() == ()
    memory.close()
    assert contents(theirs) == before
    mended = desk.keep(Memory(trust_workspace(desk.opening(**other))))
    assert mended.remember("Coffee").queued
    assert desk.found("plums", mended.person("Dana")) == ["Dana likes plums"]
    assert contents(desk.root)[layout.ORIGIN] != contents(theirs)[layout.ORIGIN]


def test_a_read_only_folder_is_read(desk: Desk) -> None:
    """On a read-only disk everything is found and nothing is lost, and a write says what stands in its way."""
    desk.remember("User likes tea")
    desk.memory.close()
    before = desk.bytes()

    def read_only(root: Path) -> CrashDisk:
        return CrashDisk(root, fail_at=1, error=errno.EROFS, forever=True)

    with desk.again(disk=read_only) as memory:
        assert desk.found("tea", memory) == ["User likes tea"]
        assert memory.list()
        with pytest.raises(StoreUnwritable, match="read-only"):
            memory.remember("Coffee")
    assert desk.bytes() == before


def test_the_first_writing_verb_finishes_what_a_crash_left(desk: Desk) -> None:
    """An interrupted drain is finished by whichever verb writes first, and by none that reads."""
    kept = desk.remember("User likes tea")
    (segment,) = (desk.root / layout.SEGMENTS).iterdir()
    (desk.root / layout.DRAINING).mkdir(exist_ok=True)
    segment.rename(desk.root / layout.DRAINING / segment.name)
    intent = DrainIntent(
        id="c" * 16,
        at=desk.clock(),
        segments=(segment.name,),
        days={"2026-07-01": 0},
        events=0,
        stored_from=0,
        stored_to=0,
    )
    (desk.root / layout.DRAIN_INTENT).write_bytes(framing.frame(intent))
    memory = desk.again()
    assert desk.found("tea", memory) == ["User likes tea"]
    assert (desk.root / layout.DRAIN_INTENT).exists()
    memory.note("Something else")
    assert not (desk.root / layout.DRAIN_INTENT).exists()
    assert kept in desk.text(layout.log_file("2026-07-01"))


def test_recovery_that_failed_is_tried_again(desk: Desk) -> None:
    """When a crash's rest cannot be finished the verb fails, and so does the next one, until it can."""
    desk.remember("User likes tea")
    intent = desk.root / layout.DRAIN_INTENT
    intent.write_bytes(framing.frame({"segments": "none"}))
    memory = desk.again()
    for _ in range(2):
        with pytest.raises(reverie.ReverieError):
            memory.remember("Coffee")
    intent.unlink()
    assert memory.remember("Coffee").queued


def test_opening_reads_no_more_than_it_needs(desk: Desk) -> None:
    """Opening a workspace makes neither index nor state."""
    desk.memory.close()
    shutil.rmtree(desk.root / ".index")
    desk.again()
    assert not (desk.root / ".index").exists() or not list((desk.root / ".index").iterdir())


def test_public_names_open_the_same_memory(tmp_path: Path) -> None:
    """`reverie.init`, `open` and `trust` lead to one memory, and settings given as text hold for it."""
    config = tmp_path / "config"
    with reverie.init(tmp_path / "agent", agent="bot", config_dir=config) as memory:
        kept = memory.remember("User likes tea").id
    with reverie.open(tmp_path / "agent", config_dir=config, settings={"zone": "Asia/Shanghai"}) as memory:
        assert memory.opened.ws.calendar.zone == "Asia/Shanghai"
        assert memory.get(kept).entry.text == "User likes tea"
        assert memory.status().agent == "bot"
    with reverie.trust(tmp_path / "agent", config_dir=tmp_path / "other") as memory:
        assert memory.status().trusted


def test_a_record_written_by_hand_needs_no_memory(desk: Desk) -> None:
    """A record that another program appended to the journal is a memory like any other."""
    entry = Entry(id="a" * 16, text="User likes tea", at=desk.clock(), day="2026-07-01")
    record = framing.frame(Remember(id="b" * 16, at=desk.clock(), entry=entry))
    (desk.root / layout.SEGMENTS / "other-program.jsonl").write_bytes(record)
    assert desk.found("tea") == ["User likes tea"]
    assert desk.memory.drain().stored == 1
