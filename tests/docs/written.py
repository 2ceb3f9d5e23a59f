"""The pages that a person wrote, and the fenced blocks in them; docs/reference/ is made from the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
README = ROOT / "README.md"
PAGES = sorted(page for page in DOCS.rglob("*.md") if "reference" not in page.parts)
FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[tuple[str, str]]:
    """Return the info strings and texts of a page's fenced blocks, in order."""
    return [(match[1].strip(), match[2]) for match in FENCE.finditer(page.read_text(encoding="utf-8"))]


def named(pages: list[Path]) -> list[object]:
    """Return pages as parameters with readable names."""
    return [pytest.param(page, id=page.relative_to(ROOT).as_posix()) for page in pages]


def with_blocks(info: str) -> list[object]:
    """Return the pages, README.md included, that hold a block of that kind."""
    return named([page for page in (README, *PAGES) if any(kind == info for kind, _ in blocks(page))])
