"""The lexical index: packed postings in plain tables, the same on SQLite and PostgreSQL.

One row a term and segment; a segment is written in the transaction of its chunks. Below: analysis,
segments, bm25, merging. Above: ingest.store writes, the pipeline ranks.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
from django.db import transaction

from retrieval.index import bm25
from retrieval.index.allowed import Allowed
from retrieval.index.analysis import QueryTerm, document_terms, query_terms, written_language
from retrieval.index.arrays import among, pack, unpack
from retrieval.index.base import Ranking, Scored
from retrieval.index.merging import SMALL_CHUNKS, merge_segments
from retrieval.index.rows import postings_insert, postings_of
from retrieval.index.segments import Catalog, CatalogCache
from retrieval.index.state import index_bump, index_held, index_version
from retrieval.models import Chunk, Segment

TRIES = 4  # to read postings and catalog of one version while a sync writes


class PostingsIndex:
    """A SparseIndex. Keep one a process: it caches the catalog."""

    def __init__(self) -> None:
        self._catalogs = CatalogCache()

    # Writes, inside the caller's transaction

    def add(self, chunks: Sequence[Chunk], *, languages: Sequence[str]) -> None:
        if not chunks:
            return
        version = index_bump()
        pairs = zip(chunks, _known(chunks, languages), strict=True)
        indexed = sorted(pairs, key=lambda pair: pair[0].pk)
        places: dict[str, list[int]] = defaultdict(list)
        frequencies: dict[str, list[int]] = defaultdict(list)
        lengths: list[int] = []
        for place, (chunk, language) in enumerate(indexed):
            counts, length = document_terms(_text(chunk), language)
            lengths.append(length)
            for term, count in counts.items():
                places[term].append(place)
                frequencies[term].append(min(count, 65_535))
        segment = Segment.objects.create(
            version=version,
            chunk_count=len(indexed),
            chunk_ids=pack((chunk.pk for chunk, _ in indexed), "<i8"),
            lengths=pack(lengths, "<u4"),
            languages=Counter(language for _, language in indexed),
        )
        rows = ((t, pack(places[t], "<u4"), pack(frequencies[t], "<u2")) for t in sorted(places))
        postings_insert(segment.pk, rows)
        merge_segments(version, below=SMALL_CHUNKS)

    def remove(self, chunk_ids: Sequence[int]) -> None:
        if not chunk_ids:
            return
        index_bump()
        gone = np.unique(np.asarray(chunk_ids, dtype=np.int64))
        for segment in Segment.objects.only("chunk_ids", "dead", "chunk_count"):
            hit = gone[among(gone, unpack(segment.chunk_ids, "<i8"))]
            if not len(hit):
                continue
            dead = np.union1d(unpack(segment.dead, "<i8"), hit)
            if len(dead) == segment.chunk_count:
                segment.delete()
            else:
                segment.dead = pack(dead, "<i8")
                segment.save(update_fields=["dead"])

    def optimize(self) -> None:
        with transaction.atomic():
            merge_segments(index_bump())

    # Reads

    def rank(self, text: str, *, language: str) -> Ranking:
        latest = self._catalog()
        for _ in range(TRIES):
            catalog = latest
            ranking = _ranking(catalog, text, language)
            latest = self._catalog()
            # What came meanwhile is for the next search; but what was merged away was not read.
            if catalog.offsets.keys() <= latest.offsets.keys():
                return ranking
        with index_held():
            return _ranking(self._catalog(), text, language)

    def search(
        self, text: str, *, language: str, k: int, allowed: Allowed | None = None
    ) -> list[Scored]:
        top = self.rank(text, language=language).top(k, allowed=allowed)
        ids = [one.chunk_id for one in top]
        if Chunk.objects.filter(pk__in=ids).count() == len(ids):
            return top
        self.reconcile()
        return self.rank(text, language=language).top(k, allowed=allowed)

    def languages(self) -> tuple[str, ...]:
        return self._catalog().languages

    def size(self) -> int:
        return self._catalog().total

    def reconcile(self) -> None:
        self._catalogs.reconcile(index_version())

    def _catalog(self) -> Catalog:
        return self._catalogs.at(index_version())


def _ranking(catalog: Catalog, text: str, language: str) -> Ranking:
    terms = query_terms(text, [language] if language else catalog.languages)
    return bm25.rank(catalog, terms, _occurrences(catalog, terms))


def _text(chunk: Chunk) -> str:
    """What is searched of a chunk: its words, and once more those of its title and headings."""
    return "\n".join((chunk.page.title, *map(str, chunk.section), chunk.text))


def _known(chunks: Sequence[Chunk], languages: Sequence[str]) -> list[str]:
    """The languages, where a page declares none by all of its text that is at hand."""
    unsaid: dict[int, list[str]] = defaultdict(list)
    for chunk, language in zip(chunks, languages, strict=True):
        if not language:
            unsaid[chunk.page_id].append(chunk.text)
    written = {page: written_language("\n".join(texts)) for page, texts in unsaid.items()}
    pairs = zip(chunks, languages, strict=True)
    return [language or written[chunk.page_id] for chunk, language in pairs]


def _occurrences(catalog: Catalog, terms: Iterable[QueryTerm]) -> dict[str, bm25.Occurrences]:
    wanted = [variant for term in terms for variant in term.variants]
    if not wanted or not catalog.offsets:
        return {}
    parts: dict[str, list[bm25.Occurrences]] = defaultdict(list)
    for term, segment, places, frequencies in postings_of(list(dict.fromkeys(wanted))):
        if (offset := catalog.offsets.get(segment)) is None:
            continue
        parts[term].append(
            bm25.Occurrences(
                unpack(places, "<u4").astype(np.intp) + offset,
                unpack(frequencies, "<u2").astype(np.float32),
            )
        )
    return {term: _joined(found) for term, found in parts.items()}


def _joined(parts: list[bm25.Occurrences]) -> bm25.Occurrences:
    if len(parts) == 1:
        return parts[0]
    return bm25.Occurrences(
        np.concatenate([part.places for part in parts]),
        np.concatenate([part.frequencies for part in parts]),
    )
