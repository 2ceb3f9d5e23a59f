"""Seals: whose workspace this is."""

from __future__ import annotations

import shutil
import stat
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie import layout
from reverie.core.formats import framing
from reverie.core.settings.value import Settings
from reverie.errors import DamagedFile, UnsafePath
from reverie.store.trust import is_sealed, seal
from reverie.store.workspace import Identity, Workspace

NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)
KEY = "0123456789abcdef" * 4


def workspace(root: Path) -> Workspace:
    """Return the workspace in the folder `root`."""
    return Workspace(root, Settings(), clock=lambda: NOW, new_id=lambda: "0" * 16)


def identity(**given: str) -> Identity:
    """Return an identity that only differs in what is given."""
    return Identity(**{"id": "a1b2", "agent": "support-bot", "created": NOW, **given})


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """The configuration folder of the user, not made yet."""
    return tmp_path / "home" / ".config" / "reverie"


def test_the_seal_is_the_documented_one(mine: Path) -> None:
    """A seal is HMAC-SHA-256 of the id under the 32 bytes that the key file holds in hex."""
    mine.mkdir(parents=True)
    (mine / "key").write_text(KEY)
    assert seal(mine, "a1b2") == "35fc0e7e0f84a5647e143cab087fba486e27476099ee22df3f2f5a1f63c99068"


def test_the_key_is_made_once_and_for_its_owner_alone(mine: Path) -> None:
    """The first seal makes the folder and a key nobody else can read; later ones use it."""
    first = seal(mine, "a1b2")
    key = (mine / "key").read_bytes()
    assert stat.S_IMODE((mine / "key").stat().st_mode) == 0o600
    assert len(bytes.fromhex(key.decode())) == 32
    assert seal(mine, "a1b2") == first
    assert seal(mine, "a1b3") != first
    assert (mine / "key").read_bytes() == key


def test_two_at_their_first_use_share_one_key(mine: Path) -> None:
    """Whoever seals at the same moment, for the first time, gets the same seal."""
    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(lambda _: seal(mine, "a1b2"), range(16)))) == 1


def test_trust_survives_a_move(tmp_path: Path, mine: Path) -> None:
    """A workspace sealed by its user is trusted wherever its folder is moved or copied to."""
    workspace(tmp_path / "a").found(identity(seal=seal(mine, "a1b2")))
    shutil.copytree(tmp_path / "a", tmp_path / "copy")
    shutil.move(tmp_path / "a", tmp_path / "elsewhere")
    assert is_sealed(mine, workspace(tmp_path / "elsewhere").identity())
    assert is_sealed(mine, workspace(tmp_path / "copy").identity())


def test_trust_does_not_come_along_to_another_user(tmp_path: Path, mine: Path) -> None:
    """A workspace that somebody else sealed is not trusted, whether or not one has a key oneself."""
    workspace(tmp_path / "a").found(identity(seal=seal(mine, "a1b2")))
    shutil.copytree(tmp_path / "a", tmp_path / "theirs")
    other = tmp_path / "other"
    assert not is_sealed(other, workspace(tmp_path / "theirs").identity())
    seal(other, "something else")
    assert not is_sealed(other, workspace(tmp_path / "theirs").identity())


def test_the_seal_of_another_workspace_does_not_fit(mine: Path) -> None:
    """A seal belongs to one id."""
    sealed = identity(seal=seal(mine, "a1b2"))
    assert is_sealed(mine, sealed)
    assert not is_sealed(mine, msgspec.structs.replace(sealed, id="a1b3"))


@given(st.text())
def test_no_other_text_is_a_seal(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    """Whatever a foreign workspace holds as its seal, empty and non-ASCII too, is refused without an error."""
    mine = tmp_path_factory.getbasetemp() / "one-user"
    seal(mine, "a1b2")
    assert not is_sealed(mine, identity(seal=text))


def test_asking_makes_nothing(mine: Path) -> None:
    """Whether a workspace is trusted can be asked by a user without configuration, and nothing is made by it."""
    assert not is_sealed(mine, identity())
    mine.mkdir(parents=True)
    assert not is_sealed(mine, identity())
    assert list(mine.iterdir()) == []


@pytest.mark.parametrize(
    "data", [b"", b"\n", KEY[:-1].encode(), KEY.encode() + b"00", KEY.upper().encode(), b"z" * 64]
)
def test_a_damaged_key_is_reported_and_kept(mine: Path, data: bytes) -> None:
    """A key that is none is never replaced, which would disown every workspace, nor used."""
    mine.mkdir(parents=True)
    (mine / "key").write_bytes(data)
    with pytest.raises(DamagedFile, match="backup"):
        seal(mine, "a1b2")
    with pytest.raises(DamagedFile, match="backup"):
        is_sealed(mine, identity(seal="00"))
    assert (mine / "key").read_bytes() == data


def test_a_linked_key_is_refused(mine: Path) -> None:
    """A key that is a link to another file is not used, for it may be somebody else's, and named in full."""
    mine.mkdir(parents=True)
    (mine / "theirs").write_text(KEY)
    (mine / "key").symlink_to(mine / "theirs")
    with pytest.raises(UnsafePath, match=str(mine / "key")):
        seal(mine, "a1b2")


def test_trusting_keeps_members_that_this_version_does_not_know(tmp_path: Path) -> None:
    """Writing a workspace's identity anew leaves what another version wrote into it."""
    ws = workspace(tmp_path / "agent")
    ws.found(identity())
    origin = ws.root / layout.ORIGIN
    told = {**msgspec.json.decode(origin.read_bytes()), "flavour": {"of": "vanilla"}}
    origin.write_bytes(
        framing.frame({name: value for name, value in told.items() if name not in {"v", "crc"}})
    )
    ws.found(identity(seal="ab" * 32))
    assert ws.identity() == identity(seal="ab" * 32)
    assert msgspec.json.decode(origin.read_bytes())["flavour"] == {"of": "vanilla"}
