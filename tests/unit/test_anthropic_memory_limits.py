"""Anthropic's memory tool over `files/`: what it refuses, what nobody is shown, and what reaches its files."""

from __future__ import annotations

import os
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from tool_memory import refused, said, tool_memory

import reverie
from reverie import Memory, Opening
from reverie.adapters.anthropic_memory import VIEWED, handle
from reverie.core.formats import tool_files
from reverie.store.hosts import files
from reverie.store.versions.git import History, blob_id
from reverie.testing import FixedClock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SECRET = "ghp_" + "16C7e42F292c6912E771" + "0c838347Ae178B4a"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """Return a new memory."""
    with tool_memory(tmp_path) as made:
        yield made


WAYS_OUT = [
    "/memories/../reverie.toml",
    "/memories/a/../../reverie.toml",
    "/memories/..",
    "/memories/a/../b.md",
    "/memories/ ../x",
    "/memories/%2e%2e/reverie.toml",
    "/memories/%2e%2e%2freverie.toml",
    "/memories/%252e%252e%252freverie.toml",
    "/memories/..%2freverie.toml",
    "/memories/..\\reverie.toml",
    "/memories/..%5creverie.toml",
    "/memories%2f..%2freverie.toml",
    "/memories/a\0.md",
    "/memoriesX/a.md",
    "/etc/passwd",
    "memories/a.md",
    "../memories/a.md",
    "",
    "/",
    "/memories/CON",
    "/memories/nul.txt",
    "/memories/a:stream",
    "/memories/a\n.md",
    "/memories/trailing.",
    "/memories/trailing ",
    "/memories/" + "x" * 300,
    "/memories/" + "d/" * 40 + "x",
    "/memories/.~reverie-0123",
    "/memories/\ud800",
]


@pytest.mark.parametrize("path", WAYS_OUT)
def test_no_path_leads_out(memory: Memory, path: str) -> None:
    """Whatever way a path takes out of `/memories`, every command refuses it and nothing is touched (P-18)."""
    outside = (memory.root / "reverie.toml").read_bytes()
    said(memory, "create", path="/memories/in.md", file_text="in")
    for given in (
        {"command": "view", "path": path},
        {"command": "create", "path": path, "file_text": "x"},
        {"command": "str_replace", "path": path, "old_str": "zone", "new_str": "x"},
        {"command": "insert", "path": path, "insert_line": 0, "insert_text": "x"},
        {"command": "delete", "path": path},
        {"command": "rename", "old_path": path, "new_path": "/memories/got"},
        {"command": "rename", "old_path": "/memories/in.md", "new_path": path},
    ):
        assert handle(memory, given).is_error, given
    assert (memory.root / "reverie.toml").read_bytes() == outside
    assert [one.name for one in (memory.root / "files").iterdir()] == ["in.md"]


@pytest.mark.parametrize("name", ["100%.md", "a b.md", "日记.md", "a..b", "con-fig.md", "%41.md"])
def test_ordinary_names_are_taken(memory: Memory, name: str) -> None:
    """A name that only looks a little odd is a name."""
    said(memory, "create", path=f"/memories/{name}", file_text="x")
    assert f"/memories/{name}" in said(memory, "view", path="/memories")


