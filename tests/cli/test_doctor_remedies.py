"""What `reverie doctor` says to do about a broken installation, done as it says, mends it."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from reverie import layout
from reverie.entrance import Opening
from reverie.opening import open_workspace
from reverie.store import counters
from reverie.store.counters import ConsolidateCounters

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Shell

COMMAND = re.compile(r"`((?:reverie|chmod) [^`]+)`")
MOST = 3  # times that one remedy may lead to the next


@dataclass(frozen=True)
class Home:
    """A person's home with a memory at the usual place, the command on the PATH, and everything as it should be."""

    shell: Shell
    folder: Path
    root: Path

    @property
    def config(self) -> Path:
        """The folder of the person's own configuration."""
        return self.folder / ".config" / "reverie"

    @property
    def hooks(self) -> Path:
        """The settings of Claude Code."""
        return self.folder / ".claude" / "settings.json"

    def symptoms(self) -> list[dict[str, Any]]:
        """Return what the doctor finds that hinders something."""
        found = self.shell.raw("doctor", "--json").value["symptoms"]
        return [one for one in found if one["severity"] != "note"]

    def do(self, remedy: str) -> None:
        """Do what a remedy says to type first."""
        typed = COMMAND.search(remedy)
        assert typed, remedy
        words = shlex.split(typed[1])
        if words[0] == "reverie":
            answer = self.shell.raw(*words[1:])
            assert answer.code == 0, answer
        else:
            subprocess.run(words, check=True)


@pytest.fixture
def home(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home in good health."""
    folder = tmp_path / "Dana's home"
    bin_folder = folder / "bin"
    bin_folder.mkdir(parents=True)
    for name, text in {"reverie": f"#!{sys.executable}\n", "systemctl": "#!/bin/sh\nexit 0\n"}.items():
        (bin_folder / name).write_text(text)
        (bin_folder / name).chmod(stat.S_IRWXU)
    for name in ("env", "sh", "chmod"):
        found = shutil.which(name)
        assert found
        (bin_folder / name).symlink_to(found)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("PATH", str(bin_folder))
    monkeypatch.setenv("REVERIE_EMBEDDER", "none")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    made = shell.raw("init", "--json").value
    monkeypatch.setenv("REVERIE_WORKSPACE", made["workspace"])
    shell.raw("remember", "Dana prefers calls before noon")
    shell.raw("consolidate")
    shell.raw("recall", "calls")
    here = Home(shell, folder, Path(made["workspace"]))
    assert here.symptoms() == []
    return here


def no_workspace(home: Home) -> None:
    """The folder is there and empty."""
    shutil.rmtree(home.root)
    home.root.mkdir()


def stranger(home: Home) -> None:
    """The key is lost that the workspace was sealed with."""
    (home.config / "key").unlink()


def open_token(home: Home) -> None:
    """Others may read a token."""
    (home.config / "token").write_text("x")
    (home.config / "token").chmod(0o644)


def open_key(home: Home) -> None:
    """Others may read the key."""
    (home.config / "key").chmod(0o640)


def open_config(home: Home) -> None:
    """Others may write the settings."""
    (home.config / "config.toml").touch()
    (home.config / "config.toml").chmod(0o666)


def open_folder(home: Home) -> None:
    """Others may write the folder of the configuration."""
    home.config.chmod(0o777)


def newer_index(home: Home) -> None:
    """A newer version wrote the index."""
    with closing(sqlite3.connect(home.root / layout.INDEX / "rows.db")) as rows:
        rows.execute("PRAGMA user_version = 99")


def versioned(home: Home) -> None:
    """A repository around the home would take the memory in."""
    (home.folder / ".git").mkdir()
    (home.root / layout.GITIGNORE).unlink()


def nobody_consolidates(home: Home) -> None:
    """Nothing has run what is due for days."""
    ws = open_workspace(Opening(path=home.root, config_dir=home.config)).ws
    counters.write(ws, ConsolidateCounters(last=datetime.now(UTC) - timedelta(days=3)))


def dead_hooks(home: Home) -> None:
    """Hooks call an installation that is gone."""
    assert home.shell.raw("install", "claude-code").code == 0
    own = json.dumps(json.loads(home.hooks.read_text()))
    called = re.search(r'"command": "(\S+) ', own)
    assert called
    home.hooks.write_text(own.replace(called[1], "/gone/bin/reverie"))


def test_hooks_that_call_a_program_in_a_folder_with_a_blank_are_sound(home: Home) -> None:
    """A hook's program is found though its path has blanks and quotes, where Claude Code keeps its settings."""
    program = home.folder / "my programs" / "reverie"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(stat.S_IRWXU)
    command = shlex.join([str(program), "hook", "Stop"])
    home.hooks.parent.mkdir(exist_ok=True)
    home.hooks.write_text(
        json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}})
    )
    assert not [one for one in home.symptoms() if one["part"] == "hooks"]


def half_drained(home: Home) -> None:
    """A record waits that no drain has stored, and the drain before it was cut off."""
    home.shell.raw("remember", "User likes tea")
    segment = next((home.root / layout.SEGMENTS).iterdir())
    segment.rename(home.root / layout.DRAINING / segment.name)
    nobody_consolidates(home)


@pytest.mark.slow
@pytest.mark.parametrize(
    "harm",
    [
        *(no_workspace, stranger, open_token, open_key, open_config, open_folder, newer_index),
        *(versioned, nobody_consolidates, dead_hooks, half_drained),
    ],
    ids=lambda harm: harm.__name__,
)
def test_a_remedy_mends_what_it_is_for(home: Home, harm: Callable[[Home], None]) -> None:
    """Each harm is found, and gone once what the remedy says to type was typed, and what the next one says then."""
    harm(home)
    assert home.symptoms() != []
    for _ in range(MOST):
        for symptom in home.symptoms()[:1]:
            home.do(symptom["remedy"])
    assert home.symptoms() == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write in a read-only folder")
def test_a_folder_without_permission_gets_it_back(home: Home) -> None:
    """A folder of the workspace or of the configuration that cannot be written is mended by its `chmod`."""
    for folder in (home.root / layout.SEGMENTS, home.config):
        folder.chmod(0o500)
        (symptom,) = home.symptoms()
        home.do(symptom["remedy"])
        assert home.symptoms() == []


def test_a_misspelled_setting_is_mended_by_the_word_that_is_offered(home: Home) -> None:
    """Written as the remedy says, the setting is one."""
    config = home.config / "config.toml"
    config.write_text("[dream]\nmin_fact = 3\n")
    (symptom,) = home.symptoms()
    meant = re.search(r"dream\.(\w+)", symptom["remedy"])
    assert meant
    config.write_text(f"[dream]\n{meant[1]} = 3\n")
    assert home.symptoms() == []


def test_what_a_sync_program_left_is_named_by_the_command_that_is_offered(home: Home) -> None:
    """Conflict copies are told once, however many there are, and gone once each was merged and removed."""
    copies = ["events.sync-conflict-20260701-120000-ABC.jsonl", "events (Dana's conflicted copy).jsonl"]
    for name in copies:
        (home.root / layout.STATE / name).write_bytes(b"")
    (symptom,) = home.symptoms()
    assert "2 conflict copies" in symptom["what"]
    typed = COMMAND.search(symptom["remedy"])
    assert typed
    told = home.shell.raw(*shlex.split(typed[1])[1:]).out
    assert [name for name in copies if name not in told] == []
    for name in copies:
        (home.root / layout.STATE / name).unlink()
    assert home.symptoms() == []
