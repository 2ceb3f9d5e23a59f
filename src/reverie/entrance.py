"""How a workspace is to be opened: which folder, whose, with which settings and which injected parts.

Owns the one value that says so, and making a workspace from it; promises that nothing is looked at before it is
opened; never writes a file.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from reverie import layout
from reverie.config import AGENT, CONFIG, config_folder, load, shared_folders, variable, workspace_path
from reverie.core.settings.sources import AGENT_VARIABLE, WORKSPACE_VARIABLE
from reverie.core.settings.value import Settings
from reverie.core.text.names import safe_name
from reverie.index.embedder import Embedder
from reverie.model.asking import Model
from reverie.store.filesystem.disk import Disk
from reverie.store.workspace import Workspace


def _now() -> datetime:
    return datetime.now(UTC)


def _new_id() -> str:
    return secrets.token_hex(8)


def _mark(file: Path) -> tuple[int, ...]:
    """Return what changes when a file is replaced, edited, made or removed."""
    try:
        seen = file.stat()
    except OSError:
        return ()
    return seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns


class Opening(msgspec.Struct, frozen=True, kw_only=True):
    """How to open a workspace: by folder or agent, for a person, with settings given as text, and injected parts.

    `path` wins over `agent`; with neither, the environment or the agent `default`. `config_dir` is the folder of the
    user's own configuration. `model` answers every purpose in place of the ones that the settings name, and `embedder`
    stands in the place of theirs.

    >>> import reverie
    >>> reverie.init(Opening(path=folder / "support", flags={"zone": "UTC"}, clock=lambda: now)).status().today
    '2026-07-01'
    """

    path: Path | None = None
    agent: str | None = None
    user: str = ""
    config_dir: Path | None = None
    environment: Mapping[str, str] | None = None
    flags: Mapping[str, str] | None = None
    settings: Settings | None = None
    clock: Callable[[], datetime] = _now
    new_id: Callable[[], str] = _new_id
    disk: Callable[[Path], Disk] | None = None
    model: Model | None = None
    embedder: Embedder | None = None

    def folder(self) -> Path:
        """Return the workspace's folder."""
        return workspace_path(self.path, self.agent, config_dir=self.config_dir, environment=self.environment)

    def called(self, folder: Path) -> str:
        """Return what the agent is called whose workspace lies there: as it was named, or as the folder is."""
        if not self.agent and (self.path is not None or variable(WORKSPACE_VARIABLE, self.environment)):
            return folder.name
        return self.agent or variable(AGENT_VARIABLE, self.environment) or AGENT

    def settings_at(self, folder: Path, *, above: Path | None = None) -> Settings:
        """Return the settings of a workspace, of a person's also those of the one `above` it; raises BadSettings."""
        return self.settings or load(
            workspace=folder,
            above=above,
            config_dir=self.config_dir,
            environment=self.environment,
            flags=self.flags,
        )

    def settings_of_the_user(self) -> Settings:
        """Return the settings that hold for no workspace in particular; raises BadSettings."""
        return self.settings or load(
            workspace=None, config_dir=self.config_dir, environment=self.environment, flags=self.flags
        )

    def workspace(self, folder: Path, *, above: Workspace | None = None) -> Workspace:
        """Return the workspace at `folder`, not yet looked at; a person's, beneath the one `above`, may not be there.

        Raises UnsafePath where a person's is reached through a link, or is none of this user's.
        """
        if above is not None:
            # A root is opened as the user names it, through links too; this one was named by what lies in a folder.
            above.disk.list(folder.relative_to(above.root).as_posix())
        settings = self.settings_at(folder, above=above.root if above else None)
        disk = self.disk(folder) if self.disk else None
        person = above is not None
        return Workspace(
            folder, settings, clock=self.clock, new_id=self.new_id, disk=disk, may_be_missing=person
        )

    def marks(self, folder: Path) -> tuple[object, ...]:
        """Return what changes whenever a file does by which the workspace at `folder` is opened.

        These are the settings, the user's and the workspace's, and what says whose the workspace is.
        """
        folders = (folder, *((folder / layout.person_folder(safe_name(self.user)),) if self.user else ()))
        own = [one / name for one in folders for name in (layout.SETTINGS, layout.ORIGIN)]
        return tuple(map(_mark, (self.config() / CONFIG, *own)))

    def config(self) -> Path:
        """Return the folder of the user's own configuration."""
        return config_folder(self.config_dir, self.environment)

    def shared(self) -> Mapping[str, Path]:
        """Return the folders of the shared workspaces that the user's own configuration names; raises BadSettings."""
        return shared_folders(config_dir=self.config_dir, environment=self.environment)
