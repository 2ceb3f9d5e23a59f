r"""Text inside a daily log's line: any Unicode text as part of one line that people and Obsidian can read.

Owns the escapes of the daily log; promises that decoding gives back exactly what was encoded, and that a
backslash stands only where the text would otherwise read as grammar; never looks at whole lines
(`core.formats.daylog` does).

A line break is `<br>`, any other control character (and half a surrogate pair, and a blank that begins or ends a
text) is `&#xHH;`; the same words in a text have a backslash before them, and backslashes before either are
doubled. Nothing else in the middle of a text is touched. The end of a text is where fields and tags would be
read, so there a text that looks like one is *guarded*: `(a:: b\)`, `` \`code` ``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from reverie.core.text.patterns import Words

_CONTROLS = r"\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff"
_PUNCTUATION = r"!-/:-@\[-`{-~"  # what CommonMark lets a backslash escape
_REFERENCE = r"&#x[0-9A-Fa-f]{1,6};"

_SPECIAL = Words(rf"[{_CONTROLS}<&]")
_PLAIN = Words(rf"(\\*)(<br>|{_REFERENCE}|[{_CONTROLS}]|\A | \Z)")
_WRITTEN = Words(rf"(\\*)(<br>|{_REFERENCE})")

_VALUE_SPECIAL = Words(rf"[{_CONTROLS}<&\\(),]")
_VALUE_PLAIN = Words(rf"\\(?=[{_PUNCTUATION}{_CONTROLS}]| ?\Z)|<br>|{_REFERENCE}|[{_CONTROLS}]|\A | \Z|[(),]")
_VALUE_WRITTEN = Words(rf"\\([{_PUNCTUATION}])|<br>|{_REFERENCE}")
_ITEMS = re.compile(r"(?:[^,\\]|\\.?)+", re.DOTALL)

_FIELD = re.compile(r"[a-z][a-z0-9_-]*:: ")
_PAREN_BACKWARDS = Words(r"([()])(\\*)")
# A tag that may stand between backticks; what looks like a command or an expression is code, not a tag.
_TAG = rf"(?!-)[^\s{_CONTROLS}`\\<>&=(){{}}\[\]\"'$;|*,]+"
_TAGS = Words(rf"{_TAG}(?: {_TAG})*")


def encode(text: str) -> str:
    """Return `text` as it stands within a line."""
    if _SPECIAL.search(text) or text[:1] == " " or text[-1:] == " ":
        return _PLAIN.sub(_encoded, text)
    return text


def decode(written: str) -> str:
    """Return the text that stands as `written` within a line."""
    if "<br>" in written or "&#x" in written:
        return _WRITTEN.sub(_decoded, written)
    return written


def encode_value(text: str) -> str:
    """Return `text` as the value of a field. Parentheses stay as they are when each has its partner."""
    return _encode_value(text, commas=False)


def decode_value(written: str) -> str:
    """Return the text of a field's value. A backslash before punctuation is no part of it."""
    if "\\" in written or "<br>" in written or "&#x" in written:
        return _VALUE_WRITTEN.sub(_decoded_value, written)
    return written


def encode_items(items: Sequence[str]) -> str:
    """Return several texts as the value of one field, separated by commas. None of them is empty."""
    return ", ".join(_encode_value(item, commas=True) for item in items)


def decode_items(written: str) -> tuple[str, ...]:
    """Return the texts of a field's value separated by commas; empty ones are left out."""
    items = (match[0].strip(" \t") for match in _ITEMS.finditer(written))
    return tuple(decode_value(item) for item in items if item)


def trailing_field(line: str) -> tuple[int, str] | None:
    """Return where the last field of `line` begins, and what stands between its parentheses, if the line ends in one.

    A field is ` (name:: value)` behind a blank that is not the line's beginning; parentheses in its value are
    paired or have a backslash.
    """
    if line[-1:] != ")":
        return None
    begin = line.rfind("(")
    if begin < 1 or line[begin - 1] != " " or line.find(")", begin) != len(line) - 1 or line[-2] == "\\":
        begin = _opening(line)
        if begin < 1 or line[begin - 1] != " ":
            return None
    return (begin, line[begin + 1 : -1]) if _FIELD.match(line, begin + 1, len(line) - 1) else None


