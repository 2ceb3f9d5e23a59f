"""Every verb over HTTP: what it answers, in pages, with tags, with problems, and only for who has the right."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from http_world import NOW, world_at
from prometheus_client.parser import text_string_to_metric_families

from reverie.errors import ReverieError
from reverie.retract import retract
from reverie.surface.http.openapi import specification
from reverie.surface.http.table import OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from http_world import World

    from reverie.surface.http.operations import Operation

RIGHTS = ("read", "write", "admin")


def everything() -> Iterator[tuple[str, str, str]]:
    """Yield method, path and the right of everything in the specification."""
    for path, methods in specification()["paths"].items():
        for method, one in methods.items():
            yield method, path, one["x-right"]


def filled(path: str, **named: str) -> str:
    """Return a path with its places filled."""
    return re.sub(r"{(\w+)}", lambda found: named.get(found[1], "x"), path)


def test_no_operation_stands_twice() -> None:
    """No two operations have one id, or one method and address."""
    assert len({one.id for one in OPERATIONS}) == len(OPERATIONS)
    assert len({(one.method, one.address) for one in OPERATIONS}) == len(OPERATIONS)


@pytest.mark.parametrize(("method", "path", "right"), list(everything()))
def test_each_needs_its_right(served: World, method: str, path: str, right: str) -> None:
    """What needs more than the token's right is refused by 403, before its arguments are looked at."""
    for less in RIGHTS[: RIGHTS.index(right)]:
        token = served.first if less == "admin" else TOKENS[less]
        response = served.client(token).request(method, filled(path, workspace="support"))
        assert response.status_code == 403, (less, response.text)
        assert response.json()["class"] == "Forbidden"


@pytest.mark.parametrize(
    ("method", "path"), [(method, path) for method, path, _ in everything() if "{workspace}" in path]
)
def test_each_is_bound_to_its_workspaces(served: World, method: str, path: str) -> None:
    """A token of another workspace is refused by 403, whether there is one of that name or not."""
    for name in ("support", "nobody"):
        response = served.client(TOKENS["other"]).request(method, filled(path, workspace=name))
        assert response.status_code == 403, response.text
        assert "not for this workspace" in response.json()["detail"]


@pytest.mark.parametrize("one", [one for one in OPERATIONS if one.method != "patch"], ids=lambda one: one.id)
def test_each_is_bound_to_its_people(served: World, one: Operation) -> None:
    """A token for Dana opens neither the agent's own memory nor Mira's, by any operation."""
    for who in ({}, {"user": "Mira"}):
        path = filled(one.address.replace(":path", ""), workspace="support")
        response = served.client(TOKENS["dana"]).request(one.method, path, params=who)
        assert response.status_code == 403, response.text
        assert "the token is not for" in response.json()["detail"]


