"""What a dream can do: read, list, search, recall, write, edit and settle, on a staging copy.

Owns the seven tools, whoever uses them (a model's agent in this process, a host over many calls); promises that none
of them touches a file of the workspace, that what may be read and written is decided by `core.dreams.rights` alone
whatever anybody asked for, that sizes are bounded in one answer and in one run, and that every answer but a failure's
says what is still unsettled; never judges what was written, and never believes what was settled: the policy does both.

Answers are sentences for a model. One that begins with `refused:` changed nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args

import msgspec

from reverie import layout
from reverie.core.dreams.batch import Part
from reverie.core.dreams.page_rules import MAX_BYTES, added_lines
from reverie.core.dreams.policy import may_decline
from reverie.core.dreams.proposal import Proposal, Settlement
from reverie.core.dreams.rights import REFUSED, Refused, Target, kept_from_guests, readable, writable
from reverie.core.formats.utf8 import to_bytes, to_text
from reverie.core.records import OutcomeKind
from reverie.errors import ReverieError, UnsafePath
from reverie.store.dreams.dream_deeds import Deed, Saw, Settled, Wrote, plain
from reverie.store.dreams.dream_views import Veil, listed, shown
from reverie.store.dreams.staging import Staging
from reverie.store.versions.git import blob_id
from reverie.store.workspace import Workspace

READ_CHARS = 16_000  # of one file in one answer
RUN_READ = 2_000_000  # characters read in one run
RUN_WRITTEN = 4_000_000  # characters written in one run
_NAMED = 30  # unsettled entries named in an answer
_HITS = 12
_OUTCOMES = tuple(one for one in get_args(OutcomeKind) if one not in ("unprocessable", "pending"))

# (words, entries alone) -> what was found, best first, a line each
Seek = Callable[[str, bool], Sequence[str]]


class Tools:
    """The tools of one run over a batch. `deeds` are what they have done, in order."""

    guest = False  # whether a host's own model uses them

    def __init__(
        self,
        ws: Workspace,
        staging: Staging,
        batch: Sequence[Part],
        *,
        veil: Veil,
        known: Callable[[str], bool],
        seek: Seek = lambda _words, _entries: (),
    ) -> None:
        """Begin with nothing done; `known` tells whether an entry of that id may be seen."""
        self._ws, self._staging, self._veil, self._known, self._seek = ws, staging, veil, known, seek
        self._parts = {part.key: part for part in batch}
        self._settled: dict[tuple[str, int], Settlement] = {}
        self._over: dict[str, str] = {}  # pages, as they should read
        self._edits: dict[str, str] = {}  # USER.md, SOUL.md and skills, as they should read
        self._bases: dict[str, str | None] = {}  # and as they read when this run first changed them
        self._seen: dict[str, str] = {}  # what was last read of a file that this run has not changed
        self._left = RUN_READ
        self._written = 0
        self.deeds: list[Deed] = []

    def use(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """Return the answer of the tool of that name, and what is still unsettled."""
        tools: dict[str, Callable[..., str]] = {
            "read": self.read,
            "list": self.list,
            "search": self.search,
            "recall": self.recall,
            "write": self.write,
            "edit": self.edit,
            "settle": self.settle,
        }
        if tool not in tools:
            return f"{REFUSED}there is no tool {tool[:40]!r}; there are {', '.join(tools)}"
        try:
            said = tools[tool](**plain(arguments))
        except (TypeError, msgspec.ValidationError):
            return f"{REFUSED}{tool} does not take that; see what it wants"
        except ReverieError as error:
            said = f"{REFUSED}{error}"
        return f"{said}\n{self.progress()}".rstrip("\n")

    # What it came to

    def progress(self) -> str:
        """Return how many parts are settled, and which are not; nothing where there is no batch."""
        if not self._parts:
            return ""
        left = self.unsettled()
        names = ", ".join(left[:_NAMED]) + (f" and {len(left) - _NAMED} more" if len(left) > _NAMED else "")
        done = f"[{len(self._settled)} of {len(self._parts)} settled"
        return f"{done}; unsettled: {names}]" if left else f"{done}]"

    def unsettled(self) -> list[str]:
        """Return the parts without an outcome: the entry's id, with `part=` where it has several."""
        return [
            part.id if part.of == 1 else f"{part.id} part={part.number}"
            for key, part in self._parts.items()
            if key not in self._settled
        ]

    def proposal(self) -> Proposal:
        """Return the pages and settlements so far."""
        return Proposal(pages=dict(self._over), settlements=tuple(self._settled.values()))

    @property
    def edits(self) -> dict[str, str]:
        """What is proposed for USER.md, SOUL.md and skills, by path, where nobody changed them meanwhile."""
        stored = {path: self._stored(path) for path in self._edits}
        return {
            path: text
            for path, text in self._edits.items()
            if text != stored[path] and stored[path] == self._bases[path]
        }

    @property
    def overtaken(self) -> tuple[str, ...]:
        """Which of those files somebody changed meanwhile, so that nothing is proposed for them."""
        return tuple(
            f"{path} was changed meanwhile: nothing is proposed for it"
            for path, text in self._edits.items()
            if self._stored(path) not in (self._bases[path], text)
        )

    def redo(self, deed: Deed) -> None:
        """Do again what an earlier call did."""
        if isinstance(deed, Settled):
            self._settled[deed.one.key] = deed.one
            return
        if isinstance(deed, Saw):
            self._seen[deed.path] = deed.blob
            return
        target = self._target(deed.path)
        if isinstance(target, Refused):
            return  # the notebook was moved meanwhile
        if target.kind == "page":
            base = None if deed.base is None else to_bytes(deed.base)
            self._staging.remember(target.path, base)
            self._over[target.path] = deed.text
        else:
            self._bases.setdefault(target.path, deed.base)
            self._edits[target.path] = deed.text
        self._written += len(deed.text)

    # Looking

    def read(self, path: str, start: int = 0) -> str:
        """Return a file from a character on, at most READ_CHARS of it."""
        found = readable(path, self._ws.notebook, guest=self.guest)
        if isinstance(found, Refused):
            return f"{REFUSED}{found.reason}"
        self._see(found)
        text = shown(self._ws, found, self._veil, text=self._laid(found))
        if not text:
            return f"{found} is empty or absent"
        piece = text[max(0, start) :][: min(READ_CHARS, self._left)]
        if self._left <= 0:
            return f"{REFUSED}this run has read as much as one may"
        self._left -= len(piece)
        end = max(0, start) + len(piece)
        return f"{piece}\n[goes on: start={end}]" if end < len(text) else piece

    def list(self, folder: str = "") -> str:
        """Return what is in a folder."""
        notebook = self._ws.notebook
        if not folder.strip().strip("./"):
            folders = (layout.ARCHIVE, notebook, layout.SKILLS, layout.SUMMARIES)
            every = (layout.USER, layout.SOUL, layout.HISTORY, *(f"{one}/" for one in folders))
            return "\n".join(
                one for one in every if not (self.guest and kept_from_guests(one.removesuffix("/")))
            )
        found = readable(folder, notebook, guest=self.guest)
        if isinstance(found, Refused):
            return f"{REFUSED}{found.reason}"
        return listed(self._ws, found, (f"{notebook}/{path}" for path in self._over))

    def search(self, words: str) -> str:
        """Return lines of pages, history and core files that hold words, those of this run first."""
        wanted = words.casefold().split()
        if not wanted:
            return f"{REFUSED}say what to look for"
        hits = [
            f"{self._ws.notebook}/{path}: {line.strip()[:300]}"
            for path, text in sorted(self._over.items())
            for line in text.splitlines()
            if all(word in line.casefold() for word in wanted) and not self._veil(line)
        ]
        return self._found([*hits, *self._seek(words, False)])  # noqa: FBT003 - the protocol of Seek

    def recall(self, query: str) -> str:
        """Return entries that answer a question."""
        return self._found(self._seek(query, True))  # noqa: FBT003 - the protocol of Seek

    def _found(self, hits: Sequence[str]) -> str:
        return "\n".join(dict.fromkeys(hits[:_HITS])) or "nothing found"

    # Changing

    def write(self, path: str, text: str) -> str:
        """Lay a whole text over a file, or make it."""
        target = self._target(path)
        if isinstance(target, Refused):
            return f"{REFUSED}{target.reason}"
        seen = self._seen.get(self._name(target))
        if seen is not None and self._text(target) == self._base(target) and seen != self._blob(target):
            return f"{REFUSED}somebody changed {path} since it was read: read it again, and keep their words"
        return self._lay(target, text)

    def edit(self, path: str, *, old: str, new: str) -> str:
        """Replace a passage that stands once in a file."""
        target = self._target(path)
        if isinstance(target, Refused):
            return f"{REFUSED}{target.reason}"
        text = self._text(target)
        if text is None:
            return f"{REFUSED}{path} does not exist; write it"
        number = text.count(old) if old else 0
        if number != 1:
            return f"{REFUSED}the passage stands {number} times in {path}; give one that stands there once"
        return self._lay(target, text.replace(old, new, 1))

    def _lay(self, target: Target, text: str) -> str:
        text = text.encode("utf-8", "replace").decode()  # half a pair of surrogates is no text
        if len(text.encode()) > MAX_BYTES:
            return f"{REFUSED}a file may have {MAX_BYTES // 1024} kB"
        if self._written + len(text) > RUN_WRITTEN:
            return f"{REFUSED}this run has written as much as one may"
        base = self._base(target)
        if any(self._ws.clean(line) != line for line in added_lines(base, text)):
            return f"{REFUSED}it holds a secret"
        if target.kind != "page" and not self._parts:
            return f"{REFUSED}without a batch there is nothing that could be proposed; edit pages"
        if target.kind == "skill" and self._ws.settings.skills == "off":
            return f"{REFUSED}skills are switched off (skills = off)"
        self._written += len(text)
        path = self._name(target)
        if target.kind == "page":
            self._over[target.path] = text
        else:
            self._bases.setdefault(path, base)
            self._edits[path] = text
        self.deeds.append(Wrote(path=path, text=text, base=base))
        said = "" if target.kind == "page" else "; it will be put before a person"
        return f"{path} has {len(text):,} characters now{said}"

    # Settling

    def settle(
        self, entry: str, outcome: str, *, page: str = "", into: str = "", reason: str = "", part: int = 0
    ) -> str:
        """Say what becomes of an entry, or of one part of it; a later word replaces an earlier one."""
        found = self._parts.get((entry, part))
        if found is None:
            return f"{REFUSED}{entry[:40]} part {part} is not in this batch"
        if outcome not in _OUTCOMES:
            return f"{REFUSED}the outcomes are {', '.join(_OUTCOMES)}"
        if outcome == "declined" and (
            why := may_decline(found) or ("" if reason.strip() else "give a reason")
        ):
            return f"{REFUSED}{why}"
        if outcome in ("merged", "superseded") and (into == entry or not self._known(into)):
            return f"{REFUSED}say into which other entry it went; {into[:40]!r} is none"
        if outcome == "cited":
            target = self._target(page)
            if isinstance(target, Refused) or target.kind != "page":
                return f"{REFUSED}say which page of the notebook cites it"
            page = target.path
            if f"#^{entry}]]" not in (self._page(page) or ""):
                return f"{REFUSED}{page} does not cite it: write [[archive/{found.day}#^{entry}]] on its line"
        one = Settlement(
            entry=entry,
            outcome=msgspec.convert(outcome, OutcomeKind),
            part=part,
            page=page if outcome == "cited" else "",
            into=into if outcome in ("merged", "superseded") else "",
            reason=self._ws.clean(reason[:500]),
        )
        self._settled[one.key] = one
        self.deeds.append(Settled(one=one))
        return f"{entry} is {outcome}"

    # The files beneath

    def _target(self, path: str) -> Target | Refused:
        """Return where this run may write, or why not there."""
        return writable(path, self._ws.notebook, guest=self.guest)

    def _name(self, target: Target) -> str:
        """Return the path of a target from the workspace on."""
        return f"{self._ws.notebook}/{target.path}" if target.kind == "page" else target.path

    def _base(self, target: Target) -> str | None:
        """Return what a target holds whatever this run would have it hold."""
        return self._staging.stored(target.path) if target.kind == "page" else self._stored(target.path)

    def _see(self, path: str) -> None:
        """Note how a file reads that this run may come to change, so that a later call knows it was read."""
        target = self._target(path)
        if isinstance(target, Target) and self._text(target) == self._base(target):
            blob = self._blob(target)
            if self._seen.get(path) != blob:
                self._seen[path] = blob
                self.deeds.append(Saw(path=path, blob=blob))

    def _blob(self, target: Target) -> str:
        text = self._base(target)
        return "" if text is None else blob_id(to_bytes(text))

    def _text(self, target: Target) -> str | None:
        if target.kind == "page":
            return self._page(target.path)
        return self._edits.get(target.path) or self._stored(target.path)

    def _laid(self, path: str) -> str | None:
        """Return what this run would have a file read, None where that is what it reads."""
        if path in self._edits:
            return self._edits[path]
        page = path.removeprefix(f"{self._ws.notebook}/")
        return self._page(page) if page != path else None

    def _page(self, path: str) -> str | None:
        return self._over[path] if path in self._over else self._staging.text(path)

    def _stored(self, path: str) -> str | None:
        try:
            data = self._ws.disk.read(path)
        except UnsafePath:
            return None
        return None if data is None else to_text(data)


class GuestTools(Tools):
    """The tools as a model has them that a host drives."""

    guest = True
