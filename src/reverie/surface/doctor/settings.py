"""What of the settings and the user's own folder can be wrong: what cannot be read, and who else may read it.

Owns these looks; promises that no value of a setting and no token is told; never changes a file or its permissions.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from reverie import layout
from reverie.config import CONFIG, load
from reverie.errors import ReverieError
from reverie.store.trust import KEY
from reverie.surface.doctor.symptoms import Patient, Symptom, typed
from reverie.surface.http.tokens import TOKENS

_OTHERS, _WRITTEN_BY_OTHERS = 0o077, 0o022
_SECRETS = (KEY, TOKENS, "token*")


def settings(patient: Patient) -> Iterator[Symptom]:
    """Read the user's own file alone, then everything that holds here, as a command would."""
    opening = patient.opening
    own = opening.config() / CONFIG
    try:
        load(workspace=None, config_dir=opening.config(), environment={"HOME": str(Path.home())})
    except ReverieError as error:
        yield _bad(str(own), error)
        return
    try:
        load(
            workspace=opening.folder(),
            config_dir=opening.config_dir,
            environment=opening.environment,
            flags=opening.flags,
        )
    except ReverieError as error:
        yield _bad(layout.SETTINGS, error)


def private(patient: Patient) -> Iterator[Symptom]:
    """Look who may read or write the user's own folder and the secrets in it."""
    folder = patient.opening.config()
    if os.name != "posix" or not folder.exists():
        return
    for path in (folder, folder / CONFIG):
        mode = _mode(path)
        if mode is not None and mode & _WRITTEN_BY_OTHERS:
            yield _open(path, "others may change what you have set", "go-w")
    for pattern in _SECRETS:
        for path in sorted(folder.glob(pattern)):
            mode = _mode(path)
            if mode is not None and mode & _OTHERS:
                yield _open(path, "others may read this secret of yours", "600")
    if not os.access(folder, os.W_OK | os.X_OK):
        yield Symptom(
            part="private",
            place=str(folder),
            what="the folder of your configuration cannot be written",
            remedy=f"run `chmod u+rwx {typed(folder)}`, or name another with --config-dir",
            severity="error",
        )


def _bad(place: str, error: ReverieError) -> Symptom:
    what, _, remedy = str(error).rpartition("; ")
    return Symptom(
        part="settings",
        place=place,
        what=what or str(error),
        remedy=remedy if what else "see the table of settings: docs/reference/settings.md",
        severity="error",
    )


def _mode(path: Path) -> int | None:
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except OSError:
        return None


def _open(path: Path, what: str, mode: str) -> Symptom:
    return Symptom(
        part="private",
        place=str(path),
        what=what,
        remedy=f"run `chmod {mode} {typed(path)}`",
        severity="error",
    )
