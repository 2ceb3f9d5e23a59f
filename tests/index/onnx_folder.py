"""A folder with a model of ONNX and its tokeniser, small enough to be written by hand: one row for each known word."""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PAD, UNKNOWN = "[PAD]", "[UNK]"
_FLOAT, _INT64 = 1, 7  # types of tensors


def write_folder(
    folder: Path, vectors: Mapping[str, tuple[float, ...]], *, file: str = "model.onnx", pooled: bool = False
) -> Path:
    """Write a model that knows these words, as sentence-transformers exports one.

    Its output is a vector for each token; with `pooled`, one for each text: that of its first token.
    """
    dimension = len(next(iter(vectors.values())))
    table = {PAD: (0.0,) * dimension, UNKNOWN: (0.001,) * dimension, **vectors}
    (folder / file).parent.mkdir(parents=True, exist_ok=True)
    (folder / file).write_bytes(_model(list(table.values()), pooled=pooled))
    added = [
        {"id": at, "content": word, "special": True, "single_word": False, "lstrip": False, "rstrip": False}
        | {"normalized": False}
        for at, word in enumerate((PAD, UNKNOWN))
    ]
    tokenizer = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": None,
        "decoder": None,
        "model": {
            "type": "WordLevel",
            "vocab": {word: at for at, word in enumerate(table)},
            "unk_token": UNKNOWN,
        },
    }
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 128, "pad_token": PAD}))
    return folder


def _model(table: list[tuple[float, ...]], *, pooled: bool) -> bytes:
    """Return a ModelProto (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto) that looks rows up in a table."""
    rows, columns = len(table), len(table[0])
    tensor = b"".join(
        [
            _number(1, rows),
            _number(1, columns),
            _number(2, _FLOAT),
            _bytes(8, b"table"),
            _bytes(9, b"".join(struct.pack(f"<{columns}f", *row) for row in table)),
        ]
    )
    nodes = [_node("Gather", ["table", "input_ids"], "tokens")]
    first = b""
    if pooled:  # axis 1, place 0
        zero = _number(2, _INT64) + _bytes(8, b"zero") + _bytes(9, struct.pack("<q", 0))
        first = _bytes(5, zero)
        axis = _bytes(5, _bytes(1, b"axis") + _number(3, 1) + _number(20, 2))
        nodes.append(_node("Gather", ["tokens", "zero"], "sentence") + axis)
    output = ("sentence", ["batch", columns]) if pooled else ("tokens", ["batch", "length", columns])
    graph = b"".join(
        [
            *(_bytes(1, node) for node in nodes),
            _bytes(2, b"tiny"),
            _bytes(5, tensor),
            first,
            _bytes(11, _value("input_ids", _INT64, ["batch", "length"])),
            _bytes(12, _value(output[0], _FLOAT, output[1])),
        ]
    )
    return _number(1, 8) + _bytes(7, graph) + _bytes(8, _bytes(1, b"") + _number(2, 13))


def _node(kind: str, inputs: list[str], output: str) -> bytes:
    return (
        b"".join(_bytes(1, name.encode()) for name in inputs)
        + _bytes(2, output.encode())
        + _bytes(4, kind.encode())
    )


def _value(name: str, kind: int, shape: list[str | int]) -> bytes:
    dims = b"".join(
        _bytes(1, _bytes(2, one.encode()) if isinstance(one, str) else _number(1, one)) for one in shape
    )
    return _bytes(1, name.encode()) + _bytes(2, _bytes(1, _number(1, kind) + _bytes(2, dims)))


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    made = bytearray()
    while value > 0x7F:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*made, value])
