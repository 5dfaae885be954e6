"""Second step: both legs bring their candidates. The model embeds the query meanwhile.

Threads here compute only: the database is read by the caller's thread alone, so that no connection
is opened that nobody closes. Below: index, embedding. Above: run.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from fastrag_site.conf import conf
from fastrag_site.threads import release_connections
from retrieval.embedding import embedder
from retrieval.embedding.errors import EmbedderUnavailable
from retrieval.index import dense_index, sparse_index
from retrieval.index.allowed import Allowed
from retrieval.index.base import IndexUnavailable, Ranking, Scored, Vector
from retrieval.index.rows import pages_of
from retrieval.index.state import index_embedder
from retrieval.pipeline.base import Candidate, Prepared, Recalled
from retrieval.types import Mode, Stage

COMPLETE = 0.9  # of the chunks need a vector before the dense leg may rank them
SHOWN = 10  # candidates in a stage
BRIEF_SECONDS = 0.1
_EMBEDDING = ThreadPoolExecutor(16, "embed-query")


def recall(
    prepared: Prepared, *, allowed: Allowed | None = None
) -> Generator[Stage, None, Recalled]:
    """Yields a Stage a leg."""
    future = _EMBEDDING.submit(_embed, prepared.text) if prepared.alpha > 0.0 else None
    try:
        sparse = dense = _Leg()
        notes: list[str] = []
        if prepared.query.mode is not Mode.DENSE:
            sparse = _lexical(prepared, allowed)
            yield _stage("recall:sparse", 0.3, sparse.top)
        if future is not None:
            dense = _dense(prepared, future, allowed, notes)
            yield _stage("recall:dense", 0.5, dense.top)
        if dense.ranking is None and sparse.ranking is None:
            sparse = _lexical(prepared, allowed)
            yield _stage("recall:sparse", 0.6, sparse.top)
    finally:
        if future is not None:
            future.cancel()
    return _recalled(prepared, sparse, dense, notes)


@dataclass(frozen=True, slots=True)
class _Leg:
    """A leg that ran, with its best; without a ranking, one that did not."""

    ranking: Ranking | None = None
    top: tuple[Scored, ...] = ()

    def scores(self, chunk_ids: Sequence[int]) -> dict[int, Scored]:
        scored = self.ranking.at(chunk_ids) if self.ranking is not None else []
        return {one.chunk_id: one for one in scored}


def _lexical(prepared: Prepared, allowed: Allowed | None) -> _Leg:
    ranking = sparse_index().rank(prepared.text, language="")
    return _Leg(ranking, _top(ranking, prepared, allowed))


def _lexical_scores(prepared: Prepared, chunk_ids: Sequence[int]) -> dict[int, Scored]:
    """Also where words do not rank: confidence needs to know what they cover."""
    return _Leg(sparse_index().rank(prepared.text, language="")).scores(chunk_ids)


def _embed(text: str) -> Vector:
    model = embedder()
    if model is None:
        raise EmbedderUnavailable("no embedder is configured")
    return model.embed_query(text)


def _dense(
    prepared: Prepared, future: Future[Vector], allowed: Allowed | None, notes: list[str]
) -> _Leg:
    """The dense leg, or one without a ranking and a note that says why."""
    try:
        vector = _awaited(future)
        model = embedder()
        if model is None or index_embedder() != model.identity:
            notes.append("dense leg unavailable: the vectors are not computed yet")
            return _Leg()
        have, chunks = dense_index().size(), sparse_index().size()
        if prepared.query.mode is Mode.HYBRID and have < COMPLETE * chunks:
            notes.append(f"dense leg unavailable: {have} of {chunks} vectors are computed")
            return _Leg()
        ranking = dense_index().rank(vector)
        return _Leg(ranking, _top(ranking, prepared, allowed))
    except (EmbedderUnavailable, IndexUnavailable) as error:
        notes.append(f"dense leg unavailable: {error}")
    except TimeoutError:
        notes.append("dense leg unavailable: the embedder took too long")
    return _Leg()


def _awaited(future: Future[Vector]) -> Vector:
    """A slow model, as on another machine, is waited for without a database connection."""
    try:
        return future.result(timeout=BRIEF_SECONDS)
    except TimeoutError:
        release_connections()
        return future.result(timeout=conf().retrieval_seconds)


def _top(ranking: Ranking, prepared: Prepared, allowed: Allowed | None) -> tuple[Scored, ...]:
    return tuple(ranking.top(prepared.candidate_k, allowed=allowed))


def _recalled(prepared: Prepared, sparse: _Leg, dense: _Leg, notes: Sequence[str]) -> Recalled:
    ids = list(dict.fromkeys(one.chunk_id for one in (*sparse.top, *dense.top)))
    pages = pages_of(ids)
    words, cosines = sparse.scores(ids), dense.scores(ids)
    coverage = words or _lexical_scores(prepared, ids)
    candidates = {
        id_: Candidate(
            chunk_id=id_,
            page_id=pages[id_],
            dense=cosines[id_].score if id_ in cosines else None,
            sparse=words[id_].score if id_ in words else None,
            coverage=coverage[id_].coverage if id_ in coverage else 0.0,
        )
        for id_ in ids
        if id_ in pages
    }
    return Recalled(
        dense=tuple((one.chunk_id, one.score) for one in dense.top if one.chunk_id in pages),
        sparse=tuple((one.chunk_id, one.score) for one in sparse.top if one.chunk_id in pages),
        candidates=candidates,
        gone=len(ids) - len(pages),
        legs=frozenset(
            mode
            for mode, leg in ((Mode.DENSE, dense), (Mode.SPARSE, sparse))
            if leg.ranking is not None
        ),
        alpha=prepared.alpha if dense.ranking is not None else 0.0,
        notes=tuple(notes),
    )


def _stage(name: str, progress: float, found: Sequence[Scored]) -> Stage:
    shown = found[:SHOWN]
    return Stage(
        name=name,
        progress=progress,
        message=f"{len(found)} candidates",
        chunk_ids=tuple(one.chunk_id for one in shown),
        scores=tuple(one.score for one in shown),
    )
