"""Recall measured on a file of one's own: one JSON line of figures at the end, or one sentence that says why not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from benchmarks.recall_data import read

ROOT = Path(__file__).resolve().parents[2]
LOCOMO: dict[str, Any] = {
    "sample_id": "one",
    "conversation": {
        "speaker_a": "Ann",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ann", "dia_id": "D1:1", "text": "I live in Porto now"},
            {"speaker": "Bob", "dia_id": "D1:2", "text": "Nice place!"},
        ],
    },
    "qa": [
        {"question": "Where does Ann live?", "answer": "Porto", "evidence": ["D1:1"], "category": 4},
        {"question": "Who was never there?", "answer": "x", "evidence": ["D9:9"], "category": 2},
        {"question": "And?", "answer": "x", "evidence": [], "category": 1},
    ],
}
BEAM: dict[str, Any] = {
    "id": 7,
    "turns": [
        {"id": 0, "session": 1, "time": "July-01-2026", "role": "user", "content": "I live in Porto now"}
    ],
    "questions": [{"question": "Where do I live?", "type": "information extraction", "evidence": [0]}],
}


def without(document: dict[str, Any], *path: str | int) -> dict[str, Any]:
    """Return a document without what stands at a path."""
    made = deepcopy(document)
    place: Any = made
    for step in path[:-1]:
        place = place[step]
    del place[path[-1]]
    return made


def run(*files: Path, answers: Path) -> subprocess.CompletedProcess[str]:
    """Measure recall on files."""
    command = (sys.executable, "-m", "benchmarks.recall_quality", *map(str, files), "--answers", str(answers))
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, env=dict(os.environ)
    )


@pytest.mark.slow
def test_a_file_of_ones_own_ends_with_one_line_of_figures(tmp_path: Path) -> None:
    """One conversation or a list of them, one question even, in either format: the last line is JSON of all figures."""
    files = {"locomo.json": [LOCOMO], "beam.json": BEAM, "again/beam.json": [BEAM, BEAM]}
    for name, found in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(json.dumps(found))
    done = run(*(tmp_path / name for name in files), answers=tmp_path / "answers.jsonl")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])["none"]
    assert set(told) == {"locomo", str(tmp_path / "beam.json"), str(tmp_path / "again" / "beam.json")}
    assert told["locomo"]["reverie"]["single-hop"]["frac@10"] == 1.0
    assert told["locomo"]["bm25"]["1-4"]["n"] == 1
    assert told[str(tmp_path / "again" / "beam.json")]["reverie"]["all"]["n"] == 2
    lines = [json.loads(line) for line in (tmp_path / "answers.jsonl").read_text().splitlines()]
    assert [line["ranking"][0] for line in lines if line["system"] == "reverie"] == ["D1:1", "0", "0", "0"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is no JSON"),
        ("junk", "is no JSON"),
        ("[]", "neither a LoCoMo nor a BEAM file"),
        ("{}", "neither a LoCoMo nor a BEAM file"),
        ("[1, null]", "neither a LoCoMo nor a BEAM file"),
        (json.dumps(without(LOCOMO, "qa")), "with `conversation` and `qa`"),
        (
            json.dumps([LOCOMO, without(LOCOMO, "conversation", "session_1", 1, "dia_id")]),
            "conversation 2 .*'dia_id'",
        ),
        (json.dumps(without(LOCOMO, "conversation", "session_1_date_time")), "conversation 1 .*time data"),
        (json.dumps(without(LOCOMO, "qa", 0, "question")), "conversation 1 .*'question'"),
        (json.dumps(without(LOCOMO, "qa", 0)), "no question that one of its turns answers"),
        (json.dumps({**LOCOMO, "conversation": {}}), "no question that one of its turns answers"),
        (json.dumps({**LOCOMO, "qa": 7}), "conversation 1 .*cannot be read"),
        (json.dumps(without(BEAM, "turns", 0, "time")), "conversation 1 .*'time'"),
        (json.dumps({**BEAM, "turns": ["x"]}), "conversation 1 .*cannot be read"),
    ],
)
def test_a_file_that_cannot_be_measured_says_why(tmp_path: Path, text: str, said: str) -> None:
    """Empty, of another shape, without a key or without a question to measure: one sentence names what is wrong."""
    (tmp_path / "odd.json").write_text(text)
    with pytest.raises(ValueError, match=said) as caught:
        read(tmp_path / "odd.json")
    assert "odd.json" in str(caught.value)


def test_a_wrong_file_is_a_usage_error(tmp_path: Path) -> None:
    """A file that is not there or not text ends the run with that sentence and no traceback."""
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    for name, said in (("absent.json", "No such file"), ("binary.json", "is no JSON")):
        done = run(tmp_path / name, answers=tmp_path / "answers.jsonl")
        assert done.returncode == 2
        assert said in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("category", [4, "4", "four", None])
def test_a_category_may_be_anything(tmp_path: Path, category: object) -> None:
    """A question of no known category is measured under what stands there."""
    made = deepcopy(LOCOMO)
    made["qa"][0]["category"] = category
    made["qa"][0]["evidence"] = "D1:1; D1:2"
    (tmp_path / "one.json").write_text(json.dumps(made))
    (chat,) = read(tmp_path / "one.json")
    (asked,) = chat.questions
    assert asked.category == ("single-hop" if str(category) == "4" else str(category))
    assert asked.evidence == {"D1:1", "D1:2"}
