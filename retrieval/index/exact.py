"""Exact nearest vectors: one float32 matrix a process, read again only as far as it changed.

Below: models, arrays. Above: the pipeline, vectors. 100,000 vectors of 384 take 150 MB.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from django.db.models import Count, Sum
from numpy.typing import NDArray

from retrieval.index.allowed import Allowed, best_allowed
from retrieval.index.arrays import Floats, among, pack, unpack
from retrieval.index.base import ChunkIds, Ranking, Report, Scored, Vector
from retrieval.index.state import index_bump, index_version
from retrieval.models import Embedding

READ_ROWS = 2_000


@dataclass(frozen=True, slots=True)
class Matrix:
    """All vectors, by ascending chunk id."""

    version: int
    ids: ChunkIds
    rows: Vector  # (n, dimension)

    def places(self, chunk_ids: Sequence[int]) -> dict[int, int]:
        wanted = np.asarray(chunk_ids, dtype=np.int64)
        where = np.searchsorted(self.ids, wanted)
        inside = where < len(self.ids)
        hit = inside & (self.ids[np.where(inside, where, 0)] == wanted) if len(self.ids) else inside
        return dict(zip(wanted[hit].tolist(), where[hit].tolist(), strict=True))


EMPTY = Matrix(0, np.empty(0, np.int64), np.empty((0, 0), np.float32))


@dataclass(frozen=True, slots=True)
class CosineRanking:
    matrix: Matrix
    scores: Floats

    def top(self, k: int, *, allowed: Allowed | None = None) -> list[Scored]:
        chosen = best_allowed(self.matrix.ids, self.scores, k, allowed)
        pairs = zip(self.matrix.ids[chosen].tolist(), self.scores[chosen].tolist(), strict=True)
        return [Scored(id_, score) for id_, score in pairs]

    def at(self, chunk_ids: Sequence[int]) -> list[Scored]:
        if not len(self.scores):
            return []
        places = self.matrix.places(chunk_ids)
        return [Scored(id_, float(self.scores[place])) for id_, place in places.items()]


class ExactIndex:
    """A DenseIndex. Keep one a process: it caches the matrix."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._matrix = EMPTY

    def add(self, chunk_ids: Sequence[int], vectors: Vector) -> None:
        if not len(chunk_ids):
            return
        version = index_bump()
        rows = [
            Embedding(chunk_id=id_, vector=pack(vector, "<f4"), version=version)
            for id_, vector in zip(chunk_ids, vectors, strict=True)
        ]
        Embedding.objects.bulk_create(
            rows,
            batch_size=200,
            update_conflicts=True,
            unique_fields=["chunk"],
            update_fields=["vector", "version"],
        )

    def remove(self, chunk_ids: Sequence[int]) -> None:
        if len(chunk_ids):
            index_bump()
            Embedding.objects.filter(chunk__in=list(chunk_ids)).delete()

    def reset(self, dimension: int) -> None:
        index_bump()
        Embedding.objects.all().delete()

    def rank(self, vector: Vector) -> Ranking:
        matrix = self._current()
        fits = matrix.rows.shape[1] == len(vector)
        if not fits:
            return CosineRanking(EMPTY, np.empty(0, np.float32))
        # Not `@`: for a product this small BLAS spends ten times its work on waking threads.
        scores = np.einsum("ij,j->i", matrix.rows, vector)
        return CosineRanking(matrix, np.clip(scores, -1.0, 1.0))

    def search(self, vector: Vector, *, k: int, allowed: Allowed | None = None) -> list[Scored]:
        top = self.rank(vector).top(k, allowed=allowed)
        ids = [one.chunk_id for one in top]
        if Embedding.objects.filter(pk__in=ids).count() == len(ids):
            return top
        self.reconcile()
        return self.rank(vector).top(k, allowed=allowed)

    def vectors(self, chunk_ids: Sequence[int]) -> Mapping[int, Vector]:
        matrix = self._current()
        return {id_: matrix.rows[place] for id_, place in matrix.places(chunk_ids).items()}

    def size(self) -> int:
        return len(self._current().ids)

    def reconcile(self) -> None:
        with self._lock:
            if len(self._matrix.ids):
                self._matrix = _without_gone(self._matrix)

    def rebuild(self, progress: Report, *, anew: bool = False) -> None:
        """Nothing to do: the matrix is read from the stored vectors."""

    def problem(self) -> str | None:
        return None

    def _current(self) -> Matrix:
        version = index_version()
        matrix = self._matrix
        if matrix.version == version:
            return matrix
        with self._lock:
            if self._matrix.version != version:
                self._matrix = _refreshed(self._matrix, version)
            return self._matrix


def _refreshed(matrix: Matrix, version: int) -> Matrix:
    """The matrix of this version or a later one; rows are read only where they are newer."""
    if matrix.version > version:  # another database, or one that was rolled back
        matrix = EMPTY
    matrix = _with_newer(matrix, version)
    if not _complete(matrix):
        matrix = _without_gone(matrix)
        if not _complete(matrix):  # what was read before has come back by a rollback
            matrix = _with_newer(EMPTY, version)
    return matrix


def _complete(matrix: Matrix) -> bool:
    stored = Embedding.objects.aggregate(count=Count("pk"), ids=Sum("pk"))
    return stored["count"] == len(matrix.ids) and (stored["ids"] or 0) == int(matrix.ids.sum())


def _with_newer(matrix: Matrix, version: int) -> Matrix:
    newer = Embedding.objects.filter(version__gt=matrix.version).order_by("version", "pk")
    ids: list[int] = []
    vectors: list[NDArray[np.float32]] = []
    for id_, data in newer.values_list("pk", "vector").iterator(chunk_size=READ_ROWS):
        ids.append(id_)
        vectors.append(unpack(data, "<f4"))
    if not ids:
        return Matrix(version, matrix.ids, matrix.rows)
    dimension = len(vectors[-1])
    fitting = [place for place, vector in enumerate(vectors) if len(vector) == dimension]
    new_ids = np.asarray([ids[place] for place in fitting], dtype=np.int64)
    rows = np.stack([vectors[place] for place in fitting])
    if matrix.rows.shape[1] == dimension:
        stays = ~among(matrix.ids, new_ids)
        new_ids = np.concatenate([matrix.ids[stays], new_ids])
        rows = np.concatenate([matrix.rows[stays], rows])
    order = np.argsort(new_ids, kind="stable")
    if np.array_equal(order, np.arange(len(order))):
        return Matrix(version, new_ids, rows)
    return Matrix(version, new_ids[order], rows[order])


def _without_gone(matrix: Matrix) -> Matrix:
    existing = np.fromiter(
        Embedding.objects.order_by().values_list("pk", flat=True).iterator(), dtype=np.int64
    )
    stays = among(matrix.ids, existing)
    return Matrix(matrix.version, matrix.ids[stays], matrix.rows[stays])
