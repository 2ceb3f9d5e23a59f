"""The commands by which a coding agent uses the memory: install, uninstall, hook."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from reverie.adapters import claude_code, claude_code_events
from reverie.config import variable
from reverie.core.text.names import safe_name
from reverie.entrance import Opening
from reverie.errors import NotAWorkspace, UsageError
from reverie.memory import Memory
from reverie.opening import make_workspace, open_workspace
from reverie.store.hosts import host_settings
from reverie.surface.cli.frame import Globals, Verb, answer, application, globals_of
from reverie.surface.cli.hooking import failed, hooked
from reverie.surface.cli.session import opening_of

app = application()

_HOSTS = ("claude-code",)
_Host = Annotated[str, typer.Argument(metavar="HOST", help="The agent: claude-code.")]
_Project = Annotated[
    bool,
    typer.Option(
        "--project", help="For the project in this folder alone, with a memory of its own; else for all."
    ),
]

_INSTALL = """\
reverie install claude-code
reverie install claude-code --project
reverie install claude-code --agent-id coder
"""
_UNINSTALL = """\
reverie uninstall claude-code
reverie uninstall claude-code --project
"""
_HOOK = """\
echo '{"session_id": "s1", "source": "startup"}' | reverie hook SessionStart
"""


@app.command("install", cls=Verb, epilog=_INSTALL)
def install(ctx: typer.Context, host: _Host, project: _Project = False) -> None:
    """Put hooks into a coding agent's settings, so that it remembers; doing it again changes nothing.

    The workspace is made when there is none. What else stands in the settings stays, byte for byte; how they were
    before is kept beside them.
    """
    _check(host)
    told = globals_of(ctx)
    if project and told.workspace is None and told.agent_id is None:
        told.agent_id = _agent_of(Path.cwd())
    made = _made(opening_of(ctx))
    file = settings_file(project=project)
    lines = {event: _line(event, told, shared=project) for event in claude_code_events.EVENTS}
    changed = host_settings.edit(file, lambda text: claude_code.with_hooks(text, lines))
    value = {"file": file, "changed": changed, "workspace": made, "events": claude_code_events.EVENTS}
    answer(
        ctx,
        value,
        [f"{'hooks written to' if changed else 'the hooks stand already in'} {file}; the memory is {made}"],
    )


@app.command("uninstall", cls=Verb, epilog=_UNINSTALL)
def uninstall(ctx: typer.Context, host: _Host, project: _Project = False) -> None:
    """Take Reverie's hooks out of a coding agent's settings, and nothing else; the memory stays."""
    _check(host)
    file = settings_file(project=project)
    changed = host_settings.edit(file, lambda text: claude_code.without_hooks(text) if text.strip() else text)
    answer(
        ctx,
        {"file": file, "changed": changed},
        [f"hooks taken out of {file}" if changed else f"there are no hooks of Reverie in {file}"],
    )


@app.command("hook", cls=Verb, epilog=_HOOK)
def hook(
    ctx: typer.Context,
    event: Annotated[str, typer.Argument(metavar="EVENT", help="The event, such as SessionStart.")],
) -> None:
    """Do what a coding agent's hook asks for on standard input; it always ends well, for the agent is to go on.

    What went wrong is a line on standard error and in `reverie status`.
    """
    try:
        given, opening = sys.stdin.buffer.read(claude_code_events.LARGEST), opening_of(ctx)
    except Exception as error:
        # Whatever is wrong with the call, the person's agent works on.
        failed(event, error)
        return
    hooked(opening, event, given=given)


def _check(host: str) -> None:
    if host not in _HOSTS:
        message = f"there are no hooks for {host!r}: the agents are {', '.join(_HOSTS)}"
        raise UsageError(message)


def _made(opening: Opening) -> Path:
    """Return the folder of the workspace meant, made if there is none."""
    try:
        with Memory(open_workspace(opening)) as memory:
            return memory.root
    except NotAWorkspace:
        with Memory(make_workspace(opening)) as memory:
            return memory.root


def settings_file(*, project: bool = False, environment: Mapping[str, str] | None = None) -> Path:
    """Return the file of Claude Code's settings: the project's in this folder, or the user's."""
    if project:
        return Path.cwd() / ".claude" / "settings.json"
    home = variable("HOME", environment) or Path.home()
    folder = variable("CLAUDE_CONFIG_DIR", environment) or Path(home, ".claude")
    return Path(folder).expanduser() / "settings.json"


def _agent_of(folder: Path) -> str:
    """Return the name of a project's own agent: two projects of one name have two memories."""
    return f"{safe_name(folder.name)[:-9]}-{safe_name(str(folder))[-8:]}"


def _line(event: str, told: Globals, *, shared: bool) -> str:
    """Return a hook's command line, for the workspace that was named; a shared file holds no path of a program."""
    script = Path(sys.executable).with_name("reverie")
    program = (
        ["reverie"] if shared else [str(script)] if script.exists() else [sys.executable, "-m", "reverie"]
    )
    named = (
        ("--workspace", told.workspace.absolute() if told.workspace else None),
        ("--agent-id", told.agent_id),
        ("--config-dir", told.config_dir.absolute() if told.config_dir else None),
        ("--user", told.user),
    )
    options = [part for option, value in named if value for part in (option, str(value))]
    settings = [part for one in told.set for part in ("--set", one)]
    return shlex.join([*program, "hook", event, *options, *settings])
