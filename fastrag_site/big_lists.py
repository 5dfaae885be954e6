"""Admin lists over tables of any size: no full count, no unindexed sorting, bounded searching.

Below: django.contrib.admin. Above: the admins of chats and retrieval.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from django.contrib import admin
from django.contrib.admin.views.main import ORDER_VAR, ChangeList
from django.core.paginator import Paginator
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.functional import cached_property

COUNT_MAX = 10_000  # rows that are counted and paged through; beyond, narrow by search
SEARCH_WINDOW = 10_000  # newest rows that a search without an index looks at
TERM_MAX = 200


class BoundedPaginator(Paginator[Any]):
    """Counts no further than COUNT_MAX, so that no page costs a scan of the table."""

    @cached_property
    def count(self) -> int:
        rows = self.object_list
        if isinstance(rows, QuerySet):
            return rows.order_by().values("pk")[:COUNT_MAX].count()
        return len(rows)


class IndexedChangeList(ChangeList):
    """Keeps to the admin's own order, whatever `?o=` asks: another could sort the whole table."""

    def get_ordering(self, request: HttpRequest, queryset: QuerySet[Any]) -> list[Any]:
        self.params.pop(ORDER_VAR, None)
        return super().get_ordering(request, queryset)


class BigListAdmin(admin.ModelAdmin[Any]):
    """Newest first by primary key; a search goes over the newest rows unless overridden."""

    paginator = BoundedPaginator
    show_full_result_count = False
    list_per_page = 50
    list_max_show_all = 0
    sortable_by: ClassVar[tuple[str, ...]] = ()
    ordering: ClassVar[tuple[str, ...]] = ("-pk",)

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return IndexedChangeList

    def newest(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        window = self.model._default_manager.order_by("-pk").values("pk")[:SEARCH_WINDOW]
        return queryset.filter(pk__in=window)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        term = search_term.strip().replace("\0", "")[:TERM_MAX]
        if not term:
            return queryset, False
        return self.search(request, queryset, term), False

    def search(self, request: HttpRequest, queryset: QuerySet[Any], term: str) -> QuerySet[Any]:
        """The matching rows; `term` is not empty and bounded in length."""
        found, _ = super().get_search_results(request, self.newest(queryset), term)
        return found


class ReadOnlyAdmin(BigListAdmin):
    """Shown, never added or changed. Deleting stays a permission."""

    actions = None

    class Media:
        css: ClassVar = {"all": ["fastrag_site/admin.css"]}

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def get_deleted_objects(
        self, objs: Iterable[Any], request: HttpRequest
    ) -> tuple[list[Any], dict[str, int], set[str], list[str]]:
        """Names the objects alone: listing everything below them could take for ever."""
        return named_objects(objs)


def named_objects(
    objs: Iterable[Any],
) -> tuple[list[Any], dict[str, int], set[str], list[str]]:
    """What a deletion confirmation shows, without collecting related rows."""
    found = list(objs)
    counts = {str(obj._meta.verbose_name_plural): len(found) for obj in found[:1]}
    return [str(obj) for obj in found], counts, set(), []
