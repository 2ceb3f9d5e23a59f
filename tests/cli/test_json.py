"""What commands answer with `--json` is what the schema says, and no more."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from reverie.surface.cli.answers import ANSWERS, NO_ANSWER
from reverie.surface.cli.commands import COMMANDS
from reverie.surface.cli.json_reference import json_schema
from reverie.surface.cli.main import load

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Shell

WHOLE = json_schema()
# Calls whose values differ in form; {tea} and {quote} are ids, {run} is a run, {item} something that waits.
CALLS = """
capture s1 user hello|capture s1 -|end s1|pause s1|resume s1|pause|resume
remember x|remember secret --category work --tag a --sig 0.4|note x
correct {tea} coffee --why change|feedback {tea} helpful|judge {tea} 0.3 --why said|used {tea}|pin {tea}
take-back {event}
due|done {quote}
recall tea|recall hello --kind turn|recall nothing-at-all|context tea|context --session s1|list|get {tea}|why {tea}
why {turn}|hide {tea}|hide {tea} --dry-run|forget {tea} --dry-run|erase {tea} --dry-run|exclude tea --preview
extract|drain|compact|compact s1|digest|dream|dream --now|dream --now --dry-run|publish|lint|lint --fix
consolidate|consolidate --drain-only|consolidate --dry-run|consolidate --after end|consolidate --people
log|diff {run}|review list|review show {item}|review reject {item}
init|trust|status|doctor|check|check --repair|members|members --add 0123456789abcdef|reindex|export {out}
import {conversation} --dry-run|import {conversation}|completion bash
token add phone --days 3|token list|token remove phone
undo {run}|restore {run}
forget {tea}|erase {quote} --yes
"""

LENT = {
    "dream-start",
    "dream-step",
    "dream-finish",
    "extract-start",
    "extract-submit",
}  # test_lending validates them


def validated(command: str, value: Any) -> None:
    """Hold a value against the schema of its command."""
    schema = {**WHOLE["commands"][command], "$defs": WHOLE["$defs"]}
    jsonschema.validate(value, schema, cls=jsonschema.Draft202012Validator)


def test_each_command_has_a_schema() -> None:
    """Each command, and each command of a group, has a schema or a reason why it has none."""
    names = set()
    for command in COMMANDS:
        inner = getattr(load(command.name), "commands", {})
        names |= {f"{command.name} {name}" for name in inner} or {command.name}
    assert names == set(ANSWERS) | set(NO_ANSWER)
    assert not set(ANSWERS) & set(NO_ANSWER)


def test_the_schema_is_one() -> None:
    """The file is a valid JSON schema in which every reference leads somewhere."""
    jsonschema.Draft202012Validator.check_schema(WHOLE)
    text = json.dumps(WHOLE)
    referred = {part.split('"')[0] for part in text.split('"#/$defs/')[1:]}
    assert referred <= set(WHOLE["$defs"])


@pytest.mark.slow
def test_every_answer_is_what_the_schema_says(shell: Shell, tmp_path: Path) -> None:
    """Every command's value, in each of its forms, has the members of its schema and no other."""
    shell.ok("capture", "s0", "user", "I moved to Lisbon. My sister Mira works at Lindqvist Rail.")
    shell.ok("end", "s0")
    shell.ok("consolidate")
    tea = shell.json("remember", "User likes tea", "--category", "preference")["id"]
    quote = shell.json("remember", "Send Dana the quote", "--due", "2099-07-10")["id"]
    shell.ok("remember", "User likes green tea")
    conversation = tmp_path / "talk.jsonl"
    conversation.write_text('{"role": "user", "content": "I like bees."}\n{"role": "nobody"}\n')
    shell.ok("consolidate")
    dreamt = shell.json("dream", "--now", "--set", "dream.min_facts=1")
    shell.ok("remember", "Aside", "--user", "Dana")
    shell("capture", "s9", "-", stdin=b'{"role": "nobody"}\n')
    seen = set()
    for words in CALLS.replace("\n", "|").strip("|").split("|"):
        items = shell.json("review", "list")
        runs = shell.json("log")
        hits = shell.json("recall", "hello", "--kind", "turn")["hits"]
        history = shell.json("get", tea)["history"] if words.endswith("{event}") else []
        told = {
            "{tea}": tea,
            "{quote}": quote,
            "{event}": history[-1]["id"] if history else "",
            "{run}": runs[0]["run"] if runs else dreamt["runs"][0] if dreamt["runs"] else "",
            "{item}": items[0]["id"] if items else "",
            "{turn}": hits[0]["id"] if hits else "",
            "{out}": str(tmp_path / "out"),
            "{conversation}": str(conversation),
        }
        call = [told.get(word, word) for word in words.split(" ")]
        if "" in call:
            continue  # nothing of that kind is there
        stdin = b'{"role": "user", "content": "one"}\n{"role": "nobody"}\n' if call[-1] == "-" else b""
        answer = shell(*call, "--json", stdin=stdin)
        name = " ".join(call[:2]) if call[0] in {"review", "token"} else call[0]
        if answer.code in {0, 1, 65} and "error" not in answer.value:
            validated(name, answer.value)
            seen.add(name)
        else:
            jsonschema.validate(answer.value, {**WHOLE["error"], "$defs": WHOLE["$defs"]})
    rest = set(ANSWERS) - seen - LENT
    assert rest <= {"serve", "install", "uninstall", "undo", "restore", "diff", "review accept"}, rest


def test_an_error_is_what_the_schema_says(shell: Shell) -> None:
    """An error's value has the members of the schema's error."""
    answer = shell("get", "ffff", "--json")
    assert answer.code == 66
    jsonschema.validate(answer.value, {**WHOLE["error"], "$defs": WHOLE["$defs"]})


@pytest.mark.slow
def test_a_member_too_many_is_found() -> None:
    """The schema refuses a member that it does not name, and the lack of one that is always there."""
    whole = {"id": "0123456789abcdef", "status": "QUEUED"}
    validated("feedback", whole)
    for wrong in ({**whole, "more": 1}, {"status": "QUEUED"}):
        with pytest.raises(jsonschema.ValidationError):
            validated("feedback", wrong)
