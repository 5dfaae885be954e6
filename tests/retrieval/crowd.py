"""A program for a scratch database: twenty threads search while one writes, removes and merges.

Prints the number of searches; fails with the first exception, or where a search finds what was
removed before it began.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import django

django.setup()

from django.db import connection, transaction  # noqa: E402
from django.utils import timezone  # noqa: E402

from retrieval.index import dense_index, sparse_index  # noqa: E402
from retrieval.index.vectors import fill_vectors  # noqa: E402
from retrieval.models import Chunk, Page, Site  # noqa: E402
from retrieval.services import search  # noqa: E402
from retrieval.types import Query  # noqa: E402

SEARCHERS = 20
ROUNDS = 30
removed: set[int] = set()
finished = threading.Event()


def write(page: Page, number: int) -> None:
    with transaction.atomic():
        chunks = [
            Chunk(
                page=page,
                position=number * 4 + place,
                text=f"coffee from place {number} cup {place}",
                word_count=6,
                content_hash="",
            )
            for place in range(4)
        ]
        Chunk.objects.bulk_create(chunks)
        sparse_index().add(chunks, languages=["en"] * 4)
    gone = chunks[0].pk
    with transaction.atomic():
        sparse_index().remove([gone])
        dense_index().remove([gone])
        Chunk.objects.filter(pk=gone).delete()
    removed.add(gone)


def writer() -> None:
    try:
        now = timezone.now()
        site = Site.objects.create(location="https://crowd.example/")
        page = Page.objects.create(
            site=site, url=site.location, title="Crowd", fetched_at=now, changed_at=now
        )
        for number in range(ROUNDS):
            write(page, number)
            if number % 10 == 9:
                sparse_index().optimize()
                fill_vectors()
    finally:
        finished.set()
        connection.close()


def searcher() -> int:
    count = 0
    try:
        while not finished.is_set():
            before = frozenset(removed)
            found = search(Query(text="coffee place cup"))
            assert not before & {hit.chunk_id for hit in found.hits}, "found what was removed"
            count += 1
    finally:
        connection.close()
    return count


def main() -> None:
    with ThreadPoolExecutor(SEARCHERS + 1) as threads:
        writing = threads.submit(writer)
        searching = [threads.submit(searcher) for _ in range(SEARCHERS)]
        writing.result(timeout=60)
        counts = [one.result(timeout=60) for one in searching]
    assert len(search(Query(text="coffee", k=100, mmr_lambda=1.0)).hits) == ROUNDS * 3
    print(sum(counts))


if __name__ == "__main__":
    main()
