"""BM25 over one query's postings, in numpy. Pure: the database is read before.

Below: arrays, segments. Above: postings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from retrieval.index.allowed import Allowed, best_allowed
from retrieval.index.analysis import QueryTerm
from retrieval.index.arrays import Floats, places_in
from retrieval.index.base import Scored
from retrieval.index.segments import Catalog

K1 = 1.2  # how soon a repeated word stops to count
B = 0.75  # how much long chunks are held back
BACKGROUND = 1_000  # chunks that an index is taken to have at least, when words are weighed for it


@dataclass(frozen=True, slots=True)
class Occurrences:
    """Where one term occurs in the catalog, and how often."""

    places: NDArray[np.intp]
    frequencies: Floats


@dataclass(frozen=True, slots=True)
class BM25Ranking:
    """Scores of all chunks of the catalog for one query; what they cover, of those asked for."""

    catalog: Catalog
    scores: Floats
    covering: Sequence[tuple[NDArray[np.intp], float]]  # where a word occurs, what it weighs
    mass: float  # of all words, over the heaviest

    def top(self, k: int, *, allowed: Allowed | None = None) -> list[Scored]:
        found = np.flatnonzero(self.scores)
        places = best_allowed(self.catalog.ids[found], self.scores[found], k, allowed)
        return self._scored(found[places])

    def at(self, chunk_ids: Sequence[int]) -> list[Scored]:
        wanted = np.asarray(chunk_ids, dtype=np.int64)
        where = places_in(self.catalog.ids, self.catalog.order, wanted)
        where = where[self.catalog.live[where]]
        scored = {one.chunk_id: one for one in self._scored(where)}
        return [scored[id_] for id_ in chunk_ids if id_ in scored]

    def _scored(self, places: NDArray[np.intp]) -> list[Scored]:
        columns = (self.catalog.ids[places], self.scores[places], self._coverage(places))
        return [Scored(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]

    def _coverage(self, places: NDArray[np.intp]) -> Floats:
        coverage = np.zeros(len(places), dtype=np.float32)
        for occurring, share in self.covering:
            if len(occurring):
                at = np.minimum(np.searchsorted(occurring, places), len(occurring) - 1)
                coverage[occurring[at] == places] += np.float32(share)
        if self.mass:
            coverage *= np.float32(1 / self.mass)
        return np.minimum(coverage, 1.0)


def rank(
    catalog: Catalog, terms: Sequence[QueryTerm], occurrences: Mapping[str, Occurrences]
) -> BM25Ranking:
    size = len(catalog.ids)
    scores = np.zeros(size, dtype=np.float32)
    covering: list[tuple[NDArray[np.intp], float]] = []
    held_back = K1 * (1 - B + B * catalog.lengths / np.float32(catalog.average))
    mass = 0.0
    for term in terms:
        found = _live(catalog, _either(term.variants, occurrences))
        count = len(found.places)
        weight = np.float32(_rarity(count, catalog.total) * term.count)
        saturated = found.frequencies / (found.frequencies + held_back[found.places])
        scores[found.places] += weight * np.float32(K1 + 1) * saturated
        share = _share(term, count, catalog.total)
        mass += share
        covering.append((found.places, share))
    heaviest = max((term.weight for term in terms), default=0.0)
    return BM25Ranking(catalog, scores, covering, mass / heaviest if heaviest else 0.0)


def _rarity(count: int, total: int) -> float:
    return log(1 + (total - count + 0.5) / (count + 0.5)) if total else 0.0


def _share(term: QueryTerm, count: int, total: int) -> float:
    """What a word weighs in coverage. Few chunks say little of how rare it is elsewhere."""
    return term.weight * term.count * _rarity(max(count, 1), max(total, BACKGROUND))


def _either(variants: Sequence[str], occurrences: Mapping[str, Occurrences]) -> Occurrences:
    """One word under several stems: a chunk counts once, with the highest frequency."""
    found = [occurrences[variant] for variant in variants if variant in occurrences]
    if len(found) == 1:
        return found[0]
    if not found:
        return Occurrences(np.empty(0, np.intp), np.empty(0, np.float32))
    places = np.concatenate([one.places for one in found])
    frequencies = np.concatenate([one.frequencies for one in found])
    unique, inverse = np.unique(places, return_inverse=True)
    highest = np.zeros(len(unique), dtype=np.float32)
    np.maximum.at(highest, inverse, frequencies)
    return Occurrences(unique, highest)


def _live(catalog: Catalog, found: Occurrences) -> Occurrences:
    live = catalog.live[found.places]
    if live.all():
        return found
    return Occurrences(found.places[live], found.frequencies[live])
