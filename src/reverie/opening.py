"""What an open memory holds: its workspace, state, index and mask, each made when first needed.

Owns opening, making and trusting a workspace; promises that opening reads settings and the workspace's identity and
nothing else, that the first writing verb finishes what a crash left, and that a workspace which came from elsewhere is
not written to before it is trusted; never runs a step but for recovery.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime, timedelta

import msgspec

from reverie import layout, steps
from reverie.config import no_workspace, settings_template, variable
from reverie.core.due import Due
from reverie.core.forgetting.mask import Mask
from reverie.core.records import Entry
from reverie.core.sessions.active_window import parse_range
from reverie.core.sessions.extracting import Reading
from reverie.core.sessions.pipeline import Moment, due, rhythm_of
from reverie.core.text.names import safe_name
from reverie.drain import finish as finish_drain
from reverie.entrance import Opening
from reverie.errors import (
    Busy,
    DamagedFile,
    IndexUnavailable,
    NewerFormat,
    NotAWorkspace,
    NotFound,
    ReverieError,
    UnsafePath,
    Untrusted,
    UsageError,
)
from reverie.forget import finish as finish_erase
from reverie.forget import mask_of
from reverie.index.protocol import Index
from reverie.index.resembling import Resembling
from reverie.index.schema import written_elsewhere
from reverie.index.state import State
from reverie.model.asking import Model, Purpose
from reverie.model.counting import Count, counter
from reverie.models import Models
from reverie.recall import catch_up
from reverie.store import journal, pages, rendered, sessions, trust
from reverie.store.dreams import installing, reviews
from reverie.store.workspace import Identity, Workspace
from reverie.why import Behind, behind

_ID = re.compile(r"(?<![0-9a-f])[0-9a-f]{16}(?![0-9a-f])")
LOOKING = timedelta(minutes=1)  # between two looks for what was left unread
LEFT = 3_000_000  # bytes of sessions that one looks through; about 30 ms
LINKING = 1.0  # seconds that bringing the index up to date may take before what was read is linked


class Opened:
    """An open workspace and what is derived from it. Use from one thread at a time.

    `along` are other workspaces that were opened to be read along with it, closed with it.
    """

    def __init__(
        self, opening: Opening, ws: Workspace, *, identity: Identity, agent: Opened | None = None
    ) -> None:
        """Bind to a workspace, a person's to one yet to be made; `agent` is the one a person's memory reads along."""
        self.ws, self.identity, self.agent = ws, identity, agent
        self.opening = opening
        self.along: dict[str, Opened] = {}
        self.made = agent is None or ws.disk.size(layout.ORIGIN) is not None
        self._state = State(ws.root, ws.disk, calendar=ws.calendar, notebook=ws.notebook)
        self._index: Index | None = None
        self.resembling = Resembling(self._state, lambda: self.index, catch_up=self._catch_up_index)
        self._recovered = False
        self._queue = journal.Queue(ws)
        self._laid: tuple[object, ...] | None = None
        self._looked: datetime | None = None
        self.trusted = trust.is_sealed(opening.config(), identity)

    def close(self) -> None:
        """Close the state, the index and the files that appends left open."""
        self.drop_index()
        self.ws.disk.close()
        for one in (*self.along.values(), *((self.agent,) if self.agent is not None else ())):
            one.close()

    def trusted_or_raise(self) -> None:
        """Raise Untrusted for a workspace that was not initialised here."""
        if not self.trusted:
            root = self.ws.root
            message = f"{root} was not made here: look through it, then run `reverie trust {shlex.quote(str(root))}`"
            raise Untrusted(message)

    @property
    def writable(self) -> Workspace:
        """The workspace, after what a crash left was finished; raises Untrusted."""
        self.trusted_or_raise()
        if not self.made:
            self._make()
        if not self._recovered:
            finish_erase(self.ws)
            finish_drain(self.ws)
            installing.finish(self.ws)
            self._recovered = True  # only now: what could not be finished is tried again by the next verb
        return self.ws

    @property
    def index(self) -> Index:
        """The search index, opened when first used."""
        if self._index is None:
            self._index = steps.indexing.index_of(self.opening, self.ws, self.identity.id)
        return self._index

    def drop_index(self) -> None:
        """Close the derived files so that they can be removed and built again."""
        self._queue, self._laid = journal.Queue(self.ws), None
        self._state.close()
        if self._index is not None:
            self._index.close()
            self._index = None

    def rebuild(self) -> tuple[int, int]:
        """Bring state and index up to the files, however long it takes; return how many entries and rows there are."""
        state = self.state_now()
        catch_up(self.ws, state, index=self.index, masked=self.mask.row, patience=None)
        self.index.commit()
        return state.counts()["entries"], self.index.rows.count()

    def embed(self) -> None:
        """Give vectors to what has none, when there is an embedder; `status` tells what fails."""
        with suppress(IndexUnavailable, Busy):
            if self.index.embedder:
                catch_up(self.ws, self.state_now(), index=self.index, masked=self.mask.row, patience=None)

    @property
    def mask(self) -> Mask:
        """What is forgotten, as the tombstones say now."""
        return mask_of(self.ws)

    @property
    def state(self) -> State:
        """The state as it was last caught up, for what need not look at every page again."""
        return self._state

    def state_now(self) -> State:
        """Return the state, caught up with the files and with what waits for the drain."""
        mask = self.mask
        # The queue is read first: a record the drain stores in between is then seen twice, which its id mends.
        queued = self._queue.records()
        folded = self._state.catch_up(mask)
        laid = (queued, mask, self._state.db, written_elsewhere(self._state.db))
        if folded.changed or laid != self._laid:
            # What was wrong with a file may have taken events from entries that wait, whom nothing else tells of.
            only = self._laid is not None and laid[1:] == self._laid[1:] and not folded.problems
            self._laid = None  # until it is done
            self._state.overlay(queued, mask, changed=folded.changed if only else None)
            self._laid = laid
        return self._state

    def known(self, entry_id: str) -> Entry | None:
        """Return the entry with that id, drained, stored as an event, or queued a moment ago."""
        return self.state_now().known(entry_id)

    @property
    def models(self) -> Models:
        """The models that the settings name, or the one handed over, under the workspace's rule."""
        key = variable(self.ws.settings.models.key_variable, self.opening.environment)
        return Models(self.ws, given=self.opening.model, key=key)

    @property
    def count(self) -> Count:
        """What counts the tokens of a text: a real tokeniser where one is found, else the estimate."""
        return counter(variable("TIKTOKEN_CACHE_DIR", self.opening.environment))

    def model(self, purpose: Purpose) -> Model | None:
        """Return the model for a purpose; None where everything goes by rules."""
        return self.models.ask(purpose)

    def behind(self, hit: str) -> Behind:
        """Return what stands behind a hit that is no entry, by its whole id; raises NotFound."""
        state = self.state_now()
        catch_up(self.ws, state, index=self.index, masked=self.mask.row)
        row = self.index.rows.get([hit]).get(hit)
        if row is None or row.kind == "entry" or self.mask.row(row):
            message = f"nothing found has the id {hit}: `reverie recall` shows ids"
            raise NotFound(message)
        return behind(self.ws, state, row, masked=self.mask)

    def reading(self) -> Reading:
        """Return what extraction asks of the state; all but a glance is answered from the files as they are then."""
        return Reading(
            glance=self.state_now().mark,
            mark=lambda session: self.state_now().mark(session),
            note=lambda path: self.state_now().note_digest(path),
            known=self.known,
            alike=self.resembling,
            told=self.resembling.told,
            shown=self._shown,
            masked=self.mask,
        )

    def read_left(self, act: Callable[[Due], None]) -> None:
        """Read by rule what hosts left unread of the talks that spoke last, and `act` on what became due.

        That is what is due when a workspace is opened, at the first call, and later when nobody spoke for a while. A
        model would keep whoever waits for a prompt; what it is to read is for `consolidate`.
        """
        now, before = self.ws.clock(), self._looked
        if not (self.trusted and self.made) or self.model("extraction") is not None:
            return
        if before is not None and timedelta() <= now - before < LOOKING:
            return
        self._looked = now
        with suppress(ReverieError):  # the prompt is made all the same
            asks = self.reading()
            talks = sessions.talks(self.ws, asks.glance or asks.mark, within=LEFT)
            moment: Moment = "open" if before is None else "tick"
            rhythm = rhythm_of(self.ws.settings.extraction)
            found = due(talks, moment, now=now, calendar=self.ws.calendar, rhythm=rhythm)
            if found:
                act(steps.extract.extract(self.writable, asks, names=found).due)

    def _shown(self, session: str) -> list[Entry]:
        """Return the entries whose ids stand in what was rendered for a session."""
        ids = [found for line in self.rendered(session) for found in _ID.findall(line)]
        return [state.entry for state in self._state.find(ids).values()]

    def _catch_up_index(self) -> None:
        """Bring the search rows up to the files, for as long as one extraction of a session may take."""
        catch_up(self.ws, self._state, index=self.index, masked=self.mask.row, patience=LINKING)

    def unsearch(self, forgotten: Iterable[Entry]) -> None:
        """Take the turns that entries were read from out of the search rows, where they are forgotten now."""
        mask = self.mask
        try:
            for entry in forgotten:
                span = parse_range(entry.turns)
                if span is not None:
                    turns = self.index.rows.turns(entry.session, range(span[0], span[1] + 1))
                    self.index.rows.delete(row.id for row in turns if mask.row(row))
        except (IndexUnavailable, Busy):
            self.drop_index()  # what cannot be changed is masked by every reader, and built anew in time

    def search_anew(self) -> None:
        """Make every search row again: what was forgotten may be found once more."""
        self.index.rows.reset()

    def keep_edit(self, text: str) -> None:
        """Keep what a person wrote inside MEMORY.md's block until they say what becomes of it."""
        why = "it stood inside the part of MEMORY.md that is compiled"
        reviews.propose(self.ws, "memory-edit", layout.MEMORY, text=text, why=why)

    def sessions(self) -> list[str]:
        """Return the names of all sessions."""
        return sessions.names(self.ws)

    def rendered(self, session: str) -> tuple[str, ...]:
        """Return the texts that `context` rendered for a session."""
        return rendered.rendered_for(self.ws, session)

    def person(self, name: str) -> Opened:
        """Return the workspace of one person, which their first write makes; the agent's own is only read from it."""
        self.trusted_or_raise()
        if not name.strip():
            message = "the person has no name: say whose memory is meant"
            raise UsageError(message)
        ws = self.opening.workspace(self.ws.root / layout.person_folder(safe_name(name)), above=self.ws)
        agent = Opened(self.opening, self.ws, identity=self.identity)
        if ws.disk.size(layout.ORIGIN) is not None:
            return Opened(self.opening, ws, identity=ws.identity(), agent=agent)
        ws.expected = _identity(self.opening, ws, agent=self.identity.agent, person=name)
        return Opened(self.opening, ws, identity=ws.expected, agent=agent)

    def people(self) -> list[str]:
        """Return the names of the people who have a memory of their own here; `check` names what cannot be read."""
        names = []
        for slug in self.ws.disk.list(layout.PEOPLE):
            with suppress(NotAWorkspace, DamagedFile, NewerFormat, UnsafePath):
                folder = self.ws.root / layout.person_folder(slug)
                names.append(self.opening.workspace(folder, above=self.ws).identity().person)
        return names

    def _make(self) -> None:
        """Make a person's workspace, which was read as an empty one so far."""
        self.ws.disk.make_folder("")
        if self.ws.disk.size(layout.ORIGIN) is None:
            self.ws.found(self.identity)
            pages.bootstrap(self.ws)
        self.made, self.identity = True, self.ws.identity()
        self.drop_index()


