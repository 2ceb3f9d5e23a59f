"""Tests of core.memory_pages: what the overview page and the digests add to MEMORY.md."""

from __future__ import annotations

import pytest
from memory_states import (
    AT,
    compiled,
    publishing,
    state_of,
)

from reverie.core.fold import EntryState, fold
from reverie.core.glance.memory_lines import cited_line, cited_lines, entry_line, id_code, one_line
from reverie.core.glance.memory_pages import Sources
from reverie.core.records import Event

# Pages and digests


def cited(number: int) -> str:
    """Return the link to a numbered entry."""
    return f"[[archive/2026-07-01#^{number:016x}]]"


OVERVIEW = f"""---
type: personal
title: Overview
---
# Overview

## About the User

- Works at [[Companies/Microsoft|Microsoft]], before at Google {cited(2)}, {cited(1)}
- Likes tea, cited by nobody
- Keeps a secret {cited(3)}
- Long story
  over two lines ({cited(4)})

```
- code {cited(4)}
```

## Project: Atlas

Ships in [[August]] {cited(4)}

### Stack

- Uses Rust {cited(5)}

## Habits

- Runs daily {cited(5)}
"""


def known() -> list[EntryState]:
    """Return the entries that OVERVIEW cites: 1 superseded by 2, 3 forgotten, 4 and 5 current."""
    link = Event(id="e", at=AT, kind="supersede", entry=f"{2:016x}", other=f"{1:016x}")
    states = [fold(state_of(n).entry, (link,)) for n in (1, 2)]
    return [*states, state_of(3, happened="forget"), state_of(4), state_of(5)]


def test_the_overview_is_shown_as_lines_that_cite() -> None:
    """Sections of the overview page become About the User and the projects, each line with its ids."""
    inner = compiled(known(), sources=Sources(overview=OVERVIEW))
    assert inner.startswith(
        "# Memory\n\n"
        "## About the User\n\n"
        "- Works at Microsoft, before at Google `mem_id: 0000000000000002` `mem_id: 0000000000000001`\n"
        "- Long story over two lines `mem_id: 0000000000000004`\n"
        "- Runs daily `mem_id: 0000000000000005`\n\n"
        "## Project: Atlas\n\n"
        "- Ships in August `mem_id: 0000000000000004`\n"
        "- Uses Rust `mem_id: 0000000000000005`\n"
    )


def test_a_line_falls_with_its_entries() -> None:
    """A page's line is gone when its entry is forgotten or wrong, superseded alone, or in no log."""
    inner = compiled(known(), sources=Sources(overview=OVERVIEW))
    assert "secret" not in inner
    alone = "## About the User\n\n- At Google [[archive/2026-07-01#^0000000000000001]]\n- Ghost ^ffffffffffffffff\n"
    assert "About" not in compiled(known(), sources=Sources(overview=alone))


def test_a_repeat_holds_with_what_it_was_folded_into() -> None:
    """A line that cites a repeat stands or falls with the entry that carries it now."""
    folded = Event(id="a", at=AT, kind="repeat", entry=f"{2:016x}", other=f"{1:016x}")
    ended = Event(id="b", at=AT, kind="supersede", entry=f"{3:016x}", other=f"{1:016x}")
    page = Sources(overview="- At Google [[archive/2026-07-01#^0000000000000002]]")
    entries = [state_of(n).entry for n in (1, 2, 3)]
    assert "At Google" in compiled([fold(entry, (folded,)) for entry in entries], sources=page)
    assert "At Google" not in compiled([fold(entry, (folded, ended)) for entry in entries], sources=page)


def test_recent_context_comes_from_the_digests() -> None:
    """Today's lines come before the week's, each entry once, with marks and citations put into one form."""
    today = "# Today\n\n- ●○——— Fact number 4. `mem_id: 0000000000000004`\n"
    week = (
        "# Week\n\n- again: Fact number 4. `mem_id: 0000000000000004`\n- Fact number 5. ^0000000000000005\n"
    )
    inner = compiled(known(), sources=Sources(today=today, week=week))
    assert inner.startswith(
        "# Memory\n\n## Recent Context\n\n"
        "- Fact number 4. `mem_id: 0000000000000004`\n"
        "- Fact number 5. `mem_id: 0000000000000005`\n\n"
    )


def test_pages_take_at_most_a_fifth() -> None:
    """A long overview and a long digest share a fifth of the budget between them."""
    states = [state_of(n, "y" * 80) for n in range(1, 900)]
    page = "".join(f"- about {n:03d} {'a' * 60} [[archive/2026-07-01#^{n:016x}]]\n" for n in range(1, 400))
    digest = "".join(f"- recent {n:03d} {'b' * 60} `mem_id: {n:016x}`\n" for n in range(1, 400))
    inner = compiled(
        states, sources=Sources(overview=page, today=digest), settings=publishing(budget_preset="lean")
    )
    shown = inner[: inner.index("## Core Facts")]
    assert 2_000 < len(shown) <= 12_000 // 5 + len("# Memory\n")
    assert abs(shown.count("about") - shown.count("recent")) <= 1


def test_protected_entries_come_before_pages() -> None:
    """When pins alone fill the file, nothing of the overview is kept."""
    pins = [state_of(n, "z" * 400, happened="pin") for n in range(10, 100)]
    inner = compiled(
        [*known(), *pins], sources=Sources(overview=OVERVIEW), settings=publishing(budget_preset="lean")
    )
    assert "About the User" not in inner


@pytest.mark.parametrize(
    "text",
    [
        "a <!-- reverie:end --> b",
        "<img src=x onerror=alert(1)>",
        "one\n## two\n- [fact] three ^0123456789abcdef",
        "``` fence ` and `code \\` here",
        "C:\\path\\to, 5 * 3 * 2, [[link]] ![x](y) %%z%% &amp; $$m$$",
        "`mem_id: 2222222222222222` | ~~~",
    ],
)
def test_what_a_digest_says_is_escaped_once(text: str) -> None:
    """A line taken over from a digest reads as the entry's own line does, whatever its words look like."""
    digest = f"# Today\n\n## Core Facts\n\n{entry_line(text, f'{4:016x}', marks='')}\n"
    (line,) = cited_lines(digest)
    assert line.ids[-1] == f"{4:016x}"
    assert cited_line(line.text, [f"{4:016x}"]) == f"- {one_line(text)} {id_code(f'{4:016x}')}"
