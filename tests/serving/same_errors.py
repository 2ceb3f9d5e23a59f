"""The table of cases in which something is wrong: each error, as every surface tells it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from same_care import some
from same_cases import FLAGS, Case, part

from reverie import layout
from reverie.core.formats import framing
from reverie.core.records import Draft
from reverie.core.where import Where
from reverie.dream import Started
from reverie.entrance import Opening
from reverie.memory import Memory
from reverie.opening import open_workspace
from reverie.surface.results import consolidating
from reverie.testing import ToyEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ASKS_A_MODEL = {"model": "openai:any", "models.base_url": "{}/v1"}
ASKS_AN_EMBEDDER = {"embedder": "openai:any", "embedders.base_url": "{}/v1"}


def garbled(path: str) -> Callable[[Path], None]:
    """Return what writes something into a file that is none of what belongs there."""

    def garble(root: Path) -> None:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("garbage\n")

    return garble


def linked(name: str) -> Callable[[Path], None]:
    """Return what puts a link elsewhere into the place of a folder."""

    def link(root: Path) -> None:
        shutil.rmtree(root / name, ignore_errors=True)
        (root / name).symlink_to(root.parent)

    return link


def newer(root: Path) -> None:
    """Have the workspace's own record be of a version that does not exist yet."""
    path = root / layout.ORIGIN
    told = json.loads(path.read_text(encoding="utf-8").splitlines()[-1])
    path.write_bytes(
        framing.frame({name: one for name, one in told.items() if name not in {"v", "crc"}}, version=99)
    )


def nameless(root: Path) -> None:
    """Take away what makes a folder a workspace."""
    (root / layout.ORIGIN).unlink()


def misspelt(root: Path) -> None:
    """Have the workspace's own settings name one that there is not."""
    (root / "reverie.toml").write_text('zone = "UTC"\nzoen = "UTC"\n')


def cramped(root: Path) -> None:
    """Leave no room for a line in MEMORY.md."""
    (root / "reverie.toml").write_text("[publish]\nmax_lines = 4\n")


def driven(root: Path) -> None:
    """Have another host drive a dream at this moment."""
    with Memory(
        open_workspace(Opening(path=root, config_dir=root.parents[1] / "config", flags=FLAGS))
    ) as memory:
        assert isinstance(memory.dream_start(now=True, by="another"), Started)


def listing(name: str, error: str, **more: Any) -> Case:
    """Return the case in which even a list of entries fails."""
    return Case(name, lambda memory, _: memory.list(), lambda _: ["list"], lambda _: ("memory_list", {}),
                lambda _: ("GET", "/entries", None), error=error, **more)  # fmt: skip


def remembering(name: str, error: str, *, text: str = "User likes figs", **more: Any) -> Case:
    """Return the case in which a text cannot be remembered."""
    return Case(name, lambda memory, _: memory.remember(text), lambda _: ["remember", text],
                lambda _: ("memory_remember", {"text": text}), lambda _: ("POST", "/entries", {"text": text}),
                error=error, **more)  # fmt: skip


def refused(value: Any) -> Any:
    """Return the problems of an answer, of which one has to be the model's."""
    problems = sorted(value["problems"])
    assert any("401" in one for one in problems), value
    return problems


def embedded(root: Path) -> None:
    """Have had an embedder that worked, so that a question is given a vector to be compared."""
    opening = Opening(
        path=root, config_dir=root.parents[1] / "config", flags={"zone": "UTC"}, embedder=ToyEmbedder()
    )
    with Memory(open_workspace(opening)) as memory:
        memory.reindex()


# What fails outside is no error of the verb: it is told in the answer, and what needs neither goes on.
OUTSIDE = [
    Case("reading turns while the model refuses", lambda memory, _: memory.extract(), lambda _: ["extract"], None,
         lambda _: ("POST", "/extract", {}), refused, outside=ASKS_A_MODEL, told="ModelFailed"),
    Case("dreaming while the model refuses", lambda memory, _: memory.dream(now=True), lambda _: ["dream", "--now"],
         None, lambda _: ("POST", "/dream", {"now": True}), refused, outside=ASKS_A_MODEL, told="ModelFailed"),
    Case("everything while the model refuses", lambda memory, _: consolidating(memory.consolidate()),
         lambda _: ["consolidate"], None, lambda _: ("POST", "/consolidate", {}), refused, outside=ASKS_A_MODEL,
         told="ModelFailed"),
    Case("the index anew while the embedder refuses", lambda memory, _: memory.reindex(), lambda _: ["reindex"], None,
         lambda _: ("POST", "/reindex", {}), part("entries", "rows"), outside=ASKS_AN_EMBEDDER, told="EmbedderFailed"),
    Case("finding while the embedder refuses", lambda memory, _: some(memory.recall("tea")),
         lambda _: ["recall", "tea"], lambda _: ("memory_recall", {"query": "tea"}),
         lambda _: ("POST", "/recall", {"query": "tea"}),
         lambda value: [one["id"] for one in (value["hits"] if isinstance(value, Mapping) else value)],
         before=embedded, outside=ASKS_AN_EMBEDDER, told="EmbedderFailed"),
]  # fmt: skip

