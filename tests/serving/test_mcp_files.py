"""The resources and prompts of the MCP server, read by the official SDK's client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from mcp.shared.exceptions import MCPError

from reverie.surface.mcp import resources

if TYPE_CHECKING:
    from conftest import Place
    from mcp import Client


def read(place: Place, uri: str) -> str:
    """Return the text of a resource."""
    return place.talk(lambda client: client.read_resource(uri)).contents[0].text


def listed(place: Place) -> list[str]:
    """Return the addresses of all resources, page after page."""

    async def said(client: Client) -> list[str]:
        found, cursor = [], None
        while True:
            part = await client.list_resources(cursor=cursor)
            found += [one.uri for one in part.resources]
            cursor = part.next_cursor
            if cursor is None:
                return found

    return place.talk(said)


def filled(place: Place) -> str:
    """Store an entry, compile MEMORY.md, and return the entry's log's address."""
    place.remember("User likes tea", category="preference", sig=0.9)
    with place.memory() as memory:
        memory.drain()
        memory.publish()
        return f"reverie://memory/archive/{memory.opened.ws.today}.md"


def test_files_are_listed_and_read(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """MEMORY.md, pages and logs are listed, however many pages the list has, and each listed one can be read."""
    log = filled(place)
    page = place.root / "notebook/2_Wiki/Concepts/花 & tea.md"
    page.write_text("---\ntype: note\n---\n# 花\n\nFlowers.\n", encoding="utf-8")
    monkeypatch.setattr("reverie.surface.mcp.offering.PAGE", 2)
    uris = listed(place)
    assert uris[0] == "reverie://memory/MEMORY.md"
    assert uris[-1] == log
    flower = "reverie://memory/notebook/2_Wiki/Concepts/%E8%8A%B1%20%26%20tea.md"
    assert flower in uris
    assert len(uris) == len(set(uris)) >= 4
    texts = {uri: read(place, uri) for uri in uris}
    assert "User likes tea" in texts[uris[0]]
    assert "User likes tea" in texts[log]
    assert texts[flower].endswith("Flowers.\n")
    assert not any(str(place.root) in one for one in (*uris, *texts.values()))


def test_templates_say_how_addresses_are_made(place: Place) -> None:
    """The families of addresses are listed, and the ones of the list follow them."""
    found = place.talk(lambda client: client.list_resource_templates()).resource_templates
    assert [one.uri_template for one in found] == [
        "reverie://memory/archive/{day}.md",
        "reverie://memory/notebook/{+page}.md",
    ]


@pytest.mark.parametrize(
    "uri",
    [
        "reverie://memory/reverie.toml",
        "reverie://memory/USER.md",
        "reverie://memory/sessions/s1.jsonl",
        "reverie://memory/.state/workspace.json",
        "reverie://memory/notebook/../USER.md",
        "reverie://memory/notebook/%2e%2e/USER.md",
        "reverie://memory/notebook//etc/hosts.md",
        "reverie://memory/notebook/.obsidian/x.md",
        "reverie://memory/archive/../MEMORY.md",
        "reverie://memory/archive/2026-07-01/../../MEMORY.md",
        "reverie://memory/archive/2026-07-01.md",
        "reverie://memory/MEMORY.md/",
        "reverie://other/MEMORY.md",
        "file:///etc/hosts",
        "reverie://memory/notebook/\x00.md",
        "",
    ],
)
def test_nothing_else_can_be_reached(place: Place, uri: str) -> None:
    """Whatever is no page, no log and not MEMORY.md is not there, however it is spelled."""
    with pytest.raises(MCPError, match=r"NotFound|UnsafePath"):
        read(place, uri)


def test_a_link_is_not_followed(place: Place) -> None:
    """A page that is a link to another file is refused, and not listed."""
    secret = place.home / "secret.md"
    secret.write_text("hidden elsewhere", encoding="utf-8")
    (place.root / "notebook/3_Personal/link.md").symlink_to(secret)
    uri = "reverie://memory/notebook/3_Personal/link.md"
    assert uri not in listed(place)
    with pytest.raises(MCPError, match="UnsafePath") as caught:
        read(place, uri)
    assert str(place.root) not in str(caught.value)


def test_what_is_forgotten_or_hidden_stands_in_no_file(place: Place) -> None:
    """A log and a page are shown without the lines that say or cite something forgotten or hidden."""
    tea, plan, walnuts = map(place.remember, ("User likes tea", "Dana plans a trip", "User likes walnuts"))
    with place.memory() as memory:
        memory.drain()
        day = memory.opened.ws.today
        cited = f"- Tea is liked [[archive/{day}#^{tea}]]\n- A trip [[archive/{day}#^{plan}]]\n- Nuts\n"
        page = place.root / "notebook/3_Personal/Likes.md"
        page.write_text(f"---\ntype: note\n---\n# Likes\n\n{cited}", encoding="utf-8")
        memory.forget([tea])
        memory.hide([plan])
    log = read(place, resources.uri_of(f"archive/{day}.md"))
    likes = read(place, "reverie://memory/notebook/3_Personal/Likes.md")
    assert walnuts in log
    assert "Nuts" in likes
    for gone in (tea, plan, "likes tea", "plans a trip", "Tea is liked", "A trip"):
        assert gone not in log + likes


def test_a_wrong_cursor_is_refused(place: Place) -> None:
    """A cursor that no answer gave is an error of the protocol."""
    with pytest.raises(MCPError, match="Invalid cursor"):
        place.talk(lambda client: client.list_resources(cursor="x"))


def test_the_protocol_comes_with_the_memory(place: Place) -> None:
    """The prompt memory_protocol has the protocol's words and, fenced as data, what matters to the query."""
    filled(place)
    found = place.talk(lambda client: client.get_prompt("memory_protocol", {"query": "tea"}))
    text = found.messages[0].content.text
    assert text.startswith("## Memory Protocol\n")
    assert "Never fabricate memories." in text
    assert "User likes tea" in text.partition("<reverie-memory nonce=")[2]


def test_the_dream_prompt_shows_the_day(place: Place) -> None:
    """The prompt dream has the day's entries with their ids between two lines of one nonce."""
    tea = place.remember("User likes tea")
    found = place.talk(lambda client: client.get_prompt("dream")).messages[0].content.text
    fenced = found.partition("<memory-data ")[2]
    assert f"User likes tea ^{tea}" in fenced
    other = place.talk(lambda client: client.get_prompt("dream", {"day": "2020-01-01"}))
    assert "(no entries)" in other.messages[0].content.text


@pytest.mark.parametrize(("name", "arguments"), [("nonesuch", {}), ("dream", {"dya": "x"})])
def test_a_wrong_prompt_is_refused(place: Place, name: str, arguments: dict[str, Any]) -> None:
    """A prompt nobody offered, or an argument it does not have, is an error of the protocol."""
    with pytest.raises(MCPError, match=r"Unknown prompt|UsageError"):
        place.talk(lambda client: client.get_prompt(name, arguments))
