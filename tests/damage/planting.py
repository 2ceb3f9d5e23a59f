"""A workspace with a file of every kind, and what somebody may plant in the place of each."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from zlib import crc32

from lived import NOON, copy, live, open_memory
from rounds import MARK, NAME, Round

from reverie import layout
from reverie.adapters.anthropic_memory import handle
from reverie.context import ContextRequest
from reverie.core.records import Draft, Turn
from reverie.core.where import Where
from reverie.errors import ReverieError
from reverie.values import Put, put

WORDS = re.compile(rb"Dana|Microsoft|Lisbon|PostgreSQL|billing|coffee|Zephyr|quote")
LET_GO = ("PostgreSQL", "龙井", "deploy", "cello")  # what a round forgets, erases, hides and corrects
OPENED = (layout.STATE, layout.ORIGIN, layout.SETTINGS)  # without them nothing is opened
HIDDEN_BY = (
    layout.TOMBSTONES,
    layout.KEY,
)  # without them it is not known what is forgotten, and nothing is shown
# The verbs that answer whatever stands in the place of a file, but for those files.
ANSWERS: dict[str, tuple[str, ...]] = {
    "check": OPENED,
    "doctor": OPENED,
    "status": (*OPENED, *HIDDEN_BY),
    "list": (*OPENED, *HIDDEN_BY),
    "due": (*OPENED, *HIDDEN_BY),
    "recall": (*OPENED, *HIDDEN_BY, layout.INDEX),
    "again": (*OPENED, *HIDDEN_BY, layout.INDEX),
    "log": (*OPENED, layout.DREAMS, layout.RUNS),
    "capture": (*OPENED, layout.SESSIONS),
    "more": (*OPENED, layout.SESSIONS, f"{layout.SESSIONS}/s0-ec18eac8.jsonl"),
}


def live_fully(root: Path) -> None:
    """Live as `live` does, and also forget, keep values and files, meet a person, and have something refused."""
    live(root)
    with open_memory(root, days=1, first=1 << 36) as memory:
        memory.forget([next(one.entry.id for one in memory.list() if "Rex" in one.entry.text)])
        put(memory.opened.writable, [Put(namespace=NAME[0], key=NAME[1], value={"drinks": "tea with Dana"})])
        handle(memory, {"command": "create", "path": "/memories/a.md", "file_text": "Dana calls at noon"})
        with suppress(ReverieError):
            memory.remember("Dana sleeps late", Draft(due="some day"))
        memory.context(ContextRequest(session="s0"))
        ana = memory.person("Ana")
        ana.capture("mine", Turn(role="user", content="I keep bees with Dana.", at=NOON))
        ana.remember("Ana keeps bees with Dana")
        ana.close()
        memory.lint()
        memory.recall("Dana")


def marked(data: bytes) -> bytes:
    """Return a file's bytes saying other things: words exchanged, and each line's checksum made to hold again."""
    changed = WORDS.sub(MARK.encode(), data)
    lines = []
    for line in changed.splitlines(keepends=True):
        bare = line.rstrip(b"\n")
        if re.search(rb',"crc":"[0-9a-f]{8}"\}$', bare):
            head = bare[:-18]
            line = b'%b,"crc":"%08x"}\n' % (head, crc32(head + b"}"))  # noqa: PLW2901 - the line as it is to be
        lines.append(line)
    return b"".join(lines) + (b"" if b'"v":1' in data else b"\nThe %b lives outside.\n" % MARK.encode())


class Planted:
    """One thing planted at one place of a home: what was there lies aside, its like outside says `MARK`."""

    def __init__(self, home: Path, path: str) -> None:
        """Take what is at `path` aside and leave the place free, its folder there."""
        self.place = home / "agent" / path
        self.outside = home / "outside"
        self.aside = home / "aside"
        self.outside.mkdir()
        self.was_folder = self.place.is_dir()
        self.was_there = self.place.exists()
        self.like = self.outside / "like"
        if self.was_there:
            if self.was_folder:
                shutil.copytree(self.place, self.like)
            else:
                shutil.copy(self.place, self.like)
            self.place.rename(self.aside)
        self.place.parent.mkdir(parents=True, exist_ok=True)
        if not self.like.exists():
            self.like.write_bytes(b'{"v":1,"type":"none"}\n' if path.endswith(("json", "jsonl")) else b"x\n")
        for file in [self.like, *self.like.rglob("*")]:
            if file.is_file():
                file.write_bytes(marked(file.read_bytes()))
        self.left: tuple[int, int] | None = None

    def note(self) -> None:
        """Remember what stands there now, to know it again, and what lies outside."""
        with suppress(FileNotFoundError):
            info = self.place.lstat()
            self.left = (info.st_ino, stat.S_IFMT(info.st_mode))
        self.seen = self.contents()

    def contents(self) -> dict[str, tuple[int, bytes]]:
        """Return everything outside: modes, link counts aside, and bytes."""
        found = {}
        for path in sorted(self.outside.rglob("*")):
            info = path.lstat()
            data = path.read_bytes() if stat.S_ISREG(info.st_mode) and info.st_size < 1 << 24 else b""
            found[path.relative_to(self.outside).as_posix()] = (info.st_mode, data)
        return found

    def stands(self) -> bool:
        """Tell whether what was planted is still there."""
        try:
            info = self.place.lstat()
        except OSError:
            return False
        return self.left == (info.st_ino, stat.S_IFMT(info.st_mode))

    def remove(self, *, keep: bool) -> None:
        """Take away what was planted, or has come to stand there, and put back what was there before.

        With `keep`, what was planted was a plain file or folder: what it gained stays, behind what was there.
        """
        adds_up = self.place.suffix != ".toml"  # tables do not
        if keep and adds_up and self.was_there and self.place.exists():
            for gained in [self.place, *self.place.rglob("*")]:
                if gained.is_file():
                    held = self.aside / gained.relative_to(self.place)
                    held.parent.mkdir(parents=True, exist_ok=True)
                    with held.open("ab") as file:
                        file.write(gained.read_bytes())
        elif keep and self.place.is_file() and self.place.stat().st_size:
            return
        with suppress(FileNotFoundError):
            if stat.S_ISDIR(self.place.lstat().st_mode):
                shutil.rmtree(self.place)
            else:
                self.place.unlink()
        if self.was_there:
            self.place.parent.mkdir(parents=True, exist_ok=True)
            self.aside.rename(self.place)


def link(at: Planted) -> None:
    """Plant a symbolic link to its like outside."""
    at.place.symlink_to(at.like)


def link_to_folder(at: Planted) -> None:
    """Plant a symbolic link to a folder outside."""
    (at.outside / "folder").mkdir()
    (at.outside / "folder" / "secret.md").write_text(f"- [fact] {MARK} is a secret `x`\n")
    at.place.symlink_to(at.outside / "folder")


def dangling(at: Planted) -> None:
    """Plant a symbolic link to what is not there, and would be made by writing through it."""
    at.place.symlink_to(at.outside / "absent")


def loop(at: Planted) -> None:
    """Plant a symbolic link to itself."""
    at.place.symlink_to(at.place.name)


def hard_link(at: Planted) -> None:
    """Plant a hard link to a file outside."""
    if at.like.is_dir():
        shutil.rmtree(at.like)
        at.like.write_text(f"{MARK} is here\n")
    os.link(at.like, at.place)


def fifo(at: Planted) -> None:
    """Plant a pipe that nobody writes to."""
    os.mkfifo(at.place)


def listening(at: Planted) -> None:
    """Plant a socket."""
    before = Path.cwd()
    os.chdir(at.place.parent)  # its whole path may be longer than a socket's address
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(at.place.name[:90])
        if at.place.name[:90] != at.place.name:
            Path(at.place.name[:90]).rename(at.place.name)
    finally:
        os.chdir(before)


def device(at: Planted) -> None:
    """Plant a device that gives zeros without end."""
    os.mknod(at.place, stat.S_IFCHR | 0o600, os.makedev(1, 5))


def other_kind(at: Planted) -> None:
    """Plant a folder where a file belongs, with something in it, or a file where a folder belongs."""
    if at.was_folder:
        at.place.write_text("no folder\n")
    else:
        at.place.mkdir()
        (at.place / "inside.md").write_text("no memory\n")


def foreign(at: Planted) -> None:
    """Plant its like, owned by somebody else."""
    if at.like.is_dir():
        shutil.copytree(at.like, at.place)
    else:
        shutil.copy(at.like, at.place)
    os.chown(at.place, 12_345, 12_345)


def empty(at: Planted) -> None:
    """Plant an empty file, or an empty folder where a folder belongs."""
    if at.was_folder:
        at.place.mkdir()
    else:
        at.place.touch()


Plant = Callable[[Planted], None]
PLANTS: tuple[Plant, ...] = (
    link,
    link_to_folder,
    dangling,
    loop,
    hard_link,
    fifo,
    listening,
    device,
    other_kind,
    foreign,
    empty,
)


def known(home: Path, *, first: int = 1 << 45) -> tuple[set[str], set[str]]:
    """Return the texts of all entries and of all turns that the memory in a home has."""
    with open_memory(home, first=first) as memory:
        memory.reindex()
        entries = {one.entry.text for one in memory.list(Where(include_faded=True, include_previous=True))}
        turns = set()
        for path in sorted((home / "agent" / layout.SESSIONS).glob("*.jsonl")):
            for line in path.read_bytes().splitlines():
                with suppress(ValueError, RecursionError):
                    turns.add(json.loads(line).get("content", ""))
        return entries, turns


ABSENT = (
    layout.DRAIN_INTENT,
    layout.INSTALL_INTENT,
    layout.ERASE_INTENT,
    layout.ERASING,
    layout.LEASE,
    layout.PAUSED,
    layout.MEMBERS,
    layout.SHARED,
    layout.KEEPER_LOCK,
    layout.USAGE,
    layout.EMBEDDED_DB,
    layout.NOTED,
    layout.VECTORS,
    f"{layout.SKILLS}/tea/SKILL.md",
    f"{layout.JOURNAL_ARCHIVE}/2026-05.jsonl.gz",
    f"{layout.SEGMENTS}/20260702T120000-ffffffffffffffff.jsonl",
    f"{layout.DRAINING}/20260702T120000-fffffffffffffffe.jsonl",
    f"{layout.QUARANTINE}/remember-00000000.jsonl",
    f"{layout.ARCHIVE}/2026-06-30.md",
    f"{layout.NOTEBOOK}/3_Personal/New.md",
    f"{layout.SUMMARIES}/2026-07-02_s0-ec18eac8.md",
    f"{layout.SESSIONS}/other-d9298a10.jsonl",
    "2026-07-02.md",
    "notes/2026-07-03.md",
    f"{layout.RENDERED}/new-11507a0e.jsonl",
    f"{layout.FILES}/b.md",
    f"{layout.PEOPLE}/bob-81b637d8",
)
ONE_OF = (f"{layout.OBJECTS}/objects/",)  # folders of which one file and one folder stand for all


def places(home: Path) -> list[str]:
    """Return every path of a workspace at which something may be planted, the absent ones last."""
    base = home / "agent"
    found, met = [], set()
    for path in sorted(base.rglob("*")):
        inside = path.relative_to(base).as_posix()
        alike = next((one for one in ONE_OF if inside.startswith(one)), "")
        key = f"{alike} {path.is_dir()}" if alike else inside
        if key not in met:
            met.add(key)
            found.append(inside)
    return [*found, *(path for path in ABSENT if not (base / path).exists())]


class World:
    """A home in which everything was lived, and what its memory knew then."""

    def __init__(self, root: Path) -> None:
        """Live in a folder."""
        self.home = root / "lived"
        self.home.mkdir()
        live_fully(self.home)
        self.entries, self.turns = known(copy(self.home, root / "asked"))
        self.places = places(self.home)

    def faults(self, path: str, plant: Plant, home: Path, *, verbs: Sequence[str] = ()) -> list[str]:
        """Plant something in a copy, run verbs over it, take it away again, and return everything that went wrong."""
        copy(self.home, home)
        at = Planted(home, path)
        plant(at)
        at.note()
        done = Round(home).run(*verbs)
        found = [
            f"{name} failed: {error!r}"
            for name, error in done.errors.items()
            if name in ANSWERS and path not in ANSWERS[name]
        ]
        found += [f"{name} shows what is outside" for name, said in done.said.items() if shows(said)]
        if at.contents() != at.seen:
            found.append("something outside was changed")
        if not at.stands() and plant is not empty and not path.startswith(layout.INDEX):
            found.append("what was planted was taken away")
        at.remove(keep=plant is empty)
        entries, turns = known(home)
        lost = (self.entries | set(done.kept)) - entries | (self.turns | set(done.turns)) - turns
        found += [f"lost: {text}" for text in lost if text and not any(word in text for word in LET_GO)]
        return [f"{path} ~ {plant.__name__}: {one}" for one in found]


def shows(said: str) -> bool:
    """Tell whether a verb's answer has what only files outside say; that it repeats its question is no sign."""
    return MARK in said.replace(f"query={MARK!r}", "")
