"""The catalog: every indexed chunk with its length, read once a segment and kept in memory.

Segments never change except for their dead, so a new version costs only what is new.
Below: models, arrays. Above: postings. One cache a process, safe in threads.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from retrieval.index.arrays import Floats, Mask, among, unpack
from retrieval.index.base import ChunkIds
from retrieval.models import Chunk, Segment

TRIES = 4  # to read all segments of one moment


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
    order: NDArray[np.intp]  # that sorts ids
    live: Mask
    languages: tuple[str, ...]  # most frequent first
    total: int  # live chunks
    average: float  # length of a live chunk


class CatalogCache:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._segments: dict[tuple[int, int], _Segment] = {}  # by id and version
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
        rows = Segment.objects.order_by("pk").values_list("pk", "version", "dead", "languages")
        columns = ("pk", "version", "chunk_ids", "lengths")
        for _ in range(TRIES):  # a segment may be merged away between the two reads
            known = list(rows.all())
            missing = [row[0] for row in known if row[:2] not in self._segments]
            for pk, stamp, ids, lengths in Segment.objects.filter(pk__in=missing).values_list(
                *columns
            ):
                words = unpack(lengths, "<u4").astype(np.float32)
                self._segments[pk, stamp] = _Segment(unpack(ids, "<i8"), words)
            if all(row[:2] in self._segments for row in known):
                break
        known = [row for row in known if row[:2] in self._segments]
        found = self._segments = {row[:2]: self._segments[row[:2]] for row in known}
        parts = [
            (pk, found[pk, stamp], unpack(dead, "<i8"), languages)
            for pk, stamp, dead, languages in known
        ]
        return _end_to_end(version, parts)


def _end_to_end(
    version: int, parts: Sequence[tuple[int, _Segment, ChunkIds, dict[str, int]]]
) -> Catalog:
    offsets: dict[int, int] = {}
    spoken: Counter[str] = Counter()
    live: list[Mask] = []
    offset = 0
    for pk, segment, dead, languages in parts:
        offsets[pk] = offset
        offset += len(segment.ids)
        live.append(~among(segment.ids, dead) if len(dead) else np.ones(len(segment.ids), bool))
        spoken.update(languages)
    segments = [segment for _, segment, _, _ in parts]
    ids = np.concatenate([part.ids for part in segments] or [np.empty(0, np.int64)])
    return _counted(
        Catalog(
            version=version,
            offsets=offsets,
            ids=ids,
            order=np.argsort(ids, kind="stable"),
            lengths=np.concatenate(
                [part.lengths for part in segments] or [np.empty(0, np.float32)]
            ),
            live=np.concatenate(live or [np.empty(0, dtype=bool)]),
            languages=tuple(sorted(spoken, key=lambda name: (-spoken[name], name))),
            total=0,
            average=0.0,
        )
    )


def _counted(catalog: Catalog) -> Catalog:
    total = int(catalog.live.sum())
    words = float(catalog.lengths[catalog.live].sum(dtype=np.float64))
    return replace(catalog, total=total, average=max(1.0, words / total) if total else 1.0)
