"""Settings of another program are changed in one place, and every other byte stays."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.adapters.claude_code import with_hooks, without_hooks
from reverie.adapters.claude_code_events import EVENTS
from reverie.core.formats.json_edit import parse, without
from reverie.errors import UsageError

LINES = {event: f"/usr/bin/reverie hook {event}" for event in EVENTS}
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)
SETTINGS = [
    "{}",
    "{ }",
    "{\n}\n",
    '{"model": "opus"}',
    '{\n  "model": "opus"\n}',
    '{\r\n\t"model": "opus",\r\n\t"zzz": [1,2,  3]\r\n}\r\n',
    '\ufeff{\n    // mine\n    "a": 1 /* and why */,\n    "b": "{,}" // last\n}\n',
    '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}, "a": null}',
    '{\n  "hooks": {\n    "PreToolUse": [\n      {"matcher": "Bash", "hooks": []}\n    ]\n  }\n}\n',
    '{"a": "日本 \\u00e9 \\"hooks\\"", "é": {}}',
    '{\n  "a": [1, 2,],\n  "b": 1,\n}\n',
]


def bare(text: str) -> str:
    """Return a text without blanks, and without commas at the end of something."""
    return "".join(text.split()).replace(",}", "}").replace(",]", "]")


@pytest.mark.parametrize("text", SETTINGS)
def test_hooks_go_in_and_out_without_a_trace(text: str) -> None:
    """Hooks join what the settings hold, a second time changes nothing, and taken out they leave all as it was."""
    changed = with_hooks(text, LINES)
    assert with_hooks(changed, LINES) == changed
    before, after = parse(text).plain(), parse(changed).plain()
    assert [name for name in after if name != "hooks"] == [name for name in before if name != "hooks"]
    assert all(after[name] == before[name] for name in before if name != "hooks")
    for event, groups in before.get("hooks", {}).items():
        assert after["hooks"][event][: len(groups)] == groups
    for event, line in LINES.items():
        assert sum(one["command"] == line for group in after["hooks"][event] for one in group["hooks"]) == 1
    for mark in ("// mine", "/* and why */", "// last"):
        assert (mark in changed) == (mark in text)
    assert bare(without_hooks(changed)) == bare(text)
    if ",\n}" in text:
        return  # a comma too many goes along, which JSON does not have either
    if text.strip("\ufeff \r\n{}") and "hooks" not in before:
        assert without_hooks(changed) == text


@pytest.mark.slow
@given(st.dictionaries(st.text(max_size=5), PLAIN, max_size=4), st.sampled_from([None, 1, 2, 4, "\t"]))
def test_any_settings_keep_what_they_hold(value: dict[str, Any], indent: Any) -> None:
    """Whatever JSON object a file holds, however it is written, nothing of it is lost by going in and out."""
    value.pop("hooks", None)
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    changed = with_hooks(text, LINES)
    held = json.loads(changed)
    assert set(held.pop("hooks")) == set(EVENTS)
    assert held == value
    assert json.loads(without_hooks(changed)) == value
    assert parse(text).plain() == value


@pytest.mark.parametrize(
    "text",
    [
        '{\n "hooks": {},\n // mine\n "model": "opus"\n}\n',
        '{"hooks": {}, /* mine */ "model": "opus"}',
        '{\n "hooks": {\n  // mine\n }\n}\n',
        '{\n "hooks": {\n  "Stop": [ // mine\n  ]\n }\n}\n',
        '{\n "hooks": {\n  "Stop": [{/* mine */ "hooks": []}]\n }\n}\n',
        '{\n // mine\n "hooks": {}\n}\n',
        '{\n "model": "opus", // mine\n "hooks": {}\n}\n',
    ],
)
def test_no_comment_goes_with_our_hooks(text: str) -> None:
    """What a person wrote beside hooks that were empty stays when ours are taken out of them again."""
    left = without_hooks(with_hooks(text, LINES))
    assert "mine" in left
    assert "reverie" not in left
    assert parse(left).plain().get("model") == parse(text).plain().get("model")


@given(st.data())
def test_any_item_goes_alone(data: st.DataObject) -> None:
    """Whatever blanks, comments and last commas stand around, one member goes and every other byte of sense stays."""
    gap = st.sampled_from(("", " ", "\n ", "// x\n", "/* y */", " // z\n  "))
    names = range(data.draw(st.integers(1, 3)))
    last = data.draw(st.sampled_from(("", ",")))
    items = [f'{data.draw(gap)}"{name}": {name}{data.draw(gap)}' for name in names]
    text = f"{{{','.join(items)}{last}{data.draw(gap)}}}"
    place = data.draw(st.sampled_from(names))
    left = without(text, parse(text), place=place)
    assert parse(left).plain() == {str(name): name for name in names if name != place}
    for remark in ("// x", "/* y */", "// z"):
        assert left.count(remark) == text.count(remark)


def test_an_absent_file_gets_hooks_alone() -> None:
    """Settings begin with nothing but the hooks, as JSON."""
    assert list(json.loads(with_hooks("", LINES))) == ["hooks"]
    assert list(json.loads(with_hooks("", LINES))["hooks"]) == list(EVENTS)
    assert json.loads(without_hooks(with_hooks("", LINES))) == {}


def test_hooks_of_another_installation_are_replaced_in_place() -> None:
    """A hook of ours with another command line is rewritten where it stands, doubled ones go, and others' stay."""
    old = {
        "hooks": {
            "Stop": [
                {
                    "hooks": [
                        {"command": "mine.sh", "type": "command"},
                        {"command": "python -m reverie hook Stop"},
                    ]
                },
                {"matcher": "x", "hooks": [{"command": "'/my apps/reverie' hook Stop -w /a", "timeout": 7}]},
            ],
            "Other": [{"hooks": [{"command": "reverie hook SessionStart"}]}],
        }
    }
    changed = json.loads(with_hooks(json.dumps(old), LINES))
    assert changed["hooks"]["Stop"] == [
        {"hooks": [{"command": "mine.sh", "type": "command"}, {"command": LINES["Stop"]}]}
    ]
    left = json.loads(without_hooks(json.dumps(changed)))
    assert left == {"hooks": {"Stop": [{"hooks": [{"command": "mine.sh", "type": "command"}]}]}}


