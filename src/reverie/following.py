"""What an erase does beyond its own workspace: with the people beneath it, and where copies were sent.

Owns the queue of it, which is `store.forgotten.orders` for people and `.state/shared.jsonl` for copies; promises that
locks of two workspaces are never held at once, that what could not be done stays queued, is told by `status` and done
by the next drain, and that nobody's own words are taken (`erase_along`); never erases in a workspace that does not
belong to this user, or that does not count this one among its members.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from reverie import layout, steps
from reverie.company import THEIRS, fellows
from reverie.core.forgetting.erasure import Erasure, Order
from reverie.core.scopes import Copied
from reverie.core.text.names import safe_name
from reverie.erase_along import Along, erase_along, said_by
from reverie.errors import NotFound, ReverieError
from reverie.opening import Opened
from reverie.store import subscriptions
from reverie.store.forgotten import orders


def follow(opened: Opened) -> Along:
    """Do what is queued of erases, as far as it can be done now; the leftovers say where words remain, and why."""
    return _together((*_with_people(opened), *_with_copies(opened)))


def planned(opened: Opened, erasure: Erasure) -> Along:
    """Return what `follow` would do after this erasure, without doing any of it."""
    copies = [one for one in subscriptions.copies(opened.ws).values() if one.entry in erasure.stubs]
    people = orders.people(opened.ws)
    order = Order(id=erasure.id, stubs=erasure.stubs, texts=erasure.texts)
    found = [_reached(opened, order, name, dry_run=True) for name in people]
    return _together((*found, *_in_shared(opened, copies, dry_run=True)))


def troubles(opened: Opened) -> tuple[steps.status.Problem, ...]:
    """Return what erases have still to do elsewhere, each with its remedy."""
    ws, remedy = opened.ws, "run `reverie drain`; what keeps it from being done is told then"
    left = dict.fromkeys(name for order in orders.waiting(ws) for name in order.people)
    asked = len(_asked(opened))
    found = [
        steps.status.Problem(f"an erase has still to reach {layout.person_folder(name)}", remedy)
        for name in left
    ]
    if asked:
        found.append(
            steps.status.Problem(f"{asked} copies in shared workspaces are still to be erased", remedy)
        )
    found += [
        steps.status.Problem(
            f"{path} is damaged: an erase may not have reached everybody", "erase again, then remove it"
        )
        for path in orders.unreadable(ws)
    ]
    return tuple(found)


# People


def _with_people(opened: Opened) -> Iterator[Along]:
    """Carry out the orders that lie with the agent: all of them, or a person's own part."""
    source = opened.agent or opened
    for order in orders.waiting(source.ws):
        for name in order.people:
            if opened.agent is None or name == opened.ws.root.name:
                yield _reached(source, order, name)


def _reached(source: Opened, order: Order, name: str, *, dry_run: bool = False) -> Along:
    """Carry out one order with one person, or say what that would change."""
    wanted, place = Erasure(id=order.id, stubs=order.stubs, texts=order.texts), layout.person_folder(name)
    try:
        person = _person(source, name)
        if person is None:
            done = Along()
        else:
            try:
                done = _erased(person, wanted, dry_run=dry_run)
            finally:
                person.close()
        if not dry_run:
            orders.settle(source.ws, order, name)
    except ReverieError as error:
        return Along(leftovers=(f"{place} ({error}; the next drain tries again)",))
    return _beneath(place, done)


def _person(source: Opened, name: str) -> Opened | None:
    """Return the workspace of the person in one folder, None when there is none."""
    folder = layout.person_folder(name)
    if source.ws.disk.size(f"{folder}/{layout.ORIGIN}") is None:
        return None
    identity = source.opening.workspace(source.ws.root / folder, above=source.ws).identity()
    if safe_name(identity.person) != name:
        raise NotFound(f"{folder}/{layout.ORIGIN} names another person")
    return source.person(identity.person)


# Copies


def _asked(opened: Opened) -> list[Copied]:
    """Return the copies that are to be erased where they were sent."""
    return [one for one in subscriptions.copies(opened.ws).values() if one.erase == "asked"]


def _with_copies(opened: Opened) -> Iterator[Along]:
    """Erase the copies that are queued for it."""
    return _in_shared(opened, _asked(opened))


def _in_shared(opened: Opened, copies: list[Copied], *, dry_run: bool = False) -> Iterator[Along]:
    """Erase copies in the shared workspaces that can be reached, and note that; or say what that would change."""
    left = {one.to: one for one in copies}
    for fellow in fellows(opened) if copies else ():
        theirs = fellow.opened
        if theirs is None or theirs.identity.id not in left:
            continue
        del left[theirs.identity.id]
        meant = [one for one in copies if one.to == theirs.identity.id]
        try:
            yield _copies_erased(opened, theirs, meant, dry_run=dry_run)
        except THEIRS as error:
            yield Along(leftovers=(f"{fellow.name} ({error}; the next drain tries again)",))
            continue
        if not dry_run:
            at = opened.ws.clock()
            done = [msgspec.structs.replace(one, at=at, erase="done") for one in meant]
            subscriptions.note(opened.ws, done)
    for to in left:
        yield Along(
            leftovers=(f"the shared workspace {to} (it cannot be reached; the next drain tries again)",)
        )


def _copies_erased(opened: Opened, theirs: Opened, copies: list[Copied], *, dry_run: bool) -> Along:
    """Erase copies in one workspace, and with its people, or say what that would change."""
    ids, new_id = [one.copy for one in copies], opened.ws.new_id
    texts = said_by(theirs.ws, theirs.state_now(), ids)
    wanted = Erasure(id=new_id(), stubs={one: new_id() for one in ids}, texts=texts)
    done = _erased(theirs, wanted, dry_run=dry_run)
    further = () if dry_run else tuple(_with_people(theirs))
    return _beneath(str(theirs.ws.root), _together((done, *further)))


# Either


def _erased(theirs: Opened, wanted: Erasure, *, dry_run: bool) -> Along:
    """Erase in another workspace, whose derived files are gone afterwards, or say what that would change."""
    if dry_run:
        return erase_along(theirs.ws, theirs.state_now(), wanted, dry_run=True)
    ws = theirs.writable
    if ws.settings.index_url:
        theirs.index.reset()  # what lies at another address does not go with the folder
    theirs.drop_index()  # what is open would go on holding the text
    try:
        return erase_along(ws, theirs.state_now(), wanted)
    finally:
        theirs.drop_index()


def _beneath(place: str, done: Along) -> Along:
    """Return what was done with each path beneath `place`."""
    places, left = (tuple(f"{place}/{path}" for path in paths) for paths in done)
    return Along(places, left)


def _together(done: Iterable[Along]) -> Along:
    found = list(done)
    return Along(
        tuple(path for one in found for path in one.places),
        tuple(path for one in found for path in one.leftovers),
    )
