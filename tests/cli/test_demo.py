"""The demo lives the whole life of a turn, shows it, and touches nothing else."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from reverie.surface.cli import demo_talk

if TYPE_CHECKING:
    from conftest import Answer, Shell

DATA = Path(__file__).parents[3] / "shared/data/locomo_dev.json"

TALK = [
    ("s1", "user", "I work at Kestrel. I prefer short answers.", "2026-07-01T09:00:00Z"),
    ("s1", "assistant", "Noted.", "2026-07-01T09:00:10Z"),
    ("s1", "user", "I will send Dana the quote by 2026-07-10.", "2026-07-01T09:01:00Z"),
    (
        "s2",
        "user",
        "My token is ghp_" + "0123456789abcdefABCDEF0123456789abcd, don't show it.",
        "2026-07-02T10:00:00Z",
    ),
    ("s2", "user", "I now work at Lindqvist Rail \x1b[31mindeed\x1b[0m.", "2026-07-02T10:01:00Z"),
]


def lines(talk: list[tuple[str, str, str, str]]) -> str:
    """Return a conversation as JSON lines."""
    names = ("session", "role", "content", "timestamp")
    return "".join(json.dumps(dict(zip(names, turn, strict=True))) + "\n" for turn in talk)


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    """A small conversation of two days, with one line that is no turn."""
    path = tmp_path / "talk.jsonl"
    path.write_text(lines(TALK) + '{"role": "nobody"}\n')
    return path


def demo(shell: Shell, *words: str) -> Answer:
    """Run a demo in the present folder."""
    return shell.raw("demo", *words)


def test_a_conversation_is_lived_and_shown(shell: Shell, talk: Path) -> None:
    """A demo captures, extracts, drains, dreams, publishes and recalls, and shows each of them."""
    answer = demo(shell, "--input", str(talk), "--zone", "UTC")
    assert (answer.code, answer.err) == (0, "")
    for shown in (
        "2026-07-01",
        "The workspace",
        "A daily log",
        "MEMORY.md",
        "What is due",
        "Questions",
        "Look around",
    ):
        assert shown in answer.out
    assert "never reached the disk" in answer.out
    assert "\x1b" not in answer.out
    root = Path("reverie-demo/talk")
    assert "2026-07-02" in (root / "notebook/log.md").read_text()
    assert (root / "MEMORY.md").read_text().startswith("<!-- reverie:begin")
    assert not [path for path in root.rglob("*") if path.is_file() and b"ghp_0123" in path.read_bytes()]


def test_a_demo_answers_programs(shell: Shell, talk: Path) -> None:
    """With `--json` a demo prints one value with what it made."""
    (told,) = demo(shell, "--input", str(talk), "--zone", "UTC", "--json").value
    assert (told["agent"], told["turns"], told["refused"]) == ("talk", 5, 1)
    assert told["watermark"] == "2026-07-02"
    assert told["redacted"] == ["github-token"] or told["redacted"]
    assert [one["day"] for one in told["days"]] == ["2026-07-01", "2026-07-02"]


def test_what_a_demo_made_can_be_opened(shell: Shell, talk: Path) -> None:
    """The command a demo ends with answers in the workspace it left, and with its key the workspace is trusted."""
    demo(shell, "--input", str(talk), "--zone", "UTC")
    answer = shell.raw("-w", "reverie-demo/talk", "recall", "where do I work?", "--json")
    assert answer.code == 0
    assert any("Lindqvist" in hit["text"] for hit in answer.value["hits"])
    kept = shell.raw(
        "-w", "reverie-demo/talk", "--config-dir", "reverie-demo/config", "status", "--json"
    ).value
    assert kept["trusted"]
    assert shell.raw("-w", "reverie-demo/talk", "--config-dir", "reverie-demo/config", "check").code == 0


def test_a_demo_replaces_its_own_folder_and_no_other(shell: Shell, talk: Path, tmp_path: Path) -> None:
    """A demo runs twice in its folder with the same result, and refuses a folder that no demo made."""
    first = demo(shell, "--input", str(talk), "--zone", "UTC", "--json").value
    (tmp_path / "reverie-demo/talk/left-over.md").write_text("x")
    assert demo(shell, "--input", str(talk), "--zone", "UTC", "--json").value == first
    assert not (tmp_path / "reverie-demo/talk/left-over.md").exists()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/letter.txt").write_text("dear")
    refused = demo(shell, "--input", str(talk), "--keep", "mine")
    assert refused.code == 64
    assert "--keep" in refused.err
    assert (tmp_path / "mine/letter.txt").read_text() == "dear"


def test_a_demo_leaves_everything_else_alone(shell: Shell, talk: Path, tmp_path: Path) -> None:
    """A demo writes in its own folder only, whatever the environment says, and not in the user's home."""
    shell.patch.setenv("REVERIE_WORKSPACE", str(tmp_path / "mine"))
    shell.patch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    assert demo(shell, "--input", str(talk), "--zone", "UTC").code == 0
    assert not list((tmp_path / "home").iterdir())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "reverie-demo", "talk.jsonl"]


