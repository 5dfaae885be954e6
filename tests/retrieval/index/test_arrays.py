from __future__ import annotations

import numpy as np
import pytest

from retrieval.index.arrays import best, pack, places_in, unpack


@pytest.mark.parametrize("dtype", ["<u2", "<u4", "<i8", "<f4"])
def test_what_is_packed_comes_back(dtype: str) -> None:
    values = np.array([0, 1, 65_535], dtype=dtype)
    assert unpack(memoryview(pack(values, dtype)), dtype).tolist() == values.tolist()


def test_equal_scores_are_ordered_by_id_also_where_the_cut_goes_through_them() -> None:
    ids = np.array([9, 3, 7, 1], dtype=np.int64)
    scores = np.array([1.0, 1.0, 2.0, 1.0], dtype=np.float32)
    assert ids[best(ids, scores, 3)].tolist() == [7, 1, 3]


@pytest.mark.parametrize("k", [0, -1])
def test_nothing_is_best_of_none(k: int) -> None:
    ids, scores = np.array([1], dtype=np.int64), np.array([1.0], dtype=np.float32)
    assert best(ids, scores, k).tolist() == []
    assert best(ids[:0], scores[:0], 5).tolist() == []


def test_places_are_found_in_ids_of_any_order() -> None:
    ids = np.array([30, 10, 20], dtype=np.int64)
    order = np.argsort(ids)
    wanted = np.array([20, 99, 30, 5], dtype=np.int64)
    assert places_in(ids, order, wanted).tolist() == [2, 0]
    assert places_in(ids[:0], order[:0], wanted).tolist() == []
