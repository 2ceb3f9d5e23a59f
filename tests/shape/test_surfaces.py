"""The gates between the verbs of `Memory`, the surfaces and the docs: nothing exists in one place only."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import pytest

from reference import GENERATED, make
from reverie.surface.http.table import OPERATIONS
from reverie.surface.mcp.table import ON_DEMAND
from reverie.surface.mcp.table import TOOLS as EVERY_TOOL
from source import ROOT, Names, demand, load, package, parse, tracked

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from source import Source

# Verbs of Memory that have no command of the same name, each with the reason.
NO_COMMAND: Mapping[str, str] = {
    "history": "`get` shows it",
    "forgotten": "`erase` and `forget --restore` ask it",
    "gone": "`list --forgotten` shows it",
    "hideable": "`hide --dry-run` shows it",
    "behind": "`why` shows it, too",
    "ask": "`recall` has all of its options",
    "close": "a command closes the memory it opened when it ends",
    "compact_all": "`compact` without a session compacts all of them",
    "person": "`--user` chooses the person for every command",
}

# Verbs of Memory that are no operation over HTTP, each with the reason.
NO_OPERATION: Mapping[str, str] = {
    "ask": "`recall` has all of its options",
    "behind": "`why` takes any hit",
    "close": "the server closes what it opened",
    "compact_all": "`compact` without a session compacts all of them",
    "export": "a route of its own, for it is a stream",
    "forgotten": "`erase` and `unforget` ask it",
    "hideable": "`hide` with `dry_run` tells it",
    "import_": "a route of its own, for it is an upload",
    "person": "`user` chooses the person for every operation",
}

# The tools by which a verb is used over MCP, where they are not called like it.
TOOLS: Mapping[str, tuple[str, ...]] = {
    "ask": ("memory_recall",),
    "why": ("memory_get",),
    "dream_step": ("memory_dream_read", "memory_dream_edit", "memory_dream_settle"),
}
_PERSON = "it is for a person, or for an admin over HTTP"
_KEEPER = "whoever hosts the memory runs it; `reverie mcp` does when nobody asks"
_HOST = "it is for the host, which has the conversation: hooks, HTTP, Python"

# Verbs of Memory that are no tool of the MCP server, each with the reason.
NO_TOOL: Mapping[str, str] = {
    **dict.fromkeys(("capture", "end", "pause", "resume", "compact", "compact_all", "used", "judge"), _HOST),
    **dict.fromkeys(
        ("extract", "drain", "digest", "dream", "publish", "lint", "consolidate", "reindex", "check"), _KEEPER
    ),
    **dict.fromkeys(
        ("hide", "hideable", "erase", "exclude", "undo", "restore", "review", "members", "take_back", "pin"),
        _PERSON,
    ),
    **dict.fromkeys(
        ("log", "diff", "history", "behind", "export", "import_"), "it is for who looks after files"
    ),
    "close": "the server closes what it opened",
    **dict.fromkeys(("forgotten", "gone"), "a model is not told of what is forgotten"),
    "person": "a server is bound to one workspace",
}


def verbs(source: Source) -> dict[str, int]:
    """Return the public methods of the class `Memory` or of its bases, with their lines."""
    return {
        item.name: item.lineno
        for node in source.tree.body
        if isinstance(node, ast.ClassDef) and node.name in {"Memory", "Lending", "Care", "Word"}
        for item in node.body
        if isinstance(item, ast.FunctionDef) and not item.name.startswith("_") and not _is_property(item)
    }


def _is_property(function: ast.FunctionDef) -> bool:
    """Tell whether the method is read like an attribute."""
    return any(
        ast.unparse(mark).rpartition(".")[2] in {"property", "cached_property"}
        for mark in function.decorator_list
    )


def commands(source: Source) -> Iterator[str]:
    """Yield the names of the commands that `app.command` makes in the file, as a decorator or as a call."""
    names = Names(source)
    for node in ast.walk(source.tree):
        if isinstance(node, ast.FunctionDef):
            for mark in node.decorator_list:
                if isinstance(mark, ast.Call) and names.of(mark.func).endswith(".command"):
                    yield _named(mark) or node.name.strip("_").replace("_", "-")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Call):
            if names.of(node.func.func).endswith(".command"):
                function = node.args[0].id if node.args and isinstance(node.args[0], ast.Name) else ""
                yield _named(node.func) or function.strip("_").replace("_", "-")
        elif isinstance(node, ast.Call) and names.of(node.func).endswith(".add_typer"):
            yield _named(node)


def _named(call: ast.Call) -> str:
    """Return the name given to a command or a group, or "" when it takes its function's."""
    given = [*call.args[:1], *(keyword.value for keyword in call.keywords if keyword.arg == "name")]
    values = [item.value for item in given if isinstance(item, ast.Constant) and isinstance(item.value, str)]
    return values[-1] if values else ""


def documented(verb: str, text: str) -> bool:
    """Tell whether the docs show the verb, as a call, as a command or as a word in backticks."""
    command = verb.replace("_", "-")
    return bool(
        re.search(rf"\.{verb}\(|`{verb}(\([^`]*\))?`|\breverie {command}\b|`{command}( [^`]*)?`", text)
    )


@pytest.fixture(scope="module")
def memory() -> Mapping[str, str]:
    """Where each verb of a `Memory` stands: those of the class itself, and those people use, in its base `Care`."""
    halves = ("src/reverie/memory.py", "src/reverie/lending.py", "src/reverie/care.py", "src/reverie/word.py")
    paths = [path for path in halves if path in tracked()]
    if not paths:
        pytest.skip("there is no Memory")
    sources = [load(path) for path in paths]
    return {verb: source.where(line) for source in sources for verb, line in verbs(source).items()}


