"""The effect gates: who writes, who starts processes, who asks the clock, chance and environment, who catches all."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import pytest

from source import Names, calls, demand, package, parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from source import Source

# Modules outside store/ and index/ that write or start processes, each with its reason.
WRITERS: Mapping[str, str] = {
    "reverie.testing": "CrashDisk tears files on purpose, as a crash would",
    "reverie.surface.mcp.keeping": "it runs `reverie consolidate` in a process of its own, so that no answer waits",
}

# Modules outside config that touch the environment, each with its reason.
VARIABLES: Mapping[str, str] = {
    "reverie.surface.cli.main": "a shell asks for completion by a variable, before anything may be loaded",
    "reverie.index.lance": "LanceDB writes to the terminal unless a variable forbids it beforehand",
    "reverie.index.embed.downloaded": "onnxruntime reports about the machine unless a variable forbids it beforehand",
}

_WRITING_OS = (
    "chmod chown copy_file_range fchmod fchown fdatasync fsync ftruncate lchown link makedirs mkdir mkfifo mknod open "
    "pwrite pwritev remove removedirs rename renames replace rmdir sendfile symlink sync truncate unlink utime write "
    "writev abort execl execle execlp execlpe execv execve execvp execvpe fork forkpty kill killpg popen posix_spawn "
    "posix_spawnp spawnl spawnle spawnlp spawnlpe spawnv spawnve spawnvp spawnvpe system"
)
WRITING_OS = re.compile(rf"os\.({'|'.join(_WRITING_OS.split())})")
WRITING_MODULES = re.compile(
    r"(subprocess|multiprocessing|pty|tempfile|fcntl|msvcrt|sqlite3|dbm|shelve|mmap"
    r"|shutil\.(?!get_terminal_size\b|which\b|disk_usage\b)|zipfile\.(?!(ZipFile|BadZipFile|ZipInfo)$)|tarfile)\b.*"
    r"|concurrent\.futures\.(process\.)?ProcessPoolExecutor|asyncio\.create_subprocess_\w+"
)
WRITING_METHODS = re.compile(
    r"(?P<owner>.*)\.(write_text|write_bytes|mkdir|touch|unlink|rename|rmdir|symlink_to|hardlink_to|chmod|lchmod)"
)
OPENERS = re.compile(r"(builtins|io|codecs|gzip|bz2|lzma)\.open|zipfile\.ZipFile|.*\.open")

CLOCKS = re.compile(r"(\w+\.)*(datetime\.(now|utcnow|today)|date\.today)|time\.\w+")
CHANCE = re.compile(
    r"(random|secrets|uuid|numpy\.random)\.\w.*|os\.(urandom|getrandom|getpid)|builtins\.(hash|id)"
)
WORLD = re.compile(
    r"builtins\.(open|print|input|breakpoint|exec|eval|compile|__import__)|(os|sys|socket)\.\w.*|io\.open\w*"
)
ENVIRONMENT = re.compile(r"os\.(environb?|getenvb?|putenv|unsetenv)")
WIDE = {"Exception", "BaseException"}


def writes(source: Source) -> Iterator[str]:
    """Yield each call that changes a file or starts a process, outside the folders that may."""
    if source.folder in {"store", "index"} or source.module in WRITERS:
        return
    for name, call in calls(source):
        method = WRITING_METHODS.fullmatch(name)
        # `disk.rename` is the store's own disk, which is what everybody else is to use.
        by_method = method is not None and not method["owner"].endswith("disk") and "reverie." not in name
        by_name = WRITING_OS.fullmatch(name) or WRITING_MODULES.fullmatch(name)
        if by_method or by_name or _opens_for_writing(name, call) or _replaces_path(name, call):
            yield f"{source.where(call)}: {name.lstrip('?').removeprefix('builtins.')}"


def _opens_for_writing(name: str, call: ast.Call) -> bool:
    """Tell whether the call opens a file in a mode that is not certainly reading."""
    if not OPENERS.fullmatch(name) or name.startswith("reverie."):
        return False
    place = 0 if name.startswith("?") or name.endswith("Path().open") else 1
    given = [keyword.value for keyword in call.keywords if keyword.arg == "mode"] or call.args[
        place : place + 1
    ]
    if not given:
        return False
    mode = given[0].value if isinstance(given[0], ast.Constant) else None
    if mode is None:
        return not name.startswith("?")  # `memory.open(name)` is no file; `open(path, mode)` may be anything
    return isinstance(mode, str) and set(mode) <= set("rwaxbt+U") and bool(set(mode) & set("wax+"))


def _replaces_path(name: str, call: ast.Call) -> bool:
    """Tell whether `.replace` is called as only `Path.replace` is: with one argument, which `str.replace` refuses."""
    lonely = len(call.args) == 1 and not call.keywords
    return (
        lonely
        and name.endswith(".replace")
        and (name.startswith("?") or "Path()" in name)
        and "disk" not in name
    )


def chances(source: Source) -> Iterator[str]:
    """Yield each use in core of the clock, of chance, or of the world outside."""
    if source.folder != "core":
        return
    for name, node in _uses(source):
        if CLOCKS.fullmatch(name) or CHANCE.fullmatch(name) or WORLD.fullmatch(name):
            yield f"{source.where(node)}: {name.removeprefix('builtins.')}"


def environment_reads(source: Source) -> Iterator[str]:
    """Yield each look at the environment outside `config`."""
    if source.module == "reverie.config" or source.module in VARIABLES:
        return
    for name, node in _uses(source):
        if ENVIRONMENT.fullmatch(name):
            yield f"{source.where(node)}: {name}"


def _uses(source: Source) -> Iterator[tuple[str, ast.expr]]:
    """Yield every name and attribute the file reads, resolved; a function handed on counts like one called."""
    names = Names(source)
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            yield names.of(node), node


def broad_excepts(source: Source) -> Iterator[str]:
    """Yield each catch-all outside surface/, and each in surface/ without a comment that gives its reason."""
    names = Names(source)
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ExceptHandler):
            caught = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
            wide = any(item is None or names.of(item).removeprefix("builtins.") in WIDE for item in caught)
        elif isinstance(node, ast.Call) and names.of(node.func) == "contextlib.suppress":
            wide = any(names.of(item).removeprefix("builtins.") in WIDE for item in node.args)
        else:
            continue
        if wide and not (source.folder == "surface" and _has_reason(source, node.lineno)):
            yield f"{source.where(node)}: a catch-all"


def _has_reason(source: Source, line: int) -> bool:
    """Tell whether a comment of at least three words stands on `line` or alone just before or after it."""
    lines = source.text.split("\n")
    near = [lines[line - 1].partition("#")[2]]
    near += [text.strip()[1:] for text in lines[max(line - 2, 0) : line + 1] if text.strip().startswith("#")]
    return any(len(re.sub(r"noqa:?[\sA-Z0-9,]*", "", comment).split()) >= 3 for comment in near)


def test_only_the_store_writes() -> None:
    """Files are written and processes started in store/ alone; index/ keeps its own derived files."""
    findings = [finding for source in package() for finding in writes(source)]
    demand(findings, "Write through store.disk, so that one module decides what is synced, in which order.")


def test_core_asks_neither_clock_nor_chance() -> None:
    """Core reads no clock, draws no id and no chance, and touches nothing outside its arguments."""
    findings = [finding for source in package() for finding in chances(source)]
    demand(findings, "Pass the instant, the id or the text in: core decides from values.")


def test_only_config_reads_the_environment() -> None:
    """The environment is read once, in config.py."""
    findings = [finding for source in package() for finding in environment_reads(source)]
    demand(findings, "Add a setting in core/settings/value.py and read it from the Settings value.")


def test_catch_alls_stand_at_the_edge() -> None:
    """A broad except stands in surface/ only, with a comment that gives its reason."""
    findings = [finding for source in package() for finding in broad_excepts(source)]
    demand(
        findings,
        "Catch what you can handle; in a surface's outermost frame, say in a comment why all is caught.",
    )


@pytest.mark.parametrize(
    "text",
    [
        "open(p, 'w')",
        "open(p, mode='ab')",
        "open(p, mode)",
        "import io\nio.open(p, 'r+')",
        "import gzip\ngzip.open(p, 'wb')",
        "p.open('x')",
        "from pathlib import Path\nPath(p).open('w')",
        "from pathlib import Path\nPath(p).write_text('')",
        "p.unlink()",
        "(a / b).mkdir(parents=True)",
        "p.replace(q)",
        "p.rename(q)",
        "import os\nos.replace(a, b)",
        "import os as system\nsystem.open(p, 0)",
        "from os import rename as move\nmove(a, b)",
        "import os\nos.fork()",
        "import shutil\nshutil.rmtree(p)",
        "import subprocess\nsubprocess.run([])",
        "from subprocess import run\nrun([])",
        "import tempfile\ntempfile.mkdtemp()",
        "import sqlite3\nsqlite3.connect(p)",
        "from concurrent.futures import ProcessPoolExecutor\nProcessPoolExecutor()",
    ],
)
def test_a_write_is_found(text: str) -> None:
    """Each way to change a file or start a process is found outside store/ and left alone inside."""
    assert len(list(writes(parse("src/reverie/drain.py", text)))) == 1
    assert not list(writes(parse("src/reverie/store/filesystem/disk.py", text)))


@pytest.mark.parametrize(
    "text",
    [
        "open(p)",
        "open(p, 'rb')",
        "open(p, encoding='utf-8')",
        "p.open()",
        "import os\nos.path.join(a, b)\nos.stat(p)",
        "text.replace('a', 'b')",
        "when.replace(tzinfo=None)",
        "import dataclasses\ndataclasses.replace(a, b=1)",
        "ws.disk.replace(path, data)\ndisk.rename(a, b)",
        "import reverie\nreverie.open(path)",
        "memory.open('week')",
        "import shutil\nshutil.get_terminal_size()",
        "import sys\nsys.stdout.write('')",
        "def open(path, mode): ...\nopen(a, b)",
    ],
)
def test_reading_is_left_alone(text: str) -> None:
    """Reading, and words that only look like writing, are left alone."""
    assert not list(writes(parse("src/reverie/surface/cli/main.py", text)))


@pytest.mark.parametrize(
    "text",
    [
        "from datetime import datetime\ndatetime.now()",
        "import datetime as dt\ndt.datetime.utcnow()",
        "from datetime import date\nf = date.today",
        "import time\ntime.time()",
        "from time import monotonic\nmonotonic()",
        "import random\nrandom.random()",
        "from uuid import uuid4\nuuid4()",
        "import os\nos.urandom(8)",
        "hash('a')",
        "print('a')",
        "open('a')",
    ],
)
def test_clock_and_chance_are_found(text: str) -> None:
    """Each look at the clock, at chance or at the world is found in core, and only there."""
    assert list(chances(parse("src/reverie/core/days.py", text)))
    assert not list(chances(parse("src/reverie/memory.py", text)))


def test_the_environment_is_found() -> None:
    """A look at the environment is found everywhere but in config."""
    text = "import os\nfrom os import environ\na = os.environ['A']\nb = environ.get('B')\nc = os.getenv('C')"
    assert len(list(environment_reads(parse("src/reverie/store/filesystem/disk.py", text)))) == 3
    assert not list(environment_reads(parse("src/reverie/config.py", text)))


@pytest.mark.parametrize(
    "text",
    [
        "try:\n    f()\nexcept:\n    g()",
        "try:\n    f()\nexcept Exception:\n    g()",
        "try:\n    f()\nexcept (OSError, BaseException) as error:  # noqa: BLE001\n    g()",
        "import builtins\ntry:\n    f()\nexcept builtins.Exception:\n    g()",
        "import contextlib\nwith contextlib.suppress(Exception):\n    f()",
    ],
)
def test_a_catch_all_is_found(text: str) -> None:
    """A catch-all is found in any folder when nothing says why."""
    assert list(broad_excepts(parse("src/reverie/store/filesystem/disk.py", text)))
    assert list(broad_excepts(parse("src/reverie/surface/daemon.py", text)))


def test_a_catch_all_with_its_reason_stands_in_a_surface_only() -> None:
    """A reason lets a catch-all stand in surface/, and nowhere else."""
    text = "try:\n    f()\nexcept Exception:  # the daemon outlives any one request\n    g()"
    assert not list(broad_excepts(parse("src/reverie/surface/daemon.py", text)))
    assert list(broad_excepts(parse("src/reverie/drain.py", text)))
    assert not list(broad_excepts(parse("src/reverie/drain.py", text.replace("Exception", "OSError"))))
