"""Anthropic's memory tool (`memory_20250818`) over a workspace's `files/`.

Owns the tool's six commands; promises the answers and errors of Anthropic's documentation, word for word, that nothing
beneath `/memories` leads out of `files/`, and that secrets are taken out before a byte is written and what is forgotten
is not shown; never shows or changes another file of the workspace.

`handle` answers a command as a host gets it from the API. `memory_tool` and `async_memory_tool` are the same as a tool
of Anthropic's SDK, for its tool runner; they need `pip install 'reverie[models]'`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from reverie.adapters.one_at_a_time import finished, lock_of
from reverie.core.formats import tool_files
from reverie.errors import InvalidRecord, ReverieError, UnsafePath, UsageError
from reverie.store.hosts import files
from reverie.store.workspace import Workspace

if TYPE_CHECKING:
    from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool

    from reverie.memory import Memory

VIEWED = 100_000  # characters of one view; the tool asks for the rest by lines
_ValueT = TypeVar("_ValueT")


class Handled(msgspec.Struct, frozen=True):
    """The text of a tool result, and whether it is an error: `content` and `is_error` of a `tool_result` block."""

    text: str
    is_error: bool = False


def handle(memory: Memory, command: Mapping[str, Any]) -> Handled:
    """Carry out one command, the `input` of a `tool_use` block; on return what it changed is on disk.

    Whatever is wrong with the command or its path is told in the answer.

    >>> from reverie.adapters.anthropic_memory import handle
    >>> handle(memory, {"command": "create", "path": "/memories/a.md", "file_text": "Prefers tea"}).text
    'File created successfully at: /memories/a.md'
    """
    name = command.get("command")
    run = _COMMANDS.get(name) if isinstance(name, str) else None
    try:
        if run is None:
            known = ", ".join(_COMMANDS)
            message = f"Error: Unknown command: {name}. The commands are {known}"
            raise UsageError(message)  # noqa: TRY301 - one place says how an error is told
        return Handled(run(memory, command))
    except UsageError as error:
        return Handled(str(error), is_error=True)
    except InvalidRecord as error:
        return Handled(f"Error: {error}", is_error=True)
    except UnsafePath as error:
        path = command.get("path", command.get("old_path"))
        led_out = f"Path {path} would escape /memories directory via symlink"
        return Handled(led_out if "link" in str(error) else f"Error: {error}", is_error=True)
    except ReverieError as error:
        return Handled(f"Error: {error}", is_error=True)


def memory_tool(memory: Memory) -> BetaAbstractMemoryTool:
    """Return the memory as a tool for the SDK's tool runner; raises UsageError without the SDK."""
    _sdk()
    from anthropic.lib.tools import BetaAbstractMemoryTool, ToolError

    class ReverieMemoryTool(BetaAbstractMemoryTool):
        """The six commands over `files/`."""

        def call(self, input: object) -> str:  # noqa: A002 - the SDK's name
            """Carry out a command as the API gave it."""
            with lock_of(memory):
                done = handle(memory, _mapping(input))
            if done.is_error:
                raise ToolError(done.text)
            return done.text

        def _of_model(self, command: Any) -> str:  # noqa: ANN401 - one of the SDK's models
            return self.call(command.to_dict())

        view = create = str_replace = insert = delete = rename = _of_model

        def clear_all_memory(self) -> str:
            """Delete every memory file."""
            with lock_of(memory):
                _clear(memory)
            return "All memory cleared"

    return ReverieMemoryTool()


def async_memory_tool(memory: Memory) -> BetaAsyncAbstractMemoryTool:
    """Return the memory as a tool for the SDK's asynchronous tool runner; raises UsageError without the SDK.

    Files are read and written in a thread. A call that is cancelled is carried out whole before the task ends.
    """
    _sdk()
    from anthropic.lib.tools import BetaAsyncAbstractMemoryTool

    tool = memory_tool(memory)

    class ReverieAsyncMemoryTool(BetaAsyncAbstractMemoryTool):
        """The six commands over `files/`, without blocking."""

        async def call(self, input: object) -> Any:  # noqa: A002, ANN401 - the SDK's name, its type of results
            """Carry out a command as the API gave it."""
            return await finished(lambda: tool.call(input))

        async def _of_model(self, command: Any) -> Any:  # noqa: ANN401 - one of the SDK's models
            return await self.call(command.to_dict())

        view = create = str_replace = insert = delete = rename = _of_model

        async def clear_all_memory(self) -> Any:  # noqa: ANN401 - the SDK's type of results
            """Delete every memory file."""
            return await finished(tool.clear_all_memory)

    return ReverieAsyncMemoryTool()


# The commands


def _view(memory: Memory, command: Mapping[str, Any]) -> str:
    path = _given(command, "path", str)
    name, ws = tool_files.relative(path), _reading(memory)
    what = files.kind(ws, name)
    if what == "folder":
        hides = memory.opened.mask.text
        shown = [one for one in files.listed(ws, name, 2) if not hides(_as_words(one[0]))]
        return tool_files.listing(path, shown, total=files.size(ws, name))
    text = files.read(ws, name) if what == "file" else None
    if text is None:
        message = f"The path {path} does not exist. Please provide a valid path."
        raise UsageError(message)
    return tool_files.numbered(path, _readable(memory, text), span=_range(command), most=VIEWED)


