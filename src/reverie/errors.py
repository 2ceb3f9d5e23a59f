"""Every error Reverie raises on purpose, in one tree.

Owns the classes, their exit codes, HTTP statuses and whether trying again can help; promises that each message
says what to do; never raises or catches anything itself.

    ReverieError                 1
    ├── DrainFailed              2   the queue is intact; run the drain again
    ├── UsageError              64   the call is wrong as written
    ├── InvalidRecord           65   the content was refused and set aside
    ├── NotFound                66   no such entry, session, run or page
    ├── AmbiguousId             67   an id prefix names several entries
    ├── NotAWorkspace           68   the path holds no workspace
    ├── IndexUnavailable        69   the derived index cannot be read or built
    ├── UnsafePath              71   a path leaves the workspace or follows a link
    ├── StoreUnwritable         73   nothing could be written: disk full, read-only, permission
    ├── DamagedFile             74   a canonical file cannot be read as its format says
    ├── Busy                    75   another process holds the lock
    ├── NewerFormat             76   a file was written by a newer Reverie
    ├── Untrusted               77   the workspace came from elsewhere and is read-only until trusted
    ├── BadSettings             78   a setting is unknown or has a wrong value
    ├── Conflict                79   the same idempotency key with another text
    ├── ModelFailed             80   the model could not be used
    ├── BudgetOverflow          81   what must be shown alone exceeds the budget
    └── EmbedderFailed          82   texts could not be turned into vectors
"""

from __future__ import annotations

from typing import ClassVar, Literal

# What can be wrong with a model. "unusable" is a reply that came and cannot be read; only that one is the batch's
# or the span's own fault, all others say nothing about what was asked.
ModelTrouble = Literal[
    "missing", "auth", "limit", "down", "timeout", "no_such_model", "refused", "unusable", "ceiling"
]


class ReverieError(Exception):
    """Something Reverie knows about went wrong; the message says what to do."""

    exit_code: ClassVar[int] = 1
    http_status: ClassVar[int] = 500
    retryable: ClassVar[bool] = False


class DrainFailed(ReverieError):
    """The drain could not store the queued records; the queue is intact, so run the drain again."""

    exit_code = 2
    http_status = 503
    retryable = True


class UsageError(ReverieError):
    """The call cannot work as written: a missing, contradictory or malformed argument."""

    exit_code = 64
    http_status = 400


class InvalidRecord(ReverieError):
    """A turn or record was refused; its bytes are kept aside in quarantine."""

    exit_code = 65
    http_status = 422


class NotFound(ReverieError):
    """Nothing with that id or name exists in this workspace."""

    exit_code = 66
    http_status = 404


class AmbiguousId(ReverieError):
    """The id prefix names more than one entry; give more of its digits."""

    exit_code = 67
    http_status = 409


class NotAWorkspace(ReverieError):
    """The path holds no workspace; create one with `reverie init`."""

    exit_code = 68
    http_status = 404


class IndexUnavailable(ReverieError):
    """The derived index cannot be used; the files are unaffected, and `reverie reindex` builds it anew."""

    exit_code = 69
    http_status = 503
    retryable = True

    def __init__(self, message: str, *, unwritable: bool = False) -> None:
        """Say what to do in `message`, and whether it is only that nothing can be written: reading may go on."""
        super().__init__(message)
        self.unwritable = unwritable


class UnsafePath(ReverieError):
    """A path leaves the workspace, follows a link, or names a file that is not ours alone."""

    exit_code = 71
    http_status = 403


class StoreUnwritable(ReverieError):
    """The workspace cannot be written: the disk is full, the folder read-only, or the permission missing."""

    exit_code = 73
    http_status = 507
    retryable = True


class DamagedFile(ReverieError):
    """A canonical file cannot be read as its format says; it is left untouched and named."""

    exit_code = 74


class Busy(ReverieError):
    """Another process holds the lock this call needs; try again shortly."""

    exit_code = 75
    http_status = 409
    retryable = True


class NewerFormat(ReverieError):
    """The file was written by a newer version of Reverie; upgrade to read it."""

    exit_code = 76
    http_status = 409


class Untrusted(ReverieError):
    """The workspace was not initialised here; look at it, then run `reverie trust`."""

    exit_code = 77
    http_status = 403


class BadSettings(ReverieError):
    """A setting is unknown, has a wrong value, or is not allowed where it was found."""

    exit_code = 78
    http_status = 400


class Conflict(ReverieError):
    """The idempotency key was used before with another text; use a new key."""

    exit_code = 79
    http_status = 409


class ModelFailed(ReverieError):
    """The model could not be reached or gave nothing usable; nothing was marked as done."""

    exit_code = 80
    http_status = 502
    retryable = True

    def __init__(
        self, message: str, *, kind: ModelTrouble = "down", retry_after: float | None = None
    ) -> None:
        """Say what to do in `message`, what went wrong in `kind`, and for how many seconds the provider wants peace."""
        super().__init__(message)
        self.kind = kind
        self.retry_after = retry_after


class BudgetOverflow(ReverieError):
    """What must be shown alone exceeds the budget; raise the budget or let something go."""

    exit_code = 81
    http_status = 422


class EmbedderFailed(ReverieError):
    """The embedder could not be used or gave no usable vectors; keyword search goes on serving."""

    exit_code = 82
    http_status = 502
    retryable = True

    def __init__(self, message: str, *, kind: ModelTrouble = "down", at: tuple[int, ...] = ()) -> None:
        """Say what to do in `message`, and in `at` which of the texts are themselves at fault, by position."""
        super().__init__(message)
        self.kind = kind
        self.at = at
