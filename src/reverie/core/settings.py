"""Every setting as one frozen value, with its default.

Owns names, types, defaults and the seeds' names; promises that a `Settings` is complete and valid; never reads
the environment or a file (`reverie.config` does).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamSettings:
    """When a dream runs and how much it takes at once. Times in the unit of the name; ceilings per run."""

    enabled: bool = True
    interval_seconds: int = 1800
    min_hours: int = 24
    min_facts: int = 20
    max_days: int = 14
    max_retries: int = 3
    timeout_seconds: int = 600
    batch_tokens: int = 12_000
    max_entries: int = 200
    max_wait_days: int = 7
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishSettings:
    """What MEMORY.md holds and how large it may be (characters, and optional lines, bytes and tokens)."""

    budget_preset: Literal["lean", "balanced", "rich", "max-context", "claude-code"] = "balanced"
    max_lines: int = 0
    max_tokens: int = 0
    commitments: bool = False
    auto_refresh: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class FactSettings:
    """How entries age: loss of weight a day, and the floor below which an entry is faded."""

    max_importance_decay: float = 0.01
    min_importance: float = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionSettings:
    """The token budget of an active session and the share removed at once."""

    context_tokens: int = 32_000
    consolidation_ratio: float = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class SummarySettings:
    """How often a session is summarised and how large each digest may be, in tokens."""

    turns_per_summary: int = 6
    max_today_tokens: int = 2_000
    max_week_tokens: int = 1_500
    max_longterm_tokens: int = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class NotesSettings:
    """Which of the workspace's own dated notes are read, as globs relative to the workspace."""

    globs: tuple[str, ...] = ("[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9].md", "notes/[0-9]*.md")


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextSettings:
    """How many tokens `context` may use when the caller names no budget, and how many days of summaries it shows."""

    budget_tokens: int = 8_000
    summary_days: int = 7
    relevant_hits: int = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings of one open workspace. `zone` is an IANA name, empty for the system's; times of day `HH:MM`."""

    enabled: bool = True
    zone: str = ""
    day_starts_at: str = "00:00"
    model: str = "none"
    index: Literal["embedded"] = "embedded"
    durability: Literal["full", "os"] = "full"
    max_turn_bytes: int = 4_000_000
    lock_wait_seconds: float = 5.0
    redaction: bool = True
    redaction_allow: tuple[str, ...] = ()
    exclusions: tuple[str, ...] = ()
    skills: Literal["off", "propose", "on"] = "propose"
    notebook_path: str = ""
    dream: DreamSettings = field(default_factory=DreamSettings)
    publish: PublishSettings = field(default_factory=PublishSettings)
    facts: FactSettings = field(default_factory=FactSettings)
    compaction: CompactionSettings = field(default_factory=CompactionSettings)
    summaries: SummarySettings = field(default_factory=SummarySettings)
    notes: NotesSettings = field(default_factory=NotesSettings)
    context: ContextSettings = field(default_factory=ContextSettings)
