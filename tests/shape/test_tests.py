"""The gates on tests: each states one fact, none waits, and provider clients alone are mocked."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import pytest

from source import Names, demand, functions, imports, parse, suite

if TYPE_CHECKING:
    from collections.abc import Iterator

    from source import Source

# What ends a sentence and starts another: "One. Two", not "e.g. one" or "v2.3.1 is".
SECOND_SENTENCE = re.compile(r"(?<!e\.g)(?<!i\.e)(?<!etc)[.!?]\s+[A-Z]|[。！？]\s*\S")
MOCKS = ("unittest.mock", "mock", "pytest_mock")


def speechless(source: Source) -> Iterator[str]:
    """Yield each test whose docstring is not one sentence."""
    if not source.path.rpartition("/")[2].startswith("test_"):
        return
    for function in functions(source):
        if not function.name.startswith("test_"):
            continue
        fact = " ".join((ast.get_docstring(function) or "").split())
        if not fact:
            yield f"{source.where(function)}: {function.name} has no docstring"
        elif not fact.endswith((".", "。")) or SECOND_SENTENCE.search(fact):
            yield f"{source.where(function)}: {function.name}: {fact!r}"


def sleepers(source: Source) -> Iterator[str]:
    """Yield each use of a `sleep`, whoever offers it."""
    names = Names(source)
    for node in ast.walk(source.tree):
        if (
            isinstance(node, ast.Name | ast.Attribute)
            and names.of(node).rpartition(".")[2].lstrip("?") == "sleep"
        ):
            yield f"{source.where(node)}: {names.of(node).lstrip('?')}"


def mocks(source: Source) -> Iterator[str]:
    """Yield each import of a mocking library, and each use of pytest-mock's fixture, outside tests/model/."""
    if source.path.startswith("tests/model/"):
        return
    for found in imports(source):
        if any(found.target == name or found.target.startswith(f"{name}.") for name in MOCKS):
            yield f"{source.where(found.node)}: {found.target}"
    for function in functions(source):
        if any(arg.arg == "mocker" for arg in [*function.args.args, *function.args.kwonlyargs]):
            yield f"{source.where(function)}: the fixture `mocker`"


def test_each_test_states_its_fact() -> None:
    """Each test has a docstring of one sentence."""
    findings = [finding for source in suite() for finding in speechless(source)]
    demand(findings, "Say in one sentence, ending with a full stop, the fact that the test proves.")


def test_no_test_sleeps() -> None:
    """No test waits for the clock."""
    findings = [finding for source in suite() for finding in sleepers(source)]
    demand(findings, "Inject the clock (reverie.testing.FixedClock), or wait for the event itself.")


def test_only_provider_clients_are_mocked() -> None:
    """A mocking library is imported in tests/model/ only."""
    findings = [finding for source in suite() for finding in mocks(source)]
    demand(findings, "Use the fakes of reverie.testing: what our users have is enough for us.")


def test_test_modules_have_names_of_their_own() -> None:
    """No two test modules share a name, and no test folder is a package."""
    paths = sorted(source.path for source in suite())
    stems = [path.rpartition("/")[2] for path in paths]
    doubled = [
        path
        for path in paths
        if stems.count(path.rpartition("/")[2]) > 1 and not path.endswith("conftest.py")
    ]
    packages = [path for path in paths if path.endswith("/__init__.py")]
    demand([*doubled, *packages], "Rename one of them; remove __init__.py.")


@pytest.mark.parametrize(
    ("fact", "wrong"),
    [
        ("A fact.", False),
        ("A fact that needs\n    two lines, e.g. This one, or v2.3.1.", False),
        ("", True),
        ("A fact without an end", True),
        ("A fact. Another one.", True),
        ("A fact.\n\n    And more.", True),
    ],
)
def test_a_test_without_its_fact_is_found(fact: str, wrong: bool) -> None:  # noqa: FBT001
    """A docstring that is missing, unfinished or longer than a sentence is found."""
    text = f'class TestA:\n  def test_a(self):\n    """{fact}"""' if fact else "def test_a(): ..."
    assert bool(list(speechless(parse("tests/unit/test_a.py", text)))) is wrong


@pytest.mark.parametrize(
    "text",
    [
        "import time\ntime.sleep(1)",
        "from time import sleep as rest\nrest(1)",
        "import asyncio\nasyncio.sleep(1)",
        "pause = clock.sleep",
    ],
)
def test_a_sleep_is_found(text: str) -> None:
    """Each way to sleep is found."""
    assert list(sleepers(parse("tests/unit/test_a.py", text)))


@pytest.mark.parametrize(
    "text",
    [
        "from unittest import mock",
        "from unittest.mock import patch",
        "import unittest.mock as m",
        "def test_a(mocker): ...",
    ],
)
def test_a_mock_is_found(text: str) -> None:
    """A mock is found everywhere but in tests/model/."""
    assert list(mocks(parse("tests/unit/test_a.py", text)))
    assert not list(mocks(parse("tests/model/test_a.py", text)))
