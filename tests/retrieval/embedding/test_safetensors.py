from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from retrieval.embedding.safetensors import load_tensors


def write(path: Path, header: dict[str, object], body: bytes) -> Path:
    encoded = json.dumps(header).encode()
    path.write_bytes(len(encoded).to_bytes(8, "little") + encoded + body)
    return path


def test_tensors_are_read_by_name_and_shape(tmp_path: Path) -> None:
    values = np.arange(6, dtype="<f4")
    header = {
        "__metadata__": {"format": "pt"},
        "a": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]},
        "b": {"dtype": "F32", "shape": [2], "data_offsets": [16, 24]},
    }
    tensors = load_tensors(write(tmp_path / "x.safetensors", header, values.tobytes()))
    assert tensors["a"].tolist() == [[0, 1], [2, 3]]
    assert tensors["b"].tolist() == [4, 5]


def test_another_kind_of_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    path.write_bytes(b"version https://git-lfs.github.com/spec/v1\n")
    with pytest.raises(ValueError, match="not a safetensors file"):
        load_tensors(path)


def test_numbers_of_an_unknown_type_are_refused(tmp_path: Path) -> None:
    header = {"a": {"dtype": "F8_E4M3", "shape": [1], "data_offsets": [0, 1]}}
    with pytest.raises(ValueError, match="F8_E4M3"):
        load_tensors(write(tmp_path / "x.safetensors", header, b"\0"))
