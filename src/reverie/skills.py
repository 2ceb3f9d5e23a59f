"""A procedure said often enough becomes a skill, in `skills/<name>/SKILL.md`.

In: the procedures that the state knows, with what repeats them. Out, by the setting `skills`: nothing (`off`),
proposals for a person's word (`propose`), or files installed in one commit (`on`).

A skill that Reverie or a dream wrote and whose procedure no longer holds is put before a person, whatever the setting
but `off`: as what replaced the procedure would have it, else to be removed.

Owns which procedures are put forward; promises that each is put forward once, whatever became of it, that nothing of a
stranger's, no secret and nothing forgotten becomes a skill, and that a file which is there is never overwritten; needs
no model. What survives a crash: a proposal is one line; an install is that of `store.dreams.installing`, and a skill
that was installed without its note in the reviews is known by the entry it names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import msgspec

from reverie import layout
from reverie.core.dreams.skilled import (
    Skill,
    holds,
    is_ripe,
    occasions,
    problem,
    rests_on,
    revision,
    skill_of,
    stands_on,
    successor,
)
from reverie.core.fold import EntryState
from reverie.core.formats.utf8 import to_bytes, to_text
from reverie.core.where import Where
from reverie.index.state import State
from reverie.store.dreams import changing, installing, lease, reviews
from reverie.store.dreams.changing import Change
from reverie.store.workspace import Workspace

LEARNER = "rules-1"  # what a run's record calls it


class Learned(msgspec.Struct, frozen=True, kw_only=True):
    """The paths of skills that were proposed or installed, in which run, and why others were not.

    `doubted` are those whose procedure no longer holds: a person is asked what becomes of them.
    """

    doubted: tuple[str, ...] = ()
    proposed: tuple[str, ...] = ()
    installed: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    run: str = ""


def learn(ws: Workspace, state: State, *, masked: Callable[[str], bool]) -> Learned:
    """Put forward the procedures that are ripe for it and were not before; raises Busy when one is to be installed."""
    if ws.settings.skills == "off":
        return Learned()
    doubted = tuple(_doubted(ws, state, masked))
    found, refused = [], []
    for skill in _ripe(ws, state):
        reason = problem(skill.path, skill.text, masked=masked, allow=ws.settings.redaction_allow)
        refused += [f"{skill.path}: {reason}"] if reason else []
        found += [] if reason else [skill]
    if found and ws.settings.skills == "on":
        paths = tuple(one.path for one in found)
        return Learned(doubted=doubted, refused=tuple(refused), installed=paths, run=_install(ws, found))
    for skill in found:
        reviews.propose(ws, "skill", skill.path, text=skill.text, why=_why(skill))
    return Learned(doubted=doubted, refused=tuple(refused), proposed=tuple(one.path for one in found))


def _ripe(ws: Workspace, state: State) -> Iterator[Skill]:
    """Yield the skills of procedures that have none and were not put forward before."""
    files = [path for path in ws.disk.walk(layout.SKILLS) if path.endswith("/SKILL.md")]
    texts = [to_text(ws.disk.read(path)) for path in files]
    known = {stands_on(text) for text in (*texts, *(one.text for one in reviews.every(ws, "skill")))}
    names = {
        path.split("/")[1] for path in (*files, *(one.path for one in reviews.waiting(ws) if "/" in one.path))
    }

    def find(entry: str) -> EntryState | None:
        return state.find([entry]).get(entry)

    for one in state.states(Where(category="procedure")):
        if one.entry.id in known:
            continue
        said = occasions(one, events=state.events, find=find)
        if is_ripe(one, said):
            skill = skill_of(one, said, taken=names.__contains__)
            names.add(skill.path.split("/")[1])
            yield skill


def _doubted(ws: Workspace, state: State, masked: Callable[[str], bool]) -> Iterator[str]:
    """Ask about each skill that was put forward once and whose procedure no longer holds; yield their paths."""
    written: dict[str, set[str]] = {}
    for one in reviews.every(ws, "skill"):
        written.setdefault(one.path, set()).add(one.text)

    def find(entry: str) -> EntryState | None:
        return state.find([entry]).get(entry)

    asked: tuple[reviews.Topic, str, str]
    for path, texts in sorted(written.items()):
        text = to_text(ws.disk.read(path))
        ids = rests_on(text)
        if not ids or any(holds(one, find) for one in ids):
            continue
        asked = _removal(path, ids)
        new = successor(ids[0], find) if len(ids) == 1 else None
        if new is not None:
            both = [one for one in (find(ids[0]), new) if one is not None]
            said = [entry for one in both for entry in occasions(one, events=state.events, find=find)]
            skill = revision(path, new, said=said)
            if not problem(path, skill.text, masked=masked, allow=ws.settings.redaction_allow):
                asked = "skill", skill.text, f"the procedure it stands on was replaced on {new.entry.day}"
        topic, wanted, why = asked
        edited = "" if text in texts else "; the file was edited since it was written"
        reviews.propose(ws, topic, path, text=wanted, why=why + edited)
        yield path


def _removal(path: str, ids: Sequence[str]) -> tuple[reviews.Topic, str, str]:
    """Return the question whether a skill is to go."""
    named = f"{path} rests on {', '.join(ids)}"
    return "skill-removal", named, "nothing that it rests on holds now, and no procedure replaced it"


def _install(ws: Workspace, found: list[Skill]) -> str:
    """Install the skills in one commit, and note that they were put forward."""
    with lease.driving(ws, "skills"):
        installing.finish(ws)
        wanted = Change(
            kind="skill",
            by=LEARNER,
            title=f"Learn {', '.join(one.path.split('/')[1] for one in found)}",
            files={one.path: (None, to_bytes(one.text)) for one in found},
            result="productive",
            counts={"skills": len(found)},
        )
        run = changing.change(ws, wanted)
        for one in found:
            known = reviews.propose(ws, "skill", one.path, text=one.text, why=_why(one))
            reviews.settle(ws, known, accepted=True, why="skills = on")
    return run.run


def _why(skill: Skill) -> str:
    return f"the procedure was said on {len(skill.occasions)} occasions: {', '.join(skill.occasions)}"
