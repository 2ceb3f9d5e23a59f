"""How much memory an import of a large file takes: far less than the file."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CHILD = """
import sys
from pathlib import Path
from reverie.importing import Wish
from reverie.memory import Memory
from reverie.opening import Opening, make_workspace
home = Path(sys.argv[1])
with Memory(make_workspace(Opening(path=home / "agent", config_dir=home / "config", environment={}))) as memory:
    done = memory.import_(home / "conversations.json", wish=Wish(dry_run=sys.argv[2] == "dry"))
# Of this program alone: what `getrusage` tells includes the process that started it.
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print(done.format, done.turns, done.unread, peak.split()[1])
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="VmHWM is told on Linux")
@pytest.mark.parametrize("name", ["chatgpt", "chatgpt-shards", "claude-code", "messages"])
def test_a_hundred_megabytes_of_each_format_take_little_memory(tmp_path: Path, name: str) -> None:
    """An import of 100 MB, zipped whole or in shards, as lines or as lists, peaks below 300 MB and reads all of it."""
    command = [sys.executable, "-m", "benchmarks.importing", "--megabytes", "100", "--durability", "os"]
    told = subprocess.run(
        [*command, "--formats", name],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert told.returncode == 0, told.stdout + told.stderr
    assert "within 300 MB" in told.stdout
    assert "0 unread" in told.stdout
    stored = re.search(r"([\d,]+) stored", told.stdout)
    assert stored is not None
    assert int(stored[1].replace(",", "")) > 35_000


@pytest.mark.slow
@pytest.mark.skipif(
    sys.platform != "linux", reason="the peak of a process's memory is told in kilobytes on Linux"
)
def test_a_large_export_is_imported_in_little_memory(tmp_path: Path) -> None:
    """An export of 200 MB is imported with a peak below 300 MB, every turn of it."""
    chats = 2_000
    with (tmp_path / "conversations.json").open("w", encoding="utf-8") as file:
        file.write("[")
        for number in range(chats):
            words = f"Sentence {number} about tea and harbours. " * 120
            said = [
                {
                    "uuid": f"{number}-{n}",
                    "sender": "human",
                    "text": f"{n} {words}",
                    "created_at": "2026-01-01T00:00:00Z",
                }
                for n in range(22)
            ]
            file.write(("," if number else "") + json.dumps({"uuid": f"c{number}", "chat_messages": said}))
        file.write("]")
    assert (tmp_path / "conversations.json").stat().st_size > 200_000_000
    told = subprocess.run(
        [sys.executable, "-c", CHILD, str(tmp_path), "wet"],
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    name, turns, unread, peak = told.stdout.split()
    assert (name, int(turns), int(unread)) == ("claude-ai", 22 * chats, 0)
    assert int(peak) < 300_000
