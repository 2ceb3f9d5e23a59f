"""What each setting accepts, wherever it stands, and the sentence that refuses anything else."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import Places, held

from reverie import config
from reverie.core.settings.keys import Key, toml
from reverie.core.settings.sources import read_environment
from reverie.core.settings.value import KEYS
from reverie.errors import BadSettings

ALL = list(KEYS.values())


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("[dream]\nmin_fact = 3", "dream.min_facts"), ("min_facts = 3", "dream.min_facts"),
        ("[dreams]\nmin_facts = 3", "dream.min_facts"), ("[publish]\nmin_facts = 3", "dream.min_facts"),
        ('notebook_path = "x"', "notebook.path"), ('timezone = "UTC"', "zone"), ("redact = true", "redaction"),
        ("memory_consolidation_max_days = 3", "dream.max_days"), ('"dream.min_facts" = 3', "dream.min_facts"),
        ("memory.session_summary.turns_per_summary = 6", "summaries.turns_per_summary"),
        ("memory.compilation.max_week_tokens = 6", "summaries.max_week_tokens"),
    ],
)  # fmt: skip
def test_an_unknown_key_comes_with_a_suggestion(places: Places, text: str, meant: str) -> None:
    """A misspelled, misplaced or seed's key is an error that names the file and the key that was meant."""
    places.mine(text)
    message = places.refusal()
    assert message.startswith(f"{places.user}/config.toml: ")
    assert message.endswith(f"did you mean {meant}?")


@pytest.mark.parametrize(
    "text", ['endpoint = "x"', "[weather]\nsunny = true", "[reranking]", '"\\u001b[31m\\n" = 1']
)
def test_an_unknown_key_without_likeness_is_an_error_too(places: Places, text: str) -> None:
    """Where nothing is alike, the error says where the keys are listed, and prints no control sequence."""
    places.mine(text)
    message = places.refusal()
    assert message.endswith("is no setting; remove it, or see docs/reference/settings.md for those there are")
    assert message.isprintable()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('dream.min_facts = "many"', "'many'; write a whole number from 0 to 100_000, such as: dream.min_facts = 20"),
        ("dream.min_facts = 1.5", "1.5; write a whole number"), ("dream.min_facts = -1", "-1; write a whole number"),
        ("dream.min_facts = true", "true; write a whole number"), ("dream.max_days = 0", "0; write a whole number"),
        ("facts.min_importance = nan", "nan; write a number from 0 to 1"), ("lock_wait_seconds = inf", "inf; write"),
        ("enabled = 1", "1; write true or false, such as: enabled = true"), ('enabled = "yes"', "'yes'; write true"),
        ('durability = "maybe"', "'maybe'; write one of \"full\", \"os\""), ("model = 3", "3; write a text"),
        ('model = ""', "''; write a text"), ('model = "a\\nb"', "'a\\nb'; write a text"),
        ('exclusions = "health"', "'health'; write a list of texts"), ("exclusions = [1]", "[1]; write a list"),
        ('exclusions = [""]', "['']; write a list"), ("enabled.x = 1", "{'x': 1}; write true or false"),
        ('zone = "Mars/Olympus"', "'Mars/Olympus'; write an IANA"), ('zone = "../etc/passwd"', "write an IANA"),
        ('zone = "/etc/localtime"', "write an IANA"), ('day_starts_at = "4:00"', "write a time of day"),
        ('day_starts_at = "24:00"', 'write a time of day, such as: day_starts_at = "04:00"'),
        ("day_starts_at = 04:00:00", "04:00:00; write a time of day"), ("dream = 5", "5, but it is a table"),
        ('notebook.path = "/srv/vault"', "write a folder inside"), ('notebook.path = "a/../../b"', "write a folder"),
        ('notebook.path = ".state"', "write a folder inside"), ('notebook.path = "Sessions/x"', "write a folder"),
        ('notebook.path = "~/vault"', "write a folder"), ('notes.globs = ["/etc/*"]', "write a list of patterns"),
        ('notes.globs = ["../*"]', "write a list of patterns"), ('notes.globs = ["a\\\\..\\\\b"]', "write a list"),
    ],
)  # fmt: skip
def test_a_wrong_value_says_what_is_right(places: Places, line: str, expected: str) -> None:
    """A value of the wrong type or range names the file, the key, the value, what is accepted and an example."""
    places.mine(line)
    message = places.refusal()
    assert message.startswith(
        f"{places.user}/config.toml: {re.match(r'[a-z_.]+[a-z]', line)[0].removesuffix('.x')} is "
    )
    assert expected in message


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a = = 1", 1),
        ("enabled = true\nzone = \n", 2),
        ("\n\nx = [1,\n2", 4),
        ("a = 1\na = 2", 2),
        ('zone = "x', 1),
    ],
)
def test_a_syntax_error_names_the_line(places: Places, text: str, line: int) -> None:
    """A file that is no TOML is refused with its name and the line."""
    places.mine(text)
    assert places.refusal().startswith(f"{places.user}/config.toml:{line}: ")


@pytest.mark.parametrize(
    "text", ["x = " + "[" * 50_000, f"dream.min_facts = {'9' * 5_000}", "\x00", "x = 2026-02-31"]
)
def test_a_monstrous_file_is_refused_like_any_other(places: Places, text: str) -> None:
    """Nesting without end, endless digits and NULs end in the same error as every wrong file."""
    places.theirs(text)
    assert len(places.refusal()) < 400


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "ignore")))
def test_any_file_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    """Whatever bytes stand in reverie.toml, the answer is settings or BadSettings."""
    folder = tmp_path_factory.mktemp("any")
    (folder / "reverie.toml").write_bytes(data)
    refusal = ""
    try:
        config.load(workspace=folder, config_dir=folder, environment={"TZ": "UTC"})
    except BadSettings as error:
        refusal = str(error)
    assert "\n" not in refusal


