"""Path tricks in everything that a request over HTTP is made of, against a daemon of its own (P-18)."""

from __future__ import annotations

import http.client
import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode, urlsplit

import pytest
from daemons import PATIENCE, Estate
from tricks import Outside

from reverie import errors
from reverie.surface.http.openapi import written
from reverie.surface.http.problems import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow

SPECIFICATION: dict[str, Any] = json.loads(written())
DOCUMENTED = {*vars(errors), *KINDS}
ROOT = "root"  # the folder of the served workspaces
HEADERS = [
    "accept", "accept-encoding", "authorization", "content-type", "cookie", "forwarded", "host", "if-none-match",
    "last-event-id", "mcp-protocol-version", "mcp-session-id", "origin", "range", "referer", "user-agent",
    "x-forwarded-for", "x-forwarded-host", "x-forwarded-prefix", "x-http-method-override", "x-original-url",
    "x-rewrite-url",
]  # fmt: skip
ADDRESSES = [
    "/", "/v1/", "/v1/workspaces/", "/v1/workspaces/agent/files/", "/mcp/", "/metrics/", "/healthz/",
]  # fmt: skip


def places() -> Iterator[tuple[str, str, str, str]]:
    """Yield each text of each operation of the specification: method, path, where it stands, its name."""
    for path, methods in SPECIFICATION["paths"].items():
        for method, operation in methods.items():
            for one in operation.get("parameters", ()):
                if one["schema"].get("type", "string") == "string":
                    yield method, path, one["in"], one["name"]
            for name, told in _body(operation).get("properties", {}).items():
                if any(word in json.dumps(told) for word in ('"string"', '"enum"', "$ref", '"object"')):
                    yield method, path, "body", name


def _body(operation: Any) -> Any:
    content = operation.get("requestBody", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema", {})
    if "$ref" in schema:
        return SPECIFICATION["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema


def _example(operation: Any) -> dict[str, Any]:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    told: dict[str, Any] = content.get("example", {})
    return told


class Asking:
    """One connection to a daemon, opened anew where it was ended, and what was wrong with its answers."""

    def __init__(self, estate: Estate, outside: Outside) -> None:
        """Connect when first asked."""
        self.outside, self.token = outside, estate.token
        self.address = urlsplit(estate.told["url"]).netloc
        self.line = http.client.HTTPConnection(self.address, timeout=PATIENCE)
        self.wrong: list[str] = []
        self.seen: set[int] = set()

    def ask(self, method: str, url: str, *, trick: str, body: object = None, **headers: str) -> None:
        """Send one request as it is, and look at what comes back."""
        own = {"host": "localhost", "authorization": f"Bearer {self.token}"}
        own |= {"content-type": "application/json"} if body is not None else {}
        data = json.dumps(body).encode() if body is not None else None
        try:
            self.line.request(method.upper(), url, data, headers=own | headers)
            answer = self.line.getresponse()
            said = answer.read().decode("utf-8", "replace") + str(answer.headers)
        except (http.client.InvalidURL, ValueError):  # the client itself will not send it
            return self.line.close()
        except (http.client.HTTPException, ConnectionError) as error:
            self.wrong.append(f"{method} {url[:200]}: {error!r}")
            return self.line.close()
        self.seen.add(answer.status)
        leaked = self.outside.told(said)
        kind = re.search(r'"class":\s*"(\w+)"', said) if answer.status >= 400 else None
        undocumented = (
            answer.status >= 400 and "problem+json" in said and (not kind or kind[1] not in DOCUMENTED)
        )
        if answer.status >= 500 and not (kind and kind[1] in DOCUMENTED):
            undocumented = True
        if leaked or undocumented:
            self.wrong.append(f"{method} {url[:200]} {trick[:80]!r}: {answer.status} {leaked} {said[:300]}")
        return None


@pytest.fixture
def estate(estate: Estate) -> Estate:
    """A home with one workspace, its daemon without a limit on how often it is asked."""
    estate.remember("agent", "User likes tea")
    (estate.config / "config.toml").write_text(
        "[http]\nrequests_per_minute = 0\nrefusals_per_minute = 0\n[mcp]\nhost_model = true\n"
    )
    return estate


@pytest.fixture
def outside(estate: Estate) -> Outside:
    """What lies outside of the workspace; the configuration is the daemon's own."""
    return Outside(estate.home, estate.root / "agent")


def _over(estate: Estate, outside: Outside, asking: Asking) -> None:
    """Hold that nothing was wrong, nothing changed, nothing was logged, and the daemon goes on."""
    asking.line.close()
    assert asking.wrong == []
    assert estate.http("GET", "/healthz", token="")[0] == 200
    asking.ask("GET", "/metrics", trick="")
    asking.line.close()
    assert asking.wrong == []
    assert estate.end() == 0
    log = json.dumps([one for one in estate.log if one["event"] not in {"serving", "stopped"}])
    assert outside.told(log) == ""
    made = outside.stands().keys() - outside.before.keys()
    assert {path for path in made if not _is_of_a_workspace(path)} == set()
    assert {path: outside.before[path] for path in outside.before} == {
        path: data for path, data in outside.stands().items() if path in outside.before
    }


def _is_of_a_workspace(path: str) -> bool:
    """Tell whether a file lies in a workspace that a client made, which has a plain name."""
    return re.fullmatch(r"[^/]*-[0-9a-f]{8}", path.partition(f"/{ROOT}/")[2].partition("/")[0]) is not None


def test_no_argument_is_a_path(estate: Estate, outside: Outside) -> None:
    """Whatever path stands in a path, query or body of whichever operation, nothing outside is told or touched."""
    estate.start("--no-schedule")
    asking, tried = Asking(estate, outside), 0
    for number, (method, path, where, name) in enumerate(places()):
        operation = SPECIFICATION["paths"][path][method]
        body = _example(operation) if operation.get("requestBody") else None
        # Each gets some of them: in test_http_hostile, without a daemon, each gets all.
        step = 27 if name in {"workspace", "user"} else 9
        for trick in outside.tricks[number % step :: step]:
            filled = path.replace("{" + name + "}", quote(trick, safe="") if where == "path" else "")
            filled = filled.replace("{workspace}", "agent")
            filled = re.sub(r"{\w+}", "x", filled)
            query = "?" + urlencode({name: trick}) if where == "query" else ""
            given = {**(body or {}), name: trick} if where == "body" else body
            asking.ask(method, filled + query, trick=trick, body=given)
            tried += 1
    assert tried > 700
    assert {200, 400, 404} <= asking.seen
    _over(estate, outside, asking)


def test_no_address_and_no_header_is_a_path(estate: Estate, outside: Outside) -> None:
    """An address as it is sent, dots and all, and each header, a third to each trick, leads only where it should."""
    estate.start("--no-schedule")
    asking = Asking(estate, outside)
    for number, trick in enumerate(outside.tricks):
        plain = trick.replace("\n", "%0a").replace("\0", "%00").replace(" ", "%20")
        for before in ADDRESSES[number % 3 :: 3]:
            asking.ask("GET", before + plain, trick=trick)
            asking.ask("GET", before + quote(trick, safe=""), trick=trick)
        for name in HEADERS[number % 3 :: 3]:
            asking.ask("GET", "/v1/workspaces/agent/entries", trick=trick, **{name: trick})
            asking.ask("POST", "/mcp/agent", trick=trick, body={}, **{name: trick})
    _over(estate, outside, asking)
