"""Finishing touches on what handlers return, so that every engine's results have the wire's form.

Below: vectors. Above: calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from retrieval.rcp.vectors import JSON, encode_vectors

Result = Mapping[str, Any]


def finish(method: str, params: Result, outcome: Any, notes: Sequence[str]) -> Result:
    """The result as it goes out. Raises TypeError when it is not an object."""
    if type(outcome) is not dict and not isinstance(outcome, Mapping):
        raise TypeError(f"a handler must return an object, not {type(outcome).__name__}")
    result: Result = outcome
    if method in _FINISHERS:
        result = _FINISHERS[method](params, result)
    if notes:
        usage = dict(result.get("usage") or {})
        usage["notes"] = [*(usage.get("notes") or ()), *notes]
        result = {**result, "usage": usage}
    return result


def _embed(params: Result, result: Result) -> Result:
    """Carry the vectors in the encoding that was asked for, unless the handler did already."""
    vectors = result.get("vectors")
    encoding = params.get("encoding", JSON)
    if vectors is None or "encoding" in result or encoding == JSON:
        return result
    if len(vectors) == 0 and "dimension" not in result:
        return result  # base64 has to name its dimension, and nobody knows it
    return {**result, **encode_vectors(vectors, encoding)}


def _rerank(params: Result, result: Result) -> Result:
    """Add the best-first forms (`order`, `results`) that rerank services use."""
    scores = result.get("scores")
    if scores is None:
        return result
    order = result.get("order")
    if order is None:
        order = sorted(range(len(scores)), key=lambda index: (-scores[index], index))
        order = order[: params.get("topN")]
    results = [{"index": index, "score": scores[index]} for index in order]
    return {"order": order, "results": results, **result}


_FINISHERS: Mapping[str, Callable[[Result, Result], Result]] = {
    "embed": _embed,
    "rerank": _rerank,
}
