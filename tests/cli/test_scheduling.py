"""`reverie init --schedule` and what it leaves: in a crontab, among the units of systemd, and nowhere else."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from reverie import layout
from reverie.core.schedule import Job, cron_line, is_mine, units, with_line, without_line
from reverie.errors import UsageError

if TYPE_CHECKING:
    from conftest import Shell

# What a crontab program does: -l prints the table or says that there is none, - replaces it.
CRONTAB = """\
#!/bin/sh
table="{table}"
echo "$*" >> "{table}.calls"
if [ "$1" = -l ]; then
    [ -e "{table}.broken" ] && {{ echo "crontab: you are not allowed to use this program" >&2; exit 1; }}
    [ -e "$table" ] || {{ echo "no crontab for $(id -un)" >&2; exit 1; }}
    exec cat "$table"
fi
exec cat > "$table"
"""
SYSTEMCTL = """\
#!/bin/sh
echo "$*" >> "{calls}"
exit {code}
"""
THEIRS = "# mine\n\nMAILTO=dana@example.org\n0 5 * * 1\ttar -zcf /var/b.tgz /home/ \r\n@daily echo 100\\%\n"


class System:
    """A user's crontab, units and programs, in folders of a test."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        """Put the programs in the place of the machine's."""
        self.folder, self.table, self.calls = folder, folder / "table", folder / "calls"
        self.bin = folder / "bin"
        self.bin.mkdir()
        for name in ("env", "sh", "cat", "id"):
            found = shutil.which(name)
            assert found
            (self.bin / name).symlink_to(found)
        self.program("crontab", CRONTAB.format(table=self.table))
        self.program("systemctl", SYSTEMCTL.format(calls=self.calls, code=0))
        patch.setenv("PATH", str(self.bin))
        patch.setenv("HOME", str(folder))
        patch.delenv("XDG_CONFIG_HOME", raising=False)

    def program(self, name: str, text: str) -> None:
        """Put a program of that name in the place of the machine's."""
        path = self.bin / name
        path.write_text(text)
        path.chmod(stat.S_IRWXU)

    @property
    def units(self) -> dict[str, str]:
        """The texts of the units by name."""
        found = (self.folder / ".config/systemd/user").glob("*")
        return {one.name: one.read_text(encoding="utf-8") for one in found}

    @property
    def crontab(self) -> bytes:
        """The bytes of the crontab."""
        return self.table.read_bytes()


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> System:
    """A user's schedules."""
    folder = tmp_path / "home"
    folder.mkdir()
    return System(folder, monkeypatch)


def scheduled(shell: Shell, kind: str) -> dict[str, object]:
    """Ask for a schedule and return what is told of it."""
    answer = shell.raw(
        "init", str(shell.folder), "--config-dir", str(shell.config), "--schedule", kind, "--json"
    )
    assert answer.code == 0, answer
    told: dict[str, object] = answer.value["schedule"]
    return told


def test_a_crontab_gains_one_line_and_loses_it_again(shell: Shell, system: System) -> None:
    """Of somebody's crontab every other byte stays, a second time changes nothing, and `none` restores it."""
    system.table.write_bytes(THEIRS.encode())
    told = scheduled(shell, "cron")
    held = system.crontab
    assert held.startswith(THEIRS.encode())
    assert held.count(b"\n") == THEIRS.count("\n") + 1
    assert "added to your crontab" in str(told["done"])
    assert scheduled(shell, "cron")["done"] == []
    assert system.crontab == held
    assert scheduled(shell, "none")["done"] == ["taken out of your crontab"]
    assert system.crontab == THEIRS.encode()


def test_where_there_is_no_crontab_one_is_made(shell: Shell, system: System) -> None:
    """A user without a crontab gets one of one line."""
    scheduled(shell, "cron")
    assert system.crontab.count(b"\n") == 1


def test_a_crontab_that_cannot_be_read_is_not_written(shell: Shell, system: System) -> None:
    """When `crontab -l` fails for another reason than that there is none, nothing is replaced, and it is told why."""
    system.table.write_bytes(THEIRS.encode())
    Path(f"{system.table}.broken").touch()
    answer = shell("init", "--schedule", "cron")
    assert answer.code == 73
    assert "not allowed" in answer.err
    assert system.crontab == THEIRS.encode()


@pytest.mark.slow
def test_the_line_really_drains(shell: Shell, system: System) -> None:
    """What stands in the crontab, run by a shell that knows nothing, stores what was queued (R-53)."""
    shell.folder = shell.folder.parent / "a b %y" / "my $HOME `memory`'s"
    shell.folder.parent.mkdir()
    scheduled(shell, "cron")
    shell.ok("remember", "Dana prefers calls before noon")
    command = system.crontab.decode().split(" * * * * ", 1)[1].replace("\\%", "%")
    done = subprocess.run(["/bin/sh", "-c", command], env={"HOME": str(system.folder)}, check=False, cwd="/")
    assert done.returncode == 0
    assert not list((shell.folder / layout.SEGMENTS).iterdir())
    assert "before noon" in next((shell.folder / layout.ARCHIVE).glob("*.md")).read_text(encoding="utf-8")


def test_units_are_written_switched_on_and_removed(shell: Shell, system: System) -> None:
    """A timer and its service are written and started, once; choosing cron instead takes them away."""
    told = scheduled(shell, "systemd")
    names = sorted(system.units)
    assert [Path(name).suffix for name in names] == [".service", ".timer"]
    assert told["by_hand"] == []
    assert system.calls.read_text().splitlines() == [
        "--user daemon-reload",
        f"--user enable --now {told['name']}.timer",
    ]
    assert scheduled(shell, "systemd")["done"] == []
    scheduled(shell, "cron")
    assert not system.units
    assert f"--user disable --now {told['name']}.timer" in system.calls.read_text()
    assert b"consolidate" in system.crontab