@pytest.mark.parametrize(
    ("text", "code"), [(None, 66), ("", 64), ("hello\n", 64), ('[{"conversation": {"session_1": []}}]', 64)]
)
def test_a_file_without_turns_is_told(shell: Shell, tmp_path: Path, text: str | None, code: int) -> None:
    """A file that is not there, or that holds no turn, is told in one line."""
    path = tmp_path / "input.json"
    if text is not None:
        path.write_text(text)
    answer = demo(shell, "--input", str(path))
    assert answer.code == code
    assert answer.err.count("\n") == 1
    assert not os.path.exists("reverie-demo")  # noqa: PTH110 - the folder a demo would have made here


def test_without_samples_a_demo_names_input(shell: Shell, tmp_path: Path) -> None:
    """Where the package was installed without the samples, the error names `--input`."""
    shell.patch.setattr(demo_talk, "SAMPLES", tmp_path / "absent")
    answer = demo(shell)
    assert answer.code == 66
    assert "--input" in answer.err


def test_a_benchmark_is_asked_its_questions(shell: Shell, tmp_path: Path) -> None:
    """A LoCoMo file's own questions are asked, and the demo says how often the right turn was found."""
    sample: dict[str, Any] = {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ann",
            "speaker_b": "Ben",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ann", "dia_id": "D1:1", "text": "I adopted a dog called Rex."},
                {"speaker": "Ben", "dia_id": "D1:2", "text": "I went to the opera in Vienna."},
            ],
        },
        "qa": [
            {"question": "What is Ann's dog called?", "evidence": ["D1:1"], "category": 1},
            {"question": "Where did Ben hear an opera?", "evidence": ["D1:2"], "category": 1},
            {"question": "What is nowhere?", "evidence": [], "category": 5},
        ],
    }
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps([sample, sample | {"sample_id": "conv-2"}]))
    answer = demo(shell, "--input", str(path))
    assert answer.code == 0
    assert "2 of 2 questions (100%)" in answer.out
    assert sorted(path.name for path in Path("reverie-demo").iterdir()) == [
        ".reverie-demo",
        "config",
        "conv-1",
    ]
    assert demo(shell, "--input", str(path), "--all").code == 0
    assert Path("reverie-demo/conv-2/MEMORY.md").exists()


@pytest.mark.slow
def test_the_samples_are_lived(shell: Shell) -> None:
    """On the sample conversations the demo finds the answers, and keeps every pasted secret from the disk."""
    answer = demo(shell)
    assert (answer.code, answer.err) == (0, "")
    found, missed = answer.out.count("✓ answered by"), answer.out.count("✗ not among")
    print(f"questions answered: {found}, missed: {missed}")  # noqa: T201
    assert found + missed == 8
    assert found >= 7


@pytest.mark.slow
def test_a_locomo_conversation_is_lived(shell: Shell) -> None:
    """On a conversation of the benchmark, three quarters of its questions find a turn that answers them."""
    if not DATA.is_file():
        pytest.skip("the LoCoMo file is not beside the checkout")
    answer = demo(shell, "--input", str(DATA))
    assert answer.code == 0
    (said,) = [one for one in answer.out.split("\n") if "questions (" in one]
    print(said)  # noqa: T201
    assert int(said.partition("(")[2].partition("%")[0]) >= 75
