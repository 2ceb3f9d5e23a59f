"""Rows of July 2026, and short ways to search them, for the tests of the text index."""

from __future__ import annotations

from datetime import UTC, date, datetime

from reverie.core.search.query import parse
from reverie.core.search.rows import Row

AT = datetime(2026, 7, 1, 12, tzinfo=UTC)
TODAY = date(2026, 7, 10)


def row(id_, text, **more):
    """Return a row of July 2026."""
    more = {"kind": "entry", "source": "archive/2026-07-01.md", "at": AT, "day": "2026-07-01"} | more
    return Row(id=id_, text=text, **more)


def turn(n, text, session="s", **more):
    """Return turn `n` of a session."""
    return row(
        f"{session}#{n}", text, kind="turn", source=f"sessions/{session}.jsonl", session=session, n=n, **more
    )


def ids(index, question, **more):
    """Return the ids a search finds, best words first."""
    return [one.row.id for one in index.search(parse(question, TODAY), **more)]


def scores(index, question, **more):
    """Return each found id with its score."""
    return {one.row.id: one.lexical for one in index.search(parse(question, TODAY), **more)}


FACTS = [
    row("en", "User moved to Berlin and paints lakes"),
    row("zh", "用户搬到了上海，喜欢喝茶"),
    row("ja", "東京でコーヒーを飲みます"),
    row("ko", "한국어를 배웁니다"),
    row("th", "ฉันชอบกาแฟ"),
    row("ar", "أعمل في المدرسة"),
    row("id", "set MAX_RETRIES in src/app/config.yaml to v2.3.1"),
]
