"""The table in which pgvector finds neighbours, on PostgreSQL alone, in plain SQL.

It holds what Embedding holds, as half-precision numbers under an HNSW index, and can be made again
from there at any time. A trigger of the database forgets what Embedding forgets. Below: django.db.
Above: pgvector, rebuilding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import DatabaseError, connections, router, transaction

from retrieval.index.base import Vector
from retrieval.models import Embedding

TABLE, INDEX = "retrieval_nearest", "retrieval_nearest_hnsw"
OLDEST = [0, 8]  # version of pgvector: the first whose scans go on where a filter left too few
MOST_DIMENSIONS = 4_000  # that HNSW takes of half-precision numbers
# More connections a vector, and more candidates at its insertion, cost build time and gain recall:
# among a million, 95 % of the ten nearest are found, and with pgvector's own 16 and 64 80 %.
BUILD = "m = 24, ef_construction = 200"


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """`extension`: there is one, and not too old. `dimension` 0: there is no table.

    Until all vectors are in the table, it has no index.
    """

    extension: bool
    dimension: int = 0
    is_indexed: bool = False

    def serves(self, dimension: int) -> bool:
        return self.is_indexed and self.dimension == dimension


def nearest_state() -> State:
    rows = _fetch(
        "SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'vector'"
        " AND string_to_array(extversion, '.')::int[] >= %s::int[]), a.atttypmod, i.indisvalid"
        " FROM (VALUES (1)) AS one LEFT JOIN pg_attribute a ON a.attrelid = to_regclass(%s)"
        " AND a.attname = 'vector' AND NOT a.attisdropped"
        " LEFT JOIN pg_index i ON i.indexrelid = to_regclass(%s)",
        [OLDEST, TABLE, INDEX],
    )
    extension, dimension, is_valid = rows[0]
    return State(extension=extension, dimension=dimension or 0, is_indexed=bool(is_valid))


def extension_create() -> bool:
    """Whether the database has pgvector now. The server may have none, or forbid it to the user."""
    try:
        with transaction.atomic(router.db_for_write(Embedding)):
            _execute("CREATE EXTENSION IF NOT EXISTS vector")
    except DatabaseError:
        return False
    return nearest_state().extension


def nearest_create(dimension: int) -> None:
    """An empty table for vectors of this dimension, instead of the one that is there."""
    nearest_drop()
    # In the row, where a comparison with all of them reads it without a look-up each.
    stored = f"halfvec({dimension:d}) STORAGE PLAIN"
    _execute(f"CREATE TABLE {TABLE} (chunk_id bigint PRIMARY KEY, vector {stored} NOT NULL)")


def nearest_drop() -> None:
    _execute(f"DROP TABLE IF EXISTS {TABLE}")


def index_drop() -> None:
    _execute(f"DROP INDEX IF EXISTS {INDEX}")


def index_create(*, concurrently: bool) -> None:
    """`concurrently`: writers go on meanwhile; not within a transaction."""
    how = "CONCURRENTLY " if concurrently else ""
    _execute(
        f"CREATE INDEX {how}{INDEX} ON {TABLE}"
        f" USING hnsw (vector halfvec_cosine_ops) WITH ({BUILD})"
    )


def nearest_write(chunk_ids: Sequence[int], vectors: Vector) -> None:
    """Inside the caller's transaction."""
    _execute(
        f"INSERT INTO {TABLE} (chunk_id, vector)"
        " SELECT * FROM unnest(%s::bigint[], %s::text[]::halfvec[])"
        " ON CONFLICT (chunk_id) DO UPDATE SET vector = excluded.vector",
        [list(chunk_ids), [literal(vector) for vector in vectors]],
    )


def nearest_missing(dimension: int, after: int, count: int) -> list[tuple[int, Any]]:
    """The next chunks that have a vector of this length, but not in the table, with the vector."""
    return _fetch(
        "SELECT chunk_id, vector FROM retrieval_embedding e"
        " WHERE chunk_id > %s AND octet_length(vector) = %s"
        f" AND NOT EXISTS (SELECT FROM {TABLE} near WHERE near.chunk_id = e.chunk_id)"
        " ORDER BY chunk_id LIMIT %s",
        [after, 4 * dimension, count],
    )


def nearest_count() -> int:
    return int(_fetch(f"SELECT count(*) FROM {TABLE}")[0][0])


def literal(vector: Vector) -> str:
    """As PostgreSQL reads it. More digits than a half-precision number has."""
    return ("[" + ",".join(["%.5g"] * len(vector)) + "]") % tuple(vector.tolist())


def scan(
    query: str, parameters: Sequence[object], settings: Sequence[tuple[str, str]]
) -> list[tuple[int, float]]:
    """(chunk id, distance) of a query that runs under these settings, and no other."""
    with transaction.atomic(router.db_for_read(Embedding)):
        if settings:
            calls = ", ".join("set_config(%s, %s, true)" for _ in settings)
            _fetch(f"SELECT {calls}", [part for pair in settings for part in pair])
        return [(int(id_), float(distance)) for id_, distance in _fetch(query, parameters)]


def _execute(statement: str, parameters: Sequence[Any] | None = None) -> None:
    with connections[router.db_for_write(Embedding)].cursor() as cursor:
        cursor.execute(statement, parameters)


def _fetch(query: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    with connections[router.db_for_read(Embedding)].cursor() as cursor:
        cursor.execute(query, parameters)
        return list(cursor.fetchall())
