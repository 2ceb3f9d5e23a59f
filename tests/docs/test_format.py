"""Every example of the format pages is what the code reads, and every file, record and member has its place there."""

from __future__ import annotations

import inspect
import re
from collections import defaultdict
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from fences import LINES, Example, examples_of

from reverie import layout, transfer
from reverie.core.days import Calendar
from reverie.core.dreams import watermark
from reverie.core.due_every import canonical
from reverie.core.fold import FEEDBACK_WORDS, KINDS
from reverie.core.formats import daylog, framing
from reverie.core.formats.daylog_fields import BY_NAME, FIELDS
from reverie.core.glance.memory_lines import cited_lines
from reverie.core.pages.blocks import Block, find_block
from reverie.core.pages.citations import citations
from reverie.core.pages.front_matter import FIELDS as FRONT_FIELDS
from reverie.core.pages.front_matter import read as read_front
from reverie.core.pages.source import split
from reverie.core.records import Entry
from reverie.core.sessions import summary
from reverie.core.settings.sources import parse_toml, read_table
from reverie.core.text.names import safe_name
from reverie.reindex import DERIVED
from reverie.store import workspace

if TYPE_CHECKING:
    from collections.abc import Iterator

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [DOCS / "format.md", *sorted((DOCS / "format").glob("*.md"))]
CALENDAR = Calendar("Europe/Berlin")

# Structs that no file holds: what a caller says, and what a reader answers.
NOT_STORED = {"Draft"}
# A record leaves its defaults out of the file; of those that do not, these are stored all the same.
WITH_DEFAULTS = {"Manifest"}
STORED_IN = ("core.records", "core.forgetting.erasure", "context", "transfer")


EXAMPLES = [example for page in PAGES for example in examples_of(page)]
LIFE = list(examples_of(DOCS / "explanation" / "life-of-a-turn.md"))
ALL_TEXT = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)


def of_kind(*kinds: str) -> list[Any]:
    """Return the examples whose info string is one of `kinds`, as parameters with readable names."""
    found = [example for example in [*EXAMPLES, *LIFE] if example.info in kinds]
    assert found, f"no example is marked {kinds}"
    return [pytest.param(example, id=example.place) for example in found]


def jsonl() -> list[Any]:
    """Return the examples of framed records."""
    return of_kind(*(f"jsonl {name}" for name in LINES))


def values_of(example: Example) -> list[Any]:
    """Return the values that a block of framed lines holds, read as any file's lines are."""
    kind = LINES[example.info.removeprefix("jsonl ")]
    lines, damage = framing.read(example.text.encode())
    assert not damage, [(one.reason, one.raw) for one in damage]
    return [framing.decode(line, kind) for line in lines]


def inside(value: Any) -> Iterator[type[msgspec.Struct]]:
    """Yield the record's type and those of all records in it."""
    if isinstance(value, msgspec.Struct):
        yield type(value)
        for name in value.__struct_fields__:
            yield from inside(getattr(value, name))
    elif isinstance(value, tuple | dict):
        for one in value.values() if isinstance(value, dict) else value:
            yield from inside(one)


def stored_types() -> dict[str, type[msgspec.Struct]]:
    """Return every record type of the package that stands in a file, by its name."""
    names = [
        *STORED_IN,
        *(f"store.{path.stem}" for path in Path(inspect.getfile(workspace)).parent.glob("*.py")),
    ]
    modules = [import_module(f"reverie.{name}".removesuffix(".__init__")) for name in names]
    return {
        name: kind
        for module in modules
        for name, kind in vars(module).items()
        if isinstance(kind, type)
        and issubclass(kind, msgspec.Struct)
        and kind.__module__ == module.__name__
        and not name.startswith("_")
        and name not in NOT_STORED
        and (kind.__struct_config__.omit_defaults or name in WITH_DEFAULTS)
    }


def sections_by_type() -> dict[str, set[str]]:
    """Return the sections in which an example of each record type stands."""
    found: dict[str, set[str]] = defaultdict(set)
    for example in EXAMPLES:
        if example.info.startswith("jsonl "):
            for value in values_of(example):
                for kind in inside(value):
                    found[kind.__name__].add(example.section)
        elif example.info == "json Manifest":
            found["Manifest"].add(example.section)
    return found


