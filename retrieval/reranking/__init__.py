"""Rerankers. `reranker()` is the one that the settings name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrag_site.backends import load_backend

if TYPE_CHECKING:
    from retrieval.reranking.base import Reranker


def reranker() -> Reranker | None:
    """None: the order of fusion stays."""
    found: Reranker | None = load_backend("reranker")
    return found
