"""Makes vectors and their index again from the stored chunks, as far as they are missing or stale.

Below: index, vectorise. Above: the reindex command.
"""

from __future__ import annotations

from retrieval.embedding import embedder
from retrieval.embedding.errors import EmbedderUnavailable
from retrieval.index import dense_index
from retrieval.index.vectors import embedder_declare
from retrieval.ingest.progress import Phase, Progress, Reporter
from retrieval.ingest.vectorise import vectors_fill


def reindex(report: Reporter, *, anew: bool = False) -> tuple[int, tuple[str, ...]]:
    """How many vectors were computed, and notes. `anew`: build the index even where it is whole.

    Raises IndexUnavailable. Broken off anywhere, the next run goes on.
    """
    model = embedder()
    notes: tuple[str, ...] = ()
    if model is None:
        notes = ("No embedder is configured; pages are searched by words alone.",)
    else:
        try:
            embedder_declare(model.identity, model.dimension)
        except EmbedderUnavailable as error:
            notes = (f"No vectors are computed: {str(error).rstrip('.')}.",)

    def progress(done: int, total: int) -> None:
        report(Progress(phase=Phase.INDEX, done=done, total=total))

    dense_index().rebuild(progress, anew=anew)
    if notes:
        return 0, notes
    return vectors_fill(report)