@pytest.mark.parametrize("example", jsonl())
def test_a_line_of_an_example_reads_as_its_record(example: Example) -> None:
    """Each line of a record's example has a right checksum and decodes as that record, with no member of another."""
    kind = LINES[example.info.removeprefix("jsonl ")]
    for value, line in zip(values_of(example), framing.read(example.text.encode())[0], strict=True):
        if kind == dict[str, Any]:
            continue
        rendered = msgspec.json.decode(framing.frame(value))
        written = msgspec.json.decode(line.raw)
        assert {name: rendered[name] for name in rendered if name != "crc"} == {
            name: written[name] for name in written if name != "crc"
        }


def test_every_stored_record_has_an_example() -> None:
    """Each record type that stands in a file occurs in an example."""
    assert set(stored_types()) - set(sections_by_type()) == set()


@pytest.mark.parametrize("name", sorted(stored_types()))
def test_every_member_of_a_record_is_explained(name: str) -> None:
    """A section with an example of a record names each of its members between backticks."""
    fields = {field.encode_name for field in msgspec.structs.fields(stored_types()[name])}
    sections = sections_by_type()[name]
    missing = [fields - set(re.findall(r"`([a-z_0-9]+)`", section)) for section in sections]
    assert min(missing, key=len) == set()


def test_every_path_is_listed() -> None:
    """Each path of the layout stands in the table of all paths, with what kind of file it is."""
    rows = [line for line in ALL_TEXT.splitlines() if line.startswith("| `")]
    table = "\n".join(row for row in rows if re.search(r"\| (canonical|derived|neither)", row))
    apart = {
        "OVERVIEW",
        "NAVIGATION",
        "ZONES",
        "FOLDERS",
        "FORMAT",
        "WRITE_LOCK",
        "DREAM_LOCK",
        "INDEX_LOCK",
        "KEEPER_LOCK",
        "SERVE_LOCK",
    }
    paths = {name: value for name, value in vars(layout).items() if name.isupper() and name not in apart}
    missing = [value for value in paths.values() if f"`{value}" not in table]
    assert missing == []


@pytest.mark.parametrize(
    "path",
    [
        layout.KEEPER_LOCK,
        layout.WRITE_LOCK,
        layout.DREAM_LOCK,
        layout.INDEX_LOCK,
        *layout.ZONES,
        *layout.NAVIGATION,
    ],
)
def test_a_lock_zone_or_navigation_page_is_named(path: str) -> None:
    """Each lock's file, each zone and each page of navigation is named."""
    assert f"`{path}`" in ALL_TEXT


def test_what_the_pages_call_derived_is_what_reindex_removes() -> None:
    """The folders that the table calls wholly derived are those that reindex removes."""
    derived = re.findall(r"^\| (.*?) \| derived \|", ALL_TEXT, re.MULTILINE)
    named = {path.split("/")[0] for cell in derived for path in re.findall(r"`([^`]+)`", cell)}
    assert named == set(DERIVED)


@pytest.mark.parametrize("example", of_kind("markdown daylog", "markdown daylog rendered"))
def test_a_daily_log_reads_as_the_entries_beside_it(example: Example) -> None:
    """A daily log's example has no line that cannot be read, and holds the entries that follow it."""
    log = daylog.parse(example.text, "2026-07-01", calendar=CALENDAR)
    assert log.unparsed == ()
    expected = EXAMPLES[EXAMPLES.index(example) + 1]
    assert expected.info == "json entries"
    wanted = msgspec.json.decode(expected.text, type=tuple[Entry, ...])
    assert tuple(located.entry for located in log.entries) == wanted


@pytest.mark.parametrize("example", of_kind("markdown daylog rendered"))
def test_a_rendered_log_is_what_reverie_writes(example: Example) -> None:
    """A daily log's example that Reverie is said to have written is written again byte for byte."""
    log = daylog.parse(example.text, "2026-07-01", calendar=CALENDAR)
    entries = [located.entry for located in log.entries]
    assert daylog.render(entries, CALENDAR, first=True, day="2026-07-01") == example.text


def test_the_table_of_fields_is_the_codes() -> None:
    """The daily log's page lists the fields in the order in which they are written, and shows each in an example."""
    page = (DOCS / "format" / "daily-log.md").read_text(encoding="utf-8")
    table = page.partition("## Fields")[2].partition("```")[0]
    assert re.findall(r"^\| `([a-z]+)` \|", table, re.MULTILINE) == [field.name for field in FIELDS]
    assert {name for name in BY_NAME if f"({name}:: " not in page} == set()


def test_every_kind_of_event_is_explained() -> None:
    """The page of the state explains each kind of event and each word of feedback."""
    page = (DOCS / "format" / "state.md").read_text(encoding="utf-8")
    table = page.partition("| kind |")[2].partition("\n\n")[0]
    assert {word for word in (*KINDS, *FEEDBACK_WORDS) if f"`{word}`" not in table} == set()


