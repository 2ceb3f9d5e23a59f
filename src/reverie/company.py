"""Whose memories are read along: the agent's behind a person, and the shared workspaces one subscribes to.

Owns what membership on both sides means: the user's own configuration names a shared workspace and where it lies, and
the shared workspace lists who belongs to it; promises that what fails of another workspace keeps nobody from their own
memory, that copies of what one has oneself are not shown twice, and that no lock of two workspaces is held at once;
never writes into a workspace that it reads along, but for the copies that `sharing` queues.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Container, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from reverie import steps, unforget
from reverie.core.entries import is_id
from reverie.core.fold import EntryState
from reverie.core.forgetting.saying import TURN
from reverie.core.scopes import Member, copy_id, owner_of, readable_name
from reverie.core.settings.keys import is_plain
from reverie.errors import (
    AmbiguousId,
    BadSettings,
    Busy,
    DamagedFile,
    IndexUnavailable,
    NewerFormat,
    NotAWorkspace,
    NotFound,
    StoreUnwritable,
    UnsafePath,
    UsageError,
)
from reverie.index.team import of_team
from reverie.opening import Opened
from reverie.recall import Ask, Found, Hit, recall
from reverie.sharing import Given, Team, share
from reverie.store import subscriptions
from reverie.store.workspace import Identity
from reverie.why import Behind, Why, why

THEIRS = (Busy, IndexUnavailable, StoreUnwritable, DamagedFile, UnsafePath, NewerFormat, NotAWorkspace)


@dataclass(frozen=True, slots=True)
class Fellow:
    """A shared workspace one subscribes to: its name, the open workspace, or why it cannot be used and the remedy."""

    name: str
    opened: Opened | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Shared:
    """What sharing did, by the shared workspace's name, and a sentence for each that could not be reached."""

    given: tuple[tuple[str, Given], ...] = ()
    problems: tuple[str, ...] = ()


def member_of(opened: Opened) -> Identity:
    """Return who a memory is to others: a person acts under the agent's name, which is no word about the person."""
    return opened.identity if opened.agent is None else opened.agent.identity


def fellows(opened: Opened) -> list[Fellow]:
    """Return the shared workspaces that a memory subscribes to, in their order, usable or not."""
    names = opened.ws.settings.subscriptions
    if not names or not opened.trusted:
        return []
    try:
        folders = opened.opening.shared()
    except BadSettings as error:
        return [Fellow(name, problem=str(error)) for name in names]
    return [
        _fellow(opened, name, folders.get(name))
        for name in dict.fromkeys(names)
        if not _is_own(opened, folders.get(name))
    ]


def with_others(opened: Opened, found: Found, *, ask: Ask) -> Found:
    """Return one's own hits with those of the agent behind a person and of the shared workspaces, best first.

    What cannot be searched counts as behind; `status` names why.
    """
    mine = [(opened.identity.id, hit) for hit in found.hits]
    behind = found.behind
    if opened.agent is not None:
        theirs = asked(opened.agent, ask)
        mine += [(opened.agent.identity.id, hit) for hit in theirs.hits]
        behind += theirs.behind
    hits = [hit for _, hit in mine]
    copies = {copy_id(source, hit.id) for source, hit in mine}
    for fellow in fellows(opened):
        try:
            theirs = asked(fellow.opened, ask) if fellow.opened else Found(hits=(), behind=1)
        except THEIRS:
            theirs = Found(hits=(), behind=1)
        hits += [_from(fellow.name, hit) for hit in theirs.hits if not _is_told(hit, copies)]
        behind += theirs.behind
    if len(hits) == len(found.hits):
        return replace(found, behind=behind)
    best = sorted(hits, key=lambda hit: -hit.score)
    return replace(found, hits=tuple(best[: ask.k]), behind=behind)


def seen_along(opened: Opened, prefix: str) -> tuple[Opened, EntryState] | None:
    """Return the entry that a prefix names in a workspace that is read along, with that workspace; raises AmbiguousId.

    What of another workspace cannot be read has no entries here; `status` names why.
    """
    found: dict[str, tuple[Opened, EntryState]] = {}
    for name, theirs in _others(opened):
        with suppress(NotFound, *THEIRS):
            state = theirs.state_now().get(prefix)
            found.setdefault(state.entry.id, (theirs, msgspec.structs.replace(state, along=name)))
    if len(found) > 1:
        raise AmbiguousId(f"several entries that are read along begin with {prefix}: give more of the id")
    return next(iter(found.values()), None)


