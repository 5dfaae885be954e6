from __future__ import annotations

import base64
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval import rcp

floats = st.floats(width=32, allow_nan=False, allow_infinity=False)


@given(st.lists(floats, max_size=20))
def test_a_vector_survives_the_round_trip(vector: list[float]) -> None:
    assert rcp.decode_vector(rcp.encode_vector(vector), dimension=len(vector)) == vector


def test_the_encoding_is_little_endian_float32_in_padded_base64() -> None:
    assert rcp.encode_vector([1.0, -2.5]) == base64.b64encode(struct.pack("<2f", 1, -2.5)).decode()


def test_a_numpy_row_is_encoded_alike() -> None:
    row = [0.1, 0.2, 0.3]
    for kind in (np.float64, np.float32, np.float16):
        array = np.array(row, dtype=kind)
        assert rcp.encode_vector(array) == rcp.encode_vector(array.tolist())


def test_a_batch_names_its_encoding_and_dimension() -> None:
    matrix = np.eye(2, dtype=np.float32)
    assert rcp.encode_vectors(matrix) == {
        "vectors": [[1.0, 0.0], [0.0, 1.0]],
        "encoding": "json",
        "dimension": 2,
    }
    encoded = rcp.encode_vectors(matrix, "f32-base64")
    assert (encoded["encoding"], encoded["dimension"]) == ("f32-base64", 2)
    assert rcp.decode_vectors(**encoded) == [[1.0, 0.0], [0.0, 1.0]]
    assert rcp.encode_vectors([]) == {"vectors": [], "encoding": "json"}


@pytest.mark.parametrize("text", ["###", "AAA", "AAAA", "AAAAAAA=", "é", 7])
def test_what_is_not_float32_is_refused(text: str) -> None:
    with pytest.raises(rcp.InvalidParams):
        rcp.decode_vector(text, dimension=2)
