"""Real processes, killed at random moments: four writers, a drainer, an extractor and a dreamer on one workspace."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_no_kill_loses_or_doubles_what_was_acknowledged(tmp_path: Path) -> None:
    """After a minute of kills each id a writer was given is found exactly once, and check finds no error (P-02)."""
    command = [
        sys.executable,
        "-m",
        "benchmarks.kills",
        "--minutes",
        "1",
        "--json",
        "--folder",
        str(tmp_path),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False, timeout=600)
    report = json.loads(done.stdout or "{}")
    assert report, done.stderr.decode()
    assert report["wrong"] == []
    assert set(report["lost"].values()) == set(report["doubled"].values()) == {0}
    assert sum(report["kills"].values()) > 20
    assert all(report["noted"].values()), report
