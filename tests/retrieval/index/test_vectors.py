from __future__ import annotations

from collections.abc import Iterator
from unittest import mock

import pytest

from retrieval.embedding.errors import EmbedderUnavailable
from retrieval.index import dense_index, vectors
from retrieval.index.state import index_embedder, index_version
from retrieval.index.vectors import fill_vectors, passage_text
from retrieval.models import Chunk, Embedding
from tests.factories import ChunkFactory, PageFactory
from tests.retrieval.embedders import HashEmbedder

pytestmark = pytest.mark.django_db


@pytest.fixture
def model() -> Iterator[HashEmbedder]:
    model = HashEmbedder()
    with using(model):
        yield model


def using(model: HashEmbedder | None) -> mock._patch[object]:
    return mock.patch.object(vectors, "embedder", lambda: model)


def test_every_chunk_without_a_vector_gets_one(model: HashEmbedder) -> None:
    ChunkFactory.create_batch(3)
    assert fill_vectors() == 3
    assert Embedding.objects.count() == 3
    assert index_embedder() == model.identity


def test_a_second_fill_computes_nothing(model: HashEmbedder) -> None:
    ChunkFactory.create_batch(3)
    fill_vectors()
    model.passages.clear()
    assert fill_vectors() == 0
    assert model.passages == []


def test_only_new_chunks_are_embedded(model: HashEmbedder) -> None:
    ChunkFactory.create_batch(2)
    fill_vectors()
    ChunkFactory.create(text="the new one")
    model.passages.clear()
    assert fill_vectors() == 1
    assert model.passages[0].endswith("\nthe new one")


def test_progress_is_told_after_each_batch(model: HashEmbedder) -> None:
    ChunkFactory.create_batch(5)
    told: list[tuple[int, int]] = []
    with mock.patch.object(vectors, "BATCH", 2):
        fill_vectors(progress=lambda done, total: told.append((done, total)))
    assert told == [(2, 5), (4, 5), (5, 5)]


def test_a_fill_that_dies_keeps_its_batches_and_the_next_goes_on(model: HashEmbedder) -> None:
    ChunkFactory.create_batch(5)

    def dies_after_two(done: int, _: int) -> None:
        model.fails = done >= 2

    with mock.patch.object(vectors, "BATCH", 2):
        with pytest.raises(EmbedderUnavailable):
            fill_vectors(progress=dies_after_two)
        assert Embedding.objects.count() == 2
        model.fails = False
        assert fill_vectors() == 3


def test_each_batch_moves_the_version(model: HashEmbedder) -> None:
    ChunkFactory.create_batch(4)
    seen: list[int] = []
    with mock.patch.object(vectors, "BATCH", 2):
        fill_vectors(progress=lambda *_: seen.append(index_version()))
    assert seen == sorted(set(seen))
    assert len(seen) == 2


def test_vectors_of_another_embedder_are_stale_and_filled_anew() -> None:
    ChunkFactory.create_batch(2)
    with using(HashEmbedder()):
        fill_vectors()
    other = HashEmbedder(identity="hash-2")
    with using(other):
        assert fill_vectors() == 2
    assert len(other.passages) == 2
    assert index_embedder() == "hash-2"


def test_a_chunk_that_went_while_it_was_embedded_is_left_out(model: HashEmbedder) -> None:
    gone, stays = ChunkFactory.create_batch(2)
    real = model.embed_passages

    def slow(texts: list[str]) -> object:
        Chunk.objects.filter(pk=gone.pk).delete()
        return real(texts)

    with mock.patch.object(model, "embed_passages", slow):
        fill_vectors()
    assert list(Embedding.objects.values_list("chunk_id", flat=True)) == [stays.pk]


def test_vectors_that_became_stale_meanwhile_are_not_stored(model: HashEmbedder) -> None:
    ChunkFactory.create_batch(2)
    real = model.embed_passages

    def slow(texts: list[str]) -> object:
        with using(HashEmbedder(identity="hash-2")):
            fill_vectors()
        return real(texts)

    with mock.patch.object(model, "embed_passages", slow):
        assert fill_vectors() == 0
    assert index_embedder() == "hash-2"
    assert dense_index().size() == 2


def test_without_an_embedder_nothing_is_filled() -> None:
    ChunkFactory.create()
    with using(None):
        assert fill_vectors() == 0


def test_title_and_headings_are_embedded_with_the_passage() -> None:
    page = PageFactory.create(title="Guide")
    chunk = ChunkFactory.create(page=page, section=["Guide", "Set-up"], text="Run it.")
    assert passage_text(chunk) == "Guide › Set-up\nRun it."
