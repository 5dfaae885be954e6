"""Search structures over chunks: what ranks by words, what ranks by meaning."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from retrieval.index.base import DenseIndex, SparseIndex


@cache
def sparse_index() -> SparseIndex:
    """The lexical index of this process."""
    from retrieval.index.postings import PostingsIndex

    return PostingsIndex()


@cache
def dense_index() -> DenseIndex:
    """The vector index of this process: pgvector on PostgreSQL, else exact in memory."""
    from django.db import connection

    if connection.vendor == "postgresql":
        from retrieval.index.pgvector import PgvectorIndex

        return PgvectorIndex()
    from retrieval.index.exact import ExactIndex

    return ExactIndex()
