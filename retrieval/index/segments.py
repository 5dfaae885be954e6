"""The catalog: every indexed chunk with its length, read once a segment and kept in memory.

Segments never change except for their dead, so a new version costs only what is new.
Below: models, arrays. Above: postings. One cache a process, safe in threads.
"""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from retrieval.index.arrays import Floats, Mask, among, unpack
from retrieval.index.base import ChunkIds
from retrieval.models import Chunk, Segment


@dataclass(frozen=True, slots=True)
class _Segment:
    ids: ChunkIds
    lengths: Floats


@dataclass(frozen=True, slots=True)
class Catalog:
    """All segments end to end. `offsets`: where each begins."""

    version: int
    offsets: dict[int, int]
    ids: ChunkIds
    lengths: Floats
    live: Mask
    languages: tuple[str, ...]  # most frequent first
    total: int  # live chunks
    average: float  # length of a live chunk


class CatalogCache:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._segments: dict[int, _Segment] = {}
        self._catalog: Catalog | None = None

    def at(self, version: int) -> Catalog:
        """The catalog, as the database has it at this version or a later one."""
        catalog = self._catalog
        if catalog is not None and catalog.version == version:
            return catalog
        with self._lock:
            if self._catalog is None or self._catalog.version != version:
                self._catalog = self._load(version)
            return self._catalog

    def reconcile(self, version: int) -> None:
        """Mask the chunks that have no row any more."""
        catalog = self.at(version)
        existing = np.fromiter(
            Chunk.objects.order_by().values_list("pk", flat=True).iterator(), dtype=np.int64
        )
        live = catalog.live & among(catalog.ids, existing)
        with self._lock:
            if self._catalog is catalog:
                self._catalog = _counted(replace(catalog, live=live))

    def _load(self, version: int) -> Catalog:
        rows = list(Segment.objects.order_by("pk").values_list("pk", "dead", "languages"))
        missing = [pk for pk, _, _ in rows if pk not in self._segments]
        new = Segment.objects.filter(pk__in=missing).values_list("pk", "chunk_ids", "lengths")
        found = dict(self._segments)
        for pk, ids, lengths in new:
            found[pk] = _Segment(unpack(ids, "<i8"), unpack(lengths, "<u4").astype(np.float32))
        # A segment that was merged away between the two reads is left out: the caller sees that
        # the version moved and asks again.
        rows = [row for row in rows if row[0] in found]
        self._segments = {pk: found[pk] for pk, _, _ in rows}
        return _end_to_end(version, self._segments, rows)


def _end_to_end(
    version: int,
    segments: dict[int, _Segment],
    rows: list[tuple[int, bytes | memoryview, dict[str, int]]],
) -> Catalog:
    offsets: dict[int, int] = {}
    spoken: Counter[str] = Counter()
    offset = 0
    for pk, _, languages in rows:
        offsets[pk] = offset
        offset += len(segments[pk].ids)
        spoken.update(languages)
    parts = list(segments.values())
    ids = np.concatenate([part.ids for part in parts] or [np.empty(0, np.int64)])
    lengths = np.concatenate([part.lengths for part in parts] or [np.empty(0, np.float32)])
    live = np.ones(len(ids), dtype=bool)
    for pk, dead, _ in rows:
        if dead:
            start, segment = offsets[pk], segments[pk]
            live[start : start + len(segment.ids)] &= ~among(segment.ids, unpack(dead, "<i8"))
    ordered = sorted(spoken, key=lambda language: (-spoken[language], language))
    return _counted(
        Catalog(
            version=version,
            offsets=offsets,
            ids=ids,
            lengths=lengths,
            live=live,
            languages=tuple(ordered),
            total=0,
            average=0.0,
        )
    )


def _counted(catalog: Catalog) -> Catalog:
    total = int(catalog.live.sum())
    words = float(catalog.lengths[catalog.live].sum(dtype=np.float64))
    return replace(catalog, total=total, average=max(1.0, words / total) if total else 1.0)
