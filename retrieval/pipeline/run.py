"""The funnel: transform → recall → fuse → rerank (→ recency) → mmr → pack.

Below: the steps. Above: services.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from math import inf

from fastrag_site.conf import conf
from retrieval.index import dense_index, sparse_index
from retrieval.pipeline.base import Candidate, Prepared, Recalled
from retrieval.pipeline.fuse import fuse
from retrieval.pipeline.mmr import diversify
from retrieval.pipeline.pack import pack
from retrieval.pipeline.recall import SHOWN, recall
from retrieval.pipeline.recency import by_recency
from retrieval.pipeline.rerank import rerank
from retrieval.pipeline.restrict import allowed_chunks
from retrieval.pipeline.transform import transform
from retrieval.reranking import reranker
from retrieval.types import Hit, Query, Retrieved, Stage

ROUNDS = 3  # of recall, where the index turns out to hold chunks that are gone


def run(query: Query) -> Generator[Stage, None, Retrieved]:
    """Yields a Stage after each step that ran; returns the result."""
    started = time.perf_counter()
    prepared = transform(query, indexed=sparse_index().languages())
    if prepared is None:
        elapsed = (time.perf_counter() - started) * 1000
        return Retrieved(hits=(), confidence=0.0, candidates=0, latency_ms=elapsed)
    yield Stage(name="transform", progress=0.1, message=prepared.language)
    recalled = yield from _recall(prepared)
    candidates = fuse(prepared, recalled)
    yield _stage(f"fuse:{query.fusion.method}", 0.65, candidates)
    k = max(1, min(query.k, conf().search_max_k))
    notes = list(recalled.notes)
    reranked = 0
    if query.rerank and reranker() is not None:
        candidates, note = rerank(prepared.text, candidates, k=k, top=query.rerank_top)
        reranked = sum(candidate.rerank is not None for candidate in candidates)
        notes += [note] if note else []
        yield _stage("rerank", 0.8, candidates)
    if query.recency is not None:
        candidates = by_recency(candidates, query.recency)
    weight = conf().mmr_lambda if query.mmr_lambda is None else query.mmr_lambda
    chosen = diversify(candidates, k=k, weight=weight)
    if weight < 1.0:
        yield _stage("mmr", 0.9, chosen)
    hits = pack(prepared, chosen)
    yield Stage(
        name="pack",
        progress=1.0,
        message=f"{len(hits)} hits",
        chunk_ids=tuple(hit.chunk_id for hit in hits[:SHOWN]),
        scores=tuple(hit.score for hit in hits[:SHOWN]),
    )
    return Retrieved(
        hits=hits,
        confidence=max((hit.confidence for hit in hits), default=0.0),
        candidates=len(recalled.candidates),
        latency_ms=(time.perf_counter() - started) * 1000,
        legs=recalled.legs,
        reranked=reranked,
        more=_is_more(query, candidates, hits),
        notes=tuple(notes),
    )


def _recall(prepared: Prepared) -> Generator[Stage, None, Recalled]:
    """Recall, again where the index named chunks that a cascade has taken."""
    tree = prepared.query.filter
    allowed = None if tree is None else allowed_chunks(tree)
    recalled = yield from recall(prepared, allowed=allowed)
    for _ in range(ROUNDS - 1):
        if not recalled.gone:
            break
        sparse_index().reconcile()
        dense_index().reconcile()
        recalled = _drained(recall(prepared, allowed=allowed))
    return recalled


def _drained(steps: Generator[Stage, None, Recalled]) -> Recalled:
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            result: Recalled = stop.value
            return result


def _stage(name: str, progress: float, candidates: Sequence[Candidate]) -> Stage:
    shown = candidates[:SHOWN]
    return Stage(
        name=name,
        progress=progress,
        message=f"{len(candidates)} candidates",
        chunk_ids=tuple(candidate.chunk_id for candidate in shown),
        scores=tuple(candidate.score for candidate in shown),
    )


def _is_more(query: Query, candidates: Sequence[Candidate], hits: Sequence[Hit]) -> bool:
    """Whether another page of results would hold something."""
    least = -inf if query.min_score is None else query.min_score
    shown = {hit.chunk_id for hit in hits}
    return any(one.score >= least and one.chunk_id not in shown for one in candidates)
