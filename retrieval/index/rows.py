"""Plain SQL where a queryset's own time would be most of the whole.

Below: django.db. Above: postings and merging write posting rows, the pipeline looks chunks up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.db import connections, router

from retrieval.models import Chunk, Posting

MOST_PARAMETERS = 900  # of one statement, as old SQLite allows

Row = tuple[str, bytes, bytes]  # term, places, frequencies
Stored = tuple[str, int, bytes, bytes]  # with the segment


def postings_insert(segment_id: int, rows: Iterable[Row]) -> None:
    connection = connections[router.db_for_write(Posting)]
    table = connection.ops.quote_name(Posting._meta.db_table)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            statement = f"COPY {table} (segment_id, term, places, frequencies) FROM STDIN"
            with cursor.copy(statement) as copy:
                for row in rows:
                    copy.write_row((segment_id, *row))
            return
        cursor.executemany(
            f"INSERT INTO {table} (segment_id, term, places, frequencies) VALUES (%s, %s, %s, %s)",
            [(segment_id, *row) for row in rows],
        )


def postings_of(terms: Sequence[str]) -> list[Stored]:
    """By term, then segment. Of a million passages these are megabytes a query.

    PostgreSQL sends bytes as text unless it is asked for them as they are.
    """
    connection = connections[router.db_for_read(Posting)]
    table = connection.ops.quote_name(Posting._meta.db_table)
    query = f"SELECT term, segment_id, places, frequencies FROM {table} WHERE term"
    if connection.vendor == "postgresql":
        from psycopg import Cursor

        connection.ensure_connection()
        with connection.wrap_database_errors, Cursor[Stored](connection.connection) as plain:
            ordered = f"{query} = ANY(%s) ORDER BY term, segment_id"
            return list(plain.execute(ordered.encode(), [list(terms)], binary=True).fetchall())
    found: list[Stored] = []
    with connection.cursor() as cursor:
        for start in range(0, len(terms), MOST_PARAMETERS):
            some = terms[start : start + MOST_PARAMETERS]
            marks = ", ".join(["%s"] * len(some))
            cursor.execute(f"{query} IN ({marks}) ORDER BY term, segment_id", some)
            found += cursor.fetchall()
    return found


def pages_of(chunk_ids: Sequence[int]) -> dict[int, int]:
    """Chunk id → page id, of those chunks that exist."""
    connection = connections[router.db_for_read(Chunk)]
    table = connection.ops.quote_name(Chunk._meta.db_table)
    pages: dict[int, int] = {}
    with connection.cursor() as cursor:
        for start in range(0, len(chunk_ids), MOST_PARAMETERS):
            some = list(chunk_ids[start : start + MOST_PARAMETERS])
            marks = ", ".join(["%s"] * len(some))
            cursor.execute(f"SELECT id, page_id FROM {table} WHERE id IN ({marks})", some)
            pages.update(cursor.fetchall())
    return pages
