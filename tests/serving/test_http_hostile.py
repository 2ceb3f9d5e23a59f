"""Everything hostile that can be put into a request: paths, bombs, bytes that act, in every argument (P-18)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import msgspec
import pytest
from http_world import world_at

from reverie.surface.http.serving import deeper
from reverie.surface.http.table import OPERATIONS
from reverie.surface.render import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from http_world import World

    from reverie.surface.http.operations import Operation

CANARY = "the canary that lies outside"
# Each has `{}` where the path to the canary from a workspace stands, or leads there in its own way.
PATHS = [
    "../../canary.txt", "..%2f..%2fcanary.txt", "..%252f..%252fcanary.txt", "%2e%2e/%2e%2e/canary.txt",
    "%252e%252e%252f%252e%252e%252fcanary.txt", "....//....//canary.txt", "..\\..\\canary.txt", "..%5c..%5ccanary.txt",
    "..%c0%af..%c0%afcanary.txt", "%uff0e%uff0e/canary.txt", "．．／canary.txt", "notebook/../../../canary.txt",
    "notebook/%2e%2e/%2e%2e/%2e%2e/canary.txt", "archive/../../../canary.txt", "MEMORY.md/../../../canary.txt",
    "file:///{}", "{}", "//{}", "archive/2026-07-01.md/../../../../canary.txt", "notebook/planted.md", "planted.md",
    "reverie://memory/../../canary.txt", "CON", "nul.md", "notebook/aux.md", "../../canary.txt\x00.md", "~/canary.txt",
    "$HOME/canary.txt", "`cat canary.txt`", "$(cat ../../canary.txt)", "*", "notebook/*", "{{7*7}}",
    "archive/0000-00-00.md",
]  # fmt: skip
BYTES = [
    "\x00",
    "a\x00b",
    "\x1b[2J\x1b]0;owned\x07",
    "\u202egnp.exe",
    "\r\nSet-Cookie: a=b",
    "\ufeff",
    "\U000e0041",
    "\x7f\x9b1m",
]


def arguments() -> Iterator[tuple[Operation, str]]:
    """Yield each text argument of each operation."""
    for one in OPERATIONS:
        for field in msgspec.structs.fields(one.takes):
            if "str" in str(field.type):
                yield one, field.encode_name


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A root with a canary beside it, and a link to it planted in the workspace."""
    home = tmp_path_factory.mktemp("hostile")
    with world_at(home) as world:
        (home / "canary.txt").write_text(CANARY)
        (world.root / "canary.txt").write_text(CANARY)
        (world.root / world.name / "notebook" / "planted.md").symlink_to(home / "canary.txt")
        (world.root / world.name / "planted.md").symlink_to(home / "canary.txt")
        world.value("POST", "/drain")
        yield world


def outside(world: World) -> dict[str, bytes]:
    """Return every file of the home that belongs to no workspace."""
    own = (world.root / world.name, world.home / "config")
    return {
        str(path): path.read_bytes()
        for path in world.home.rglob("*")
        if path.is_file() and not any(path.is_relative_to(one) for one in own)
    }


def call(world: World, one: Operation, name: str, value: str) -> Any:
    """Call an operation with its example, in which one argument is this."""
    example = {**one.example, name: [value] if isinstance(one.example.get(name), list) else value}
    example = {key: world.entry if told == "2b47366a861a87ca" else told for key, told in example.items()}
    path = one.path.replace(":path", "")
    for place in one.in_path:
        path = path.replace(f"{{{place}}}", str(example[place]))
    query = {key: told for key, told in example.items() if key in one.in_query}
    body = {key: told for key, told in example.items() if key in one.in_body}
    url = f"/v1/workspaces/support{path}"
    try:
        return world.client().request(
            one.method, url, params=query, **({"json": body} if one.has_body else {})
        )
    except httpx2.InvalidURL:  # the client itself will not send it
        return None