@pytest.mark.parametrize("example", of_kind("markdown page"))
def test_a_page_reads_without_a_problem(example: Example) -> None:
    """A page's example has front matter with every field and a key of its writer's, and cites entries."""
    front = read_front(split(example.text).front)
    assert front.problems == ()
    assert front.other
    assert all(getattr(front, field) for field in FRONT_FIELDS)
    assert citations(example.text)


@pytest.mark.parametrize("field", FRONT_FIELDS)
def test_a_field_of_front_matter_is_explained(field: str) -> None:
    """Each field of a page's front matter is a row of its table."""
    assert f"| `{field}` |" in (DOCS / "format" / "notebook.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("example", of_kind("markdown block"))
def test_a_compiled_block_is_intact(example: Example) -> None:
    """An example with markers holds one block whose checksum says that nobody edited it."""
    block = find_block(example.text)
    assert isinstance(block, Block)
    assert block.intact


def test_a_line_of_memory_names_its_entry() -> None:
    """The example of MEMORY.md holds lines that name the entries they stand on."""
    (memory,) = (one for one in EXAMPLES if one.info == "markdown block" and "# Memory" in one.text)
    assert all(line.ids for line in cited_lines(memory.text))
    assert len(cited_lines(memory.text)) == 2


@pytest.mark.parametrize("example", of_kind("markdown log")[:1])
def test_the_log_of_the_notebook_states_its_watermark(example: Example) -> None:
    """The log's example holds the line of the run in the example of runs, as such a run adds it."""
    (runs,) = (one for one in EXAMPLES if one.info == "jsonl Run")
    (run,) = (one for one in values_of(runs) if one.watermark)
    assert watermark.log_line(run, "2026-07-02") in example.text.splitlines()


@pytest.mark.parametrize("example", of_kind("markdown summary")[:1])
def test_a_summary_reads_whole(example: Example) -> None:
    """A summary's example has its session, its section and lines that stand on entries and turns."""
    found = summary.parse(example.text)
    assert (found.day, found.session) == ("2026-07-01", "abc12345-77d0")
    (section,) = found.sections
    assert (section.first, section.last) == (0, 3)
    assert {bool(item.entry) for item in section.items} == {True, False}


@pytest.mark.parametrize("example", of_kind("text safe_name", "text every"))
def test_what_is_written_has_the_form_beside_it(example: Example) -> None:
    """Each name of the example has the file that stands beside it, each repetition the form that is stored."""
    form = safe_name if example.info == "text safe_name" else canonical
    pairs = [line.partition(" -> ") for line in example.text.splitlines()]
    assert [form(written) for written, _, _ in pairs] == [stored for _, _, stored in pairs]


@pytest.mark.parametrize("example", of_kind("toml settings"))
def test_settings_of_a_workspace_are_accepted(example: Example) -> None:
    """The example of reverie.toml holds nothing but what a workspace may set."""
    assert read_table(parse_toml(example.text, "reverie.toml"), "reverie.toml", stranger=True)


@pytest.mark.parametrize("example", of_kind("json Manifest"))
def test_the_manifest_reads(example: Example) -> None:
    """The manifest's example decodes as one."""
    assert msgspec.json.decode(example.text, type=transfer.Manifest).version == layout.FORMAT


@pytest.mark.parametrize("example", of_kind("python"))
def test_the_checksum_can_be_computed_as_the_page_says(example: Example) -> None:
    """The page's own program writes what the package reads, and accepts what the package writes."""
    program: dict[str, Any] = {}
    exec(example.text, program)  # noqa: S102 - the page's own program
    record = {"at": "2026-07-01T12:00:00Z", "text": '会议 "quoted"', "n": 3}
    assert program["frame"](record) == framing.frame(record)
    assert program["holds"](framing.frame(record))
    assert not program["holds"](framing.frame(record).replace(b"3", b"4", 1))


def test_no_example_goes_unread() -> None:
    """Every fenced block of the format pages is of a kind that a test reads, or a grammar."""
    read = {f"jsonl {name}" for name in LINES} | {
        *("json entries", "json Manifest", "python", "ebnf", "text safe_name", "text every", "toml settings"),
        *("markdown daylog", "markdown daylog rendered", "markdown page", "markdown block", "markdown log"),
        "markdown summary",
    }
    assert {example.info for example in EXAMPLES} - read == set()
