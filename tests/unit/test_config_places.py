"""Where the user's configuration, a workspace's folder and the system's zone are found."""

from __future__ import annotations

from pathlib import Path

import pytest
from places import Places

from reverie import config
from reverie.core.text.names import safe_name
from reverie.errors import UsageError


def test_the_users_folder_is_found(tmp_path: Path) -> None:
    """The configuration folder is the one given, REVERIE_CONFIG_DIR, XDG's when absolute, or ~/.config/reverie."""
    told = {"HOME": "/home/dana", "XDG_CONFIG_HOME": "/xdg", "REVERIE_CONFIG_DIR": "/own"}
    assert config.config_folder(tmp_path, told) == tmp_path
    assert config.config_folder(None, told) == Path("/own")
    del told["REVERIE_CONFIG_DIR"]
    assert config.config_folder(None, told) == Path("/xdg/reverie")
    told["XDG_CONFIG_HOME"] = "relative"
    assert config.config_folder(None, told) == Path("/home/dana/.config/reverie")


def test_the_process_environment_is_the_default(monkeypatch: pytest.MonkeyPatch, places: Places) -> None:
    """Without an environment given, the process's own is read."""
    monkeypatch.setenv("REVERIE_CONFIG_DIR", str(places.user))
    monkeypatch.setenv("REVERIE_DREAM_MIN_FACTS", "7")
    monkeypatch.setenv("REVERIE_AGENT_ID", "support-bot")
    places.mine('enabled = false\nagents.support-bot = "/srv/bot"')
    found = config.load(workspace=None)
    assert (found.enabled, found.dream.min_facts) == (False, 7)
    assert config.workspace_path() == Path("/srv/bot")


def test_the_workspace_is_named_never_discovered(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    """Path, agent, REVERIE_WORKSPACE, REVERIE_AGENT_ID, in this order, else the agent `default`; never the cwd."""
    home = places.user.parent
    agents = home / ".reverie" / "agents"

    def found(path: Path | None = None, agent: str | None = None) -> Path:
        return config.workspace_path(path, agent, config_dir=places.user, environment=places.environment)

    places.mine('[agents]\n"Support Bot" = "~/bots/support"')
    monkeypatch.chdir(places.workspace)
    places.theirs("enabled = true")
    assert found() == agents / safe_name("default")
    assert found(agent="Support Bot") == home / "bots" / "support"
    assert found(agent="../../etc") == agents / safe_name("../../etc")
    assert found(Path("here"), "Support Bot") == places.workspace / "here"
    places.environment["REVERIE_AGENT_ID"] = "Support Bot"
    assert found() == home / "bots" / "support"
    places.environment["REVERIE_WORKSPACE"] = "/srv/memory"
    assert found() == Path("/srv/memory")
    assert found(agent="a") == agents / safe_name("a")
    with pytest.raises(UsageError, match="--agent-id"):
        found(agent="")


@pytest.mark.parametrize(
    ("told", "target", "zone"),
    [
        ({"TZ": "Asia/Shanghai"}, "/usr/share/zoneinfo/Europe/Berlin", "Asia/Shanghai"),
        ({"TZ": ":Asia/Shanghai"}, "", "Asia/Shanghai"), ({"TZ": ":/usr/share/zoneinfo/Asia/Tokyo"}, "", "Asia/Tokyo"),
        ({"TZ": ""}, "/usr/share/zoneinfo/Europe/Berlin", "UTC"), ({"TZ": "<-03>3"}, "", "UTC"),
        ({"TZ": "../../etc/passwd"}, "", "UTC"), ({}, "/usr/share/zoneinfo/Europe/Berlin", "Europe/Berlin"),
        ({}, "../usr/share/zoneinfo/posix/Europe/Berlin", "Europe/Berlin"), ({}, "", "UTC"),
        ({}, "/var/db/timezone/zoneinfo/America/Argentina/Buenos_Aires", "America/Argentina/Buenos_Aires"),
        ({}, "/somewhere/else", "UTC"),
    ],
)  # fmt: skip
def test_the_systems_zone_has_a_name(tmp_path: Path, told: dict[str, str], target: str, *, zone: str) -> None:
    """The system's zone is TZ, else where the link of the local time leads, else UTC, and always a valid name."""
    link = tmp_path / "localtime"
    if target:
        link.symlink_to(target)
    assert config.system_zone(told, localtime=link) == zone


def test_a_copied_local_time_has_no_name(tmp_path: Path) -> None:
    """Where the local time is a copied file, its name cannot be known, and days are UTC's."""
    (tmp_path / "localtime").write_bytes(b"TZif2")
    assert config.system_zone({}, localtime=tmp_path / "localtime") == "UTC"
