"""Fills in the vectors that chunks lack, a batch at a time, and can stop and go on anywhere.

The model runs outside of any transaction; each batch is stored in a short one of its own.
Below: embedding, the dense index, state. Above: ingest.vectorise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.db import transaction

from fastrag_site.threads import release_connections
from retrieval.embedding import embedder
from retrieval.index import dense_index
from retrieval.index.base import Report, Vector
from retrieval.index.state import index_bump, index_dimension, index_embedder
from retrieval.models import Chunk, IndexState

BATCH = 128  # chunks a transaction: a few seconds of work at most
SMALL_BATCH = 16  # while a caller waits


def fill_vectors(*, progress: Report | None = None) -> int:
    """Embed every chunk without a vector; how many. `progress(done, total)` after each batch.

    Raises EmbedderUnavailable; what was filled until then stays. Vectors of another embedder are
    stale: they go first.
    """
    model = embedder()
    if model is None:
        return 0
    identity = model.identity
    embedder_declare(identity, model.dimension)
    total = Chunk.objects.filter(embedding__isnull=True).count()
    done = 0
    for batch in _batches():
        vectors = model.embed_passages([passage_text(chunk) for chunk in batch])
        if not _store(identity, [chunk.pk for chunk in batch], vectors):
            break  # another process has changed to another embedder
        done += len(batch)
        if progress is not None:
            progress(done, max(done, total))
    return done


def fill_pages(page_ids: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Embed what lacks a vector on these pages; (done, total) after each of many small batches.

    Raises EmbedderUnavailable. Does nothing where the vectors of the index are another embedder's:
    to change all of them is the next sync's task.
    """
    model = embedder()
    if model is None or index_embedder() not in {"", model.identity}:
        return
    identity = model.identity
    embedder_declare(identity, model.dimension)
    waiting = Chunk.objects.filter(page__in=page_ids, embedding__isnull=True).order_by("pk")
    chunks = list(waiting.select_related("page").only("text", "section", "page__title"))
    for start in range(0, len(chunks), SMALL_BATCH):
        batch = chunks[start : start + SMALL_BATCH]
        release_connections()
        vectors = model.embed_passages([passage_text(chunk) for chunk in batch])
        if not _store(identity, [chunk.pk for chunk in batch], vectors):
            return
        yield start + len(batch), len(chunks)


def embedder_declare(identity: str, dimension: int) -> None:
    """Say who makes the vectors from now on; those of another embedder or length go."""
    if index_embedder() == identity and index_dimension() == dimension:
        return
    with transaction.atomic():
        index_bump()
        dense_index().reset(dimension)
        IndexState.objects.filter(pk=1).update(embedder=identity, dimension=dimension)


def passage_text(chunk: Chunk) -> str:
    """What is embedded: the passage below its title and headings."""
    headings = [heading for heading in chunk.section if heading != chunk.page.title]
    return "\n".join((" › ".join((chunk.page.title, *headings)), chunk.text))


def _batches() -> Iterator[list[Chunk]]:
    last = 0
    while True:
        waiting = Chunk.objects.filter(embedding__isnull=True, pk__gt=last).order_by("pk")
        columns = ("text", "section", "page__title")
        batch = list(waiting.select_related("page").only(*columns)[:BATCH])
        if not batch:
            return
        last = batch[-1].pk
        yield batch


def _store(identity: str, chunk_ids: Sequence[int], vectors: Vector) -> bool:
    """Store what still has its chunk; False where these vectors are stale by now."""
    with transaction.atomic():
        index_bump()  # first, so that writers queue here and never wait for each other's rows
        if index_embedder() != identity:
            return False
        rows = Chunk.objects.select_for_update(no_key=True).filter(pk__in=chunk_ids).order_by("pk")
        existing = set(rows.values_list("pk", flat=True))
        places = [place for place, id_ in enumerate(chunk_ids) if id_ in existing]
        dense_index().add([chunk_ids[place] for place in places], vectors[places])
    return True
