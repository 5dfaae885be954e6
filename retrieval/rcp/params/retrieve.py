"""Checks of `retrieve`: shape, then options against what is advertised, then limits.

Below: reader, filters. Above: the method table. `strict: false` turns an option that is not
advertised into a note instead of a refusal.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from retrieval.rcp import filters
from retrieval.rcp.capabilities import Advertised
from retrieval.rcp.errors import OptionUnsupported
from retrieval.rcp.params import reader
from retrieval.rcp.params.reader import Check, refuse

MODES = ("dense", "sparse", "hybrid")
FUSIONS = ("rrf", "weighted", "convex")
RERANKERS = ("cross-encoder", "colbert", "llm")
TRANSFORMS = ("rewrite", "hyde", "multi-query", "decompose", "step-back")
UNITS = (
    *("chunk", "passage", "document", "page"),
    *("node", "triplet", "path", "subgraph", "community", "tree-node"),
)


def _weights(value: Any, field: str) -> dict[str, float]:
    return {
        leg: reader.between(0.0, 1e6)(weight, f"{field}.{leg}")
        for leg, weight in reader.mapping(value, field).items()
    }


def _positive(value: Any, field: str) -> float:
    if reader.number(value, field) <= 0:
        raise refuse(field, "must be above 0")
    return value  # type: ignore[no-any-return]


def _or_false(check: Check) -> Check:
    return lambda value, field: False if value is False else check(value, field)


_FUSION = reader.shape(
    {
        "method": reader.one_of(*FUSIONS),
        "weights": _weights,
        "rrfK": reader.count,
        "alpha": reader.between(0.0, 1.0),
    }
)
_CHECKS: dict[str, Check] = {
    "query": reader.content,
    "k": reader.count,
    "mode": reader.one_of(*MODES),
    "candidateK": reader.count,
    "fusion": _FUSION,
    "rerank": _or_false(reader.shape({"method": reader.one_of(*RERANKERS), "topN": reader.count})),
    "mmr": reader.shape({"lambda": reader.between(0.0, 1.0)}),
    "rewrite": _or_false(reader.one_of(*TRANSFORMS)),
    "filter": reader.mapping,
    "minScore": reader.number,
    "recency": reader.shape(
        {"field": reader.text, "halfLifeDays": _positive}, required=("field", "halfLifeDays")
    ),
    "unit": reader.one_of(*UNITS),
    "tokenBudget": reader.count,
    "sessionId": reader.text,
    "includeText": reader.boolean,
    "includeVectors": reader.boolean,
    "seed": reader.integer,
    "strict": reader.boolean,
    "cursor": reader.text,
}
_SHAPE = reader.shape(_CHECKS, required=("query",))
_PLAIN = frozenset(("query", "k"))  # needs no option


def check_retrieve(
    params: Mapping[str, Any], advertised: Advertised, notes: list[str]
) -> dict[str, Any]:
    """The params as the handler shall see them. Raises InvalidParams or OptionUnsupported."""
    read = _SHAPE(params, "")
    max_k = advertised["retrieve"].get("maxK")
    if type(max_k) is int and read.get("k", 0) > max_k:
        read["k"] = max_k
    if not _PLAIN.issuperset(read):
        _check_options(read, advertised, notes)
        _check_funnel(read)
    return read


def _check_options(read: dict[str, Any], advertised: Advertised, notes: list[str]) -> None:
    lenient = read.get("strict") is False
    for option, offered in _OPTIONS.items():
        if option not in read:
            continue
        try:
            offered(read[option], advertised)
        except OptionUnsupported as refusal:
            if not lenient:
                raise
            del read[option]
            notes.append(f"{option} ignored: {refusal.message}")


def _check_funnel(read: Mapping[str, Any]) -> None:
    k = read.get("k", 1)
    top_n = read["rerank"].get("topN", k) if read.get("rerank") else k
    if top_n < k:
        raise refuse("rerank.topN", "must be at least k")
    if read.get("candidateK", top_n) < top_n:
        raise refuse("candidateK", "must be at least rerank.topN and k")


# Options against what is advertised.


def _listed(option: str, value: Any, offered: Collection[str] | None) -> None:
    if value not in (offered or ()):
        raise OptionUnsupported(f"{option} {value!r} is not offered", option=option)


def _flag(option: str, metadata: str) -> Callable[[Any, Advertised], None]:
    def check(_: Any, advertised: Advertised) -> None:
        if advertised.get("retrieve", {}).get(metadata) is not True:
            raise OptionUnsupported(f"{option} is not offered", option=option)

    return check


def _capability(option: str, capability: str) -> Callable[[Any, Advertised], None]:
    def check(_: Any, advertised: Advertised) -> None:
        if capability not in advertised:
            raise OptionUnsupported(f"{option} is not offered", option=option)

    return check


def _in_list(option: str, metadata: str) -> Callable[[Any, Advertised], None]:
    def check(value: Any, advertised: Advertised) -> None:
        _listed(option, value, advertised.get("retrieve", {}).get(metadata))

    return check


def _fusion(value: Mapping[str, Any], advertised: Advertised) -> None:
    offered = advertised.get("retrieve", {}).get("fusion")
    if "method" in value:
        _listed("fusion.method", value["method"], offered)
    elif not offered:
        raise OptionUnsupported("fusion is not offered", option="fusion")


def _rerank(value: Mapping[str, Any] | bool, advertised: Advertised) -> None:
    if value is False:
        return
    if advertised.get("retrieve", {}).get("rerankBuiltin") is not True:
        raise OptionUnsupported("rerank is not offered", option="rerank")
    if isinstance(value, Mapping) and "method" in value:
        _listed("rerank.method", value["method"], advertised.get("rerank", {}).get("methods"))


def _rewrite(value: Any, advertised: Advertised) -> None:
    if value is not False:
        _listed("rewrite", value, advertised.get("transform", {}).get("methods"))


def _filter(value: Mapping[str, Any], advertised: Advertised) -> None:
    offered = advertised.get("filter")
    if offered is None:
        raise OptionUnsupported("filter is not offered", option="filter")
    filters.validate(value, fields=offered.get("fields"), operators=offered.get("operators"))


_OPTIONS: dict[str, Callable[[Any, Advertised], None]] = {
    "mode": _in_list("mode", "modes"),
    "fusion": _fusion,
    "rerank": _rerank,
    "mmr": _flag("mmr", "mmr"),
    "rewrite": _rewrite,
    "filter": _filter,
    "unit": _in_list("unit", "units"),
    "tokenBudget": _flag("tokenBudget", "tokenBudget"),
    "sessionId": _capability("sessionId", "session"),
    "cursor": _capability("cursor", "pagination"),
}
