"""Each example of a command's help does what it shows: it is run as it stands, on a memory that has what it names.

The ids and runs that examples name are replaced by ones that are there.
"""

from __future__ import annotations

import re
import shlex
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZipFile

import pytest

import reverie
from reverie import Draft, Opening, Turn
from reverie.surface.cli.commands import COMMANDS
from reverie.surface.cli.main import load
from reverie.testing import FixedClock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import Answer, Shell

# What an example shows to be typed ends before the remark beside it.
REMARK = re.compile(r"\s{3,}\S.*$")
# Commands that go on until they are ended, or that begin with samples of a checkout: their words are read, and no more.
GO_ON = {"mcp", "serve", "demo"}
SINCE = datetime.now(UTC) - timedelta(days=1)
LONG_AGO = SINCE - timedelta(days=1)
LINES = {
    "answer.txt": "Lisbon it is, then.",
    "turns.jsonl": '{"session": "s1", "role": "user", "content": "I like bees."}\n',
    "today.md": "The queue was empty.",
    "entries.json": "[]",
    "tea.md": "# Tea\n",
    "conversation.jsonl": '{"role": "user", "content": "I like wasps."}\n',
}
SESSION = """\
{"type": "user", "sessionId": "s", "timestamp": "2026-07-01T09:00:00Z", "message": {"role": "user", "content": "Hello"}}
"""


def examples() -> Iterator[str]:
    """Yield each example of each command's help, as it is typed."""
    for command in COMMANDS:
        loaded = load(command.name)
        for one in getattr(loaded, "commands", {"": loaded}).values():
            yield from (REMARK.sub("", line).strip() for line in (one.epilog or "").strip().split("\n"))


@dataclass(frozen=True)
class Call:
    """One command of an example: its words, and the files that it reads from and writes to."""

    words: list[str]
    reads: str = ""
    writes: str = ""


def calls(example: str) -> list[Call]:
    """Return the commands of an example that are joined by pipes, as a shell reads them."""
    found: list[Call] = []
    for part in example.split(" | "):
        words, reads, writes = shlex.split(part), "", ""
        if "<" in words:
            reads = words.pop(words.index("<") + 1)
            words.remove("<")
        if ">" in words:
            writes = words.pop(words.index(">") + 1)
            words.remove(">")
        home = str(Path.home())
        found.append(Call([re.sub("^~", home, word) for word in words], reads, re.sub("^~", home, writes)))
    return found


@dataclass(frozen=True)
class Desk:
    """A home with a memory, and files of the names that examples use."""

    shell: Shell
    entry: str
    promise: str

    def type(self, example: str) -> Answer:
        """Do what an example shows, in the folder where its files lie."""
        stdin, answer = b"", None
        for call in calls(example):
            if call.words[0] == "echo":
                stdin = call.words[1].encode()
                continue
            if call.reads:
                stdin = Path(call.reads).read_bytes()
            assert call.words[0] == "reverie", example
            answer = self.shell.raw(*call.words[1:], stdin=stdin)
            if call.writes:
                Path(call.writes).parent.mkdir(parents=True, exist_ok=True)
                Path(call.writes).write_text(answer.out)
        assert answer is not None
        return answer

    def filled(self, example: str) -> str:
        """Return an example with what is there in the place of the ids it names."""
        text = re.sub(r"(--due|--until) 2026", r"\1 2099", example)  # what is promised lies ahead
        text = re.sub(r"--date 2026-07-01", f"--date {SINCE:%Y-%m-%d}", text)
        text = text.replace("2026-07-02T03:00:00Z", f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}")
        text = text.replace("2b47366a861a87ca", self.entry)
        text = text.replace("2b47366a", self.promise if " done " in example else self.entry)
        text = text.replace("83f33219", self.promise)
        if "c0ffee00" in text:
            self.shell.ok("judge", self.entry, "0.4", "--why", "said in passing")
            text = text.replace("c0ffee00", self.shell.json("get", self.entry)["history"][-1]["id"])
        if " dream:" in text:
            text = re.sub(r"dream:\d{8}-\d{6}", self.run_for(example), text)
        if " review " in text and "2b47" in text:
            text = text.replace("2b47", self.proposal())
        if " page:" in text:
            hits = self.shell.json("recall", "calls before noon", "--kind", "page")["hits"]
            text = re.sub(r"page:\w+", hits[0]["id"], text)
        if "extract-submit" in text:
            text = text.replace("extract:0123456789abcdef", self.shell.json("extract-start", "s1")["handle"])
        return text

    def proposal(self) -> str:
        """Return the id of something that waits for a person's word: an edit inside the block of MEMORY.md."""
        self.shell.ok("publish")
        place = self.shell.folder / "MEMORY.md"
        place.write_text(
            place.read_text().replace("<!-- reverie:end", "- User likes wasps\n<!-- reverie:end")
        )
        self.shell.ok("publish")
        return str(self.shell.json("review", "list")[0]["id"])

    def run_for(self, example: str) -> str:
        """Return a run that an example can name: one under way, or one that is done."""
        if "dream-step" in example or "dream-finish" in example:
            return str(self.shell.json("dream-start", "--now", "--model", "claude")["run"])
        return str(self.shell.json("log")[0]["run"])


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    """A folder with a memory that has some life in it and its configuration; the ids of an entry and of a promise."""
    folder = tmp_path_factory.mktemp("lived")
    places = Opening(
        path=folder / "memory",
        config_dir=folder / "config",
        flags={"embedder": "none"},
        clock=FixedClock(SINCE),
    )
    with reverie.init(places) as memory:
        memory.capture("s1", Turn(role="user", content="I prefer calls before noon.", at=LONG_AGO))
        memory.end("s1")
        memory.extract()
        memory.drain()
        memory.dream(now=True)
        memory.capture("s1", Turn(role="user", content="I like long walks.", at=SINCE))
        entry = memory.remember("Dana prefers calls before noon", Draft(category="preference", about="Dana"))
        promise = memory.remember("Send Dana the quote", Draft(due="2099-07-10"))
        memory.drain()
    return folder, entry.id, promise.id


