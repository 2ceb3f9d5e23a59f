"""The gates on the repository itself: its guides, its versions, its lock, and what no file of it may hold."""

from __future__ import annotations

import re
import tomllib
from importlib import metadata
from typing import TYPE_CHECKING

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from source import ROOT, demand, tracked

if TYPE_CHECKING:
    from collections.abc import Iterator

AGENTS_LINES = 150
LARGEST = 1_000_000
LOCK = "requirements-ci.txt"
VERSION_HEADING = re.compile(r"^## \[?v?(\d+\.\d+\.\d+[^\s\]]*)", re.MULTILINE)

# Folders of one machine, and hosts that a mirror replaces.
PLACES = re.compile(
    r"(?<![\w.~}\])/-])/(work|root|workspaces)(/|\b(?![-\w]))"
    r"|(?<![\w.])/tmp/(brief|bash_jobs|claude|pytest-of-)"
    r"|\b(files\.pythonhosted|pypi|npmjs|debian|ubuntu|crates)\.(org|com|io)\b"
    r"|--(extra-)?index-url"
)


@pytest.fixture(scope="module")
def project() -> dict[str, object]:
    """The `[project]` table of pyproject.toml."""
    table: dict[str, object] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return table


def places(path: str, text: str) -> Iterator[str]:
    """Yield each mention of a folder of one machine or of a registry's host."""
    for number, line in enumerate(text.split("\n"), 1):
        for found in PLACES.finditer(line):
            yield f"{path}:{number}: {found[0]}"


def pins(text: str) -> dict[str, str]:
    """Return the versions a lock names, by canonical package name; a line that pins nothing fails."""
    lines = [line for line in text.split("\n") if line and not line.startswith("#")]
    loose = [line for line in lines if not re.fullmatch(r"[\w.-]+==[\w.!+-]+", line)]
    assert not loose, f"{LOCK} must name exact versions only: {loose}"
    return {canonicalize_name(name): version for name, _, version in (line.partition("==") for line in lines)}


def needed(wanted: list[str]) -> set[str]:
    """Return the packages that `wanted` needs here, with what those need, as installed."""
    found: set[str] = set()
    todo = [Requirement(line) for line in wanted]
    while todo:
        requirement = todo.pop()
        name = canonicalize_name(requirement.name)
        if (requirement.marker and not requirement.marker.evaluate({"extra": ""})) or name in found:
            continue
        found.add(name)
        todo += [Requirement(line) for line in metadata.requires(name) or []]
    return found


def test_the_agents_guide_is_short() -> None:
    """AGENTS.md has at most 150 lines."""
    lines = (ROOT / "AGENTS.md").read_text(encoding="utf-8").count("\n")
    assert lines <= AGENTS_LINES, (
        f"AGENTS.md has {lines} lines: link to CONTRIBUTING.md or docs/ instead of repeating."
    )


def test_the_changelog_and_the_version_agree(project: dict[str, object]) -> None:
    """The changelog's newest version, the package's metadata and `reverie.__version__` are the same."""
    if "CHANGELOG.md" not in tracked():
        pytest.skip("CHANGELOG.md is not there")
    found = VERSION_HEADING.search((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    assert found, "CHANGELOG.md has no heading of the form `## 1.2.3`."
    assert found[1] == project["version"], "Write the changelog of the version in pyproject.toml, at the top."
    front = (ROOT / "src/reverie/__init__.py").read_text(encoding="utf-8")
    said = re.search(r"^__version__ *(?::[^=]*)?= *[\"']([^\"']+)[\"']", front, re.MULTILINE)
    assert said is None or said[1] == project["version"], "reverie.__version__ differs from pyproject.toml."


def test_the_lock_covers_what_is_declared(project: dict[str, object]) -> None:
    """The lock names a version for everything the package, its build and its tests need, and that version satisfies."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    build = tomllib.loads(text)["build-system"]["requires"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["dev"], *build]  # type: ignore[misc, index]
    locked = pins((ROOT / LOCK).read_text(encoding="utf-8"))
    wrong = [
        f"{LOCK}: {requirement}"
        for requirement in map(Requirement, wanted)
        if not requirement.specifier.contains(
            locked.get(canonicalize_name(requirement.name), "0"), prereleases=True
        )
    ]
    demand(wrong, "Run `make lock`.")
    demand(needed(wanted) - set(locked), "Run `make lock`.")


def test_no_file_names_a_machine_or_a_registry() -> None:
    """No tracked file names a folder of somebody's machine or a package registry's host."""
    findings: list[str] = []
    for path in tracked():
        text = (ROOT / path).read_bytes().decode("utf-8", errors="ignore")
        findings += places(path, text)
    demand(findings, "Say where relative to the checkout; leave hosts to each user's own configuration.")


def test_no_file_is_large() -> None:
    """No tracked file is larger than a megabyte."""
    large = [
        f"{path}: {(ROOT / path).stat().st_size} bytes"
        for path in tracked()
        if (ROOT / path).stat().st_size > LARGEST
    ]
    demand(
        large,
        "Keep data beside the checkout and read it from there, skipping with a reason when it is absent.",
    )


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("see `/" + "work/x` and /" + "root/.cache", 2),
        ("https://py" + "pi.org/simple and registry.npm" + "js.org", 2),
        ("--index" + "-url x", 1),
        ("/" + "tmp/brief/b.txt", 1),
        ("framework/work/, work/life, ~/work, and/or/root, /worker, /workspace, /work-order", 0),
    ],
)
def test_a_place_is_found(text: str, count: int) -> None:
    """A machine's folder or a registry's host is found, and words like them are not."""
    assert len(list(places("a.md", text))) == count


def test_a_lock_that_pins_nothing_is_refused() -> None:
    """A lock line without an exact version fails."""
    assert pins("# comment\nruamel.yaml==0.18.10\n") == {"ruamel-yaml": "0.18.10"}
    with pytest.raises(AssertionError, match="exact versions"):
        pins("typer>=0.15\n")
