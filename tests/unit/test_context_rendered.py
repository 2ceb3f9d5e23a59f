"""What a context rendered, and how its shares are dealt out."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from talks import NOON, S, entry, memory_file, remembered, shown, state_of, user, workspace

from reverie import layout
from reverie.capture import capture
from reverie.context import ContextRequest, context
from reverie.core.glance.memory_lines import cited_line
from reverie.core.protocol import MEMORY_PROTOCOL
from reverie.core.search.context_plan import MUST, SHARES, Part, Piece, plan
from reverie.core.text.tokens import estimate
from reverie.errors import StoreUnwritable
from reverie.store import pages, sessions
from reverie.store.rendered import rendered_for
from reverie.store.workspace import Workspace
from reverie.testing import CrashDisk

IDS = re.compile(r"mem_id: ([0-9a-f]{16})")
FENCE = re.compile(r"</?reverie-memory", re.IGNORECASE)
DEEP = NOON - timedelta(days=40)


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """Return a new workspace with its first pages."""
    made = workspace(tmp_path)
    pages.bootstrap(made)
    return made


def test_what_was_rendered_is_known_after_a_restart(ws: Workspace, tmp_path: Path) -> None:
    """Memory pasted back into a turn is marked as injected by another process that captures it later (P-09)."""
    fact = entry(5, "The office is in Porto, behind the station")
    remembered(ws, fact)
    memory_file(ws, fact)
    assert rendered_for(ws, S) == ()
    shown(ws, session=S)
    other = Workspace(tmp_path, ws.settings, clock=ws.clock, new_id=ws.new_id)
    line = cited_line(fact.text, [fact.id])
    assert line in rendered_for(other, S)
    assert rendered_for(other, "another") == ()
    capture(other, S, user(f"You told me:\n{line}\nIs it true?"), rendered=rendered_for(other, S))
    (turn,) = sessions.read(other, S)
    ((start, end),) = turn.injected
    assert turn.content[start:end] == line


def test_what_was_rendered_stays_bounded(ws: Workspace) -> None:
    """Context after context, a session's note keeps the newest thousand lines, each once."""
    for n in range(40):
        ws.disk.replace(
            layout.USER, "".join(f"Line {n * 100 + k} that somebody wrote\n" for k in range(100)).encode()
        )
        shown(ws, session=S, budget=20_000)
    lines = rendered_for(ws, S)
    assert len(lines) == len(set(lines)) == 1_000
    assert "Line 3999 that somebody wrote" in lines
    assert "Line 0 that somebody wrote" not in lines


def test_a_note_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    """When it cannot be noted what a session was shown, the context is returned all the same and says so."""
    pages.bootstrap(workspace(tmp_path))
    disk = CrashDisk(tmp_path)
    ws = workspace(tmp_path, disk=disk)
    state = state_of(ws)
    broken = CrashDisk(tmp_path, fail_at=1, forever=True)
    there = Workspace(tmp_path, ws.settings, clock=ws.clock, new_id=ws.new_id, disk=broken)
    made = context(there, state, ContextRequest(session=S))
    assert "could not be noted" in made.problem
    assert MEMORY_PROTOCOL in made.text
    with pytest.raises(StoreUnwritable):
        broken.replace("x", b"")


@given(
    st.lists(
        st.builds(
            Piece,
            text=st.text(max_size=120),
            heading=st.sampled_from(("", "## One", "## Two")),
            ids=st.lists(st.sampled_from("abcdefgh"), max_size=2, unique=True).map(tuple),
            place=st.integers(0, 9),
        ),
        max_size=40,
    ),
    st.integers(150, 900),
    st.randoms(),
)
def test_any_pieces_keep_the_budget_and_no_entry_comes_twice(
    pieces: list[Piece], budget: int, lots: object
) -> None:
    """Whatever asks for room, the text is within its tokens, names each entry once and holds one fence."""
    names = list(SHARES)
    parts = [Part(name, f"# {name}", tuple(pieces[k :: len(names)])) for k, name in enumerate(names)]
    made = plan(parts, budget=budget, nonce="n", protocol=lots.random() < 0.5)
    assert made.tokens == estimate(made.text) <= budget
    assert len(made.ids) == len(set(made.ids))
    assert not set(made.ids) & set(made.left_out)
    assert len(FENCE.findall(made.text)) == 2
    everything = {one for piece in pieces for one in piece.ids}
    assert everything == set(made.ids) | set(made.left_out) or any(len(piece.ids) > 1 for piece in pieces)


@given(st.lists(st.builds(Piece, text=st.text("ab \n", max_size=80)), max_size=30), st.integers(250, 900))
def test_a_tokeniser_that_counts_seams_keeps_the_budget(pieces: list[Piece], budget: int) -> None:
    """Where a whole counts more tokens than its parts, fewer parts are shown until the whole fits."""

    def count(text: str) -> int:
        return len(text) // 4 + text.count("\na")  # a seam between two lines costs one more than both

    parts = [Part("history", "# Recent History", tuple(pieces))]
    made = plan(parts, budget=budget, nonce="n", protocol=False, count=count)
    assert made.tokens == count(made.text) <= budget


def test_unused_shares_flow_on() -> None:
    """A part alone may take the whole room, and parts that are empty leave theirs to the others."""
    long = Part("history", "# Recent History", tuple(Piece(f"line {n}") for n in range(1_000)))
    alone = plan([long], budget=1_000, nonce="n", protocol=False)
    assert alone.tokens > 900
    first = Part("relevant", "## Relevant Memory", tuple(Piece(f"hit {n}") for n in range(1_000)))
    both = plan([first, long], budget=1_000, nonce="n", protocol=False)
    assert both.tokens > 900
    hits, lines = both.text.count("hit "), both.text.count("line ")
    assert hits > 2 * lines > 0


def test_the_shares_are_a_whole() -> None:
    """The shares add up to a hundred, and no part both has a share and must be shown."""
    assert sum(SHARES.values()) == 100
    assert not set(SHARES) & set(MUST)
