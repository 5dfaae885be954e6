"""The version of the index: one row that every write moves and every reader compares.

Below: models. Above: postings, exact, pgvector, vectors. Moving it first makes writers queue: the
row stays locked until their transaction ends.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connections, router, transaction
from django.db.models import F
from django.db.models.functions import Greatest

from retrieval.models import IndexState


def index_version() -> int:
    """What readers compare with their caches; any difference means reload."""
    return int(_column("version") or 0)


def index_bump() -> int:
    """Move the version, inside the caller's transaction.

    It follows the clock, so that it differs after a rollback or a restored database as well.
    """
    clock = time.time_ns() // 1000
    row = IndexState.objects.filter(pk=1)
    if not row.update(version=Greatest(F("version") + 1, clock)):
        IndexState.objects.get_or_create(pk=1)
        row.update(version=Greatest(F("version") + 1, clock))
    return index_version()


@contextmanager
def index_held() -> Iterator[None]:
    """Nobody writes meanwhile. For readers that writers have disturbed again and again."""
    with transaction.atomic():
        list(IndexState.objects.select_for_update().filter(pk=1).values_list("version"))
        yield


def index_dimension() -> int:
    """Length of the embedder's vectors, 0 before there are any."""
    return int(_column("dimension") or 0)


def index_embedder() -> str:
    """Identity of the embedder that made the vectors, "" before there are any."""
    return str(_column("embedder") or "")


def _column(name: str) -> Any:
    """Every search asks several times: plain SQL takes a tenth of a queryset's time."""
    connection = connections[router.db_for_read(IndexState)]
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {name} FROM {IndexState._meta.db_table} WHERE id = 1")
        row = cursor.fetchone()
    return row[0] if row else None
