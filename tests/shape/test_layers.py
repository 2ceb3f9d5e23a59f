"""The layer gates: who may import whom, and where an import may stand."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import pytest

from source import Names, demand, imports, package, parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from source import Source

# Each group may import itself where it is a folder, and the groups named here. "step" is any top-level module that
# has no row of its own; "front" is the package's `__init__`.
FOLDERS = ("core", "store", "index", "model", "importers", "surface", "adapters")
SHARED = {"core", "errors", "layout", "later"}
ROOMS = {"store", "index", "model", "importers"}
BELOW_MEMORY = {"step", "models", *ROOMS, *SHARED}
MAY_IMPORT: Mapping[str, set[str]] = {
    "errors": set(),
    "layout": set(),
    "later": set(),
    "core": {"errors", "layout", "later"},
    "config": SHARED,
    **dict.fromkeys(ROOMS, SHARED),
    "step": ROOMS | SHARED,
    "models": ROOMS | SHARED,  # the rule by which steps are given a model; it needs both model/ and store/
    "consolidate": BELOW_MEMORY,  # the list of the steps
    "entrance": {"config", *BELOW_MEMORY},  # how to open a workspace; config is read nowhere else below
    "light": {"config", "entrance", *BELOW_MEMORY},  # a workspace opened to store turns and nothing else
    "indexing": {"config", "entrance", *BELOW_MEMORY},  # how the index of one is opened
    "steps": {"consolidate", "indexing", *BELOW_MEMORY},  # those that are loaded when they are first taken
    "opening": {"config", "entrance", "steps", *BELOW_MEMORY},  # what a Memory holds
    "company": {"opening", "steps", *BELOW_MEMORY},  # whose memories are read along
    "following": {
        "opening",
        "company",
        "steps",
        *BELOW_MEMORY,
    },  # what an erase does beyond its own workspace
    "naming": {"opening", *BELOW_MEMORY},  # what still says a name after a forget
    "unsaying": {"opening", "company", "following", *BELOW_MEMORY},  # turns that are let go of by themselves
    # the verbs about entries
    "word": {"opening", "company", "following", "naming", "unsaying", "steps", *BELOW_MEMORY},
    "care": {
        "opening",
        "company",
        "following",
        "word",
        "reaching",
        "steps",
        *BELOW_MEMORY,
    },  # those of a person
    "reaching": {"opening", "steps", *BELOW_MEMORY},  # what the dream asks of an open Memory
    "lending": {"opening", "care", "reaching", "steps", *BELOW_MEMORY},  # its verbs for a host's own model
    "memory": {"opening", "company", "care", "lending", "reaching", "steps", "consolidate", *BELOW_MEMORY},
    "front": {"entrance", "opening", "memory", "consolidate", *BELOW_MEMORY},
    # Fakes of any part, for users' tests too.
    "testing": {"front", "entrance", "opening", "memory", "consolidate", *BELOW_MEMORY},
    "adapters": {"front", "memory", "consolidate", *BELOW_MEMORY},
    "surface": {"front", "entrance", "light", "opening", "memory", "reaching", "steps", "config", "adapters"}
    | {"consolidate", *BELOW_MEMORY},
    "__main__": {"surface"},
}
WITH_SIBLINGS = {*FOLDERS, "testing"}

# What `core` may use: the standard library's data modules, and libraries that only compute.
PURE = re.findall(
    r"[\w.]+",
    """
    __future__ abc ast base64 binascii bisect calendar collections contextlib copy dataclasses datetime decimal
    difflib enum fractions functools graphlib hashlib heapq hmac html inspect io.BytesIO io.StringIO ipaddress itertools
    json keyword math numbers operator pathlib.PurePath pathlib.PurePosixPath posixpath re shlex statistics string
    struct textwrap threading.local tomllib types typing unicodedata urllib.parse zlib zoneinfo
    Stemmer markdown_it msgspec ruamel.yaml
    """,
)

# A library that touches disk, network or process is used in one place, so that what it does can be read in one place.
OWNERS: Mapping[str, set[str]] = {
    "dulwich": {"store"},
    "fcntl": {"store"},
    "msvcrt": {"store"},
    "sqlite3": {"index"},
    "tantivy": {"index"},
    "numpy": {"index"},
    "lancedb": {"index"},
    "pyarrow": {"index"},
    "psycopg": {"index"},
    "pydantic_ai": {"model", "adapters"},
    "openai": {"model"},
    "anthropic": {"model", "adapters"},
    "httpx": {"model", "index", "surface"},
    "typer": {"surface"},
    "rich": {"surface"},
}
LAZY_FOLDERS = {"model", "index", "surface", "adapters"}


def group(module: str) -> str:
    """Return the group of the package's module `module`."""
    parts = module.split(".")
    if len(parts) == 1:
        return "front"
    return parts[1] if parts[1] in MAY_IMPORT else "step"


