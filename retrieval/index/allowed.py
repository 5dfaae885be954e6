"""Which chunks a filter lets through: a query, run only as far as a ranking needs it.

Below: models. Above: the pipeline builds one, the indexes ask it. A selective filter is a few ids;
of another one, only those that a ranking puts first are looked up.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from django.db.models import QuerySet
from numpy.typing import NDArray

from retrieval.index.arrays import Floats, among, best
from retrieval.index.base import ChunkIds
from retrieval.index.rows import MOST_PARAMETERS
from retrieval.models import Chunk

FEW = 10_000  # ids that are read at once rather than looked up
DEPTHS = (1_000, 10_000)  # of a ranking, before all ids are read after all


class Allowed:
    """One search's. What it has read once stays."""

    def __init__(self, rows: QuerySet[Chunk]) -> None:
        self.rows = rows.order_by()

    @cached_property
    def few(self) -> ChunkIds | None:
        """All of them, where there are not many."""
        ids = _ids(self.rows[: FEW + 1])
        return ids if len(ids) <= FEW else None

    @cached_property
    def ids(self) -> ChunkIds:
        """All of them: hundreds of milliseconds for a million."""
        return _ids(self.rows) if self.few is None else self.few

    def among(self, chunk_ids: Sequence[int]) -> ChunkIds:
        """Those of these chunks that are let through."""
        found = [
            _ids(self.rows.filter(pk__in=chunk_ids[start : start + MOST_PARAMETERS]))
            for start in range(0, len(chunk_ids), MOST_PARAMETERS)
        ]
        return np.concatenate([np.empty(0, np.int64), *found])


def best_allowed(
    ids: ChunkIds, scores: Floats, k: int, allowed: Allowed | None
) -> NDArray[np.intp]:
    """Places of the k highest scores that are let through; see `best`."""
    if allowed is None:
        return best(ids, scores, k)
    if allowed.few is None:
        for depth in DEPTHS:
            if not k <= depth < len(ids):
                continue
            places = best(ids, scores, depth)
            kept = places[among(ids[places], allowed.among(ids[places].tolist()))]
            if len(kept) >= k:
                return kept[:k]
    inside = np.flatnonzero(among(ids, allowed.ids))
    return inside[best(ids[inside], scores[inside], k)]


def _ids(rows: QuerySet[Chunk]) -> ChunkIds:
    found = rows.values_list("pk", flat=True).iterator()
    return np.sort(np.fromiter(found, dtype=np.int64))
