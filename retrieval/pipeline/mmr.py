"""Fifth step: of passages that say the same, one is enough (maximal marginal relevance).

It chooses which passages are shown; their order stays by score. Passages on one subject are not
yet the same: alikeness counts from a threshold on. Plain cosine costs 0.03 of SciFact's nDCG@10,
this 0.001. Below: index, models. Above: run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from retrieval.index import dense_index
from retrieval.index.base import Vector
from retrieval.models import Chunk
from retrieval.pipeline.base import Candidate

Similarity = NDArray[np.float32]  # (n, n), 0.0 nothing in common to 1.0 the same
SAME_COSINE = 0.85
SAME_WORDS = 0.5  # share of the words of both
POOL, SMALLEST_POOL = 2, 20  # candidates looked at for each that is chosen, and at least


def diversify(candidates: Sequence[Candidate], *, k: int, weight: float) -> list[Candidate]:
    """k of the candidates, by score. `weight` of relevance against novelty: 1.0 is relevance."""
    pool = candidates[: max(SMALLEST_POOL, POOL * k)]
    if weight >= 1.0 or len(pool) <= k:
        return list(pool[:k])
    chosen = select(
        np.asarray([candidate.score for candidate in pool], np.float32),
        similarity(pool),
        k=k,
        weight=weight,
    )
    return [pool[place] for place in sorted(chosen)]


def select(scores: NDArray[np.float32], alike: Similarity, *, k: int, weight: float) -> list[int]:
    """Greedy: the next is relevant and unlike the chosen ones. The first is always the best."""
    # A reranker's scores may be negative.
    above = scores - min(0.0, float(scores.min()))
    relevance = above / max(float(above.max()), 1e-9)
    chosen = [int(np.argmax(relevance))]
    nearest = alike[chosen[0]].copy()
    while len(chosen) < min(k, len(scores)):
        gain = weight * relevance - (1.0 - weight) * nearest
        gain[chosen] = -np.inf
        chosen.append(int(np.argmax(gain)))
        nearest = np.maximum(nearest, alike[chosen[-1]])
    return chosen


def similarity(pool: Sequence[Candidate]) -> Similarity:
    """By vectors where they took part in the ranking, else by shared words.

    In a language that the embedder does not know, all passages may be near to each other.
    """
    ids = [candidate.chunk_id for candidate in pool]
    if all(candidate.dense is not None for candidate in pool):
        vectors = dense_index().vectors(ids)
        if len(vectors) == len(ids):
            return _cosines(ids, vectors)
    texts = dict(Chunk.objects.filter(pk__in=ids).values_list("pk", "text"))
    return overlaps([texts.get(id_, "") for id_ in ids])


def _cosines(ids: Sequence[int], vectors: Mapping[int, Vector]) -> Similarity:
    matrix = np.stack([vectors[id_] for id_ in ids])
    return _from(np.einsum("ik,jk->ij", matrix, matrix), SAME_COSINE)


def _from(alike: Similarity, threshold: float) -> Similarity:
    above: Similarity = np.clip((alike - threshold) / (1.0 - threshold), 0.0, 1.0)
    return above


def overlaps(texts: Sequence[str]) -> Similarity:
    """Jaccard overlap of words, of character pairs in scripts without spaces."""
    bags = [_bag(text) for text in texts]
    alike = np.eye(len(bags), dtype=np.float32)
    for row, bag in enumerate(bags):
        for column in range(row):
            shared = len(bag & bags[column])
            union = len(bag) + len(bags[column]) - shared
            alike[row, column] = alike[column, row] = shared / union if union else 0.0
    return _from(alike, SAME_WORDS)


def _bag(text: str) -> frozenset[str]:
    folded = text.casefold()
    words = folded.split()
    if len(folded) > 12 * len(words):
        return frozenset(folded[place : place + 2] for place in range(len(folded) - 1))
    return frozenset(words)
