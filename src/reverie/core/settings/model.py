"""The settings of models and of what reads with them: where a model is, what it may cost, when turns are read.

Owns the tables `[models]` and `[extraction]`; promises that a workspace's own file can neither name a model nor lift a
ceiling; never holds a key, only the name of the variable that has it.
"""

from __future__ import annotations

from dataclasses import dataclass

from reverie.core.settings.keys import key


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """Where models are reached, how often one is tried, and what it may use a day and a run; 0 is no ceiling."""

    base_url: str = key('The address of an OpenAI-compatible server; "" is the provider\'s own.', default="")
    key_variable: str = key(
        'The environment variable that holds the key; "" is the provider\'s own.', default=""
    )
    timeout_seconds: int = key("How long one answer may take.", default=120, within=(1, 3_600))
    tries: int = key("How often a question is asked before it is put off.", default=3, within=(1, 10))
    max_tokens_per_day: int = key(
        "Tokens in and out that a day's calls may use.", default=2_000_000, within=(0, 10_000_000_000)
    )
    max_cost_per_day: float = key(
        "US dollars that a day's calls may cost, where the price is known.",
        default=5.0,
        within=(0, 1_000_000),
    )
    max_seconds_per_day: int = key(
        "Seconds that a day's calls may take together.", default=0, within=(0, 86_400)
    )
    max_tokens_per_run: int = key(
        "Tokens in and out that the calls of one run may use.", default=500_000, within=(0, 10_000_000_000)
    )
    max_cost_per_run: float = key(
        "US dollars that the calls of one run may cost, where the price is known.",
        default=2.0,
        within=(0, 1_000_000),
    )
    max_seconds_per_run: int = key(
        "Seconds that the calls of one run may take together.", default=1_800, within=(0, 86_400)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionSettings:
    """When unread turns are read, by which model, and how often a span that cannot be read is tried."""

    model: str = key('The model that reads turns and notes; "" is the one of `model`.', default="")
    every_turns: int = key(
        "New turns after which a session is read.", default=6, within=(1, 1_000), here=True
    )
    idle_minutes: int = key(
        "Minutes of silence after which a session is read.", default=15, within=(1, 10_080), here=True
    )
    tries: int = key(
        "Unreadable replies about a span before it is split, and at last kept raw.",
        default=3,
        within=(1, 100),
        here=True,
    )
