"""Everywhere a setting may stand, as real folders and a mapping for the environment."""

from __future__ import annotations

from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

from reverie import config
from reverie.core.settings.keys import Key
from reverie.core.settings.value import Settings
from reverie.errors import BadSettings


def held(settings: Settings, key: Key) -> Any:
    """Return what the settings hold for the key."""
    return attrgetter("notebook_path" if key.name == "notebook.path" else key.name)(settings)


class Places:
    """Everywhere a setting may stand: a user's folder, a workspace, the environment, the flags."""

    def __init__(self, root: Path) -> None:
        """Make the two folders beneath `root`."""
        self.user, self.workspace = root / "user", root / "workspace"
        self.user.mkdir()
        self.workspace.mkdir()
        self.environment: dict[str, str] = {"TZ": "UTC", "HOME": str(root)}
        self.flags: dict[str, str] = {}

    def mine(self, text: str) -> None:
        """Write the user's own file."""
        (self.user / "config.toml").write_text(text, encoding="utf-8")

    def theirs(self, text: str) -> None:
        """Write the workspace's file."""
        (self.workspace / "reverie.toml").write_text(text, encoding="utf-8")

    def load(self) -> Settings:
        """Return the settings that all of them make."""
        return config.load(
            workspace=self.workspace, config_dir=self.user, environment=self.environment, flags=self.flags
        )

    def refusal(self) -> str:
        """Return the one line with which the settings are refused."""
        with pytest.raises(BadSettings) as caught:
            self.load()
        message = str(caught.value)
        assert "\n" not in message
        return message