@pytest.mark.parametrize(
    "line", ["my-reverie hook Stop", "reverie hooks Stop", "echo reverie", "notreverie hook Stop"]
)
def test_what_is_not_ours_stays(line: str) -> None:
    """A command that only looks like ours is somebody else's."""
    text = json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": line}]}]}})
    assert without_hooks(text) == text
    assert without_hooks(with_hooks(text, LINES)) == text


@pytest.mark.parametrize(
    "text",
    [
        "{", '{"a": 1', "[]", "3", '"x"', "{'a': 1}", '{"a" 1}', '{"a": 1} x', '{"a": }', '{"hooks": []}', "nul",
        '{"hooks": {"Stop": {}}}', '{"hooks": 1}', '{"a": 01}', "[" * 5_000, '{"a":' * 5_000, '{"a": "\n"}', "\0",
        '{"a": "x', "/* {}", '{"a": 1,,}',
    ],
)  # fmt: skip
def test_what_is_no_settings_is_refused(text: str) -> None:
    """Broken JSON, other JSON and hooks of another shape are refused with a sentence; nothing is guessed."""
    with pytest.raises(UsageError):
        with_hooks(text, LINES)


@given(st.text(alphabet='{}[]",:1a \n\\/*', max_size=40))
def test_whatever_is_taken_for_json_is_json(text: str) -> None:
    """Any text is read as the standard reader reads it, or refused; without comments and last commas, that is."""
    try:
        value = parse(text).plain()
    except UsageError:
        with pytest.raises(json.JSONDecodeError):
            json.loads(text)
        return
    try:
        assert json.loads(text) == value
    except ValueError:
        assert any(mark in text for mark in ("//", "/*", ","))
