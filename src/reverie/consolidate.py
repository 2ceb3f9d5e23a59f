"""Everything that is due, in order, once: what cron, the daemon or a person at the keyboard runs.

Owns the order of the stages and which failures stop a run; promises that the drain comes first, always, and that a
second run right after the first changes nothing; never does a stage's work itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from reverie.errors import DrainFailed, ReverieError


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidated:
    """What a run did. `watermark` is the day the notebook has reached, or empty; `problems` are failed optional stages."""

    agent: str
    facts_added: int = 0
    watermark: str = ""
    dry_run: bool = False
    drain_only: bool = False
    promote_only: bool = False
    stages: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the one line that `reverie consolidate` prints."""
        return (
            f"consolidation: agent={self.agent} facts_added={self.facts_added} watermark={self.watermark or 'n/a'}"
            f" dry_run={self.dry_run} drain_only={self.drain_only} promote_only={self.promote_only}"
        )


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage: its name, and what runs it and returns how many entries it found."""

    name: str
    run: Callable[[], int]


def run_stages(stages: list[Stage]) -> tuple[int, tuple[str, ...], tuple[str, ...]]:
    """Run `stages` in order and return entries found, stages that ran, and problems of those that failed.

    A failed drain stops the run and is raised; any other stage that fails is named, and the rest goes on.
    """
    found, ran, problems = 0, [], []
    for stage in stages:
        try:
            found += stage.run()
            ran.append(stage.name)
        except DrainFailed:
            raise
        except ReverieError as error:
            problems.append(f"{stage.name}: {error}")
    return found, tuple(ran), tuple(problems)
