"""Values that the retrieval engine takes and gives. A leaf: imports nothing of ours.

Below: nothing. Above: pipeline, services, chats, RCP handlers, commands.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Mode(StrEnum):
    DENSE = "dense"
    SPARSE = "sparse"
    HYBRID = "hybrid"


class FusionMethod(StrEnum):
    CONVEX = "convex"
    RRF = "rrf"
    WEIGHTED = "weighted"


class Unit(StrEnum):
    CHUNK = "chunk"
    DOCUMENT = "document"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fusion:
    """How the legs' rankings become one (RCP.md §4)."""

    method: FusionMethod = FusionMethod.CONVEX
    alpha: float | None = None  # weight of the dense leg; None: conf and language decide
    weights: Mapping[str, float] | None = None  # by leg name, for rrf and weighted
    rrf_k: int = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Recency:
    """A score halves with every `half_life_days` of age by a field of dates."""

    field: str  # one of retrieval.pipeline.restrict.FIELDS, or a document's own
    half_life_days: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What to look for. Any text is safe; an empty one finds nothing."""

    text: str
    k: int = 8
    mode: Mode = Mode.HYBRID
    fusion: Fusion = field(default_factory=Fusion)
    candidate_k: int | None = None  # None: conf().candidate_k
    mmr_lambda: float | None = None  # None: conf().mmr_lambda; 1.0: no diversification
    unit: Unit = Unit.CHUNK
    min_score: float | None = None
    token_budget: int | None = None
    filter: Mapping[str, Any] | None = None  # validated RCP filter tree
    recency: Recency | None = None
    rerank: bool = True  # where a reranker is configured
    rerank_top: int | None = None  # candidates that it reads; None: its default
    exclude: frozenset[int] = frozenset()  # chunk ids already shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Fragment:
    """Text fragment terms of a passage: `#:~:text=start,end`; `end` None for a short passage."""

    start: str
    end: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """A hit's score on each leg; None where the leg did not return it."""

    dense: float | None = None
    sparse: float | None = None
    rerank: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One retrieved chunk with its page, ready to cite."""

    chunk_id: int
    page_id: int
    url: str
    title: str
    site_name: str | None
    favicon_url: str | None
    media_type: str
    language: str
    section: tuple[str, ...]
    anchor: str | None
    position: int  # of the chunk in its page
    text: str  # verbatim; blocks separated by "\n", cells of a row by "\t"
    fragment: Fragment | None
    score: float
    confidence: float  # in [0, 1]: how likely this passage bears on the query
    scores: Scores


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Yielded after each step of the funnel; RCP turns it into a progress frame."""

    name: str  # transform, recall:sparse, recall:dense, fuse:convex, rerank, mmr, pack
    progress: float  # 0.0–1.0, never falling
    message: str
    chunk_ids: tuple[int, ...] = ()  # first candidates so far, best first
    scores: tuple[float, ...] = ()  # theirs


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieved:
    """The result of one query. `confidence` is the best hit's, 0.0 with no hits."""

    hits: tuple[Hit, ...]
    confidence: float
    candidates: int
    latency_ms: float
    legs: frozenset[Mode] = frozenset()  # dense and sparse, as far as they ranked
    reranked: int = 0
    more: bool = False  # candidates are left that could be hits as well
    notes: tuple[str, ...] = ()  # degradations, such as "dense leg unavailable: …"
