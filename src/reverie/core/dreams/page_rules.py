"""Whether one changed page may be installed.

Owns the rules for a page by itself: its path, front matter, links, active content, size, what it lost; promises that
each refusal says why, and that lines which stood before are not judged again; never looks at the disk: what exists is
passed in.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache

import msgspec

from reverie import layout
from reverie.core.formats.utf8 import to_bytes
from reverie.core.pages import front_matter
from reverie.core.pages.active import active_content
from reverie.core.pages.citations import links
from reverie.core.pages.markdown import outline, without_code
from reverie.core.pages.plain import citing, headings_above
from reverie.core.pages.source import split
from reverie.core.secrets.redact import redact
from reverie.core.text.names import is_device
from reverie.core.text.patterns import Words

MAX_BYTES = 512 * 1024  # a page is for people to read; what is longer belongs on several
_LEAST = 200  # characters: a smaller page may lose anything
_LOADING = frozenset({"remote image", "scripting link"})  # what nobody writes by looking at a page
_TITLE_BYTES = 240  # of one name in a path, which file systems limit to 255

_BREAK = Words(r"\r\n|\r|\n")
_INDENT = Words(r"[ \t]*")
_TAG = Words(r"(?<!\\)<(?:[A-Za-z/?]|!)(?!ttps?://|ailto:)|(?<!\\)<%|(?<!\\)%%")
_SCRIPT = Words(r"\b(?:javascript|vbscript)\s*:|\bdata:text/html", fold=True)
_INLINE_CODE = Words(r"`\s*\$?=")  # Dataview runs these when the page is shown
_LEADS = Words(r"\]\(|\]:|!\[|\]\[")  # what may load or run something from where it leads
_FENCE = Words(r"[\s>*+-]*(?:\d{1,9}[.)]\s*)?(?:`{3}|~{3})")
_CLOSED = Words(r"\n[ \t>]*(?:`{3,}|~{3,})\s*\Z")
_ACTIVE = Words(
    r"(?:dataview|js|button|meta-bind|templater|tasks|query|run-|html|svg|mermaid|script)", fold=True
)
_LINK = Words(r"!?\[\[[^\[\]|\r\n]*(?:\|([^\[\]\r\n]*))?\]\]")
_ORDINAL = Words(r"(?m)^[ \t>]*\d{1,2}[.)](?=[ \t])")
_CONTINUED = Words(r" \d{1,4}$")
_LONGEST_ELISION = 400  # characters; a longer line says something, and thousands of dots would take minutes
_ELISION = Words(
    r"[\s>*+#-]*+[(\[<{*_（【]*+\s*+(?:(?:\.{3}|…)\s*)*"
    r"(?:(?:the\s+)?(?:rest|remainder|remaining|existing|previous|other)\b.{0,40}"
    r"\b(?:unchanged|as before|as is|stays?|remains?|same|omitted|kept|here)"
    r"|(?:unchanged|omitted|truncated|snip(?:ped)?)"
    r"|其余.{0,10}(?:不变|省略|略)|(?:以下|此处|内容)?省略|\.{3}|…+)\s*(?:(?:\.{3}|…)\s*)*[)\]>}*_.。）】]*\s*",
    fold=True,
)


class Change(msgspec.Struct, frozen=True):
    """A page before and after, by its path in the notebook; None where it is absent."""

    path: str
    old: str | None
    new: str | None


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    """What a page is judged against.

    `existing` are the notebook's content pages; `folders` the spellings of its folders, and of those of the proposal,
    by how `fold_path` spells them; `moved` the texts of all pages as proposed, where a line may have gone; `copies` are
    pages that only quote others, and may shrink; `masked` tells a text that must stay forgotten; `allow` are false
    alarms of the redaction.
    """

    existing: AbstractSet[str]
    folded: AbstractSet[str]
    proposed: AbstractSet[str]
    moved: AbstractSet[str]
    masked: Callable[[str], bool]
    allow: tuple[str, ...] = ()
    copies: AbstractSet[str] = frozenset()
    folders: Mapping[str, AbstractSet[str]] = {}


class Unit(msgspec.Struct, frozen=True):
    """A line that cites, with the lines that continue it, the ids it cites and what stands above it."""

    text: str
    ids: tuple[str, ...]
    context: str


def fold_path(path: str) -> str:
    """Return a path as a file system sees it that knows neither case nor Unicode forms."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", path).casefold())


def problem(change: Change, near: Surroundings) -> str:
    """Return why the page may not be installed, empty when it may."""
    if reason := path_problem(change, near):
        return reason
    if change.new is None:
        return "a page may not be deleted"
    if len(to_bytes(change.new)) > MAX_BYTES:
        return f"the page has more than {MAX_BYTES // 1024} kB"
    added = added_lines(change.old, change.new)
    return (
        _front_problem(change.old, change.new)
        or _link_problem(change, near, added)
        or _active_problem(change.old, change.new, added)
        or _loss_problem(change, near, added)
        or _text_problem(added, near)
    )


