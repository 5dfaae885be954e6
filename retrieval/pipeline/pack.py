"""Last step: candidates → hits with text and page, within the limits of the query.

Below: models, confidence. Above: run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from retrieval.models import Chunk, Page
from retrieval.pipeline.base import Candidate, Prepared
from retrieval.pipeline.confidence import confidence
from retrieval.types import Fragment, Hit, Query, Scores

_COLUMNS = (
    *("position", "text", "section", "anchor", "fragment_start", "fragment_end", "page_id"),
    *(f"page__{name}" for name in ("url", "title", "site_name", "favicon_url")),
    *("page__media_type", "page__language", "page__document__url"),
)


def pack(prepared: Prepared, candidates: Sequence[Candidate]) -> tuple[Hit, ...]:
    rows = Chunk.objects.filter(pk__in=[candidate.chunk_id for candidate in candidates])
    chunks = {chunk.pk: chunk for chunk in rows.select_related("page__document").only(*_COLUMNS)}
    hits = (
        _hit(prepared, chunks[candidate.chunk_id], candidate)
        for candidate in candidates
        if candidate.chunk_id in chunks
    )
    return tuple(_within(prepared.query, hits))


def _within(query: Query, hits: Iterator[Hit]) -> Iterator[Hit]:
    left = query.token_budget
    for hit in hits:
        if query.min_score is not None and hit.score < query.min_score:
            continue
        if left is not None:
            cost = approximate_tokens(hit.text)
            if cost > left:
                continue
            left -= cost
        yield hit


def approximate_tokens(text: str) -> int:
    """What a language model makes of it, rather too many than too few."""
    plain = sum(map(str.isascii, text))
    return -(-plain // 4) + len(text) - plain


def address_of(page: Page) -> str:
    """Where a citation leads: an added document may stand on the web under its own address."""
    document = getattr(page, "document", None)
    return (document and document.url) or page.url


def _hit(prepared: Prepared, chunk: Chunk, candidate: Candidate) -> Hit:
    page = chunk.page
    fragment = None
    if chunk.fragment_start:
        fragment = Fragment(start=chunk.fragment_start, end=chunk.fragment_end or None)
    return Hit(
        chunk_id=chunk.pk,
        page_id=page.pk,
        url=address_of(page),
        title=page.title,
        site_name=page.site_name,
        favicon_url=page.favicon_url,
        media_type=page.media_type,
        language=page.language,
        section=tuple(chunk.section),
        anchor=chunk.anchor or None,
        position=chunk.position,
        text=chunk.text,
        fragment=fragment,
        score=candidate.score,
        confidence=confidence(candidate, prepared),
        scores=Scores(dense=candidate.dense, sparse=candidate.sparse, rerank=candidate.rerank),
    )
