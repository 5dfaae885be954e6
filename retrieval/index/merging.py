"""Merges segments, so that a query reads few rows a term and dead chunks cost nothing.

Below: models, arrays. Above: postings. Segments of about the same size are merged when there are
many of them, so that a posting is rewritten only a few times in its life.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import log2

import numpy as np
from numpy.typing import NDArray

from retrieval.index.arrays import Mask, among, pack, unpack
from retrieval.index.base import ChunkIds
from retrieval.index.rows import Row, postings_insert
from retrieval.models import Chunk, Posting, Segment

SMALL_CHUNKS = 512  # merged along with a page's write; larger ones only by `optimize`
LARGEST_CHUNKS = 100_000  # bounds a merge: no transaction rewrites more
SAME_SIZE = 8  # this many segments of one size become one
DEAD_SHARE = 0.3  # beyond it a segment is rewritten alone
READ_ROWS = 5_000
LEFTOVER_SHARE = 0.125  # `optimize` joins the small ones that together stay below this share


@dataclass(frozen=True, slots=True)
class Sized:
    """A segment, as far as planning needs it."""

    pk: int
    total: int
    live: int


def merge_segments(version: int, *, below: int | None = None) -> None:
    """Merge what is due, inside the caller's transaction; `below`: small segments alone."""
    segments = list(_sizes())
    groups = plan(segments) if below is None else plan_small(segments, below=below)
    for group in groups:
        _merge(group, version)


def plan_small(segments: Iterable[Sized], *, below: int) -> list[list[int]]:
    """Groups to merge among segments below a size: those with enough of their like."""
    sizes: dict[int, list[int]] = defaultdict(list)
    for segment in segments:
        if segment.live < below:
            sizes[int(log2(max(1, segment.live)) / log2(SAME_SIZE))].append(segment.pk)
    return [group for group in sizes.values() if len(group) >= SAME_SIZE]


def plan(segments: Sequence[Sized]) -> list[list[int]]:
    """The same for all sizes, then the small rest, then what is mostly dead."""
    groups = plan_small(segments, below=LARGEST_CHUNKS)
    planned = {pk for group in groups for pk in group}
    rest = [segment for segment in segments if segment.pk not in planned]
    leftovers = _leftovers(rest, sum(segment.live for segment in segments))
    if len(leftovers) > 1:
        groups.append([segment.pk for segment in leftovers])
        rest = [segment for segment in rest if segment not in leftovers]
    live = {segment.pk: segment.live for segment in segments}
    bounded = [part for group in groups for part in _bounded(group, live)]
    return bounded + [[segment.pk] for segment in rest if _mostly_dead(segment)]


def _leftovers(segments: Sequence[Sized], total: int) -> list[Sized]:
    taken: list[Sized] = []
    budget = max(SMALL_CHUNKS, int(total * LEFTOVER_SHARE))
    for segment in sorted(segments, key=lambda segment: (segment.live, segment.pk)):
        budget -= segment.live
        if budget < 0:
            break
        taken.append(segment)
    return taken


def _mostly_dead(segment: Sized) -> bool:
    return segment.total - segment.live > DEAD_SHARE * segment.total


def _bounded(group: Sequence[int], live: Mapping[int, int]) -> Iterator[list[int]]:
    """Parts that stay below the largest size."""
    part: list[int] = []
    for pk in sorted(group):
        if part and sum(live[one] for one in part) + live[pk] > LARGEST_CHUNKS:
            yield part
            part = []
        part.append(pk)
    if part:
        yield part


def _sizes() -> Iterator[Sized]:
    rows = Segment.objects.order_by("pk").values_list("pk", "chunk_count", "dead")
    for pk, total, dead in rows:
        yield Sized(pk, total, total - len(dead) // 8)


def _merge(group: Sequence[int], version: int) -> None:
    old = list(Segment.objects.filter(pk__in=group).order_by("pk"))
    ids = {segment.pk: unpack(segment.chunk_ids, "<i8") for segment in old}
    alive = {segment.pk: _alive(ids[segment.pk], segment.dead) for segment in old}
    kept = np.concatenate([ids[pk][alive[pk]] for pk in ids])
    if len(kept):
        lengths = [unpack(segment.lengths, "<u4")[alive[segment.pk]] for segment in old]
        order = np.argsort(kept, kind="stable")
        spoken: Counter[str] = Counter()
        for segment in old:
            spoken.update(segment.languages)
        new = Segment.objects.create(
            version=version,
            chunk_count=len(kept),
            chunk_ids=pack(kept[order], "<i8"),
            lengths=pack(np.concatenate(lengths)[order], "<u4"),
            languages=spoken,
        )
        places = {pk: np.searchsorted(kept[order], ids[pk]) for pk in ids}
        for rows in _term_pages(group):
            postings_insert(new.pk, _merged(rows, places, alive))
    Segment.objects.filter(pk__in=group).delete()


def _alive(ids: ChunkIds, dead: bytes | memoryview) -> Mask:
    """Neither removed nor gone by a cascade."""
    rows = Chunk.objects.filter(pk__gte=ids[0], pk__lte=ids[-1]).order_by()
    existing = np.fromiter(rows.values_list("pk", flat=True), dtype=np.int64)
    return among(ids, existing) & ~among(ids, unpack(dead, "<i8"))


Stored = tuple[str, int, bytes | memoryview, bytes | memoryview]


def _term_pages(group: Sequence[int]) -> Iterator[list[Stored]]:
    """The postings of these segments by term, a bounded number at a time, no term split."""
    rows = Posting.objects.filter(segment__in=group).order_by("term", "segment_id")
    columns = rows.values_list("term", "segment_id", "places", "frequencies")
    last = ""
    while page := list(columns.filter(term__gt=last)[: READ_ROWS + len(group)]):
        if len(page) == READ_ROWS + len(group):
            page = [row for row in page if row[0] != page[-1][0]]
        last = page[-1][0]
        yield page


def _merged(
    rows: Sequence[Stored],
    places: dict[int, NDArray[np.intp]],
    alive: dict[int, Mask],
) -> Iterator[Row]:
    for term, same in groupby(rows, key=lambda row: row[0]):
        found, counts = [], []
        for _, segment, packed, frequencies in same:
            old = unpack(packed, "<u4")
            live = alive[segment][old]
            found.append(places[segment][old[live]])
            counts.append(unpack(frequencies, "<u2")[live])
        where = np.concatenate(found)
        if len(where):
            order = np.argsort(where, kind="stable")
            yield term, pack(where[order], "<u4"), pack(np.concatenate(counts)[order], "<u2")
