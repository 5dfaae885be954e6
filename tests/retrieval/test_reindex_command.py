"""`manage.py reindex` as an operator meets it. On SQLite it is vectors alone that it mends."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import ExitStack
from unittest import mock

import numpy as np
import pytest
from django.core.checks import run_checks
from django.core.management import CommandError, call_command
from django.db import connection

from retrieval.index import dense_index, nearest, rebuilding
from retrieval.index.state import index_embedder
from retrieval.index.vectors import fill_vectors
from retrieval.models import Chunk, Embedding, IndexState
from retrieval.services import search
from retrieval.types import Mode, Query
from tests.factories import ChunkFactory
from tests.retrieval.embedders import DIMENSION, HashEmbedder

pytestmark = pytest.mark.django_db
on_postgresql = pytest.mark.skipif(
    connection.vendor != "postgresql", reason="pgvector is PostgreSQL's"
)
USERS = ("index.vectors", "index.condition", "ingest.reindexing", "pipeline.recall")
USERS += ("pipeline.transform",)


@pytest.fixture
def model() -> Iterator[HashEmbedder]:
    with embedding_by(model := HashEmbedder()):
        yield model


def embedding_by(model: HashEmbedder | None) -> ExitStack:
    """Everywhere in the product."""
    stack = ExitStack()
    for name in USERS:
        stack.enter_context(mock.patch(f"retrieval.{name}.embedder", lambda: model))
    return stack


@pytest.fixture
def chunks(model: HashEmbedder) -> list[Chunk]:
    from retrieval.index import sparse_index

    chunks = [ChunkFactory.create(text=text) for text in ("a red pump", "a blue valve", "oil")]
    sparse_index().add(chunks, languages=["en"] * 3)
    fill_vectors()
    return chunks


def reindex(**options: bool) -> str:
    out = io.StringIO()
    call_command("reindex", stdout=out, **options)
    return out.getvalue()


def warnings() -> list[str]:
    return [one.msg for one in run_checks(databases=["default"]) if one.id == "retrieval.W002"]


def found() -> list[int]:
    return [hit.chunk_id for hit in search(Query(text="red pump", mode=Mode.DENSE, k=1)).hits]


def test_vectors_that_are_missing_are_computed(chunks: list[Chunk]) -> None:
    dense_index().remove([chunks[0].pk])
    assert reindex().startswith("1 vectors computed")
    assert Embedding.objects.count() == 3


def test_what_is_whole_is_left_alone(chunks: list[Chunk], model: HashEmbedder) -> None:
    model.passages.clear()
    assert reindex().startswith("0 vectors computed")
    assert model.passages == []


def test_a_changed_embedder_is_told_and_mended(chunks: list[Chunk]) -> None:
    with embedding_by(HashEmbedder(identity="hash-2")):
        (warning,) = warnings()
        assert "manage.py reindex" in warning
        assert reindex().startswith("3 vectors computed")
        assert warnings() == []
    assert index_embedder() == "hash-2"


def test_a_changed_length_of_vectors_is_mended(chunks: list[Chunk]) -> None:
    IndexState.objects.update(dimension=7)
    assert reindex().startswith("3 vectors computed")
    assert IndexState.objects.get().dimension == DIMENSION
    assert found() == [chunks[0].pk]


def test_without_an_embedder_it_says_so(chunks: list[Chunk]) -> None:
    with embedding_by(None):
        assert "No embedder is configured" in reindex()
        assert warnings() == []


def test_an_embedder_that_is_out_keeps_the_vectors(
    chunks: list[Chunk], model: HashEmbedder
) -> None:
    model.fails = True
    dense_index().remove([chunks[0].pk])
    with mock.patch.object(
        HashEmbedder, "embed_passages", side_effect=lambda texts: model.embed_query("")
    ):
        assert "it is switched off" in reindex()
    assert Embedding.objects.count() == 2


@on_postgresql
@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (nearest.nearest_drop, "there is no index of vectors"),
        (nearest.index_drop, "is not built"),
        (lambda: nearest.nearest_create(5), f"vectors of 5 numbers, not {DIMENSION}"),
    ],
    ids=["no table", "no index", "wrong dimension"],
)
def test_what_is_wrong_is_told_searched_around_and_mended(
    chunks: list[Chunk], harm: object, words: str
) -> None:
    harm()  # type: ignore[operator]
    assert found() == [chunks[0].pk]
    (warning,) = warnings()
    assert words in warning
    assert "manage.py reindex" in warning
    reindex()
    assert warnings() == []
    assert nearest.nearest_count() == 3
    assert found() == [chunks[0].pk]


@on_postgresql
def test_a_missing_extension_is_told_and_search_is_exact(chunks: list[Chunk]) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DROP EXTENSION vector CASCADE")
    assert found() == [chunks[0].pk]
    (warning,) = warnings()
    assert "CREATE EXTENSION vector" in warning
    assert "manage.py reindex" in warning
    reindex()  # here it may be made
    assert warnings() == []
    assert nearest.nearest_count() == 3


@on_postgresql
def test_an_extension_that_cannot_be_made_ends_with_what_to_do(chunks: list[Chunk]) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DROP EXTENSION vector CASCADE")
    with (
        mock.patch.object(nearest, "extension_create", lambda: False),
        pytest.raises(CommandError, match="CREATE EXTENSION vector"),
    ):
        reindex()


@on_postgresql
def test_a_build_that_was_broken_off_goes_on(chunks: list[Chunk]) -> None:
    nearest.nearest_drop()
    with (
        mock.patch.object(rebuilding, "BATCH", 2),
        mock.patch.object(rebuilding, "_build", side_effect=KeyboardInterrupt),
        pytest.raises(CommandError, match="reindex again to go on"),
    ):
        reindex()
    assert nearest.nearest_count() == 3
    with mock.patch.object(nearest, "nearest_write", side_effect=AssertionError):
        reindex()
    assert warnings() == []


@on_postgresql
def test_an_index_that_is_whole_is_built_anew_on_demand(chunks: list[Chunk]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT '{nearest.TABLE}'::regclass::oid")
        before = cursor.fetchone()
        reindex(anew=True)
        cursor.execute(f"SELECT '{nearest.TABLE}'::regclass::oid")
        assert cursor.fetchone() != before
    assert found() == [chunks[0].pk]


@on_postgresql
def test_vectors_that_pgvector_cannot_index_are_told() -> None:
    assert "pgvector indexes 4000" in str(rebuilding.problem(9_000))


def test_an_index_of_many_vectors_that_is_not_built_leaves_search_to_words(
    chunks: list[Chunk],
) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("pgvector is PostgreSQL's")
    nearest.index_drop()
    with mock.patch("retrieval.index.pgvector.EXACT_MOST", 0):
        result = search(Query(text="red pump"))
    assert [hit.chunk_id for hit in result.hits] == [chunks[0].pk]
    assert any("manage.py reindex" in note for note in result.notes)
    assert np.isfinite(result.confidence)
