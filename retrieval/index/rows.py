"""Writes posting rows. Plain SQL: half of the time that a merge holds the database is spent here.

Below: django.db. Above: postings, merging.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.db import connections, router

from retrieval.models import Posting

Row = tuple[str, bytes, bytes]  # term, places, frequencies


def postings_insert(segment_id: int, rows: Iterable[Row]) -> None:
    connection = connections[router.db_for_write(Posting)]
    table = connection.ops.quote_name(Posting._meta.db_table)
    with connection.cursor() as cursor:
        cursor.executemany(
            f"INSERT INTO {table} (segment_id, term, places, frequencies) VALUES (%s, %s, %s, %s)",
            [(segment_id, *row) for row in rows],
        )