def _create(memory: Memory, command: Mapping[str, Any]) -> str:
    path, text = _given(command, "path", str), _given(command, "file_text", str)
    name, ws = tool_files.relative(path), memory.opened.writable
    if not name or not files.create(ws, name, text):
        message = f"Error: File {path} already exists"
        raise UsageError(message)
    return f"File created successfully at: {path}"


def _str_replace(memory: Memory, command: Mapping[str, Any]) -> str:
    path, old = _given(command, "path", str), _given(command, "old_str", str)
    new = _given(command, "new_str", str) if command.get("new_str") is not None else ""
    name, ws = tool_files.relative(path), memory.opened.writable
    line = 0

    def edit(text: str) -> str:
        nonlocal line
        result, line = tool_files.replaced(path, text, old=old, new=new)
        return result

    stored = files.change(ws, name, edit) if files.kind(ws, name) == "file" else None
    if stored is None:
        message = f"Error: The path {path} does not exist. Please provide a valid path."
        raise UsageError(message)
    return tool_files.edited(stored, line, hide=lambda text: _readable(memory, text))


def _insert(memory: Memory, command: Mapping[str, Any]) -> str:
    path, line = _given(command, "path", str), _given(command, "insert_line", int)
    new = _given(command, "insert_text", str)
    name, ws = tool_files.relative(path), memory.opened.writable
    done = files.kind(ws, name) == "file" and files.change(
        ws, name, lambda text: tool_files.inserted(text, line, new=new)
    )
    if not isinstance(done, str):
        message = f"Error: The path {path} does not exist"
        raise UsageError(message)
    return f"The file {path} has been edited."


def _delete(memory: Memory, command: Mapping[str, Any]) -> str:
    path = _given(command, "path", str)
    name = tool_files.relative(path)
    if not name:
        message = "Cannot delete the /memories directory itself"
        raise UsageError(message)
    if not files.remove(memory.opened.writable, name):
        message = f"Error: The path {path} does not exist"
        raise UsageError(message)
    return f"Successfully deleted {path}"


def _rename(memory: Memory, command: Mapping[str, Any]) -> str:
    old_path, new_path = _given(command, "old_path", str), _given(command, "new_path", str)
    old, new = tool_files.relative(old_path), tool_files.relative(new_path)
    if not old:
        message = "Cannot rename the /memories directory itself"
        raise UsageError(message)
    if new.startswith(f"{old}/"):
        message = f"Error: The destination {new_path} lies in {old_path} itself"
        raise UsageError(message)
    done = files.move(memory.opened.writable, old, new)
    if done == "absent":
        message = f"Error: The path {old_path} does not exist"
        raise UsageError(message)
    if done == "taken":
        message = f"Error: The destination {new_path} already exists"
        raise UsageError(message)
    return f"Successfully renamed {old_path} to {new_path}"


_COMMANDS = {
    "view": _view,
    "create": _create,
    "str_replace": _str_replace,
    "insert": _insert,
    "delete": _delete,
    "rename": _rename,
}


# What they share


def _given(command: Mapping[str, Any], name: str, kind: type[_ValueT]) -> _ValueT:
    """Return a parameter of a command; raises UsageError when it is missing or of another type."""
    value = command.get(name)
    if kind is int and isinstance(value, str) and value.removeprefix("-").isdecimal():
        value = int(value)  # models send numbers as text now and then
    if not isinstance(value, kind) or isinstance(value, bool):
        message = f"Error: The parameter `{name}` of {command.get('command')} must be {_KINDS[kind]}"
        raise UsageError(message)
    return value


_KINDS: dict[type, str] = {str: "text", int: "a whole number"}


def _range(command: Mapping[str, Any]) -> list[int] | None:
    """Return `view_range`, None when it was not given; raises UsageError for what is no pair of numbers."""
    value = command.get("view_range")
    if value is None:
        return None
    if not isinstance(value, list) or [type(one) for one in value] != [int, int]:
        message = "Error: Invalid `view_range` parameter: give the first and the last line, such as [1, 50]"
        raise UsageError(message)
    return value


def _readable(memory: Memory, text: str) -> str:
    return tool_files.readable(text, memory.opened.mask.text)


def _as_words(name: str) -> str:
    """Return a file's name as the words it is made of, for something forgotten may stand there too."""
    return name.rpartition(".")[0].translate(str.maketrans("/-_.", "    ")) or name


def _reading(memory: Memory) -> Workspace:
    """Return the workspace to read from; one that came from elsewhere goes into no prompt."""
    memory.opened.trusted_or_raise()
    return memory.opened.ws


def _clear(memory: Memory) -> None:
    ws = memory.opened.writable
    for name, _, _ in list(files.listed(ws, "", 1)):
        files.remove(ws, name)


def _mapping(given: object) -> Mapping[str, Any]:
    return given if isinstance(given, Mapping) else {}


def _sdk() -> None:
    """Raise UsageError when Anthropic's SDK is not installed."""
    try:
        import anthropic  # noqa: F401
    except ImportError as error:
        message = "the memory tool of Anthropic's SDK needs that SDK: pip install 'reverie[models]'"
        raise UsageError(message) from error