def known(opened: Opened, prefix: str, *, among: str = "recall") -> EntryState:
    """Return one's own entry that a prefix names; raises AmbiguousId, and NotFound, which says when it is forgotten."""
    try:
        return opened.state_now().get(prefix)
    except NotFound:
        if gone := unforget.id_of(opened.ws, prefix):
            message = f"entry {gone} is forgotten: `reverie forget {gone} --restore` brings it back"
        elif along := seen_along(opened, prefix):
            name, place = along[1].along, shlex.quote(str(along[0].ws.root))
            message = (
                f"entry {along[1].entry.id} is of {name}, and only read from here: use `reverie -w {place}`"
            )
        elif prefix.startswith(TURN):
            message = (
                f"{prefix[:40]!a} is a turn, and no entry: `reverie forget` and `reverie erase` take turns"
            )
        else:
            message = f"no entry has the id {prefix or '(empty)'}: `reverie {among}` shows ids"
        raise NotFound(message) from None


def seen(opened: Opened, prefix: str) -> tuple[Opened, EntryState]:
    """Return the entry that a prefix names, one's own or one that is read along, and the workspace it is in."""
    try:
        return opened, opened.state_now().get(prefix)
    except NotFound:
        return seen_along(opened, prefix) or (opened, known(opened, prefix))


def chain(opened: Opened, prefix: str) -> Why:
    """Return the chain behind an entry, one's own or one that is read along; raises NotFound, AmbiguousId."""
    try:
        return why(opened.ws, opened.state_now(), prefix, masked=opened.mask)
    except NotFound:
        along = seen_along(opened, prefix)
        if along is None:
            raise
    theirs, state = along
    found = why(theirs.ws, theirs.state_now(), state.entry.id, masked=theirs.mask)
    return replace(found, state=state)


def behind(opened: Opened, hit: str) -> Behind:
    """Return what stands behind a hit that is no entry, one's own or one that is read along; raises NotFound."""
    if not is_plain(hit):
        raise NotFound(f"nothing found has the id {hit[:40]!a}: `reverie recall` shows ids")
    try:
        return opened.behind(hit)
    except NotFound:
        for name, theirs in _others(opened):
            with suppress(NotFound, *THEIRS):
                return replace(theirs.behind(hit), along=name)
        raise


def _others(opened: Opened) -> Iterator[tuple[str, Opened]]:
    """Yield the workspaces that are read along, by name: the agent's behind a person, then the shared ones."""
    if opened.agent is not None:
        yield opened.agent.identity.agent, opened.agent
    for fellow in fellows(opened):
        if fellow.opened is not None:
            yield fellow.name, fellow.opened


def share_all(opened: Opened) -> Shared:
    """Give what is of scope `team` to the first shared workspace, and take back from each what was forgotten.

    Raises nothing of the other workspace's: what failed is a sentence, and done the next time.
    """
    mine = opened.state_now()
    given: list[tuple[str, Given]] = []
    problems: list[str] = []
    for number, fellow in enumerate(fellows(opened)):
        if fellow.opened is None:
            if number > 0 or of_team(mine):
                problems.append(fellow.problem)
            continue
        try:
            done = _share(opened, fellow.opened, giving=number == 0)
        except THEIRS as error:
            problems.append(f"{fellow.name}: {error}")
            continue
        if done != Given():
            given.append((fellow.name, done))
    return Shared(tuple(given), tuple(problems))


def troubles(opened: Opened) -> tuple[steps.status.Problem, ...]:
    """Return what keeps subscriptions from working, each with its remedy."""
    remedy = "mend that, or take the name out of `subscriptions`"
    return tuple(steps.status.Problem(one.problem, remedy) for one in fellows(opened) if one.problem)


