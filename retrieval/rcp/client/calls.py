"""What each method of a client asks and how its result is read; no I/O.

Below: capabilities, results. Above: aio and blocking, which turn each function here into a method
of the same arguments. Every one also takes `timeout` (seconds, for this call), `on_progress` and
`id` (chosen by the caller, to `cancel` by).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypedDict, TypeVar, Unpack, cast

from retrieval.rcp.capabilities import METHODS, Capability
from retrieval.rcp.client import results
from retrieval.rcp.errors import InternalError
from retrieval.rcp.messages import RequestId
from retrieval.rcp.progress import Progress
from retrieval.rcp.vectors import decode_vectors

T = TypeVar("T")
Params = Mapping[str, Any]
OnProgress = Callable[[Progress], None]


class Options(TypedDict, total=False):
    timeout: float
    on_progress: OnProgress
    id: RequestId


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked(Generic[T]):
    """One call: what to send, which capability it needs, how to read the result."""

    method: str
    params: Params
    read: Callable[[dict[str, Any]], T]
    options: Options = field(default_factory=lambda: Options())
    gated: bool = True

    @property
    def capability(self) -> Capability | None:
        return METHODS.get(self.method) if self.gated else None


def retrieve(
    query: str,
    k: int = 10,
    *,
    mode: str | None = None,
    candidate_k: int | None = None,
    fusion: Params | None = None,
    rerank: Params | bool | None = None,
    mmr: Params | None = None,
    rewrite: str | bool | None = None,
    filter: Params | None = None,
    min_score: float | None = None,
    recency: Params | None = None,
    unit: str | None = None,
    token_budget: int | None = None,
    session_id: str | None = None,
    include_text: bool | None = None,
    include_vectors: bool | None = None,
    seed: int | None = None,
    strict: bool | None = None,
    cursor: str | None = None,
    more: Params | None = None,
    **options: Unpack[Options],
) -> Asked[results.RetrieveResult]:
    """Search. `more` holds params that have no argument here."""
    params = {
        "query": query,
        "k": k,
        "mode": mode,
        "candidateK": candidate_k,
        "fusion": fusion,
        "rerank": rerank,
        "mmr": mmr,
        "rewrite": rewrite,
        "filter": filter,
        "minScore": min_score,
        "recency": recency,
        "unit": unit,
        "tokenBudget": token_budget,
        "sessionId": session_id,
        "includeText": include_text,
        "includeVectors": include_vectors,
        "seed": seed,
        "strict": strict,
        "cursor": cursor,
        **(more or {}),
    }
    return _ask("retrieve", params, options, _with(results.RetrieveResult, hits=list))


def rerank(
    query: str,
    passages: Sequence[str],
    *,
    method: str | None = None,
    top_n: int | None = None,
    **options: Unpack[Options],
) -> Asked[results.RerankResult]:
    params = {"query": query, "passages": list(passages), "method": method, "topN": top_n}
    return _ask("rerank", params, options, _with(results.RerankResult, scores=list))


def embed(
    inputs: Sequence[str],
    *,
    kind: str | None = None,
    encoding: str | None = None,
    **options: Unpack[Options],
) -> Asked[list[list[float]]]:
    """Vectors, decoded whichever way they travel."""
    params = {"inputs": list(inputs), "kind": kind, "encoding": encoding}

    def read(result: dict[str, Any]) -> list[list[float]]:
        vectors = _required(result, "vectors", list)
        return decode_vectors(vectors, result.get("encoding"), result.get("dimension"))

    return _ask("embed", params, options, read)


def embed_sparse(inputs: Sequence[str], **options: Unpack[Options]) -> Asked[dict[str, Any]]:
    return _ask("embed/sparse", {"inputs": list(inputs)}, options, dict)


def embed_multi(inputs: Sequence[str], **options: Unpack[Options]) -> Asked[dict[str, Any]]:
    return _ask("embed/multi", {"inputs": list(inputs)}, options, dict)


def index_add(
    documents: Sequence[Params], *, chunk: bool | None = None, **options: Unpack[Options]
) -> Asked[results.IndexAddResult]:
    """Add documents `{id?, text, meta?}`; one whose id is known replaces it."""
    params = {"documents": list(documents), "chunk": chunk}
    return _ask("index/add", params, options, _with(results.IndexAddResult, ids=list))


def index_delete(
    ids: Sequence[str], **options: Unpack[Options]
) -> Asked[results.IndexDeleteResult]:
    params = {"ids": list(ids)}
    return _ask("index/delete", params, options, _with(results.IndexDeleteResult, deleted=int))


def feedback(
    signals: Sequence[Params],
    *,
    query: str | None = None,
    session_id: str | None = None,
    **options: Unpack[Options],
) -> Asked[results.FeedbackResult]:
    """Signals `{hitId, used?, cited?, helpful?, reward?, …}` about earlier hits."""
    params = {"signals": list(signals), "query": query, "sessionId": session_id}
    return _ask("feedback", params, options, _with(results.FeedbackResult, accepted=int))


def transform(
    query: str, method: str, *, n: int | None = None, **options: Unpack[Options]
) -> Asked[results.TransformResult]:
    params = {"query": query, "method": method, "n": n}
    return _ask("query/transform", params, options, _with(results.TransformResult, queries=list))


def graph(
    op: str, *, params: Params | None = None, **options: Unpack[Options]
) -> Asked[dict[str, Any]]:
    return _ask("graph", {**(params or {}), "op": op}, options, dict)


def memory_build(
    documents: Sequence[Params] | None = None,
    *,
    memory_id: str | None = None,
    scope: str | None = None,
    **options: Unpack[Options],
) -> Asked[dict[str, Any]]:
    params = {"documents": documents, "memoryId": memory_id, "scope": scope}
    return _ask("memory/build", params, options, dict)


def memory_recall(
    query: str,
    *,
    memory_id: str | None = None,
    session_id: str | None = None,
    n: int | None = None,
    **options: Unpack[Options],
) -> Asked[dict[str, Any]]:
    params = {"query": query, "memoryId": memory_id, "sessionId": session_id, "n": n}
    return _ask("memory/recall", params, options, dict)


def catalog(**options: Unpack[Options]) -> Asked[dict[str, Any]]:
    return _ask("catalog/list", {}, options, dict)


def info(**options: Unpack[Options]) -> Asked[results.ServerInfo]:
    return _ask("info", {}, options, _with(results.ServerInfo, capabilities=dict))


def ping(nonce: RequestId | None = None, **options: Unpack[Options]) -> Asked[dict[str, Any]]:
    return _ask("ping", {"nonce": nonce}, options, dict)


def call(
    method: str, params: Params | None = None, **options: Unpack[Options]
) -> Asked[dict[str, Any]]:
    """Any method with raw params, whatever the server advertises."""
    asked = _ask(method, params or {}, options, dict)
    return Asked(method=asked.method, params=asked.params, read=dict, options=options, gated=False)


def initialize(
    name: str, version: str, capabilities: Params, protocol_version: int
) -> Asked[results.ServerInfo]:
    params = {
        "protocolVersion": protocol_version,
        "client": {"name": name, "version": version},
        "capabilities": capabilities,
    }
    return _ask("initialize", params, Options(), _with(results.ServerInfo, capabilities=dict))


def _ask(
    method: str, params: Params, options: Options, read: Callable[[dict[str, Any]], T]
) -> Asked[T]:
    given = {name: value for name, value in params.items() if value is not None}
    return Asked(method=method, params=given, read=read, options=options)


def _with(kind: type[T], **fields: type) -> Callable[[dict[str, Any]], T]:
    """Read a result whose listed fields must be there, with their types."""

    def read(result: dict[str, Any]) -> T:
        for name, type_ in fields.items():
            _required(result, name, type_)
        return cast(T, result)

    return read


def _required(result: dict[str, Any], name: str, type_: type[T]) -> T:
    value = result.get(name)
    if not isinstance(value, type_):
        raise InternalError(f"the server's result has no proper {name!r}")
    return value