@pytest.mark.parametrize(
    ("name", "text", "key", "value"),
    [
        ("ENABLED", "off", "enabled", False), ("ENABLED", " YES ", "enabled", True), ("ENABLED", "0", "enabled", False),
        ("DREAM_MIN_FACTS", " 1_000 ", "dream.min_facts", 1000), ("LOCK_WAIT_SECONDS", "2", "lock_wait_seconds", 2.0),
        ("EXCLUSIONS", "health, love life", "exclusions", ("health", "love life")),
        ("REDACTION_ALLOW", '["a{1,2}", "b"]', "redaction_allow", ("a{1,2}", "b")),
        ("NOTES_GLOBS", "[0-9]*.md,notes/*", "notes.globs", ("[0-9]*.md", "notes/*")),
        ("EXCLUSIONS", "", "exclusions", ()), ("DREAM_MIN_FACTS", "", "dream.min_facts", 20),
    ],
)  # fmt: skip
def test_variables_are_read_by_type(places: Places, name: str, text: str, *, key: str, value: object) -> None:
    """A variable is read as its key's type; lists are parted by commas or written as in TOML; empty is not set."""
    places.environment["REVERIE_" + name] = text
    found = held(places.load(), KEYS[tuple(key.split("."))])
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("REVERIE_DREAM_MINFACTS", "3", "did you mean REVERIE_DREAM_MIN_FACTS?"),
        ("REVERIE_DREAM_MIN_FACTS", "3.5", "a whole number from 0 to 100_000, such as REVERIE_DREAM_MIN_FACTS=20"),
        ("REVERIE_ENABLED", "maybe", "write true or false, such as REVERIE_ENABLED=true"),
        ("REVERIE_LOCK_WAIT_SECONDS", "nan", "write a number from 0 to 600"),
        ("REVERIE_ZONE", "Mars", "such as REVERIE_ZONE=Europe/Berlin"),
        ("REVERIE_EXCLUSIONS", '["a', "write a list of texts"), ("REVERIE_EXCLUSIONS", "a,,b", "write a list of texts"),
        ("REVERIE_MODEL", "a\udce9", "write a text"), ("REVERIE_AUTO_REFRESH_DISABLED", "2", "write true or false"),
    ],
)  # fmt: skip
def test_a_wrong_variable_is_named(places: Places, name: str, text: str, expected: str) -> None:
    """A variable that is none of ours or has a wrong value is an error that names it."""
    places.environment[name] = text
    message = places.refusal()
    assert message.startswith(f"the environment's {name} is ")
    assert expected in message


def test_the_seeds_variables_work(places: Places) -> None:
    """REVERIE_COMMITMENT_COMPILE and REVERIE_AUTO_REFRESH_DISABLED act as in the seed; the key's own name wins."""
    places.environment |= {"REVERIE_COMMITMENT_COMPILE": "true", "REVERIE_AUTO_REFRESH_DISABLED": "1"}
    assert places.load().publish.commitments
    assert not places.load().publish.auto_refresh
    places.environment |= {"REVERIE_PUBLISH_COMMITMENTS": "false", "REVERIE_AUTO_REFRESH_DISABLED": "0"}
    assert not places.load().publish.commitments
    assert places.load().publish.auto_refresh


def test_variables_of_a_cluster_are_nobodys_settings() -> None:
    """What Kubernetes and Docker set beside a service called reverie is passed over."""
    told = ["SERVICE_HOST", "SERVICE_PORT", "SERVICE_PORT_HTTP", "PORT", "PORT_80_TCP", "PORT_80_TCP_ADDR",
            "POSTGRES_SERVICE_HOST", "POSTGRES_PORT_5432_TCP_PROTO"]  # fmt: skip
    assert read_environment({f"REVERIE_{name}": "x" for name in told}) == {}
    assert not [key for key in ALL if read_environment({key.variable: ""})]


def test_no_two_keys_share_a_variable() -> None:
    """Each key has a variable of its own, none of them a seed's or one that names a place."""
    names = [name for key in ALL for name in (key.variable, key.seed_variable) if name]
    names += ["REVERIE_WORKSPACE", "REVERIE_AGENT_ID", "REVERIE_CONFIG_DIR"]
    assert len(names) == len(set(names))


def test_a_wrong_flag_is_named(places: Places) -> None:
    """A flag that is no key, or has a wrong value, is an error that says so."""
    places.flags = {"dream.min_fact": "3"}
    assert places.refusal() == "the command line: dream.min_fact is no setting; did you mean dream.min_facts?"
    places.flags = {"redaction": "perhaps"}
    assert (
        places.refusal()
        == "the command line: redaction is 'perhaps'; write true or false, such as redaction=true"
    )


@pytest.mark.parametrize("key", ALL, ids=lambda key: key.name)
def test_defaults_and_examples_are_accepted(key: Key) -> None:
    """Each key accepts its default and its example, from TOML as from text, and has a sentence of its own."""
    for value in (key.default, key.example):
        assert key.accept(list(value) if isinstance(value, tuple) else value) == value
    assert key.parse(key.example if isinstance(key.example, str) else toml(key.example)) == key.example
    assert key.rule.why.endswith(".")
