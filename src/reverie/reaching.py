"""What a dream or an editor reaches of an open memory: state, what is forgotten, the search, the model that dreams.

Owns how the dream's Reach is put together, for the verb and for whoever drives a run in several calls; promises that
the agent's searches pass the mask like everybody's; never dreams itself.
"""

from __future__ import annotations

from reverie import steps
from reverie.core.dreams.rights import kept_from_guests
from reverie.opening import Opened
from reverie.recall import Ask, recall
from reverie.store.dreams.dream_views import Veil

FOUND = 20  # of which the tools show the best


def reach_of(
    opened: Opened, *, guest: bool = False, driven: steps.dream.Driven | None = None
) -> steps.dream.Reach:
    """Return what a dream of this memory asks, with the mask as it is now; a `guest` finds nothing it may not read.

    `driven` is what was kept of the run that a host drives, where one does.
    """
    mask, models = opened.mask, opened.models

    def shows(source: str) -> bool:
        return not (guest and kept_from_guests(source))

    def seek(words: str, entries: bool) -> list[str]:  # noqa: FBT001 - the protocol of Seek
        ask = Ask(query=words, k=FOUND, kinds=("entry",) if entries else ("page", "core", "history"))
        found = recall(opened.ws, opened.state_now(), index=opened.index, ask=ask, masked=mask.row)
        return [
            f"{hit.source} {hit.day} {hit.id}: {hit.text[:400]}" for hit in found.hits if shows(hit.source)
        ]

    return steps.dream.Reach(
        look=opened.state_now,
        veil=Veil(mask.text, mask.covers),
        forgotten=tuple(dict.fromkeys(one for tomb in mask.tombstones for one in tomb.entries)),
        alike=opened.resembling,
        seek=seek,
        agent=lambda run: models.agent("dream", run=run),
        model=models.name("dream"),
        driven=driven or steps.dream.Driven(),
    )


def around_of(opened: Opened) -> steps.editorial.Around:
    """Return what an editor of this memory's notebook asks: what a dream does, but for links and ids."""
    reach = reach_of(opened)
    return steps.editorial.Around(
        look=reach.look, veil=reach.veil, seek=reach.seek, agent=reach.agent, model=reach.model
    )
