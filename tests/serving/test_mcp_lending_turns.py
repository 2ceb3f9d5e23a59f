"""Turns read by the client's own model, through the official SDK's client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hosting import Host

from reverie.store.dreams import reviews

if TYPE_CHECKING:
    from conftest import Place


@pytest.fixture
def host(place: Place) -> Host:
    """A host whose model may work."""
    return Host(place)


ITEM = {"text": "User moved to Lisbon.", "evidence": "I moved to Lisbon", "turn": 0, "category": "personal"}


def test_a_host_reads_turns(host: Host) -> None:
    """The first reading waits for a person's word and is then stored as one record; the next is stored at once."""
    host.say("I moved to Lisbon.", "My sister Ada plays the cello.")
    out = host.value("memory_extract_start", model="claude")
    assert (out["session"], out["from"], out["to"]) == ("s9", 0, 2)
    assert "I moved to Lisbon" in out["turns"]
    done = host.value("memory_extract_submit", handle=out["handle"], entries=[ITEM])
    assert done["review"]
    with host.memory() as memory:
        assert memory.extract().spans == 0
        assert memory.recall("Lisbon").hits[0].kind == "turn"
    host.accepted()
    with host.memory() as memory:
        memory.drain()
        (stored,) = [one for one in memory.list() if "Lisbon" in one.entry.text]
        assert (stored.entry.session, stored.entry.turns, stored.entry.evidence) == (
            "s9",
            "0",
            "I moved to Lisbon",
        )
    host.say("The boiler was mended on 2026-06-30.")
    out = host.value("memory_extract_start")
    assert (out["from"], out["to"]) == (2, 3)
    good = {"text": "The boiler was mended on 2026-06-30.", "evidence": "The boiler was mended on 2026-06-30"}
    bad = {"text": "The boiler cost 900 euros.", "evidence": "The boiler was mended"}
    done = host.value("memory_extract_submit", handle=out["handle"], entries=[bad, good])
    assert (done["read"], done["entries"]) == (True, 1)
    assert [one["item"] for one in done["refused"]] == [0]
    assert host.value("memory_extract_start")["handle"] == ""
    assert host.use("memory_extract_submit", handle=out["handle"], entries=[good]).is_error


@pytest.mark.parametrize(
    ("item", "why"),
    [
        ({"text": "User moved to Porto.", "evidence": "I moved to Lisbon"}, "Porto"),
        ({"text": "User moved to Lisbon.", "evidence": "I went to Lisbon"}, "stands in no unread turn"),
        ({"text": "User moved to Lisbon."}, "no text or no evidence"),
        ({"evidence": "I moved to Lisbon"}, "no text or no evidence"),
        ("User moved to Lisbon.", "no object"),
        ({"text": 7, "evidence": ["I moved to Lisbon"]}, "no text or no evidence"),
        (
            {"text": "User moved to Lisbon. " * 100, "evidence": "I moved to Lisbon"},
            "longer than one sentence",
        ),
    ],
)
def test_an_unusable_submission_leaves_the_turns_unread(host: Host, item: Any, why: str) -> None:
    """It says of each item what is wrong with it; the span stays handed out, and can be submitted again."""
    host.say("I moved to Lisbon.")
    out = host.value("memory_extract_start")
    done = host.value("memory_extract_submit", handle=out["handle"], entries=[item])
    assert not done["read"]
    assert why in done["refused"][0]["reason"]
    assert host.value("memory_extract_submit", handle=out["handle"], entries=[ITEM])["review"]


def nested(depth: int) -> Any:
    """Return a list in a list in a list."""
    inner: Any = "x"
    for _ in range(depth):
        inner = [inner]
    return inner


@pytest.mark.parametrize("known", [False, True])
def test_nothing_but_what_was_asked_for_is_taken(host: Host, known: bool) -> None:  # noqa: FBT001 - a parameter
    """Members that no form names, and values nested however deep, are left out, before a person and after."""
    host.say("I moved to Lisbon.")
    deep = nested(5_000)
    item = {
        **ITEM,
        "category": deep,
        "tags": [deep],
        "origin": "import",
        "pin": True,
        "id": "0" * 16,
        "extra": deep,
    }
    with host.memory() as memory:
        if known:
            ws = memory.opened.ws
            reviews.settle(
                ws, reviews.propose(ws, reviews.GUEST_EXTRACTION, "extract:0", text="before"), accepted=True
            )
        out = memory.extract_start()
        assert out is not None
        done = memory.extract_submit(out.handle, [item])
        assert (done.read, bool(done.review)) == (known, not known)
        for one in memory.review():
            assert "pin" not in one.text
            memory.review(one.id, accept=True)
        memory.drain()
        (stored,) = [one for one in memory.list() if "Lisbon" in one.entry.text]
        assert (stored.entry.origin, stored.pinned, stored.entry.category) == ("user", False, "fact")
        assert stored.entry.id != "0" * 16


def test_leaving_the_entries_out_is_no_empty_list(host: Host) -> None:
    """A submission without entries is an error; an empty list is the reader's word that there is nothing."""
    host.say("Hello there.")
    out = host.value("memory_extract_start")
    assert host.use("memory_extract_submit", handle=out["handle"]).is_error
    assert host.value("memory_extract_submit", handle=out["handle"], entries=[])["review"]


def test_two_hosts_read_each_span_once(host: Host) -> None:
    """Each gets another session; what both read is stored once, and when a lease ends its span is handed out again."""
    host.say("I moved to Lisbon.", session="a")
    host.say("I moved to Lisbon.", session="b")
    first, second = host.value("memory_extract_start"), host.value("memory_extract_start")
    assert {first["session"], second["session"]} == {"a", "b"}
    assert host.value("memory_extract_start")["handle"] == ""
    assert host.use("memory_extract_start", session="a").content[0].text.startswith("Busy")
    with host.memory() as memory:
        assert memory.extract().spans == 0
    host.clock.advance(seconds=601)
    third = host.value("memory_extract_start", session=first["session"])
    assert third["handle"] != first["handle"]
    assert host.use("memory_extract_submit", handle=first["handle"], entries=[ITEM]).is_error
    assert host.value("memory_extract_submit", handle=third["handle"], entries=[ITEM])["review"]
    host.accepted()
    host.clock.advance(seconds=1)
    with host.memory() as memory:
        memory.drain()
        assert memory.extract().spans == 1
        assert len([one for one in memory.list() if one.entry.session == first["session"]]) == 1


def test_forgotten_and_excluded_turns_are_not_handed_out(host: Host) -> None:
    """Of turns, what is excluded is left out, and an item that stands on it is refused."""
    host.say("I moved to Lisbon. My salary is 90000 euros.")
    with host.memory() as memory:
        memory.exclude("salary")
    out = host.value("memory_extract_start")
    assert "90000" not in out["turns"]
    item = {"text": "User's salary is 90000 euros.", "evidence": "My salary is 90000 euros"}
    assert host.value("memory_extract_submit", handle=out["handle"], entries=[item])["refused"]
