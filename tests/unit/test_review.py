"""A person's word: what waits is one stream, each verdict does what it says, once, also across a crash."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from desk import Desk

from reverie import layout, review
from reverie.core.formats import framing
from reverie.core.records import Entry, Event, Outcome, Remember
from reverie.errors import Conflict, InvalidRecord, NotFound, StoreUnwritable, UsageError
from reverie.store import stream
from reverie.store.dreams import reviews
from reverie.testing import CrashDisk

if TYPE_CHECKING:
    from pathlib import Path

    from reverie.review import Item

EDIT = "Dana really prefers evenings"


def _edited(desk: Desk) -> Item:
    """Edit MEMORY.md inside its block, compile it anew, and return what waits then."""
    desk.remember("Dana prefers calls before noon", category="preference")
    desk.memory.publish()
    text = desk.text("MEMORY.md")
    desk.write("MEMORY.md", text.replace("<!-- reverie:end", f"{EDIT}\n<!-- reverie:end"))
    desk.memory.publish()
    (item,) = desk.memory.review()
    return item


def _conflicting(desk: Desk) -> tuple[str, str, Item]:
    """Store two entries that cannot both hold, and return their ids and what waits then."""
    old = desk.remember("The office is on the second floor")
    new = desk.remember("The office is on the third floor")
    desk.memory.drain()
    told = Event(
        id="c" * 16, at=desk.clock(), kind="conflict", entry=new, other=old, why="two floors", by="test"
    )
    stream.append(desk.memory.opened.ws, layout.EVENTS, told)
    (item,) = desk.memory.review()
    return old, new, item


def test_nothing_waits_at_first(desk: Desk) -> None:
    """A new workspace asks for nobody's word."""
    assert desk.memory.review() == []


# Edits inside MEMORY.md's block


def test_an_edit_inside_the_block_waits(desk: Desk) -> None:
    """What a person wrote inside the compiled part is an item, once however often MEMORY.md is compiled (R-39)."""
    item = _edited(desk)
    assert (item.topic, item.place) == ("memory-edit", "MEMORY.md")
    assert EDIT in item.text
    assert EDIT not in desk.text("MEMORY.md")
    for _ in range(3):
        desk.memory.publish()
    assert desk.memory.review() == [item]
    assert desk.memory.review(item.id[:6]) == [item]
    assert item.accepting
    assert item.rejecting


def test_an_accepted_edit_becomes_a_note(desk: Desk) -> None:
    """Accepted, the text is in the agent's note of today, extraction reads it, and the item is gone."""
    item = _edited(desk)
    assert desk.memory.review(item.id, accept=True) == [item]
    assert EDIT in desk.text("notes/2026-07-01.md")
    assert desk.memory.review() == []
    desk.memory.publish()
    assert desk.memory.review() == []


def test_a_rejected_edit_is_let_go(desk: Desk) -> None:
    """Rejected, the text is nowhere but in the record of the proposal, and is not asked about again."""
    item = _edited(desk)
    desk.memory.review(item.id, accept=False)
    assert not (desk.root / "notes").exists()
    assert desk.memory.review() == []


# Proposals


@pytest.mark.parametrize(
    ("topic", "path"),
    [("core-edit", "USER.md"), ("skill", "skills/brew/SKILL.md"), ("page-edit", "notebook/0_Inbox/Tea.md")],
)
def test_an_accepted_proposal_is_carried_out(desk: Desk, topic: reviews.Topic, path: str) -> None:
    """Accepted, a proposed edit, skill or page stands in its file; rejected, the file is as it was."""
    ws = desk.memory.opened.ws
    before = desk.bytes().get(path)
    rejected = reviews.propose(ws, topic, path, text="# Not this\n", why="guess")
    accepted = reviews.propose(ws, topic, path, text="# This\n", why="seen thrice")
    assert [one.id for one in desk.memory.review()] == [rejected, accepted]
    desk.memory.review(rejected, accept=False)
    assert desk.bytes().get(path) == before
    desk.memory.review(accepted, accept=True)
    assert desk.text(path) == "# This\n"
    assert desk.memory.review() == []


@pytest.mark.parametrize(
    ("topic", "path"),
    [("core-edit", "USER.md"), ("skill", "skills/brew/SKILL.md"), ("page-edit", "notebook/0_Inbox/Tea.md")],
)
def test_what_was_forgotten_since_is_written_by_no_verdict(
    desk: Desk, topic: reviews.Topic, path: str
) -> None:
    """A proposal that says what was forgotten after it came is not shown and cannot be accepted (R-25, P-17)."""
    forgotten = desk.remember("User likes oolong tea", category="preference")
    desk.memory.drain()
    item = reviews.propose(
        desk.memory.opened.ws, topic, path, text="# Tea\n\n- User likes oolong tea\n- Biscuits\n"
    )
    desk.memory.forget([forgotten])
    before = desk.bytes()
    assert "oolong" not in desk.memory.review(item)[0].text
    with pytest.raises(Conflict, match="forgotten since"):
        desk.memory.review(item, accept=True)
    assert desk.bytes() == before
    desk.memory.review(item, accept=False)
    assert desk.memory.review() == []


