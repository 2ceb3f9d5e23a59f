"""A dream by the client's own model that misbehaves: for each way, what is in the store afterwards, exactly.

A person has accepted such a model's work here before, so that whatever is let through takes effect at once.
`Standing` compares pages, core files, skills and logs by their bytes, the outcomes, `log.md`, and what is proposed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from dream_agent import TEAS, Standing, body, cite, cited, dreamt, write
from dream_world import DANA, DAY, TEA, WORK, entry, log, open_world
from hosting import DANAS, HALF, IDS, PAGE, PEOPLE, Host, Work, known_host

from reverie.store.dreams import dreaming, runs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Place

MINE = body("Preferences", *(f"User wrote line {n} by hand, and means to keep it" for n in range(20)))


@pytest.fixture
def host(place: Place) -> Host:
    """A host whose model may work, and whose work a person has accepted here before."""
    return known_host(place)


def test_who_does_its_work(host: Host) -> None:
    """What it wrote stands byte for byte, each entry is cited, and the mark has moved: nothing waits (R-07)."""
    work = Work(host)
    work.use("edit", path=TEAS, text=PAGE)
    work.cited(*IDS)
    assert work.end({TEAS: PAGE}, dict.fromkeys(IDS, "cited"))["review"] == ""


def test_a_host_installs_what_an_agent_of_ours_would(host: Host, tmp_path: Path) -> None:
    """The same work, half of it refused, leaves the same pages, outcomes, log and run, whoever's model did it."""
    bad = body("Preferences", cite(WORK, "User works at Microsoft"))
    (tmp_path / "ours").mkdir()
    ws = open_world(tmp_path / "ours")
    log(ws, DAY)
    (ws.root / "SOUL.md").write_bytes((host.place.root / "SOUL.md").read_bytes())
    dreamt(
        ws,
        write(TEAS, bad),
        cited(WORK, TEAS),
        write(DANAS, PEOPLE),
        [cited(one, DANAS) for one in DANA],
        "Done.",
    )
    work = Work(host)
    work.use("edit", path=TEAS, text=bad)
    work.cited(WORK.id)
    work.people()
    work.end({DANAS: PEOPLE}, HALF)
    ours, theirs = Standing(ws), host.stands()
    assert theirs.log == ours.log
    assert theirs.outcomes == ours.outcomes
    assert theirs.files == ours.files
    with host.memory() as memory:
        (one,), (other,) = runs.read(ws), runs.read(memory.opened.ws)
        for name in ("run", "result", "counts", "pages", "problems", "watermark"):
            assert getattr(one, name) == getattr(other, name), name


def test_who_forgets_half_settles_half(host: Host) -> None:
    """Entries that were not settled stay pending and hold the watermark (R-09)."""
    work = Work(host)
    work.people()
    assert "[2 of 4 settled; unsettled: 0000000000000001, 0000000000000002]" in work.use("read")
    work.end({DANAS: PEOPLE}, HALF)


@pytest.mark.parametrize(
    "new",
    [
        body("Preferences", cite(TEA)),
        f"---\ntype: personal\ntitle: Preferences\n---\n\n{cite(TEA)}\n",
        body("Preferences", cite(TEA), "... (rest unchanged)"),
        f"{MINE}- {cite(TEA)}\n- (the rest remains unchanged)\n",
    ],
    ids=["shrinks", "keeps its head", "rest unchanged", "a line for the rest"],
)
def test_no_page_is_deleted_emptied_or_cut(host: Host, new: str) -> None:
    """A page that loses what stood there is dropped with its entries; the rest of the run lands (R-19, P-04)."""
    (host.place.root / "notebook" / TEAS).write_text(MINE)
    work = Work(host)
    work.use("edit", path=TEAS, text=new)
    work.cited(TEA.id)
    work.people()
    work.end({DANAS: PEOPLE}, HALF)
    assert (host.place.root / "notebook" / TEAS).read_text() == MINE


def test_a_page_that_is_emptied_stays(host: Host) -> None:
    """An empty text for a page is no deletion of it: the page stays, and with it the run that wrote nothing else."""
    (host.place.root / "notebook" / TEAS).write_text(MINE)
    work = Work(host)
    work.use("edit", path=TEAS, text="")
    work.cited(TEA.id)
    work.end({}, {})


def test_who_loops_is_stopped(host: Host) -> None:
    """Who uses tools for ever is told to end the run after some hours, and can; then the night is anybody's (P-06)."""
    work = Work(host)
    for _ in range(23):
        host.clock.advance(minutes=10)
        assert "preference" in work.use("read", path="archive/2026-07-01.md")
    host.clock.advance(minutes=10)
    late = host.use("memory_dream_read", run=work.run, path="archive/2026-07-01.md")
    assert "has gone on since" in late.content[0].text
    work.end({}, {})
    with host.memory() as memory:
        assert memory.dream(now=True).counts == {"cited": 4}


