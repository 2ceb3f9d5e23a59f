"""The real Claude Code and Codex, each in a home of its own, with a scripted model and no way out of this machine."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import npm
import pytest
from scripted_api import ScriptedApi

import reverie
from reverie import Opening
from reverie.store import sessions

if TYPE_CHECKING:
    from reverie import Memory
    from reverie.core.records import Turn

LONGEST = 240  # seconds that one run of an agent may take on a busy machine
CODEX = """
model = "gpt-5-codex"
model_provider = "scripted"
analytics.enabled = false
otel = { exporter = "none", metrics_exporter = "none", trace_exporter = "none" }

[model_providers.scripted]
name = "scripted"
base_url = "ADDRESS/v1"
wire_api = "responses"

[mcp_servers.reverie]
command = "reverie"
args = ["mcp"]
required = true
"""


def program(pattern: str) -> Path:
    """Return a program of the agents' packages: for another system than this its package is not installed."""
    found = sorted(npm.installed("agents").glob(pattern))
    if not found:
        pytest.skip("the package has no program for this system")
    return found[0]


@dataclass
class Desk:
    """A home with a project, a memory and a model of its own."""

    home: Path
    api: ScriptedApi = field(default_factory=ScriptedApi)

    def __post_init__(self) -> None:
        """Make the folders."""
        self.project.mkdir()
        self.claude.mkdir()

    @property
    def project(self) -> Path:
        """The folder that the agents work in."""
        return self.home / "shop"

    @property
    def claude(self) -> Path:
        """The folder of Claude Code's own files."""
        return self.home / ".claude"

    @cached_property
    def environment(self) -> dict[str, str]:
        """What a shell of this home has, and no proxy that leads anywhere."""
        nowhere = "http://127.0.0.1:9"
        return {
            "HOME": str(self.home),
            "PATH": os.pathsep.join((str(Path(sys.executable).parent), "/usr/local/bin", "/usr/bin", "/bin")),
            "TERM": "xterm-256color",
            "TZ": "UTC",
            "REVERIE_EMBEDDER": "none",
            "HTTP_PROXY": nowhere,
            "HTTPS_PROXY": nowhere,
            "NO_PROXY": "127.0.0.1",
            "ANTHROPIC_BASE_URL": self.api.address,
            "ANTHROPIC_API_KEY": "dummy",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
        }

    def start(self, *words: object, **more: Any) -> subprocess.Popen[str]:
        """Start a program in the project, in a process group of its own."""
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
        return subprocess.Popen(
            [str(word) for word in words],
            cwd=self.project,
            env=self.environment,
            text=True,
            start_new_session=True,
            **options,
        )

    def run(self, *words: object) -> str:
        """Run a program in the project, and return what it printed; it has to succeed."""
        return ended(self.start(*words))

    def reverie(self, *words: object) -> str:
        """Run a command of ours, as a person does."""
        return self.run(Path(sys.executable).with_name("reverie"), *words)

    def ask(self, prompt: str, *more: str) -> str:
        """Have Claude Code answer one prompt."""
        return self.run(*self.asking(prompt, *more))

    def asking(self, prompt: str, *more: str) -> tuple[object, ...]:
        """Return the words by which Claude Code answers one prompt."""
        return (program("@anthropic-ai/claude-code-*/claude"), "-p", prompt, *more)

    def codex(self, *words: str) -> str:
        """Have Codex do something."""
        settings = self.home / ".codex" / "config.toml"
        if not settings.exists():
            settings.parent.mkdir()
            settings.write_text(CODEX.replace("ADDRESS", self.api.address))
        free = ("--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox")
        return self.run(program("@openai/codex-*/vendor/*/bin/codex"), "exec", *words, *free)

    def install(self, **settings: Any) -> Path:
        """Install the hooks beside the settings of a person, and return their file."""
        file = self.claude / "settings.json"
        file.write_text(json.dumps(settings, indent=4) + "\n")
        self.reverie("install", "claude-code")
        return file

    def memory(self) -> Memory:
        """Open the memory beside the hooks."""
        environment = {name: self.environment[name] for name in ("HOME", "TZ", "REVERIE_EMBEDDER")}
        return reverie.open(Opening(environment=environment))

    def turns(self) -> dict[str, list[Turn]]:
        """Return the turns of each session in memory, in the order in which the sessions began."""
        with self.memory() as memory:
            ws = memory.opened.ws
            held = {name: sessions.read(ws, name) for name in sessions.names(ws)}
        return dict(sorted(((k, v) for k, v in held.items() if v), key=lambda one: one[1][0].at))

    def said(self) -> list[list[tuple[str, str]]]:
        """Return who said what in each session."""
        return [[(one.role, one.content) for one in turns] for turns in self.turns().values()]

    def transcripts(self) -> list[Path]:
        """Return the transcripts that Claude Code wrote for its sessions."""
        return sorted(self.claude.glob("projects/*/*.jsonl"))

    def close(self) -> None:
        """Stop the model, and take what large files the agents left."""
        self.api.close()
        shutil.rmtree(self.home / ".codex", ignore_errors=True)


def ended(process: subprocess.Popen[str]) -> str:
    """Wait for a program that has to succeed, and return what it printed."""
    try:
        out, err = process.communicate(timeout=LONGEST)
    except subprocess.TimeoutExpired:
        killed(process)
        raise
    assert process.returncode == 0, out + err
    return out


def killed(process: subprocess.Popen[str]) -> None:
    """Kill a program, and whatever it started, as the system does when memory runs out."""
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
