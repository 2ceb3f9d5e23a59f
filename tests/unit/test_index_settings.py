"""The index by its settings, through the verbs: another backend, another address, a package that is not there."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from desk import Desk

from reverie.errors import BadSettings, IndexUnavailable
from reverie.testing import ToyEmbedder

if TYPE_CHECKING:
    from pathlib import Path


def bytes_of(folder: Path) -> bytes:
    """Return all bytes in a folder."""
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


@pytest.fixture
def _lancedb() -> None:
    """Skip where the extra is not installed."""
    pytest.importorskip("lancedb", reason="the extra `lancedb` is not installed")


@pytest.mark.usefixtures("_lancedb")
def test_each_verb_works_on_lancedb(tmp_path: Path) -> None:
    """Remember, recall, forget, reindex and check do the same on the other backend."""
    with Desk(tmp_path, index="lancedb") as desk:
        memory = desk.again(embedder=ToyEmbedder(synonyms={"automobile": "car"}))
        car = memory.remember("User drives a red car").id
        memory.remember("User drinks tea")
        memory.consolidate()
        assert memory.recall("automobile").hits[0].text == "User drives a red car"
        assert memory.recall("tea").hits[0].text == "User drinks tea"
        memory.forget([car])
        assert [hit.text for hit in memory.recall("red automobile tea").hits] == ["User drinks tea"]
        memory.reindex()
        assert [hit.text for hit in memory.recall("red automobile tea").hits] == ["User drinks tea"]
        assert memory.check() == ()


@pytest.mark.usefixtures("_lancedb")
def test_an_erase_reaches_an_index_at_another_address(tmp_path: Path) -> None:
    """Tables outside the workspace hold nothing of what was erased; a dry run leaves them as they are."""
    away = tmp_path / "away"
    with Desk(tmp_path / "home", index="lancedb", index_url=str(away)) as desk:
        memory = desk.memory
        secret = memory.remember("User hides zanzibarish pearls").id
        memory.remember("User drinks tea")
        memory.drain()
        memory.reindex()
        assert b"zanzibarish" in bytes_of(away)
        memory.erase([secret], dry_run=True)
        assert b"zanzibarish" in bytes_of(away)
        memory.erase([secret])
        assert b"zanzibar" not in bytes_of(away)
        assert [hit.text for hit in memory.recall("zanzibarish pearls tea").hits] == ["User drinks tea"]
        memory.reindex()
        assert b"zanzibar" not in bytes_of(away)


def test_a_backend_that_is_not_installed_is_named_with_its_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the extra a recall on LanceDB is refused with the command that installs it, and nothing else breaks."""
    monkeypatch.setitem(sys.modules, "lancedb", None)
    with Desk(tmp_path, index="lancedb") as desk:
        desk.memory.remember("User drinks tea")
        desk.memory.drain()
        with pytest.raises(IndexUnavailable, match=r"pip install 'reverie\[lancedb\]'"):
            desk.memory.recall("tea")
        assert [one.entry.text for one in desk.memory.list()] == ["User drinks tea"]


@pytest.mark.parametrize("line", ['index = "lancedb"', 'index_url = "elsewhere"'])
def test_the_address_is_the_users_to_choose(tmp_path: Path, line: str) -> None:
    """A workspace's own file may name neither the backend nor where its tables lie."""
    with Desk(tmp_path) as desk:
        (desk.root / "reverie.toml").write_text(f"{line}\n")
        with pytest.raises(BadSettings, match="may not be set by a workspace"):
            desk.again()
