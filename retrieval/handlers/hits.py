"""Hits as RCP carries them, with what a citation needs.

Below: models, index, trust. Above: retrieve.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import F, OuterRef, Subquery, Sum
from django.db.models.functions import Coalesce, Length

from retrieval.index import dense_index
from retrieval.ingest.fragments import directive
from retrieval.models import Chunk, Page
from retrieval.trust import injection_suspected
from retrieval.types import Hit, Unit

PDF_PAGE = re.compile(r"page (\d+)")  # how the parser names the sections of a PDF


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What a hit's page is, beyond what the hit says."""

    site: str
    fetched_at: datetime
    changed_at: datetime
    name: str | None  # of an added document
    meta: Mapping[str, Any]
    spans: Sequence[Sequence[int] | None]


def present(
    hits: Sequence[Hit], *, unit: Unit, with_text: bool, with_vectors: bool
) -> list[dict[str, Any]]:
    pages = about({hit.page_id for hit in hits})
    starts = _starts([hit.chunk_id for hit in hits])
    vectors = dense_index().vectors([hit.chunk_id for hit in hits]) if with_vectors else {}
    shown = []
    for hit in hits:
        if (page := pages.get(hit.page_id)) is None:
            continue  # removed meanwhile
        wire = _hit(hit, page, starts.get(hit.chunk_id), unit)
        if with_text:
            wire["text"] = hit.text
        if hit.chunk_id in vectors:
            wire["vector"] = vectors[hit.chunk_id].tolist()
        shown.append(wire)
    return shown


def about(page_ids: set[int]) -> dict[int, About]:
    rows = Page.objects.filter(pk__in=page_ids).values_list(
        *("pk", "site__location", "fetched_at", "changed_at"),
        *("document__name", "document__meta", "document__spans"),
    )
    return {
        pk: About(
            site=site,
            fetched_at=fetched_at,
            changed_at=changed_at,
            name=name,
            meta=meta or {},
            spans=spans or (),
        )
        for pk, site, fetched_at, changed_at, name, meta, spans in rows
    }


def hit_ids(chunk_ids: Sequence[int], unit: Unit) -> dict[int, str]:
    """The id of the hit that each chunk is, or is part of."""
    if unit is Unit.CHUNK:
        return {id_: str(id_) for id_ in chunk_ids}
    rows = Chunk.objects.filter(pk__in=chunk_ids).values_list(
        "pk", "page__url", "page__document__name"
    )
    return {id_: name or url for id_, url, name in rows}


def _hit(hit: Hit, page: About, start: int | None, unit: Unit) -> dict[str, Any]:
    document = hit.url if page.name is None else page.name
    scores = {leg: getattr(hit.scores, leg) for leg in ("dense", "sparse", "rerank")}
    return {
        "id": str(hit.chunk_id) if unit is Unit.CHUNK else document,
        "score": hit.score,
        "confidence": min(1.0, max(0.0, hit.confidence)),
        "unit": str(unit),
        "scores": {leg: score for leg, score in scores.items() if score is not None},
        "chunk": {
            "docId": document,
            "index": hit.position,
            "context": " › ".join((hit.title, *hit.section)),
        },
        "citation": _citation(hit, page, start),
        "trust": {
            # What a key's holder gave is not a stranger's, but nobody here has checked it.
            "level": "untrusted" if page.name is None else "community",
            "injectionSuspected": injection_suspected(hit.text),
        },
        "meta": _meta(hit, page),
    }


def _citation(hit: Hit, page: About, start: int | None) -> dict[str, Any]:
    citation: dict[str, Any] = {"source": hit.url, "uri": link(hit), "title": hit.title}
    span: Sequence[int] | None
    if page.name is None:
        span = None if start is None else (start, start + len(hit.text))
    else:
        span = page.spans[hit.position] if hit.position < len(page.spans) else None
    if span is not None:
        citation["start"], citation["end"] = span
    numbers = [found.group(1) for found in map(PDF_PAGE.fullmatch, hit.section[-1:]) if found]
    if numbers and hit.media_type == "application/pdf":
        citation["page"] = int(numbers[0])
    return citation


def link(hit: Hit) -> str:
    """The address of the passage: a browser scrolls to it and highlights it."""
    fragment = directive([hit.fragment]) if hit.fragment else hit.anchor
    return f"{hit.url}#{fragment}" if fragment else hit.url


def _meta(hit: Hit, page: About) -> dict[str, Any]:
    """Under the names that filters use; what a document's caller gave comes along."""
    own = {
        "url": hit.url,
        "title": hit.title,
        "site": page.site,
        "siteName": hit.site_name,
        "favicon": hit.favicon_url,
        "mediaType": hit.media_type,
        "language": hit.language,
        "section": list(hit.section),
        "anchor": hit.anchor,
        "fetchedAt": page.fetched_at.isoformat(),
        "changedAt": page.changed_at.isoformat(),
    }
    return {
        **page.meta,
        **{name: value for name, value in own.items() if value or name == "section"},
    }


def _starts(chunk_ids: Sequence[int]) -> dict[int, int]:
    """Where chunks begin in their page's text: its chunks in order, a line end between two."""
    before = Chunk.objects.filter(page=OuterRef("page"), position__lt=OuterRef("position"))
    lengths = before.order_by().values("page").annotate(total=Sum(Length("text") + 1))
    rows = Chunk.objects.filter(pk__in=chunk_ids).annotate(
        start=Coalesce(Subquery(lengths.values("total")), 0)
    )
    return dict(rows.values_list("pk", F("start")))
