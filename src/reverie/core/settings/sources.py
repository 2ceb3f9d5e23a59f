"""Settings out of a TOML text, environment variables or flags, each checked against its key.

Owns the names under which settings are looked for and the sentences that refuse one; promises that each refusal
names the place, the key, what was found, what is accepted and an example; never reads a file or the environment.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Mapping
from datetime import date, time
from pathlib import PurePath

from reverie.core.settings.keys import Key, Value, toml
from reverie.core.settings.value import KEYS
from reverie.errors import BadSettings

PREFIX = "REVERIE_"
WORKSPACE_VARIABLE = "REVERIE_WORKSPACE"
AGENT_VARIABLE = "REVERIE_AGENT_ID"
CONFIG_VARIABLE = "REVERIE_CONFIG_DIR"
TRACEBACK_VARIABLE = "REVERIE_TRACEBACK"

Values = dict[tuple[str, ...], Value]

_PLACES = (WORKSPACE_VARIABLE, AGENT_VARIABLE, CONFIG_VARIABLE, TRACEBACK_VARIABLE)  # no settings, but ours
_BY_VARIABLE = {key.variable: key for key in KEYS.values()}
_BY_SEED_VARIABLE = {key.seed_variable: key for key in KEYS.values() if key.seed_variable}
# Kubernetes and Docker set these in every container beside a service called reverie or reverie-something.
_LINKED = re.compile(
    r"REVERIE_(.+_)?(SERVICE_(HOST|PORT(_.+)?)|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)"
)
_TABLES = {path[0]: key for path, key in reversed(tuple(KEYS.items())) if len(path) > 1}
_TOML_ERROR = re.compile(r"(.*) \(at (?:line (\d+), column \d+|end of document)\)", re.DOTALL)
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_SHOWN = 60
_DOTS = 100  # in one line of a settings file


def parse_toml(text: str, where: str) -> dict[str, object]:
    """Return the tables of a TOML text; `where` names the file. Raises BadSettings with the line."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.count(".") > _DOTS:  # a key of many parts takes the reader the square of their number
            raise BadSettings(f"{where}:{number}: more than {_DOTS} dots in a line; no setting needs that")
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except RecursionError as error:
        raise BadSettings(f"{where} is nested too deeply; no setting needs that") from error
    except ValueError as error:
        found = _TOML_ERROR.fullmatch(str(error))
        line = (found[2] or str(len(text.splitlines()) or 1)) if found else ""
        reason = found[1] if found else "a number has too many digits"
        place = f"{where}:{line}" if line else where
        raise BadSettings(f"{place}: {reason}; write settings as in: {_line_of(_first())}") from error


def read_table(table: object, where: str, *, stranger: bool = False) -> Values:
    """Return the settings of a TOML table, each known and valid; raises BadSettings.

    `where` names the file; `stranger` says that it lies in a workspace and may hold only what such a file may.
    """
    if not isinstance(table, dict):
        raise BadSettings(
            f"{where} is {shown(table)}; write settings below it, such as: {_line_of(_first())}"
        )
    values: Values = {}
    for name, value in table.items():
        key = KEYS.get((name,))
        if key is not None:
            values[key.path] = _accepted(key, value, where=where, stranger=stranger)
        elif name in _TABLES:
            values |= _read_inner(name, value, where=where, stranger=stranger)
        else:
            raise _unknown((name,), value, where)
    return values


def read_environment(environment: Mapping[str, str]) -> Values:
    """Return the settings that variables `REVERIE_*` hold; an empty one counts as not set. Raises BadSettings.

    The seeds' names are honoured, and yield to the setting's own.
    """
    own: Values = {}
    seeds: Values = {}
    for name in sorted(environment):
        if not name.startswith(PREFIX) or name in _PLACES or _LINKED.fullmatch(name):
            continue
        key = _BY_VARIABLE.get(name) or _BY_SEED_VARIABLE.get(name)
        if key is None:
            known = {one: one for one in (*_BY_VARIABLE, *_BY_SEED_VARIABLE, *_PLACES)}
            raise BadSettings(f"the environment's {plain(name)} is no setting; {_instead(name, known)}")
        text = environment[name]
        if not text:
            continue
        value = key.parse(text)
        if value is None:
            example = f"{name}={written(key)}"
            raise BadSettings(
                f"the environment's {name} is {shown(text)}; write {key.expected}, such as {example}"
            )
        if name in _BY_VARIABLE:
            own[key.path] = value
        else:
            seeds[key.path] = not value if name.endswith("_DISABLED") else value
    return seeds | own


