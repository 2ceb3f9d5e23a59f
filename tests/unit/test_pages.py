"""A notebook starts complete, people's files are theirs, and what they changed is found."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie import layout
from reverie.core.pages.active import active_content
from reverie.core.pages.blocks import Block, find_block
from reverie.core.pages.citations import citing_lines
from reverie.core.settings.value import Settings
from reverie.store import pages
from reverie.store.versions.git import PERSON, History
from reverie.store.workspace import Workspace
from reverie.testing import FixedClock, counter_ids

AT = datetime(2026, 7, 2, 3, tzinfo=UTC)


def open_at(root: Path, notebook: str = "") -> Workspace:
    """Open a workspace whose notebook may have moved; nothing waits for the medium."""
    root.mkdir(exist_ok=True)
    chosen = Settings(durability="os", notebook_path=notebook)
    return Workspace(root, chosen, clock=FixedClock(AT), new_id=counter_ids())


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """Give an empty workspace."""
    return open_at(tmp_path / "memory")


def settle(ws: Workspace) -> History:
    """Commit all that differs as a person's."""
    history = History(ws)
    head = history.head()
    changes = pages.people_changes(ws, history)
    made = history.prepare(changes, parent=head, message="By hand", author=PERSON, at=AT)
    history.publish(made.id, head)
    return history


def test_bootstrap_makes_zones_and_first_pages_once(ws: Workspace) -> None:
    """A new workspace gets zones, navigation pages, core files and a `.gitignore` of `*`; then nothing (S-14)."""
    made = pages.bootstrap(ws)
    assert len(made) == len(layout.ZONES) + 6
    assert all((ws.root / "notebook" / zone).is_dir() for zone in layout.ZONES)
    assert (ws.root / ".gitignore").read_bytes() == b"*\n"
    assert (ws.root / "USER.md").stat().st_mode & 0o777 == 0o600
    assert pages.bootstrap(ws) == ()


def test_bootstrap_adopts_a_vault_without_touching_it(ws: Workspace) -> None:
    """Whatever exists, even empty or of another form, keeps its bytes and times; only what is missing is added."""
    mine = {
        "notebook/schema.md": b"my own rules\r\n",
        "USER.md": b"",
        "notebook/2_Wiki/x.md": b"\xff",
        ".gitignore": b"!*\n",
    }
    for path, data in mine.items():
        (ws.root / path).parent.mkdir(parents=True, exist_ok=True)
        (ws.root / path).write_bytes(data)
        os.utime(ws.root / path, ns=(1, 1))
    made = pages.bootstrap(ws)
    assert not set(made) & set(mine)
    for path, data in mine.items():
        assert (ws.root / path).read_bytes() == data
        assert (ws.root / path).stat().st_mtime_ns == 1


def test_a_removed_zone_comes_back(ws: Workspace) -> None:
    """What is missing of the notebook is made again at the next open (S-14)."""
    pages.bootstrap(ws)
    (ws.root / "notebook/0_Inbox").rmdir()
    (ws.root / "notebook/log.md").unlink()
    assert pages.bootstrap(ws) == ("notebook/0_Inbox", "notebook/log.md")


def test_the_first_pages_are_clean_pages(ws: Workspace) -> None:
    """The seeds cite nothing, run nothing, and the index holds an intact empty block."""
    pages.bootstrap(ws)
    texts = {path: data.decode() for path, data in pages.snapshot(ws).items()}
    assert {path for path, text in texts.items() if citing_lines(text)} == set()
    found = find_block(texts["notebook/index.md"])
    assert isinstance(found, Block)
    assert found.intact
    assert {one.kind for text in texts.values() for one in active_content(text)} == {"comment"}


def test_a_core_file_is_untouched_until_somebody_writes(ws: Workspace) -> None:
    """The words USER.md and SOUL.md start with are told from what a person wrote."""
    pages.bootstrap(ws)
    found = pages.snapshot(ws)
    assert [path for path, data in found.items() if pages.is_untouched(path, data)] == ["USER.md", "SOUL.md"]
    assert not pages.is_untouched("USER.md", found["USER.md"] + b"Ada\n")


def test_the_schema_names_every_field_and_zone(ws: Workspace) -> None:
    """The page that explains the notebook names each zone, each front matter field and the citation form (S-16)."""
    pages.bootstrap(ws)
    schema = (ws.root / "notebook/schema.md").read_text()
    fields = (
        "type",
        "title",
        "description",
        "tags",
        "status",
        "review",
        "confidence",
        "updated",
        "stale_after",
        "sources",
    )
    assert all(f"`{name}`" in schema for name in (*layout.ZONES, *fields))
    assert "[[archive/2026-07-01#^2b47366a861a87ca]]" in schema


