"""Whether search by meaning works as it should, in words for operators.

Below: embedding, the dense index. Above: checks, health, the reindex command.
"""

from __future__ import annotations

from retrieval.embedding import embedder
from retrieval.embedding.errors import EmbedderUnavailable
from retrieval.index import dense_index
from retrieval.index.state import index_embedder


def vectors_problem() -> str | None:
    """None: all is well, or there is no embedder, or it says itself what it lacks."""
    model = embedder()
    if model is None:
        return None
    try:
        identity = model.identity
    except EmbedderUnavailable:
        return None
    if index_embedder() not in {"", identity}:
        return "the vectors are another embedder's: run `manage.py reindex`"
    return dense_index().problem()