# Contradictions


def test_a_contradiction_accepted_is_a_succession(desk: Desk) -> None:
    """Accepted, the later statement replaces the earlier, which stays findable as what was."""
    old, new, item = _conflicting(desk)
    assert (item.topic, item.why) == ("contradiction", "two floors")
    assert "second floor" in item.text
    assert "third floor" in item.text
    desk.memory.review(item.id, accept=True)
    assert desk.memory.review() == []
    assert [(hit.id, hit.standing) for hit in desk.hits("office floor")] == [
        (new, "current"),
        (old, "superseded"),
    ]


def test_a_contradiction_rejected_leaves_both(desk: Desk) -> None:
    """Rejected, both statements stand, and nobody is asked again."""
    old, new, item = _conflicting(desk)
    desk.memory.review(item.id, accept=False)
    assert desk.memory.review() == []
    assert {hit.id for hit in desk.hits("office floor") if hit.standing == "current"} == {old, new}
    assert desk.memory.get(new).conflicts == ()


def test_a_contradiction_with_something_forgotten_is_no_question(desk: Desk) -> None:
    """Once one of the two is forgotten nothing waits, and nothing shows it."""
    old, _, _ = _conflicting(desk)
    desk.memory.forget([old])
    assert desk.memory.review() == []


# Quarantine


def _queue(desk: Desk, data: bytes) -> None:
    (desk.root / layout.SEGMENTS / "other.jsonl").write_bytes(data)


def test_a_refused_record_is_dropped_or_tried_again(desk: Desk) -> None:
    """A record in quarantine is listed with its reason; dropped, its bytes stay and it is not asked about again."""
    _queue(desk, b'{"v":1,"type":"remember","half\n')
    desk.memory.drain()
    (item,) = desk.memory.review()
    assert item.topic == "quarantine"
    assert "half" in item.text
    with pytest.raises(InvalidRecord, match="mend the text"):
        desk.memory.review(item.id, accept=True)
    assert desk.memory.review() == [item]
    desk.memory.review(item.id, accept=False)
    assert desk.memory.review() == []
    assert b"half" in b"".join(
        data for path, data in desk.bytes().items() if path.startswith(layout.QUARANTINE)
    )


def test_a_sound_record_tried_again_is_stored(desk: Desk) -> None:
    """A whole record that had been set aside is queued again as it is, and the next drain stores it."""
    entry = Entry(id="a" * 16, text="User likes tea", at=desk.clock(), day="2026-07-01")
    raw = framing.frame(Remember(id="b" * 16, at=desk.clock(), entry=entry))
    ws = desk.memory.opened.ws
    review.quarantine.set_aside(ws, [stream.Damaged("other.jsonl", 7, raw, "it looked odd")])
    (item,) = desk.memory.review()
    desk.memory.review(item.id, accept=True)
    assert desk.memory.review() == []
    assert desk.found("tea") == ["User likes tea"]
    assert desk.memory.drain().stored == 1


# Words that cannot be given


def test_a_word_on_nothing_is_told(desk: Desk) -> None:
    """An id that names nothing, or several items, is an error that says so."""
    ws = desk.memory.opened.ws
    with pytest.raises(NotFound, match="review list"):
        desk.memory.review("ffff", accept=True)
    ids = [reviews.propose(ws, "skill", f"skills/s{n}/SKILL.md", text="x") for n in range(40)]
    first = next(one[0] for one in ids if sum(other[0] == one[0] for other in ids) > 1)
    with pytest.raises(UsageError, match="more digits"):
        desk.memory.review(first, accept=True)
    assert len(desk.memory.review()) == 40


def test_a_word_is_given_once(desk: Desk) -> None:
    """An item that is settled cannot be settled again, either way."""
    item = _edited(desk)
    desk.memory.review(item.id, accept=True)
    for accept in (True, False):
        with pytest.raises(NotFound):
            desk.memory.review(item.id, accept=accept)
    assert desk.text("notes/2026-07-01.md").count(EDIT) == 1


