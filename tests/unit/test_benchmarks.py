"""The benchmarks run, say what they measured on, and leave nothing behind."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "benchmarks.md"


def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run Python in the checkout."""
    command = (sys.executable, *arguments)
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, env={**os.environ, **variables}
    )


@pytest.mark.slow
def test_a_measurement_prints_its_table_and_removes_its_folder(tmp_path: Path) -> None:
    """A run names the machine, puts each figure beside the machine's own, and leaves its folder as empty as it was."""
    done = run("-m", "benchmarks", "capture", "--quick", "--folder", str(tmp_path))
    assert done.returncode in (0, 1), done.stderr  # 1: a target was missed, as a busy machine may
    machine, _, *table = done.stdout.splitlines()
    assert re.search(r"\d+ cores.*CPython|PyPy", machine)
    assert table[2].startswith("| capture, 1 kB turn ")
    assert "append+fsync" in table[2]
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_measurement_is_refused() -> None:
    """A name that is none is a usage error that lists those there are, and the page describes each of them."""
    done = run("-m", "benchmarks", "captur")
    assert done.returncode == 2
    names = done.stderr.rpartition("there are ")[2].strip().split(", ")
    assert "capture" in names
    page = PAGE.read_text("utf-8")
    assert [name for name in names if f"| `{name}` |" not in page] == []


def test_invented_entries_are_the_same_everywhere() -> None:
    """The same seed gives the same entries and questions, whatever Python's hash seed is."""
    code = (
        "from itertools import islice; from benchmarks.invented import Inventor as I; e = list(islice(I().entries(),"
        " 300)); asker = I(2); print(e, [asker.question(one) for one in e])"
    )
    first, second = (run("-c", code, PYTHONHASHSEED=seed) for seed in ("1", "2"))
    assert first.returncode == 0, first.stderr
    assert first.stdout == second.stdout


def test_start_up_is_among_what_make_bench_measures() -> None:
    """`make bench` measures the start of commands and of the MCP server, beside a bare interpreter and the SDK."""
    told = run(
        "-c", "from benchmarks.__main__ import APART, MEASUREMENTS; print(*set(MEASUREMENTS) - set(APART))"
    )
    assert {"start", "mcp"} <= set(told.stdout.split()), told.stderr
    target = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\nbench:")[2].splitlines()[1]
    assert target == "\t@$(PY) -m benchmarks"