def test_links_are_not_followed(memory: Memory, tmp_path: Path) -> None:
    """A symbolic link, to a file or a folder, and a hard link are neither read, listed, changed nor gone through."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("the launch code")
    (memory.root / "files/link.txt").symlink_to(outside / "secret.txt")
    (memory.root / "files/folder").symlink_to(outside)
    os.link(outside / "secret.txt", memory.root / "files/hard.txt")
    for path in ("link.txt", "hard.txt", "folder/secret.txt", "folder"):
        for given in (
            {"command": "view", "path": f"/memories/{path}"},
            {"command": "str_replace", "path": f"/memories/{path}", "old_str": "code", "new_str": "x"},
            {"command": "insert", "path": f"/memories/{path}", "insert_line": 0, "insert_text": "x"},
            {"command": "create", "path": f"/memories/{path}", "file_text": "x"},
        ):
            done = handle(memory, given)
            assert done.is_error, given
            assert "launch" not in done.text
    assert handle(memory, {"command": "create", "path": "/memories/folder/new", "file_text": "x"}).is_error
    assert handle(memory, {"command": "delete", "path": "/memories/folder/secret.txt"}).is_error
    assert said(memory, "view", path="/memories").endswith("\t/memories")
    assert (outside / "secret.txt").read_text() == "the launch code"
    assert [one.name for one in outside.iterdir()] == ["secret.txt"]
    places = [one.place for one in memory.check()]
    assert {"files/link.txt", "files/folder", "files/hard.txt"} <= set(places)


def test_secrets_do_not_reach_the_disk(memory: Memory) -> None:
    """A secret is taken out of what is created, replaced or inserted, also where it comes together in pieces (R-44)."""
    said(memory, "create", path="/memories/a.md", file_text=f"token {SECRET}\nhere ghp_HALF\n")
    said(memory, "insert", path="/memories/a.md", insert_line=0, insert_text=f"key {SECRET}")
    said(memory, "str_replace", path="/memories/a.md", old_str="ghp_HALF", new_str=SECRET)
    assert SECRET not in (memory.root / "files/a.md").read_text()
    assert "secret" in refused(memory, "create", path=f"/memories/{SECRET}.md", file_text="x")


def test_an_excluded_topic_is_refused(memory: Memory) -> None:
    """A topic that is never stored is stored through no tool either."""
    memory.exclude("cricket")
    with reverie.open(memory.opened.opening) as again:
        assert "never stored" in refused(again, "create", path="/memories/c.md", file_text="Plays cricket.")
        assert "never stored" in refused(again, "create", path="/memories/cricket.md", file_text="x")
        said(again, "create", path="/memories/c.md", file_text="Plays chess.")
        assert "never stored" in refused(
            again, "str_replace", path="/memories/c.md", old_str="chess", new_str="cricket"
        )


def test_what_is_too_large_is_refused(memory: Memory) -> None:
    """A file has a most it may hold, an edit keeps to it, and a long file is viewed in parts."""
    assert "split it" in refused(
        memory, "create", path="/memories/a.md", file_text="x" * (files.MOST_BYTES + 1)
    )
    text = "".join(f"{n:06d} {'y' * 90}\n" for n in range(9_000))
    said(memory, "create", path="/memories/a.md", file_text=text)
    assert "split it" in refused(
        memory, "insert", path="/memories/a.md", insert_line=0, insert_text="z" * 200_000
    )
    seen = said(memory, "view", path="/memories/a.md")
    assert len(seen) < VIEWED + 300
    last = int(seen.splitlines()[-2].split()[0])
    assert f"[lines {last + 1} to 9001 of 9001 are left out: view them with view_range]" in seen
    rest = said(memory, "view", path="/memories/a.md", view_range=[last + 1, last + 2])
    assert f"{last:06d} yy" in rest
    with pytest.raises(Exception, match="exceeds maximum line limit of 999,999 lines"):
        tool_files.numbered("/memories/x", "\n" * 1_000_000, span=None, most=1)


def test_what_is_forgotten_is_not_shown(memory: Memory) -> None:
    """A line that says what was forgotten, and a name that does, are not shown; the others keep their numbers."""
    memory.remember("User is allergic to macadamia nuts.")
    memory.drain()
    text = "one\n- User is allergic to macadamia nuts.\n\nUser is allergic\nto macadamia nuts.\n\nsix\n"
    said(memory, "create", path="/memories/n.md", file_text=text)
    said(memory, "create", path="/memories/user-is-allergic-to-macadamia-nuts.md", file_text="x")
    memory.forget([memory.list()[0].entry.id])
    assert said(memory, "view", path="/memories/n.md").splitlines()[1:] == [
        "     1\tone",
        "     2\t[forgotten]",
        "     3\t",
        "     4\t[forgotten]",
        "     5\t[forgotten]",
        "     6\t",
        "     7\tsix",
        "     8\t",
    ]
    done = said(memory, "str_replace", path="/memories/n.md", old_str="one", new_str="first")
    assert "macadamia" not in done
    assert "macadamia" not in said(memory, "view", path="/memories")


def test_erase_reaches_the_files(memory: Memory) -> None:
    """An erase takes the words out of the memory files, and proves it."""
    memory.remember("User is allergic to macadamia nuts.")
    memory.drain()
    said(memory, "create", path="/memories/n.md", file_text="a\nUser is allergic to macadamia nuts.\nb\n")
    memory.dream(now=True)
    done = memory.erase([memory.list()[0].entry.id])
    assert "files/n.md" in done.places
    assert not done.leftovers
    assert "macadamia" not in said(memory, "view", path="/memories/n.md")
    assert said(memory, "view", path="/memories/n.md").endswith("     3\tb\n     4\t")


def test_an_export_brings_the_files_along(memory: Memory, tmp_path: Path) -> None:
    """An export holds the memory files byte for byte, and its import into an empty workspace too (R-30)."""
    said(memory, "create", path="/memories/a/b.md", file_text="日本\r\n")
    memory.export(tmp_path / "out")
    opening = Opening(path=tmp_path / "new", config_dir=tmp_path / "config", environment={"TZ": "UTC"})
    with reverie.init(opening) as other:
        other.import_(tmp_path / "out")
        assert (other.root / "files/a/b.md").read_bytes() == "日本\r\n".encode()


def test_the_history_keeps_the_files(memory: Memory) -> None:
    """What a tool wrote is committed with the next dream, so that it can be brought back."""
    said(memory, "create", path="/memories/a.md", file_text="before\n")
    memory.remember("User likes tea")
    memory.drain()
    given = memory.opened.opening
    tomorrow = FixedClock(memory.opened.ws.clock() + timedelta(days=1))
    later = Opening(
        path=given.path, config_dir=given.config_dir, environment=given.environment, clock=tomorrow
    )
    with reverie.open(later) as opened:
        assert opened.dream(now=True).result != "nothing"
        history = History(opened.opened.ws)
        assert history.tree(history.head())["files/a.md"] == blob_id(b"before\n")
