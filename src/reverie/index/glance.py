"""A glance at the derived state, for whoever has no time to bring it up to date.

Owns one query; promises that nothing is made, changed or waited for, and that a state which is behind, damaged or not
there makes the answer too low, never too high; never says what only the files know.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from reverie import layout


def mark_of(root: Path, session: str) -> int:
    """Return the ordinal up to which the session had been extracted when the state was last brought up to date."""
    try:
        address = f"{(root / layout.STATE_DB).as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, timeout=0.0)) as db:
            row = db.execute("SELECT mark FROM mark WHERE session = ?", (session,)).fetchone()
    except (sqlite3.Error, ValueError):
        return 0
    return int(row[0]) if row else 0
