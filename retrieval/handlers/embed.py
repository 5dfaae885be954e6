"""`embed` and `rerank`: the site's models, offered to others. Below: embedding, reranking.

Above: server. Without a cross-encoder, `rerank` compares the vectors of query and passages; then it
offers no method by name, because none of the protocol's names means that.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fastrag_site.threads import release_connections
from retrieval import rcp
from retrieval.embedding import embedder
from retrieval.embedding.base import Embedder, Vector
from retrieval.handlers.connections import Params, Steps
from retrieval.reranking import reranker

BATCH = 16  # texts between two looks at whether anyone still waits


def embed(params: Params) -> Steps:
    model = _embedder()
    release_connections()
    texts = params["inputs"]
    rows: list[Vector] = []
    for start in range(0, len(texts), BATCH):
        rows.extend(_embedded(model, texts[start : start + BATCH], params.get("kind")))
        yield rcp.Progress(len(rows) / len(texts), "embed", f"{len(rows)} of {len(texts)} texts")
    return {"vectors": rows, "dimension": model.dimension}


def rerank(params: Params) -> Steps:
    release_connections()
    query, passages = params["query"], params["passages"]
    model = reranker()
    scores: list[float] = []
    for start in range(0, len(passages), BATCH):
        some = passages[start : start + BATCH]
        scores += model.rerank(query, some) if model is not None else _cosines(query, some)
        yield rcp.Progress(len(scores) / len(passages), "rerank", f"{len(scores)} passages")
    return {"scores": scores}


def _embedded(model: Embedder, texts: Sequence[str], kind: str | None) -> Sequence[Vector]:
    if kind == "query":
        return [model.embed_query(text) for text in texts]
    return list(model.embed_passages(texts))


def _cosines(query: str, passages: Sequence[str]) -> list[float]:
    model = _embedder()
    cosines = model.embed_passages(passages) @ model.embed_query(query)
    return [float(cosine) for cosine in np.clip(cosines, -1.0, 1.0)]


def _embedder() -> Embedder:
    model = embedder()
    if model is None:
        raise rcp.BackendUnavailable("no embedder is configured")
    return model
