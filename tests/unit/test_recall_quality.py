"""How well recall finds: floors that no change may fall below, on files that a person can read."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOCOMO = ROOT.parent / "shared" / "data" / "locomo_dev.json"
BEAM = ROOT.parent / "shared" / "data" / "beam_dev.json"
FLOORS = {"english": 0.84, "chinese": 0.97}  # of frac@10 by words alone


def measured(folder: Path, *files: Path) -> tuple[dict[str, Any], list[str]]:
    """Return the figures of the last line, and the lines before it."""
    answers = folder / "answers.jsonl"
    command = (sys.executable, "-m", "benchmarks.recall_quality", *map(str, files), "--answers", str(answers))
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    *lines, last = done.stdout.splitlines()
    figures: dict[str, Any] = json.loads(last)["none"]
    asked = [json.loads(line) for line in answers.read_text("utf-8").splitlines()]
    assert len(asked) == 3 * sum(one["reverie"]["all"]["n"] for one in figures.values())
    return figures, lines


def test_questions_in_two_languages_find_their_turns(tmp_path: Path) -> None:
    """R-22, P-13: by words alone English and Chinese questions find the turns that answer them, far above BM25."""
    files = [ROOT / "benchmarks" / "data" / f"{name}.txt" for name in FLOORS]
    figures, _ = measured(tmp_path, *files)
    for name, floor in FLOORS.items():
        ours, control = (figures[name][system]["all"] for system in ("reverie", "bm25"))
        assert ours["n"] >= 60
        assert ours["frac@10"] >= floor
        assert ours["frac@10"] >= control["frac@10"] + 0.1


@pytest.mark.slow
@pytest.mark.skipif(not LOCOMO.is_file(), reason="LoCoMo may not be copied, and is not beside this checkout")
def test_locomo_turns_and_sessions_are_found(tmp_path: Path) -> None:
    """On LoCoMo turns and sessions are found as often as is promised, and no category is below plain BM25."""
    figures, lines = measured(tmp_path, LOCOMO)
    ours, control = (figures[LOCOMO.stem][system]["1-4"] for system in ("reverie", "bm25"))
    assert ours["frac@10"] >= max(0.79, control["frac@10"] + 0.12)
    assert ours["s-any@5"] >= 0.95
    assert ours["s-all@5"] >= 0.84
    assert lines[-1] == "Every binding figure is reached."


@pytest.mark.slow
@pytest.mark.skipif(not BEAM.is_file(), reason="BEAM may not be copied, and is not beside this checkout")
def test_beam_turns_are_found(tmp_path: Path) -> None:
    """On chats with an assistant the turns are found as often as is promised, in no type less than by plain BM25."""
    figures, lines = measured(tmp_path, BEAM)
    assert figures[BEAM.stem]["reverie"]["all"]["frac@10"] >= 0.62
    assert figures[BEAM.stem]["reverie"]["all"]["any@10"] >= 0.85
    assert lines[-1] == "Every binding figure is reached."


def test_the_figures_are_those_of_their_formulas() -> None:
    """Shares, ranks, gains and McNemar's p are what a hand calculation gives."""
    code = (
        "from benchmarks.recall_figures import figures, mcnemar, interval\n"
        "import json\n"
        "session = dict(a='s', b='s', c='t', d='u')\n"
        "print(json.dumps([figures(['c', 'a', 'd'], frozenset('ab'), session),"
        " mcnemar([1, 1, 1, 1, 1, 0], [0, 0, 0, 0, 0, 1]), interval([0.5] * 9)]))"
    )
    done = subprocess.run((sys.executable, "-c", code), cwd=ROOT, capture_output=True, text=True, check=True)
    found, test, interval = json.loads(done.stdout)
    assert (found["frac@1"], found["frac@5"], found["any@5"], found["all@5"]) == (0.0, 0.5, 1.0, 0.0)
    assert found["mrr"] == 0.5
    assert found["ndcg@10"] == pytest.approx(0.6309 / 1.6309, abs=1e-4)
    assert (found["s-any@1"], found["s-all@5"], found["s-mrr"]) == (0.0, 1.0, 0.5)
    assert test == [5, 1, pytest.approx(14 / 64)]
    assert interval == [0.5, 0.5]
