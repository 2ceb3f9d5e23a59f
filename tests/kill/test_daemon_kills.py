"""A daemon killed again and again under clients that ask again when an answer was lost: nothing lost or doubled."""

from __future__ import annotations

import http.client
import json
import os
import random
import signal
import subprocess
import sys
import threading
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from ports import held_port

from reverie.core.where import Where
from reverie.entrance import Opening
from reverie.memory import Memory
from reverie.opening import make_workspace, open_workspace
from reverie.store import sessions

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KILLS = 4
CLIENTS = 2
BASE = "/v1/workspaces/agent"


class Estate:
    """A root with one workspace, the daemon that serves it at one port, and what its clients were told."""

    def __init__(self, home: Path, port: int) -> None:
        """Make the workspace."""
        self.home, self.port, self.token = home, port, ""
        self.ended = threading.Event()
        self.entries: dict[str, str] = {}
        self.turns: set[tuple[str, str]] = set()
        self.gone: set[str] = set()
        self.wrong: list[Any] = []
        Memory(make_workspace(self.opening)).close()

    @property
    def opening(self) -> Opening:
        """How the workspace is opened beside the daemon."""
        return Opening(
            path=self.home / "root" / "agent", config_dir=self.home / "config", flags={"zone": "UTC"}
        )

    def start(self) -> subprocess.Popen[str]:
        """Start a daemon at the port, and return it once it serves."""
        words = ["serve", "--root", str(self.home / "root"), "--port", str(self.port), "--json"]
        command = [sys.executable, "-P", "-m", "reverie", "--config-dir", str(self.home / "config"), *words]
        environment = {**os.environ, "HOME": str(self.home), "REVERIE_EMBEDDER": "none"}
        daemon = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert daemon.stdout
        told = json.loads(daemon.stdout.readline())
        daemon.stdout.close()
        with open(told["token_file"], encoding="utf-8") as file:  # noqa: PTH123 - it is told as text
            self.token = file.read().strip()
        return daemon

    def ask(self, path: str, body: object) -> Any:
        """Send one request until it is answered, and return its value; whatever may be tried again is."""
        headers = {"authorization": f"Bearer {self.token}", "content-type": "application/json"}
        while True:
            try:
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
                connection.request("POST", BASE + path, json.dumps(body), headers)
                answer = connection.getresponse()
                told = json.loads(answer.read())
                connection.close()
            except (OSError, http.client.HTTPException, ValueError):
                if self.ended.wait(0.05):
                    return {}
                continue  # the daemon is not there, or went before it had answered
            if answer.status == 200:
                return told
            if not told.get("retryable"):
                return told

    def work(self, number: int) -> None:
        """Remember, capture, forget and consolidate, each thing under a key of its own, until the end."""
        lots, step = random.Random(number), 0
        while not self.ended.is_set():
            step += 1
            text = f"Client {number} put box {step} on shelf {step % 5}"
            told = self.ask("/entries", {"text": text, "key": f"{number}-{step}"})
            self._keep(told, text)
            session, turn = f"s{number}-{step % 3}", f"t{number}-{step}"
            body = {
                "session": session,
                "role": "user",
                "content": f"I like harbour {number}-{step}.",
                "id": turn,
            }
            if "n" in self.ask("/turns", body):
                self.turns.add((session, turn))
            if step % 4 == 0:
                kept = list(self.entries.items())  # at once: the other client goes on
                mine = [one for one, said in kept if said.startswith(f"Client {number} ")]
                name = lots.choice(sorted(set(mine) - self.gone))
                told = self.ask("/forget", {"ids": [name]})
                if name in told.get("ids", ()) or "is forgotten" in told.get("detail", ""):
                    self.gone.add(name)
                else:
                    self.wrong.append(told)
            if step % 6 == 0 and "stages" not in (told := self.ask("/consolidate", {})):
                self.wrong.append(told)

    def _keep(self, told: Any, text: str) -> None:
        if told.get("id"):
            self.entries[told["id"]] = text
        else:
            self.wrong.append(told)


@pytest.fixture
def port() -> Iterator[int]:
    """A port for one daemon after another."""
    with held_port() as held:
        yield held


@pytest.mark.slow
def test_a_killed_daemon_loses_and_doubles_nothing(tmp_path: Path, port: int) -> None:
    """What clients asked again under one key until it was answered is there once, what was forgotten is not (P-02)."""
    estate, lots = Estate(tmp_path, port), random.Random(11)
    daemon = estate.start()
    clients = [threading.Thread(target=estate.work, args=(number,), daemon=True) for number in range(CLIENTS)]
    for one in clients:
        one.start()
    try:
        for by in [signal.SIGKILL] * (KILLS - 1) + [signal.SIGTERM]:
            enough, moment = len(estate.entries) + 6, threading.Event()
            while len(estate.entries) < enough and estate.wrong == []:
                moment.wait(0.05)
            moment.wait(lots.random() / 2)  # anywhere in what comes next
            daemon.send_signal(by)
            daemon.wait(60)
            daemon = estate.start()
    finally:
        estate.ended.set()
        for one in clients:
            one.join(90)
        daemon.kill()
        daemon.wait()
    assert estate.wrong == []
    assert len(estate.entries) >= 6 * KILLS
    assert estate.gone
    with Memory(open_workspace(estate.opening)) as memory:
        memory.drain()
        every = memory.list(Where(include_previous=True, include_faded=True))
        held = Counter(one.entry.text for one in every)
        left = {text for name, text in estate.entries.items() if name not in estate.gone}
        assert {text: held[text] for text in left} == dict.fromkeys(left, 1)
        assert not estate.gone & {one.entry.id for one in every}
        said = Counter(
            (name, turn.id)
            for name in memory.opened.sessions()
            for turn in sessions.read(memory.opened.ws, name)
        )
        assert {turn: said[turn] for turn in estate.turns} == dict.fromkeys(estate.turns, 1)
        assert [one for one in memory.check() if one.severity == "error"] == []
