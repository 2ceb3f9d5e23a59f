"""The guides do what they say: their shell and Python blocks run, their links lead somewhere, their commands exist."""

from __future__ import annotations

import doctest
import random
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import outside
import pytest
from shells import OPTIONS, TYPED, shell
from written import DOCS, FENCE, PAGES, README, ROOT, blocks, named, with_blocks

import reverie
from reverie import Opening, Turn
from reverie.surface.cli.commands import COMMANDS
from reverie.surface.cli.main import load
from reverie.testing import FixedClock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reverie.core.records import Role

PACKAGE = ROOT / "src" / "reverie"
# A path of ours in backticks: with a folder of the project or of the package before it.
OURS = re.compile(
    r"`((?:src|tests|benchmarks|samples|docs|core|store|index|model|surface|adapters|importers)/[\w/.*-]*)`"
)
LINK = re.compile(r"\[[^\[\]]+\]\(([^()\s]+)\)")
CALL = re.compile(
    r"(?:^|[\s(|`])reverie((?: +-w \S+| +--(?:workspace|agent-id|config-dir|user) \S+)*)"
    r" +([a-z]+(?:-[a-z]+)*)\b([^\n|;&`)]*)"
)
OPTION = re.compile(r"(?<=\s)(--[a-z][a-z-]*|-[a-z])\b")


@pytest.mark.slow
@pytest.mark.parametrize("page", with_blocks("sh"))
def test_the_commands_of_a_guide_run(page: Path, tmp_path: Path) -> None:
    """A guide's shell blocks run one after another and print what stands below them."""
    printed = iter(shell(page, tmp_path))
    ran: str | None = None
    for info, text in blocks(page):
        if info in TYPED:
            ran = next(printed)
        elif info == "text" and ran is not None:
            matches = doctest.OutputChecker().check_output(text, ran, OPTIONS)
            assert matches, f"{page.name} says:\n{text}\nbut the commands printed:\n{ran}"
            ran = None
        else:
            ran = None
    assert outside.faults(tmp_path) == []


@pytest.mark.parametrize("page", with_blocks("pycon"))
def test_the_python_of_a_guide_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A guide's Python sessions, one after another, print what they say."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    text = "\n".join(code for info, code in blocks(page) if info == "pycon")
    parsed = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    said: list[str] = []
    runner.run(parsed, out=said.append)
    assert runner.failures == 0, "".join(said)


def seeded_ids(seed: int) -> Callable[[], str]:
    """Return a source of ids that look drawn and are the same each time."""
    numbers = random.Random(seed)
    return lambda: f"{numbers.getrandbits(64):016x}"


def test_the_life_of_a_turn_is_what_happens(tmp_path: Path) -> None:
    """Each block of the page on a turn's life stands, byte for byte, in the files when its conversation is replayed."""
    clock = FixedClock(datetime(2026, 7, 1, 12, 5, 33, tzinfo=UTC))
    opening = Opening(
        path=tmp_path / "memory", config_dir=tmp_path / "config", clock=clock, new_id=seeded_ids(11),
        flags={"zone": "Europe/Berlin"},
    )  # fmt: skip
    page = DOCS / "explanation" / "life-of-a-turn.md"
    said = re.findall(r"^> (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    talk: list[tuple[Role, str, int]] = [
        ("user", "Good morning. I work at Google.", 20),
        ("assistant", "Got it, I'll remember that.", 25),
    ]
    with reverie.init(opening) as memory:
        for role, words, second in (*talk, ("user", said[0], 33)):
            at = datetime(2026, 7, 1, 12, 5, second, tzinfo=UTC)
            clock.set(at)
            memory.capture("abc12345-77d0", Turn(role=role, content=words, at=at))
        memory.remember("Dana prefers calls before noon")
        memory.end("abc12345-77d0")
        memory.extract()
        memory.drain()
        memory.digest()
        memory.compact("abc12345-77d0", budget=60)
        clock.set(datetime(2026, 7, 2, 1, tzinfo=UTC))
        memory.dream(now=True)
        memory.digest()
        memory.publish()
        found = memory.recall("where does the user work?").hits[0]
        chain = memory.why("2d7cd553c9733d2d")
    files = [
        file.read_text(encoding="utf-8")
        for file in memory.root.rglob("*")
        if file.suffix in {".md", ".jsonl"}
    ]
    absent = [
        text
        for _, text in blocks(page)
        if not all(any(part in file for file in files) for part in parts(text))
    ]
    assert absent == []
    assert "2d7cd553c9733d2d" in found.entries
    assert [turn.n for turn in chain.turns] == [2]


def parts(text: str) -> list[str]:
    """Return a block as what has to stand together: framed lines one by one, anything else as a whole."""
    return text.splitlines() if text.startswith("{") else [text]


def calls(page: Path) -> Iterator[tuple[str, set[str]]]:
    """Yield each command that the page calls with the options it gives, prose in backticks included."""
    text = page.read_text(encoding="utf-8")
    for match in CALL.finditer(text):
        yield match[2], set(OPTION.findall(f" {match[1]} {match[3]}"))


@pytest.mark.parametrize("page", named([README, *PAGES]))
def test_a_guide_calls_commands_that_exist(page: Path) -> None:
    """Each command that a guide calls exists and takes the options it is given."""
    known = {command.name for command in COMMANDS}
    unknown: list[str] = []
    for name, options in calls(page):
        if name not in known:
            unknown.append(name)
        elif name not in {"review", "token"}:  # groups of their own: their options are their commands'
            taken = {flag for one in load(name).params for flag in (*one.opts, *one.secondary_opts)}
            unknown += [f"{name} {option}" for option in options - taken]
    assert unknown == []


@pytest.mark.parametrize("page", named([README, *PAGES]))
def test_a_link_leads_somewhere(page: Path) -> None:
    """Each relative link of a page leads to a file that is there, and its anchor to a heading of that file."""
    broken = []
    for target in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
        path, _, anchor = target.partition("#")
        if "://" in target:
            continue
        file = (page.parent / path).resolve() if path else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            broken.append(target)
    assert broken == []


@pytest.mark.parametrize("page", named([README, *PAGES]))
def test_a_file_of_ours_that_is_named_is_there(page: Path) -> None:
    """Each module, test or folder of the project that a page names by its path is there, for pages outlive moves."""
    named_ones = OURS.findall(FENCE.sub("", page.read_text(encoding="utf-8")))
    absent = [
        one for one in named_ones if not any(any(place.glob(one.rstrip("/"))) for place in (ROOT, PACKAGE))
    ]
    assert absent == []


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as Markdown viewers make them."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings}


def test_every_page_is_found_from_the_index() -> None:
    """The index of the documentation links to each page, those it leads to included."""
    index = DOCS / "index.md"
    seen: set[Path] = set()
    todo = [index]
    while todo:
        page = todo.pop()
        if page in seen or page.suffix != ".md" or not page.exists():
            continue
        seen.add(page)
        todo += [
            (page.parent / target.partition("#")[0]).resolve()
            for target in LINK.findall(page.read_text(encoding="utf-8"))
            if "://" not in target
        ]
    assert {page for page in PAGES if page not in seen} == set()


def test_the_rules_bite() -> None:
    """An output that differs, a command that is none and an anchor that is missing are found."""
    checker = doctest.OutputChecker()
    assert checker.check_output("stored ...\n", "stored 5 entries\n", OPTIONS)
    assert not checker.check_output("stored 5\n", "stored 6\n", OPTIONS)
    assert next(CALL.finditer("reverie -w memory remember x --due y"))[2] == "remember"
    assert "who-may-hold-what" in anchors(DOCS / "format.md")