def module_of(target: str, known: Iterable[str]) -> str:
    """Return the module that an import of `target` (a module or a name in one) reaches."""
    return target if target in known else target.rpartition(".")[0]


def edges(sources: Iterable[Source]) -> Iterator[tuple[Source, str, int]]:
    """Yield each import of one module of the package by another: the importer, the imported, the line."""
    listed = list(sources)
    known = {source.module for source in listed}
    for source in listed:
        for found in imports(source):
            if found.target.partition(".")[0] == "reverie":
                yield source, module_of(found.target, known), found.node.lineno


def wrong_ways(sources: Iterable[Source]) -> Iterator[str]:
    """Yield each import that goes up, or sideways where that is not allowed."""
    for source, target, line in edges(sources):
        own, other = group(source.module), group(target)
        sibling = own == other and own in WITH_SIBLINGS
        if target != source.module and not sibling and other not in MAY_IMPORT[own]:
            yield f"{source.where(line)}: {source.module} ({own}) imports {target} ({other})"


def cycles(sources: Iterable[Source]) -> Iterator[str]:
    """Yield each circle of modules, once, as the path that closes it."""
    graph: dict[str, set[str]] = {}
    for source, target, _ in edges(sources):
        graph.setdefault(source.module, set()).add(target)
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> Iterator[str]:
        if module in path:
            yield " -> ".join([*path[path.index(module) :], module])
        elif module not in done:
            for target in sorted(graph.get(module, ())):
                yield from visit(target, (*path, module))
            done.add(module)

    for module in sorted(graph):
        yield from visit(module, ())


def impure(source: Source) -> Iterator[str]:
    """Yield each import of `core` that is neither ours nor a library that only computes."""
    if source.folder != "core":
        return
    partly = {name.rpartition(".")[0] for name in PURE} - {*PURE, ""}
    for found in imports(source):
        if isinstance(found.node, ast.Import) and found.target in partly:
            continue  # `import io` stands for what is used of it, below
        if not _pure(found.target) and found.target.partition(".")[0] != "reverie":
            yield f"{source.where(found.node)}: core imports {found.target}"
    names = Names(source)
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Attribute):
            name = names.of(node)
            if name.rpartition(".")[0] in partly and not _pure(name):
                yield f"{source.where(node)}: core uses {name}"


def _pure(target: str) -> bool:
    """Tell whether `target`, a module or a name in one, is on the list."""
    return any(target == name or target.startswith(f"{name}.") for name in PURE)


def strangers(source: Source) -> Iterator[str]:
    """Yield each import of a library that belongs to another folder."""
    for found in imports(source):
        owners = OWNERS.get(found.target.partition(".")[0])
        if owners is not None and source.folder not in owners:
            yield f"{source.where(found.node)}: {found.target} belongs to {' or '.join(sorted(owners))}"


def hidden_imports(source: Source) -> Iterator[str]:
    """Yield each import inside a function that may not stand there."""
    for found in imports(source):
        internal = found.target.partition(".")[0] == "reverie"
        if found.in_function and (internal or source.folder not in LAZY_FOLDERS):
            yield f"{source.where(found.node)}: {found.target} is imported inside a function"


def test_imports_go_one_way() -> None:
    """Surfaces and adapters import memory, memory the steps, steps the rooms, rooms the core, and none looks back."""
    demand(
        wrong_ways(package()), "Move what both need down into core, or pass it in. See docs/architecture.md."
    )


def test_there_are_no_import_cycles() -> None:
    """No module imports itself by way of others, not even for its types."""
    demand(cycles(package()), "Move what both need into a third module below them.")


def test_core_uses_only_libraries_that_compute() -> None:
    """Core imports the standard library's data modules and four pure libraries."""
    findings = [finding for source in package() for finding in impure(source)]
    demand(findings, "Core decides from values: do this in a step or a room, and pass the value in.")


def test_each_library_is_used_in_its_own_folder() -> None:
    """A library that touches disk, network or terminal is imported by one folder only."""
    findings = [finding for source in package() for finding in strangers(source)]
    demand(findings, "Call the folder that owns the library.")


def test_functions_import_only_optional_libraries() -> None:
    """An import inside a function is a third-party one, in model, index, surface or adapters."""
    findings = [finding for source in package() for finding in hidden_imports(source)]
    demand(findings, "Import at the top; an import that must hide is a cycle, or belongs in another folder.")


