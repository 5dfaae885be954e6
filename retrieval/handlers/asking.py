"""The params of `retrieve` → a Query. Pure; params arrive checked by the SDK.

Below: types, restrict. Above: retrieve.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from retrieval import rcp
from retrieval.pipeline.restrict import VALUES, count_values
from retrieval.types import Fusion, FusionMethod, Mode, Query, Recency, Unit

DEFAULT_K = 10
MAX_CANDIDATES = 1_000
NO_DIVERSITY = 1.0
LEGS = (Mode.DENSE, Mode.SPARSE)


def query_from(params: Mapping[str, Any], *, default_mode: Mode, dates: Mapping[str, str]) -> Query:
    """`dates`: the fields to filter on with their types, where `recency` is given."""
    rerank = params.get("rerank") or {}
    candidates = params.get("candidateK")
    # Where `k` is absent it shall not ask for more than the caller lets through.
    funnel = [narrow for narrow in (candidates, rerank.get("topN")) if narrow is not None]
    return Query(
        text=params["query"],
        k=params.get("k", min([DEFAULT_K, *funnel])),
        mode=Mode(params.get("mode", default_mode)),
        fusion=_fusion(params.get("fusion") or {}),
        candidate_k=None if candidates is None else min(candidates, MAX_CANDIDATES),
        mmr_lambda=(params.get("mmr") or {}).get("lambda", _mmr_default(params)),
        unit=Unit(params.get("unit", Unit.CHUNK)),
        min_score=params.get("minScore"),
        token_budget=params.get("tokenBudget"),
        filter=_filter(params.get("filter")),
        recency=_recency(params.get("recency"), dates),
        rerank=params.get("rerank") is not False,
        rerank_top=rerank.get("topN"),
    )


def _mmr_default(params: Mapping[str, Any]) -> float | None:
    """`mmr: {}` asks for the site's own weight; without `mmr` relevance alone counts."""
    return None if "mmr" in params else NO_DIVERSITY


def _filter(tree: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    if tree is not None and count_values(tree) > VALUES:
        raise rcp.InvalidParams(f"a filter may hold {VALUES} values", field="filter")
    return tree


def _fusion(asked: Mapping[str, Any]) -> Fusion:
    method = FusionMethod(asked.get("method", FusionMethod.CONVEX))
    weights = asked.get("weights")
    for leg in weights or ():
        if leg not in LEGS:
            raise rcp.InvalidParams(f"there is no leg {leg!r}", field=f"fusion.weights.{leg}")
    alpha = asked.get("alpha")
    if alpha is None and weights and method is FusionMethod.CONVEX:
        alpha = _share(weights)
    return Fusion(method=method, alpha=alpha, weights=weights, rrf_k=asked.get("rrfK", 60))


def _share(weights: Mapping[str, float]) -> float:
    """The dense leg's part of the weights; a leg that is not named weighs 1."""
    dense, sparse = (weights.get(leg, 1.0) for leg in LEGS)
    if not dense + sparse:
        raise rcp.InvalidParams("one weight has to be above 0", field="fusion.weights")
    return dense / (dense + sparse)


def _recency(asked: Mapping[str, Any] | None, fields: Mapping[str, str]) -> Recency | None:
    if asked is None:
        return None
    if fields.get(asked["field"]) != "date":
        message = f"{asked['field']!r} is not a field of dates"
        raise rcp.InvalidParams(message, field="recency.field")
    return Recency(field=asked["field"], half_life_days=asked["halfLifeDays"])
