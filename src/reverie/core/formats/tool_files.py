"""What Anthropic's memory tool says and does with the text of a file: names, numbered lines, edits, listings.

Owns the tool's words, as its documentation has them, and which names may stand beneath `/memories`; promises that a
path is refused whatever way it takes out of there (`..`, backslashes, percent signs that stand for them, device
names); never touches a file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from urllib.parse import unquote

from reverie.errors import UsageError

ROOT = "/memories"
MOST_LINES = 999_999
HIDDEN = "[forgotten]"  # stands for a line nobody may read any more, so that the numbers of the others stay
_WIDTH = 6
_AROUND = 2  # lines shown before and after an edit
_LONGEST_NAME = 200  # bytes, well within what file systems allow
_DEEPEST = 16
_DECODED = 8  # times a path may be percent-encoded before it is refused for that
_KILO = 1024
_DEVICE = re.compile(r"(?:con|prn|aux|nul|clock\$|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?", re.IGNORECASE)
_UNFIT = re.compile('[\\x00-\\x1f\\x7f:*?"<>|\ud800-\udfff]')
_UNFINISHED = ".~reverie-"  # how the names of unfinished replacements begin


def relative(path: str) -> str:
    """Return a tool's path beneath `/memories`, empty for `/memories` itself; raises UsageError in the tool's words."""
    if path != ROOT and not path.startswith(f"{ROOT}/"):
        message = f"Path must start with {ROOT}, got: {path}"
        raise UsageError(message)
    names = [name for name in path.removeprefix(ROOT).split("/") if name not in {"", "."}]
    if _escapes(path) or len(names) > _DEEPEST:
        message = f"Path {path} would escape {ROOT} directory"
        raise UsageError(message)
    for name in names:
        if reason := _objection(name):
            message = f"Error: The path {path} cannot be used: {reason}"
            raise UsageError(message)
    return "/".join(names)


def numbered(path: str, text: str, *, span: Sequence[int] | None, most: int) -> str:
    """Return a file's lines as the tool shows them, those of `span` (first and last, -1: the end) or all.

    What goes beyond `most` characters is left for another view, and said so. Raises UsageError for too many lines and
    for a span that is none.
    """
    lines = text.split("\n")
    if len(lines) > MOST_LINES:
        message = f"File {path} exceeds maximum line limit of 999,999 lines."
        raise UsageError(message)
    first, last = _span(path, span, len(lines))
    shown: list[str] = []
    size = 0
    for number in range(first, last + 1):
        line = _line(number, lines[number - 1])
        size += len(line) + 1
        if size > most and shown:
            shown.append(
                f"[lines {number} to {last} of {len(lines)} are left out: view them with view_range]"
            )
            break
        shown.append(line if size <= most else f"{line[:most]}… [the line is cut]")
    return "\n".join((f"Here's the content of {path} with line numbers:", *shown))


def replaced(path: str, text: str, *, old: str, new: str) -> tuple[str, int]:
    """Return the text with `new` for the one place of `old`, and the line of that place; raises UsageError."""
    places = [found.start() for found in re.finditer(f"(?={re.escape(old)})", text)] if old else []
    if not places:
        message = f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}."
        raise UsageError(message)
    if len(places) > 1:
        lines = ", ".join(str(text.count("\n", 0, place) + 1) for place in places)
        message = (
            f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {lines}."
            " Please ensure it is unique"
        )
        raise UsageError(message)
    place = places[0]
    return text[:place] + new + text[place + len(old) :], text.count("\n", 0, place) + 1


def edited(text: str, line: int, *, hide: Callable[[str], str]) -> str:
    """Return what the tool says after a replacement at a line of the new `text`, which `hide` makes readable."""
    lines = hide(text).split("\n")
    around = range(max(1, line - _AROUND), min(len(lines), line + _AROUND) + 1)
    head = "The memory file has been edited. Here is the snippet showing the change (with line numbers):"
    return "\n".join((head, *(_line(number, lines[number - 1]) for number in around)))


def inserted(text: str, line: int, *, new: str) -> str:
    """Return the text with `new` after line number `line` (0: before the first); raises UsageError."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    if not 0 <= line <= len(lines):
        message = (
            f"Error: Invalid `insert_line` parameter: {line}. It should be within the range of lines of the file:"
            f" [0, {len(lines)}]"
        )
        raise UsageError(message)
    lines.insert(line, new.rstrip("\n"))
    return "\n".join(lines) + "\n"


