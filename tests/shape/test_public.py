"""The gates on what users see first: the public names, their examples, and what importing costs."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import json
import pydoc
import re
import subprocess
import sys
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

import reverie
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

# What examples may name without making it: see `small_memory`.
GIVEN = re.compile(r"\b(memory|now|tea|quote|folder|conversation)\b")


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
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    return [
        source.module
        for source in package()
        if any(
            ">>> " in (ast.get_docstring(node) or "")
            for node in ast.walk(source.tree)
            if isinstance(node, documented)
        )
    ]


def undocumented(name: str, value: object) -> Iterator[str]:
    """Yield what a public name lacks: its docstring, or an example that runs."""
    if not inspect.getdoc(value) and not isinstance(value, str):
        yield f"reverie.{name}: no docstring"
    # An error's example is the call that raises it, and a constant's is its value.
    elif inspect.isroutine(value) or (inspect.isclass(value) and not issubclass(value, BaseException)):
        found = doctest.DocTestFinder(exclude_empty=True).find(value, name, globs={})
        if not any(test.examples for test in found):
            yield f"reverie.{name}: no example (`>>> `)"


@contextmanager
def small_memory(folder: Path) -> Iterator[dict[str, object]]:
    """Give what examples may name: a memory with an entry and a promise on 1 July 2026, a conversation's file, Plan."""
    now = datetime(2026, 7, 1, 12, tzinfo=UTC)
    settings = {"zone": "UTC", "mcp.host_model": "true"}
    opening = reverie.Opening(path=folder / "memory", flags=settings, clock=lambda: now)
    conversation = folder / "conversation.jsonl"
    conversation.write_text('{"role": "user", "content": "Hello"}\n{"role": "assistant", "content": "Hi"}\n')
    with reverie.init(opening) as memory:
        tea = memory.remember("User likes tea", reverie.Draft(category="preference", sig=0.6)).id
        quote = memory.remember("Send Dana the quote", reverie.Draft(due="2026-07-10")).id
        given = {"memory": memory, "now": now, "tea": tea, "quote": quote}
        yield given | {"folder": folder, "conversation": conversation, "Plan": reverie.Plan}


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


def test_help_shows_each_public_name() -> None:
    """`help(reverie)` has a page with every name, whose annotations all can be looked up."""
    page = pydoc.plain(pydoc.render_doc(reverie))
    assert [name for name in reverie.__all__ if name not in page and name != "__version__"] == []


def test_public_names_are_documented(front: Source) -> None:
    """Each public name has a docstring, and each class and function of them an example."""
    module = importlib.import_module("reverie")
    findings = [finding for name in listed(front) for finding in undocumented(name, getattr(module, name))]
    demand(findings, "Write the docstring, with the shortest example a user would copy.")


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each example in a docstring of the package prints what it says, on a small memory of its own if it names one."""
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    runner = doctest.DocTestRunner(optionflags=options)
    for number, test in enumerate(
        doctest.DocTestFinder(exclude_empty=True).find(importlib.import_module(name))
    ):
        if not test.examples:
            continue
        folder = tmp_path / str(number)
        folder.mkdir()
        monkeypatch.chdir(folder)
        source = "".join(example.source for example in test.examples)
        if GIVEN.search(source):
            with small_memory(folder) as given:
                test.globs |= given
                runner.run(test, clear_globs=False)
        else:
            runner.run(test)
    result = runner.summarize()
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
    """P-20: `import reverie` loads no library that only some verbs need."""
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