def test_a_snapshot_holds_what_is_tracked_and_nothing_else(ws: Workspace) -> None:
    """Core files, notebook, skills and files are tracked; other folders, dot folders and huge files are not."""
    wanted = [
        "USER.md",
        "SOUL.md",
        "MEMORY.md",
        "notebook/a.md",
        "notebook/4_Assets/p.png",
        "skills/x/SKILL.md",
        "files/f.txt",
    ]
    others = [
        "archive/2026-07-01.md",
        "notebook/.obsidian/app.json",
        "notebook/.trash/a.md",
        "sessions/s.jsonl",
        ".state/key",
        "x.md",
    ]
    for path in (*wanted, *others):
        (ws.root / path).parent.mkdir(parents=True, exist_ok=True)
        (ws.root / path).write_text(path)
    for path in ("notebook/4_Assets/film.mp4", "notebook/long.md"):
        with (ws.root / path).open("wb") as file:
            file.truncate(pages.MAX_BYTES + 1)
    assert pages.snapshot(ws) == {path: path.encode() for path in wanted}


def test_content_pages_are_markdown_without_navigation(ws: Workspace) -> None:
    """`schema.md`, `index.md` and `log.md` at the notebook's root are no content pages; deeper ones are."""
    assert pages.is_page(ws, "notebook/3_Personal/Overview.md")
    assert pages.is_page(ws, "notebook/2_Wiki/index.md")
    for path in (
        "notebook/index.md",
        "notebook/schema.md",
        "USER.md",
        "notebook/a.png",
        "notebook/.trash/a.md",
        "notebookx/a.md",
    ):
        assert not pages.is_page(ws, path)


def test_peoples_changes_are_found_by_content(ws: Workspace) -> None:
    """New, changed and deleted files differ from the newest commit, also when size and time stayed the same."""
    pages.bootstrap(ws)
    history = settle(ws)
    assert pages.people_changes(ws, history) == {}
    schema = ws.root / "notebook/schema.md"
    before = schema.stat()
    data = schema.read_bytes().replace(b"This page", b"THIS PAGE")
    schema.write_bytes(data)
    os.utime(schema, ns=(before.st_atime_ns, before.st_mtime_ns))
    (ws.root / "SOUL.md").unlink()
    (ws.root / "skills/deploy").mkdir(parents=True)
    (ws.root / "skills/deploy/SKILL.md").write_bytes(b"# Deploy\n")
    changes = pages.people_changes(ws, history)
    assert changes == {"notebook/schema.md": data, "SOUL.md": None, "skills/deploy/SKILL.md": b"# Deploy\n"}
    assert pages.people_changes(ws, settle(ws)) == {}


def test_a_missing_folder_is_no_deletion(ws: Workspace, tmp_path: Path) -> None:
    """When the whole notebook is away (a drive not mounted) its pages are not taken for deleted."""
    pages.bootstrap(ws)
    history = settle(ws)
    (ws.root / "notebook").rename(tmp_path / "elsewhere")
    assert pages.people_changes(ws, history) == {}
    (ws.root / "notebook").mkdir()
    assert set(pages.people_changes(ws, history)) == {f"notebook/{name}" for name in layout.NAVIGATION}


def test_a_file_that_may_not_be_opened_is_left_as_it_was(ws: Workspace, tmp_path: Path) -> None:
    """A page or core file replaced by a link, or grown too large, is neither read nor taken for deleted."""
    pages.bootstrap(ws)
    (ws.root / "notebook/big.bin").write_bytes(b"small")
    history = settle(ws)
    (tmp_path / "secret").write_text("outside")
    for path in ("USER.md", "notebook/log.md"):
        (ws.root / path).unlink()
        (ws.root / path).symlink_to(tmp_path / "secret")
    with (ws.root / "notebook/big.bin").open("wb") as file:
        file.truncate(pages.MAX_BYTES + 1)
    assert pages.people_changes(ws, history) == {}
    assert b"outside" not in pages.snapshot(ws).values()


def test_a_moved_notebook_has_its_zones_there(tmp_path: Path) -> None:
    """`notebook.path` moves zones, pages and tracking; pages committed at the old place are not taken for deleted."""
    old = open_at(tmp_path / "memory")
    pages.bootstrap(old)
    settle(old)
    ws = open_at(tmp_path / "memory", "my/vault")
    assert "my/vault/index.md" in pages.bootstrap(ws)
    (ws.root / "notebook/log.md").unlink()
    assert set(pages.people_changes(ws, History(ws))) == {f"my/vault/{name}" for name in layout.NAVIGATION}
    assert pages.is_page(ws, "my/vault/3_Personal/a.md")
    assert not pages.is_page(ws, "notebook/3_Personal/a.md")


FILES = st.dictionaries(
    st.sampled_from(["USER.md", "notebook/a.md", "notebook/b/c.md", "files/x"]), st.binary(max_size=8)
)


@pytest.mark.slow
@given(states=st.lists(FILES, min_size=1, max_size=4))
def test_history_follows_any_sequence_of_hand_edits(
    states: list[dict[str, bytes]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """After any edits, committing what people changed makes the newest commit equal the working files."""
    ws = open_at(tmp_path_factory.mktemp("memory"))
    for state in states:
        for path in pages.snapshot(ws):
            (ws.root / path).unlink()
        for path, data in state.items():
            (ws.root / path).parent.mkdir(parents=True, exist_ok=True)
            (ws.root / path).write_bytes(data)
        history = settle(ws)
        files = {path: history.blob(blob) for path, blob in history.tree(history.head()).items()}
        assert files == state == pages.snapshot(ws)
