"""What was met before is a set of digests."""

from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from reverie.importers.met import SIZE, Met


@given(st.lists(st.integers(0, 40).map(lambda n: n.to_bytes(SIZE, "little")), max_size=200))
def test_each_mark_is_new_once(given_: list[bytes]) -> None:
    """A mark is new the first time it is added, however many others came between (hypothesis)."""
    marks, seen = Met(), set[bytes]()
    one = (1).to_bytes(SIZE, "big")
    for mark in given_:
        assert marks.add(mark) == (mark not in seen)
        seen.add(mark)
        assert len(marks) == len(seen)
    assert marks.add(one) == (bytes(SIZE) not in seen)  # all zeros counts as that one


def test_many_marks_are_kept_in_little_room() -> None:
    """Of twenty thousand marks each is found again, and no other."""
    digests = [hashlib.blake2b(b"%d" % n, digest_size=SIZE).digest() for n in range(30_000)]
    marks = Met()
    assert all(marks.add(one) for one in digests[:20_000])
    assert not any(marks.add(one) for one in digests[:20_000])
    assert all(marks.add(one) for one in digests[20_000:])
    assert len(marks) == 30_000
