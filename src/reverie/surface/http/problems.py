"""What a client is told when something went wrong: one JSON object (RFC 9457) made from the error tree.

Owns the object's members and the refusals that only HTTP knows; promises that each says what to do and whether trying
again can help, and that neither a folder of the machine nor a character that acts on a terminal stands in it; never
tells of an error nobody expected more than its class.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import msgspec

from reverie.errors import ReverieError, UsageError
from reverie.surface.exits import UNEXPECTED
from reverie.surface.unplaced import Folders, unplaced

MEDIA = "application/problem+json"
TYPE = "urn:reverie:error:"
RETRY_SECONDS = 1  # what `Retry-After` says where trying again can help

_ENDING = {"TooSlow", "TooLarge", "HeadersTooLarge", "TooMany", "Crowded"}
_REMEDIES = {
    400: "mend the request",
    403: "have a person at the command line look at it",
    404: "look for what there is, then ask for that",
    409: "look at what is there now",
    422: "mend what was sent",
    500: "start the server with REVERIE_TRACEBACK=1 to see where it came from",
}


class Refusal(Exception):
    """A request that is answered before any memory is asked: its kind, and what to do in the message."""

    def __init__(self, kind: str, message: str, *, headers: Mapping[str, str] | None = None) -> None:
        """Be of one of the `KINDS`."""
        super().__init__(message)
        self.kind, self.headers = KINDS[kind], headers or {}


class Kind(msgspec.Struct, frozen=True):
    """A kind of refusal."""

    name: str
    status: int
    title: str
    remedy: str
    retryable: bool = False


KINDS: Mapping[str, Kind] = {
    one.name: one
    for one in (
        Kind("BadRequest", 400, "The request cannot be read", "send JSON as the specification says"),
        Kind(
            "Unauthorized",
            401,
            "No valid token was sent",
            "send `Authorization: Bearer` and the token that the server's first start put into its file",
        ),
        Kind("Forbidden", 403, "The token does not open this", "use a token that does"),
        Kind("WrongOrigin", 403, "The request comes from a page of another site", "call from a program"),
        Kind("NoSuchRoute", 404, "There is nothing at this address", "see /v1/openapi.json"),
        Kind("WrongMethod", 405, "The address does not take this method", "see /v1/openapi.json"),
        Kind(
            "TooSlow",
            408,
            "The request did not arrive in time",
            "send it faster, or in parts",
            retryable=True,
        ),
        Kind("TooLarge", 413, "The request is larger than the server takes", "send less at a time"),
        Kind(
            "TooMany",
            429,
            "More requests came than the server takes from one caller",
            "wait as long as Retry-After says",
            retryable=True,
        ),
        Kind(
            "TooManySessions",
            429,
            "The token has as many MCP sessions as one may have",
            "end those that are not needed, or wait until they are given up",
            retryable=True,
        ),
        Kind("HeadersTooLarge", 431, "The headers are longer than the server takes", "send less of them"),
        Kind("WrongMedia", 415, "The body is of a type that is not taken", "send application/json"),
        Kind(
            "WrongHost",
            421,
            "The request names a host that this server is not",
            "use the address it listens on",
        ),
        Kind(
            "Crowded",
            503,
            "There are more connections than the server takes",
            "use fewer at a time, and close those that are not needed",
            retryable=True,
        ),
        Kind(
            "TooLong",
            503,
            "The answer takes longer than a request may wait",
            "ask again later: what was begun goes on",
            retryable=True,
        ),
    )
}


class ProblemDetails(msgspec.Struct, frozen=True, kw_only=True, rename={"kind": "class"}):
    """The object: RFC 9457's members, what to do, and the error's class and exit code of the command line."""

    type: str
    title: str
    status: int
    detail: str
    remedy: str
    retryable: bool
    kind: str
    exit_code: int


def problem(error: Exception, folders: Folders = ()) -> ProblemDetails:
    """Return what is told of an error; each of the `folders` is called by its name instead of its place."""
    if isinstance(error, Refusal):
        kind, told = error.kind, unplaced(str(error), folders)
        title, remedy = kind.title, kind.remedy
        return _made(kind.name, title, told, remedy=remedy, status=kind.status, retryable=kind.retryable)
    name = type(error).__name__
    if isinstance(error, ReverieError):
        title, _, remedy = (error.__doc__ or name).rstrip(".").partition("; ")
        status = error.http_status
        told = unplaced(str(error), folders) or title
        remedy = remedy or ("try again shortly" if error.retryable else _REMEDIES[status])
        made = _made(name, title, told, remedy=remedy, status=status, retryable=error.retryable)
        return msgspec.structs.replace(made, exit_code=error.exit_code)
    title = "An error nobody expected"
    detail = f"unexpected {name}: what was acknowledged is kept"
    return _made("Unexpected", title, detail, remedy=_REMEDIES[500], status=500, retryable=False)


def headers(told: ProblemDetails, error: Exception) -> dict[str, str]:
    """Return the headers that go with a problem."""
    own = dict(error.headers) if isinstance(error, Refusal) else {}
    if told.status == HTTPStatus.UNAUTHORIZED:
        own["www-authenticate"] = 'Bearer realm="reverie"'
    if told.retryable:
        own.setdefault("retry-after", str(RETRY_SECONDS))
    return own


def messages(error: Exception, *, head: bool = False) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the two messages of ASGI that tell a problem; after a `head` request without its body.

    Where something is still coming that is not read, the connection ends.
    """
    told = problem(error)
    body = msgspec.json.encode(told)
    found = [(b"content-type", MEDIA.encode()), (b"content-length", str(len(body)).encode())]
    found += [(name.encode(), value.encode()) for name, value in headers(told, error).items()]
    if told.kind in _ENDING:
        found.append((b"connection", b"close"))
    begin = {"type": "http.response.start", "status": told.status, "headers": found}
    return begin, {"type": "http.response.body", "body": b"" if head else body}


def _made(kind: str, title: str, detail: str, *, remedy: str, status: int, retryable: bool) -> ProblemDetails:
    return ProblemDetails(
        type=TYPE + kind,
        title=title,
        status=status,
        detail=detail,
        remedy=remedy,
        retryable=retryable,
        kind=kind,
        exit_code=UNEXPECTED if kind == "Unexpected" else UsageError.exit_code,
    )
