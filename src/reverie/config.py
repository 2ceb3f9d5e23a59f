"""The settings of one workspace, read once from files, environment and flags into one frozen value.

Owns where settings may stand and which place wins, the way from an agent's name to its folder, and the name of the
system's time zone; promises that what `load` returns is valid, that a misspelled or misplaced setting is an error
which names the place, and that nothing else in the package reads the environment; never writes a file.

A later place wins: the defaults; the user's `config.toml`, in it the tables `[workspace."<folder or agent>"]` that
name this workspace; the workspace's own `reverie.toml`, where only keys stand that a stranger may decide; the
environment; flags. Lists in `reverie.toml` are added to the user's, else it could empty them.
"""

from __future__ import annotations

import os
import re
import shlex
import stat
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from reverie import layout
from reverie.core.settings.keys import Value, toml
from reverie.core.settings.sources import (
    AGENT_VARIABLE,
    CONFIG_VARIABLE,
    TRACEBACK_VARIABLE,
    WORKSPACE_VARIABLE,
    Values,
    parse_toml,
    plain,
    read_environment,
    read_flags,
    read_table,
    shown,
)
from reverie.core.settings.value import KEYS, Settings, assemble
from reverie.core.text.names import safe_name
from reverie.errors import BadSettings, UnsafePath, UsageError

CONFIG = "config.toml"
AGENT = "default"  # who is meant when nobody is named

_USERS_TABLES = ("agents", "shared", "workspace")
_LARGEST = 1_000_000  # bytes of a settings file; a planted larger one is refused before it fills the memory

_PAGE = """\
# Settings

Made from the code by `make reference`. A later place wins:

1. the defaults below;
2. your own `config.toml`, in `--config-dir`, `REVERIE_CONFIG_DIR`, `$XDG_CONFIG_HOME/reverie` or `~/.config/reverie`;
   then the tables in it that name the workspace by its folder or its agent, such as `[workspace."~/memory".dream]`;
3. `reverie.toml` in the workspace, which may hold the keys marked *yes* and no other, because a folder can come
   from somebody else; its lists are added to yours;
4. the environment, where an empty variable counts as not set; lists are separated by commas, or written as in TOML;
5. flags.

A key that does not exist, stands where it may not, or has a wrong value is an error (exit code 78).

Your `config.toml` may also say where agents live: `[agents]`, then lines such as `support-bot = "~/memory/support"`;
and where shared workspaces lie, in the same way: `[shared]`, then lines such as `team = "~/memory/team"`.
Which workspace is meant is decided by `--workspace`, `--agent-id`, `REVERIE_WORKSPACE`, `REVERIE_AGENT_ID`, in this
order; else it is the agent `default`. An agent without a line in `[agents]` lives in `~/.reverie/agents/`.

The workspace of a person beneath an agent's has the agent's settings; its own tables and its own `reverie.toml` come
after them.

| key | accepts | default | in `reverie.toml` | environment | seeds' name | meaning |
|---|---|---|---|---|---|---|
"""


@dataclass(frozen=True, slots=True)
class _User:
    """What the user's own file holds: settings, folders of agents and shared workspaces, settings for single ones."""

    values: Values
    agents: Mapping[str, Path]
    shared: Mapping[str, Path]
    workspaces: tuple[tuple[str, Values], ...]


def load(
    *,
    workspace: Path | None,
    above: Path | None = None,
    config_dir: Path | None = None,
    environment: Mapping[str, str] | None = None,
    flags: Mapping[str, str] | None = None,
) -> Settings:
    """Return the settings that hold in the folder `workspace`, which need not exist; None asks for no folder's.

    `above` is the agent's workspace where `workspace` is a person's: what holds there holds here too.
    `flags` maps dotted names (`dream.min_facts`) to text. `environment` stands in for the process's own. In the
    result `zone` is never empty. Raises BadSettings; UnsafePath when `reverie.toml` is not a plain file.
    """
    variables = os.environ if environment is None else environment
    user = _user(config_folder(config_dir, variables) / CONFIG, variables)
    values = dict(user.values)
    for folder in (above, workspace):
        if folder is not None:
            _apply(values, user, folder, home=_home(variables))
    values |= read_environment(variables)
    values |= read_flags(flags or {})
    said = bool(values.get(("zone",)))
    if not said:
        values["zone",] = system_zone(variables)
    return replace(assemble(values), zone_said=said)


def shared_folders(
    *, config_dir: Path | None = None, environment: Mapping[str, str] | None = None
) -> Mapping[str, Path]:
    """Return the folder of each shared workspace that the user's own file names; raises BadSettings."""
    variables = os.environ if environment is None else environment
    return _user(config_folder(config_dir, variables) / CONFIG, variables).shared


def config_folder(config_dir: Path | None = None, environment: Mapping[str, str] | None = None) -> Path:
    """Return the folder of the user's own configuration: given, REVERIE_CONFIG_DIR, XDG's, or `~/.config/reverie`."""
    variables = os.environ if environment is None else environment
    if config_dir is not None:
        return config_dir
    if told := variables.get(CONFIG_VARIABLE):
        return Path(told)
    return _configurations(variables) / "reverie"