TOKENS: dict[str, str] = {}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A root served for all tests that only try doors, with tokens of every kind."""
    with world_at(tmp_path_factory.mktemp("served")) as world:
        world.hosted.make("other")
        for right in ("read", "write"):
            TOKENS[right] = world.tokens.add(right, right)  # type: ignore[arg-type]
        TOKENS["other"] = world.tokens.add("other", "admin", workspaces=("other",))
        TOKENS["dana"] = world.tokens.add("dana", "admin", people=("Dana",))
        yield world


def test_turns_that_a_host_took_back_are_said_after_all(world: World) -> None:
    """A forget is taken back by the session of retracted turns, as by ids: counted by a dry run, done once."""
    world.value("POST", "/turns", json={"session": "talk", "role": "user", "content": "The zeppelin leaves."})
    with world.memory() as memory:
        ws, state = memory.opened.writable, memory.opened.state_now()
        retract(ws, state, "talk", choose=lambda turns: turns)
    wanted = {"where": {"session": "talk"}}
    assert world.value("POST", "/forget/restore", json={**wanted, "dry_run": True})["turns"] == 1
    assert world.value("POST", "/forget/restore", json=wanted)["turns"] == 1
    assert "The zeppelin leaves." in [
        hit["text"] for hit in world.value("POST", "/recall", json={"query": "zeppelin"})["hits"]
    ]
    again = world.ask("POST", "/forget/restore", json=wanted)
    assert (again.status_code, again.json()["class"]) == (404, "NotFound")


def test_a_life_over_http(world: World) -> None:
    """A conversation is captured, read, drained, dreamed, published, found, corrected, forgotten and erased."""
    turns = [
        ("user", "I work at Lindqvist Rail now."),
        ("assistant", "Noted!"),
        ("user", "I prefer trains to planes."),
    ]
    for n, (role, content) in enumerate(turns):
        done = world.value(
            "POST", "/turns", json={"session": "s1", "role": role, "content": content, "id": f"m{n}"}
        )
        assert done["n"] == n
    assert world.value("POST", "/sessions/end", json={"session": "s1"})["due"]["drain"]
    assert world.value("POST", "/extract", json={"sessions": ["s1"]})["entries"] >= 1
    assert world.value("POST", "/drain")["stored"] >= 2
    world.clock.advance(days=2)
    assert world.value("POST", "/dream", json={"now": True})["runs"]
    run = world.value("GET", "/runs")["runs"][0]["run"]
    assert world.value("GET", f"/runs/{run}/diff")["diff"]
    assert world.value("POST", "/publish")["path"] == "MEMORY.md"
    (hit, *_) = world.value("POST", "/recall", json={"query": "tea", "kinds": ["entry"]})["hits"]
    assert hit["text"] == "Dana prefers tea"
    assert "tea" in world.value("POST", "/context", json={"query": "tea"})["text"]
    told = {"text": "Dana prefers coffee", "why": "change"}
    new = world.value("POST", f"/entries/{hit['id']}/correct", json=told)["id"]
    assert world.value("GET", f"/why/{new}")["entry"]["text"] == "Dana prefers coffee"
    assert world.value("GET", f"/entries/{hit['id']}")["superseded_by"] == new
    assert world.value("POST", "/forget", json={"ids": [new]})["ids"] == [new]
    assert world.ask("GET", f"/entries/{new}").status_code == 404
    erased = world.value("POST", "/erase", json={"ids": [new]})
    assert erased["ids"] == [new]
    assert erased["leftovers"] == []
    assert world.value("POST", f"/runs/{run}/undo")["kind"] == "undo"
    assert world.value("GET", "/check")["findings"] == []


def test_a_person_is_a_memory_of_their_own(world: World) -> None:
    """What is said under `user` is found under that name and not by the agent or another person."""
    world.value("POST", "/entries", json={"text": "Mira likes walnuts"}, params={"user": "Mira"})
    found = {
        who: [
            one["text"]
            for one in world.value("GET", "/entries", params={"user": who} if who else {})["entries"]
        ]
        for who in ("", "Mira", "Dana")
    }
    assert found == {"": ["Dana prefers tea"], "Mira": ["Mira likes walnuts"], "Dana": []}


def test_a_list_comes_in_pages(world: World) -> None:
    """Pages of a list hold every entry once and in order, also when some come or go between them."""
    for n in range(9):
        world.value("POST", "/entries", json={"text": f"Fact number {n}"})
    whole = [one["id"] for one in world.value("GET", "/entries")["entries"]]
    seen: list[str] = []
    cursor = ""
    while True:
        part = world.value("GET", "/entries", params={"limit": 4, "cursor": cursor})
        seen += [one["id"] for one in part["entries"]]
        cursor = part["next"]
        if len(seen) == 4:
            world.value("POST", "/hide", json={"ids": [seen[0]]})  # before the place the next page begins at
        if not cursor:
            break
    assert seen == whole
    assert world.value("GET", "/entries", params={"limit": 10})["next"] == ""


def test_a_page_goes_on_where_its_last_one_was_hidden(world: World) -> None:
    """A page whose last entry was hidden meanwhile is followed by the next, and none is left out."""
    for n in range(5):
        world.value("POST", "/entries", json={"text": f"Fact number {n}"})
    whole = [one["id"] for one in world.value("GET", "/entries")["entries"]]
    part = world.value("GET", "/entries", params={"limit": 3})
    world.value("POST", "/hide", json={"ids": [part["entries"][-1]["id"]]})
    rest = world.value("GET", "/entries", params={"cursor": part["next"]})
    assert [one["id"] for one in rest["entries"]] == whole[3:]


@pytest.mark.parametrize(
    "cursor", ["x", "!", "W10", "bnVsbA", "WzEsMl0", "é", "A" * 1_999, "WzEsICJhIiwgMl0"]
)
def test_a_made_up_cursor_is_refused(world: World, cursor: str) -> None:
    """A cursor that was not given by a page is an error, not a beginning."""
    assert world.ask("GET", "/entries", params={"cursor": cursor}).status_code == 400


def test_a_get_that_changed_nothing_is_answered_by_its_tag(world: World) -> None:
    """A GET with the tag of what the client has is answered by 304 until that changes."""
    world.value("POST", "/publish")
    for path in ("/files/MEMORY.md", "/entries"):
        first = world.ask("GET", path)
        tag = first.headers["etag"]
        for sent in (tag, f'"x", {tag}', f"W/{tag}", "*"):
            again = world.ask("GET", path, headers={"if-none-match": sent})
            assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
        assert world.ask("GET", path, headers={"if-none-match": '"x"'}).status_code == 200
    before = world.ask("GET", "/files/MEMORY.md").headers["etag"]
    world.clock.advance(minutes=5)
    world.value("POST", "/entries", json={"text": "Dana pays in crowns", "pin": True})
    world.value("POST", "/publish")
    assert world.ask("GET", "/files/MEMORY.md", headers={"if-none-match": before}).status_code == 200


def test_files_are_read_by_their_paths(world: World) -> None:
    """The files listed are exactly those that can be read: MEMORY.md, pages and daily logs."""
    world.value("POST", "/consolidate", json={})
    paths = [one["path"] for one in world.value("GET", "/files")["files"]]
    assert "MEMORY.md" in paths
    assert "archive/2026-07-01.md" in paths
    for path in paths:
        assert world.ask("GET", f"/files/{path}").status_code == 200
    for path in ("USER.md", ".state/key", "sessions/x.jsonl", "reverie.toml", "", "archive/2026-07-02.md"):
        assert world.ask("GET", f"/files/{path}").status_code == 404


def test_a_forgotten_line_is_in_no_file(world: World) -> None:
    """A daily log is read without the line that was forgotten."""
    world.value("POST", "/drain")
    assert "tea" in world.ask("GET", "/files/archive/2026-07-01.md").text
    world.value("POST", "/forget", json={"ids": [world.entry]})
    assert "tea" not in world.ask("GET", "/files/archive/2026-07-01.md").text


def test_settings_hold_from_the_next_request_on(world: World) -> None:
    """A setting that was set is in the workspace's own file, and holds for the next request."""
    world.value("PATCH", "/settings", json={"settings": {"dream.min_facts": 7, "exclusions": ["health"]}})
    told = world.value("GET", "/settings")["settings"]
    assert told["dream.min_facts"] == 7
    assert told["exclusions"] == ["health"]
    with world.memory() as memory:
        assert memory.opened.ws.settings.dream.min_facts == 7