def listing(path: str, found: Iterable[tuple[str, int, bool]], *, total: int) -> str:
    """Return a folder as the tool lists it: its size, then each thing two levels deep with its size in bytes.

    `found` has names beneath the folder, sizes, and whether it is a folder.
    """
    shown = path.rstrip("/")
    head = (
        f"Here're the files and directories up to 2 levels deep in {path},"
        " excluding hidden items and node_modules:"
    )
    lines = [f"{_size(size)}\t{shown}/{name}{'/' * folder}" for name, size, folder in found]
    return "\n".join((head, f"{_size(total)}\t{shown}", *lines))


def readable(text: str, hides: Callable[[str], bool]) -> str:
    """Return a file's text with `[forgotten]` for each line that says what `hides` tells, lines keeping their numbers.

    Where only several lines together say it, the whole paragraph is left out.
    """
    if not hides(text):
        return text
    lines = [HIDDEN if line.strip() and hides(line) else line for line in text.split("\n")]
    begun = 0
    for end in [*(number for number, line in enumerate(lines) if not line.strip()), len(lines)]:
        if begun < end and hides("\n".join(lines[begun:end])):
            lines[begun:end] = [HIDDEN] * (end - begun)
        begun = end + 1
    if hides("\n".join(lines)):
        lines = [HIDDEN if line.strip() else line for line in lines]
    return "\n".join(lines)


def _escapes(path: str) -> bool:
    """Tell whether a path, decoded as often as it takes, has a part that leads out."""
    for _ in range(_DECODED):
        if "\\" in path or "\0" in path or ".." in (part.strip() for part in path.split("/")):
            return True
        plain = unquote(path)
        if plain == path:
            return False
        if plain.count("/") != path.count("/"):
            return True  # a slash in disguise: what is one name here would be two elsewhere
        path = plain
    return True


def _objection(name: str) -> str:
    """Return why a file or folder may not have this name; empty when it may."""
    if _UNFIT.search(name):
        return 'a name holds none of : * ? " < > | and no control characters'
    if _DEVICE.fullmatch(name):
        return f"{name} is the name of a device"
    if name != name.strip() or name.endswith("."):
        return "a name begins and ends with neither a blank nor, at its end, a dot"
    if name.startswith(_UNFINISHED):
        return f"names that begin with {_UNFINISHED} are taken"
    if len(name.encode()) > _LONGEST_NAME:
        return f"a name has at most {_LONGEST_NAME} bytes"
    return ""


def _span(path: str, span: Sequence[int] | None, lines: int) -> tuple[int, int]:
    """Return the first and last line to show; raises UsageError for what is no span of the file."""
    if span is None:
        return 1, lines
    first, last = max(1, span[0]), lines if span[1] == -1 else min(span[1], lines)
    if first > lines or last < first:
        message = (
            f"Error: Invalid `view_range` parameter: {list(span)}. {path} has {lines} lines:"
            " give the first and the last line to show, or -1 for the end"
        )
        raise UsageError(message)
    return first, last


def _line(number: int, text: str) -> str:
    return f"{number:>{_WIDTH}}\t{text}"


def _size(size: int) -> str:
    """Return a size as people read it: `512B`, `5.5K`, `1.2M`."""
    if size < _KILO:
        return f"{size}B"
    scaled, unit = size / _KILO, "K"
    for larger in "MG":
        if scaled < _KILO:
            break
        scaled, unit = scaled / _KILO, larger
    return f"{scaled:.1f}{unit}"
