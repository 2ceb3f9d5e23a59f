"""Problems: every error of the tree and every refusal, with what to do, and nothing that is nobody's business."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from reverie.errors import ReverieError, Untrusted
from reverie.surface.http.problems import KINDS, MEDIA, Refusal, problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from http_world import World


def test_no_folder_of_the_machine_is_named(world: World) -> None:
    """Neither answers nor problems name the folder in which the memory lies."""
    answers = [
        world.ask("GET", "/status"),
        world.ask("GET", "/check"),
        world.ask("POST", "/forget", json={"ids": [world.entry]}),
        world.ask("PATCH", "/settings", json={"settings": {"index_url": "x"}}),
        world.ask("GET", "/entries/ffff"),
        world.ask("POST", "/members", json={"add": "/etc"}),
    ]
    (world.home / "config" / "key").unlink()
    world.hosted.drop(world.name)
    answers += [world.ask("GET", "/status"), world.ask("GET", "/entries")]
    for response in answers:
        assert str(world.home) not in response.text


def test_a_folder_is_not_named_as_it_is_typed_either() -> None:
    """A folder that stands quoted in a command to type is called by its name like any other, quotes and all."""
    folder = Path("/home/dana/dana's notes")
    error = Untrusted(f"{folder} was not made here: run `reverie trust {shlex.quote(str(folder))}`")
    told = problem(error, (("<workspace>", folder),)).detail
    assert told == "<workspace> was not made here: run `reverie trust <workspace>`"


def errors(kind: type[ReverieError] = ReverieError) -> Iterator[type[ReverieError]]:
    """Yield every error of the tree."""
    for one in kind.__subclasses__():
        yield one
        yield from errors(one)


@pytest.mark.parametrize("kind", list(errors()))
def test_each_error_is_a_problem(kind: type[ReverieError]) -> None:
    """Each error of the tree has its status, its exit code, its sentence and something to do."""
    told = problem(kind("something is wrong: mend it"))
    assert (told.kind, told.status, told.exit_code) == (kind.__name__, kind.http_status, kind.exit_code)
    assert told.detail == "something is wrong: mend it"
    assert told.retryable == kind.retryable
    assert told.title
    assert told.remedy


def test_an_error_nobody_expected_tells_no_more_than_its_class() -> None:
    """The words of an error that is a fault of ours, which may hold anything, are not told."""
    told = problem(ValueError("the secret"))
    assert told.status == 500
    assert "secret" not in str(told)


def test_a_fault_of_ours_does_not_end_the_server(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A verb that fails unexpectedly is answered by a problem, and the next request is served."""

    def broken(*_: Any, **__: Any) -> Any:
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr("reverie.memory.Memory.due", broken)
        response = world.ask("GET", "/due")
    assert response.status_code == 500
    assert response.headers["content-type"] == MEDIA
    assert world.ask("GET", "/due").status_code == 200


def test_what_can_be_tried_again_says_when(world: World) -> None:
    """A problem with a chance has `Retry-After`, and one without has none."""
    with world.memory() as memory, memory.opened.ws.locks.dream(1, what="a test"):
        response = world.ask("POST", "/dream", json={"now": True})
    assert (response.status_code, response.json()["class"]) == (409, "Busy")
    assert response.headers["retry-after"] == "1"
    assert "retry-after" not in world.ask("GET", "/entries/ffff").headers


def test_each_refusal_says_what_to_do() -> None:
    """Each refusal that is HTTP's own has a title and a remedy, and is told as such."""
    for name, kind in KINDS.items():
        told = problem(Refusal(name, "so it is"))
        assert (told.kind, told.status, told.remedy) == (name, kind.status, kind.remedy)


def test_a_method_that_is_not_taken_is_told_which_are(world: World) -> None:
    """An address answers a method it does not take by 405, and names those it takes."""
    response = world.ask("DELETE", "/entries")
    assert response.status_code == 405
    assert response.headers["allow"] == "GET, HEAD, POST"


def test_nothing_open_holds_what_was_erased(world: World) -> None:
    """After an erase every memory of the workspace is closed, so that none goes on holding the text."""
    world.value("POST", "/recall", json={"query": "tea"})
    assert world.hosted.open > 0
    world.value("POST", "/erase", json={"ids": [world.entry]})
    assert world.hosted.open == 0
    assert world.value("POST", "/recall", json={"query": "tea"})["hits"] == []
