"""The gates on what users see first: the public names, their examples, and what importing costs."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from source import ROOT, demand, load, package, parse, tracked

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from source import Source

# Third-party libraries and slow parts of the standard library that only some verbs need.
HEAVY = (
    "anthropic apscheduler asyncio dateparser dulwich fastapi fastembed httpx lancedb langgraph mcp multiprocessing "
    "numpy onnxruntime openai psycopg pydantic pydantic_ai ray requests rich starlette tantivy tiktoken typer urllib3 "
    "uvicorn"
)

PROBE = """
import json, sys, time
opened, acts = [], []

def watch(event, args):
    if event == "open":
        opened.append(str(args[0]))
    elif event.split(".")[0] in {"socket", "subprocess", "sqlite3", "shutil", "tempfile"}:
        acts.append(event)
    elif event in {"os.mkdir", "os.remove", "os.rename", "os.system", "os.fork", "os.exec", "os.posix_spawn"}:
        acts.append(event)

sys.addaudithook(watch)
started = time.perf_counter()
import reverie
took = time.perf_counter() - started
print(json.dumps({"opened": opened, "acts": acts, "modules": sorted(sys.modules), "milliseconds": round(took * 1000)}))
"""
MODULE_SUFFIXES = (".py", ".pyc", ".so", ".pyd", ".dylib")


def public(source: Source) -> list[str]:
    """Return the public names that the package's `__init__` binds, sorted."""
    bound: set[str] = set()
    # `if TYPE_CHECKING:` binds too, for names that a module-level `__getattr__` loads when they are asked for.
    guarded = [item for node in source.tree.body if isinstance(node, ast.If) for item in node.body]
    for node in [*source.tree.body, *guarded]:
        if isinstance(node, ast.Import | ast.ImportFrom) and getattr(node, "module", "") not in {
            "__future__",
            "typing",
        }:
            bound |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            bound |= {target.id for target in targets if isinstance(target, ast.Name)}
    return sorted(name for name in bound if not name.startswith("_") or name == "__version__")


def listed(source: Source) -> list[str]:
    """Return `__all__` of the package's `__init__`, as written."""
    for node in source.tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
            return list(ast.literal_eval(node.value))  # type: ignore[attr-defined]
    return []


def modules_with_examples() -> list[str]:
    """Return the modules of the package that show an example."""
    return [source.module for source in package() if ">>> " in source.text]


def undocumented(name: str, value: object) -> Iterator[str]:
    """Yield what a public name lacks: its docstring, or an example that runs."""
    if not inspect.getdoc(value) and not isinstance(value, str):
        yield f"reverie.{name}: no docstring"
    # An error's example is the call that raises it, and a constant's is its value.
    elif inspect.isroutine(value) or (inspect.isclass(value) and not issubclass(value, BaseException)):
        found = doctest.DocTestFinder(exclude_empty=True).find(value, name, globs={})
        if not any(test.examples for test in found):
            yield f"reverie.{name}: no example (`>>> `)"


@pytest.fixture(scope="module")
def front() -> Source:
    """The package's `__init__`."""
    path = "src/reverie/__init__.py"
    if path not in tracked():
        pytest.skip(f"{path} is not there")
    return load(path)


@pytest.fixture(scope="module")
def probe() -> dict[str, list[str]]:
    """What a fresh interpreter saw while importing the package."""
    command = (sys.executable, "-B", "-c", PROBE)
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 1, f"importing reverie prints: {done.stdout}"
    seen: dict[str, list[str]] = json.loads(done.stdout)
    print(f"import reverie: {seen['milliseconds']} ms, {len(seen['modules'])} modules")  # noqa: T201
    return seen


def test_all_lists_the_public_names(front: Source) -> None:
    """`reverie.__all__` is sorted and holds exactly the names that `import reverie` offers."""
    assert listed(front) == public(front), "Keep __all__ sorted and complete, or give the name an underscore."


def test_public_names_are_documented(front: Source) -> None:
    """Each public name has a docstring, and each class and function of them an example."""
    module = importlib.import_module("reverie")
    findings = [finding for name in listed(front) for finding in undocumented(name, getattr(module, name))]
    demand(findings, "Write the docstring, with the shortest example a user would copy.")


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each example in a docstring of the package prints what it says."""
    monkeypatch.chdir(tmp_path)
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    result = doctest.testmod(importlib.import_module(name), optionflags=options)
    assert result.attempted
    assert not result.failed


def test_importing_opens_no_file(probe: dict[str, list[str]]) -> None:
    """`import reverie` opens nothing but the modules it is made of."""
    demand(
        [name for name in probe["opened"] if not name.endswith(MODULE_SUFFIXES)],
        "Open it when a verb needs it.",
    )


def test_importing_does_nothing(probe: dict[str, list[str]]) -> None:
    """`import reverie` makes no file, process or connection."""
    demand(probe["acts"], "Do it when a verb needs it.")


def test_importing_loads_nothing_heavy(probe: dict[str, list[str]]) -> None:
    """`import reverie` loads no library that only some verbs need."""
    loaded = [name for name in HEAVY.split() if name in probe["modules"]]
    demand(
        loaded,
        "Import it inside the function that needs it (`python -X importtime -c 'import reverie'` tells who).",
    )


def test_the_public_name_rules_bite() -> None:
    """A name that is missing, leaked, undocumented or without an example is found."""
    text = "from a import b, _c\nimport d\n__version__ = '1'\n__all__ = ['b', 'e']\ndef e(): ..."
    source = parse("src/reverie/__init__.py", text)
    assert public(source) == ["__version__", "b", "d", "e"]
    assert listed(source) == ["b", "e"]

    def bare() -> None:
        """Have a docstring only."""

    assert list(undocumented("bare", bare)) == ["reverie.bare: no example (`>>> `)"]
    bare.__doc__ = None
    assert list(undocumented("bare", bare)) == ["reverie.bare: no docstring"]
    bare.__doc__ = "Show it.\n\n>>> 1\n1\n"
    assert list(undocumented("bare", bare)) == []
