"""Any interleaving of writers, extractions, drains and crashes: the files hold all that was acknowledged, once."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import suppress
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from ledger import (
    NOON,
    account,
    caught_up,
    clock,
    from_nothing,
    opened,
    reading,
    rows,
    said,
    state_of,
    unmasked,
)

from reverie import layout
from reverie.capture import capture, end
from reverie.core.records import Draft, Entry, Event, Extraction, Remember
from reverie.drain import drain
from reverie.errors import Conflict
from reverie.extract import extract
from reverie.remember import feedback, happen, remember
from reverie.store import journal, sessions, stream
from reverie.store.workspace import Workspace
from reverie.testing import CrashDisk, Crashed

WRITERS = st.integers(0, 2)
SAID = (
    "I now work at Microsoft.",
    "I moved to Lisbon.",
    "I prefer tea over coffee.",
    "Hello!",
    "我喜欢喝龙井。",
    "Remind me to call Dana by 2096-07-20.",
)
CALLS = st.integers(1, 40)
SEEDS = st.integers(0, 30)


class Lives(RuleBasedStateMachine):
    """Three writers on one folder, and what each was told is stored."""

    def __init__(self) -> None:
        """Begin with an empty workspace."""
        super().__init__()
        self.root = Path(tempfile.mkdtemp(prefix="reverie-lives-"))
        self.told: dict[str, str] = {}  # what was acknowledged, and its kind
        self.keys: dict[str, str] = {}
        self.ids = 1
        self.now = NOON

    @initialize()
    def begin(self) -> None:
        """Open it for each writer."""
        self.writers = [self.open() for _ in range(3)]
        self.state = state_of(self.writers[0])

    def open(self, disk: CrashDisk | None = None) -> Workspace:
        """Open the workspace with ids nobody else has."""
        self.ids += 1
        return opened(self.root, disk=disk, now=self.now, first=self.ids << 32)

    def teardown(self) -> None:
        """Remove the folder."""
        self.state.close()
        shutil.rmtree(self.root)

    def _known(self, entry_id: str) -> Entry | None:
        ws = self.writers[0]
        events: stream.Read[Event] = stream.read(ws, layout.EVENTS, Event)
        found = [event.body for event in events.records if event.body is not None]
        queued = (*journal.waiting(ws).records, *journal.archived(ws))
        found += [record.entry for record in queued if isinstance(record, Remember)]
        return next((entry for entry in found if entry.id == entry_id), None)

    @rule(writer=WRITERS, text=st.text(min_size=1, max_size=20), back=st.integers(0, 2), due=st.booleans())
    def remembers(self, writer: int, text: str, back: int, due: bool) -> None:  # noqa: FBT001
        """A text, or a promise, for one of three days."""
        fields = {"due": "2096-07-20"} if due else {}
        draft = Draft(at=self.now - timedelta(days=back), **fields)
        kept = remember(self.writers[writer], f"x{text}", draft, known=self._known).id
        self.told[kept] = "entry"

    @rule(writer=WRITERS, key=st.sampled_from("abc"), text=st.sampled_from(("one", "two")), due=st.booleans())
    def remembers_under_a_key(self, writer: int, key: str, text: str, due: bool) -> None:  # noqa: FBT001
        """A text under a key that may be taken."""
        draft = Draft(key=key, due="2096-07-20" if due else "")
        if self.keys.setdefault(key, text) == text:
            self.told[remember(self.writers[writer], text, draft, known=self._known).id] = "entry"
        else:
            with suppress(Conflict):
                remember(self.writers[writer], text, draft, known=self._known)
                raise AssertionError(key)

    @rule(writer=WRITERS, session=st.sampled_from(("s1", "s2")), text=st.sampled_from(SAID))
    def captures(self, writer: int, session: str, text: str) -> None:
        """A turn of one of two sessions."""
        self.told[capture(self.writers[writer], session, said(text, at=self.now)).id] = "turn"

    @rule(writer=WRITERS, session=st.sampled_from(("s1", "s2")))
    def ends(self, writer: int, session: str) -> None:
        """The end of a session."""
        end(self.writers[writer], session)

    @rule(writer=WRITERS, data=st.data())
    def judges(self, writer: int, data: st.DataObject) -> None:
        """Feedback on, and something that happened to, an entry."""
        entries = sorted(name for name, kind in self.told.items() if kind == "entry")
        if entries:
            entry = data.draw(st.sampled_from(entries))
            self.told[feedback(self.writers[writer], entry, "more")] = "judged"
            happen(self.writers[writer], data.draw(st.sampled_from(("pin", "hide", "complete"))), entry)

    @rule(writer=WRITERS)
    def extracts(self, writer: int) -> None:
        """What is unread."""
        extract(self.writers[writer], reading(self.writers[writer]))

    @rule(writer=WRITERS)
    def drains(self, writer: int) -> None:
        """All that is queued."""
        drain(self.writers[writer])

    @rule(at=CALLS, seed=SEEDS)
    def drains_until_the_power_is_cut(self, at: int, seed: int) -> None:
        """Part of what is queued; everybody begins anew."""
        self._cut(drain, at=at, seed=seed)

    @rule(at=CALLS, seed=SEEDS)
    def extracts_until_the_power_is_cut(self, at: int, seed: int) -> None:
        """Part of what is unread; everybody begins anew."""
        self._cut(lambda ws: extract(ws, reading(ws)), at=at, seed=seed)

    @rule(at=st.integers(1, 12), seed=SEEDS)
    def writes_until_the_power_is_cut(self, at: int, seed: int) -> None:
        """A turn and an entry, of which some may be acknowledged; everybody begins anew."""

        def write(ws: Workspace) -> None:
            self.told[capture(ws, "s1", said(SAID[0], at=self.now)).id] = "turn"
            self.told[remember(ws, "Cut off", Draft(), known=self._known).id] = "entry"

        self._cut(write, at=at, seed=seed)

    def _cut(self, work: object, *, at: int, seed: int) -> None:
        disk = CrashDisk(self.root, crash_at=at, seed=seed)
        with suppress(Crashed):
            work(self.open(disk))
        disk.cut_power()
        self.writers = [self.open() for _ in range(3)]

    @rule(hours=st.sampled_from((-30, 1, 24, 24 * 31)))
    def time_passes(self, hours: int) -> None:
        """The clock moves, backwards too."""
        self.now += timedelta(hours=hours)
        for writer in self.writers:
            clock(writer).set(self.now)

    @rule(text=st.sampled_from(("- [hobby] By hand\n", "a line\n", "- [hobby] No end", "\n## 09:00 — s9\n")))
    def a_person_writes(self, text: str) -> None:
        """Into the log of the day."""
        with (self.root / layout.log_file("2026-07-01")).open("a", encoding="utf-8") as file:
            file.write(text)

    @rule()
    def the_state_catches_up(self) -> None:
        """With the files, and shows what waits as well."""
        ws = self.writers[0]
        caught_up(ws, self.state)
        shown = {one.entry.id for one in self.state.states()}
        assert shown >= {name for name, kind in self.told.items() if kind == "entry"}
        assert rows(self.state) == from_nothing(ws)

    @invariant()
    def what_was_acknowledged_is_there_once(self) -> None:
        """In logs, events, queue and sessions together; no line, judgement or span comes twice."""
        if not hasattr(self, "writers"):
            return
        ws = self.writers[0]
        found = account(ws)
        assert {name: found.times(kind, name) for name, kind in self.told.items()} == dict.fromkeys(
            self.told, 1
        )
        assert set(found.lines.values()) <= {1}
        assert set(found.judged.values()) <= {1}
        spans = [
            one
            for one in (*journal.waiting(ws).records, *journal.archived(ws))
            if isinstance(one, Extraction)
        ]
        for session in sessions.names(ws):
            ends = sorted({(one.start, one.stop) for one in spans if one.session == session})
            assert all(first[1] <= second[0] for first, second in pairwise(ends)), ends


Lives.TestCase.settings = settings(
    max_examples=25,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
TestLives = Lives.TestCase


def test_a_state_of_nothing_is_empty(tmp_path: Path) -> None:
    """A workspace without files has a state without rows."""
    ws = opened(tmp_path)
    state = state_of(ws)
    state.catch_up(unmasked)
    assert not any(rows(state).values())
    state.close()
