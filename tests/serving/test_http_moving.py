"""Import as an upload and export as a stream: whole, bounded, and nothing left on the way."""

from __future__ import annotations

import io
import json
import re
import zipfile
from typing import TYPE_CHECKING, Any

import pytest
from http_world import world_at

from reverie import layout
from reverie.core.settings.http import HttpSettings
from reverie.errors import StoreUnwritable, UnsafePath, UsageError
from reverie.store.hosts import parcels
from reverie.store.hosts.parcels import Parcel, sweep, zipped

if TYPE_CHECKING:
    from pathlib import Path

    from http_world import World

CONVERSATION = "".join(
    json.dumps({"role": role, "content": text}) + "\n"
    for role, text in [("user", "I moved to Lisbon."), ("assistant", "Noted."), ("user", "I like tiles.")]
)


def upload(world: World, data: bytes, where: str = "support", **query: Any) -> Any:
    """Import bytes into a workspace."""
    return world.client().post(f"/v1/workspaces/{where}/import", content=data, params=query)


def archive(**files: bytes) -> bytes:
    """Return a ZIP archive of files by name."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in files.items():
            packed.writestr(name, data)
    return out.getvalue()


def canonical(world: World, name: str) -> dict[str, bytes]:
    """Return every canonical file of a workspace."""
    folder = world.root / name
    found = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    derived = (layout.INDEX, layout.DIGESTS, layout.LOCKS)
    return {
        path: data
        for path, data in found.items()
        if not re.match(rf"(people/[^/]+/)?({'|'.join(derived)})", path)
    }


def left(world: World) -> list[str]:
    """Return what is still on its way."""
    folder = world.root / parcels.FOLDER
    return [one.name for one in folder.iterdir()] if folder.is_dir() else []


def test_an_export_comes_back_whole(world: World) -> None:
    """An export that is imported into an empty workspace is the same memory, links and people included (R-30)."""
    for n in range(30):
        world.value("POST", "/entries", json={"text": f"Fact number {n}", "tags": ["x"], "sig": 0.7})
    world.value("POST", "/entries", json={"text": "Mira likes walnuts"}, params={"user": "Mira"})
    world.value(
        "POST", f"/entries/{world.entry}/correct", json={"text": "Dana prefers coffee", "why": "change"}
    )
    world.value("POST", "/consolidate", json={})
    sent = world.ask("GET", "/export")
    assert sent.headers["content-type"] == "application/zip"
    world.client().put("/v1/workspaces/copy")
    done = upload(world, sent.content, "copy")
    assert done.status_code == 200, done.text
    assert done.json()["format"] == "reverie-export"
    name = world.hosted.name("copy")
    world.hosted.drop(name)
    known = {
        one["id"]: one
        for one in world.value("GET", "/entries", params={"limit": 1000, "previous": True})["entries"]
    }
    copied = (
        world.client().get("/v1/workspaces/copy/entries", params={"limit": 1000, "previous": True}).json()
    )
    assert {one["id"]: one for one in copied["entries"]} == known
    mira = world.client().get("/v1/workspaces/copy/entries", params={"user": "Mira"}).json()["entries"]
    assert [one["text"] for one in mira] == ["Mira likes walnuts"]
    before, after = canonical(world, world.name), canonical(world, name)
    assert {path for path in before if after.get(path) != before[path]} <= {
        ".state/workspace.json",
        "MEMORY.md",
    }
    assert left(world) == []


def test_a_conversation_is_uploaded(world: World) -> None:
    """A conversation sent as the body is in the memory, and the same again adds nothing."""
    first = upload(world, CONVERSATION.encode(), name="talk.jsonl", session="s1").json()
    again = upload(world, CONVERSATION.encode(), name="talk.jsonl", session="s1").json()
    assert (first["turns"], first["sessions"]) == (3, ["s1"])
    assert (again["turns"], again["repeated"]) == (0, 3)
    assert left(world) == []


def test_a_dry_run_writes_nothing(world: World) -> None:
    """A dry run counts what would come in and changes no canonical file."""
    before = canonical(world, world.name)
    assert upload(world, CONVERSATION.encode(), name="talk.jsonl", dry_run="true").json()["turns"] == 3
    assert canonical(world, world.name) == before


@pytest.mark.parametrize(
    "data", [b"", b"{", b"\x00" * 1000, b"PK\x03\x04", b"PK\x05\x06" + b"\x00" * 18, b"\xff\xfe" * 50]
)
def test_what_nobody_knows_is_refused_with_its_remedy(world: World, data: bytes) -> None:
    """An upload of no known format is a problem, and leaves nothing on its way."""
    response = upload(world, data)
    assert response.status_code in {200, 400, 422}, response.text
    assert response.status_code != 200 or response.json()["turns"] == 0
    assert left(world) == []


@pytest.mark.parametrize(
    "name", ["../x", "/etc/passwd", "a/b", ".hidden", "", "x" * 200, "a\x00b", "con:", "a\nb", "..", "é"]
)
def test_a_name_is_no_path(world: World, name: str) -> None:
    """The name sent with an upload is refused where it is anything but a plain one."""
    assert upload(world, CONVERSATION.encode(), name=name).status_code == 400
    assert left(world) == []


@pytest.mark.parametrize(
    "name", ["../escaped", "/tmp/escaped-by-zip", "a/../../escaped", "./a", "a//b", "a\\..\\b/../../c"]
)
def test_a_name_in_an_archive_leads_nowhere_else(world: World, name: str) -> None:
    """An archive that names a place outside is refused, and nothing is written there."""
    data = archive(**{"manifest.json": b"{}", name: b"gotcha"})
    response = upload(world, data)
    assert response.status_code in {400, 403}, response.text
    assert not list(world.home.rglob("*escaped*"))
    assert left(world) == []


def test_an_export_that_was_changed_is_refused(world: World) -> None:
    """An export of which a byte was changed is refused, and the workspace stays as it was."""
    sent = world.ask("GET", "/export").content
    world.client().put("/v1/workspaces/copy")
    before = canonical(world, world.hosted.name("copy"))
    with zipfile.ZipFile(io.BytesIO(sent)) as packed:
        files = {name: packed.read(name) for name in packed.namelist()}
    log = next(name for name in files if name.startswith(".journal/"))
    files[log] = files[log].replace(b"tea", b"tar")
    response = upload(world, archive(**files), "copy")
    assert 400 <= response.status_code < 500 or response.json()["class"] == "DamagedFile", response.text
    assert canonical(world, world.hosted.name("copy")) == before


def test_an_archive_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An archive that unpacks to much more than it is, or to too many files, is refused before it does."""
    bomb = archive(**{"manifest.json": b"{}", "zeros": b"\x00" * 20_000_000})
    monkeypatch.setattr(parcels, "MEMBERS", 3)
    many = archive(**{"manifest.json": b"{}"}, **{f"f{n}": b"x" for n in range(3)})
    for data in (bomb, many):
        with Parcel(tmp_path) as parcel:
            parcel.add("x.zip", data)
            with pytest.raises(UsageError, match="too much"):
                parcel.unpacked(parcel.arrived("x.zip"), "manifest.json")