def read_flags(flags: Mapping[str, str]) -> Values:
    """Return the settings that flags hold, by dotted name (`dream.min_facts`); raises BadSettings."""
    values: Values = {}
    for name, text in flags.items():
        key = KEYS.get(tuple(name.split(".")))
        if key is None:
            raise _unknown(tuple(name.split(".")), text, "the command line")
        value = key.parse(text)
        if value is None:
            example = f"{key.name}={written(key)}"
            raise BadSettings(
                f"the command line: {name} is {shown(text)}; write {key.expected}, such as {example}"
            )
        values[key.path] = value
    return values


def written(key: Key) -> str:
    """Return the key's example as `Key.parse` reads it."""
    return key.example if isinstance(key.example, str) else toml(key.example)


def plain(name: str) -> str:
    """Return a name that somebody else chose as it may be printed."""
    return name if _BARE.fullmatch(name) and len(name) <= _SHOWN else shown(name)


def shown(value: object) -> str:
    """Return a value that somebody else wrote as it may be printed: on one line, escaped, cut."""
    if isinstance(value, bool):
        return toml(value)
    text = str(value) if isinstance(value, date | time) else repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _read_inner(name: str, table: object, *, where: str, stranger: bool) -> Values:
    if not isinstance(table, dict):
        example = _line_of(_TABLES[name])
        raise BadSettings(
            f"{where}: {name} is {shown(table)}, but it is a table; set what is in it, such as: {example}"
        )
    values: Values = {}
    for inner, value in table.items():
        key = KEYS.get((name, inner))
        if key is None:
            raise _unknown((name, inner), value, where)
        values[key.path] = _accepted(key, value, where=where, stranger=stranger)
    return values


def _accepted(key: Key, value: object, *, where: str, stranger: bool) -> Value:
    if stranger and not key.rule.here:
        folder = toml(str(PurePath(where).parent))
        raise BadSettings(
            f"{where}: {key.name} may not be set by a workspace, which can come from somebody else; remove it, or"
            f" set it in your own config.toml, for this workspace alone under [workspace.{folder}]"
        )
    found = key.accept(value)
    if found is None:
        raise BadSettings(
            f"{where}: {key.name} is {shown(value)}; write {key.expected}, such as: {_line_of(key)}"
        )
    return found


def _unknown(path: tuple[str, ...], value: object, where: str) -> BadSettings:
    """Return the error for a key that is none; a table's first key tells better what was meant."""
    while isinstance(value, dict) and value:
        inner, value = next(iter(value.items()))
        path = (*path, inner)
    keys = KEYS.values()
    known = {key.rule.seed: key.name for key in keys if key.rule.seed} | {key.name: key.name for key in keys}
    leaves = [key.name for key in keys if key.path[-1] == path[-1]]
    meant = ".".join(path)
    if meant not in known and len(leaves) == 1:
        meant = leaves[0]  # the right key in the wrong table
    return BadSettings(f"{where}: {'.'.join(map(plain, path))} is no setting; {_instead(meant, known)}")


def _instead(name: str, known: Mapping[str, str]) -> str:
    """Return what to do about a wrong name: take what the one it resembles stands for, or look it up."""
    near = difflib.get_close_matches(name[:_SHOWN], known, n=1, cutoff=0.75)
    if near:
        return f"did you mean {known[near[0]]}?"
    return "remove it, or see docs/reference/settings.md for those there are"


def _line_of(key: Key) -> str:
    return f"{key.name} = {toml(key.example)}"


def _first() -> Key:
    return KEYS["day_starts_at",]