@pytest.mark.parametrize(
    "name", ["models.base_url", "index_url", "redaction", "notebook.path", "durability", "x", ""]
)
def test_a_setting_that_reaches_outside_is_refused(world: World, name: str) -> None:
    """No request sets what only the user's own configuration may, and the file stays as it is."""
    before = (world.root / world.name / "reverie.toml").read_bytes()
    response = world.ask("PATCH", "/settings", json={"settings": {name: "x"}})
    assert response.status_code == 400, response.text
    assert (world.root / world.name / "reverie.toml").read_bytes() == before


def test_a_workspace_from_elsewhere_is_trusted_by_an_admin(world: World) -> None:
    """A workspace nobody here made answers nothing but its status, until an admin trusts it."""
    (world.home / "config" / "key").unlink()
    world.hosted.drop(world.name)
    assert world.ask("POST", "/recall", json={"query": "tea"}).json()["class"] == "Untrusted"
    assert not world.value("GET", "/status")["trusted"]
    assert world.value("POST", "/trust") == {"workspace": world.name}
    assert world.value("POST", "/recall", json={"query": "tea"})["hits"]


def test_a_session_needs_the_right_to_write(served: World) -> None:
    """Context is for readers, and with a session, which it compacts, for writers."""
    for given, status in (({"query": "tea"}, 200), ({"query": "tea", "session": "s1"}, 403)):
        assert served.ask("POST", "/context", token=TOKENS["read"], json=given).status_code == status


