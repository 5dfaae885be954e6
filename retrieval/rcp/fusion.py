"""Rank fusion: several rankings of the same corpus become one. Pure, deterministic.

Below: nothing. Above: handlers of RCP servers (`rcp.rrf_fuse` and friends work on hits) and search
pipelines (`rank_rrf`, `rank_weighted`, `rank_convex` work on plain `(id, score)` pairs).

Every ranking is given best first; an id that repeats within one counts once, at its best rank.
Ties: higher fused score, then higher summed weight of the rankings that hold the id, then smaller
id as a string. The order in which the rankings are named does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import fsum, inf, isfinite
from typing import Any, TypeVar

Hit = Mapping[str, Any]  # at least {"id", "score"}
Id = TypeVar("Id", int, str, int | str)
Ranking = Sequence[tuple[Id, float]]

RRF_K = 60
FLOORS: Mapping[str, float] = {"dense": -1.0, "sparse": 0.0}  # of cosine, of BM25


def rank_rrf(
    rankings: Mapping[str, Ranking[Id]],
    *,
    k: int | None = None,
    weights: Mapping[str, float] | None = None,
    rrf_k: int = RRF_K,
) -> list[tuple[Id, float]]:
    """Reciprocal rank fusion: the sum of `weight / (rrf_k + rank)`, rank from 1.

    >>> rank_rrf({"dense": [(7, 0.9), (3, 0.5)], "sparse": [(3, 8.1)]}, k=1)
    [(3, 0.03252247488101534)]
    """
    if rrf_k < 0:
        raise ValueError("rrf_k must not be negative")

    def contributions(_: str, scores: list[float], weight: float) -> Iterable[float]:
        return [weight / (rrf_k + rank) for rank in range(1, len(scores) + 1)]

    return _combine(rankings, _weights(rankings, weights), contributions, k)


def rank_weighted(
    rankings: Mapping[str, Ranking[Id]],
    *,
    k: int | None = None,
    weights: Mapping[str, float] | None = None,
) -> list[tuple[Id, float]]:
    """The weighted sum of scores, each ranking first stretched to [0, 1] (min-max)."""

    def contributions(_: str, scores: list[float], weight: float) -> Iterable[float]:
        low, high = min(scores), max(scores)
        if high == low:  # says "these", not "how well": all count in full
            return [weight] * len(scores)
        return [weight * ((score - low) / (high - low)) for score in scores]

    return _combine(rankings, _weights(rankings, weights), contributions, k)


def rank_convex(
    rankings: Mapping[str, Ranking[Id]],
    *,
    k: int | None = None,
    alpha: float = 0.5,
    floors: Mapping[str, float] | None = None,
) -> list[tuple[Id, float]]:
    """`alpha · norm(dense) + (1 - alpha) · norm(sparse)`, for rankings of just these two names.

    `norm` maps a ranking's true floor (cosine -1, BM25 0; others through `floors`) to 0 and its
    observed maximum to 1, so that a ranking of uniformly poor hits is not stretched.
    """
    if not 0.0 <= alpha <= 1.0:
        raise ValueError("alpha must lie in [0, 1]")
    if unknown := sorted(set(rankings) - set(FLOORS)):
        raise ValueError(f"convex fusion knows dense and sparse, not {', '.join(unknown)}")
    bottoms = {**FLOORS, **(floors or {})}

    def contributions(leg: str, scores: list[float], weight: float) -> Iterable[float]:
        floor = bottoms[leg]
        span = max(scores) - floor
        if span <= 0.0:
            return [0.0] * len(scores)
        return [weight * (score - floor) / span if score > floor else 0.0 for score in scores]

    return _combine(rankings, {"dense": alpha, "sparse": 1.0 - alpha}, contributions, k)


def rrf_fuse(
    hits: Mapping[str, Sequence[Hit]],
    k: int | None = None,
    *,
    weights: Mapping[str, float] | None = None,
    rrf_k: int = RRF_K,
) -> list[dict[str, Any]]:
    """`rank_rrf` over hits: `rrf_fuse({"dense": dense, "sparse": sparse}, k=10)`.

    A fused hit is a new dict: the fields of both originals, `score` fused, and `scores` with the
    original score under each ranking's name.
    """
    return _merge(hits, rank_rrf(_pairs(hits), k=k, weights=weights, rrf_k=rrf_k))


def weighted_fuse(
    hits: Mapping[str, Sequence[Hit]],
    k: int | None = None,
    *,
    weights: Mapping[str, float] | None = None,
) -> list[dict[str, Any]]:
    """`rank_weighted` over hits; see `rrf_fuse` for the shape."""
    return _merge(hits, rank_weighted(_pairs(hits), k=k, weights=weights))


def convex_fuse(
    hits: Mapping[str, Sequence[Hit]],
    k: int | None = None,
    *,
    alpha: float = 0.5,
    floors: Mapping[str, float] | None = None,
) -> list[dict[str, Any]]:
    """`rank_convex` over hits; see `rrf_fuse` for the shape."""
    return _merge(hits, rank_convex(_pairs(hits), k=k, alpha=alpha, floors=floors))


Contributions = Callable[[str, list[float], float], Iterable[float]]


def _weights(legs: Mapping[str, Any], given: Mapping[str, float] | None) -> Mapping[str, float]:
    """A weight for every leg; 1.0 where none is given."""
    weights = {leg: float((given or {}).get(leg, 1.0)) for leg in legs}
    if any(not isfinite(weight) or weight < 0.0 for weight in weights.values()):
        raise ValueError("weights must be finite and not negative")
    return weights


def _combine(
    rankings: Mapping[str, Ranking[Id]],
    weights: Mapping[str, float],
    contributions: Contributions,
    k: int | None,
) -> list[tuple[Id, float]]:
    total: dict[Id, float] = {}
    mass: dict[Id, float] = {}
    parts: dict[Id, list[float]] = {}  # kept for three rankings or more
    for leg in sorted(rankings):
        unique = _first(rankings[leg])
        if not unique:
            continue
        weight = weights[leg]
        for id_, part in zip(unique, contributions(leg, _finite(unique), weight), strict=True):
            total[id_] = total.get(id_, 0.0) + part
            mass[id_] = mass.get(id_, 0.0) + weight
            if len(rankings) > 2:
                parts.setdefault(id_, []).append(part)
    # Equal parts in another order must make equal sums: two commute, more need the exact sum.
    for id_, several in parts.items():
        total[id_] = fsum(several)
    order = sorted(total, key=str)  # three stable passes: cheaper than one over tuples
    order.sort(key=mass.__getitem__, reverse=True)
    order.sort(key=total.__getitem__, reverse=True)
    return [(id_, total[id_]) for id_ in (order if k is None else order[: max(0, k)])]


def _first(ranking: Ranking[Id]) -> dict[Id, float]:
    unique = dict(ranking)
    if len(unique) != len(ranking):
        unique = {}
        for id_, score in ranking:
            unique.setdefault(id_, score)
    return unique


def _finite(unique: Mapping[Any, float]) -> list[float]:
    """The scores, where one that is not finite counts as the least of the others."""
    scores = list(unique.values())
    if all(map(isfinite, scores)):
        return scores
    least = min((score for score in scores if isfinite(score)), default=0.0)
    return [score if isfinite(score) else least for score in scores]


def _pairs(hits: Mapping[str, Sequence[Hit]]) -> dict[str, list[tuple[int | str, float]]]:
    return {
        leg: [(hit["id"], hit.get("score", -inf)) for hit in ranking]
        for leg, ranking in hits.items()
    }


def _merge(
    hits: Mapping[str, Sequence[Hit]], fused: Sequence[tuple[int | str, float]]
) -> list[dict[str, Any]]:
    found: dict[int | str, dict[str, Any]] = {}
    scores: dict[int | str, dict[str, float]] = {}
    for leg in sorted(hits):
        for hit in reversed(hits[leg]):  # so that the best rank of a repeated id stays
            score = hit.get("score", inf)
            found[hit["id"]] = {**found.get(hit["id"], {}), **hit}
            scores[hit["id"]] = {
                **scores.get(hit["id"], {}),
                **(hit.get("scores") or {}),
                **({leg: score} if isfinite(score) else {}),
            }
    return [{**found[id_], "score": score, "scores": scores[id_]} for id_, score in fused]
