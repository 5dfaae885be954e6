"""What only pgvector has to prove: it walks a graph, filters on the way, and may be out."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from django.db import connection, transaction

from retrieval.index import nearest, pgvector
from retrieval.index.allowed import Allowed
from retrieval.index.base import IndexUnavailable, Vector
from retrieval.index.exact import ExactIndex
from retrieval.index.pgvector import PgvectorIndex
from retrieval.models import Chunk, Embedding, IndexState, Page
from tests.factories import ChunkFactory, PageFactory

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(connection.vendor != "postgresql", reason="pgvector is PostgreSQL's"),
]
COUNT, DIMENSION = 2_000, 32


@pytest.fixture
def index() -> PgvectorIndex:
    index = PgvectorIndex()
    index.reset(DIMENSION)
    return index


@pytest.fixture
def pages() -> list[Page]:
    """The first has 5 of the chunks, the second half of the others."""
    return PageFactory.create_batch(3)


@pytest.fixture
def vectors(index: PgvectorIndex, pages: list[Page]) -> Vector:
    """Of many chunks, in clusters as texts are."""
    random = np.random.default_rng(1)
    centres = random.standard_normal((50, DIMENSION))
    rows = centres[random.integers(50, size=COUNT)] + random.standard_normal((COUNT, DIMENSION))
    unit: Vector = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    chunks = Chunk.objects.bulk_create(
        Chunk(page=pages[0 if n < 5 else 1 + n % 2], position=n, text=str(n), word_count=1)
        for n in range(COUNT)
    )
    nearest.index_drop()  # to build it at once takes a tenth of the time
    index.add([chunk.pk for chunk in chunks], unit)
    nearest.index_create(concurrently=False)
    with connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {nearest.TABLE}")
    return unit


def recall(index: PgvectorIndex, vectors: Vector, allowed: Allowed | None, k: int = 10) -> float:
    """Share of the exact k nearest that are found, over 50 queries near to what is there."""
    exact, shared = ExactIndex(), 0
    noise = np.random.default_rng(2).standard_normal((50, DIMENSION)).astype(np.float32)
    for vector in vectors[:: COUNT // 50] + 0.1 * noise:
        unit = vector / np.float32(np.linalg.norm(vector))
        wanted = {one.chunk_id for one in exact.search(unit, k=k, allowed=allowed)}
        found = {one.chunk_id for one in index.search(unit, k=k, allowed=allowed)}
        assert len(found) == len(wanted)
        shared += len(wanted & found) / len(wanted)
    return shared / 50


def on(page: Page) -> Allowed:
    return Allowed(Chunk.objects.filter(page=page))


def test_scores_are_those_of_the_exact_index(index: PgvectorIndex, vectors: Vector) -> None:
    found, exact = (one.search(vectors[7], k=20) for one in (index, ExactIndex()))
    assert [hit.score for hit in found] == [hit.score for hit in exact]


def test_the_graph_finds_nearly_all_of_the_exact_nearest(
    index: PgvectorIndex, vectors: Vector
) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("SET LOCAL enable_sort = off")
        assert recall(index, vectors, None) >= 0.97


def test_a_filter_that_lets_few_through_is_compared_exactly(
    index: PgvectorIndex, vectors: Vector, pages: list[Page]
) -> None:
    assert recall(index, vectors, on(pages[0]), k=3) == 1.0


@pytest.mark.parametrize("tuples", [40_000, 1], ids=["walked", "walked in vain"])
def test_a_filter_that_lets_many_through_finds_nearly_all(
    index: PgvectorIndex, vectors: Vector, pages: list[Page], tuples: int
) -> None:
    """Where the walk ends too early, all that is let through is compared."""
    with (
        mock.patch("retrieval.index.allowed.FEW", 100),
        mock.patch.object(pgvector, "SCAN_TUPLES", tuples),
        connection.cursor() as cursor,
    ):
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("SET LOCAL enable_sort = off")
        assert recall(index, vectors, on(pages[1])) >= 0.97


def test_a_filter_is_tried_along_the_graph(
    index: PgvectorIndex, vectors: Vector, pages: list[Page]
) -> None:
    """Not joined: a join may end the walk, and read all chunks."""
    plans: list[str] = []

    def explained(query: str, parameters: list[object], settings: object) -> list[object]:
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN {query}", parameters)
            plans.append("\n".join(line for (line,) in cursor.fetchall()))
        return []

    with (
        mock.patch("retrieval.index.allowed.FEW", 100),
        mock.patch.object(nearest, "scan", explained),
    ):
        index.rank(vectors[0]).top(10, allowed=on(pages[1]))
    assert f"Index Scan using {nearest.INDEX}" in plans[0]
    assert nearest.INDEX not in plans[1]


def test_more_than_the_widest_search_can_be_asked_for(
    index: PgvectorIndex, vectors: Vector
) -> None:
    assert len(index.search(vectors[0], k=1_500)) == 1_500


def test_what_a_transaction_undoes_is_not_found(index: PgvectorIndex, vectors: Vector) -> None:
    before = index.search(vectors[0], k=1)
    with transaction.atomic():
        index.remove([before[0].chunk_id])
        assert index.search(vectors[0], k=1) != before
        transaction.set_rollback(True)
    assert index.search(vectors[0], k=1) == before


def test_many_vectors_without_an_index_are_not_read_into_memory(
    index: PgvectorIndex, vectors: Vector
) -> None:
    nearest.nearest_drop()
    with (
        mock.patch.object(pgvector, "EXACT_MOST", 100),
        pytest.raises(IndexUnavailable, match=r"manage\.py reindex"),
    ):
        index.rank(vectors[0])


def test_a_table_that_goes_during_a_search_is_told(index: PgvectorIndex, vectors: Vector) -> None:
    ranking = index.rank(vectors[0])
    nearest.nearest_drop()
    with pytest.raises(IndexUnavailable, match=r"manage\.py reindex"):
        ranking.top(5)
    assert Embedding.objects.count() == COUNT  # the transaction around it goes on


@pytest.mark.django_db(transaction=True)
def test_what_is_written_while_the_index_is_built_is_in_it() -> None:
    index = PgvectorIndex()
    early, late = ChunkFactory.create_batch(2)
    index.reset(2)
    IndexState.objects.update(dimension=2)
    index.add([early.pk], np.array([[0, 1]], np.float32))
    nearest.nearest_drop()

    def write(done: int, total: int) -> None:
        index.add([late.pk], np.array([[1, 0]], np.float32))

    try:
        index.rebuild(write)
        assert nearest.nearest_state().serves(2)
        found = index.search(np.array([1, 0], np.float32), k=2)
        assert [hit.chunk_id for hit in found] == [late.pk, early.pk]
    finally:
        nearest.nearest_drop()
