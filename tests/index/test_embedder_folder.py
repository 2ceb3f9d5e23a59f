"""A model in a folder of the user's, embedded with by the real fastembed: no fake, and nothing downloaded."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np
import pytest
from onnx_folder import write_folder

import reverie
from reverie.core.settings.value import Settings
from reverie.errors import EmbedderFailed
from reverie.index.embed.choosing import open_embedder
from reverie.index.embed.folders import Output, folder_of, pooling
from reverie.index.embedder import same_model
from reverie.opening import Opening

if TYPE_CHECKING:
    from pathlib import Path

    from reverie.index.embedder import Embedder

needs_fastembed = pytest.mark.skipif(find_spec("fastembed") is None, reason="needs the extra `fastembed`")

WORDS = {
    "car": (1.0, 0.0, 0.0),
    "automobile": (0.99, 0.01, 0.0),
    "tea": (0.0, 1.0, 0.0),
    "red": (0.0, 0.0, 1.0),
}


def opened(folder: Path) -> Embedder:
    """Return the embedder of a folder, as the setting names it."""
    made = open_embedder(Settings(embedder=f"fastembed:{folder}"))
    assert made is not None
    return made


def pooled(folder: Path, said: str) -> None:
    """Write what sentence-transformers says of the pooling into the folder."""
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(said)


@needs_fastembed
@pytest.mark.parametrize("file", ["model.onnx", "onnx/model.onnx"])
def test_a_folders_model_embeds(tmp_path: Path, file: str) -> None:
    """The real fastembed reads the model and its tokeniser from the folder; a text is the mean of its words."""
    embedder = opened(write_folder(tmp_path / "m", WORDS, file=file))
    rows = embedder.embed(["Red car", "automobile", "tea", "", "  \n"])
    assert (rows.shape, rows.dtype, embedder.dimension) == ((5, 3), np.float32, 3)
    assert np.abs(np.linalg.norm(rows, axis=1) - 1).max() < 1e-6
    assert np.abs(rows[0] - np.array([1, 0, 1]) / np.sqrt(2)).max() < 1e-6
    assert rows[0] @ rows[2] < 0.1 < rows[0] @ rows[1]
    assert (embedder.embed(["tea"], query=True) == rows[2]).all()


@needs_fastembed
def test_many_and_long_texts_are_embedded(tmp_path: Path) -> None:
    """More texts than one batch, texts of 50 kB, control characters and half characters make one row each."""
    embedder = opened(write_folder(tmp_path / "m", WORDS))
    texts = [f"car {n}" for n in range(150)] + ["tea " * 12_500, "\x00tea\x1b", "\ud800 tea", "茶 🚀"]
    assert embedder.embed(texts).shape == (154, 3)
    assert embedder.embed([]).shape == (0, 3)


@needs_fastembed
def test_the_folder_says_how_tokens_become_one_vector(tmp_path: Path) -> None:
    """The pooling that an export writes beside the model is followed; without one it is the mean."""
    cls, last = write_folder(tmp_path / "cls", WORDS), write_folder(tmp_path / "last", WORDS)
    pooled(
        cls,
        '{"word_embedding_dimension": 3, "pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false}',
    )
    pooled(last, '{"embedding_dimension": 3, "pooling_mode": "lasttoken", "include_prompt": true}')
    alone = opened(cls).embed(["car", "tea"])
    assert (opened(cls).embed(["car tea"])[0] == alone[0]).all()
    assert (opened(last).embed(["car tea"])[0] == alone[1]).all()
    assert np.abs(opened(write_folder(tmp_path / "mean", WORDS)).embed(["car tea"])[0] @ alone[0]) < 0.8


@needs_fastembed
def test_a_model_that_pools_itself_is_taken_as_it_is(tmp_path: Path) -> None:
    """An output of one vector a text is not pooled again."""
    embedder = opened(write_folder(tmp_path / "m", WORDS, pooled=True))
    assert (embedder.embed(["car tea"]) == embedder.embed(["car"])).all()


def test_a_named_output_goes_before_the_vectors_of_tokens(tmp_path: Path) -> None:
    """Of a model with several outputs the one called `sentence_embedding` is taken."""
    outputs = (Output("token_embeddings", 3), Output("sentence_embedding", 2))
    assert pooling(tmp_path, outputs) == ("DISABLED", "sentence_embedding")
    assert pooling(tmp_path, outputs[:1]) == ("MEAN", "token_embeddings")


@needs_fastembed
def test_other_weights_in_the_folder_are_another_model(tmp_path: Path) -> None:
    """P-15: with the same name, files and dimension, other weights have another fingerprint; the same ones the same."""
    folder = write_folder(tmp_path / "m", {**WORDS, "cafe": (1.0, 2.0, 3.0)})
    known = {"second": (3.0, 1.0, 0.5), "street": (0.2, 2.0, 0.1)}
    before = opened(write_folder(folder, {**WORDS, **known})).fingerprint()
    again = opened(write_folder(tmp_path / "copy", {**WORDS, **known})).fingerprint()
    other = opened(write_folder(folder, {**WORDS, "second": (-3.0, 0.1, 0.5), "street": (0.2, -2.0, 1.0)}))
    assert same_model(before, again)
    assert not same_model(before, other.fingerprint())


@needs_fastembed
@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (lambda folder: (folder / "model.onnx").unlink(), r"holds no model\.onnx or onnx/model\.onnx"),
        (lambda folder: (folder / "tokenizer.json").unlink(), r"holds no tokenizer\.json"),
        (lambda folder: (folder / "tokenizer_config.json").unlink(), r"holds no tokenizer_config\.json"),
        (lambda folder: (folder / "model.onnx").write_bytes(b"junk" * 9), r"(?i)protobuf"),
        (lambda folder: (folder / "model.onnx").write_bytes(b""), "cannot be loaded"),
        (lambda folder: (folder / "tokenizer.json").write_text("{}"), "cannot be loaded"),
        (lambda folder: (folder / "tokenizer.json").write_text("junk"), "cannot be loaded"),
        (lambda folder: pooled(folder, "{"), "cannot be read"),
        (lambda folder: pooled(folder, '{"pooling_mode": "max"}'), "asks for the pooling max"),
        (
            lambda folder: pooled(folder, '{"pooling_mode_max_tokens": true}'),
            "asks for the pooling max_tokens",
        ),
        (lambda folder: (folder / "tokenizer_config.json").write_text("[]"), "cannot be loaded"),
        (
            lambda folder: (folder / "tokenizer_config.json").write_text('{"pad_token": "x"}'),
            "maximum context",
        ),
    ],
)
def test_a_folder_without_a_whole_model_is_an_error(tmp_path: Path, harm, said) -> None:  # type: ignore[no-untyped-def]
    """What is missing or broken is one sentence that names it, and keyword search goes on (R-24)."""
    folder = write_folder(tmp_path / "m", WORDS)
    harm(folder)
    with pytest.raises(EmbedderFailed, match=said) as caught:
        opened(folder).embed(["tea"])
    assert caught.value.kind == "no_such_model"
    assert "check the path" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("library", ["fastembed", "sentence-transformers"])
def test_a_folder_that_is_not_there_is_asked_for_nowhere(tmp_path: Path, library: str) -> None:
    """A path that leads nowhere is an error at once; it is never taken for the name of something to download."""
    pytest.importorskip(library.replace("-", "_"), reason=f"the extra `{library}` is not installed")
    embedder = open_embedder(Settings(embedder=f"{library}:{tmp_path}/none"))
    assert embedder is not None
    with pytest.raises(EmbedderFailed, match="there is no folder"):
        embedder.embed(["tea"])


def test_only_a_whole_path_is_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name is a name, wherever a process runs and whatever folders are there; `~/` is the home."""
    (tmp_path / "BAAI" / "bge").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert [folder_of(one) for one in ("BAAI/bge", "./BAAI/bge", "../x", "bge")] == [None] * 4
    assert folder_of("~/BAAI") == tmp_path / "BAAI"
    assert folder_of(str(tmp_path)) == tmp_path


