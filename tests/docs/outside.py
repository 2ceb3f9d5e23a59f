"""Programs that guides call and that are not Reverie: put in their place, they note how they were called.

What was noted is judged by `faults`: whether `pip` was asked for an extra that there is, `make` for a
target, and so on.
"""

from __future__ import annotations

import json
import re
import stat
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from typing import TYPE_CHECKING

from written import ROOT

from reverie.surface.cli.main import load

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PROGRAMS = ("pip", "make", "claude", "systemctl", "crontab", "python")
CALLS = "called.jsonl"
NOTE = """\
#!{python}
import json, pathlib, sys
with pathlib.Path({calls!r}).open("a") as file:
    file.write(json.dumps([{name!r}, *sys.argv[1:]]) + "\\n")
if {name!r} == "crontab":
    table = pathlib.Path({calls!r}).with_name("crontab")
    if sys.argv[1:] == ["-"]:
        table.write_bytes(sys.stdin.buffer.read())
    elif not table.exists():
        sys.exit("no crontab for dana")
    else:
        sys.stdout.buffer.write(table.read_bytes())
"""


def put(folder: Path) -> Path:
    """Put the programs into a folder that is made, and return it."""
    place = folder / "outside"
    place.mkdir()
    for name in PROGRAMS:
        program = place / name
        program.write_text(NOTE.format(python=sys.executable, calls=str(folder / CALLS), name=name))
        program.chmod(stat.S_IRWXU)
    return place


def faults(folder: Path) -> list[str]:
    """Return which of the calls that were noted in a folder cannot be meant."""
    noted = folder / CALLS
    lines = noted.read_text().splitlines() if noted.exists() else []
    return [fault for line in lines for fault in _judged(json.loads(line))]


def _judged(call: list[str]) -> Iterator[str]:
    program, *words = call
    if program == "pip":
        extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
        wanted = {
            one for word in words for named in re.findall(r"\[(.+)\]", word) for one in named.split(",")
        }
        yield from (f"there is no extra {one}" for one in wanted - set(extras))
    elif program == "make":
        targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
        yield from (f"there is no target {word}" for word in words if "=" not in word and word not in targets)
    elif program == "python":
        yield from _of_python(words)
    elif program == "claude" and "--" in words:
        _, command, *rest = words[words.index("--") + 1 :]
        load(command).make_context(command, rest)  # raises when it could not be called so


def _of_python(words: list[str]) -> Iterator[str]:
    """Judge `python -m MODULE …`, by what the module's own help says that it takes."""
    if words[:1] != ["-m"] or find_spec(words[1]) is None:
        yield f"there is no {words}"
        return
    told = subprocess.run(
        (sys.executable, "-m", words[1], "--help"),
        cwd=ROOT, capture_output=True, text=True, check=True, timeout=120,
    ).stdout  # fmt: skip
    yield from (
        f"{words[1]} takes no {word}" for word in words[2:] if word.startswith("-") and word not in told
    )