def test_each_verb_is_a_command(memory: Mapping[str, str]) -> None:
    """Each verb of `Memory` is a command of the CLI, or is listed here as deliberately absent."""
    offered = {name for source in package() if source.folder == "surface" for name in commands(source)}
    if not offered:
        pytest.skip("the package has no commands")
    missing = [
        f"{place}: {verb}"
        for verb, place in memory.items()
        if verb.strip("_").replace("_", "-") not in offered and verb not in NO_COMMAND
    ]
    demand(missing, "Add the command in surface/cli, or a row with its reason to NO_COMMAND.")


def test_each_absence_is_still_one(memory: Mapping[str, str]) -> None:
    """Each verb listed as absent from the CLI is a verb, and is absent."""
    offered = {name for source in package() if source.folder == "surface" for name in commands(source)}
    stale = [name for name in NO_COMMAND if name in offered or name not in memory]
    demand(stale, "Remove the row from NO_COMMAND.")


def test_each_verb_is_an_operation(memory: Mapping[str, str]) -> None:
    """Each verb of `Memory` is an operation over HTTP, or is listed here as deliberately absent, one of the two."""
    offered = {one.id for one in OPERATIONS}
    missing = [
        f"{place}: {verb}" for verb, place in memory.items() if verb not in offered | set(NO_OPERATION)
    ]
    demand(missing, "Add the operation in surface/http, or a row with its reason to NO_OPERATION.")
    stale = [name for name in NO_OPERATION if name in offered or name not in memory]
    demand(stale, "Remove the row from NO_OPERATION.")


def test_each_verb_is_a_tool(memory: Mapping[str, str]) -> None:
    """Each verb of `Memory` is a tool of the MCP server, or is listed here as deliberately absent, one of the two."""
    offered = {tool.name for tool in (*EVERY_TOOL, *ON_DEMAND)}
    tools = {verb: TOOLS.get(verb, (f"memory_{verb}",)) for verb in memory if verb not in NO_TOOL}
    missing = [f"{memory[verb]}: {verb}" for verb, names in tools.items() if not offered.issuperset(names)]
    demand(missing, "Add the tool in surface/mcp, or a row with its reason to NO_TOOL.")
    stale = [name for name in NO_TOOL if f"memory_{name}" in offered or name not in memory]
    demand(stale, "Remove the row from NO_TOOL.")
    apart = offered - {name for names in tools.values() for name in names} - {"search", "fetch"}
    demand(apart, "A tool is named after its verb, or stands in TOOLS.")


def test_each_verb_is_documented(memory: Mapping[str, str]) -> None:
    """Each verb of `Memory` is shown in README.md or docs/."""
    pages = [path for path in tracked() if path == "README.md" or re.fullmatch(r"docs/.*\.md", path)]
    text = "\n".join((ROOT / path).read_text(encoding="utf-8") for path in pages)
    if not any(path.startswith("docs/reference/") for path in pages):
        pytest.skip("docs/reference/ holds no page")
    missing = [f"{place}: {verb}" for verb, place in memory.items() if not documented(verb.strip("_"), text)]
    demand(missing, "Show the verb in docs/, where a user would look for it.")


def test_reference_tables_are_fresh() -> None:
    """Each generated table in docs/reference/ equals what its generator returns now."""
    texts = {path: (ROOT / path).read_text(encoding="utf-8") for path in GENERATED if path in tracked()}
    stale = [
        f"{path}: differs from {place}" for path, place in GENERATED.items() if texts.get(path) != make(place)
    ]
    demand(stale, "Run `make reference` and look at what changed.")


def test_each_reference_table_has_a_generator() -> None:
    """No page in docs/reference/ is written by hand."""
    pages = [path for path in tracked() if path.startswith("docs/reference/")]
    demand(
        set(pages) - set(GENERATED),
        "Add its generator to tests/shape/reference.py, or move the page to docs/.",
    )


def test_commands_are_read_from_their_decorators() -> None:
    """A command is found by its given name or its function's, as decorator, call or group."""
    text = (
        "@app.command()\ndef why(): ...\n@app.command('list')\ndef list_(): ...\n"
        "@app.command(name='log')\ndef f(): ...\n"
        "app.command('due')(g)\napp.command()(dry_run)\napp.add_typer(review, name='review')"
    )
    found = sorted(commands(parse("src/reverie/surface/cli/main.py", text)))
    assert found == ["dry-run", "due", "list", "log", "review", "why"]


def test_verbs_are_the_public_methods() -> None:
    """A verb is a public method of Memory that is no property."""
    text = (
        "class Memory:\n  def recall(self): ...\n  def _x(self): ...\n"
        "  @property\n  def root(self): ...\nclass B:\n  def b(self): ..."
    )
    assert verbs(parse("src/reverie/memory.py", text)) == {"recall": 2}


@pytest.mark.parametrize("text", ["`reverie due`", "memory.due(7)", "| `due` |", "`due --json`", "`due()`"])
def test_a_documented_verb_is_found(text: str) -> None:
    """A verb counts as documented when it is called, run or quoted, and not when it is only a word."""
    assert documented("due", text)
    assert not documented("due", text.replace("due", "dues"))
    assert not documented("due", "the due date")
