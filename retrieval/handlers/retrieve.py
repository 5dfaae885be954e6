"""`retrieve`: search with the site's own pipeline.

Below: narrating, asking, hits, cursors, trajectories. Above: server.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from retrieval import rcp
from retrieval.embedding import embedder
from retrieval.handlers.asking import query_from
from retrieval.handlers.callers import owner_of
from retrieval.handlers.connections import Params, Result, Steps
from retrieval.handlers.cursors import cursor_make, cursor_read
from retrieval.handlers.hits import present
from retrieval.handlers.narrating import narrated
from retrieval.handlers.trajectories import Shown, trajectory_extend, trajectory_get
from retrieval.models import Chunk
from retrieval.pipeline.pack import approximate_tokens
from retrieval.pipeline.restrict import fields
from retrieval.types import Hit, Mode, Query, Retrieved, Unit

SESSION_CHARS = 200


def default_mode() -> Mode:
    return Mode.SPARSE if embedder() is None else Mode.HYBRID


def retrieve(params: Params) -> Steps:
    session = params.get("sessionId")
    if session is not None and (not 0 < len(session) <= SESSION_CHARS or "\0" in session):
        message = f"must have 1 to {SESSION_CHARS} characters, no NUL"
        raise rcp.InvalidParams(message, field="sessionId")
    dates = fields() if "recency" in params else {}
    query = query_from(params, default_mode=default_mode(), dates=dates)
    owner = owner_of(rcp.current_call().caller)
    before = cursor_read(params)
    known = Shown() if session is None else trajectory_get(owner=owner, session=session)
    query = replace(query, exclude=_excluded(query.unit, before, known))

    found = yield from narrated(query)
    _check_legs(params, found)
    if session is not None:
        _remember(owner, session, query.unit, found.hits)
    _log(found)
    return _result(params, query, found, before)


def _excluded(unit: Unit, before: frozenset[int], known: Shown) -> frozenset[int]:
    if unit is Unit.CHUNK:
        return before | known.chunk_ids
    pages = Chunk.objects.filter(page__in=before | known.page_ids)
    return frozenset(pages.values_list("pk", flat=True))


def _check_legs(params: Params, found: Retrieved) -> None:
    """Who asks for the dense leg alone is not served another one instead, unless not strict."""
    is_other = found.legs and Mode.DENSE not in found.legs
    if is_other and params.get("mode") == Mode.DENSE and params.get("strict") is not False:
        raise rcp.BackendUnavailable("; ".join(found.notes) or "the dense leg is unavailable")


def _remember(owner: str, session: str, unit: Unit, hits: Sequence[Hit]) -> None:
    trajectory_extend(
        owner=owner,
        session=session,
        chunk_ids=[hit.chunk_id for hit in hits],
        page_ids=[hit.page_id for hit in hits] if unit is Unit.DOCUMENT else [],
    )


def _log(found: Retrieved) -> None:
    call = rcp.current_call()
    for note in found.notes:
        call.log("warning", note)
    message = f"{len(found.hits)} hits of {found.candidates} candidates"
    call.log("info", message, latencyMs=round(found.latency_ms, 1))


def _budget_notes(query: Query, found: Retrieved) -> list[str]:
    """Why there is nothing, where the caller could take it for an index without an answer."""
    if query.token_budget is None or found.hits or not found.candidates:
        return []
    limits = "tokenBudget" if query.min_score is None else "minScore and tokenBudget"
    return [f"no hit fits within {limits}"]


def _result(params: Params, query: Query, found: Retrieved, before: frozenset[int]) -> Result:
    usage: dict[str, Any] = {
        "candidates": found.candidates,
        "reranked": found.reranked,
        "latencyMs": round(found.latency_ms, 1),
        "tokens": sum(approximate_tokens(hit.text) for hit in found.hits),
    }
    if notes := [*found.notes, *_budget_notes(query, found)]:
        usage["notes"] = notes
    hits = present(
        found.hits,
        unit=query.unit,
        with_text=params.get("includeText", True),
        with_vectors=params.get("includeVectors", False),
    )
    result: Result = {"hits": hits, "usage": usage}
    if found.more and found.hits:
        is_chunk = query.unit is Unit.CHUNK
        shown = {hit.chunk_id if is_chunk else hit.page_id for hit in found.hits}
        if (cursor := cursor_make(params, before | shown)) is not None:
            result["nextCursor"] = cursor
    return result
