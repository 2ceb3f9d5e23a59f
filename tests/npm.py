"""Programs from npm that slow tests run, at pinned versions, kept in the checkout's `build`."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
_NO_NPM = 3
_LONGEST = 600


def installed(name: str) -> Path:
    """Return the folder `node_modules` of a set of programs, installed when they are not there yet.

    The test is skipped where npm or its registry is not to be had, or takes too long.
    """
    try:
        done = subprocess.run(
            [ROOT / ".ci/node", name], capture_output=True, text=True, timeout=_LONGEST, check=False
        )
    except subprocess.TimeoutExpired:
        pytest.skip(f"npm did not install the programs within {_LONGEST} s")
    if done.returncode == _NO_NPM:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    return ROOT / "build" / name / "node_modules"
