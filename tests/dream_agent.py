"""A dream by a scripted agent, and what it left in the store, told exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dream_world import outcomes, run

from reverie import layout
from reverie.models import Models
from reverie.store.dreams import reviews
from reverie.testing import ScriptedAgent

if TYPE_CHECKING:
    from reverie.core.records import Entry
    from reverie.dream import Dreamt
    from reverie.store.workspace import Workspace

TEAS = "3_Personal/Preferences.md"


def body(title: str, *lines: str) -> str:
    """Return the text of a page."""
    said = "".join(f"- {line}\n" for line in lines)
    return f"---\ntype: personal\ntitle: {title}\n---\n\n# {title}\n\n{said}"


def cite(one: Entry, text: str = "") -> str:
    """Return a line that says an entry and links to it."""
    return f"{text or one.text} [[archive/{one.day}#^{one.id}]]"


def write(path: str, text: str) -> tuple[str, dict[str, Any]]:
    """Return the call that writes a page of the notebook, or a file named from the workspace on."""
    return "write", {"path": path, "text": text}


def cited(one: Entry, page: str) -> tuple[str, dict[str, Any]]:
    """Return the call that settles an entry as cited."""
    return "settle", {"entry": one.id, "outcome": "cited", "page": page}


def settle(one: Entry, outcome: str, **more: Any) -> tuple[str, dict[str, Any]]:
    """Return the call that settles an entry."""
    return "settle", {"entry": one.id, "outcome": outcome, **more}


def good(*entries: Entry, page: str = TEAS, title: str = "Preferences") -> list[Any]:
    """Return the steps that cite entries on one page."""
    text = body(title, *(cite(one) for one in entries))
    return [write(page, text), [cited(one, page) for one in entries], "Done."]


def dreamt(ws: Workspace, *steps: Any, **around: Any) -> tuple[Dreamt, ScriptedAgent]:
    """Dream with an agent that takes these steps, and says that it is done as often as it is asked again."""
    script = ScriptedAgent([*steps, *["Done."] * 3])
    models = Models(ws, given=script)
    done = run(ws, agent=lambda name: models.agent("dream", run=name), model=script.name, **around)
    return done, script


def answers(script: ScriptedAgent) -> list[str]:
    """Return what the tools answered, in order."""
    seen = script.messages[-1] if script.messages else []
    parts = [part for message in seen for part in message.parts]
    return [str(part.content) for part in parts if part.part_kind == "tool-return"]


class Standing:
    """What stands in a store: pages, core files and skills by their bytes, outcomes, log lines, what is proposed."""

    def __init__(self, ws: Workspace) -> None:
        """Look at it now."""
        tracked = (f"{ws.notebook}/", f"{layout.SKILLS}/", layout.USER, layout.SOUL, layout.ARCHIVE)
        navigation = {f"{ws.notebook}/{name}" for name in layout.NAVIGATION}
        self.files = {
            path: (ws.disk.read(path) or b"").decode()
            for path in ws.disk.walk("")
            if path.startswith(tracked) and path not in navigation
        }
        self.log = (ws.disk.read(f"{ws.notebook}/log.md") or b"").decode()
        self.outcomes = {id_: one.outcome for id_, one in outcomes(ws).items()}
        self.reviews = [(one.topic, one.path, one.text) for one in reviews.waiting(ws)]

    def __eq__(self, other: object) -> bool:
        """Tell whether the same stands in both."""
        return isinstance(other, Standing) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]  # compared, never kept

    def since(self, before: Standing) -> dict[str, str]:
        """Return the files that are new or differ from before, but for the overview; none is gone."""
        assert not before.files.keys() - self.files.keys()
        return {
            path: text
            for path, text in self.files.items()
            if before.files.get(path) != text and not path.endswith(layout.OVERVIEW)
        }
