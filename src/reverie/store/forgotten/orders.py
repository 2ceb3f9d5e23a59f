"""Erasures that have to be done in other workspaces too, queued where they began.

Owns `.state/erasing/`; promises that an order stays until it was carried out everywhere, whoever carries it out, and
that only what is left of it is done again after a crash; never opens another workspace.

An order holds the text, as the record of an erase has to: it is gone with the last workspace that was reached.
"""

from __future__ import annotations

import msgspec

from reverie import layout
from reverie.core.forgetting.erasure import Erasure, Order
from reverie.core.formats import framing
from reverie.errors import UnsafePath
from reverie.store import subscriptions
from reverie.store.workspace import Workspace


def hand_on(ws: Workspace, erasure: Erasure) -> None:
    """Queue what an erase here has to do elsewhere: with the people beneath, and in the workspaces copies went to."""
    if beneath := people(ws):
        order = Order(id=erasure.id, stubs=erasure.stubs, texts=erasure.texts, people=beneath)
        ws.disk.replace(_path(order.id), framing.frame(order))
    at = ws.clock()
    asked = [
        msgspec.structs.replace(one, at=at, erase="asked")
        for one in subscriptions.copies(ws).values()
        if one.entry in erasure.stubs and not one.erase
    ]
    subscriptions.note(ws, asked)


def people(ws: Workspace) -> tuple[str, ...]:
    """Return the names of the folders of people beneath a workspace."""
    return tuple(name for name in ws.disk.list(layout.PEOPLE) if _is_person(ws, name))


def waiting(ws: Workspace) -> list[Order]:
    """Return the orders that are left, oldest name first; one that cannot be read is among `unreadable`."""
    return [
        order for path in ws.disk.walk(layout.ERASING) if (order := _read(ws.disk.read(path))) is not None
    ]


def unreadable(ws: Workspace) -> list[str]:
    """Return the paths of orders that cannot be read: the same entries have to be erased again."""
    return [path for path in ws.disk.walk(layout.ERASING) if _read(ws.disk.read(path)) is None]


def settle(ws: Workspace, order: Order, person: str) -> None:
    """Note that an order was carried out with one person; with the last one it goes."""
    path, left = _path(order.id), order.people

    def build(old: bytes | None) -> bytes | None:
        nonlocal left
        found = _read(old)
        if found is None:
            return None
        left = tuple(one for one in found.people if one != person)
        # Without people it would hold the text, and nobody would come back to it after a crash.
        return framing.frame(msgspec.structs.replace(found, people=left)) if left else None

    ws.disk.rewrite(path, build)
    if not left:
        ws.disk.remove(path)


def _is_person(ws: Workspace, name: str) -> bool:
    try:
        return ws.disk.size(f"{layout.person_folder(name)}/{layout.ORIGIN}") is not None
    except UnsafePath:
        return False  # a stray file, or a link that leads elsewhere; `check` names it


def _path(order: str) -> str:
    return f"{layout.ERASING}/{order}.json"


def _read(data: bytes | None) -> Order | None:
    return framing.only(data, Order)
