"""How many of a thing, in words.

Owns the plural of the words Reverie counts; promises the singular for one, and for it alone; never counts.
"""

from __future__ import annotations


def many(number: int, thing: str) -> str:
    """Return a number of things, the last word in the plural where it is not one.

    >>> many(1, "entry"), many(2_000, "entry"), many(0, "search row"), many(2, "day")
    ('1 entry', '2,000 entries', '0 search rows', '2 days')
    """
    if number == 1:
        return f"1 {thing}"
    ending = thing[-2:]
    plural = f"{thing[:-1]}ies" if ending[-1] == "y" and ending[0] not in "aeiou" else f"{thing}s"
    return f"{number:,} {plural}"
