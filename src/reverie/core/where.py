"""Which memories a caller means.

Owns the one value by which entries are filtered, and what a list of ids means; promises that an empty filter means all
that is shown by default; never looks anything up.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import msgspec

from reverie.core.categories import names_of
from reverie.core.fold import EntryState
from reverie.core.text.names import is_day
from reverie.errors import UsageError


class Where(msgspec.Struct, frozen=True, kw_only=True):
    """A filter over entries.

    `category` is meant under any of its names. `about` is whom or what an entry concerns, `who` the person who said
    it. `since` and `until` are days, both included. `as_of` asks for what was known and true at an instant. Superseded
    and hidden entries are left out unless asked for. Faded ones are left out of lists and found by recall, further
    below; `include_faded` says otherwise of either. `limit` 0 means no limit.

    >>> [state.entry.text for state in memory.list(Where(category="preference"))]
    ['User likes tea']
    """

    category: str = ""
    tag: str = ""
    session: str = ""
    about: str = ""
    who: str = ""
    scope: str = ""
    since: str = ""
    until: str = ""
    as_of: datetime | None = None
    include_previous: bool = False
    include_hidden: bool = False
    include_faded: bool | None = None
    limit: int = 0

    def __post_init__(self) -> None:
        """Raise UsageError for what is no day: compared as text, `2026-7-1` would admit all of 2026."""
        for name in ("since", "until"):
            day = getattr(self, name)
            if isinstance(day, str) and day and not is_day(day):
                message = f"{name} is {day[:40]!r}: write a day, such as 2026-07-01"
                raise UsageError(message)

    @property
    def filters(self) -> bool:
        """Whether anything but the limit and what is faded makes a difference."""
        return self != Where(limit=self.limit, include_faded=self.include_faded)

    @property
    def narrows(self) -> bool:
        """Whether it leaves anything out that an empty one admits, the limit aside."""
        plain = ("category", "tag", "session", "about", "who", "scope", "since", "until", "as_of")
        return any(getattr(self, name) for name in plain)

    @property
    def of_entries(self) -> bool:
        """Whether it asks for what only entries have, and turns do not."""
        return any((self.category, self.tag, self.about, self.who, self.scope, self.as_of))

    @property
    def everything(self) -> Where:
        """The same filter over all there is: what held before, what is hidden and what has faded, however many."""
        return msgspec.structs.replace(
            self, include_previous=True, include_hidden=True, include_faded=True, limit=0
        )

    @property
    def exact(self) -> dict[str, tuple[str, ...]]:
        """What an entry's category, session and whom it is about may be, where the filter says so."""
        wanted = {
            "category": self.category and names_of(self.category),
            "session": self.session,
            "about": self.about,
        }
        return {name: (one,) if isinstance(one, str) else one for name, one in wanted.items() if one}

    def within(self, day: str) -> bool:
        """Whether a day is neither before `since` nor after `until`."""
        return (not self.since or day >= self.since) and (not self.until or day <= self.until)

    def admits(self, state: EntryState) -> bool:
        """Whether `state` is among those meant, the limit aside."""
        entry = state.entry
        return (
            all(getattr(entry, name) in named for name, named in self.exact.items())
            and (not self.who or self.who == entry.who)
            and (not self.scope or self.scope == entry.scope)
            and (not self.tag or self.tag in entry.tags)
            and self.within(entry.day)
            and (self.as_of is None or entry.at <= self.as_of)
            and (self.include_hidden or not state.hidden)
            and (self.include_previous or self.as_of is not None or state.current or state.hidden)
        )


def repeats(state: EntryState) -> bool:
    """Whether all that is to be said against an entry is that another, of another session maybe, says the same."""
    against = (state.superseded_by, state.wrong, state.ended, state.hidden, state.forgotten)
    return bool(state.merged_into) and not any(against)


def must_narrow(named: str | Sequence[str], where: Where | None) -> None:
    """Raise UsageError for a filter beside ids, and for one that leaves nothing out: it would mean everything."""
    if where is not None and (named or not where.narrows):
        raise UsageError("name entries by id, or by a filter that narrows such as a tag: one of the two")


def one_or_more(named: str | Sequence[str]) -> Sequence[str]:
    """Return the ids that were given; a text is one of them, and not the sequence of its letters.

    A letter is the beginning of other ids: `erase("2b47")` must never mean the entries 2…, b…, 4… and 7….
    """
    return (named,) if isinstance(named, str) else named
