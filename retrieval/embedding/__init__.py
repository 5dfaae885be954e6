"""Dense encoders. `embedder()` is the one that the settings name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrag_site.backends import load_backend

if TYPE_CHECKING:
    from retrieval.embedding.base import Embedder


def embedder() -> Embedder | None:
    """None: search by words alone."""
    found: Embedder | None = load_backend("embedder")
    return found
