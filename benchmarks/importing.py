"""How much memory and time an import of a large file, or a vault, takes, for each format.

Run `python -m benchmarks.importing [--megabytes N] [--formats NAME ...] [--dry-run] [--durability os]`. Each file is
made on the fly in a temporary folder, which needs room for it and for the workspace, and is imported by a process of
its own, whose peak is its `VmHWM`: what `getrusage` tells includes the process that started it. The words are invented
and all differ.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.ground import Ground
from benchmarks.stopwatch import Line

LIMIT = 300_000  # kilobytes that an import may take
_SAID = 20  # turns of a conversation
_LONG = 2_400  # characters of a turn
_SYLLABLES = "ka lo mi ren tu sa vel no pri ga den fo shi bar ul mer".split()
_LEVEL = 1  # of compression: an export is packed, and packing it is no part of what is measured
_CHILD = """
import sys
from pathlib import Path
from reverie.importing import Wish
from reverie.memory import Memory
from reverie.opening import Opening, make_workspace
home, source = Path(sys.argv[1]), Path(sys.argv[2])
opening = Opening(path=home / "agent", config_dir=home / "config", environment={}, flags={"durability": sys.argv[4]})
with Memory(make_workspace(opening)) as memory:
    done = memory.import_(source, wish=Wish(dry_run=sys.argv[3] == "dry"))
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print(done.format, done.turns + done.facts + done.files, done.unread, peak.split()[1])
"""


@cache
def _talk() -> str:
    """Return a megabyte of invented words, which packs as prose does, to about a third."""
    drawn = random.Random(7)
    known = ["".join(drawn.choices(_SYLLABLES, k=drawn.randint(1, 4))) for _ in range(8_000)]
    return " ".join(drawn.choices(known, k=200_000))


def _words(number: int, place: int, *, long: int = _LONG) -> str:
    """Return words that no other number and place have."""
    talk = _talk()
    at = (number * 7_919 + place * 104_729) % (len(talk) - long)
    return f"{number}-{place} {talk[at : at + long]}."


def _chatgpt(number: int) -> dict[str, Any]:
    nodes: dict[str, Any] = {}
    for place in range(_SAID):
        told = {"id": f"m{number}-{place}", "author": {"role": "user" if place % 2 == 0 else "assistant"}}
        told |= {
            "create_time": 1_767_261_600 + place,
            "content": {"content_type": "text", "parts": [_words(number, place)]},
        }
        above = str(place - 1) if place else None
        nodes[str(place)] = {"id": str(place), "parent": above, "children": [], "message": told}
    return {
        "conversation_id": f"c{number}",
        "create_time": 1_767_261_600,
        "mapping": nodes,
        "current_node": str(_SAID - 1),
    }


def _claude_ai(number: int) -> dict[str, Any]:
    said = [
        {
            "uuid": f"{number}-{n}",
            "sender": "human",
            "text": _words(number, n),
            "created_at": "2026-01-01T00:00:00Z",
        }
        for n in range(_SAID)
    ]
    return {"uuid": f"c{number}", "chat_messages": said}


def _messages(number: int) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": _words(number, n)} for n in range(_SAID)]}


def _claude_code(number: int) -> dict[str, Any]:
    told = {
        "type": "user",
        "sessionId": f"cc{number // 500}",
        "uuid": f"u{number}",
        "timestamp": "2026-03-01T10:00:00Z",
    }
    return told | {"message": {"role": "user", "content": _words(number, 0)}}


def _codex(number: int) -> dict[str, Any]:
    told = {"timestamp": "2026-04-01T10:00:00Z", "type": "response_item"}
    if not number:
        return told | {"type": "session_meta", "payload": {"id": "r1"}}
    words = [{"type": "input_text", "text": _words(number, 0)}]
    return told | {"payload": {"type": "message", "role": "user", "content": words}}


def _locomo(number: int) -> dict[str, Any]:
    said = [{"speaker": "Ines", "dia_id": f"D1:{n}", "text": _words(number, n)} for n in range(_SAID)]
    talk = {"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": said}
    return {"sample_id": f"s{number}", "conversation": talk, "qa": []}


def _mem0(number: int) -> dict[str, Any]:
    return {"id": str(number), "memory": _words(number, 0, long=890), "created_at": _day(number)}


def _day(number: int) -> str:
    """Return an instant, some hundred of them a day: a memory is written over years."""
    return (
        f"{datetime(1999, 1, 1, 12, tzinfo=UTC) + timedelta(days=number // 200 % 10_000):%Y-%m-%dT%H:%M:%SZ}"
    )


def _observed(number: int) -> dict[str, Any]:
    return {
        "type": "entity",
        "name": f"Thing {number}",
        "entityType": "thing",
        "observations": [_words(number, 0, long=890)],
    }


def _array(make: Callable[[int], object], size: int) -> Iterator[bytes]:
    yield b"["
    for number, text in enumerate(_until(make, size)):
        yield (b"," if number else b"") + text
    yield b"]"


def _lines(make: Callable[[int], object], size: int) -> Iterator[bytes]:
    for text in _until(make, size):
        yield text + b"\n"


def _until(make: Callable[[int], object], size: int) -> Iterator[bytes]:
    written = number = 0
    while written < size:
        text = json.dumps(make(number)).encode()
        written += len(text)
        number += 1
        yield text


def _plain(name: str, chunks: Iterator[bytes], folder: Path) -> Path:
    with (folder / name).open("wb") as file:
        file.writelines(chunks)
    return folder / name


def _vault(size: int, folder: Path) -> Path:
    vault = folder / "vault"
    (vault / ".obsidian").mkdir(parents=True)
    for number in range(max(1, size // 100_000)):
        text = "\n\n".join(_words(number, place) for place in range(40))
        (vault / f"Note {number}.md").write_text(f"# Note {number}\n\n{text}\n", encoding="utf-8")
    return vault


def _zipped(make: Callable[[int], object], size: int, folder: Path, *, shards: int) -> Path:
    path = folder / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as archive:
        for shard in range(shards):
            name = f"conversations-{shard:03}.json" if shards > 1 else "conversations.json"
            with archive.open(name, "w", force_zip64=True) as member:
                for chunk in _array(lambda n, shard=shard: make(shard * 10_000_000 + n), size // shards):  # type: ignore[misc]
                    member.write(chunk)
    return path


FORMATS: dict[str, Callable[[int, Path], Path]] = {
    "chatgpt": lambda size, folder: _zipped(_chatgpt, size, folder, shards=1),
    "chatgpt-shards": lambda size, folder: _zipped(_chatgpt, size, folder, shards=5),
    "claude-ai": lambda size, folder: _zipped(_claude_ai, size, folder, shards=1),
    "claude-code": lambda size, folder: _plain("session.jsonl", _lines(_claude_code, size), folder),
    "messages": lambda size, folder: _plain("messages.jsonl", _lines(_messages, size), folder),
    "codex": lambda size, folder: _plain("rollout.jsonl", _lines(_codex, size), folder),
    "locomo": lambda size, folder: _plain("locomo.json", _array(_locomo, size), folder),
    "obsidian": _vault,
    "mem0": lambda size, folder: _plain("mem0.json", _array(_mem0, size), folder),
    "memory": lambda size, folder: _plain("memory.jsonl", _lines(_observed, size), folder),
}


def _unpacked(source: Path) -> int:
    """Return the bytes that are read of a file, of the members of an archive, or of the files in a folder."""
    if source.suffix == ".zip":
        with zipfile.ZipFile(source) as archive:
            return sum(info.file_size for info in archive.infolist())
    return sum(path.stat().st_size for path in (source, *source.rglob("*")) if path.is_file())


def imports(ground: Ground) -> Iterator[Line]:
    """Measure the import of a file of each format, in a process of its own."""
    for name in FORMATS:
        size = ground.megabytes * 1_000_000
        told = measured(name, size, dry_run=False, durability="full", folder=ground.folder)
        yield Line(
            what=f"import {ground.megabytes:,} MB, {name}",
            measured=told.removeprefix(name).strip(),
            target=f"< {LIMIT // 1000} MB of memory",
            met="FAILED" not in told and "ABOVE" not in told,
        )


def measured(name: str, size: int, *, dry_run: bool, durability: str, folder: Path | None = None) -> str:
    """Return a line on one import: its format, what came in, its peak and its time, or with what error it ended."""
    with tempfile.TemporaryDirectory(dir=folder) as home:
        source = FORMATS[name](size, Path(home))
        began = time.perf_counter()
        told = subprocess.run(  # noqa: S603 - our own words
            [sys.executable, "-c", _CHILD, home, str(source), "dry" if dry_run else "wet", durability],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        seconds = time.perf_counter() - began
        if told.returncode:
            last = (told.stderr.strip().splitlines() or ["it said nothing"])[-1]
            return f"{name:15} FAILED after {seconds:,.0f} s with exit code {told.returncode}: {last}"
        *kinds, came, unread, peak = told.stdout.split()
        verdict = "within" if int(peak) < LIMIT else "ABOVE"
        return (
            f"{name:15} {_unpacked(source) / 1e6:8,.0f} MB as {' '.join(kinds)}: {int(came):,} stored, {unread} unread,"
            f" peak {int(peak) / 1000:,.0f} MB ({verdict} {LIMIT // 1000} MB), {seconds:,.0f} s"
        )


def main() -> None:
    """Measure what is asked for and print a line each; exit code 1 when one failed or took too much memory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=2_000)
    parser.add_argument("--formats", nargs="*", choices=[*FORMATS], default=[*FORMATS])
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--durability", choices=["full", "os"], default="full")
    asked = parser.parse_args()
    wrong = 0
    for name in asked.formats:
        told = measured(name, asked.megabytes * 1_000_000, dry_run=asked.dry_run, durability=asked.durability)
        wrong += "FAILED" in told or "ABOVE" in told
        print(told, flush=True)
    raise SystemExit(wrong > 0)


if __name__ == "__main__":
    main()
