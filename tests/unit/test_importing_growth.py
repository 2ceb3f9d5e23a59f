"""What an import holds in memory does not follow the size of what it takes in."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GROWS = 30  # megabytes that forty more may add; held whole and decoded they would add hundreds


def peak(name: str, megabytes: int, folder: Path) -> int:
    """Import an invented file in a process of its own, and return its peak of memory in megabytes."""
    words = ("--megabytes", str(megabytes), "--formats", name, "--durability", "os")
    code = f"import tempfile, runpy, sys; tempfile.tempdir = {str(folder)!r}; sys.argv = ['i', *{words!r}]"
    code += "; runpy.run_module('benchmarks.importing', run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    found = re.search(r"peak (\d+) MB", done.stdout)
    assert found, done.stdout + done.stderr
    return int(found[1])


@pytest.mark.slow
@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="the peak of a process is told by Linux alone"
)
@pytest.mark.parametrize("name", ["memory", "codex"])
def test_an_import_of_more_takes_no_more_memory(tmp_path: Path, name: str) -> None:
    """Facts of one day, and one endless session, are taken in within bounded memory."""
    # The smaller file is larger than what is buffered to tell the format, and than what a drain takes at once.
    assert peak(name, 70, tmp_path) - peak(name, 30, tmp_path) < GROWS
