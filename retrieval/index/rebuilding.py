"""Mends the table of neighbours: what is wrong with it, and how it is made again on a live site.

Below: nearest, state. Above: pgvector. Rows come from Embedding a batch at a time; then the graph
is built beside readers and writers. Broken off anywhere, the next run goes on.
"""

from __future__ import annotations

import numpy as np
from django.db import connections, router, transaction

from retrieval.index import nearest
from retrieval.index.arrays import unpack
from retrieval.index.base import IndexUnavailable, Report
from retrieval.index.state import index_bump
from retrieval.models import Embedding

MEND = "run `manage.py reindex`"
NO_EXTENSION = (
    "the database has no pgvector 0.8 or newer: install it on the PostgreSQL server and let a "
    "superuser run `CREATE EXTENSION vector` (or `ALTER EXTENSION vector UPDATE`) in the database"
)
BATCH = 2_000  # vectors a transaction
NODE_BYTES = 900  # of the graph in memory, beside the vector
MOST_BUILD_BYTES = 2_000_000_000


def problem(dimension: int) -> str | None:
    """`dimension`: of the stored vectors, 0 before there are any."""
    state = nearest.nearest_state()
    if not state.extension:
        return f"{NO_EXTENSION}, then {MEND}"
    if not dimension:
        return None
    if dimension > nearest.MOST_DIMENSIONS:
        most = nearest.MOST_DIMENSIONS
        return f"vectors have {dimension} numbers, pgvector indexes {most}: choose another embedder"
    if not state.dimension:
        return f"there is no index of vectors: {MEND}"
    if state.dimension != dimension:
        return f"the index has vectors of {state.dimension} numbers, not {dimension}: {MEND}"
    return None if state.is_indexed else f"the index of vectors is not built: {MEND}"


def rebuild(dimension: int, progress: Report, *, anew: bool) -> None:
    """Nothing where it is whole, unless `anew`. Raises IndexUnavailable."""
    if not nearest.extension_create():
        raise IndexUnavailable(f"{NO_EXTENSION}, then run this again")
    if not 0 < dimension <= nearest.MOST_DIMENSIONS:
        return
    with transaction.atomic():
        index_bump()  # no writer is between looking for the table and writing to it
        state = nearest.nearest_state()
        if anew or state.dimension != dimension:
            nearest.nearest_create(dimension)
        elif state.is_indexed:
            return
        else:
            nearest.index_drop()  # of a build that was broken off
    _fill(dimension, progress)
    _build(dimension)


def _fill(dimension: int, progress: Report) -> None:
    done, last = nearest.nearest_count(), 0
    total = Embedding.objects.count()
    while True:
        with transaction.atomic():
            index_bump()  # first, so that no vector changes between reading and writing
            rows = nearest.nearest_missing(dimension, last, BATCH)
            if not rows:
                return
            vectors = np.stack([unpack(data, "<f4") for _, data in rows])
            nearest.nearest_write([id_ for id_, _ in rows], vectors)
        last = rows[-1][0]
        done += len(rows)
        progress(done, max(done, total))


def _build(dimension: int) -> None:
    """In memory where it fits: a graph that is built on disk takes many times as long."""
    connection = connections[router.db_for_write(Embedding)]
    needed = nearest.nearest_count() * (2 * dimension + NODE_BYTES)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_size_bytes(current_setting('maintenance_work_mem'))")
        (given,) = cursor.fetchone()
        memory = max(given, min(needed, MOST_BUILD_BYTES))
        cursor.execute("SELECT set_config('maintenance_work_mem', %s, false)", [f"{memory}B"])
        try:
            nearest.index_create(concurrently=not connection.in_atomic_block)
        finally:
            if not connection.in_atomic_block:
                cursor.execute("RESET maintenance_work_mem")
