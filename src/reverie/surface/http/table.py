"""Every operation on a memory, in one table; the routes, the specification and the reference page are made of it.

Owns the list; promises that no address and method stands in it twice; never runs one.
"""

from __future__ import annotations

from collections.abc import Mapping

from reverie.surface.http.admin import ADMIN
from reverie.surface.http.lending import LENDING
from reverie.surface.http.letting import LETTING
from reverie.surface.http.looking import LOOKING
from reverie.surface.http.operations import Operation
from reverie.surface.http.reading import READING
from reverie.surface.http.stages import STAGES
from reverie.surface.http.writing import WRITING

OPERATIONS: tuple[Operation, ...] = (*WRITING, *READING, *LETTING, *STAGES, *LENDING, *LOOKING, *ADMIN)
BY_ID: Mapping[str, Operation] = {one.id: one for one in OPERATIONS}
