"""`reverie recall` and the filters of its command line: each admits what the same filter of the library does."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Shell

OLD = "2026-05-04T08:00:00Z"


@pytest.fixture
def ids(shell: Shell) -> dict[str, str]:
    """The ids of four entries about tea."""
    said = {
        "team": (
            "Tea with Dana",
            "--category",
            "decision",
            "--tag",
            "food",
            "--about",
            "Dana",
            "--scope",
            "team",
        ),
        "session": ("Tea in the morning", "--session", "s9"),
        "old": ("Tea in the garden", "--at", OLD, "--sig", "0.95"),
        "plain": ("Tea without milk",),
    }
    return {name: shell.json("remember", *words)["id"] for name, words in said.items()}


def found(shell: Shell, *words: str) -> set[str]:
    """Return the ids that `recall tea` gives."""
    return {hit["id"] for hit in shell.json("recall", "tea", *words)["hits"]}


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ((), {"team", "session", "old", "plain"}),
        (("--category", "decision"), {"team"}),
        (("--tag", "food"), {"team"}),
        (("--about", "Dana"), {"team"}),
        (("--scope", "team"), {"team"}),
        (("--session", "s9"), {"session"}),
        (("--until", "2026-05-31"), {"old"}),
        (("--since", "2026-05-04", "--until", "2026-05-04"), {"old"}),
        (("--as-of", "2026-05-05T00:00:00Z"), {"old"}),
        (("--kind", "turn"), set()),
        (("--category", "decision", "--tag", "drink"), set()),
    ],
)
def test_each_option_narrows_what_is_found(
    shell: Shell, ids: dict[str, str], words: tuple[str, ...], names: set[str]
) -> None:
    """Category, tag, session, person concerned, scope, days, instant and kind narrow the hits, alone and together."""
    assert found(shell, *words) == {ids[name] for name in names}
    shell("drain")
    assert found(shell, *words) == {ids[name] for name in names}


def test_hidden_is_found_only_when_asked_for(shell: Shell, ids: dict[str, str]) -> None:
    """What was hidden is not found, and is found with `--hidden`."""
    shell("hide", ids["plain"])
    assert ids["plain"] not in found(shell)
    assert ids["plain"] in found(shell, "--hidden")


def test_who_said_it_is_a_filter(shell: Shell) -> None:
    """With `--who` only what that person said is found, turns included."""
    for name in ("Ann", "Ben"):
        turn = {
            "role": "user",
            "content": f"{name} takes tea",
            "name": name,
            "at": f"{datetime.now(UTC):%FT%TZ}",
        }
        answer = shell("capture", "s1", "-", stdin=f"{json.dumps(turn)}\n".encode())
        assert answer.code == 0, answer.err
    texts = [hit["text"] for hit in shell.json("recall", "tea", "--who", "Ann")["hits"]]
    assert texts == ["Ann takes tea"]


def test_relative_days_count_from_the_reference(shell: Shell, ids: dict[str, str]) -> None:
    """`--reference` moves what "last week" means: the entry of that week comes first."""
    hits = shell.json("recall", "tea last week", "--reference", "2026-05-12T00:00:00Z")["hits"]
    assert hits[0]["id"] == ids["old"]
    assert "date" in hits[0]["why"]


def test_why_takes_the_id_of_every_hit(shell: Shell, ids: dict[str, str]) -> None:
    """Each id that `recall` shows leads somewhere with `why`, for people and for programs; another is not found."""
    shell("capture", "s1", "user", "I take my tea at four")
    hits = shell.json("recall", "tea")["hits"]
    assert {hit["kind"] for hit in hits} == {"entry", "turn"}
    shown = shell("recall", "tea").out
    for hit in hits:
        assert hit["id"] in shown
        told = shell("why", hit["id"])
        assert told.code == 0
        assert hit["text"] in " ".join(told.out.split())
    (turn,) = (hit["id"] for hit in hits if hit["kind"] == "turn")
    assert shell.json("why", turn)["turns"][0]["content"] == "I take my tea at four"
    assert ids["old"] not in turn
    assert shell("why", "turn:0000000000000000").code != 0
