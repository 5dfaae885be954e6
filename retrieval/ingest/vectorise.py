"""Vectors after text: what is stored is searchable already, vectors follow, resumably.

Below: index.vectors, embedding. Above: ingest.syncing.
"""

from __future__ import annotations

from retrieval.embedding.errors import EmbedderUnavailable
from retrieval.index.vectors import fill_vectors
from retrieval.ingest.progress import Phase, Progress, Reporter


def vectors_fill(report: Reporter) -> tuple[int, tuple[str, ...]]:
    """Compute what is missing: how many, and notes where that was not possible."""
    filled = 0

    def progress(done: int, total: int) -> None:
        nonlocal filled
        filled = done
        report(Progress(phase=Phase.VECTORS, done=done, total=total))

    try:
        return fill_vectors(progress=progress), ()
    except EmbedderUnavailable as error:
        reason = str(error).rstrip(".")
        return filled, (f"Vectors wait for the next sync: {reason}. Words alone are searched.",)
