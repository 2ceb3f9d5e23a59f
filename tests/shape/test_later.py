"""The gate on modules that are loaded when something of them is first used."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from source import demand, imports, package, parse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from source import Source


def unnamed_later(source: Source) -> Iterator[str]:
    """Yield each module that is loaded later and not imported, under the same name, for the type checker."""
    known = {(found.local, found.target) for found in imports(source)}
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Assign):
            continue
        for name, value in zip(_parts(node.targets[0]), _parts(node.value), strict=False):
            if isinstance(value, ast.Call) and ast.unparse(value.func) == "later":
                said = ast.literal_eval(value.args[0])
                if (ast.unparse(name), said) not in known:
                    yield f"{source.where(node)}: nothing says what `{ast.unparse(name)}` is, {said}"


def _parts(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.Tuple) else [node]


def test_what_is_loaded_later_is_imported_for_its_types() -> None:
    """A module that is loaded when first used is imported under TYPE_CHECKING too, where types and layers see it."""
    demand(
        (one for source in package() for one in unnamed_later(source)),
        "Import the module, under the same name, beneath `if TYPE_CHECKING:`.",
    )


@pytest.mark.parametrize(
    ("text", "count"), [("x = later('reverie.b')", 0), ("x, y = later('reverie.a'), 1", 1), ("x = 1", 0)]
)
def test_a_module_that_is_only_loaded_later_is_found(text: str, count: int) -> None:
    """Another name, or another module, than the one imported is found."""
    assert len(list(unnamed_later(parse("src/reverie/c.py", f"from reverie import b as x\n{text}")))) == count
