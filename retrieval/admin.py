"""The admin of what is indexed: sites with their syncs, pages, chunks.

Below: models, tasks, index, store. Above: the admin site.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.contrib import admin, messages
from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.functions import Substr
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from fastrag_site.big_lists import BigListAdmin, ReadOnlyAdmin, named_objects
from fastrag_site.foreign import external_link, verbatim
from retrieval import admin_rcp  # noqa: F401  (registers its own)
from retrieval.admin_forms import SiteForm
from retrieval.admin_results import NO_WORKER, outcome, summary_table, syncs_stuck
from retrieval.index import sparse_index
from retrieval.ingest.fragments import directive
from retrieval.ingest.sites import site_delete
from retrieval.ingest.store import pages_prune
from retrieval.models import Chunk, Embedding, Page, Site
from retrieval.tasks import site_delete_enqueue, site_sync_enqueue
from retrieval.trust import injection_suspected
from retrieval.types import Fragment

SEARCH_HITS = 200
CHUNK_CHARS = 4_000  # that are looked at: nearly all chunks are shorter
PAGES_AT_ONCE = 1_000  # a larger site is removed in the background


@admin.register(Site)
class SiteAdmin(BigListAdmin):
    form = SiteForm
    list_display = ("location", "kind", "enabled", "result", "last_sync_at", "pages")
    list_filter = ("kind", "enabled", "last_outcome")
    search_fields = ("location",)
    actions = ("sync_now",)
    readonly_fields = ("result", "last_sync_at", "last_result", "pages")

    @admin.action(description="Sync the selected sites now", permissions=["change"])
    def sync_now(self, request: HttpRequest, queryset: QuerySet[Site]) -> None:
        queued = [site.location for site in queryset[:100] if site_sync_enqueue(site.pk)]
        if queued:
            text = f"Queued: {', '.join(queued)}. {NO_WORKER}"
            self.message_user(request, text, messages.SUCCESS)
        else:
            text = f"These sites are waiting for their sync already. {NO_WORKER}"
            self.message_user(request, text, messages.WARNING)

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        if request.method == "GET" and (waiting := syncs_stuck()):
            text = f"{waiting} queued and nothing works on them. {NO_WORKER}"
            self.message_user(request, text, messages.WARNING)
        return super().changelist_view(request, extra_context)

    @admin.display(description="result")
    def result(self, site: Site) -> str:
        return outcome(site)

    @admin.display(description="last result")
    def last_result(self, site: Site) -> SafeString | str:
        return summary_table(site.last_summary)

    @admin.display(description="pages")
    def pages(self, site: Site) -> SafeString | str:
        if site.pk is None:
            return "–"
        url = reverse("admin:retrieval_page_changelist")
        return format_html('<a href="{}?site__id__exact={}">pages</a>', url, site.pk)

    def delete_model(self, request: HttpRequest, obj: Site) -> None:
        pages = Page.objects.filter(site=obj).values("pk")[: PAGES_AT_ONCE + 1].count()
        if pages > PAGES_AT_ONCE:
            site_delete_enqueue(obj.pk)
            text = f"{obj.location} has many pages and is removed in the background. {NO_WORKER}"
            self.message_user(request, text, messages.WARNING)
        else:
            site_delete(obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Site]) -> None:
        for site in queryset:
            self.delete_model(request, site)

    def get_deleted_objects(self, objs: Iterable[Site], request: HttpRequest) -> Any:
        return named_objects(objs)


@admin.register(Page)
class PageAdmin(ReadOnlyAdmin):
    list_display = ("title", "link", "site", "media_type", "note", "changed_at")
    list_select_related = ("site",)
    search_fields = ("url",)
    search_help_text = "An address or its beginning, or words of the text (best pages first found)."
    fields = (
        "title",
        "link",
        "site",
        "site_name",
        "favicon_url",
        "media_type",
        "language",
        "note",
        "canonical_url",
        "fetched_url",
        "linked_from",
        "chunks",
        "etag",
        "last_modified",
        "fetched_at",
        "changed_at",
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Page]:
        return super().get_queryset(request).defer("links")

    def search(self, request: HttpRequest, queryset: QuerySet[Any], term: str) -> QuerySet[Any]:
        if term.startswith(("http://", "https://")):
            # A range, because a pattern match would not use the index on every database.
            return queryset.filter(url__gte=term, url__lt=term + "\U0010ffff")
        found = Chunk.objects.filter(pk__in=_lexical_hits(term))
        return queryset.filter(pk__in=found.values("page_id"))

    @admin.display(description="address")
    def link(self, page: Page) -> SafeString:
        return external_link(page.url, page.url)

    @admin.display(description="chunks")
    def chunks(self, page: Page) -> SafeString:
        url = reverse("admin:retrieval_chunk_changelist")
        return format_html('<a href="{}?page__id__exact={}">chunks</a>', url, page.pk)

    def delete_model(self, request: HttpRequest, obj: Page) -> None:
        pages_prune([obj.pk])


@admin.register(Chunk)
class ChunkAdmin(ReadOnlyAdmin):
    list_display = ("excerpt", "in_page", "position", "word_count", "has_vector", "is_sound")
    list_select_related = ("page",)
    search_fields = ("text",)
    search_help_text = f"Words of the text: the {SEARCH_HITS} best chunks."
    fields = (
        "in_page",
        "position",
        "section_path",
        "full_text",
        "word_count",
        "fragment",
        "anchor",
        "has_vector",
        "is_sound",
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Chunk]:
        vectors = Embedding.objects.filter(chunk=OuterRef("pk"))
        light = super().get_queryset(request).defer("text", "page__links")
        start = Substr("text", 1, CHUNK_CHARS)
        rows: QuerySet[Chunk] = light.annotate(start=start, vector=Exists(vectors))
        return rows

    def search(self, request: HttpRequest, queryset: QuerySet[Any], term: str) -> QuerySet[Any]:
        return queryset.filter(pk__in=_lexical_hits(term))

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False  # chunks come and go with their page

    @admin.display(description="text")
    def excerpt(self, chunk: Any) -> str:
        return f"{chunk.start[:120]}…"

    @admin.display(description="gives no orders", boolean=True)
    def is_sound(self, chunk: Any) -> bool:
        """Whether nothing in it reads like instructions to a language model."""
        return not injection_suspected(chunk.start)

    @admin.display(description="page")
    def in_page(self, chunk: Chunk) -> SafeString:
        url = reverse("admin:retrieval_page_change", args=[chunk.page_id])
        return format_html('<a href="{}">{}</a>', url, chunk.page.title)

    @admin.display(description="section")
    def section_path(self, chunk: Chunk) -> str:
        return " › ".join(chunk.section)

    @admin.display(description="text")
    def full_text(self, chunk: Chunk) -> SafeString:
        return verbatim(chunk.text)

    @admin.display(description="link to the passage")
    def fragment(self, chunk: Chunk) -> SafeString:
        if not chunk.fragment_start:
            return external_link(chunk.page.url, chunk.page.url)
        term = Fragment(start=chunk.fragment_start, end=chunk.fragment_end or None)
        url = f"{chunk.page.url}#{directive([term])}"
        return external_link(url, url)

    @admin.display(description="vector", boolean=True)
    def has_vector(self, chunk: Any) -> bool:
        return bool(chunk.vector)


def _lexical_hits(term: str) -> list[int]:
    """The chunks that the lexical index finds: bounded, however large the table."""
    found = sparse_index().search(term, language="", k=SEARCH_HITS)
    return [scored.chunk_id for scored in found]
