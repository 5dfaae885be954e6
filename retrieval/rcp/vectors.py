"""Vectors on the wire: JSON arrays, or little-endian float32 in base64. A leaf."""

from __future__ import annotations

import base64
import binascii
import sys
from array import array
from collections.abc import Iterable, Sequence
from typing import Any, Final

from retrieval.rcp.errors import InvalidParams

JSON: Final = "json"
F32_BASE64: Final = "f32-base64"


def encode_vector(vector: Iterable[float]) -> str:
    """Any sequence of numbers, a numpy row included."""
    tobytes = getattr(vector, "astype", None)
    if tobytes is not None:
        return base64.b64encode(tobytes("<f4").tobytes()).decode()
    numbers = array("f", vector)
    if sys.byteorder == "big":
        numbers.byteswap()
    return base64.b64encode(numbers.tobytes()).decode()


def decode_vector(text: str, *, dimension: int | None = None) -> list[float]:
    """Raises InvalidParams when the text is not float32 of that dimension."""
    try:
        raw = base64.b64decode(text, validate=True)
        numbers = array("f", raw)
    except (binascii.Error, ValueError, TypeError):
        raise InvalidParams("not base64 of float32 values", field="vectors") from None
    if dimension is not None and len(numbers) != dimension:
        raise InvalidParams(f"a vector does not have {dimension} values", field="vectors")
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tolist()


def encode_vectors(vectors: Iterable[Any], encoding: str = JSON) -> dict[str, Any]:
    """The `{vectors, encoding, dimension}` of an `embed` result."""
    rows = list(vectors)
    dimension = len(rows[0]) if rows else None
    if encoding == F32_BASE64:
        encoded: list[Any] = [encode_vector(row) for row in rows]
    else:
        encoded = [list(map(float, row)) for row in rows]
    result: dict[str, Any] = {"vectors": encoded, "encoding": encoding}
    if dimension is not None:
        result["dimension"] = dimension
    return result


def decode_vectors(
    vectors: Sequence[Any], encoding: str | None = None, dimension: int | None = None
) -> list[list[float]]:
    """Every vector of an `embed` result, whichever way it is carried."""
    if encoding == F32_BASE64:
        return [decode_vector(row, dimension=dimension) for row in vectors]
    return [list(map(float, row)) for row in vectors]