@pytest.fixture
def desk(lived: tuple[Path, str, str], shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A home of which the default workspace is a copy of that memory, and the files that examples name."""
    shutil.copytree(lived[0], tmp_path, dirs_exist_ok=True)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("REVERIE_WORKSPACE", str(tmp_path / "memory"))
    monkeypatch.setenv("REVERIE_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("REVERIE_EMBEDDER", "none")
    (tmp_path / "config" / "config.toml").write_text("mcp.host_model = true\n")
    for name, text in LINES.items():
        Path(name).write_text(text)
    with ZipFile("chatgpt-export.zip", "w") as archive:
        archive.writestr("conversations.json", "[]")
    places = {"Notes/2026-07-01.md": "The queue was empty.\n", ".claude/projects/my-project/s.jsonl": SESSION}
    for name, text in places.items():
        (home / name).parent.mkdir(parents=True)
        (home / name).write_text(text)
    return Desk(shell, *lived[1:])


# What has to be done before an example shows anything.
BEFORE = {
    "reverie forget 2b47366a --restore": "reverie forget 2b47366a",
    "reverie forget --about Jonas --restore": (
        'reverie remember "Jonas lives in Potsdam" --about Jonas && reverie forget --about Jonas'
    ),
    "reverie hide 2b47366a --unhide": "reverie hide 2b47366a",
    'reverie exclude "health" --remove': 'reverie exclude "health"',
    "reverie import ~/backup/2026-07-01": "reverie export ~/backup/2026-07-01",
    "reverie members -w ~/memory/team": "reverie init ~/memory/team",
    "reverie trust ~/memory/from-a-colleague": "reverie init ~/memory/from-a-colleague",
    "reverie token remove phone": "reverie token add phone --right read --agent support",
    "reverie uninstall claude-code": "reverie install claude-code",
    "reverie uninstall claude-code --project": "reverie install claude-code --project",
    "reverie members -w ~/memory/team --add ~/memory/support": (
        "reverie init ~/memory/team && reverie init ~/memory/support"
    ),
    "reverie resume s1": "reverie pause s1",
}


@pytest.mark.slow
@pytest.mark.parametrize("example", sorted(set(examples())))
def test_an_example_of_a_help_does_what_it_shows(desk: Desk, example: str) -> None:
    """What the help of a command shows can be typed as it stands, and ends well."""
    if example.split()[1] in GO_ON:
        _, command, *words = shlex.split(example)
        assert load(command).make_context(command, words).command.name == command
        return
    for before in BEFORE.get(example, "").split(" && "):
        assert not before or desk.type(desk.filled(before)).code == 0
    typed = desk.filled(example)
    answer = desk.type(typed)
    assert answer.code == 0, answer