def words_problem(change: Change, near: Surroundings) -> str:
    """Return why the text of a file that is no page may not be proposed, empty when it may."""
    added = added_lines(change.old, change.new or "")
    return (
        _active_problem(change.old, change.new or "", added)
        or _loss_problem(change, near, added)
        or _text_problem(added, near)
    )


def path_problem(change: Change, near: Surroundings) -> str:
    """Return why the path may not be written, empty when it may."""
    path = change.path
    names = path.split("/")
    if not path.endswith(".md") or len(names) < 2 or path in layout.NAVIGATION:  # noqa: PLR2004 - zone and page
        return "only pages within the notebook's zones may be written"
    if not any(path.startswith(f"{zone}/") for zone in layout.ZONES):
        return f"{names[0]!r} is no zone of the notebook"
    if any(_is_unsafe(name) for name in names):
        return "the path holds a part that is hidden, leads elsewhere, or that not every file system can keep"
    return _name_problem(path, near) if change.old is None else ""


def _name_problem(path: str, near: Surroundings) -> str:
    """Return why no new page may have this name, as every file system would see it; empty when it may."""
    if fold_path(path) in near.folded:
        return "a file of this name, or one that differs in case or spelling alone, exists"
    if fold_path(path) in near.folders:
        return "a folder of this name exists"
    for folder in folders_of(path):
        folded = fold_path(folder)
        if folded in near.folded:
            return f"{folder} is a file"
        if folder not in (spelled := near.folders.get(folded) or {folder}) and folder not in _ZONES:
            return f"the folder {folder} differs from {min(spelled)} in case or spelling alone"
    if any(is_device(name) for name in path.split("/")):
        return "the path holds the name of a device"
    return ""


def as_spelled(path: str, folders: Mapping[str, AbstractSet[str]]) -> str:
    """Return a path with each folder beneath its zone spelled as the one that stands, where just one does."""
    here = ""
    for name in path.split("/")[:-1]:
        there = f"{here}{name}"
        spelled = () if there in _ZONES else folders.get(fold_path(there), ())
        here = f"{min(spelled) if len(spelled) == 1 else there}/"
    return f"{here}{path.rpartition('/')[2]}"


def folders_of(path: str) -> list[str]:
    """Return the folders a path leads through, the outermost first."""
    names = path.split("/")
    return ["/".join(names[:end]) for end in range(1, len(names))]


def spellings(paths: Iterable[str]) -> dict[str, set[str]]:
    """Return how each folder that paths lead through is spelled, by how `fold_path` spells it."""
    found: dict[str, set[str]] = {}
    for parent in {path.rpartition("/")[0] for path in paths} - {""}:
        for folder in folders_of(f"{parent}/"):
            found.setdefault(fold_path(folder), set()).add(folder)
    return found


_ZONES = frozenset(folder for zone in layout.ZONES for folder in folders_of(f"{zone}/"))


@lru_cache(maxsize=64)
def added_lines(old: str | None, new: str) -> tuple[str, ...]:
    """Return the lines of the new text that the old one does not hold, blank ones left out."""
    before = Counter((old or "").splitlines())
    added: list[str] = []
    for line in new.splitlines():
        if before[line] > 0:
            before[line] -= 1
        elif line.strip():
            added.append(line)
    return tuple(added)


def units(text: str, among: AbstractSet[str] | None = None) -> Iterator[Unit]:
    """Yield what cites on a page: each line with those that follow it deeper indented and cite nothing.

    With lines to look `among`, those units that hold none of them are left out.
    """
    cited = {number: ids for number, _, ids in citing(text)}
    if not cited:
        return
    lines = _BREAK.split(text)
    title = front_matter.read(split(text).front).title
    above: list[tuple[int, tuple[str, ...]]] = [(0, ()), *headings_above(text)]
    places = [place for place, _ in above]
    for number, ids in cited.items():
        here = [lines[number - 1]]
        for following in range(number + 1, len(lines) + 1):
            line = lines[following - 1]
            if following in cited or not line.strip() or _depth(line) <= _depth(here[0]):
                break
            here.append(line)
        if among is None or not among.isdisjoint(here):
            path = above[bisect_left(places, number) - 1][1]
            yield Unit("\n".join(here), ids, " ".join((title, *path)))


def _depth(line: str) -> int:
    match = _INDENT.match(line)
    return len(match.group().expandtabs(4)) if match else 0


def _is_unsafe(name: str) -> bool:
    return (
        not name
        or name.startswith((".", " ", "~"))
        or name.endswith((" ", "."))
        or any(char in '\\:*?"<>|#^[]' or not char.isprintable() for char in name)
        or len(name.encode("utf-8", "surrogatepass")) > _TITLE_BYTES
        or unicodedata.normalize("NFC", name) != name
    )