def test_a_crash_between_effect_and_verdict_does_it_once(desk: Desk) -> None:
    """Failing at any write, a verdict given again has its effect once and is recorded."""
    item = _edited(desk)
    desk.memory.close()
    at = 0
    while desk.memory.review():
        at += 1

        def failing(root: Path, at: int = at) -> CrashDisk:
            return CrashDisk(root, fail_at=at, forever=True)

        memory = desk.again(disk=failing)
        with suppress(StoreUnwritable):
            memory.review(item.id, accept=True)
        assert desk.memory.review() in ([item], [])
        memory.close()
    assert at > 2
    assert desk.text("notes/2026-07-01.md").count(EDIT) == 1


# Entries that no dream could process


def _unprocessable(desk: Desk) -> tuple[str, Item]:
    """Let an entry be found unprocessable, and return it with what waits then."""
    entry = desk.remember("User likes jasmine tea", category="preference")
    desk.memory.drain()
    desk.clock.advance(days=1)
    told = Outcome(
        run="dream:20260702-030000",
        entry=entry,
        outcome="unprocessable",
        at=desk.clock(),
        reason="no page took it",
    )
    stream.append(desk.memory.opened.ws, layout.OUTCOMES, told)
    (item,) = desk.memory.review()
    return entry, item


def test_an_unprocessable_entry_waits_and_can_be_tried_again(desk: Desk) -> None:
    """It is listed with its text and reason; accepted, the next dream takes it, and nothing waits any more (R-11)."""
    entry, item = _unprocessable(desk)
    assert (item.topic, item.place, item.why) == ("unprocessable", entry, "no page took it")
    assert "jasmine" in item.text
    assert desk.memory.dream(now=True).result == "nothing"
    desk.memory.review(item.id, accept=True)
    assert desk.memory.review() == []
    assert desk.memory.dream(now=True).counts == {"cited": 1}
    assert desk.memory.review() == []


def test_status_counts_what_review_lists(desk: Desk) -> None:
    """The number in `status` is the number of items: one that no dream could process counts, until a word is given."""
    _conflicting(desk)
    entry = desk.remember("User likes jasmine tea", category="preference")
    desk.memory.drain()
    told = Outcome(run="dream:20260702-030000", entry=entry, outcome="unprocessable", at=desk.clock())
    stream.append(desk.memory.opened.ws, layout.OUTCOMES, told)
    item = next(one for one in desk.memory.review() if one.topic == "unprocessable")
    assert desk.memory.status().reviews == len(desk.memory.review()) == 2
    desk.memory.review(item.id, accept=False)
    assert desk.memory.status().reviews == len(desk.memory.review()) == 1


def test_an_unprocessable_entry_can_be_left(desk: Desk) -> None:
    """Rejected, it is not asked about again, stays findable, and no dream takes it up."""
    entry, item = _unprocessable(desk)
    desk.memory.review(item.id, accept=False)
    assert desk.memory.review() == []
    assert [hit.id for hit in desk.hits("jasmine")] == [entry]
    assert desk.memory.dream(now=True).result == "nothing"


@pytest.mark.parametrize("accept", [True, False])
def test_a_verdict_on_an_unprocessable_entry_survives_any_failure(desk: Desk, accept: bool) -> None:  # noqa: FBT001
    """Failing at any write, the entry waits or the verdict holds; given again it has its effect once."""
    entry, item = _unprocessable(desk)
    desk.memory.close()
    at = 0
    while desk.memory.review():
        at += 1

        def failing(root: Path, at: int = at) -> CrashDisk:
            return CrashDisk(root, fail_at=at, forever=True)

        memory = desk.again(disk=failing)
        with suppress(StoreUnwritable):
            memory.review(item.id, accept=accept)
        memory.close()
    stand = [one.outcome for one in desk.memory.why(entry).outcomes]
    assert (at > 1, stand) == (True, [] if accept else ["unprocessable"])


@pytest.mark.parametrize("accept", [True, False])
def test_a_verdict_on_a_proposal_survives_any_failure(desk: Desk, accept: bool) -> None:  # noqa: FBT001
    """Failing at any write, the file is the old or the proposed text; given again the verdict holds (P-08)."""
    old, new = desk.text("USER.md"), "# User\n\nDana.\n"
    reviews.propose(desk.memory.opened.ws, "core-edit", "USER.md", text=new)
    (item,) = desk.memory.review()
    desk.memory.close()
    at = 0
    while desk.memory.review():
        at += 1

        def failing(root: Path, at: int = at) -> CrashDisk:
            return CrashDisk(root, fail_at=at, forever=True)

        memory = desk.again(disk=failing)
        with suppress(StoreUnwritable):
            memory.review(item.id, accept=accept)
        assert desk.text("USER.md") in (old, new)
        memory.close()
    assert (at > 1, desk.text("USER.md")) == (True, new if accept else old)
