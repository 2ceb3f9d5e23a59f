"""What a new process costs: importing, the help of the command, hooks, short commands, and memory."""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.ground import Ground
from benchmarks.stopwatch import Line, Times, span

IMPORT, HELP, HOOK = 0.1, 0.2, 0.12  # seconds, the last of CPU
MEGABYTES = 300

# A client's first message, sent to a server that has just been started; the answer ends the measurement.
HELLO = (
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},'
    '"clientInfo":{"name":"bench","version":"1"}}}\n'
)
_SDK = "import mcp.server.lowlevel, mcp.server.stdio"
ANSWER = 0.2  # seconds beyond the SDK's own import

# The peak that Linux keeps for the program alone; getrusage there includes the parent's, from before it was replaced.
_MEMORY = """
import pathlib, resource, sys
if len(sys.argv) > 1:
    import reverie
    from reverie import Opening
    from reverie.core.settings.value import Settings
    path, config = map(pathlib.Path, sys.argv[1:])
    memory = reverie.open(Opening(path=path, config_dir=config, environment={}, settings=Settings(zone="UTC")))
    memory.recall("what about the invoice?")
    memory.status()
peak = pathlib.Path("/proc/self/status")
if peak.exists():
    print(int(peak.read_text().partition("VmHWM:")[2].split()[0]) / 1024)
else:
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(used / (1024 * 1024 if sys.platform == "darwin" else 1024))
"""


def start(ground: Ground) -> Iterator[Line]:
    """Measure new processes in turns with bare interpreters."""
    bare, package, verbs, help_ = Times(), Times(), Times(), Times()
    for _ in range(5 if ground.quick else 15):
        bare.take(lambda: _run("-c", "pass"))
        package.take(lambda: _run("-c", "import reverie"))
        verbs.take(lambda: _run("-c", "import reverie; reverie.Memory"))
        help_.take(lambda: _run("-m", "reverie", "--help"))
    started = bare.centile(50)
    for what, times, limit, beyond in (
        ("import reverie", package, IMPORT, True),
        ("import reverie, with every verb", verbs, None, True),
        ("reverie --help", help_, HELP, False),
    ):
        took = times.centile(50) - (started if beyond else 0.0)
        yield Line(
            what=what,
            measured=f"p50 {span(took)}" + (" beyond it" if beyond else ""),
            machine=f"a bare interpreter {span(started)}",
            ratio=times.centile(50) / started,
            target=f"< {span(limit)}" if limit else "",
            met=took < limit if limit else None,
        )
    yield from _commands(ground)


def _commands(ground: Ground) -> Iterator[Line]:
    """Measure short commands and hooks by their CPU, the interpreter's own included, in turns with a bare one."""
    with ground.memory(ground.sizes[0]):
        pass
    words = ("--workspace", str(ground.path(ground.sizes[0])), "--config-dir", str(ground.config))
    talk = ground.folder / "talk.jsonl"
    talk.touch()
    asked = {
        "reverie hook Stop, nothing due": (("hook", "Stop"), _event("Stop", talk), HOOK),
        "reverie hook UserPromptSubmit": (
            ("hook", "UserPromptSubmit"),
            _event("UserPromptSubmit", talk),
            None,
        ),
        "reverie capture": (("capture", "s1", "user", "I moved to Lisbon."), "", None),
        "reverie remember": (("remember", "Dana prefers calls before noon"), "", None),
        "reverie due": (("due",), "", None),
        "reverie recall": (("recall", "when to call Dana?"), "", None),
    }
    for what, (command, given, limit) in asked.items():
        bare, took = [], []
        for _ in range(5 if ground.quick else 15):
            bare.append(_cpu("-c", "pass"))
            took.append(_cpu("-m", "reverie", *command, *words, given=given))
        usual = statistics.median(took)
        yield Line(
            what=what,
            measured=f"p50 {span(usual)} of CPU",
            machine=f"a bare interpreter {span(statistics.median(bare))}",
            ratio=usual / statistics.median(bare),
            target=f"CPU ≤ {span(limit)}" if limit else "",
            met=usual <= limit if limit else None,
        )


def _event(name: str, talk: Path) -> str:
    """Return what a hook gets on standard input."""
    told = {"hook_event_name": name, "session_id": "bench", "transcript_path": str(talk)}
    return json.dumps({**told, "prompt": "When may I call Dana?"})


def _cpu(*arguments: str, given: str = "") -> float:
    """Return the seconds of CPU that a process took from its start to its end."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run((sys.executable, *arguments), input=given, check=True, capture_output=True, text=True)  # noqa: S603 - our own words
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def mcp(ground: Ground) -> Iterator[Line]:
    """Measure from the start of `reverie mcp` to its first answer, in turns with a process that imports the SDK."""
    with ground.memory(ground.sizes[0]):
        pass
    sdk, answered = Times(), Times()
    words = ["-w", str(ground.path(ground.sizes[0])), "--config-dir", str(ground.config), "mcp"]
    for _ in range(5 if ground.quick else 15):
        sdk.take(lambda: _run("-c", _SDK))
        answered.take(lambda: _greet("-m", "reverie", *words))
    took, base = answered.centile(50), sdk.centile(50)
    yield Line(
        what="reverie mcp, to its first answer",
        measured=f"p50 {span(took)}",
        machine=f"importing the SDK {span(base)}",
        ratio=took / base,
        target=f"< it + {span(ANSWER)}",
        met=took < base + ANSWER,
    )


def memory(ground: Ground) -> Iterator[Line]:
    """Measure the most memory a process has held that opened a workspace, asked once and looked at the status."""
    empty = float(_run("-c", _MEMORY))
    for number in ground.sizes:
        with ground.memory(number) as open_:
            open_.opened.rebuild()
        used = float(_run("-c", _MEMORY, str(ground.path(number)), str(ground.config)))
        yield Line(
            what=f"memory, {number:,} entries open",
            measured=f"{used:.0f} MB",
            machine=f"a bare interpreter {empty:.0f} MB",
            ratio=used / empty,
            target=f"100,000 in < {MEGABYTES} MB" if number == 100_000 else "",
            met=used < MEGABYTES if number == 100_000 else None,
        )


def _greet(*arguments: str) -> None:
    """Start a server, greet it, and return when it has answered."""
    with subprocess.Popen(  # noqa: S603 - our own words
        (sys.executable, *arguments), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin  # noqa: S101 - it was asked for
        assert server.stdout  # noqa: S101 - as above
        server.stdin.write(HELLO)
        server.stdin.flush()
        if "serverInfo" not in server.stdout.readline():
            message = "the server did not answer"
            raise RuntimeError(message)
        server.kill()


def _run(*arguments: str) -> str:
    command: Sequence[str] = (sys.executable, *arguments)
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603 - our own words