def test_who_writes_for_ever_is_stopped(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run holds so much and no more: then it can only be ended, and what it did before is judged as any (P-06)."""
    work = Work(host)
    work.use("edit", path=TEAS, text=PAGE)
    work.cited(*IDS)
    monkeypatch.setattr(dreaming, "MOST", 2_000)
    for number in range(30):
        late = host.use("memory_dream_edit", run=work.run, path=f"2_Wiki/Concepts/P{number}.md", text=PEOPLE)
        if late.is_error:
            break
    assert "holds as much as a run may" in late.content[0].text
    assert host.value("memory_dream_finish", run=work.run)["counts"]["cited"] == len(IDS)


def test_who_breaks_off_half_way_leaves_nothing(host: Host) -> None:
    """Half a run whose lease has ended is dropped whole, is no try, and the next one does it once (R-10, N-29)."""
    work = Work(host)
    work.use("edit", path=TEAS, text=body("Preferences", cite(TEA), cite(WORK)))
    work.cited(TEA.id, WORK.id)
    host.clock.advance(seconds=601)
    again = Work(host)
    assert again.before == work.before
    assert host.use("memory_dream_finish", run=work.run).content[0].text.startswith("Conflict")
    again.use("edit", path=TEAS, text=PAGE)
    again.cited(*IDS)
    again.end({TEAS: PAGE}, dict.fromkeys(IDS, "cited"))
    with host.memory() as memory:
        assert [one.result for one in memory.log()] == ["productive"]


def test_ids_that_do_not_exist_cost_the_page(host: Host) -> None:
    """A page that cites no entry there is falls with its entries, and the others land (R-09)."""
    ghost = entry(999, "User likes green tea")
    work = Work(host)
    work.use("edit", path=TEAS, text=body("Preferences", cite(TEA), cite(ghost)))
    work.cited(ghost.id)
    work.cited(TEA.id)
    work.people()
    assert len(work.refused) == 1
    work.end({DANAS: PEOPLE}, HALF)


@pytest.mark.parametrize("said", ["User has preferences", "User works somewhere", "User works at Microsoft"])
def test_a_citation_without_its_content_is_refused(host: Host, said: str) -> None:
    """A line that lacks what it cites, or says something else, falls with its page (R-09, R-21)."""
    work = Work(host)
    work.use("edit", path=TEAS, text=body("Preferences", cite(WORK, said)))
    work.cited(WORK.id)
    work.people()
    work.end({DANAS: PEOPLE}, HALF)


def test_not_everything_is_declined(host: Host) -> None:
    """More than half of a large batch declined is declined at all of none, and all of it is pending."""
    many = [entry(n, f"User likes dish {n}", category="preference", sig=0.2) for n in range(11, 23)]
    with host.memory() as memory:
        log(memory.opened.ws, many)
    work = Work(host)
    work.use("settle", entries=[one.id for one in (*DAY, *many)], outcome="declined", reason="not worth it")
    assert work.end({}, {})["counts"] == {}
    with host.memory() as memory:
        assert memory.log()[0].problems == ("batch: 16 of 16 entries declined is more than half",)


def test_merges_in_a_circle_settle_nothing(host: Host) -> None:
    """Entries merged into each other, or into themselves, are pending; who is cited lands (R-08)."""
    work = Work(host)
    for one, other in ((TEA, WORK), (WORK, TEA), (TEA, TEA)):
        work.use("settle", entries=[one.id], outcome="merged", into=other.id)
    work.people()
    work.end({DANAS: PEOPLE}, HALF)


REFUSALS: list[Callable[[Work], object]] = [
    lambda work: work.use("edit", path=TEAS, text=body("Preferences", "User works at Microsoft since 2011")),
    lambda work: work.use("edit", path="../../x.md", text="x"),
    lambda work: work.use("settle", entries=["ffff"], outcome="cited", page=TEAS),
    lambda work: work.use("read", words="tea"),
]


@pytest.mark.parametrize("how", REFUSALS, ids=["invents", "escapes", "strays", "looks"])
def test_the_first_run_of_a_stranger_that_comes_to_nothing_asks_nobody(
    place: Place, how: Callable[[Work], object]
) -> None:
    """Before a person has accepted anything, a run in which nothing holds is not put before them either."""
    work = Work(Host(place))
    how(work)
    assert work.end({}, {})["review"] == ""
