"""What a person sees: every text made harmless, styled on a terminal, plain anywhere else.

Owns printing for people; promises that no text, whoever wrote it, moves the cursor, changes colours, reverses the
reading direction or hides characters, and that nothing in a text is taken for markup; never decides what is shown.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TextIO

_HIDDEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls: they move the cursor, change colours, ring, or erase what was printed
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"  # reading direction: a text can be made to read as another
    "\u00ad\u034f\u180e\u200b\u2060-\u2065\ufeff\u115f\u1160\u3164\uffa0"  # no width: words that are not what they seem
    "\u2028\u2029\ufff9-\ufffb"  # line ends that a terminal or a browser may honour
    "\ud800-\udfff\U000e0000-\U000e0fff"  # half characters, which cannot be printed, and tags, which nobody sees
)
_UNSAFE = re.compile(f"[{_HIDDEN}]")
_JOINER = re.compile("[\u200c\u200d]")
_ESCAPED = re.compile(f"[{_HIDDEN}\u200b-\u200f]")
_PICTURES = 0x2400  # where Unicode keeps a picture of each of the first 32 controls
_DELETE = 0x7F

# What a joiner may join: neighbours in scripts or emoji that are written with it. Between Latin letters it only hides.
_JOINED = re.compile(
    "[\u0590-\u1cff\ufb1d-\ufefc\u2190-\u2bff\ufe0f\U0001f000-\U0001faff\U00010a00-\U00011fff]"
)


@dataclass(frozen=True, slots=True)
class Styled:
    """A text and its style, in rich's words (`bold`, `dim`, `cyan`); the style is used on a terminal only."""

    text: str
    style: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of output: its parts, and by how many columns its continuation is indented when it is too long."""

    parts: tuple[Styled, ...]
    indent: int = 0


def clean(text: str) -> str:
    """Return `text` as it may be printed: line ends and tabs stay, whatever else would act or hide is shown by name.

    ESC becomes `␛`, other characters `⟨U+202E⟩`. Cleaning what is clean changes nothing.
    """
    text = text.replace("\r\n", "\n")
    return _JOINER.sub(_joiner, _UNSAFE.sub(lambda found: _name(found[0]), text))


def one_line(text: str) -> str:
    """Return `text` on one line, cleaned."""
    return clean(" ".join(text.split()))


def escaped(text: str) -> str:
    """Return JSON in which whatever would act on a terminal stands as an escape, which reads as the same value."""
    return _ESCAPED.sub(lambda found: json.dumps(found[0])[1:-1], text)


def _name(char: str) -> str:
    """Return what is shown in place of `char`."""
    code = ord(char)
    if code < ord(" "):
        return chr(_PICTURES + code)
    return "␡" if code == _DELETE else f"⟨U+{code:04X}⟩"


def _joiner(found: re.Match[str]) -> str:
    """Return a joiner as it is where its neighbours are written with one, and its name anywhere else."""
    before, after = found.string[: found.start()][-1:], found.string[found.end() :][:1]
    return found[0] if _JOINED.match(before) and _JOINED.match(after) else _name(found[0])


def line(*parts: str | Styled, indent: int = 0) -> Line:
    """Return a line made of texts and styled texts."""
    return Line(tuple(part if isinstance(part, Styled) else Styled(part) for part in parts), indent)


def bold(text: str) -> Styled:
    """Return `text` in bold."""
    return Styled(text, "bold")


def dim(text: str) -> Styled:
    """Return `text` in the background."""
    return Styled(text, "dim")


def say(*lines: str | Styled | Line, to: TextIO | None = None) -> None:
    """Print lines for a person, each text cleaned; on a terminal with styles, wrapped at its width."""
    stream = to or sys.stdout
    ready = [one if isinstance(one, Line) else line(one) for one in lines]
    if stream.isatty():
        _paint(ready, stream)
    else:
        write("".join(f"{plain(one)}\n" for one in ready), stream)


def plain(one: Line) -> str:
    """Return a line without styles, cleaned."""
    return "".join(clean(part.text) for part in one.parts)


def write(text: str, stream: TextIO) -> None:
    """Write `text`; what the stream's encoding does not know is written as an escape."""
    try:
        stream.write(text)
    except UnicodeEncodeError:
        encoding = stream.encoding or "ascii"
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))


def _paint(lines: Iterable[Line], stream: TextIO) -> None:
    """Print lines on a terminal."""
    from rich.console import Console
    from rich.text import Text

    console = Console(file=stream, highlight=False, markup=False, emoji=False)
    for one in lines:
        text = Text.assemble(*((clean(part.text), part.style) for part in one.parts), end="")
        for at, row in enumerate(text.split("\n", allow_blank=True)):
            indent = min(one.indent, console.width // 3)
            wrapped = (
                row.wrap(console, max(console.width - indent, 10)) if row.cell_len > console.width else [row]
            )
            for number, piece in enumerate(wrapped):
                hanging = " " * indent if number or at else ""
                console.print(Text.assemble(hanging, piece), no_wrap=True, crop=False, overflow="ignore")
