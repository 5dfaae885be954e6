"""Third step: the legs' rankings become one. Below: rcp.fusion. Above: run. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import fmean

from retrieval.pipeline.base import Candidate, Prepared, Recalled
from retrieval.rcp.fusion import Ranking, rank_convex, rank_rrf, rank_weighted
from retrieval.types import FusionMethod, Unit


def fuse(prepared: Prepared, recalled: Recalled) -> list[Candidate]:
    """All candidates, best first; with unit document the best of each page.

    What was shown already counts for the others' scores, so that these are the same on every page
    of results, and is left out here.
    """
    fused = [
        recalled.candidates[id_].scored(score)
        for id_, score in _fused(prepared, recalled)
        if id_ not in prepared.query.exclude
    ]
    return list(best_of_pages(fused)) if prepared.query.unit is Unit.DOCUMENT else fused


def _fused(prepared: Prepared, recalled: Recalled) -> list[tuple[int, float]]:
    fusion = prepared.query.fusion
    if fusion.method is FusionMethod.CONVEX:
        return rank_convex(_filled(recalled), alpha=recalled.alpha)
    found: dict[str, Ranking[int]] = {}
    if recalled.dense:
        found["dense"] = recalled.dense
    if recalled.sparse:
        found["sparse"] = recalled.sparse
    if fusion.method is FusionMethod.WEIGHTED:
        weights = fusion.weights or {"dense": recalled.alpha, "sparse": 1.0 - recalled.alpha}
        return rank_weighted(found, weights=weights)
    return rank_rrf(found, weights=fusion.weights, rrf_k=fusion.rrf_k)


def _filled(recalled: Recalled) -> dict[str, Ranking[int]]:
    """Both legs' scores of every candidate: the 101st of a leg is no stranger to it.

    A chunk whose vector is still to come counts as an average one.
    """
    candidates = recalled.candidates.values()
    known = [one.dense for one in candidates if one.dense is not None]
    average = fmean(known) if known else 0.0
    dense = [(one.chunk_id, average if one.dense is None else one.dense) for one in candidates]
    sparse = [(one.chunk_id, one.sparse) for one in candidates if one.sparse is not None]
    return {"dense": _descending(dense if known else ()), "sparse": _descending(sparse)}


def _descending(pairs: Iterable[tuple[int, float]]) -> Ranking[int]:
    return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))


def best_of_pages(candidates: Iterable[Candidate]) -> Iterable[Candidate]:
    seen: set[int] = set()
    for candidate in candidates:
        if candidate.page_id not in seen:
            seen.add(candidate.page_id)
            yield candidate