@needs_fastembed
def test_a_folders_model_writes_nothing_and_connects_to_nobody(tmp_path: Path) -> None:
    """Loading and asking opens no connection and leaves no file behind, in the folder, the home or the caches."""
    write_folder(tmp_path / "m", WORDS)
    code = f"""
import sys
acts = []
def watch(event, args):
    if event in {{"socket.connect", "socket.getaddrinfo", "subprocess.Popen", "os.remove", "os.rename"}}:
        acts.append(f"{{event}} {{args}}")
    elif event == "open" and set("wxa+") & set(str(args[1] or "r")) and args[0] != "/dev/null":
        acts.append(str(args))
sys.dont_write_bytecode = True
sys.addaudithook(watch)
import reverie
from reverie.core.settings.value import Settings
from reverie.index.embed.choosing import open_embedder
assert open_embedder(Settings(embedder="fastembed:{tmp_path}/m")).embed(["tea", "car"]).shape == (2, 3)
print(acts)
"""
    before = sorted(tmp_path.rglob("*"))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
    assert sorted(tmp_path.rglob("*")) == before


@needs_fastembed
def test_a_memory_recalls_by_a_folders_model(tmp_path: Path) -> None:
    """With the path in the user's settings, what shares no word with the question is found by its meaning."""
    write_folder(tmp_path / "models" / "tiny", WORDS)
    opening = Opening(
        path=tmp_path / "ws",
        config_dir=tmp_path / "config",
        environment={"REVERIE_EMBEDDER": f"fastembed:{tmp_path}/models/tiny"},
        flags={"zone": "UTC"},
    )
    with reverie.init(opening) as memory:
        for text in ("Bought a red car", "Drinks tea"):
            memory.remember(text)
        memory.drain()
        memory.reindex()
        best = memory.recall("automobile").hits[0]
        assert (best.text, best.why[0]) == ("Bought a red car", "meaning")
        assert (memory.status().index.vectorless, memory.status().index.trouble) == (0, "")