def members(opened: Opened, *, add: str = "", remove: str = "") -> list[Member]:
    """Return who belongs to this workspace, after adding or removing one, named by its id or its folder.

    Raises UsageError for what names no workspace, NotFound for one that is no member.
    """
    ws = opened.writable if add or remove else opened.ws
    known = subscriptions.members(ws)
    if add:
        identity = _named(opened, add)
        if identity.id == opened.identity.id:
            raise UsageError("a workspace is no member of itself: name the one that subscribes to it")
        if identity.id not in known:
            agent = readable_name(identity.agent) if identity.agent else ""
            subscriptions.change(ws, Member(id=identity.id, at=ws.clock(), agent=agent))
    if remove:
        gone = remove if remove in known else _named(opened, remove).id
        if gone not in known:
            raise NotFound(f"{remove} is no member: `reverie members` lists those there are")
        subscriptions.change(ws, Member(id=gone, at=ws.clock(), agent=known[gone].agent, left=True))
    return sorted(subscriptions.members(ws).values(), key=lambda one: (one.at, one.id))


def _named(opened: Opened, name: str) -> Identity:
    """Return the identity that an id or the folder of a workspace names."""
    if is_id(name):
        return Identity(id=name, agent="", created=opened.ws.clock())
    if not is_plain(name):
        raise UsageError(f"{name[:40]!a} is neither an id of 16 hex digits nor the folder of a workspace")
    folder = Path(name).expanduser().absolute()
    try:
        return opened.opening.workspace(folder).identity()
    except NotAWorkspace as error:
        raise UsageError(f"{name} is neither an id of 16 hex digits nor the folder of a workspace") from error


def _is_own(opened: Opened, folder: Path | None) -> bool:
    """Whether a folder is the workspace itself, or the one the person lies in: nobody subscribes to themselves."""
    own = {opened.ws.root} if opened.agent is None else {opened.ws.root, opened.agent.ws.root}
    return folder is not None and os.path.realpath(folder) in {os.path.realpath(one) for one in own}


def _fellow(opened: Opened, name: str, folder: Path | None) -> Fellow:
    """Return one shared workspace, opened once, or why it cannot be read."""
    if folder is None:
        where = opened.opening.config() / "config.toml"
        return Fellow(
            name, problem=f"{name} is in `subscriptions`, and [shared] in {where} does not say where it is"
        )
    try:
        theirs = opened.along.get(name) or _open(opened, folder)
    except (NotAWorkspace, BadSettings, DamagedFile, NewerFormat, UnsafePath, StoreUnwritable) as error:
        return Fellow(name, problem=f"{name}: {error}")
    opened.along[name], typed = theirs, shlex.quote(str(folder))
    if not theirs.trusted:
        return Fellow(
            name,
            problem=f"{name} was not made here: look through it, then `reverie trust {typed}`",
        )
    me = member_of(opened)
    try:
        belongs = me.id in subscriptions.members(theirs.ws)
    except (NewerFormat, UnsafePath) as error:
        return Fellow(name, problem=f"{name}: {error}")
    if not belongs:
        return Fellow(
            name,
            problem=f"{me.agent} is no member of {name}: run `reverie -w {typed} members --add {me.id}`",
        )
    return Fellow(name, opened=theirs)


def _open(opened: Opened, folder: Path) -> Opened:
    """Open the shared workspace at `folder`, with settings of its own."""
    opening = msgspec.structs.replace(
        opened.opening, path=folder, agent=None, user="", settings=None, flags=None, model=None
    )
    ws = opening.workspace(folder)
    return Opened(opening, ws, identity=ws.identity())


def asked(opened: Opened, ask: Ask) -> Found:
    """Return what one workspace alone answers; a person's that is yet to be made answers nothing, and stays unmade."""
    if not opened.made:
        return Found(hits=())
    state = opened.state_now()
    return recall(opened.ws, state, index=opened.index, ask=ask, masked=opened.mask.row)


def _is_told(hit: Hit, copies: Container[str]) -> bool:
    """Whether a hit says nothing that was not found here: a copy of it, or lines that rest on such copies alone."""
    return hit.id in copies or (bool(hit.entries) and all(one in copies for one in hit.entries))


def _from(name: str, hit: Hit) -> Hit:
    """Return a hit that says which workspace it is from."""
    return replace(hit, why=(*hit.why, f"from {name}"))


def _share(opened: Opened, theirs: Opened, *, giving: bool) -> Given:
    me = member_of(opened)
    team = Team(theirs.ws, theirs.identity.id, owner_of(me.id, readable_name(me.agent)), giving)
    done = share(opened.ws, opened.state_now(), team, own=opened.identity.id, mask=opened.mask)
    if done.restored:
        theirs.state_now().remask(done.restored, masked=False)
    return done
