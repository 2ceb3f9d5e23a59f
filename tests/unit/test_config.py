"""Settings from files, environment and flags, and the way to a workspace's folder."""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from places import Places, held

from reverie import config
from reverie.core.settings.keys import Key, toml
from reverie.core.settings.value import KEYS, Settings
from reverie.errors import BadSettings, UnsafePath

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "settings.md"
ALL = list(KEYS.values())
HERE = [key for key in ALL if key.rule.here]
ELSEWHERE = [key for key in ALL if not key.rule.here]

# One value other than the default for each key whose default does not suggest one.
OTHERS = {
    "zone": "Asia/Shanghai",
    "day_starts_at": "04:00",
    "model": "openai:gpt",
    "index": "lancedb",
    "durability": "os",
    "redaction_allow": ("AKIA{4,}", "x"),
    "exclusions": ("health", "money"),
    "subscriptions": ("team", "family"),
    "index_url": "/srv/index",
    "skills": "off",
    "notebook.path": "vault/mine",
    "dream.model": "ollama:small",
    "extraction.model": "ollama:small",
    "summaries.model": "ollama:small",
    "models.base_url": "http://127.0.0.1:8080/v1",
    "models.key_variable": "GATEWAY_KEY",
    "publish.budget_preset": "lean",
    "notes.globs": ("journal/*.md",),
    "embedder": "none",
    "embedders.base_url": "http://127.0.0.1:9/v1",
    "embedders.key_variable": "OUR_KEY",
    "facts.max_importance_decay": 0.5,
    "facts.min_importance": 0.5,
    "compaction.consolidation_ratio": 0.25,
}


def name_of(key: Key) -> str:
    """Return what a test of the key is called."""
    return key.name


def other(key: Key) -> Any:
    """Return a value of the key that is not its default."""
    if isinstance(key.default, bool):
        return not key.default
    return OTHERS[key.name] if key.name in OTHERS else key.default + 1


def test_nothing_said_gives_the_defaults(places: Places) -> None:
    """Without any file, variable or flag the settings are the defaults, with the zone of the system."""
    assert places.load() == Settings(zone="UTC")


