"""Runs what a page shows to be typed into a shell, in a home of its own, and tells what was printed."""

from __future__ import annotations

import doctest
import os
import re
import socket
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import outside
from ports import held_port
from written import blocks

TYPED = ("sh", "sh serve")  # kinds of blocks that are run as a whole
MARK = "-- block"
# What stands for the changing part of an output.
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
HOME = "/home/dana"
ID = r"\b(?:[0-9a-f]{16}|(?:dream|extract):[0-9a-f-]{15,16})\b"
# What differs from run to run, as it is written; of an id or a run it is kept what stood in its place.
DATE, TIME = r"\b\d{4}-\d\d-\d\d", r"\d\d:\d\d(?::\d\dZ?)?\b"
CHANGING = (ID, f"{DATE}T{TIME}", rf"{DATE}\b", rf"\b{TIME}", r"\b\d+\.\d\d\b", r"\.\.\.", r"\s+")
CHANGES = re.compile("|".join(f"({one})" for one in CHANGING))
SERVE = """\
{command} --port {port} > served.out 2> served.err & daemon=$!
until grep -q token: served.out; do kill -0 $daemon; done
sed 's/:{port}/:8737/' served.out
kill $daemon; wait $daemon
"""


def environment(folder: Path) -> dict[str, str]:
    """Return the environment of a person whose home is `folder`, with the programs of `outside` before all others."""
    own = str(Path(sys.executable).parent)
    place = folder / "outside"
    programs = place if place.exists() else outside.put(folder)
    return {
        "HOME": str(folder),
        "PATH": os.pathsep.join((str(programs), own, os.environ.get("PATH", ""))),
        "LC_ALL": "C.UTF-8",
        "COLUMNS": "120",
    }


def served(command: str, port: int) -> str:
    """Return what starts a daemon as shown, at a port that is free, prints what it says, and ends it."""
    return SERVE.format(command=command.strip(), port=port)


def free_port() -> int:
    """Return a port of this machine that nobody listens at."""
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return int(asked.getsockname()[1])


def shell(page: Path, folder: Path) -> list[str]:
    """Run a page's shell blocks in one shell in `folder`, and return what each printed."""
    shown = [block for block in blocks(page) if block[0] in TYPED]
    with held_port() as port:
        runs = [served(text, port) if info == "sh serve" else text for info, text in shown]
        script = "".join(f"echo '{MARK}'\n{text}" for text in runs)
        done = subprocess.run(
            ("bash", "-euo", "pipefail", "-c", script),
            cwd=folder, env=environment(folder), check=False, capture_output=True, text=True, timeout=600,
        )  # fmt: skip
    printed = done.stdout.replace(str(folder), HOME).split(f"{MARK}\n")[1:]
    assert done.returncode == 0, f"block {len(printed)} of {page.name} failed: {done.stderr}\n{printed[-1]}"
    return printed


@dataclass
class Console:
    """A terminal in which the lines of a page that begin with `$` are typed, one after another.

    The ids that the page shows stand for those that were really printed, in what is typed later too.
    """

    folder: Path
    meant: dict[str, str] = field(default_factory=dict)

    def type(self, line: str, shown: str) -> None:
        """Run one line, which has to print what the page shows below it; a page may show nothing of it."""
        done = subprocess.run(
            ("bash", "-c", self.understood(line)),
            cwd=self.folder, env=environment(self.folder) | {"REVERIE_EMBEDDER": "none"},
            check=False, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        if shown.strip():
            printed = done.stdout.replace(str(self.folder), HOME)
            found = re.fullmatch(pattern(shown), printed.strip(), re.DOTALL)
            assert found, f"{line}\nis said to print:\n{shown}\nbut printed:\n{printed}"
            self.meant |= dict(zip(re.findall(ID, shown), found.groups(), strict=True))

    def understood(self, line: str) -> str:
        """Return a line with what is really there in the place of what the page names, beginnings of ids too."""
        for shown, real in self.meant.items():
            line = line.replace(shown, real)
            for size in (8, 4):
                line = re.sub(rf"(?<= ){shown[:size]}\b", real[:size], line)
        return re.sub(r"(--(?:due|until) \"?)20[23]\d", r"\g<1>2099", line)  # what is promised lies ahead


def pattern(shown: str) -> str:
    """Return what an output has to be like: the same but for what differs from run to run, with a group for each id."""
    written: list[str] = []
    start, text = 0, shown.strip()
    for change in CHANGES.finditer(text):
        of = CHANGING[(change.lastindex or 1) - 1]
        any_of = {ID: f"({ID})", r"\.\.\.": ".*?"}.get(of, of)
        written += (re.escape(text[start : change.start()]), any_of)
        start = change.end()
    return "".join(written) + re.escape(text[start:])


def typed(text: str) -> list[tuple[str, str]]:
    """Return each line that a console block shows to be typed, and what stands below it."""
    if not text.startswith("$ "):
        return [(line, "") for line in text.splitlines()]
    parts = re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]
    return [(line, below) for line, _, below in (part.partition("\n") for part in parts)]