ERRORS = [
    listing("no workspace", "NotAWorkspace", before=nameless),
    listing("of a newer Reverie", "NewerFormat", before=newer),
    listing("a workspace whose own record is damaged", "DamagedFile", before=garbled(layout.ORIGIN)),
    listing("a setting that is none", "BadSettings", before=misspelt),
    remembering("a stranger's workspace", "Untrusted", stranger=True),
    remembering("a drain that cannot be finished", "DrainFailed", before=garbled(layout.DRAIN_INTENT)),
    remembering("an install that cannot be finished", "DamagedFile", before=garbled(layout.INSTALL_INTENT)),
    remembering("a full disk", "StoreUnwritable", full=True),
    remembering("nothing to remember", "InvalidRecord", text=" \n "),
    Case("a link out of the workspace", lambda memory, _: memory.note("x"), lambda _: ["note", "x"],
         lambda _: ("memory_note", {"text": "x"}), lambda _: ("POST", "/notes", {"text": "x"}),
         before=linked("notes"), error="UnsafePath"),
    Case("an index that leads elsewhere", lambda memory, _: memory.recall("tea"), lambda _: ["recall", "tea"],
         lambda _: ("memory_recall", {"query": "tea"}), lambda _: ("POST", "/recall", {"query": "tea"}),
         before=linked(layout.INDEX), error="IndexUnavailable"),
    Case("a beginning of two ids", lambda memory, _: memory.get("aaaa"), lambda _: ["get", "aaaa"],
         lambda _: ("memory_get", {"id": "aaaa"}), lambda _: ("GET", "/entries/aaaa", None), error="AmbiguousId"),
    Case("no such id", lambda memory, _: memory.pin("fffe"), lambda _: ["pin", "fffe"], None,
         lambda _: ("POST", "/entries/fffe/pin", {}), error="NotFound"),
    Case("what is forgotten", lambda memory, ready: memory.get(ready.gone), lambda ready: ["get", ready.gone],
         lambda ready: ("memory_get", {"id": ready.gone}), lambda ready: ("GET", f"/entries/{ready.gone}", None),
         error="NotFound"),
    Case("a promise that was due already", lambda memory, _: memory.remember("Pay", Draft(due="2001-01-01")),
         lambda _: ["remember", "Pay", "--due", "2001-01-01"],
         lambda _: ("memory_remember", {"text": "Pay", "due": "2001-01-01"}),
         lambda _: ("POST", "/entries", {"text": "Pay", "due": "2001-01-01"}), error="InvalidRecord"),
    Case("what ends before it begins",
         lambda memory, _: memory.remember("Away", Draft(since="2026-07-02", until="2026-07-01")),
         lambda _: ["remember", "Away", "--from", "2026-07-02", "--until", "2026-07-01"],
         lambda _: ("memory_remember", {"text": "Away", "since": "2026-07-02", "until": "2026-07-01"}),
         lambda _: ("POST", "/entries", {"text": "Away", "since": "2026-07-02", "until": "2026-07-01"}),
         error="InvalidRecord"),
    Case("a promise put off to the past", lambda memory, ready: memory.done(ready.quote, until="2001-01-01"),
         lambda ready: ["done", ready.quote, "--until", "2001-01-01"],
         lambda ready: ("memory_done", {"id": ready.quote, "until": "2001-01-01"}),
         lambda ready: ("POST", f"/entries/{ready.quote}/done", {"until": "2001-01-01"}), error="UsageError"),
    Case("feedback on what is forgotten", lambda memory, ready: memory.feedback(ready.gone, "helpful"),
         lambda ready: ["feedback", ready.gone, "helpful"],
         lambda ready: ("memory_feedback", {"id": ready.gone, "value": "helpful"}),
         lambda ready: ("POST", f"/entries/{ready.gone}/feedback", {"value": "helpful"}), error="NotFound"),
    Case("a pin over the budget", lambda memory, ready: memory.pin(ready.tea), lambda ready: ["pin", ready.tea], None,
         lambda ready: ("POST", f"/entries/{ready.tea}/pin", {}), before=cramped, error="BudgetOverflow"),
    Case("a dream that another drives", lambda memory, _: memory.dream_start(now=True), lambda _: ["dream-start",
         "--now"],
         lambda _: ("memory_dream_start", {"now": True}), lambda _: ("POST", "/dreams", {"now": True}),
         before=driven, error="Busy"),
    Case("our own dream while another drives one", lambda memory, _: memory.dream(now=True), lambda _: ["dream",
         "--now"],
         None, lambda _: ("POST", "/dream", {"now": True}), before=driven, error="Busy"),
    Case("another text under a key", lambda memory, _: memory.remember("Else", Draft(key="k")),
         lambda _: ["remember", "Else", "--key", "k"], lambda _: ("memory_remember", {"text": "Else", "key": "k"}),
         lambda _: ("POST", "/entries", {"text": "Else", "key": "k"}), error="Conflict"),
    Case("a filter that admits everything", lambda memory, _: memory.forget(where=Where()), lambda _: ["forget"],
         None, lambda _: ("POST", "/forget", {"where": {}}), error="UsageError"),
    Case("a question without a word", lambda memory, _: memory.recall("?!"), lambda _: ["recall", "?!"],
         lambda _: ("memory_recall", {"query": "?!"}), lambda _: ("POST", "/recall", {"query": "?!"}),
         error="UsageError"),
    Case("a budget for nothing", lambda memory, _: memory.compact("s1", budget=1), lambda _: ["compact", "s1",
         "--budget", "1"],
         None, lambda _: ("POST", "/compact", {"session": "s1", "budget": 1}), error="BudgetOverflow"),
]  # fmt: skip
