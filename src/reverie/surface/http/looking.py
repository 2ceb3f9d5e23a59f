"""The operations that look back and around: runs, what waits for a word, status, files.

Owns what they take and give; promises that each is one line to a verb, and that a file is read through the mask of what
is forgotten; never changes what is remembered.
"""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import unquote

import msgspec
from msgspec import Meta

from reverie.check import Finding
from reverie.errors import NotFound
from reverie.memory import Memory
from reverie.status import Status
from reverie.surface import results
from reverie.surface.http import shapes
from reverie.surface.http.operations import Cursor, File, Limit, Nothing, Operation, Takes
from reverie.surface.http.paging import page
from reverie.surface.mcp.resources import ROOT, Resource, read_resource, resources, uri_of


class _Pages(Takes, frozen=True, kw_only=True):
    limit: Limit = 100
    cursor: Cursor = ""


class _Run(Takes, frozen=True, kw_only=True):
    run: Annotated[str, Meta(description="The run's name, as the list of runs has it.", min_length=1)]


class _Item(Takes, frozen=True, kw_only=True):
    id: Annotated[str, Meta(description="The item's id, or the beginning of it.", min_length=1)]


class _File(Takes, frozen=True, kw_only=True):
    path: Annotated[str, Meta(description="MEMORY.md, archive/DAY.md, or notebook/ and a page's path.")]


def _log(memory: Memory, given: _Pages) -> shapes.Runs:
    found = memory.log(limit=1_000_000)
    return shapes.Runs(
        *page(found, given.limit, cursor=given.cursor, key=lambda one: one.run, form=lambda one: one)
    )


def _review(memory: Memory, given: _Pages) -> shapes.Review:
    found = memory.review()
    return shapes.Review(
        *page(found, given.limit, cursor=given.cursor, key=lambda one: one.id, form=results.waiting)
    )


def _show(memory: Memory, given: _Item) -> results.Waiting:
    (item,) = memory.review(given.id)
    return results.waiting(item)


def _files(memory: Memory, given: _Pages) -> shapes.Files:
    found = list(resources(memory))
    return shapes.Files(
        *page(found, given.limit, cursor=given.cursor, key=lambda one: one.name, form=_file_json)
    )


def _file_json(one: Resource) -> shapes.FileName:
    return shapes.FileName(path=unquote(one.uri.removeprefix(ROOT)), title=one.title, what=one.what)


def _file(memory: Memory, given: _File) -> File:
    try:
        return File(read_resource(memory, uri_of(given.path)))
    except NotFound:
        raise NotFound(f"there is no file {given.path[:200]!r}: list those there are") from None


def _status(memory: Memory, _: Nothing) -> dict[str, Any]:
    told: dict[str, Any] = msgspec.to_builtins(memory.status(), str_keys=True)
    return told | {"workspace": ""}  # where the memory lies is nobody's business but the server's


LOOKING = (
    Operation(
        id="log",
        method="get",
        path="/runs",
        summary="List the latest runs, newest first.",
        right="read",
        takes=_Pages,
        gives=shapes.Runs,
        run=_log,
    ),
    Operation(
        id="diff",
        method="get",
        path="/runs/{run}/diff",
        summary="Show what a run changed, as a unified diff.",
        right="read",
        takes=_Run,
        gives=results.Diff,
        example={"run": "dream:20260702-030000"},
        run=lambda memory, given: results.Diff(given.run, memory.diff(given.run)),
    ),
    Operation(
        id="review",
        method="get",
        path="/review",
        summary="List what waits for a person's word.",
        right="read",
        takes=_Pages,
        gives=shapes.Review,
        run=_review,
    ),
    Operation(
        id="show",
        method="get",
        path="/review/{id}",
        summary="Show one item that waits for a person's word, whole.",
        right="read",
        takes=_Item,
        gives=results.Waiting,
        example={"id": "2b47366a861a87ca"},
        run=_show,
    ),
    Operation(
        id="status",
        method="get",
        path="/status",
        summary="Show where everything stands, and what needs attention with its remedy.",
        right="read",
        gives=Status,
        bare=True,
        unplaced=True,
        run=_status,
    ),
    Operation(
        id="check",
        method="get",
        path="/check",
        summary="Verify every file, and say what does not hold.",
        right="read",
        gives=list[Finding],
        named="findings",
        long=True,
        bare=True,
        unplaced=True,
        run=lambda memory, _: memory.check(),
    ),
    Operation(
        id="files",
        method="get",
        path="/files",
        summary="List the files that may be read: MEMORY.md, the notebook's pages, the daily logs.",
        right="read",
        takes=_Pages,
        gives=shapes.Files,
        run=_files,
    ),
    Operation(
        id="file",
        method="get",
        path="/files/{path:path}",
        summary="Read a file, through the mask of what is forgotten and without the entries that are hidden.",
        right="read",
        takes=_File,
        gives=File,
        example={"path": "MEMORY.md"},
        run=_file,
    ),
)