@pytest.mark.slow
@pytest.mark.parametrize(("one", "name"), list(arguments()), ids=lambda given: getattr(given, "id", given))
def test_no_argument_is_a_path(served: World, one: Operation, name: str) -> None:
    """Whatever path stands in an argument, no file outside is told or touched, and the server answers as specified."""
    before = outside(served)
    for trick in PATHS:
        response = call(served, one, name, trick.replace("{}", str(served.home / "canary.txt")))
        if response is not None:
            assert response.status_code < 500, (trick, response.text)
            assert CANARY not in response.text, trick
    assert outside(served) == before


@pytest.mark.slow
@pytest.mark.parametrize(("one", "name"), list(arguments()), ids=lambda given: getattr(given, "id", given))
def test_no_argument_acts(served: World, one: Operation, name: str) -> None:
    """Bytes that act on a terminal, a header or a parser are stored or refused, and come back as escapes alone."""
    for trick in BYTES:
        response = call(served, one, name, trick)
        if response is None:
            continue
        assert response.status_code < 500, (trick, response.text)
        assert "set-cookie" not in response.headers
        if "json" in response.headers["content-type"]:
            said = response.text.replace("\n", "")
            assert said == clean(said), (trick, said)


@pytest.mark.slow
@pytest.mark.parametrize("trick", PATHS)
def test_no_address_is_a_path(served: World, trick: str) -> None:
    """Whatever path stands where a workspace, a person or a file is named, nothing outside is told or touched."""
    before = outside(served)
    value = trick.replace("{}", str(served.home / "canary.txt"))
    client = served.client()
    for url, params in (
        (f"/v1/workspaces/{value}/entries", {}),
        (f"/v1/workspaces/{value}", {}),
        (f"/v1/workspaces/support/files/{value}", {}),
        (f"/v1/workspaces/support/../../{value}", {}),
        ("/v1/workspaces/support/entries", {"user": value}),
    ):
        try:
            response = client.get(url, params=params)
        except httpx2.InvalidURL:  # the client itself will not send it
            continue
        assert response.status_code < 500, (url, response.text)
        assert CANARY not in response.text
    assert outside(served) == before


@pytest.mark.slow
def test_a_person_is_never_a_path(served: World) -> None:
    """What is written for a person with a hostile name lies in one folder beneath the people, whatever the name is."""
    before = outside(served)
    for name in (*PATHS, *BYTES, "x" * 200, "..", "."):
        response = served.ask("POST", "/entries", json={"text": "Likes tea"}, params={"user": name})
        assert response.status_code == 200, (name, response.text)
    people = served.root / served.name / "people"
    assert len(list(people.iterdir())) == len({*PATHS, *BYTES, "x" * 200, "..", "."})
    assert all((one / ".state" / "workspace.json").is_file() for one in people.iterdir())
    assert outside(served) == before


