"""The durability page: every row of its tables names a test that exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "durability.md").read_text(encoding="utf-8")
HEADS = ("| cut off |", "| harm |")
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)(?:\[([^\]]+)\])?`")


def rows() -> list[str]:
    """Return the rows of the tables that say what becomes of something."""
    found, inside = [], False
    for line in PAGE.splitlines():
        inside = line.startswith(HEADS) or (inside and line.startswith("|"))
        if inside and not line.startswith((*HEADS, "|---")):
            found.append(line)
    return found


@pytest.mark.parametrize("row", rows())
def test_each_row_names_a_test_that_exists(row: str) -> None:
    """A row's last cell is a test, which its file defines, with the case if one is named."""
    named = NAMED.fullmatch(row.rstrip("| ").rpartition("| ")[2])
    assert named, row
    path, function, case = named.groups()
    text = (ROOT / path).read_text(encoding="utf-8")
    defined = {node.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)}
    assert function in defined, row
    assert case is None or f'"{case}"' in text, row


def test_the_page_has_its_tables() -> None:
    """There are rows for every step, and each has the four cells of its table."""
    assert len(rows()) > 50
    assert {row.count(" | ") for row in rows()} == {3}
