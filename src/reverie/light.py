"""Opening a workspace to store turns and nothing else, as what is called once for each turn does.

Owns when that is enough; promises that a workspace is given out only where a whole `Memory` would find nothing to do
before it writes, and that opening it loads neither index nor model; never writes anything itself.
"""

from __future__ import annotations

from contextlib import suppress

from reverie.entrance import Opening
from reverie.errors import DamagedFile, NewerFormat, NotAWorkspace, UnsafePath
from reverie.store import intents, trust
from reverie.store.workspace import Workspace


def opened_light(opening: Opening) -> Workspace | None:
    """Return the workspace meant, None where it takes a `Memory` to open it, or to say why it cannot be.

    That is where a crash left something to finish, and for a person's workspace, which may have to be made. Raises
    BadSettings, StoreUnwritable.
    """
    if opening.user:
        return None
    ws = opening.workspace(opening.folder())
    with suppress(NotAWorkspace, DamagedFile, NewerFormat, UnsafePath):
        begun = any(ws.disk.size(path) is not None for path in intents.PATHS)
        if trust.is_sealed(opening.config(), ws.identity()) and not begun:
            return ws
    return None
