"""Whatever would run, load or style something in a page is seen."""

from __future__ import annotations

import pytest

from reverie.core.pages.active import active_content

ACTIVE = [
    ("<script>alert(1)</script>", "script"),
    ("text <IFRAME src=x></iframe>", "iframe"),
    ("a <b onclick=x>b</b>", "html"),
    ("<!-- note -->", "comment"),
    ("[a](javascript:alert(1))", "scripting link"),
    ("[a](JaVa&#115;cript&colon;x)", "scripting link"),
    ("[a]( java\tscript:x)", "scripting link"),
    ("[a]: vbscript:x", "scripting link"),
    ("<javascript:x>", "scripting link"),
    ("[a](data:text/html;base64,x)", "scripting link"),
    ("[a](obsidian://advanced-uri?x)", "scripting link"),
    ("![x](https://evil.example/?q=1)", "remote image"),
    ("![x]( <https://evil.example/p.png> )", "remote image"),
    ("![a [b [c] d] e](//evil.example/p.png)", "remote image"),
    ("![two\nlines](https://evil.example/p.png)", "remote image"),
    ("![x](&#104;ttps:\\//evil.example/p.png)", "remote image"),
    ("[![x](https://evil.example/p.png)](Home.md)", "remote image"),
    ("![x][here]\n\n[Here]: https://evil.example/p.png", "remote image"),
    ("![here][] or ![here]\n\n> [here]: <HTTP://evil.example/p.png>", "remote image"),
    ("```dataviewjs\ndv.x\n```", "plugin code"),
    ("> ```js-engine\n> x\n> ```", "plugin code"),
    ("`$= dv.current()`", "plugin code"),
    ("<% tp.file.x %>", "template code"),
    ("```\n<% tp.x %>\n```", "template code"),
]


@pytest.mark.parametrize(("text", "kind"), ACTIVE)
def test_active_content_is_found(text: str, kind: str) -> None:
    """Raw HTML, scripts, scripting links, remote images, plugin and template code are each named with their line."""
    found = active_content(f"---\ntitle: x\n---\nfine\n\n{text}\n")
    assert (6, kind) in {(one.line, one.kind) for one in found} or (7, kind) in {
        (one.line, one.kind) for one in found
    }


@pytest.mark.parametrize(
    "text",
    [
        "a < b and c > d",
        "`<script>`",
        "```html\n<b>\n```",
        "<https://ok.example>",
        "[a](https://ok.example)",
        "![[pic.png]]",
        "x <= 3",
        "the javascript: scheme",
        "```dataview\nLIST\n```",
        "![x](assets/p.png)",
        "&lt;b>",
        "\\![x](https://ok.example) and !\\[x](https://ok.example)",
        "![x](assets/p.png) and [a](https://ok.example)",
        "![x][here] and [a][there]\n\n[here]: assets/p.png\n[there]: https://ok.example",
        "`![x](https://ok.example)`",
        "Wow![1] he said.",
    ],
)
def test_ordinary_pages_hold_no_active_content(text: str) -> None:
    """Comparisons, code samples, web links and local images are no findings."""
    assert active_content(text) == ()
