"""The size gates: how long, how wide and how deep code may be, and which words name nothing."""

from __future__ import annotations

import ast
import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import pytest

from source import demand, everywhere, functions, package, parse, tracked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from source import Function, Source

MODULE_LINES = 350
FUNCTION_LINES = 60
PARAMETERS = 6
POSITIONAL = 2
DEPTH = 2

# Words that say nothing about what a thing is; a class or module that needs one has no subject yet.
EMPTY_WORDS = frozenset({"manager", "handler", "util", "utils", "helper", "helpers", "base"})

# What turns a function into a command or a tool: its parameters are the options and fields of that surface, each
# passed by name, and their number is decided by the verb.
SURFACE_DECORATORS = frozenset({"command", "callback", "tool"})


def long_modules(source: Source) -> Iterator[str]:
    """Yield the module if it is too long."""
    lines = source.text.count("\n")
    if lines > MODULE_LINES:
        yield f"{source.where(MODULE_LINES)}: {lines} lines"


def long_functions(source: Source) -> Iterator[str]:
    """Yield each function that is too long, from its `def` to its last line."""
    for function in functions(source):
        lines = (function.end_lineno or function.lineno) - function.lineno + 1
        if lines > FUNCTION_LINES:
            yield f"{source.where(function)}: {function.name} has {lines} lines"


def wide_functions(source: Source) -> Iterator[str]:
    """Yield each function with too many parameters, or with a third one that may be given by position."""
    bound = {id(function) for function in _methods(source)}
    for function in functions(source):
        if _is_surface(source, function):
            continue
        spec = function.args
        by_position = [*spec.posonlyargs, *spec.args][1 if id(function) in bound else 0 :]
        extra = [arg for arg in (spec.vararg, spec.kwarg) if arg]
        count = len(by_position) + len(spec.kwonlyargs) + len(extra)
        if count > PARAMETERS:
            yield f"{source.where(function)}: {function.name} has {count} parameters"
        # `ws` stands where a method has `self`: the value the function works on, first in every call.
        owned = [arg.arg for arg in by_position if arg.arg != "ws"]
        # A private function's callers stand in the same file, where its parameters can be read beside them.
        is_private = function.name.startswith("_") and function.name != "__init__"
        if len(owned) > POSITIONAL and not is_private:
            yield f"{source.where(function)}: {function.name} takes {', '.join(owned)} by position"


def _methods(source: Source) -> Iterator[Function]:
    """Yield the functions whose first parameter is `self` or `cls`."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ClassDef):
            for item in node.body:
                if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef):
                    marks = {mark.id for mark in item.decorator_list if isinstance(mark, ast.Name)}
                    if "staticmethod" not in marks:
                        yield item


def _is_surface(source: Source, function: Function) -> bool:
    """Tell whether a surface or a framework, not we, draws the function's signature."""
    if source.folder == "adapters":
        return True
    marks = [mark.func if isinstance(mark, ast.Call) else mark for mark in function.decorator_list]
    attributes = {mark.attr for mark in marks if isinstance(mark, ast.Attribute)}
    return source.folder == "surface" and bool(attributes & SURFACE_DECORATORS)


def empty_names(source: Source) -> Iterator[str]:
    """Yield the module and each class whose name contains an empty word."""
    found = [(1, PurePosixPath(source.path).stem)]
    found += [(node.lineno, node.name) for node in ast.walk(source.tree) if isinstance(node, ast.ClassDef)]
    for line, name in found:
        words = {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}
        if words & EMPTY_WORDS:
            yield f"{source.where(line)}: {name}"


def test_modules_are_short() -> None:
    """No module has more than 350 lines."""
    findings = [finding for source in everywhere() for finding in long_modules(source)]
    demand(findings, f"A module has at most {MODULE_LINES} lines: split it by subject.")


def test_functions_are_short() -> None:
    """No function has more than 60 lines."""
    findings = [finding for source in everywhere() for finding in long_functions(source)]
    demand(findings, f"A function has at most {FUNCTION_LINES} lines (aim at 30): name a part of it.")


def test_functions_take_few_parameters() -> None:
    """No function of the package has more than six parameters, nor a third one that may be given by position."""
    findings = [finding for source in package() for finding in wide_functions(source)]
    demand(
        findings,
        "At most 6 parameters, keyword-only after the second: add `*`, or pass one value (`Where`, `Draft`).",
    )


def test_names_say_what_a_thing_is() -> None:
    """No module or class is called manager, handler, util, helper or base."""
    findings = [finding for source in everywhere() for finding in empty_names(source)]
    demand(findings, "Name the subject, in a word of docs/domain.md.")


def test_the_package_is_shallow() -> None:
    """No file of the package lies deeper than two folders."""
    inside = [PurePosixPath(path) for path in tracked() if path.startswith("src/reverie/")]
    deep = [str(path) for path in inside if len(path.relative_to("src/reverie").parents) - 1 > DEPTH]
    demand(deep, f"Folders are at most {DEPTH} deep inside the package.")


@pytest.mark.parametrize(
    ("rule", "text", "count"),
    [
        (long_modules, "x = 1\n" * 350, 0),
        (long_modules, "x = 1\n" * 351, 1),
        (long_functions, "def f():\n" + "    x = 1\n" * 59, 0),
        (long_functions, "class A:\n    async def f(self):\n" + "        x = 1\n" * 60, 1),
        (wide_functions, "def f(a, b, *, c, d, e, g): ...", 0),
        (wide_functions, "def f(a, b, c): ...", 1),
        (wide_functions, "def f(ws, a, b): ...", 0),
        (wide_functions, "def f(ws, a, b, c): ...", 1),
        (wide_functions, "def f(a, b, *, c, d, e, g, h): ...", 1),
        (wide_functions, "def f(a, *rest, c, d, e, **g): ...", 0),
        (wide_functions, "class A:\n    def f(self, a, b): ...\n    def __exit__(self, a, b, c): ...", 0),
        (wide_functions, "class A:\n    @staticmethod\n    def f(a, b, c): ...", 1),
        (wide_functions, "class A:\n    def __init__(self, a, b, c): ...", 1),
        (empty_names, "class Database: ...\nclass Memory: ...", 0),
        (empty_names, "class LockManager: ...\nclass BaseStore: ...\nclass HTTPHandler: ...", 3),
    ],
)
def test_the_size_rules_bite(rule: object, text: str, count: int) -> None:
    """Each size rule finds what breaks it and nothing else."""
    assert callable(rule)
    assert len(list(rule(parse("src/reverie/store/sample.py", text)))) == count


@pytest.mark.parametrize("name", ["base", "date_utils", "helpers"])
def test_empty_module_names_are_found(name: str) -> None:
    """A module called after an empty word is found by its file name."""
    assert list(empty_names(parse(f"src/reverie/core/{name}.py", "")))


def test_a_command_may_have_many_options() -> None:
    """A function that a surface's decorator makes a command is not counted, one beside it is."""
    text = "@app.command()\ndef a(b, c, d): ...\n\n\ndef e(f, g, h): ..."
    found = list(wide_functions(parse("src/reverie/surface/cli/sample.py", text)))
    assert [finding.partition(": ")[2].split()[0] for finding in found] == ["e"]
