"""Setting a key in a workspace's own `reverie.toml`, which people edit too.

Owns the change of one line; promises that comments and every other line stay, and that nothing is written which would
not be read back as asked; never sets what a workspace may not decide.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from reverie import layout
from reverie.core.settings.keys import toml
from reverie.core.settings.sources import parse_toml, read_flags, read_table
from reverie.errors import UsageError
from reverie.store.workspace import Workspace

_TABLE = re.compile(r"\[([\w.]+)\]\s*(#.*)?")


def keep_settings(ws: Workspace, told: Mapping[str, str]) -> None:
    """Write settings (dotted name to text) into `reverie.toml`; raises BadSettings, or UsageError for an odd file."""
    values = read_flags(told)
    text = (ws.disk.read(layout.SETTINGS) or b"").decode("utf-8")
    for path, value in values.items():
        text = _with(text, path, f"{path[-1]} = {toml(value)}")
    place = str(ws.root / layout.SETTINGS)
    if not values.items() <= read_table(parse_toml(text, place), place, stranger=True).items():
        message = (
            f"{place} is written in a way that cannot be changed safely: set {', '.join(told)} there by hand"
        )
        raise UsageError(message)
    ws.disk.replace(layout.SETTINGS, text.encode())


def _with(text: str, path: tuple[str, ...], setting: str) -> str:
    """Return the text with `setting` in place of its key's line, set or commented out, else added to its table."""
    wanted, table, begins = ".".join(path[:-1]), "", 0
    lines = text.split("\n")
    key = re.compile(rf"#?\s*{re.escape(path[-1])}\s*=")
    for number, one in enumerate(lines):
        if found := _TABLE.fullmatch(one.strip()):
            table = found[1]
            begins = number + 1 if table == wanted else begins
        elif table == wanted and key.match(one):
            return "\n".join([*lines[:number], setting, *lines[number + 1 :]])
    if wanted and not begins:
        return "\n".join([text.rstrip("\n"), "", f"[{wanted}]", setting, ""])
    return "\n".join([*lines[:begins], setting, *lines[begins:]])