WRONG = [
    ("core/a.py", "from reverie.store import disk"),
    ("core/a.py", "import reverie.config"),
    ("store/a.py", "from reverie.index.text import TextIndex"),
    ("index/a.py", "import reverie.model.agent"),
    ("importers/a.py", "from reverie.store.filesystem.disk import Disk"),
    ("store/a.py", "from reverie import drain"),
    ("drain.py", "from reverie import publish"),
    ("drain.py", "from reverie.publish import publish"),
    ("drain.py", "from reverie.memory import Memory"),
    ("drain.py", "from reverie.consolidate import consolidate"),
    ("drain.py", "from reverie import config"),
    ("core/a.py", "import typing\nif typing.TYPE_CHECKING:\n    from reverie.memory import Memory"),
    ("memory.py", "from reverie.surface.render import plain"),
    ("adapters/a.py", "from reverie.surface.mcp import serve"),
    ("adapters/a.py", "from reverie.config import load"),
    ("drain.py", "from reverie.testing import FixedClock"),
    ("layout.py", "from reverie import errors"),
    ("errors.py", "from .core import names"),
    ("store/__init__.py", "from ..drain import drain"),
]
RIGHT = [
    ("core/a.py", "from reverie import errors, layout\nfrom reverie.core import b"),
    ("store/a.py", "from reverie.core.records import Turn\nfrom reverie.store import b"),
    (
        "drain.py",
        "from reverie.store import journal\nfrom reverie.index import state\nfrom reverie.errors import Busy",
    ),
    ("consolidate.py", "from reverie import drain, publish"),
    ("memory.py", "from reverie import consolidate, drain"),
    (
        "surface/cli/main.py",
        "import reverie\nfrom reverie.config import load\nfrom reverie.surface import render",
    ),
    ("__main__.py", "from reverie.surface.cli.main import main"),
    ("__init__.py", "from reverie.memory import Memory"),
]
NAMED = (
    "config",
    "consolidate",
    "drain",
    "errors",
    "layout",
    "memory",
    "publish",
    "testing",
    "core.names",
    "core.b",
)
WORLD = [
    parse("src/reverie/__init__.py", ""),
    *(parse(f"src/reverie/{n.replace('.', '/')}.py", "") for n in NAMED),
]


@pytest.mark.parametrize(("path", "text"), WRONG)
def test_a_wrong_way_is_found(path: str, text: str) -> None:
    """Each forbidden import is found, whatever its spelling."""
    assert len(list(wrong_ways([*WORLD, parse(f"src/reverie/{path}", text)]))) == 1


@pytest.mark.parametrize(("path", "text"), RIGHT)
def test_a_right_way_is_left_alone(path: str, text: str) -> None:
    """Each allowed import is left alone."""
    assert list(wrong_ways([*WORLD, parse(f"src/reverie/{path}", text)])) == []


def test_a_cycle_is_found() -> None:
    """Three modules in a circle are found once, and the way round is told."""
    circle = {"a": "b", "b": "c", "c": "a"}
    sources = [parse(f"src/reverie/core/{m}.py", f"from reverie.core import {n}") for m, n in circle.items()]
    assert list(cycles(sources)) == ["reverie.core.a -> reverie.core.b -> reverie.core.c -> reverie.core.a"]


@pytest.mark.parametrize(
    "name", ["os", "time", "random", "uuid", "secrets", "pathlib.Path", "dateparser", "ruamel.base"]
)
def test_an_impure_import_is_found(name: str) -> None:
    """Core may import neither what touches the world nor what draws chance."""
    module, _, attribute = name.rpartition(".")
    text = f"from {module} import {attribute}" if module else f"import {name}"
    assert list(impure(parse("src/reverie/core/a.py", text)))


def test_a_module_counts_by_what_is_used_of_it() -> None:
    """A module that is pure in part may be imported whole, and only that part used."""
    assert not list(
        impure(
            parse("src/reverie/core/a.py", "import io\nimport pathlib\nio.StringIO(pathlib.PurePath('a'))")
        )
    )
    assert (
        len(
            list(
                impure(
                    parse("src/reverie/core/a.py", "import io\nimport pathlib\nio.open(pathlib.Path('a'))")
                )
            )
        )
        == 2
    )


def test_a_stranger_is_found() -> None:
    """A library imported outside its folder is found, inside a function too."""
    text = "def f():\n    from dulwich.repo import Repo"
    assert list(strangers(parse("src/reverie/dream.py", text)))
    assert not list(strangers(parse("src/reverie/store/versions/git.py", text)))


@pytest.mark.parametrize(
    ("path", "text", "count"),
    [
        ("drain.py", "import tantivy", 1),
        ("store/a.py", "import tantivy", 1),
        ("index/a.py", "import tantivy", 0),
        ("index/a.py", "from reverie.core import b", 1),
        ("surface/a.py", "from ..core import b", 1),
    ],
)
def test_a_hidden_import_is_found(path: str, text: str, count: int) -> None:
    """An import inside a function is found unless it is third-party and its folder may have it."""
    source = parse(f"src/reverie/{path}", f"class A:\n    def f(self):\n        {text}")
    assert len(list(hidden_imports(source))) == count
