"""Lines of a page that rest on nothing which holds.

Owns telling them, and which of them may be taken out; promises that a line which says it held before is none, that one
which rests on anything that holds, or that is not known, is none, and that only an item in the very words of an entry
that never was true may go: what people wrote around a citation is theirs; never changes a page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from reverie.core.fold import EntryState
from reverie.core.pages.mending import Complaint
from reverie.core.pages.plain import citing
from reverie.core.search.standings import PAST, items_on_one_line
from reverie.core.text.tokens import normalise

Find = Callable[[Iterable[str]], Mapping[str, EntryState]]


def outlived(pages: Iterable[tuple[str, str]], find: Find) -> Iterator[Complaint]:
    """Yield a complaint for each line of pages, given as path and text, that cites only what no longer holds."""
    for path, text in pages:
        lines = citing(text)
        known = find([one for _, _, ids in lines for one in ids]) if lines else {}
        for number, line, ids in lines:
            states = [_root(known[one], find) for one in ids if one in known]
            says = items_on_one_line(line)
            if (
                not states
                or len(states) < len(ids)
                or says.startswith(PAST)
                or not all(one.over for one in states)
            ):
                continue
            wrong = all(one.wrong for one in states)
            ours = any(
                normalise(says.partition("[[")[0]).strip() == normalise(one.entry.text) for one in states
            )
            yield Complaint(
                page=path,
                line=number,
                kind="wrong" if wrong and ours else "outlived",
                reason=f"{ids[0]}, which it cites, {'never was true' if wrong else 'no longer holds'}",
                remedy="take the line out"
                if wrong
                else "the dream of what took its place follows it; or edit it",
            )


def _root(state: EntryState, find: Find) -> EntryState:
    """Return what an entry was folded into, at the end of the chain."""
    passed: set[str] = set()
    while state.merged_into and state.merged_into not in passed and not state.over:
        passed.add(state.merged_into)
        into = find([state.merged_into]).get(state.merged_into)
        if into is None:
            break
        state = into
    return state
