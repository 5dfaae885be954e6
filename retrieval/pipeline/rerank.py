"""Fourth step, where a reranker is configured: a slower model orders the best candidates anew.

Below: reranking, models. Above: run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fastrag_site.threads import release_connections
from retrieval.models import Chunk
from retrieval.pipeline.base import Candidate
from retrieval.reranking import reranker
from retrieval.reranking.errors import RerankerUnavailable

TOP_N = 50


def rerank(
    text: str, candidates: Sequence[Candidate], *, k: int, top: int | None = None
) -> tuple[list[Candidate], str]:
    """The `top` candidates by the reranker's scores, and a note where it was out."""
    model = reranker()
    if model is None or not candidates:
        return list(candidates), ""
    head = candidates[: max(k, top or TOP_N)]
    texts = dict(Chunk.objects.filter(pk__in=[c.chunk_id for c in head]).values_list("pk", "text"))
    head = [candidate for candidate in head if candidate.chunk_id in texts]
    release_connections()  # slow by nature
    try:
        scores = model.rerank(text, [texts[candidate.chunk_id] for candidate in head])
    except RerankerUnavailable as error:
        return list(candidates), f"reranker unavailable: {error}"
    scored = [
        replace(candidate, rerank=score, score=score)
        for candidate, score in zip(head, scores, strict=True)
    ]
    return sorted(scored, key=lambda candidate: -candidate.score), ""
