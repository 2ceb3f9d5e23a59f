"""What bounds a dreaming model: how much it reads and writes in one run, and what it is told beside its batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dream_agent import TEAS, Standing, body, cite, dreamt, good
from dream_world import DAY, NIGHT, TEA, look_at

from reverie.core.records import History as Condensed
from reverie.store import history
from reverie.store.dreams.dream_tools import READ_CHARS, RUN_READ, RUN_WRITTEN, Tools
from reverie.store.dreams.dream_views import Veil
from reverie.store.dreams.staging import Staging

if TYPE_CHECKING:
    from reverie.store.workspace import Workspace

PAGE = "3_Personal/Long.md"


def tools(ws: Workspace) -> Tools:
    """Return the tools of a run over the day's entries."""
    state = look_at(ws)
    try:
        found = state.find([TEA.id])
    finally:
        state.close()
    return Tools(ws, Staging(ws), [], veil=Veil(), known=found.__contains__)


def test_a_long_file_is_read_in_pieces_that_join(ws: Workspace) -> None:
    """One answer holds so much and says where it goes on; the pieces together are the file."""
    text = "".join(f"line {n} of a long page\n" for n in range(3_000))
    (ws.root / ws.notebook / PAGE).write_text(text, encoding="utf-8")
    desk, got, start = tools(ws), "", 0
    while True:
        piece, mark, rest = desk.read(PAGE, start).partition("\n[goes on: start=")
        assert len(piece) <= READ_CHARS
        got += piece
        if not mark:
            break
        start = int(rest.removesuffix("]"))
        assert start == len(got)
    assert got == text


def test_a_run_reads_so_much_and_no_more(ws: Workspace) -> None:
    """Once a run has read its share every further file is refused, and settling and writing go on."""
    (ws.root / ws.notebook / PAGE).write_text(("x" * 9_999 + "\n") * 3, encoding="utf-8")
    desk = tools(ws)
    answers = [desk.read(PAGE) for _ in range(RUN_READ // READ_CHARS + 1)]
    assert not any(one.startswith("refused") for one in answers[:-1])
    assert sum(len(one.partition("\n[goes on")[0]) for one in answers[:-1]) == RUN_READ
    assert answers[-1] == "refused: this run has read as much as one may"
    assert desk.write(TEAS, body("Preferences", cite(TEA))).startswith("notebook/")


def test_a_run_writes_so_much_and_no_more(ws: Workspace) -> None:
    """A file of more than half a megabyte is refused, and so is all that a run would write beyond its share."""
    desk = tools(ws)
    assert desk.write(PAGE, "é" * 300_000) == "refused: a file may have 512 kB"
    whole = "x y " * 125_000
    for _ in range(RUN_WRITTEN // len(whole)):
        assert desk.write(PAGE, whole).startswith("notebook/")
    assert desk.write(TEAS, "x") == "refused: this run has written as much as one may"
    assert desk.edit(PAGE, old=whole, new="x") == "refused: this run has written as much as one may"
    assert desk.proposal().pages == {PAGE: whole}


def test_what_sessions_of_the_same_days_were_condensed_to_comes_along(ws: Workspace) -> None:
    """Summaries of the batch's days are told, without what is forgotten; those of other days and raw ones are not."""
    told = (
        ("a", "2026-07-01T09:00", "Tea was talked of.\nThe oak was talked of.", False),
        ("b", "2026-06-20T09:00", "Boats were talked of.", False),
        ("c", "2026-07-01T10:00", "[0] Raw words of trains.", True),
        ("d", "2026-07-01T11:00", "All of this is forgotten.", False),
    )
    for session, at, content, raw in told:
        record = Condensed(
            cursor=0,
            timestamp=NIGHT.fromisoformat(f"{at}:00+00:00"),
            session=session,
            turns="0-3",
            content=content,
            raw=raw,
        )
        assert history.append(ws, record, history.reached(ws, session)) is not None

    def forgotten(text: str) -> bool:
        return "oak" in text or "forgotten" in text

    _, script = dreamt(ws, *good(*DAY), masked=forgotten)
    asked = str(script.messages[0])
    assert "## 2026-07-01, session a, turns 0-3" in asked
    assert "Tea was talked of." in asked
    assert not any(word in asked for word in ("oak", "Boats", "Raw words", "forgotten."))
    assert set(Standing(ws).outcomes) == {one.id for one in DAY}