def test_the_list_holds_what_the_token_opens(served: World) -> None:
    """The list of workspaces names those of the token alone."""
    found = served.client(TOKENS["other"]).get("/v1/workspaces").json()["workspaces"]
    assert [name.partition("-")[0] for name in found] == ["other"]
    assert len(served.client().get("/v1/workspaces").json()["workspaces"]) == 2


def test_metrics_hold_nothing_of_a_memory(world: World) -> None:
    """The counts name operations and statuses, and no text, workspace, person or address."""
    world.ask("POST", "/recall", json={"query": "tea"}, params={"user": "Mira"})
    world.client("").get("/v1/workspaces")
    text = world.client().get("/metrics").text
    assert 'reverie_http_requests_total{operation="recall",status="200"} 1.0' in text
    assert 'reverie_http_refused_total{kind="Unauthorized"} 1.0' in text
    for word in ("tea", "Mira", "Dana", "support", str(world.home)):
        assert word not in text


def test_metrics_are_what_prometheus_reads(world: World) -> None:
    """Prometheus' own parser reads the counts: each family has a type and a help, and a histogram is whole."""
    world.ask("POST", "/recall", json={"query": "tea"})
    answer = world.client().get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=")
    families = {family.name: family for family in text_string_to_metric_families(answer.text)}
    kinds = {name: family.type for name, family in families.items() if not name.endswith("_created")}
    assert kinds == {
        "reverie_http_requests": "counter",
        "reverie_http_request_seconds": "histogram",
        "reverie_http_refused": "counter",
        "reverie_open_memories": "gauge",
        "reverie_calls": "gauge",
    }
    assert all(family.documentation for family in families.values())
    samples = {
        (one.name, one.labels.get("le")): one.value
        for one in families["reverie_http_request_seconds"].samples
    }
    assert (
        samples["reverie_http_request_seconds_bucket", "+Inf"]
        == samples["reverie_http_request_seconds_count", None]
    )


def test_time_comes_from_the_clock(world: World) -> None:
    """A turn without a time gets the clock's, and one with a time keeps it."""
    world.value("POST", "/turns", json={"session": "s1", "role": "user", "content": "Hello"})
    at = "2026-06-30T10:00:00+02:00"
    world.value("POST", "/turns", json={"session": "s1", "role": "user", "content": "Before", "at": at})
    found = world.value("POST", "/recall", json={"query": "hello before", "kinds": ["turn"]})["hits"]
    assert {hit["text"]: hit["at"] for hit in found} == {
        "Hello": f"{NOW:%FT%TZ}",
        "Before": "2026-06-30T08:00:00Z",
    }


def test_without_starlette_the_remedy_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the extra is not installed the error says what to install."""
    monkeypatch.setitem(__import__("sys").modules, "starlette.applications", None)
    with pytest.raises(ReverieError, match=r"reverie\[server\]"), world_at(tmp_path):
        pass
