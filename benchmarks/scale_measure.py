"""What is stated of an index of some size: times of a hybrid query, recall, bytes. Above: scale."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from statistics import quantiles
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from retrieval.index.base import Vector

WARM = 50  # questions before anything is timed
EXACT_QUESTIONS = 100
WHO = ("of this process", "of the server")
READ_ROWS = 20_000


def measure(questions: Sequence[str]) -> dict[str, float]:
    from retrieval.embedding import embedder
    from retrieval.index import sparse_index

    model = embedder()
    assert model is not None
    vectors = np.stack([model.embed_query(text) for text in questions])
    found: dict[str, float] = {"passages": sparse_index().size()}
    found |= _timed("hybrid", [partial(_search, text) for text in questions])
    found |= _timed("words", [partial(_words, text) for text in questions])
    found |= _timed("graph", [partial(_meaning, vector) for vector in vectors])
    found["recall@10"] = _recall(vectors[:EXACT_QUESTIONS])
    found |= _bytes()
    found["process MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_000
    return {name: round(value, 3) for name, value in found.items()}


def _search(text: str) -> object:
    from retrieval.services import search
    from retrieval.types import Query

    result = search(Query(text=text))
    assert not result.notes, result.notes  # both legs took part
    return result


def _words(text: str) -> object:
    from retrieval.index import sparse_index

    return sparse_index().rank(text, language="").top(100)


def _meaning(vector: Vector) -> object:
    from retrieval.index import dense_index

    return dense_index().rank(vector).top(100)


def _timed(name: str, calls: Sequence[Callable[[], object]]) -> dict[str, float]:
    for call in calls[:WARM]:
        call()
    milliseconds = []
    ours, servers = time.process_time(), _server_seconds()
    for call in calls:
        started = time.perf_counter()
        call()
        milliseconds.append((time.perf_counter() - started) * 1_000)
    cuts = quantiles(milliseconds, n=20)
    busy = time.process_time() - ours, _server_seconds() - servers
    cpu = {
        f"{name} CPU {who}": one * 1_000 / len(calls) for who, one in zip(WHO, busy, strict=True)
    }
    return {f"{name} p50": cuts[9], f"{name} p95": cuts[18], **cpu}


def _server_seconds() -> float:
    """Of processor time that the server's processes for us took, whatever else is running."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'")
        pids = [pid for (pid,) in cursor.fetchall()]
    ticks = 0
    for pid in pids:
        with suppress(FileNotFoundError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def _recall(vectors: Vector) -> float:
    """Of the ten nearest by float32 cosines over every stored vector."""
    from retrieval.index import dense_index
    from retrieval.index.arrays import unpack
    from retrieval.models import Embedding

    ids = np.empty((len(vectors), 0), np.int64)
    scores = np.empty((len(vectors), 0), np.float32)
    last = 0
    rows = Embedding.objects.order_by("pk").values_list("pk", "vector")
    while batch := list(rows.filter(pk__gt=last)[:READ_ROWS]):
        last = batch[-1][0]
        near = vectors @ np.stack([unpack(data, "<f4") for _, data in batch]).T
        ids = np.hstack([ids, np.tile(np.array([pk for pk, _ in batch]), (len(vectors), 1))])
        scores = np.hstack([scores, near])
        best = np.argsort(-scores, axis=1)[:, :10]
        ids = np.take_along_axis(ids, best, axis=1)
        scores = np.take_along_axis(scores, best, axis=1)
    shared = 0
    for vector, exact in zip(vectors, ids, strict=True):
        found = {one.chunk_id for one in dense_index().rank(vector).top(10)}
        shared += len(found & set(exact.tolist()))
    return shared / ids.size


def _bytes() -> dict[str, float]:
    """Of the database, and of its parts."""
    from django.db import connection

    parts = {
        "passages MB": "pg_total_relation_size('retrieval_chunk')",
        "postings MB": "pg_total_relation_size('retrieval_posting')",
        "vectors MB": "pg_total_relation_size('retrieval_embedding')",
        "graph MB": "pg_total_relation_size('retrieval_nearest')",
        "database MB": "pg_database_size(current_database())",
    }
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(parts.values())}")
        sizes = cursor.fetchone()
    return {name: size / 1_000_000 for name, size in zip(parts, sizes, strict=True)}
