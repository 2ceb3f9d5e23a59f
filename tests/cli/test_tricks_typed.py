"""Path tricks in every option and argument of every command (P-18): nothing outside is read, changed or told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tricks import CANARY, Outside

from reverie import errors
from reverie.errors import ReverieError
from reverie.surface.cli.commands import COMMANDS
from reverie.surface.cli.frame import global_options
from reverie.surface.cli.main import load

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import Shell

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

# What takes a file or folder of whoever calls it, who may read and write there anyway.
THEIRS = {
    ("import", "source"), ("export", "target"), ("init", "folder"), ("trust", "folder"), ("members", "add"),
    ("members", "remove"), ("token", "root"),
}  # fmt: skip
SERVING = {
    "mcp",
    "serve",
    "demo",
    "completion",
    "install",
    "uninstall",
}  # they serve, show a sample, or write for others
CODES = {
    0,
    *(
        one.exit_code
        for one in vars(errors).values()
        if isinstance(one, type) and issubclass(one, ReverieError)
    ),
}
STEP = 6  # each place gets one trick in so many, and every trick many places


def places() -> Iterator[tuple[tuple[str, ...], Any, list[Any]]]:
    """Yield each option and argument that takes a text: its command's words, itself, and all that the command takes."""
    shared = {one.name for one in global_options()}
    for row in COMMANDS:
        if row.name in SERVING:
            continue
        found = load(row.name)
        each: dict[tuple[str, ...], Any] = {
            (row.name, name): one for name, one in getattr(found, "commands", {}).items()
        } or {(row.name,): found}
        for words, command in each.items():
            own = [one for one in command.params if one.name not in shared and one.name != "help"]
            yield from ((words, one, own) for one in own if not getattr(one, "is_flag", False))


def called(words: tuple[str, ...], place: Any, own: list[Any], trick: str) -> list[str]:
    """Return a call with the trick in one place, and something harmless wherever else something has to stand."""
    options: list[str] = []
    arguments: list[str] = []
    for one in own:
        value = trick if one is place else "x"
        if one.param_type_name == "argument":
            arguments += [value] if one is place or one.required else []
        elif one is place or one.required:
            options.append(f"{one.opts[-1]}={value}")
    return [*words, *options, "--", *arguments]


def test_no_word_of_a_call_is_a_path(shell: Shell) -> None:
    """Whatever path stands in an option or argument, the call ends as documented and nothing outside is touched."""
    shell.ok("remember", "User likes tea")
    outside = Outside(shell.folder.parent, shell.folder)
    wrong, tried, left = [], 0, set(THEIRS)
    for number, (words, place, own) in enumerate(places()):
        if (words[0], place.name) in THEIRS:
            left.discard((words[0], place.name))
            continue
        for trick in outside.tricks[number % STEP :: STEP]:
            if "\0" in trick:  # which no system hands to a program
                continue
            answer = shell(*called(words, place, own, trick), stdin=b"{}")
            tried += 1
            said = answer.out + answer.err
            if answer.code not in CODES or CANARY in said or "Traceback" in said:
                wrong.append((words, place.name, trick[:80], answer.code, said[:300]))
    assert wrong == []
    assert tried > 300
    assert not left
    assert outside.stands() == outside.before


def test_no_name_of_a_person_or_an_agent_is_a_path(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever path an agent or a person is called, what is theirs lies where it lies for any other name."""
    monkeypatch.setenv("HOME", str(shell.folder.parent / "home"))
    shell.ok("remember", "User likes tea")
    outside = Outside(shell.folder.parent, shell.folder)
    for trick in outside.tricks:
        if "\0" in trick:
            continue
        told = shell("remember", "Likes tea", f"--user={trick}")
        assert told.code in CODES, told
        if told.code == 0:
            assert shell.json("list", f"--user={trick}")[0]["text"] == "Likes tea"
        named = shell.raw("list", f"--agent-id={trick}", "--config-dir", str(shell.config))
        assert named.code in CODES - {0}, named
        assert CANARY not in told.out + told.err + named.out + named.err
    assert outside.stands() == outside.before
    assert {path.parent.name for path in (shell.folder / "people").glob("*")} == {"people"}