def agents_root(environment: Mapping[str, str] | None = None) -> Path:
    """Return the folder beneath which agents live that `[agents]` does not place."""
    return _home(os.environ if environment is None else environment) / ".reverie" / "agents"


def units_folder(environment: Mapping[str, str] | None = None) -> Path:
    """Return the folder of the user's own units of systemd."""
    return _configurations(os.environ if environment is None else environment) / "systemd" / "user"


def no_workspace(path: Path | None = None, agent: str | None = None) -> str:
    """Return what is said of a folder without one: how to make what `workspace_path` finds for the path or agent."""
    if path is not None:
        named = f" {shlex.quote(os.path.abspath(path))}"  # noqa: PTH100 as `workspace_path` does
    else:
        named = f" --agent-id {shlex.quote(agent)}" if agent else ""
    return f"holds no workspace; create one with `reverie init{named}`"


def workspace_path(
    path: Path | None = None,
    agent: str | None = None,
    *,
    config_dir: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Path:
    """Return the absolute folder of the workspace meant: the path, the agent's, REVERIE_WORKSPACE, REVERIE_AGENT_ID's.

    An agent's folder is what `[agents]` in the user's file says, else `~/.reverie/agents/<safe name>`; where nothing
    names one, the agent is `default`. Never looks around in the current folder. Raises UsageError, BadSettings.
    """
    variables = os.environ if environment is None else environment
    if path is None and agent is None and variables.get(WORKSPACE_VARIABLE):
        path = Path(variables[WORKSPACE_VARIABLE])
    if path is not None:
        return Path(os.path.abspath(path))  # noqa: PTH100 `resolve` would follow links, and messages name another place
    if agent == "":
        raise UsageError("the agent's name is empty; name one, such as --agent-id support-bot")
    name = agent or variables.get(AGENT_VARIABLE) or AGENT
    user = _user(config_folder(config_dir, variables) / CONFIG, variables)
    return user.agents.get(name) or agents_root(variables) / safe_name(name)


def traceback_wanted(environment: Mapping[str, str] | None = None) -> bool:
    """Return whether REVERIE_TRACEBACK asks for the whole trace of an error, for whoever looks for its cause."""
    variables = os.environ if environment is None else environment
    return variables.get(TRACEBACK_VARIABLE, "") not in {"", "0"}


def variable(name: str, environment: Mapping[str, str] | None = None) -> str:
    """Return what a variable holds that a setting names, such as one with a key; "" for none."""
    variables = os.environ if environment is None else environment
    return variables.get(name, "") if name else ""


def system_zone(environment: Mapping[str, str], *, localtime: Path = Path("/etc/localtime")) -> str:
    """Return the IANA name of the system's time zone: TZ, else where the link `localtime` leads, else `UTC`."""
    zone = KEYS["zone",]
    told = environment.get("TZ")
    if told == "":
        return "UTC"  # as the C library has it
    targets = [told.removeprefix(":")] if told else []
    with suppress(OSError):  # a copy, or nothing: its name cannot be known
        targets += [os.readlink(localtime), os.path.realpath(localtime)]  # noqa: PTH115 the link's text is wanted
    for target in targets:
        name = re.sub(r"^(posix|right)/", "", target.rpartition("zoneinfo/")[2])
        if name and not name.startswith("/") and zone.accept(name):
            return name
    return "UTC"


def settings_template() -> str:
    """Return the `reverie.toml` that a new workspace gets: every key it may hold, commented out at its default."""
    lines = [
        "# The settings of this workspace. Remove the # before a key to set it; what stands there is its default.",
        "# Whatever reaches outside this folder or weakens its protection is refused here, because a folder can come",
        "# from somebody else: models, paths, redaction, skills, durability. Those belong in your own",
        '# ~/.config/reverie/config.toml, for this workspace alone under [workspace."<its folder or agent>"].',
    ]
    table = ""
    for key in KEYS.values():
        if not key.rule.here:
            continue
        if len(key.path) > 1 and key.path[0] != table:
            table = key.path[0]
            lines += ["", f"[{table}]"]
        lines += ["", f"# {key.rule.why} Accepts {key.expected}.", f"#{key.path[-1]} = {toml(key.default)}"]
    return "\n".join(lines) + "\n"


def reference_table() -> str:
    """Return the page `docs/reference/settings.md`: where settings stand, and the table of them."""
    rows = []
    for key in KEYS.values():
        variables = "<br>".join(f"`{name}`" for name in (key.variable, key.seed_variable) if name)
        cells = [f"`{key.name}`", key.expected.replace("_", ""), f"`{toml(key.default)}`"]
        cells += ["yes" if key.rule.here else "no", variables]
        cells += [f"`{key.rule.seed}`" if key.rule.seed else "", key.rule.why]
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return _PAGE + "\n".join(rows) + "\n"


def _home(environment: Mapping[str, str]) -> Path:
    if environment.get("HOME"):
        return Path(environment["HOME"])
    try:
        return Path.home()
    except RuntimeError as error:  # a container may run as a user that no file names
        raise UsageError("this user has no home; set HOME, or name --workspace and --config-dir") from error


def _configurations(environment: Mapping[str, str]) -> Path:
    """Return the folder beneath which all programs keep the user's settings; the standard has relative ones ignored."""
    xdg = environment.get("XDG_CONFIG_HOME", "")
    return Path(xdg) if xdg.startswith("/") else _home(environment) / ".config"


def _named(name: str, agents: Mapping[str, Path], *, home: Path) -> Path:
    """Return the folder that a `[workspace."…"]` table means by a folder's or an agent's name."""
    return _absolute(name, home) or agents.get(name) or home / ".reverie" / "agents" / safe_name(name)


def _absolute(text: str, home: Path) -> Path | None:
    """Return the folder written as an absolute path or beneath `~/`, None for anything else."""
    if text.startswith("/"):
        return Path(text)
    return home / text[2:] if text.startswith("~/") else None


def _user(path: Path, environment: Mapping[str, str]) -> _User:
    """Read the user's own file; all of it is checked, whichever workspace is meant."""
    table = _read(path)
    agents, shared, workspaces = (table.pop(name, {}) for name in _USERS_TABLES)
    if not (isinstance(agents, dict) and isinstance(shared, dict) and isinstance(workspaces, dict)):
        raise BadSettings(
            f"{path}: agents, shared and workspace are tables; write [agents], [shared] or"
            ' [workspace."<folder or agent>"]'
        )
    home = _home(environment)
    folders, common = (
        _folders(one, f"{path}: {kind}", home=home) for kind, one in (("agents", agents), ("shared", shared))
    )
    told = tuple(
        (name, read_table(inner, f"{path}: workspace.{shown(name)}")) for name, inner in workspaces.items()
    )
    return _User(read_table(table, str(path)), folders, common, told)


def _folders(table: Mapping[str, object], where: str, *, home: Path) -> dict[str, Path]:
    """Return the folders that a table names."""
    folders = {}
    for name, folder in table.items():
        found = _absolute(folder, home) if isinstance(folder, str) else None
        if found is None:
            raise BadSettings(
                f"{where}.{plain(name)} is {shown(folder)}; write a folder that begins with / or ~/"
            )
        folders[name] = found
    return folders


def _apply(values: dict[tuple[str, ...], Value], user: _User, folder: Path, *, home: Path) -> None:
    """Put over `values` what the user's file says of the workspace at `folder`, then what its own file says."""
    for name, told in user.workspaces:
        if os.path.realpath(_named(name, user.agents, home=home)) == os.path.realpath(folder):
            values |= told
    for path, value in _workspace(folder / layout.SETTINGS).items():
        mine = values.get(path)
        if isinstance(value, tuple) and isinstance(mine, tuple):
            values[path] = tuple(dict.fromkeys((*mine, *value)))
        else:
            values[path] = value


def _workspace(path: Path) -> Values:
    """Read a workspace's own file, in which nothing may stand that a stranger must not decide."""
    table = _read(path, beneath=True)
    for name in _USERS_TABLES:
        if name in table:
            raise BadSettings(f"{path}: {name} may stand in your own {CONFIG} only; remove it here")
    return read_table(table, str(path), stranger=True)


def _read(path: Path, *, beneath: bool = False) -> dict[str, object]:
    """Return the tables of a settings file, empty when there is none; `beneath` a workspace it must be plain."""
    try:
        info = path.lstat() if beneath else path.stat()
        if beneath and (reason := _objection(info)):
            raise UnsafePath(f"{path} {reason}")
        if not stat.S_ISREG(info.st_mode):
            raise BadSettings(f"{path} is no file; move it away")  # reading a pipe would wait for ever
        if info.st_size > _LARGEST:
            raise BadSettings(
                f"{path} is larger than {_LARGEST:,} bytes; settings are not, so remove what is none"
            )
        text = path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return {}
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise BadSettings(f"{path}:{line}: not UTF-8; save the file as UTF-8") from error
    except OSError as error:
        raise BadSettings(
            f"{path} cannot be read ({error.strerror}); check its folder and permissions"
        ) from error
    return parse_toml(text, str(path))


def _objection(info: os.stat_result) -> str:
    """Return why a file that lies in a workspace may not be read, as `store.filesystem.paths` decides for others."""
    if not stat.S_ISREG(info.st_mode):
        return "is a link or no regular file; replace it by the file itself"
    if info.st_nlink > 1:
        return "has a second name (hard link) through which others could change it; replace it by a copy"
    if info.st_uid != os.geteuid():
        return "belongs to another user; copy it, or change its owner to the one who runs Reverie"
    return ""
