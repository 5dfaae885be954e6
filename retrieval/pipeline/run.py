"""The funnel: transform → recall → fuse → rerank → mmr → pack.

Below: the steps. Above: services.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence

from fastrag_site.conf import conf
from retrieval.index import dense_index, sparse_index
from retrieval.pipeline.base import Candidate, Prepared, Recalled
from retrieval.pipeline.fuse import fuse
from retrieval.pipeline.mmr import diversify
from retrieval.pipeline.pack import pack
from retrieval.pipeline.recall import SHOWN, recall
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
        return _result(started, ())
    yield Stage(name="transform", progress=0.1, message=prepared.language)
    recalled = yield from _recall(prepared)
    candidates = fuse(prepared, recalled)
    yield _stage(f"fuse:{query.fusion.method}", 0.65, candidates)
    k = max(1, min(query.k, conf().search_max_k))
    notes = list(recalled.notes)
    if reranker() is not None:
        candidates, note = rerank(prepared.text, candidates, k=k)
        notes += [note] if note else []
        yield _stage("rerank", 0.8, candidates)
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
    )
    return _result(started, hits, candidates=len(recalled.candidates), notes=notes)


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
    ids = tuple(candidate.chunk_id for candidate in candidates[:SHOWN])
    message = f"{len(candidates)} candidates"
    return Stage(name=name, progress=progress, message=message, chunk_ids=ids)


def _result(
    started: float, hits: tuple[Hit, ...], *, candidates: int = 0, notes: Sequence[str] = ()
) -> Retrieved:
    return Retrieved(
        hits=hits,
        confidence=max((hit.confidence for hit in hits), default=0.0),
        candidates=candidates,
        latency_ms=(time.perf_counter() - started) * 1000,
        notes=tuple(notes),
    )
