"""How much memory and time an import of a large file takes, for each format that can be that large.

Run `python -m benchmarks.importing [--megabytes N] [--formats NAME ...] [--dry-run]`. Each file is made on the fly in a
temporary folder, which needs room for it and for the workspace, and is imported by a process of its own, whose peak is
its `VmHWM`: what `getrusage` tells includes the process that started it. The words are invented and all differ.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

LIMIT = 300_000  # kilobytes that an import may take
_SAID = 20  # turns of a conversation
_CHILD = """
import sys
from pathlib import Path
from reverie.importing import Wish
from reverie.memory import Memory
from reverie.opening import Opening, make_workspace
home, source = Path(sys.argv[1]), Path(sys.argv[2])
with Memory(make_workspace(Opening(path=home / "agent", config_dir=home / "config", environment={}))) as memory:
    done = memory.import_(source, wish=Wish(dry_run=sys.argv[3] == "dry"))
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print(done.format, done.turns, done.unread, peak.split()[1])
"""


def _words(number: int, place: int) -> str:
    return f"{number}-{place} " + f"Sentence {number} about tea and harbours. " * 60


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


def _observed(number: int) -> dict[str, Any]:
    return {
        "type": "entity",
        "name": f"Thing {number}",
        "entityType": "thing",
        "observations": [_words(number, 0)[:900]],
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


def _zipped(make: Callable[[int], object], size: int, folder: Path, *, shards: int) -> Path:
    path = folder / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for shard in range(shards):
            name = f"conversations-{shard:03}.json" if shards > 1 else "conversations.json"
            with archive.open(name, "w", force_zip64=True) as member:
                for chunk in _array(lambda n, shard=shard: make(shard * 10_000_000 + n), size // shards):  # type: ignore[misc]
                    member.write(chunk)
    return path


FORMATS: dict[str, Callable[[int, Path], Path]] = {
    "chatgpt": lambda size, folder: _zipped(_chatgpt, size, folder, shards=1),
    "chatgpt-shards": lambda size, folder: _zipped(_chatgpt, size, folder, shards=5),
    "claude-ai": lambda size, folder: _plain("conversations.json", _array(_claude_ai, size), folder),
    "claude-code": lambda size, folder: _plain("session.jsonl", _lines(_claude_code, size), folder),
    "messages": lambda size, folder: _plain("messages.jsonl", _lines(_messages, size), folder),
    "memory": lambda size, folder: _plain("memory.jsonl", _lines(_observed, size), folder),
}


def measured(name: str, size: int, *, dry_run: bool) -> str:
    """Return a line on one import: its format, what came in, its peak and its time."""
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home)
        source = FORMATS[name](size, folder)
        began = time.perf_counter()
        told = subprocess.run(  # noqa: S603 - our own words
            [sys.executable, "-c", _CHILD, home, str(source), "dry" if dry_run else "wet"],
            stdout=subprocess.PIPE, text=True, check=True,
        )  # fmt: skip
        seconds = time.perf_counter() - began
        kind, turns, unread, peak = told.stdout.split()
        verdict = "within" if int(peak) < LIMIT else "ABOVE"
        return (
            f"{name:15} {source.stat().st_size / 1e6:8,.0f} MB as {kind}: {int(turns):,} turns, {unread} unread,"
            f" peak {int(peak) / 1000:,.0f} MB ({verdict} {LIMIT // 1000} MB), {seconds:,.0f} s"
        )


def main() -> None:
    """Measure what is asked for and print a line each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=2_000)
    parser.add_argument("--formats", nargs="*", choices=[*FORMATS], default=[*FORMATS])
    parser.add_argument("--dry-run", action="store_true")
    asked = parser.parse_args()
    for name in asked.formats:
        print(measured(name, asked.megabytes * 1_000_000, dry_run=asked.dry_run), flush=True)


if __name__ == "__main__":
    main()
