"""What the seeds promise of MEMORY.md's size and of what comes first in it, each row by its id."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from desk import Desk

from reverie import layout

if TYPE_CHECKING:
    from pathlib import Path

PRESETS = {
    "lean": ("characters", 12_000),
    "balanced": ("characters", 25_000),
    "rich": ("characters", 40_000),
    "max-context": ("characters", 60_000),
    "claude-code": ("bytes", 25_000),
}


def memory_md(desk: Desk) -> str:
    """Return MEMORY.md, compiled now."""
    desk.memory.publish()
    return desk.text(layout.MEMORY)


@pytest.mark.parametrize("wanted", ["true", "false"])
def test_the_section_of_promises_is_a_choice(tmp_path: Path, wanted: str) -> None:
    """M-18, M-20: switched on, promises stand behind Capabilities, line for line as `due` has them; else not so."""
    with Desk(tmp_path, **{"publish.commitments": wanted}) as desk:
        desk.remember("Greet by name", category="procedure")
        desk.remember("The office closes at six", sig=0.9)
        for due in ("2026-07-20", "2026-07-01 18:00", "2026-07-05"):
            desk.remember(f"Send the quote of {due}", due=due, who="Agent", about="Dana")
        desk.clock.advance(days=5)
        desk.remember("Call the bank", category="commitment")
        text, lines = memory_md(desk), [due.line for due in desk.memory.due().lines]
        assert [line.split(":", 1)[0] for line in lines] == [
            "- overdue 2026-07-01 18",
            "- overdue 2026-07-05",
            "- upcoming 2026-07-20",
            "- no date",
        ]
        assert lines[1].startswith(
            "- overdue 2026-07-05: Send the quote of 2026-07-05 (from Agent to Dana) `mem_id: "
        )
        listed = "## Commitments (due / overdue)\n\n" + "\n".join(lines) + "\n"
        assert (listed in text) == (wanted == "true")
        assert ("due / overdue" in text) == (wanted == "true")
        if wanted == "true":
            heads = [line for line in text.splitlines() if line.startswith("## ")]
            assert heads == ["## Capabilities", "## Commitments (due / overdue)", "## Core Facts"]


@pytest.mark.parametrize("preset", PRESETS)
def test_the_least_significant_go_first(tmp_path: Path, preset: str) -> None:
    """M-21: within each preset the file is filled, the least significant are left out, pins and procedures stay."""
    unit, most = PRESETS[preset]
    with Desk(tmp_path, **{"publish.budget_preset": preset}) as desk:
        kept = [
            desk.remember("Always greet", category="procedure"),
            desk.remember("Be kind", pin=True, sig=0.1),
        ]
        for number in range(160):
            desk.remember(f"Fact {number:03}: " + "wörter of it " * 33, sig=0.3 + number / 300)
        text = memory_md(desk)
        size = {"characters": len(text), "bytes": len(text.encode())}[unit]
        assert most - 700 < size <= most  # one more line would not have fitted
        assert preset != "claude-code" or text.count("\n") <= 200
        assert all(entry in text for entry in kept)
        shown = {number for number in range(160) if f"Fact {number:03}:" in text}
        assert shown == set(range(min(shown), 160))
        assert len(desk.memory.publish().left_out) == 160 - len(shown)


def test_the_shortest_ceiling_wins(tmp_path: Path) -> None:
    """M-21: of the preset, a ceiling of lines and one of tokens, the tightest decides; claude-code has 200 lines."""
    for home, flags, most in (
        ("code", {"publish.budget_preset": "claude-code"}, 200),
        ("lines", {"publish.budget_preset": "rich", "publish.max_lines": "50"}, 50),
    ):
        with Desk(tmp_path / home, **flags) as desk:
            for number in range(300):
                desk.remember(f"Fact {number:03}", sig=0.5)
            text = memory_md(desk)
            assert most - 2 <= text.count("\n") <= most
    with Desk(tmp_path / "tokens", **{"publish.max_tokens": "500"}) as desk:
        for number in range(300):
            desk.remember(f"Fact {number:03}", sig=0.5)
        assert 5 < memory_md(desk).count("Fact ") < 40


def test_a_workspace_has_a_least_significance(tmp_path: Path) -> None:
    """M-28: what lies below `facts.min_importance`, the workspace's own, is kept and found, and not compiled."""
    with Desk(tmp_path, **{"facts.min_importance": "0.5"}) as desk:
        low, high = desk.remember("User owns a kite", sig=0.45), desk.remember("User owns a boat", sig=0.55)
        text = memory_md(desk)
        assert (low in text, high in text) == (False, True)
        assert desk.found("kite") == ["User owns a kite"]


def test_what_was_said_often_stands_higher(desk: Desk) -> None:
    """M-30: at compile repeats add to what an entry weighs, a little each and never up to what is protected."""
    once, often = (
        desk.remember("User likes amber jam", sig=0.5),
        desk.remember("User likes amber tea", sig=0.5),
    )
    for _ in range(30):
        desk.clock.advance(minutes=1)
        desk.say("I like amber tea.", session="talk")
    desk.memory.end("talk")
    desk.memory.consolidate()
    text = memory_md(desk)
    assert text.rindex("amber tea") < text.rindex("amber jam")
    assert 0.5 <= desk.memory.get(often).sig < 0.9
    assert desk.memory.get(once).sig == 0.5