def test_a_later_place_wins(places: Places) -> None:
    """Defaults, user's file, its table for the workspace, workspace's file, environment, flags: the later wins."""
    found = [places.load().dream.min_facts]
    places.mine("[dream]\nmin_facts = 1")
    found.append(places.load().dream.min_facts)
    places.mine(f'[dream]\nmin_facts = 1\n[workspace."{places.workspace}".dream]\nmin_facts = 2')
    found.append(places.load().dream.min_facts)
    places.theirs("[dream]\nmin_facts = 3")
    found.append(places.load().dream.min_facts)
    places.environment["REVERIE_DREAM_MIN_FACTS"] = "4"
    found.append(places.load().dream.min_facts)
    places.flags["dream.min_facts"] = "5"
    found.append(places.load().dream.min_facts)
    assert found == [20, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("key", ALL, ids=name_of)
def test_each_key_is_set_by_the_user(places: Places, key: Key) -> None:
    """Each key can be set in the user's file, by its variable, by a flag and for one workspace alone."""
    value = other(key)
    text = value if isinstance(value, str) else toml(value)
    line = f"{key.name} = {toml(value)}\n"
    for attempt in ("file", "table", "variable", "flag"):
        places.mine({"file": line, "table": f'[workspace."{places.workspace}"]\n{line}'}.get(attempt, ""))
        places.environment = {"TZ": "UTC"} | ({key.variable: text} if attempt == "variable" else {})
        places.flags = {key.name: text} if attempt == "flag" else {}
        found = places.load()
        assert held(found, key) == value
        assert type(held(found, key)) is type(key.default)
        # Nothing else moved.
        parent, _, leaf = (
            ("", "", "notebook_path") if key.name == "notebook.path" else key.name.rpartition(".")
        )
        inner = dataclasses.replace(getattr(found, parent), **{leaf: key.default}) if parent else key.default
        back = dataclasses.replace(found, **{parent or leaf: inner})
        assert dataclasses.replace(back, zone="UTC") == Settings(zone="UTC")


@pytest.mark.parametrize("key", HERE, ids=name_of)
def test_a_workspace_sets_what_is_allowed(places: Places, key: Key) -> None:
    """Each key on the allow-list can be set in a workspace's own file."""
    places.theirs(f"{key.name} = {toml(other(key))}")
    assert held(places.load(), key) == other(key)


@pytest.mark.parametrize("key", ELSEWHERE, ids=name_of)
def test_a_workspace_sets_nothing_else(places: Places, key: Key) -> None:
    """A key off the allow-list is refused in a workspace's own file, even at its default, and where it may stand."""
    for value in (other(key), key.default):
        places.theirs(f"{key.name} = {toml(value)}")
        message = places.refusal()
        assert message.startswith(f"{places.workspace}/reverie.toml: {key.name} ")
        assert f'config.toml, for this workspace alone under [workspace."{places.workspace}"]' in message


@pytest.mark.parametrize(
    "line",
    [
        'model = "openai:gpt"', "redaction = false", 'redaction_allow = [".*"]', 'durability = "os"', 'skills = "on"',
        'notebook.path = "/srv/public"', 'notebook.path = "../../public"', 'notebook.path = "vault"',
        'notes.globs = ["sessions/*"]', 'dream.model = "http://198.51.100.7/v1"', "max_turn_bytes = 100_000_000",
        "lock_wait_seconds = 600", 'index = "embedded"', 'endpoint = "http://198.51.100.7"', '[model]\nurl = "x"',
        '[agents]\ndefault = "/tmp"', '[workspace."/"]\nredaction = false', '[prompts]\ndream = "x"', 'command = "rm"',
        '"redaction" = false', "enabled = true\nredaction = false",
    ],
)  # fmt: skip
def test_a_hostile_workspace_is_refused(places: Places, line: str) -> None:
    """A foreign reverie.toml can neither reach outside nor weaken protection, by whatever spelling (§9)."""
    places.theirs(line)
    assert str(places.workspace / "reverie.toml") in places.refusal()


def test_only_harmless_keys_are_on_the_list() -> None:
    """What a workspace may not set is exactly this: a change here is a change of what a stranger may decide."""
    assert {key.name for key in ELSEWHERE} == {
        "model", "dream.model", "index", "index_url", "subscriptions", "durability",
        "redaction", "redaction_allow", "skills", "notebook.path",
        "notes.globs", "embedder", "embedders.base_url", "embedders.key_variable", "embedders.timeout_seconds",
        "max_turn_bytes", "lock_wait_seconds", "extraction.model", "summaries.model",
        "models.base_url", "models.key_variable", "models.timeout_seconds", "models.tries",
        "models.max_tokens_per_day", "models.max_cost_per_day", "models.max_seconds_per_day",
        "models.max_tokens_per_run", "models.max_cost_per_run", "models.max_seconds_per_run",
        "dream.max_tokens", "dream.max_steps", "dream.max_cost", "dream.transcripts",
        "mcp.host_model",
        "http.max_body_bytes", "http.max_upload_bytes", "http.max_header_bytes", "http.max_json_depth",
        "http.header_seconds", "http.body_seconds", "http.upload_seconds", "http.answer_seconds", "http.send_seconds",
        "http.max_connections", "http.max_connections_per_address", "http.max_sessions_per_token",
        "http.session_seconds", "http.requests_per_minute", "http.refusals_per_minute",
    }  # fmt: skip


def test_a_workspace_adds_to_the_exclusions(places: Places) -> None:
    """A workspace's exclusions are added to the user's and can take none away; the environment replaces both."""
    places.mine('exclusions = ["health", "money"]')
    places.theirs("exclusions = []")
    assert places.load().exclusions == ("health", "money")
    places.theirs('exclusions = ["money", "love"]')
    assert places.load().exclusions == ("health", "money", "love")
    places.environment["REVERIE_EXCLUSIONS"] = "[]"
    assert places.load().exclusions == ()


@pytest.mark.parametrize("kind", ["link", "hard link", "folder", "pipe", "large"])
def test_only_a_plain_file_is_read_in_a_workspace(places: Places, kind: str) -> None:
    """A reverie.toml that leads elsewhere, never ends or is no text is refused at once."""
    path, elsewhere = places.workspace / "reverie.toml", places.user / "elsewhere"
    elsewhere.write_text("enabled = false")
    {
        "link": lambda: path.symlink_to(elsewhere),
        "hard link": lambda: path.hardlink_to(elsewhere),
        "folder": path.mkdir,
        "pipe": lambda: os.mkfifo(path),
        "large": lambda: path.write_text("#" * 1_000_001),
    }[kind]()
    with pytest.raises((UnsafePath, BadSettings), match=re.escape(str(path))):
        places.load()


def test_bytes_that_are_no_text_name_their_line(places: Places) -> None:
    """A file that is not UTF-8 is refused with the line of the first wrong byte."""
    (places.workspace / "reverie.toml").write_bytes(b'\n\nzone = "\xe9"')
    assert places.refusal().startswith(f"{places.workspace}/reverie.toml:3: not UTF-8")


def test_the_users_file_may_be_a_link(places: Places) -> None:
    """People keep their configuration elsewhere and link to it."""
    (places.user / "kept.toml").write_text("\ufeffenabled = false\r\n", encoding="utf-8")
    (places.user / "config.toml").symlink_to(places.user / "kept.toml")
    assert not places.load().enabled


def test_a_table_for_a_workspace_is_for_it_alone(places: Places) -> None:
    """A `[workspace]` table names its workspace by folder, through links and `~` too, or by agent."""
    (places.user.parent / "link").symlink_to(places.workspace)
    for name in ("~/workspace", "~/link", "support-bot", str(places.workspace / "x" / "..")):
        places.mine(f'[agents]\nsupport-bot = "~/workspace"\n[workspace."{name}"]\nredaction = false')
        assert not places.load().redaction
    for name in ("~/other", "other-bot", "workspace"):
        places.mine(f'[agents]\nsupport-bot = "~/workspace"\n[workspace."{name}"]\nredaction = false')
        assert places.load().redaction


@pytest.mark.parametrize(
    "text",
    [
        "agents = 3", "workspace = 3", "workspace.bot = 3", "workspace.bot.min_facts = 3", 'agents.bot = "relative"',
        "agents.bot = 3", 'agents.bot = ""', "shared = 3", 'shared.team = "relative"',
        'agents.bot = "~other/x"', '[workspace."/elsewhere"]\nredaction = 3',
    ],
)  # fmt: skip
def test_wrong_tables_of_the_user_are_errors(places: Places, text: str) -> None:
    """The tables of agents and workspaces are checked whole, whichever workspace is opened."""
    places.mine(text)
    assert places.refusal().startswith(f"{places.user}/config.toml: ")


def test_shared_folders_are_named_by_the_user_alone(places: Places) -> None:
    """`[shared]` of the user's file says where shared workspaces lie; a workspace's own file may not hold it."""
    places.mine('shared.team = "~/memory/team"\nsubscriptions = ["team"]')
    found = config.shared_folders(config_dir=places.user, environment=places.environment)
    assert found == {"team": places.user.parent / "memory" / "team"}
    assert places.load().subscriptions == ("team",)
    for text in ('shared.team = "/srv/team"', 'subscriptions = ["team"]'):
        places.theirs(text)
        assert "reverie.toml" in places.refusal()


def test_a_person_has_the_agents_settings(places: Places) -> None:
    """What holds in the agent's workspace holds in a person's beneath it, unless its own file says otherwise."""
    agent = places.workspace
    places.mine(f'exclusions = ["health"]\n[workspace."{agent}"]\nlock_wait_seconds = 2.0')
    places.theirs('zone = "Asia/Tokyo"\nexclusions = ["money"]\ndream.min_facts = 7')
    person = agent / "people" / "dana-9bcdbd5d"
    person.mkdir(parents=True)
    (person / "reverie.toml").write_text('exclusions = ["love"]\ndream.min_facts = 3', encoding="utf-8")
    found = config.load(workspace=person, above=agent, config_dir=places.user, environment=places.environment)
    assert (found.zone, found.lock_wait_seconds, found.dream.min_facts) == ("Asia/Tokyo", 2.0, 3)
    assert found.exclusions == ("health", "money", "love")


def test_the_template_changes_nothing_and_shows_everything(places: Places) -> None:
    """The reverie.toml of a new workspace sets nothing; with each # removed it sets every allowed key, by default."""
    places.theirs(config.settings_template())
    assert places.load() == Settings(zone="UTC")
    bare = re.sub(r"^#(?=\S)", "", config.settings_template(), flags=re.MULTILINE)
    places.theirs(bare)
    assert places.load() == Settings(zone="UTC")
    for key in HERE:
        assert re.search(rf"^{key.path[-1]} = {re.escape(toml(key.default))}$", bare, re.MULTILINE)


def test_the_reference_page_is_made_from_the_code() -> None:
    """docs/reference/settings.md is what the code generates, and lists each key once."""
    assert PAGE.read_text(encoding="utf-8") == config.reference_table(), "run: make reference"
    listed = re.findall(r"^\| `([a-z_.]+)` \|", config.reference_table(), re.MULTILINE)
    assert listed == [key.name for key in ALL]


def test_loading_brings_nothing_heavy() -> None:
    """Reading settings imports no command line, network, database or language library."""
    heavy = {
        "typer",
        "rich",
        "dulwich",
        "tantivy",
        "dateparser",
        "sqlite3",
        "asyncio",
        "ruamel.yaml",
        "msgspec",
    }
    code = f"import sys, reverie.config; print(sorted({heavy!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
