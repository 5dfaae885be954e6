"""`index/add` and `index/delete`: documents that are searched like pages. Below: ingest.documents,
index.vectors. Above: server.
"""

from __future__ import annotations

import time

from fastrag_site.conf import conf
from retrieval import rcp
from retrieval.embedding import embedder
from retrieval.embedding.errors import EmbedderUnavailable
from retrieval.handlers.connections import Params, Result, Steps
from retrieval.index.vectors import fill_pages
from retrieval.ingest.documents import Added, TooManyDocuments, documents_add, documents_delete
from retrieval.ingest.drafts import DocumentRefused, NewDocument
from retrieval.models import Chunk

STORED = 0.4  # of the work, roughly; vectors are the rest


def index_add(params: Params) -> Steps:
    documents = params["documents"]
    _check_count("documents", len(documents))
    yield rcp.Progress(0.0, "chunk", f"{len(documents)} documents")
    added = _add(params)
    rcp.current_call().log("info", f"{len(documents)} documents, {added.chunks} chunks")
    yield rcp.Progress(STORED, "store", f"{added.chunks} chunks of {len(documents)} documents")
    yield from _vectors(added)
    result: Result = {"ids": list(added.names), "chunks": added.chunks}
    waiting = Chunk.objects.filter(page__in=added.page_ids, embedding__isnull=True).count()
    if waiting and embedder() is not None:
        note = f"{waiting} chunks are found by words alone until the next sync makes their vectors"
        rcp.current_call().log("warning", note)
        result["usage"] = {"notes": [note]}
    return result


def index_delete(params: Params) -> Steps:
    ids = params["ids"]
    _check_count("ids", len(ids))
    yield rcp.Progress(0.0, "delete", f"{len(ids)} ids")
    return {"deleted": documents_delete(ids)}


def _add(params: Params) -> Added:
    given = [
        NewDocument(text=one["text"], name=one.get("id"), meta=one.get("meta") or {})
        for one in params["documents"]
    ]
    try:
        return documents_add(given, chunk=params.get("chunk", True))
    except DocumentRefused as refused:
        field = f"documents[{refused.position}].{refused.part}"
        raise rcp.InvalidParams(f"{field}: {refused}", field=field) from None
    except TooManyDocuments:
        limit = conf().rcp_documents_max
        raise rcp.PayloadTooLarge(f"the index may hold {limit} added documents") from None


def _vectors(added: Added) -> Steps:
    """As far as the time for it goes; what is stored is found by its words all the same."""
    until = time.monotonic() + conf().rcp_vectors_seconds
    try:
        for done, total in fill_pages(added.page_ids):
            progress = STORED + (1.0 - STORED) * done / total
            yield rcp.Progress(progress, "embed", f"{done} of {total} chunks")
            if time.monotonic() > until:
                break
    except EmbedderUnavailable:
        pass  # the result says what waits
    return {}


def _check_count(field: str, count: int) -> None:
    limit = conf().rcp_documents_per_call
    if count > limit:
        raise rcp.PayloadTooLarge(f"{field} may have {limit} members", {"field": field})