def _front_problem(old: str | None, new: str) -> str:
    was, now = split(old or "").front, split(new).front
    if now is None:
        return "the page has no front matter" if old is None or was is not None else ""
    if was == now:
        return ""
    front = front_matter.read(now)
    if front.problems:
        return front.problems[0]
    if not front.title:
        return "the front matter has no title"
    before = front_matter.read(was)
    allowed = {
        "type": front_matter.TYPES,
        "status": front_matter.STATUSES,
        "review": front_matter.REVIEWS,
        "confidence": front_matter.CONFIDENCES,
    }
    for name, values in allowed.items():
        value = getattr(front, name)
        # A word that a person chose stays theirs.
        if value and value not in values and value != getattr(before, name):
            return f"the front matter's {name} is {value[:40]!r}; it must be one of {', '.join(values)}"
    lost = sorted(set(before.other) - set(front.other))
    return f"the front matter lost the field {lost[0]!r}" if lost else ""


def _link_problem(change: Change, near: Surroundings, added: Sequence[str]) -> str:
    cites = all(line.count("[[") == line.count(f"[[{layout.ARCHIVE}/") for line in added)
    for link in () if cites else links("\n\n".join(added)):  # most lines link to nothing but what they cite
        target = link.target
        known = f"{target}.md" in near.existing or f"{target}.md" in near.proposed
        if not target or known or target.startswith(f"{layout.ARCHIVE}/"):
            continue
        # A link to a page that is yet to be written is a person's plan; only a dream may not add one.
        if target not in {one.target for one in links(change.old or "")}:
            return f"the link [[{target[:80]}]] leads to no page"
    return ""


def _active_problem(old: str | None, new: str, added: Iterable[str]) -> str:
    doubted = [
        line for line in added if _TAG.search(line) or _SCRIPT.search(line) or _INLINE_CODE.search(line)
    ]
    if not doubted and not any(_FENCE.match(line) or _LEADS.search(line) for line in added):
        return ""
    page = outline(new)
    before = Counter(fence.info for fence in outline(old or "").fences)
    for fence in page.fences:
        before[fence.info] -= 1
        closed = _CLOSED.search(new, fence.start, fence.end)
        if before[fence.info] < 0 and (_ACTIVE.match(fence.info.lstrip("{")) or not closed):
            return f"a code block of kind {fence.info[:40]!r} would run, or is never closed"
    fresh = set(doubted)
    shown = without_code(page).splitlines()
    for number, (line, bare) in enumerate(zip(new.splitlines(), shown, strict=False), 1):
        if line in fresh and (_TAG.search(bare) or _SCRIPT.search(bare) or _INLINE_CODE.search(line)):
            return f"line {number} holds raw HTML or active content"
    if any(_LEADS.search(line) for line in added):
        stood = Counter((one.kind, one.excerpt) for one in active_content(old or ""))
        for one in active_content(new):
            stood[one.kind, one.excerpt] -= 1
            if one.kind in _LOADING and stood[one.kind, one.excerpt] < 0:
                return f"line {one.line} holds a {one.kind}"
    return ""


def _loss_problem(change: Change, near: Surroundings, added: Iterable[str]) -> str:
    for line in added:
        if len(line) <= _LONGEST_ELISION and _ELISION.fullmatch(line):
            return "a line stands for text left out"
    old, new = change.old or "", change.new or ""
    size = sum(map(len, _said_lines(old)))
    if change.path in near.copies or size < _LEAST or sum(map(len, _said_lines(new))) * 2 >= size:
        return ""
    kept = sum(len(line) for line in _said_lines(old) if line in near.moved)
    return "" if kept * 2 >= size else "more than half of the page would be gone"


@lru_cache(maxsize=64)
def _said_lines(text: str) -> tuple[str, ...]:
    """Return what the lines of a body say, without indent and bullet."""
    said = (line.strip().removeprefix("- ") for line in split(text).body.splitlines())
    return tuple(filter(None, said))


def said_lines(texts: Iterable[str]) -> frozenset[str]:
    """Return what the lines of some pages say, to find moved ones by."""
    return frozenset(line for text in texts for line in _said_lines(text))


def _text_problem(added: Sequence[str], near: Surroundings) -> str:
    if found := redact("\n".join(added), allow=near.allow).kinds:
        return f"the page would hold a secret ({found[0]})"
    for line in added:
        if near.masked(line):
            return "a line says what was forgotten"
    return ""


def wording(text: str) -> str:
    """Return what lines state: without list items' numbers, and link targets, which are judged as pages' names."""
    return _LINK.sub(lambda match: f" {match.group(1) or ''} ", _ORDINAL.sub("", text))


def titled(path: str, known: AbstractSet[str]) -> str:
    """Return what a new page's name says, without the number by which it continues another page."""
    stem = path.removesuffix(".md")
    first = _CONTINUED.sub("", stem)
    continues = first != stem and f"{first}.md" in known
    return (first if continues else stem).rpartition("/")[2]
