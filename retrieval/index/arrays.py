"""Small array tools of the indexes: packing for binary columns, and a stable choice of the best.

Pure. Above: segments, postings, exact.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrieval.index.base import ChunkIds

Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]
Places = NDArray[np.uint32]


def unpack(data: Any, dtype: str) -> NDArray[Any]:
    """A binary column as an array; SQLite gives bytes, PostgreSQL memoryview."""
    return np.frombuffer(data, dtype=dtype)


def pack(values: Iterable[int] | NDArray[Any], dtype: str) -> bytes:
    array = values if isinstance(values, np.ndarray) else np.fromiter(values, dtype=dtype)
    return array.astype(dtype, copy=False).tobytes()


def among(ids: ChunkIds, wanted: ChunkIds) -> Mask:
    """Which of `ids` are in `wanted`, both of any order."""
    return np.isin(ids, wanted)


def places_in(ids: ChunkIds, order: NDArray[np.intp], wanted: ChunkIds) -> NDArray[np.intp]:
    """Where those of `wanted` are that `ids` holds; `order` sorts `ids`."""
    if not len(ids):
        return np.empty(0, dtype=np.intp)
    found = np.searchsorted(ids, wanted, sorter=order)
    places: NDArray[np.intp] = order[np.minimum(found, len(ids) - 1)]
    held: NDArray[np.intp] = places[ids[places] == wanted]
    return held


def best(ids: ChunkIds, scores: Floats, k: int) -> NDArray[np.intp]:
    """Places of the k highest scores, best first, ties by smaller id: the same in every run."""
    if k <= 0 or not len(scores):
        return np.empty(0, dtype=np.intp)
    if k < len(scores):
        threshold = np.partition(scores, len(scores) - k)[len(scores) - k]
        places = np.flatnonzero(scores >= threshold)
    else:
        places = np.arange(len(scores))
    order = np.lexsort((ids[places], -scores[places]))
    return places[order][:k]