BOMBS = {
    "deep lists": b"[" * 500_000,
    "deep objects": b'{"a":' * 300_000,
    "deep and closed": b'{"query":' + b"[" * 40 + b"]" * 40 + b"}",
    "wide": b'{"query": "x", "kinds": [' + b'"entry",' * 200_000 + b'"entry"]}',
    "many keys": b"{" + b",".join(b'"k%d": 1' % n for n in range(100_000)) + b"}",
    "a long number": b'{"query": "x", "limit": ' + b"9" * 100_000 + b"}",
    "a long fraction": b'{"query": "x", "limit": 1e999999999}',
    "one long string": b'{"query": "' + b"x" * 1_900_000 + b'"}',
    "escapes": b'{"query": "' + b"\\u0000" * 100_000 + b'"}',
    "half a pair": b'{"query": "\\ud800"}',
    "open string": b'{"query": "' + b"\\" * 1_000_000,
    "quotes": b'"' * 1_000_000,
    "nothing": b"null",
    "a list": b"[]",
    "a number": b"1",
    "twice": b'{"query": "a", "query": "b"}',
    "not UTF-8": b'{"query": "\xff\xfe"}',
    "with a mark": b'\xef\xbb\xbf{"query": "x"}',
    "not a number": b'{"query": "x", "limit": NaN}',
    "blanks": b" " * 1_000_000,
    "two values": b'{"query": "x"}{"query": "y"}',
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_bomb_is_only_a_bad_request(served: World, bomb: str) -> None:
    """A body made to blow a parser up is answered by 200 or a problem of 4xx, never by a fault."""
    headers = {"content-type": "application/json"}
    response = served.ask("POST", "/recall", content=BOMBS[bomb], headers=headers)
    assert response.status_code in {200, 400, 413}, response.text[:300]
    assert served.client("").get("/healthz").status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize("one", [one for one in OPERATIONS if one.has_body], ids=lambda one: one.id)
def test_no_body_takes_a_bomb(served: World, one: Operation) -> None:
    """Whichever operation it is sent to, a bomb is refused, or read as the few keys it has, and never a fault."""
    path = one.path.replace(":path", "")
    for place in one.in_path:
        path = path.replace(f"{{{place}}}", "x")
    for name, bomb in BOMBS.items():
        response = served.ask(one.method, path, content=bomb, headers={"content-type": "application/json"})
        assert response.status_code in {200, 400, 404, 409, 413, 422}, (name, response.text[:300])
    assert served.client("").get("/healthz").status_code == 200


@pytest.mark.parametrize(
    "kind", ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/xml"]
)
def test_a_form_of_a_page_is_no_body(served: World, kind: str) -> None:
    """What a page of another site could send without asking, a form, is refused by its type."""
    response = served.ask("POST", "/recall", content=b'{"query": "x"}', headers={"content-type": kind})
    assert response.status_code == 415


@pytest.mark.parametrize(
    ("text", "deep"),
    [
        (b"[]", 1),
        (b'{"a": [1, {"b": 2}]}', 3),
        (b'"[[[["', 0),
        (b'"\\"[[["', 0),
        (b'{"[[": "]]"}', 1),
        (b"1", 0),
    ],
)
def test_depth_is_counted_outside_of_strings(text: bytes, deep: int) -> None:
    """The depth of JSON is that of its brackets, and those in its strings do not count."""
    assert not deeper(text, deep)
    assert deep == 0 or deeper(text, deep - 1)


def test_what_acts_comes_back_as_an_escape_and_as_the_same_text(served: World) -> None:
    """A text that would act on a terminal is sent as JSON escapes, and read it is the very text that was stored."""
    text = "red \x1b[31m and \u202ebackwards\u202c, a bell \x07"
    entry = served.value("POST", "/entries", json={"text": text})["id"]
    response = served.ask("GET", f"/entries/{entry}")
    assert "\x1b" not in response.text
    assert "\u202e" not in response.text
    assert json.loads(response.text)["text"] == text


def test_a_query_given_twice_is_refused(served: World) -> None:
    """An argument or a person named twice is refused, for what checks and what acts might read different ones."""
    for query in ("limit=1&limit=2", "user=Dana&user=Mira", "user=&user=Dana", "user="):
        assert served.ask("GET", f"/entries?{query}").status_code == 400


def test_hidden_methods_are_not_honoured(served: World) -> None:
    """A header that names another method changes nothing."""
    headers = {"x-http-method-override": "PATCH"}
    assert (
        served.ask("POST", "/settings", headers=headers, json={"settings": {"zone": "UTC"}}).status_code
        == 405
    )


def test_the_canary_lies_where_the_tricks_lead(served: World) -> None:
    """The tricks would find the canary if they were followed, so that a pass means something."""
    lies = Path(served.root / served.name / "../../canary.txt")
    assert lies.read_text() == CANARY
    assert (served.root / served.name / "notebook" / "planted.md").read_text() == CANARY
