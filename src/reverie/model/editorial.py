"""What a model that looks the notebook over is told: its instructions, and what the rules found, as data.

Owns the form of that task; promises that every word of the notebook's is fenced as data under a nonce its writers could
not know, and that it has the tools of a dream but for settling; never asks a model.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from reverie.model.dream_prompt import TOOLS, beginning
from reverie.model.prompt_files import fenced, prompt

_FINDINGS = 100
_PAGES = 400


class Editing(msgspec.Struct, frozen=True, kw_only=True):
    """A look at the notebook: `findings` of the rules, a line each, and its `pages` by their paths in the notebook."""

    today: str
    notebook: str
    nonce: str
    pages: tuple[str, ...]
    findings: tuple[str, ...] = ()
    guidance: str = ""
    tools: tuple[str, ...] = tuple(name for name in TOOLS if name != "settle")

    @property
    def instructions(self) -> str:
        """What is asked, whatever the notebook holds."""
        return prompt("editorial").text

    @property
    def text(self) -> str:
        """The pages, and what the rules found on them."""
        return "\n\n".join(self._sections())

    def _sections(self) -> Iterator[str]:
        yield from beginning(self.today, self.notebook, guidance=self.guidance, nonce=self.nonce)
        if self.findings:
            yield f"What the rules found:\n\n{fenced(_listed(self.findings, _FINDINGS), self.nonce)}"
        yield f"The {len(self.pages)} pages:\n\n{fenced(_listed(self.pages, _PAGES), self.nonce)}"


def editor(model: str) -> str:
    """Return what a run's record names as its editor."""
    return f"{model} {prompt('editorial').version}"


def _listed(lines: tuple[str, ...], most: int) -> str:
    more = (f"… and {len(lines) - most:,} more",) if len(lines) > most else ()
    return "\n".join((*lines[:most], *more))