def trailing_tags(line: str) -> tuple[int, tuple[str, ...]] | None:
    """Return where the tags at the end of `line` begin, and the tags, if it ends in some between backticks."""
    if line[-1:] != "`":
        return None
    begin = line.rfind("`", 0, -1)
    if begin < 2 or line[begin - 1] != " " or not _TAGS.fullmatch(line, begin + 1, len(line) - 1):  # noqa: PLR2004 - a character and a blank
        return None
    return begin, tuple(line[begin + 1 : -1].split(" "))


def is_tag(text: str) -> bool:
    """Tell whether `text` can stand as a tag between backticks."""
    return _TAGS.fullmatch(text) is not None and " " not in text


def guard(written: str, *, code: bool) -> str:
    r"""Return an encoded text whose end is read as text: `(a:: b)` becomes `(a:: b\)`.

    `code`: tags are looked for behind it, so a trailing code span is guarded too. An end that is guarded
    already in the text itself gets a guard more, so that taking one off gives it back.
    """
    if written[-1:] == ")":
        body, slashes = _without_slashes(written, len(written) - 1)
        if trailing_field(body + ")"):
            return body + "\\" * (2 * slashes + 1) + ")"
    elif code and written[-1:] == "`":
        tick = written.rfind("`", 0, -1)
        body, slashes = _without_slashes(written, max(tick, 0))
        if trailing_tags(body + written[tick:]):
            return body + "\\" * (slashes + 1) + written[tick:]
    return written


def unguard(written: str, *, code: bool) -> str:
    """Return the encoded text that `guard` was given."""
    if written[-2:] == "\\)":
        body, slashes = _without_slashes(written, len(written) - 1)
        if slashes % 2 and trailing_field(body + ")"):
            return body + "\\" * (slashes // 2) + ")"
    elif code and written[-1:] == "`":
        tick = written.rfind("`", 0, -1)
        body, slashes = _without_slashes(written, max(tick, 0))
        if slashes and trailing_tags(body + written[tick:]):
            return body + "\\" * (slashes - 1) + written[tick:]
    return written


def _without_slashes(written: str, end: int) -> tuple[str, int]:
    """Return what stands before `end` without the backslashes that end it, and their number."""
    body = written[:end].rstrip("\\")
    return body, end - len(body)


def _opening(line: str) -> int:
    """Return where the parenthesis opens that the last character closes, or -1; a backslash makes one plain text."""
    depth = 0
    for match in _PAREN_BACKWARDS.finditer(line[::-1]):  # lazily: the partner is mostly near the end
        if len(match[2]) % 2:
            if not depth:
                return -1
            continue
        depth += 1 if match[1] == ")" else -1
        if not depth:
            return len(line) - 1 - match.start()
    return -1


def _encoded(match: re.Match[str]) -> str:
    slashes, what = match[1] * 2, match[2]
    if what == "\n":
        return slashes + "<br>"
    if len(what) > 1:
        return f"{slashes}\\{what}"
    return f"{slashes}&#x{ord(what):X};"


def _decoded(match: re.Match[str]) -> str:
    slashes, what = match[1], match[2]
    plain = slashes[: len(slashes) // 2]
    return plain + (what if len(slashes) % 2 else _character(what))


def _character(written: str) -> str:
    if written == "<br>":
        return "\n"
    code = int(written[3:-1], 16)
    return chr(code) if code <= 0x10FFFF else written  # noqa: PLR2004 - the last code point


def _encode_value(text: str, *, commas: bool) -> str:
    if not (_VALUE_SPECIAL.search(text) or text[:1] == " " or text[-1:] == " "):
        return text
    bare = ("" if commas else ",") + ("()" if _paired(text) else "")

    def written(match: re.Match[str]) -> str:
        what = match[0]
        if what in bare:
            return what
        if what == "\n":
            return "<br>"
        return f"\\{what}" if len(what) > 1 or what in "\\()," else f"&#x{ord(what):X};"

    return _VALUE_PLAIN.sub(written, text)


def _decoded_value(match: re.Match[str]) -> str:
    return match[1] or _character(match[0])


def _paired(text: str) -> bool:
    depth = 0
    for char in text:
        if char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
            if depth < 0:
                return False
    return depth == 0