def open_workspace(opening: Opening) -> Opened:
    """Open the workspace meant; raises NotAWorkspace, BadSettings, NewerFormat, DamagedFile."""
    ws = opening.workspace(opening.folder())
    try:
        opened = Opened(opening, ws, identity=ws.identity())
    except NotAWorkspace as error:
        raise NotAWorkspace(f"{ws.root} {no_workspace(opening.path, opening.agent)}") from error
    return opened.person(opening.user) if opening.user else opened


def make_workspace(opening: Opening) -> Opened:
    """Make the folder a workspace and open it; one that is a workspace already keeps every file it has."""
    ws = opening.workspace(opening.folder())
    ws.disk.make_folder("")
    if ws.disk.size(layout.ORIGIN) is None:
        ws.found(_identity(opening, ws, agent=opening.called(ws.root), person=""))
        pages.bootstrap(ws)
    else:
        ws.make_folders()
    opened = Opened(opening, ws, identity=ws.identity())
    if opened.trusted:
        pages.bootstrap(ws)
        if ws.disk.size(layout.SETTINGS) is None:
            ws.disk.replace(layout.SETTINGS, settings_template().encode())
    return opened.person(opening.user) if opening.user else opened


def trust_workspace(opening: Opening) -> Opened:
    """Seal the workspace, and those of the people in it, as this user's own, after the user looked at it.

    One whose identity is damaged gets a new one.
    """
    ws = opening.workspace(opening.folder())
    try:
        identity = ws.identity()
    except DamagedFile:
        identity = Identity(id=ws.new_id(), agent=opening.called(ws.root), created=ws.clock())
    ws.found(_sealed(opening, identity))
    for name in ws.disk.list(layout.PEOPLE):
        with suppress(NotAWorkspace, DamagedFile, UnsafePath):  # `check` names what is no person's workspace
            person = opening.workspace(ws.root / layout.person_folder(name), above=ws)
            person.found(_sealed(opening, person.identity()))
    return Opened(opening, ws, identity=ws.identity())


def _identity(opening: Opening, ws: Workspace, *, agent: str, person: str) -> Identity:
    """Return a new identity under this user's seal."""
    return _sealed(opening, Identity(id=ws.new_id(), agent=agent, created=ws.clock(), person=person))


def _sealed(opening: Opening, identity: Identity) -> Identity:
    """Return the identity under this user's seal."""
    return msgspec.structs.replace(identity, seal=trust.seal(opening.config(), identity.id))
