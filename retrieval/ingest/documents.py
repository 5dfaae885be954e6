"""Documents that callers add and delete, stored as pages of a site of their own.

Below: drafts, meta, store. Above: retrieval.handlers. They are found by words as soon as they are
stored; vectors are the caller's next step (retrieval.index.vectors).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction

from fastrag_site.conf import conf
from retrieval.index.state import index_bump
from retrieval.ingest.drafts import LOCATION, Draft, NewDocument, Reading
from retrieval.ingest.meta import values_store
from retrieval.ingest.store import pages_prune, pages_store
from retrieval.models import Chunk, Document, Page, Site


class TooManyDocuments(Exception):
    """The index would hold more added documents than it may."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """What became of the documents; `names` in the order in which they were given."""

    names: tuple[str, ...]
    chunks: int  # of all of them
    page_ids: tuple[int, ...]  # of those that were new or different


def documents_add(given: Sequence[NewDocument], *, chunk: bool = True) -> Added:
    """Store documents, all or none. Raises DocumentRefused, TooManyDocuments.

    A known name is replaced, an identical repeat changes nothing. `chunk`: cut them into passages;
    else each is one passage.
    """
    drafts = [Draft(one, position=at, chunk=chunk) for at, one in enumerate(given)]
    latest = {draft.name: draft for draft in drafts}  # of several with one name the last counts
    readings = {draft: draft.read() for draft in _changed(latest)}
    page_ids = _store(readings) if readings else []
    return Added(
        names=tuple(draft.name for draft in drafts),
        chunks=Chunk.objects.filter(page__document__name__in=list(latest)).count(),
        page_ids=tuple(page_ids),
    )


def documents_delete(names: Sequence[str]) -> int:
    """How many there were; a name that is unknown is no error."""
    known = {name for name in names if "\0" not in name}
    found = Document.objects.filter(name__in=known).values_list("pk", flat=True)
    return pages_prune(found).pages


def documents_site() -> Site:
    site, _ = Site.objects.get_or_create(
        location=LOCATION, defaults={"kind": Site.Kind.DOCUMENTS, "enabled": False}
    )
    return site


def _changed(latest: Mapping[str, Draft]) -> list[Draft]:
    rows = Document.objects.filter(name__in=list(latest)).values_list("name", "digest")
    stored = dict(rows)
    return [draft for name, draft in latest.items() if stored.get(name) != draft.digest]


def _store(readings: Mapping[Draft, Reading]) -> list[int]:
    site = documents_site()
    with transaction.atomic():
        index_bump()  # first, so that writers queue here
        stored = pages_store(site, [reading.write for reading in readings.values()])
        rows = [
            Document(
                page_id=one.page_id,
                name=draft.name,
                url=draft.url,
                meta=draft.meta,
                spans=list(reading.spans),
                digest=draft.digest,
            )
            for (draft, reading), one in zip(readings.items(), stored, strict=True)
        ]
        Document.objects.bulk_create(
            rows,
            update_conflicts=True,
            unique_fields=["page"],
            update_fields=["name", "url", "meta", "spans", "digest"],
        )
        values_store(rows)
        is_new = any(one.new for one in stored)
        if is_new and Page.objects.filter(site=site).count() > conf().rcp_documents_max:
            raise TooManyDocuments()
    return [one.page_id for one in stored]
