"""Results as they come off the wire, typed; unknown fields stay. A leaf."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict


class Hit(TypedDict):
    id: str | int
    score: float
    confidence: NotRequired[float]
    text: NotRequired[str]
    unit: NotRequired[str]
    meta: NotRequired[dict[str, Any]]
    vector: NotRequired[list[float]]
    scores: NotRequired[dict[str, float]]
    citation: NotRequired[dict[str, Any]]
    trust: NotRequired[dict[str, Any]]
    chunk: NotRequired[dict[str, Any]]


class RetrieveResult(TypedDict):
    hits: list[Hit]  # best first
    nextCursor: NotRequired[str]
    usage: NotRequired[dict[str, Any]]
    rewrittenQuery: NotRequired[str]


class Ranked(TypedDict):
    index: int
    score: float


class RerankResult(TypedDict):
    scores: list[float]  # one a passage, in the order of the passages
    order: NotRequired[list[int]]
    results: NotRequired[list[Ranked]]  # best first


class IndexAddResult(TypedDict):
    ids: list[str]  # one a document, in the order of the documents
    chunks: NotRequired[int]


class IndexDeleteResult(TypedDict):
    deleted: int


class FeedbackResult(TypedDict):
    accepted: int


class TransformResult(TypedDict):
    queries: list[str]
    hypothetical: NotRequired[str]


class ServerInfo(TypedDict):
    protocolVersion: int
    server: dict[str, str]
    capabilities: dict[str, dict[str, Any]]
    _meta: NotRequired[dict[str, Any]]
