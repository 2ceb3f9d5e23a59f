"""The whole look: every part in turn, whatever is wrong with the one before.

Owns the list of parts and their order; promises that one part which cannot be looked at is a symptom of its own and
keeps no other from being looked at; never mends anything.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping

from reverie import __version__
from reverie.errors import BadSettings, NotAWorkspace, ReverieError
from reverie.surface.doctor import around, inside, machine, place, settings
from reverie.surface.doctor.symptoms import Examined, Look, Patient, Symptom

PARTS: Mapping[str, Look] = {
    "python": machine.python,
    "path": machine.path,
    "settings": settings.settings,
    "private": settings.private,
    "extras": machine.extras,
    "disk": place.disk,
    "workspace": place.workspace,
    "memory": inside.memory,
    "clock": inside.clock,
    "leftovers": inside.leftovers,
    "index": inside.index,
    "embedder": inside.embedder,
    "model": inside.model,
    "schedule": around.schedule,
    "hooks": around.hooks,
}
_WORST_FIRST = ("error", "warning", "note")


def examine(patient: Patient) -> Examined:
    """Look at every part and return what was found, errors first."""
    found = [symptom for part in PARTS for symptom in _looked(part, patient)]
    once = list(dict.fromkeys(found))
    try:
        folder = str(patient.opening.folder())
    except ReverieError:
        folder = ""
    return Examined(
        version=__version__,
        python=sys.version.split()[0],
        workspace=folder,
        parts=tuple(PARTS),
        symptoms=tuple(sorted(once, key=lambda one: _WORST_FIRST.index(one.severity))),
    )


def _looked(part: str, patient: Patient) -> Iterator[Symptom]:
    try:
        yield from PARTS[part](patient)
    except (NotAWorkspace, BadSettings):
        return  # `workspace` and `settings` say so, once
    except (ReverieError, OSError) as error:
        yield _failed(part, str(error), "mend what the sentence names, then look again")
    except Exception as error:
        # Whatever is wrong with one part must not hide what is wrong with the others.
        why = f"unexpected {type(error).__name__}: {error}"
        yield _failed(part, why, "report this: it is a mistake of ours")


def _failed(part: str, why: str, remedy: str) -> Symptom:
    what = f"this could not be looked at: {why}"
    return Symptom(part=part, place=part, what=what, remedy=remedy, severity="error")
