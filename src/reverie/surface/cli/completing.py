"""The command that lets a shell complete commands and options: completion."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
import typer

from reverie.surface.cli.frame import Verb, answer, application
from reverie.surface.cli.main import COMPLETE, NAME
from reverie.surface.cli.session import one_of
from reverie.surface.render import dim, line

app = application()

Shell = Literal["bash", "zsh", "fish"]
SHELLS: tuple[Shell, ...] = ("bash", "zsh", "fish")

_EXAMPLES = """\
reverie completion bash --install
reverie completion zsh > ~/.zfunc/_reverie
reverie completion fish > ~/.config/fish/completions/reverie.fish
"""


class Completion(msgspec.Struct, frozen=True):
    """What completes in a shell: its script, and the file it was installed in, "" when it was only shown."""

    shell: Shell
    script: str
    installed: str = ""


@app.command("completion", cls=Verb, epilog=_EXAMPLES)
def completion(
    ctx: typer.Context,
    shell: Annotated[str, typer.Argument(metavar="bash|zsh|fish", help="For which shell.")],
    install: Annotated[
        bool, typer.Option("--install", help="Put it where the shell finds it, in place of showing it.")
    ] = False,
) -> None:
    """Show the script by which a shell completes commands and options, or install it for you."""
    # Typer's own options use both, though it does not mark them as exported.
    from typer.completion import get_completion_script  # type: ignore[attr-defined]
    from typer.completion import install as put  # type: ignore[attr-defined]

    kind = one_of(shell, "SHELL", choices=SHELLS)
    script: str = get_completion_script(prog_name=NAME, complete_var=COMPLETE, shell=kind)
    place = str(put(shell=kind, prog_name=NAME, complete_var=COMPLETE)[1]) if install else ""
    shown = [line(f"installed in {place}"), line(dim("open a new shell"))] if place else [line(script)]
    answer(ctx, Completion(kind, script, place), shown)
