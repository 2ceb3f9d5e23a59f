"""The command `demo`: the whole life of a turn, on sample conversations or a file of the user's own.

Owns the folder a demo works in; promises that nothing outside it is written, that a folder which is no demo's is left
alone, and that what was made stays there to be looked at; never uses a model, a key or the network.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from reverie.config import load
from reverie.core.text.names import slug
from reverie.core.text.plural import many
from reverie.errors import UsageError
from reverie.store.filesystem.disk import Disk
from reverie.surface.cli.demo_life import Life, begin, live
from reverie.surface.cli.demo_page import day_line, heading, pages
from reverie.surface.cli.demo_talk import Talk, sample_talks, talks_of
from reverie.surface.cli.frame import Verb, application, globals_of, print_json
from reverie.surface.render import Line, bold, dim, line, say

app = application()

_MARK = ".reverie-demo"
_CONFIG = "config"
_EXAMPLES = """\
reverie demo
reverie demo --input turns.jsonl --zone Europe/Berlin
reverie demo --input locomo10.json --keep ~/demo
"""


@app.command("demo", cls=Verb, epilog=_EXAMPLES)
def demo(
    ctx: typer.Context,
    source: Annotated[
        Path | None, typer.Option("--input", metavar="FILE", help="JSONL of turns, or a LoCoMo JSON.")
    ] = None,
    keep: Annotated[
        Path,
        typer.Option(
            "--keep", metavar="FOLDER", help="Where the workspaces go; one made by a demo is replaced."
        ),
    ] = Path("reverie-demo"),
    zone: Annotated[
        str, typer.Option(metavar="ZONE", help="The time zone of the days, such as Europe/Berlin.")
    ] = "",
    everything: Annotated[
        bool, typer.Option("--all", help="Every conversation of the file, not the first alone.")
    ] = False,
) -> None:
    """Run the whole life of a turn: capture, remember, extract, drain, dream, publish, recall.

    No model, key or network is used. The clock follows the conversation. The workspaces stay, to be looked at.
    """
    if source is None:
        talks = sample_talks(zone)
    else:
        talks = talks_of(source, zone or load(workspace=None, environment={}, config_dir=keep / _CONFIG).zone)
        talks = talks if everything else talks[:1]
    folder = Path(os.path.abspath(keep))  # noqa: PTH100 - `resolve` would follow links, and messages name another place
    _clear(folder)
    told = globals_of(ctx)
    if not told.json:
        say(
            "The life of a turn, with no model, key or network: captured, read, stored, dreamt, published, recalled."
        )
    lives = [_lived(talk, folder, quiet=told.json) for talk in talks]
    if told.json:
        print_json([_json(life) for life in lives])
    else:
        say(*_farewell(folder, lives))
    for life in lives:
        life.memory.close()


def _lived(talk: Talk, folder: Path, *, quiet: bool) -> Life:
    """Let one conversation be lived through, and show it as it goes."""
    life, clock = begin(talk, folder / slug(talk.agent), config_dir=folder / _CONFIG)
    if not quiet:
        sessions = len({turn.session for turn in talk.turns})
        said = f"  {many(len(talk.turns), 'turn')} in {many(sessions, 'session')}, days in {talk.zone}"
        say(line(""), line(heading(f"{talk.agent} and {talk.user}").parts[0], dim(said)))
    for lived in live(life, clock):
        if not quiet:
            say(day_line(lived))
    if not quiet:
        say(*pages(life))
    return life


def _json(life: Life) -> dict[str, object]:
    """Return what a demo did for programs."""
    seen = life.memory.status()
    return {
        "agent": life.talk.agent,
        "workspace": str(life.memory.root),
        "turns": len(life.ids),
        "entries": seen.entries,
        "outcomes": seen.outcomes,
        "watermark": seen.watermark,
        "redacted": [kind for one in life.redacted for kind in one.kinds],
        "refused": len(life.refused) + len(life.talk.skipped),
        "days": [{"day": one.day, "turns": one.turns, "entries": one.entries} for one in life.days],
    }


def _farewell(folder: Path, lives: list[Life]) -> Iterator[Line]:
    """Yield how to go on with what was made."""
    yield line("")
    yield heading("Look around")
    yield line(
        f"  export REVERIE_CONFIG_DIR={_typed(folder / _CONFIG)}",
        dim("   the key these were made with"),
    )
    for life in lives:
        asked = life.talk.questions[0].text if life.talk.questions else "…"
        yield line(f"  reverie -w {_typed(life.memory.root)} recall {shlex.quote(asked)}", indent=4)
    yield line(
        f"  reverie -w {_typed(lives[0].memory.root)} status", dim("   or open the folder in Obsidian")
    )
    yield line(bold(f"Nothing outside {os.path.relpath(folder)} was touched."))


def _typed(folder: Path) -> str:
    """Return a folder as it is typed into a shell from here."""
    return shlex.quote(os.path.relpath(folder))


def _clear(folder: Path) -> None:
    """Make the folder of a demo ready: new, or emptied of an earlier demo; raises UsageError for anything else."""
    disk = Disk(folder)
    if folder.is_dir() and any(folder.iterdir()):
        if disk.size(_MARK) is None:
            message = f"{folder} is not empty and was not made by a demo: name another with --keep"
            raise UsageError(message)
        for path, is_folder in _inside(folder):
            if is_folder:
                disk.remove_folder(path)
            elif path != _MARK:
                disk.remove(path)
    elif folder.exists() and not folder.is_dir():
        message = f"{folder} is a file: name a folder with --keep"
        raise UsageError(message)
    elif not folder.parent.is_dir():
        message = f"{folder.parent} does not exist: make it, or name another folder with --keep"
        raise UsageError(message)
    disk.make_folder("")
    disk.replace(_MARK, b"Made by `reverie demo`, which replaces everything in here when it runs again.\n")


def _inside(folder: Path) -> Iterator[tuple[str, bool]]:
    """Yield everything beneath a folder, what is in a folder before the folder itself, and whether it is one."""
    for at, folders, files in os.walk(folder, topdown=False):
        below = Path(at).relative_to(folder)
        for name in files:
            yield (below / name).as_posix(), False
        for name in folders:
            yield (below / name).as_posix(), True