def test_an_upload_is_as_large_as_the_limit(tmp_path: Path) -> None:
    """An upload beyond its own limit is refused, and one beyond that of other bodies is not."""
    with world_at(tmp_path, limits=HttpSettings(max_body_bytes=100, max_upload_bytes=1_000)) as world:
        assert upload(world, CONVERSATION.encode(), name="a.jsonl").status_code == 200
        assert upload(world, CONVERSATION.encode() * 20, name="a.jsonl").status_code == 413
        assert left(world) == []


def test_what_a_crash_left_is_swept(tmp_path: Path) -> None:
    """What an earlier process left on its way is removed by a sweep, and a root without any is left alone."""
    assert sweep(tmp_path) == 0
    left_behind = tmp_path / parcels.FOLDER / "0123456789abcdef"
    left_behind.mkdir(parents=True)
    (left_behind / "x").write_bytes(b"half")
    assert sweep(tmp_path) == 1
    assert list((tmp_path / parcels.FOLDER).iterdir()) == []


def test_a_parcel_is_for_its_owner_alone(tmp_path: Path) -> None:
    """What is on its way may be read by its owner alone, and is gone when it has arrived."""
    with Parcel(tmp_path) as parcel:
        parcel.add("x", b"secret")
        file = parcel.arrived("x")
        assert file.read_bytes() == b"secret"
        assert file.stat().st_mode & 0o077 == 0
        assert parcel.folder.stat().st_mode & 0o077 == 0
    assert not parcel.folder.exists()
    with Parcel(tmp_path) as parcel, pytest.raises(UnsafePath):
        parcel.add("../x", b"")


def test_an_upload_to_a_full_disk_is_refused(tmp_path: Path) -> None:
    """What finds no room on the way is told as such, at its end too, and leaves nothing."""
    resource = pytest.importorskip("resource", reason="the system limits no sizes of files")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    parcel = Parcel(tmp_path)

    def send() -> None:
        with parcel:
            parcel.add("x", b"half of it")
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
            parcel.arrived("x")

    try:
        with pytest.raises(StoreUnwritable):
            send()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not parcel.folder.exists()


def test_pieces_make_one_archive(tmp_path: Path) -> None:
    """The pieces of an archive, one after another, are an archive of every file, deep ones too."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "c").write_bytes(b"x" * 3_000_000)
    (tmp_path / "d").write_bytes(b"")
    whole = b"".join(zipped(tmp_path))
    with zipfile.ZipFile(io.BytesIO(whole)) as packed:
        assert packed.testzip() is None
        assert packed.namelist() == ["a/b/c", "d"]
        assert packed.read("a/b/c") == b"x" * 3_000_000
