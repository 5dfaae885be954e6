"""The admin of what comes over RCP: added documents, and what callers say of hits.

Below: models, store. Above: admin imports it, so that Django finds it.
"""

from __future__ import annotations

import json
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.db.models.functions import Substr
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from fastrag_site.big_lists import ReadOnlyAdmin
from fastrag_site.foreign import external_link
from retrieval.ingest.store import pages_prune
from retrieval.models import Document, HitFeedback

EXCERPT_CHARS = 120


@admin.register(Document)
class DocumentAdmin(ReadOnlyAdmin):
    list_display = ("name", "in_page", "link")
    list_select_related = ("page",)
    search_fields = ("name",)
    search_help_text = "The document's id or its beginning."
    fields = ("name", "in_page", "link", "what_was_said")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Document]:
        return super().get_queryset(request).defer("spans", "page__links")

    def search(self, request: HttpRequest, queryset: QuerySet[Any], term: str) -> QuerySet[Any]:
        # A range, because a pattern match would not use the index on every database.
        return queryset.filter(name__gte=term, name__lt=term + "\U0010ffff")

    @admin.display(description="page")
    def in_page(self, document: Document) -> SafeString:
        url = reverse("admin:retrieval_page_change", args=[document.pk])
        return format_html('<a href="{}">{}</a>', url, document.page.title)

    @admin.display(description="address")
    def link(self, document: Document) -> SafeString | str:
        return external_link(document.url, document.url) if document.url else "–"

    @admin.display(description="meta")
    def what_was_said(self, document: Document) -> SafeString:
        shown = json.dumps(document.meta, indent=2, ensure_ascii=False)
        return format_html('<pre style="white-space: pre-wrap">{}</pre>', shown)

    def delete_model(self, request: HttpRequest, obj: Document) -> None:
        pages_prune([obj.pk])


@admin.register(HitFeedback)
class HitFeedbackAdmin(ReadOnlyAdmin):
    list_display = ("hit", "passage", "verdicts", "reward", "suspicions", "asked", "created_at")
    search_fields = ("hit", "query", "session", "owner")
    fields = ("hit", "passage", "verdicts", "reward", "suspicions", "query", "session", "owner")

    def get_queryset(self, request: HttpRequest) -> QuerySet[HitFeedback]:
        rows: QuerySet[HitFeedback] = super().get_queryset(request)
        return rows.annotate(start=Substr("query", 1, EXCERPT_CHARS))

    @admin.display(description="passage")
    def passage(self, row: HitFeedback) -> SafeString | str:
        if row.chunk_id is None:
            return "not a passage, or gone since"
        url = reverse("admin:retrieval_chunk_change", args=[row.chunk_id])
        return format_html('<a href="{}">open</a>', url)

    @admin.display(description="said")
    def verdicts(self, row: HitFeedback) -> str:
        said = {"used": row.used, "cited": row.cited, "helpful": row.helpful}
        known = {name: is_so for name, is_so in said.items() if is_so is not None}
        return ", ".join(name if known[name] else f"not {name}" for name in known) or "–"

    @admin.display(description="suspected")
    def suspicions(self, row: HitFeedback) -> str:
        found = {"poison": row.poison_suspected, "injection": row.injection_suspected}
        return ", ".join(name for name, is_so in found.items() if is_so) or "–"

    @admin.display(description="query")
    def asked(self, row: Any) -> str:
        return str(row.start)
