"""The prompts: Markdown files beside this module, each with its name and version in the first line.

Owns reading them, once a process; promises that nothing is read before the first request is made; never fills
anything in: what is told to a model about one request stands in the request's text, fenced as data.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.resources import files

import msgspec

_HEAD = re.compile(r"<!-- reverie ([a-z]+)/(\d+) -->\n")


class Prompt(msgspec.Struct, frozen=True):
    """A prompt's text without its first line, and `name/version` as that line says."""

    text: str
    version: str


@lru_cache
def prompt(name: str) -> Prompt:
    """Return the prompt of that name."""
    text = files("reverie.model").joinpath("prompts", f"{name}.md").read_text(encoding="utf-8")
    head = _HEAD.match(text)
    if head is None or head[1] != name:
        message = f"prompts/{name}.md does not begin with its name and version"
        raise ValueError(message)
    return Prompt(text[head.end() :].strip(), f"{head[1]}/{head[2]}")


def fenced(text: str, nonce: str) -> str:
    """Return data between two lines that carry `nonce`, which nobody who wrote the data could know."""
    return f"=== data {nonce} ===\n{text}\n=== end of data {nonce} ==="