def test_what_systemd_did_not_take_is_left_to_a_person(shell: Shell, system: System) -> None:
    """Where `systemctl` fails or is not there, the units are written and the commands to run are shown."""
    system.program("systemctl", SYSTEMCTL.format(calls=system.calls, code=1))
    told = scheduled(shell, "systemd")
    assert told["by_hand"] == [
        "systemctl --user daemon-reload",
        f"systemctl --user enable --now {told['name']}.timer",
    ]
    (system.bin / "systemctl").unlink()
    assert len(scheduled(shell, "systemd")["by_hand"]) == 2  # type: ignore[arg-type]
    said = shell.ok("init", "--schedule", "systemd").out
    assert "run this yourself: systemctl --user daemon-reload" in said
    assert f"undo: reverie init {shlex.quote(str(shell.folder))} --schedule none" in said


def test_without_a_crontab_program_it_is_told(shell: Shell, system: System) -> None:
    """Where there is no `crontab`, the workspace is made and the call says what to choose instead."""
    (system.bin / "crontab").unlink()
    answer = shell("init", "--schedule", "cron")
    assert answer.code == 64
    assert "choose another --schedule" in answer.err
    assert scheduled(shell, "none")["done"] == []


def test_two_workspaces_have_two_schedules(shell: Shell, system: System) -> None:
    """A second workspace adds a line of its own, and taking it out leaves the first."""
    scheduled(shell, "cron")
    first, shell.folder = system.crontab, shell.folder.parent / "other"
    scheduled(shell, "cron")
    assert system.crontab.startswith(first)
    assert system.crontab.count(b"consolidate") == 2
    scheduled(shell, "none")
    assert system.crontab == first


WORDS = (
    "/usr/bin/python3",
    "-m",
    "reverie",
    "--workspace",
    '/home/d/100% of "it"\\ $HOME `x`',
    "consolidate",
)
JOB = Job(WORDS, WORDS[4])


def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    """The units pass systemd's own check, and a service's words are the words of the job."""
    verify = shutil.which("systemd-analyze")
    if verify is None:
        pytest.skip("systemd is not installed")
    job = Job((sys.executable, *WORDS[1:]), JOB.place)
    for name, text in units(job).items():
        (tmp_path / name).write_text(text)
    done = subprocess.run(
        [verify, "verify", "--user", "--man=no", *(str(tmp_path / name) for name in units(job))],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path), "SYSTEMD_LOG_LEVEL": "warning"},
    )
    about = [line for line in done.stderr.splitlines() if job.name in line]
    assert (done.returncode, about) == (0, []), done.stderr


def test_a_word_reads_back_as_it_was() -> None:
    """The shell reads the words of a line as they were, once cron has read its percent signs."""
    command = cron_line(JOB).split(" * * * * ", 1)[1].rpartition(" >/dev/null")[0]
    assert not re.search(r"(?<!\\)%", command)
    assert tuple(shlex.split(command.replace("\\%", "%"))) == WORDS


def test_a_line_that_somebody_switched_off_is_theirs() -> None:
    """A line that was made a comment stays, and the job is added beside it."""
    off = f"#{cron_line(JOB)}\n"
    assert not is_mine(off, JOB)
    assert with_line(off, JOB) == f"{off}{cron_line(JOB)}\n"
    assert without_line(off, JOB) == off


def test_a_line_without_an_end_is_ended() -> None:
    """A crontab whose last line lacks its end gains that, and a line that changed is changed where it stands."""
    assert with_line("0 1 * * * x", JOB) == f"0 1 * * * x\n{cron_line(JOB)}\n"
    old = f"1 * * * * reverie consolidate # {JOB.name}\n"
    assert with_line(f"{old}# end\n{old}", JOB) == f"{cron_line(JOB)}\n# end\n"


def test_a_control_in_a_path_is_refused() -> None:
    """A folder with a line end in its name cannot be scheduled: it would write a line of its own."""
    bad = Job(("reverie", "--workspace", "/tmp/x\n* * * * * rm"), "/tmp/x")
    for make in (cron_line, units):
        with pytest.raises(UsageError, match="rename it"):
            make(bad)


def test_each_person_s_memory_is_drained_too(shell: Shell, system: System) -> None:
    """What runs by itself also stores what each person's own memory has queued, and one that fails stops no other."""
    scheduled(shell, "cron")
    assert system.crontab.count(b"consolidate --people ") == 1
    for name in ("Dana", "Mira", "Zoe"):
        shell.ok("remember", f"{name} keeps bees", "--user", name)
    mira = next((shell.folder / layout.PEOPLE).glob("mira*"))
    (mira / layout.DRAIN_INTENT).write_bytes(b"damaged")
    answer = shell("consolidate", "--people")
    assert answer.code != 0
    assert "Dana: consolidation: agent=" in answer.out
    for name in ("Dana", "Zoe"):
        assert shell.json("status", "--user", name)["queued"] == 0
        assert shell.json("list", "--user", name)[0]["text"] == f"{name} keeps bees"


def test_what_takes_a_schedule_back_can_be_copied(shell: Shell, system: System, tmp_path: Path) -> None:
    """The command that is shown for taking a schedule back does so as it stands, whatever the folder is called."""
    place = tmp_path / "Dana's memories"
    made = shell.raw("init", str(place), "--config-dir", str(shell.config), "--schedule", "cron")
    undo = re.search(r"undo: reverie (.+)\n", made.out)
    assert undo
    assert system.table.read_text() != ""
    assert shell.raw(*shlex.split(undo[1]), "--config-dir", str(shell.config)).code == 0
    assert system.table.read_text() == ""
