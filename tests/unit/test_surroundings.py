"""What a workspace lies in: file systems and folders on which its promises do not hold."""

from __future__ import annotations

from pathlib import Path

from reverie.store.filesystem import surroundings


def test_a_network_or_synced_folder_is_told(tmp_path: Path) -> None:
    """A folder on a network file system, or beneath one that a sync program watches, is warned about."""
    mounts = tmp_path / "mounts"
    escaped = str(tmp_path).replace(" ", "\\040")
    mounts.write_text(f"server:/x / ext4 rw 0 0\nserver:/x {escaped} nfs4 rw 0 0\nbroken\n")
    (sentence,) = surroundings.warnings(tmp_path, mounts=mounts)
    assert "nfs4" in sentence
    assert surroundings.warnings(tmp_path, mounts=tmp_path / "none") == []
    synced = tmp_path / "Dropbox" / "agent"
    synced.mkdir(parents=True)
    (sentence,) = surroundings.warnings(synced, mounts=tmp_path / "none")
    assert "Dropbox" in sentence


def test_a_mount_with_a_blank_in_its_name_is_read(tmp_path: Path) -> None:
    """The longest mount point that holds the folder counts, blanks in it included."""
    inner = tmp_path / "my disk" / "agent"
    inner.mkdir(parents=True)
    mounts = tmp_path / "mounts"
    outer, escaped = (str(one).replace(" ", "\\040") for one in (tmp_path, inner.parent))
    mounts.write_text(f"a {escaped} cifs rw 0 0\nb {outer} ext4 rw 0 0\n")
    assert "cifs" in surroundings.warnings(inner, mounts=mounts)[0]
    assert surroundings.warnings(tmp_path, mounts=mounts) == []
