"""One request to a server that embeds, and what can become of it.

Owns the connection; promises an answer or an error within twice the time and within the size allowed, that no redirect
is followed, and that no message holds the key; never tries again.
"""

from __future__ import annotations

import ipaddress
import re
import time
from typing import TYPE_CHECKING, Any, Final, NoReturn
from urllib.parse import urlsplit

from reverie.errors import EmbedderFailed, ModelTrouble

if TYPE_CHECKING:
    import urllib.error
    import urllib.request

REPLY_BYTES: Final = 200_000  # of a reply, for each text asked: 4,096 numbers written out take 90,000
_EXTRA: Final = 64_000
_PART: Final = 65_536
_SHOWN: Final = 200

_KEY: Final = re.compile(r"[!-~]*")  # what a header can hold
_AT_FAULT: Final = {400, 413, 422}  # what servers say to a text that is too long or not to their taste
_TROUBLES: Final[dict[int, tuple[ModelTrouble, str]]] = {
    401: ("auth", "check the key, and embedders.key_variable, which names the variable that holds it"),
    403: ("auth", "check the key and what it may be used for"),
    404: ("no_such_model", "there is no such model or address"),
    408: ("timeout", "try again later"),
    429: ("limit", "the server asks for fewer requests; try again later"),
}


class Refused(Exception):
    """The server would not take this batch, or gave something that is no vectors for it."""


def post(url: str, body: bytes, *, key: str, wait: float, texts: int) -> bytes:
    """Send a JSON body and return the reply's; `wait` is how many seconds its beginning, and its rest, may take.

    `key` is sent as a bearer token unless empty. Raises Refused, and EmbedderFailed with its kind.
    """
    import http.client  # 30 ms, which only who asks a server needs to spend
    import urllib.error
    import urllib.request

    if not _KEY.fullmatch(key):
        raise EmbedderFailed("the key holds a space or a character that no header can have", kind="auth")
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    end = time.monotonic() + wait
    most = _EXTRA + texts * REPLY_BYTES
    try:
        request = urllib.request.Request(url, data=body, headers=headers, method="POST")  # noqa: S310 - http(s) alone
        with _opener(url).open(request, timeout=wait) as reply:
            return _whole(reply, end=end, most=most)
    except urllib.error.HTTPError as error:
        with error:
            _told(error, end=end, key=key)
    except TimeoutError as error:
        raise EmbedderFailed(f"no answer from {_place(url)} in {wait:g} seconds", kind="timeout") from error
    except urllib.error.URLError as error:
        if isinstance(error.reason, TimeoutError):
            raise EmbedderFailed(
                f"no answer from {_place(url)} in {wait:g} seconds", kind="timeout"
            ) from error
        raise EmbedderFailed(f"{_place(url)} cannot be reached ({error.reason})", kind="down") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        what = f"{type(error).__name__} {error}".strip()
        raise EmbedderFailed(f"{_place(url)} broke off ({_shown(what, key)})", kind="down") from error


def _whole(reply: Any, *, end: float, most: int) -> bytes:  # noqa: ANN401 - an HTTPResponse, or an HTTPError
    """Return the body, read until `end`; raises TimeoutError, and EmbedderFailed for more than `most` bytes."""
    import http.client

    parts: list[bytes] = []
    size = 0
    while part := reply.read1(_PART):
        parts.append(part)
        size += len(part)
        if size > most:
            raise EmbedderFailed(
                f"the reply is larger than {most:,} bytes, which no vectors are", kind="unusable"
            )
        if time.monotonic() > end:  # a server that gives a byte now and then would hold the call for ever
            raise TimeoutError
    length = reply.headers.get("Content-Length", "")
    if length.isdecimal() and size < int(length):
        raise http.client.IncompleteRead(b"", int(length) - size)
    return b"".join(parts)


def _told(error: urllib.error.HTTPError, *, end: float, key: str) -> NoReturn:
    """Raise what a status other than success means."""
    import http.client

    try:
        said = _shown(_whole(error, end=end, most=_EXTRA).decode("utf-8", "replace"), key)
    except (OSError, http.client.HTTPException, EmbedderFailed, AttributeError, ValueError):
        said = ""
    kind, advice = _TROUBLES.get(error.code, ("down", "try again later"))
    sentence = f"status {error.code}" + (f" ({said})" if said else "")
    if error.code in _AT_FAULT:
        raise Refused(sentence) from error
    if 300 <= error.code < 400:  # noqa: PLR2004 - the statuses that lead elsewhere
        advice = "the server is elsewhere; set embedders.base_url to where it is"
    wait = error.headers.get("Retry-After", "")
    if kind == "limit" and wait.isdecimal():
        advice = f"the server asks to be left alone for {int(wait)} s"
    raise EmbedderFailed(f"{sentence}; {advice}", kind=kind) from error


def _opener(url: str) -> urllib.request.OpenerDirector:
    """Return what opens the address: through the environment's proxies, but for this machine.

    It follows no redirect, and opens nothing but the web.
    """
    import urllib.request

    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler({} if is_loopback(url) else None),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        urllib.request.UnknownHandler(),
    ):
        opener.add_handler(handler)
    return opener


def is_loopback(url: str) -> bool:
    """Whether an address is of this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _place(url: str) -> str:
    """Return an address as it may be shown: no user, password or query, which can hold secrets."""
    parts = urlsplit(url)
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname}{port}{parts.path}"


def _shown(text: str, key: str) -> str:
    """Return what somebody else said as it may be printed: on one line, cut, without the key."""
    plain = " ".join(text.split())
    plain = plain.replace(key, "…") if key else plain
    return "".join(char for char in plain if char.isprintable())[:_SHOWN]
