"""The contract of a dense index: over each implementation that this database can carry."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from django.db import connection, transaction

from retrieval.index.allowed import Allowed
from retrieval.index.base import DenseIndex, Vector
from retrieval.index.exact import ExactIndex
from retrieval.index.nearest import index_drop, nearest_drop
from retrieval.index.pgvector import PgvectorIndex
from retrieval.models import Chunk, Embedding
from tests.factories import ChunkFactory, PageFactory

pytestmark = pytest.mark.django_db


def unit(*values: float) -> Vector:
    vector = np.array(values, dtype=np.float32)
    return vector / np.float32(np.linalg.norm(vector))


EAST, NORTH, BETWEEN = unit(1, 0), unit(0, 1), unit(1, 1)


Make = Callable[[], DenseIndex]


def exact() -> DenseIndex:
    return ExactIndex()


def pgvector() -> DenseIndex:
    return PgvectorIndex()


def pgvector_without_index() -> DenseIndex:
    """As while it is being built."""
    index_drop()
    return PgvectorIndex()


def pgvector_without_table() -> DenseIndex:
    nearest_drop()
    return PgvectorIndex()


@pytest.fixture(params=[exact, pgvector, pgvector_without_index, pgvector_without_table])
def make(request: pytest.FixtureRequest) -> Make:
    """Makes one as another process would, on an empty index for vectors of two numbers."""
    make: Make = request.param
    if make is exact:
        return make
    if connection.vendor != "postgresql":
        pytest.skip("pgvector is PostgreSQL's")
    PgvectorIndex().reset(2)
    return make


@pytest.fixture
def index(make: Make) -> DenseIndex:
    return make()


def store(index: DenseIndex, *vectors: Vector) -> list[int]:
    ids = [chunk.pk for chunk in ChunkFactory.create_batch(len(vectors))]
    index.add(ids, np.stack(vectors))
    return ids


def found(index: DenseIndex, vector: Vector, k: int = 10) -> list[int]:
    return [one.chunk_id for one in index.search(vector, k=k)]


def test_the_nearest_come_first_by_cosine(index: DenseIndex) -> None:
    east, north, between = store(index, EAST, NORTH, BETWEEN)
    hits = index.search(EAST, k=3)
    assert [hit.chunk_id for hit in hits] == [east, between, north]
    assert [hit.score for hit in hits] == pytest.approx([1.0, 0.7071, 0.0], abs=1e-4)


def test_ties_are_ordered_by_id(index: DenseIndex) -> None:
    ids = store(index, *[EAST] * 5)
    assert found(index, EAST, k=3) == ids[:3]


def test_a_search_can_be_restricted(index: DenseIndex) -> None:
    _, north, _ = store(index, EAST, NORTH, BETWEEN)
    (hit,) = index.search(EAST, k=5, allowed=Allowed(Chunk.objects.filter(pk=north)))
    assert hit.chunk_id == north


def test_a_ranking_knows_the_score_of_any_chunk(index: DenseIndex) -> None:
    east, north, _ = store(index, EAST, NORTH, BETWEEN)
    scored = index.rank(EAST).at([north, 999_999, east])
    assert {one.chunk_id: round(one.score, 4) for one in scored} == {north: 0.0, east: 1.0}


def test_an_empty_index_finds_nothing(index: DenseIndex) -> None:
    assert index.search(EAST, k=5) == []
    assert index.rank(EAST).at([1]) == []
    assert index.size() == 0


def test_a_vector_of_another_length_finds_nothing(index: DenseIndex) -> None:
    store(index, EAST)
    assert index.search(unit(1, 2, 3), k=5) == []


def test_new_vectors_are_seen_by_a_process_that_has_cached_before(
    make: Make, index: DenseIndex
) -> None:
    other = make()
    (east,) = store(index, EAST)
    assert found(other, EAST) == [east]
    (north,) = store(index, NORTH)
    assert found(other, NORTH) == [north, east]


def test_a_vector_is_replaced_by_a_newer_one(index: DenseIndex) -> None:
    (one,) = store(index, EAST)
    assert index.search(EAST, k=1)[0].score == pytest.approx(1.0)
    index.add([one], NORTH[np.newaxis])
    assert index.search(EAST, k=1)[0].score == pytest.approx(0.0)
    assert Embedding.objects.count() == 1


def test_what_is_removed_is_not_found(index: DenseIndex) -> None:
    east, north = store(index, EAST, NORTH)
    assert len(found(index, EAST)) == 2
    index.remove([east])
    assert found(index, EAST) == [north]


def test_chunks_that_a_cascade_took_are_not_found(index: DenseIndex) -> None:
    east, north = store(index, EAST, NORTH)
    assert len(found(index, EAST)) == 2
    Chunk.objects.filter(pk=east).delete()
    assert found(index, EAST) == [north]
    assert index.size() == 1


def test_a_rolled_back_write_is_forgotten(index: DenseIndex) -> None:
    (east,) = store(index, EAST)
    with transaction.atomic():
        store(index, EAST)
        assert len(found(index, EAST)) == 2
        transaction.set_rollback(True)
    assert found(index, EAST) == [east]


def test_a_rolled_back_removal_is_forgotten(index: DenseIndex) -> None:
    east, north = store(index, EAST, NORTH)
    with transaction.atomic():
        index.remove([east])
        assert found(index, EAST) == [north]
        transaction.set_rollback(True)
    assert found(index, EAST) == [east, north]


def test_vectors_can_be_read_back(index: DenseIndex) -> None:
    east, north = store(index, EAST, NORTH)
    found = index.vectors([north, 999_999, east])
    assert set(found) == {east, north}
    assert found[north].tolist() == NORTH.tolist()


def test_vectors_out_of_order_are_kept_by_id(index: DenseIndex) -> None:
    first, second = (ChunkFactory.create(page=PageFactory.create()).pk for _ in range(2))
    index.add([second], NORTH[np.newaxis])
    index.add([first], EAST[np.newaxis])
    assert found(index, EAST) == [first, second]
