"""Vectors after text: what is stored is searchable already, vectors follow, resumably.

Below: index.vectors, embedding. Above: ingest.syncing.
"""

from __future__ import annotations

from retrieval.index.vectors import fill_vectors
from retrieval.ingest.progress import Phase, Progress, Reporter


def vectors_fill(report: Reporter) -> tuple[int, tuple[str, ...]]:
    """Compute what is missing: how many, and notes where that was not possible."""

    def progress(done: int, total: int) -> None:
        report(Progress(phase=Phase.VECTORS, done=done, total=total))

    return fill_vectors(progress=progress), ()
