"""A model that lies in a folder of the user's: an ONNX model with its tokeniser, as exports to ONNX leave it.

Owns which files make such a folder, and what they say of the way from tokens to one vector; promises to look only into
the folder that the setting names, by its whole path, so that nothing is found by where a process happens to run; never
loads the weights to embed with.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

FILES: Final = ("model.onnx", "onnx/model.onnx")
_NEEDED: Final = ("tokenizer.json", "tokenizer_config.json")
_POOLING: Final = (
    "1_Pooling/config.json"  # where sentence-transformers says how the vectors of tokens become one
)
_WAYS: Final = {
    "mean": "MEAN",
    "mean_tokens": "MEAN",
    "mean_sqrt_len_tokens": "MEAN",  # of another length, in the same direction
    "cls": "CLS",
    "cls_token": "CLS",
    "lasttoken": "LAST_TOKEN",
}
_SENTENCE: Final = "sentence_embedding"  # what exports call an output that is one vector a text
_MATRIX: Final = 2  # dimensions of an output that is one vector a text


class Output(NamedTuple):
    """An output of a model: its name, and how many dimensions it has."""

    name: str
    rank: int


def folder_of(model: str) -> Path | None:
    """Return the folder that a setting names, by its whole path or from the home (`~/`); None for a model's name."""
    path = Path(model)
    if path.is_absolute():
        return path
    return path.expanduser() if model.startswith("~/") else None


def model_file(folder: Path) -> str:
    """Return which file of the folder is the model; raises OSError that names what is missing."""
    if not folder.is_dir():
        raise FileNotFoundError(f"there is no folder {folder}")
    found = next((name for name in FILES if (folder / name).is_file()), "")
    missing = [name for name in _NEEDED if not (folder / name).is_file()]
    if not found:
        missing.insert(0, " or ".join(FILES))
    if missing:
        raise FileNotFoundError(f"{folder} holds no {' and no '.join(missing)}")
    return found


def pooling(folder: Path, outputs: tuple[Output, ...]) -> tuple[str, str]:
    """Return how the model's vectors become one a text (CLS, MEAN, LAST_TOKEN or DISABLED), and of which output.

    An output that is one vector a text already is taken as it is. Raises OSError or ValueError for a file of the
    pooling that cannot be read, or that asks for another way.
    """
    for output in outputs:
        if output.name == _SENTENCE or output.rank == _MATRIX:
            return "DISABLED", output.name
    path = folder / _POOLING
    return (_way(path) if path.is_file() else "MEAN"), outputs[0].name


def _way(path: Path) -> str:
    """Return what the file of the pooling asks for: a word, or, in older exports, a switch for each way."""
    try:
        said = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise ValueError(f"{path} cannot be read: {error}") from error
    switched = [
        key.removeprefix("pooling_mode_")
        for key, on in said.items()
        if key.startswith("pooling_mode_") and on
    ]
    asked = [str(said["pooling_mode"])] if "pooling_mode" in said else switched
    if len(asked) > 1 or (asked and asked[0] not in _WAYS):
        raise ValueError(f"{path} asks for the pooling {' + '.join(asked)}, which is not supported")
    return _WAYS[asked[0]] if asked else "MEAN"
