"""Each command does what its verb does, and answers people and programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from reverie.surface.cli.commands import COMMANDS

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Shell


@pytest.fixture
def tea(shell: Shell) -> str:
    """The id of an entry."""
    return shell.json("remember", "User likes tea", "--category", "preference", "--tag", "drinks")["id"]


@pytest.fixture
def quote(shell: Shell) -> str:
    """The id of a promise."""
    return shell.json("remember", "Send Dana the quote", "--due", "2099-07-10")["id"]


CALLS = [
    "capture s1 user hello",
    "end s1",
    "pause s1",
    "resume s1",
    "remember x",
    "note x",
    "correct {tea} coffee --why change",
    "feedback {tea} helpful",
    "judge {tea} 0.3",
    "used {tea}",
    "pin {tea}",
    "due",
    "done {quote}",
    "recall tea",
    "context tea",
    "list",
    "get {tea}",
    "why {tea}",
    "hide {tea}",
    "forget {tea}",
    "erase {tea} --yes",
    "exclude health",
    "extract",
    "drain",
    "compact",
    "digest",
    "dream --now",
    "publish",
    "lint",
    "consolidate",
    "log",
    "review list",
    "trust",
    "members",
    "status",
    "check",
    "reindex",
    "export {copy}",
    "import {talk}",
]
NEED_A_RUN = {"diff", "undo", "restore"}
ELSEWHERE = {
    "init",
    "demo",
    "mcp",
    "serve",
    "token",
    "take-back",
    "doctor",
    "completion",
    "install",
    "uninstall",
    "hook",
    *("dream-start", "dream-step", "dream-finish", "extract-start", "extract-submit"),
}


def test_every_command_is_called_here() -> None:
    """Each command has a call below, or a test of its own."""
    called = {call.split()[0] for call in CALLS} | NEED_A_RUN | ELSEWHERE
    assert called == {command.name for command in COMMANDS}


@pytest.mark.parametrize("call", CALLS)
def test_a_command_answers_programs_with_one_value(
    call: str, shell: Shell, tea: str, quote: str, tmp_path: Path
) -> None:
    """With `--json` a command prints one JSON value and nothing else, and exits 0."""
    talk = tmp_path / "talk.jsonl"
    talk.write_text('{"role": "user", "content": "hello"}\n')
    words = [word.format(tea=tea, quote=quote, talk=talk, copy=tmp_path / "copy") for word in call.split()]
    answer = shell.ok(*words, "--json")
    assert answer.err == ""
    assert isinstance(answer.value, dict | list)


@pytest.mark.parametrize("call", CALLS)
def test_a_command_answers_people_in_words(
    call: str, shell: Shell, tea: str, quote: str, tmp_path: Path
) -> None:
    """Without `--json` a command says in words what it did, and exits 0."""
    talk = tmp_path / "talk.jsonl"
    talk.write_text('{"role": "user", "content": "hello"}\n')
    answer = shell.ok(
        *[word.format(tea=tea, quote=quote, talk=talk, copy=tmp_path / "copy") for word in call.split()]
    )
    assert answer.err == ""
    assert answer.out.strip()
    assert not answer.out.startswith(("{", "["))


@pytest.mark.parametrize("name", sorted(NEED_A_RUN))
def test_a_run_that_is_not_there_exits_66(name: str, shell: Shell) -> None:
    """Looking back on a run, or to a time, that is not there exits 66."""
    when = "2020-01-01T00:00:00Z" if name == "restore" else "dream:20200101-000000"
    assert shell(name, when, "--json").value["error"]["class"] == "NotFound"


def test_an_entry_is_found_by_the_beginning_of_its_id(shell: Shell, tea: str) -> None:
    """Commands take the beginning of an id; one that is none exits 66."""
    assert shell.json("get", tea[:6])["text"] == "User likes tea"
    assert shell("get", "ffffffff").code in {66, 67}
    assert shell("get", "zzz").code == 66


def test_remember_takes_everything_a_draft_has(shell: Shell) -> None:
    """The options of `remember` reach the entry."""
    words = (
        "--category decision --tag a --tag b --sig 0.8 --conf 0.5 --who Mira --about tidewatch --from 2026-07"
    )
    more = "--until 2026-08-01 --by user --status discussed --session s1 --stare 0.9,,0.1,-,— --evidence words --key k1"
    found = shell.json("remember", "We use Redis", *words.split(), *more.split())
    entry = shell.json("get", found["id"])
    assert entry["tags"] == ["a", "b"]
    assert (entry["sig"], entry["conf"], entry["category"]) == (0.8, 0.5, "decision")
    assert (entry["who"], entry["about"], entry["from"], entry["until"]) == (
        "Mira",
        "tidewatch",
        "2026-07",
        "2026-08-01",
    )
    assert entry["stare"] == [0.9, None, 0.1, None, None]
    assert shell.json("remember", "We use Redis", "--key", "k1")["repeated"] is True
    assert shell("remember", "We use Kafka", "--key", "k1").code == 79


def test_a_text_is_read_from_standard_input(shell: Shell) -> None:
    """`-` stands for standard input, which must be UTF-8."""
    shell.ok("remember", "-", stdin="用户喜欢喝茶\n".encode())
    assert shell.json("list")[0]["text"] == "用户喜欢喝茶"
    assert shell("remember", "-", stdin=b"\xff").code == 64


def test_correcting_keeps_the_old_text_as_previous(shell: Shell, tea: str) -> None:
    """After a correction the new text is current, and the old one is listed with what replaced it on demand."""
    shell.ok("correct", tea, "User likes coffee", "--why", "mistake")
    assert [one["text"] for one in shell.json("list")] == ["User likes coffee"]
    assert "never was true" in shell.ok("list", "--previous").out


def test_promises_are_listed_done_and_put_off(shell: Shell, quote: str) -> None:
    """A promise is due until it is done, and then at the date it was put off to."""
    assert [one["part"] for one in shell.json("due")] == ["upcoming"]
    shell.ok("done", quote, "--until", "2099-08-01")
    assert shell.json("due")[0]["due"] == "2099-08-01"
    shell.ok("done", quote)
    assert shell.json("due") == []
    assert "Nothing is promised" in shell.ok("due").out


def test_hiding_is_by_id_or_by_filter(shell: Shell, tea: str) -> None:
    """`hide` shows what it would hide, hides it, and brings it back."""
    assert shell.json("hide", "--tag", "drinks", "--dry-run")["ids"] == [tea]
    assert len(shell.json("list")) == 1
    shell.ok("hide", "--tag", "drinks")
    assert shell.json("list") == []
    shell.ok("hide", "--tag", "drinks", "--unhide")
    assert len(shell.json("list")) == 1


def test_forgetting_says_where_bytes_remain(shell: Shell, tea: str) -> None:
    """`forget` hides an entry from every reader; with a dry run nothing changes."""
    assert shell.json("forget", tea, "--dry-run")["ids"] == [tea]
    assert len(shell.json("list")) == 1
    assert "forgotten: 1" in shell.ok("forget", tea).out
    assert shell.json("list") == []
    assert shell.json("recall", "tea")["hits"] == []


def test_erasing_asks_or_wants_yes(shell: Shell, tea: str) -> None:
    """`erase` without `--yes` does nothing where nobody can answer, and with it leaves no byte of the text."""
    shell.ok("drain")
    assert shell("erase", tea).code == 64
    shell.ok("erase", tea, "--dry-run")
    assert len(shell.json("list")) == 1
    shell.ok("erase", tea, "--yes")
    files = [path for path in shell.folder.rglob("*") if path.is_file()]
    assert not [path for path in files if b"User likes tea" in path.read_bytes()]


def test_consolidate_prints_its_line(shell: Shell, tea: str) -> None:
    """`consolidate` prints the line that scripts read, drains first, and a second run adds nothing."""
    assert shell.ok("consolidate", "--drain-only").out == (
        "consolidation: agent=memory facts_added=0 watermark=n/a dry_run=False drain_only=True promote_only=False\n"
    )
    shell.ok("capture", "s1", "user", "I prefer short answers.")
    first = shell.json("consolidate")
    assert first["stages"] == ["drain", "extract", "drain", "compact", "digest", "dream", "lint", "publish"]
    assert first["problems"] == []
    assert shell.json("consolidate")["facts_added"] == 0
    assert shell.json("consolidate", "--dry-run")["dry_run"] is True
    assert "\n  drain: 0 records queued\n" in shell.ok("consolidate", "--dry-run").out
    assert "\n  extract: 0 entries found in 0 spans\n" in shell.ok("consolidate", "--verbose").out
    after = shell.json("consolidate", "--after", "end")
    assert after["stages"] == ["drain", "extract", "drain", "digest", "publish"]
    assert {"stage": "extract", "said": "0 entries found in 0 spans", "idle": True} in after["told"]
    assert shell.ok("dream", "--now").out == "nothing: no entry of a closed day is pending\n"


def test_a_failed_drain_exits_2(shell: Shell, tea: str) -> None:
    """When the drain cannot store, `consolidate` and `drain` exit 2, and the queue is drained once it can."""
    queue = shell.folder / ".journal/draining"
    queue.rmdir()
    queue.write_bytes(b"in the way")
    for words in (("consolidate",), ("drain",)):
        answer = shell(*words)
        assert answer.code == 2
        assert answer.err.count("\n") == 1
    queue.unlink()
    assert shell.json("drain")["stored"] == 1


def test_a_failed_optional_stage_is_told_and_exits_0(shell: Shell, tea: str) -> None:
    """Another stage that fails is named on standard error and in `problems`, and the exit code stays 0."""
    digests = shell.folder / "digests"
    for path in digests.glob("*"):
        path.unlink()
    digests.rmdir()
    digests.write_bytes(b"in the way")
    answer = shell("consolidate", "--json")
    assert answer.code == 0
    assert "digest" in {one.partition(":")[0] for one in answer.value["problems"]}
    assert "reverie: digest:" in answer.err


def test_a_persons_memory_is_their_own(shell: Shell) -> None:
    """`--user` writes to the person's own memory, which the agent's does not show."""
    shell.ok("remember", "Dana likes tea", "--user", "Dana")
    assert shell.json("list") == []
    assert [one["text"] for one in shell.json("list", "--user", "Dana")] == ["Dana likes tea"]


def test_an_export_comes_back_whole(shell: Shell, tea: str, tmp_path: Path) -> None:
    """What `export` writes, `import` takes into a new workspace, entry for entry."""
    shell.ok("drain")
    shell.ok("export", str(tmp_path / "copy"))
    assert shell("export", str(tmp_path / "copy")).code == 64
    other = ("-w", str(tmp_path / "other"), "--config-dir", str(shell.config))
    assert shell.raw("init", *other).code == 0
    assert shell.raw("import", str(tmp_path / "copy"), *other).code == 0
    assert [one["id"] for one in shell.raw("list", *other, "--json").value] == [tea]
    assert shell("import", str(tmp_path / "absent.jsonl")).code == 66


def test_an_import_tells_what_it_set_aside(shell: Shell, tmp_path: Path) -> None:
    """Lines of an imported file that are no turns are told with their numbers, and the exit code says so."""
    talk = tmp_path / "talk.jsonl"
    talk.write_text(
        '{"role": "user", "content": "hello"}\n{"content": "x"}\n' + json.dumps({"role": "user"}) + "\n"
    )
    answer = shell("import", str(talk), "--json")
    told = answer.value
    assert (answer.code, told["turns"], [one["place"] for one in told["skipped"]]) == (65, 1, [2, 3])
    assert shell("import", str(talk), "--json").value["repeated"] == 1


def test_what_was_refused_waits_for_a_word(shell: Shell) -> None:
    """A refused line is listed by `review`, shown whole with what each verdict does, and gone once rejected."""
    shell("capture", "s1", "-", stdin=b"hello\n")
    (item,) = shell.json("review", "list")
    assert item["topic"] == "quarantine"
    assert "hello" in shell.ok("review", "show", item["id"][:6]).out
    assert "rejected" in shell.ok("review", "reject", item["id"]).out
    assert shell.json("review", "list") == []
    assert shell("review", "show", item["id"]).code == 66


def test_a_check_that_finds_an_error_exits_1(shell: Shell, tea: str) -> None:
    """`check` exits 0 while everything holds and 1 when a file is damaged, naming it."""
    assert shell("check").code == 0
    (segment,) = (shell.folder / ".journal/segments").glob("*.jsonl")
    segment.write_bytes(segment.read_bytes().replace(b"likes", b"hates"))
    answer = shell("check", "--json")
    assert answer.code == 1
    assert any(segment.name in one["place"] for one in answer.value)


def test_a_list_says_what_it_leaves_out(shell: Shell, tea: str) -> None:
    """`list` says how many it leaves out and the flag that shows them; `--json` holds entries alone."""
    shell("hide", tea)
    assert shell("list").out == "No entries.\nleft out: 1 hidden (--hidden)\n"
    assert shell.json("list") == []
    assert "left out" not in shell("list", "--hidden").out


def test_letting_go_by_a_filter_says_how_things_stand(shell: Shell, tea: str) -> None:
    """Letting go by a filter, and taking that back, shows entries as they are then, and says where nothing matches."""
    named = ("--tag", "drinks")
    assert "(hidden)" in shell("hide", *named).out
    back = shell("hide", *named, "--unhide").out
    assert back.startswith("brought back: 1\n")
    assert "(hidden)" not in back
    assert shell("hide", *named, "--unhide").out == "brought back: 0\nno entry that is hidden matches\n"
    assert shell("forget", *named).out.startswith("forgotten: 1\n")
    assert shell("forget", *named).out == "forgotten: 0\nno entry that is shown or hidden matches\n"
    (gone,) = shell.json("list", "--forgotten")
    assert (gone["id"], gone["deed"], "tea" in str(gone)) == (tea, "forget", False)
    assert tea in shell("list", "--forgotten").out
    again = shell("forget", *named, "--restore").out
    assert again.startswith("remembered again: 1\n")
    assert "User likes tea" in again
    shell("forget", *named)
    assert shell("erase", *named, "--yes").out.startswith("erased: 1\n")
    nothing = "erased: 0\nno entry that is shown, hidden or forgotten matches\n"
    assert shell("erase", *named, "--yes").out == nothing
    assert shell("list", "--forgotten").out == "Nothing is forgotten.\n"
