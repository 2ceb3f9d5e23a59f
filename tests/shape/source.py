"""Reads the project's Python files as syntax trees, for the gates beside it.

Owns parsing, module names, imports and the resolution of dotted names; promises that a file is parsed once and
that each finding says where, what rule, and what to do; never imports the code it looks at.
"""

from __future__ import annotations

import ast
import builtins
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "reverie"

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Source:
    """One Python file: `path` relative to the checkout, `module` its dotted name in the package or its stem."""

    path: str
    module: str
    text: str
    tree: ast.Module

    @property
    def folder(self) -> str:
        """The folder of the package the module lives in (`store`), or "" for a module at the top or outside."""
        parts = self.module.split(".")
        is_folder = self.path.endswith("/__init__.py")
        return (
            parts[1] if parts[0] == "reverie" and (len(parts) > 2 or (is_folder and len(parts) > 1)) else ""
        )

    def where(self, node: ast.AST | int) -> str:
        """Return `file:line`, as editors open it."""
        line = node if isinstance(node, int) else getattr(node, "lineno", 1)
        return f"{self.path}:{line}"


@dataclass(frozen=True)
class Import:
    """One imported name: `target` is the module or `module.name` it stands for, `local` what it is called here."""

    target: str
    local: str
    node: ast.stmt
    in_function: bool


def parse(path: str, text: str) -> Source:
    """Parse `text` as the file at `path` (relative to the checkout, POSIX)."""
    inside = path.removeprefix("src/")
    dotted = path.rpartition("/")[2] if inside == path else inside.removesuffix("/__init__.py")
    module = dotted.removesuffix(".py").replace("/", ".")
    return Source(path, module, text, ast.parse(text, filename=path))


@cache
def tracked() -> tuple[str, ...]:
    """Return every file git tracks or would add, relative to the checkout; what is ignored is not the project's."""
    # A checkout may belong to somebody else than who runs the tests (a container's root): git must still list it.
    git = ("git", "-c", "safe.directory=*")
    listing = (*git, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    done = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True)
    paths = done.stdout.decode("utf-8").split("\0")
    return tuple(sorted({path for path in paths if path and (ROOT / path).is_file()}))


@cache
def load(path: str) -> Source:
    """Read and parse the file at `path`, relative to the checkout."""
    return parse(path, (ROOT / path).read_text(encoding="utf-8"))


def everywhere() -> list[Source]:
    """Return every Python file of the project."""
    return [load(path) for path in tracked() if path.endswith(".py")]


def package() -> list[Source]:
    """Return every module of the package."""
    return [source for source in everywhere() if source.path.startswith("src/reverie/")]


def suite() -> list[Source]:
    """Return every Python file under `tests/`."""
    return [source for source in everywhere() if source.path.startswith("tests/")]


def imports(source: Source) -> Iterator[Import]:
    """Yield each imported name of the file, wherever the statement stands."""
    inside = {
        id(node)
        for function in ast.walk(source.tree)
        if isinstance(function, Function)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                local = alias.asname or alias.name.partition(".")[0]
                yield Import(alias.name, local, node, id(node) in inside)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                base = _absolute(source, node)
                yield Import(f"{base}.{alias.name}", alias.asname or alias.name, node, id(node) in inside)


def _absolute(source: Source, node: ast.ImportFrom) -> str:
    """Return the module a `from` import names, with leading dots resolved."""
    if not node.level:
        return node.module or ""
    own = source.module.split(".")
    drop = node.level - 1 if source.path.endswith("/__init__.py") else node.level
    return ".".join([*own[: len(own) - drop], *filter(None, [node.module])])


def functions(source: Source) -> Iterator[Function]:
    """Yield every function and method of the file, nested ones too."""
    return (node for node in ast.walk(source.tree) if isinstance(node, Function))


def calls(source: Source) -> Iterator[tuple[str, ast.Call]]:
    """Yield each call with the dotted name of what is called, as `names` resolves it."""
    names = Names(source)
    return ((names.of(node.func), node) for node in ast.walk(source.tree) if isinstance(node, ast.Call))


class Names:
    """Resolves the expressions of one file to dotted names through its imports.

    `os.replace` and `replace` after `from os import replace` are both `os.replace`; an attribute of a value that no
    import explains is `?.attribute`, with the last known name of the value before it (`?disk.replace`).
    """

    def __init__(self, source: Source) -> None:
        """Learn the names that `source` imports and defines."""
        self._imported: dict[str, str] = {}
        for found in imports(source):
            plain = isinstance(found.node, ast.Import) and found.local == found.target.partition(".")[0]
            self._imported[found.local] = found.local if plain else found.target
        self._own = {node.name for node in source.tree.body if isinstance(node, Function | ast.ClassDef)}

    def of(self, node: ast.expr) -> str:
        """Return the dotted name of `node`."""
        if isinstance(node, ast.Name):
            if node.id in self._imported:
                return self._imported[node.id]
            builtin = hasattr(builtins, node.id) and node.id not in self._own
            return f"builtins.{node.id}" if builtin else f"?{node.id}"
        if isinstance(node, ast.Attribute):
            base = self.of(node.value)
            known = f"?{base.rpartition('.')[2].lstrip('?')}" if base.startswith("?") else base
            return f"{known}.{node.attr}"
        if isinstance(node, ast.Call):
            called = self.of(node.func)
            return "?" if called.startswith("?") else f"{called}()"
        return "?"


def demand(findings: Iterable[str], remedy: str) -> None:
    """Pass when there are no findings (`file:line: what`); else fail, listing them under what to do about them."""
    listed = sorted(findings)
    if listed:
        message = "\n".join([f"{len(listed)} found. {remedy}", *(f"  {finding}" for finding in listed)])
        raise AssertionError(message)
