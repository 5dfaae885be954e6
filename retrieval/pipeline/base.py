"""Values that the steps of the pipeline hand to each other. A leaf of the pipeline."""

from __future__ import annotations

from dataclasses import dataclass, field

from retrieval.types import Mode, Query


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A query that can be searched for. `alpha`: share of the dense leg, 0.0 leaves it out."""

    query: Query
    text: str
    language: str
    alpha: float
    candidate_k: int
    # What the embedder's cosines mean for this language, None where they mean nothing.
    cosine_range: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A chunk on its way through the funnel. `score` orders it at this point."""

    chunk_id: int
    page_id: int
    score: float = 0.0
    dense: float | None = None
    sparse: float | None = None
    rerank: float | None = None
    coverage: float = 0.0  # of the query's weight by the chunk's words

    def scored(self, score: float) -> Candidate:
        """`dataclasses.replace` takes five times as long, and there are hundreds of them."""
        return Candidate(
            chunk_id=self.chunk_id,
            page_id=self.page_id,
            score=score,
            dense=self.dense,
            sparse=self.sparse,
            rerank=self.rerank,
            coverage=self.coverage,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """What the legs found: rankings best first, and every chunk of either with all its scores."""

    dense: tuple[tuple[int, float], ...] = ()
    sparse: tuple[tuple[int, float], ...] = ()
    candidates: dict[int, Candidate] = field(default_factory=dict)
    legs: frozenset[Mode] = frozenset()  # that ranked, even if they found nothing
    alpha: float = 0.0  # after what is out has been left out
    gone: int = 0  # that the index held without a row: it has to be reconciled
    notes: tuple[str, ...] = ()
