"""One setting as a reader sees it: its name, what it accepts, how it is written.

Owns the kinds of value and their checks; promises that what `accept` and `parse` return is what a field of
`Settings` holds; never knows which settings there are (`core.settings.value`) or where a value came from (`config`).
"""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from reverie import layout
from reverie.core.days import Calendar
from reverie.errors import BadSettings

Value = bool | int | float | str | tuple[str, ...]
Form = Literal["", "zone", "time", "folder", "globs"]

T = TypeVar("T")

_WORDS = {
    "true": True,
    "yes": True,
    "on": True,
    "1": True,
    "false": False,
    "no": False,
    "off": False,
    "0": False,
}
_EXAMPLES: dict[str, Value] = {
    "zone": "Europe/Berlin",
    "time": "04:00",
    "folder": "vault",
    "globs": ("notes/*.md",),
}
_FORMS = {
    "zone": 'an IANA time zone, or "" for the system\'s',
    "time": "a time of day",
    "folder": "a folder inside the workspace that is not one of its own",
    "globs": "a list of patterns of files inside the workspace",
}
# Half a surrogate pair (an undecodable byte of the environment) could not be written to any file later on.
_PLAIN = re.compile(r"[^\x00-\x1f\x7f\ud800-\udfff]*")
# A notebook in one of these would mix pages with records that are only appended to.
_OWN = frozenset(folder.partition("/")[0] for folder in (*layout.FOLDERS, layout.PEOPLE))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What a field of `Settings` says about itself: its meaning and whatever narrows its type.

    `here`: a workspace's own `reverie.toml` may set it. Only what can neither reach outside the workspace nor
    weaken its protection may, because a workspace can come with somebody's repository.
    """

    why: str
    within: tuple[float, float] | None = None
    here: bool = False
    form: Form = ""
    seed: str = ""


def key(
    why: str,
    *,
    default: T,
    within: tuple[float, float] | None = None,
    here: bool = False,
    form: Form = "",
    seed: str = "",
) -> T:
    """Return the dataclass field of a setting: its meaning in one sentence, its default, and what `Rule` knows."""
    return field(
        default=default, metadata={"rule": Rule(why=why, within=within, here=here, form=form, seed=seed)}
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One setting: its path in a TOML file, its default (whose type is its kind), its choices and its rule."""

    path: tuple[str, ...]
    default: Value
    choices: tuple[str, ...]
    rule: Rule

    @property
    def name(self) -> str:
        """The dotted name, as in a TOML file and on the command line."""
        return ".".join(self.path)

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return f"REVERIE_{'_'.join(self.path).upper()}"

    @property
    def seed_variable(self) -> str:
        """The environment variable made of the seed's own, "" when it had none.

        One that ends in `_DISABLED` sets the opposite of what it says.
        """
        return f"REVERIE_{self.rule.seed.removeprefix('MM_')}" if self.rule.seed.startswith("MM_") else ""

    @property
    def expected(self) -> str:
        """What it accepts, as the end of a sentence that begins with "write"."""
        if self.choices:
            return "one of " + ", ".join(toml(choice) for choice in self.choices)
        if self.rule.form:
            return _FORMS[self.rule.form]
        span = " from {:,} to {:,}".format(*self.rule.within).replace(",", "_") if self.rule.within else ""
        if isinstance(self.default, bool):
            return "true or false"
        if isinstance(self.default, int | float):
            return f"a {'whole ' if isinstance(self.default, int) else ''}number{span}"
        return "a text" if isinstance(self.default, str) else "a list of texts"

    @property
    def example(self) -> Value:
        """A value it accepts and a person might want."""
        return _EXAMPLES[self.rule.form] if self.rule.form else self.default

    def accept(self, value: object) -> Value | None:
        """Return the value of a TOML file as the field holds it, None when it is not accepted."""
        if isinstance(self.default, tuple):
            if not isinstance(value, list | tuple) or not all(is_plain(one) and one for one in value):
                return None
            return tuple(value) if self._fits_form(*value) else None
        if isinstance(self.default, str):
            if not isinstance(value, str) or not is_plain(value) or bool(self.default) > bool(value):
                return None  # only what is empty by default may be left empty
            return value if value in (self.choices or (value,)) and self._fits_form(value) else None
        if isinstance(self.default, bool) or isinstance(value, bool) or not isinstance(value, int | float):
            return value if isinstance(self.default, bool) and isinstance(value, bool) else None
        low, high = self.rule.within or (float("-inf"), float("inf"))
        if not low <= value <= high:  # also refuses NaN
            return None
        if isinstance(self.default, float):
            return float(value)
        return value if isinstance(value, int) else None

    def parse(self, text: str) -> Value | None:
        """Return the value written in an environment variable or a flag, None when it is not accepted.

        Lists are separated by commas, or written as in TOML where a comma belongs to an item.
        """
        text = text.strip() if not isinstance(self.default, str) else text
        if isinstance(self.default, tuple):
            return self.accept(_listed(text))
        if isinstance(self.default, bool):
            return _WORDS.get(text.lower())
        if isinstance(self.default, str):
            return self.accept(text)
        try:
            return self.accept(int(text) if isinstance(self.default, int) else float(text))
        except ValueError:
            return None

    def _fits_form(self, *texts: str) -> bool:
        form = self.rule.form
        if form == "zone":
            return all(not text or _is_calendar(text, "00:00") for text in texts)
        if form == "time":
            return all(_is_calendar("UTC", text) for text in texts)
        if form == "folder":
            return all(not text or (_is_inside(text) and _is_free(text)) for text in texts)
        return form != "globs" or all(_is_inside(text) for text in texts)


def toml(value: Value) -> str:
    """Return the value as a TOML file has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, tuple):
        return f"[{', '.join(toml(one) for one in value)}]"
    return f"{value:_}" if isinstance(value, int) else str(value)


def _listed(text: str) -> object:
    if text == "[]" or text.startswith(('["', "['")):
        try:
            return tomllib.loads(f"list = {text}")["list"]
        except (ValueError, RecursionError):
            return None
    return [one.strip() for one in text.split(",")]


def is_plain(value: object) -> bool:
    """Whether a setting may hold `value`: a text without control characters and half characters."""
    return isinstance(value, str) and bool(_PLAIN.fullmatch(value))


def _is_calendar(zone: str, begins: str) -> bool:
    try:
        Calendar(zone, begins)
    except BadSettings:
        return False
    return True


def _is_inside(path: str) -> bool:
    """Tell whether a path or pattern can only name what lies beneath the workspace."""
    parts = path.split("/")
    return path[:1] != "~" and "\\" not in path and not {"", ".", ".."} & set(parts)


def _is_free(path: str) -> bool:
    """Tell whether a folder is neither hidden nor one of the workspace's own."""
    first = path.partition("/")[0]
    # A file system may ignore case.
    return not first.startswith(".") and first.casefold() not in _OWN
