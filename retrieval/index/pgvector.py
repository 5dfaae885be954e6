"""Nearest vectors on PostgreSQL: pgvector finds candidates, float32 decides their order.

Scores are those of the exact index to the last digit. While the table of neighbours is missing or
being built, search is exact up to a size, and without vectors above it. Below: nearest, exact,
allowed. Above: the pipeline, vectors.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from django.db import ProgrammingError

from retrieval.index import nearest
from retrieval.index.allowed import Allowed
from retrieval.index.arrays import unpack
from retrieval.index.base import IndexUnavailable, Ranking, Report, Scored, Vector
from retrieval.index.exact import ExactIndex
from retrieval.index.rebuilding import MEND, problem, rebuild
from retrieval.index.state import index_dimension, index_version
from retrieval.models import Embedding

EXACT_MOST = 200_000  # vectors that a process reads into memory where pgvector cannot serve
EF_SEARCH, MOST_EF_SEARCH = 400, 1_000  # candidates that the graph is searched with
SCAN_TUPLES = 40_000  # that a filter may be tried on before all that it lets through are compared
SCAN_MEMORY = 8  # times work_mem
COUNTED_OFTEN = 5_000  # vectors; more are not counted again at once, nor while nothing changed
COUNT_SHARE = 0.05  # of the time that counting may take then


class PgvectorIndex:
    """A DenseIndex. Embedding holds the vectors as on any database; `nearest` finds them."""

    def __init__(self) -> None:
        self._exact = ExactIndex()
        self._counted = _Counted()

    def add(self, chunk_ids: Sequence[int], vectors: Vector) -> None:
        self._exact.add(chunk_ids, vectors)
        if len(chunk_ids) and nearest.nearest_state().dimension == vectors.shape[1]:
            nearest.nearest_write(chunk_ids, vectors)

    def remove(self, chunk_ids: Sequence[int]) -> None:
        self._exact.remove(chunk_ids)

    def reset(self, dimension: int) -> None:
        nearest.nearest_drop()  # first: its rows need not be forgotten one by one
        self._exact.reset(dimension)
        if nearest.extension_create() and dimension <= nearest.MOST_DIMENSIONS:
            nearest.nearest_create(dimension)
            nearest.index_create(concurrently=False)  # of an empty table

    def rank(self, vector: Vector) -> Ranking:
        if nearest.nearest_state().serves(len(vector)):
            return PgvectorRanking(vector)
        if self.size() > EXACT_MOST:
            raise IndexUnavailable(f"the index of vectors is not built: {MEND}")
        return self._exact.rank(vector)

    def search(self, vector: Vector, *, k: int, allowed: Allowed | None = None) -> list[Scored]:
        ranking = self.rank(vector)
        if isinstance(ranking, PgvectorRanking):
            return ranking.top(k, allowed=allowed)
        return self._exact.search(vector, k=k, allowed=allowed)

    def vectors(self, chunk_ids: Sequence[int]) -> Mapping[int, Vector]:
        return stored_vectors(chunk_ids)

    def size(self) -> int:
        return self._counted.size()

    def reconcile(self) -> None:
        self._counted.forget()
        self._exact.reconcile()

    def rebuild(self, progress: Report, *, anew: bool = False) -> None:
        rebuild(index_dimension(), progress, anew=anew)

    def problem(self) -> str | None:
        return problem(index_dimension())


@dataclass(frozen=True, slots=True)
class PgvectorRanking:
    vector: Vector
    _held: dict[int, Vector] = field(default_factory=dict)  # what was read already

    def top(self, k: int, *, allowed: Allowed | None = None) -> list[Scored]:
        if k <= 0:
            return []
        try:
            found = self._nearest(k) if allowed is None else self._filtered(k, allowed)
        except ProgrammingError as error:  # the table went since it was looked at
            raise IndexUnavailable(f"the index of vectors is being changed; else {MEND}") from error
        best = sorted(found, key=lambda pair: (pair[1], pair[0]))[:k]
        return sorted(self.at([id_ for id_, _ in best]), key=lambda one: (-one.score, one.chunk_id))

    def at(self, chunk_ids: Sequence[int]) -> list[Scored]:
        self._held.update(stored_vectors([id_ for id_ in chunk_ids if id_ not in self._held]))
        fits = [
            id_
            for id_ in chunk_ids
            if id_ in self._held and len(self._held[id_]) == len(self.vector)
        ]
        if not fits:
            return []
        scores = np.einsum("ij,j->i", np.stack([self._held[id_] for id_ in fits]), self.vector)
        return [
            Scored(id_, score)
            for id_, score in zip(fits, np.clip(scores, -1.0, 1.0).tolist(), strict=True)
        ]

    def _nearest(self, k: int, where: str = "", parameters: Sequence[object] = ()) -> _Pairs:
        """Along the graph. Without a filter, more than are asked for: half precision ties more."""
        ef_search = min(MOST_EF_SEARCH, max(EF_SEARCH, 2 * k))
        query = (
            f"SELECT chunk_id, vector <=> %s::halfvec AS distance FROM {nearest.TABLE} near {where}"
            " ORDER BY distance LIMIT %s"
        )
        settings = {
            "hnsw.ef_search": ef_search,
            "hnsw.iterative_scan": "relaxed_order",  # goes on where a filter left too few
            "hnsw.max_scan_tuples": SCAN_TUPLES,
            "hnsw.scan_mem_multiplier": SCAN_MEMORY,
        }
        limit = k if where else max(k, ef_search)
        literal = nearest.literal(self.vector)
        pairs = [(name, str(value)) for name, value in settings.items()]
        return nearest.scan(query, [literal, *parameters, limit], pairs)

    def _filtered(self, k: int, allowed: Allowed) -> _Pairs:
        """Few are compared one by one; else the graph is walked until enough were let through."""
        if allowed.few is not None:
            return self._compared(k, "chunk_id = ANY(%s)", [allowed.few.tolist()])
        # A scalar subquery, so that the planner has no other way than to walk the graph.
        rows = allowed.rows.extra(where=["retrieval_chunk.id = near.chunk_id"]).values("pk")
        condition, parameters = rows.query.sql_with_params()
        found = self._nearest(k, f"WHERE ({condition}) IS NOT NULL", parameters)
        if len(found) >= k:
            return found
        condition, parameters = allowed.rows.values("pk").query.sql_with_params()
        return self._compared(k, f"chunk_id IN ({condition})", parameters)

    def _compared(self, k: int, where: str, parameters: Sequence[object]) -> _Pairs:
        """Exactly: the fence keeps the graph out of it."""
        query = (
            "SELECT chunk_id, distance FROM (SELECT chunk_id, vector <=> %s::halfvec AS distance"
            f" FROM {nearest.TABLE} WHERE {where} OFFSET 0) near"
            " ORDER BY distance, chunk_id LIMIT %s"
        )
        return nearest.scan(query, [nearest.literal(self.vector), *parameters, k], [])


_Pairs = list[tuple[int, float]]


def stored_vectors(chunk_ids: Sequence[int]) -> dict[int, Vector]:
    rows = Embedding.objects.filter(pk__in=chunk_ids).values_list("pk", "vector")
    return {id_: unpack(data, "<f4") for id_, data in rows}


class _Counted:
    """How many vectors there are; of a million, a count takes too long for every search."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._size, self._version, self._again_at = 0, -1, 0.0

    def size(self) -> int:
        version = index_version()
        with self._lock:
            is_same = version == self._version or time.monotonic() < self._again_at
            if is_same and self._size > COUNTED_OFTEN:
                return self._size
            started = time.monotonic()
            self._size, self._version = Embedding.objects.count(), version
            ended = time.monotonic()
            self._again_at = ended + (ended - started) / COUNT_SHARE
            return self._size

    def forget(self) -> None:
        with self._lock:
            self._size = 0
