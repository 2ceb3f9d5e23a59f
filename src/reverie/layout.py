"""Where each file of a workspace lives, and whether it is canonical or derived.

Owns every path and folder name; promises that no other module spells one; never touches the disk. All paths
are POSIX strings relative to the workspace folder, as `store.filesystem.disk` takes them.

Canonical: losing a byte is a bug. Derived: may be deleted at any time and comes back equal.
"""

from __future__ import annotations

FORMAT = 1  # the version written into every canonical file; a newer one is refused

# Canonical
SETTINGS = "reverie.toml"
USER = "USER.md"
SOUL = "SOUL.md"
MEMORY = "MEMORY.md"  # derived between its markers; what stands outside them is a person's
SESSIONS = "sessions"
SUMMARIES = "summaries"
ARCHIVE = "archive"
HISTORY = "history.jsonl"
NOTEBOOK = "notebook"
SKILLS = "skills"
FILES = "files"
PEOPLE = "people"
NOTES = "notes"  # the agent's own, one of a day; `notes.globs` may name other places
GITIGNORE = ".gitignore"

JOURNAL = ".journal"
SEGMENTS = ".journal/segments"
DRAINING = ".journal/draining"
DRAIN_INTENT = ".journal/intent.json"
QUARANTINE = ".journal/quarantine"
JOURNAL_ARCHIVE = ".journal/archive"

STATE = ".state"
EVENTS = ".state/events.jsonl"
OUTCOMES = ".state/outcomes.jsonl"
TOMBSTONES = ".state/tombstones.jsonl"
RECALL_LOG = ".state/recall_log.jsonl"
USAGE = ".state/usage.jsonl"  # what models used and how they failed
KV = ".state/kv.jsonl"
MEMBERS = ".state/members.jsonl"  # of a shared workspace: who may give to it and read it
SHARED = ".state/shared.jsonl"  # which entries were copied to which shared workspace
RUNS = ".state/dreams/runs.jsonl"
REVIEWS = ".state/reviews.jsonl"
DREAMS = ".state/dreams"
COUNTERS = ".state/counters"
RENDERED = ".state/rendered"  # what `context` showed to each session, so that it is known when it comes back
INSTALL_INTENT = ".state/dreams/intent.json"
ERASE_INTENT = ".state/erase.json"
ERASING = ".state/erasing"  # what an erase has still to do in the workspaces of people beneath
LEASE = ".state/lease.json"  # the run that a host drives, and until when
KEY = ".state/key"
PAUSED = ".state/paused"  # while it exists nothing is captured
ORIGIN = ".state/workspace.json"
LOCKS = ".state/locks"
OBJECTS = ".history"

# Derived
DIGESTS = "digests"
INDEX = ".index"
STATE_DB = ".index/state.db"
NOTED = ".index/noted"  # what the pages were found to hold, so that those left alone need no reading
TEXT_INDEX = ".index/text"
VECTORS = ".index/vectors"
LANCE = ".index/lance"
EMBEDDED_DB = (
    ".index/embedded.db"  # the vectors of texts by their hashes: kept by `reindex`, removed by an erase
)

ZONES = (
    "0_Inbox",
    "1_Projects",
    "2_Wiki/Concepts",
    "2_Wiki/Literature",
    "2_Wiki/Syntheses",
    "2_Wiki/Entities",
    "3_Personal",
    "4_Assets",
    "5_Archives",
)
NAVIGATION = ("schema.md", "index.md", "log.md")  # of the notebook: never indexed, never content pages
OVERVIEW = "3_Personal/Overview.md"  # within the notebook

# Folders that `init` makes and every open makes again when missing.
FOLDERS = (
    SESSIONS,
    SUMMARIES,
    ARCHIVE,
    SKILLS,
    FILES,
    SEGMENTS,
    DRAINING,
    QUARANTINE,
    JOURNAL_ARCHIVE,
    DREAMS,
    LOCKS,
    OBJECTS,
    DIGESTS,
    INDEX,
)

WRITE_LOCK = ".state/locks/write"
DREAM_LOCK = ".state/locks/dream"
INDEX_LOCK = ".state/locks/index"
KEEPER_LOCK = ".state/locks/keeper"
SERVE_LOCK = ".reverie/serve"  # beneath a root of workspaces, not in one


def is_page(inside: str) -> bool:
    """Tell whether a file at this path within the notebook is a content page: Markdown, not hidden, no navigation."""
    hidden = inside.startswith(".") or "/." in inside
    return inside.endswith(".md") and not hidden and inside not in NAVIGATION


def session_file(name: str) -> str:
    """Return the path of the session whose safe name is `name`."""
    return f"{SESSIONS}/{name}.jsonl"


def log_file(day: str) -> str:
    """Return the path of the daily log of `day` (`YYYY-MM-DD`)."""
    return f"{ARCHIVE}/{day}.md"


def summary_file(day: str, name: str) -> str:
    """Return the path of the summaries of a session (safe name) on `day`."""
    return f"{SUMMARIES}/{day}_{name}.md"


def digest_file(period: str) -> str:
    """Return the path of the digest of `today`, `week` or `longterm`."""
    return f"{DIGESTS}/{period}.md"


def rendered_file(name: str) -> str:
    """Return the path of what was rendered for the session whose safe name is `name`."""
    return f"{RENDERED}/{name}.jsonl"


def note_file(day: str, number: int = 1) -> str:
    """Return the path of the note of `day` (`YYYY-MM-DD`), or of a further one where the earlier ones are full."""
    return f"{NOTES}/{day}.md" if number == 1 else f"{NOTES}/{day}-{number}.md"


def counters_file(name: str) -> str:
    """Return the path of the small file of counters called `name`."""
    return f"{COUNTERS}/{name}.json"


def person_folder(name: str) -> str:
    """Return the folder of the person whose safe name is `name`."""
    return f"{PEOPLE}/{name}"


def journal_archive_folder(month: str) -> str:
    """Return the folder that keeps the drained segments of `month` (`YYYY-MM`)."""
    return f"{JOURNAL_ARCHIVE}/{month}"


def run_folder(run: str) -> str:
    """Return the folder of one dream run (`dream:20260702-030000`), with `:` made safe for every file system."""
    return f"{DREAMS}/{run.replace(':', '-')}"
