"""The admin of conversations, to read: chats with their messages, and running answers.

Below: models, usage. Above: the admin site.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import admin
from django.contrib.auth import get_user_model
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.db.models.functions import Substr
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from chats.models import Chat, Feedback, Generation, Message
from chats.usage import RANGES, total_of, usage_by_day
from fastrag_site import big_lists
from fastrag_site.big_lists import ReadOnlyAdmin
from fastrag_site.foreign import external_link, verbatim
from retrieval.ingest.fragments import directive
from retrieval.selectors import suspected_pages
from retrieval.types import Fragment

NEWEST = "the newest 10,000 rows are searched"


class _Shown:
    """How a message's parts are displayed, in the list and inside its chat."""

    @admin.display(description="content")
    def full_content(self, message: Message) -> SafeString:
        return verbatim(message.content)

    @admin.display(description="outcome")
    def outcome(self, message: Message) -> str:
        error = f"{message.error_code}: {message.error_message}" if message.error_code else ""
        return " – ".join(part for part in (message.finish_reason, error) if part) or "–"

    @admin.display(description="sources")
    def cited(self, message: Message) -> SafeString | str:
        links = ((_source_link(source),) for source in message.sources)
        return format_html_join(SafeString("<br>"), "{}", links) or "–"

    @admin.display(description="timings")
    def timings(self, message: Message) -> str:
        first, whole = message.first_token_ms, message.duration_ms
        parts = ((first, "ms to the first token"), (whole, "ms in all"))
        return ", ".join(f"{value} {label}" for value, label in parts if value is not None) or "–"

    @admin.display(description="tokens")
    def tokens(self, message: Message) -> str:
        if message.prompt_tokens is None or message.completion_tokens is None:
            return "–"
        return f"{message.prompt_tokens} read, {message.completion_tokens} written"

    @admin.display(description="feedback")
    def rated(self, message: Message) -> str:
        feedback: Feedback | None = getattr(message, "feedback", None)
        if feedback is None:
            return "–"
        return f"{feedback.rating}: {feedback.comment}" if feedback.comment else feedback.rating


class MessageInline(_Shown, admin.StackedInline[Message, Chat]):
    model = Message
    extra = 0
    can_delete = False
    ordering = ("position", "-is_current", "-created_at")
    fields = (
        *("role", "is_current", "full_content", "outcome", "cited", "rated"),
        *("model", "tokens", "timings", "created_at"),
    )
    readonly_fields = fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[Message]:
        return super().get_queryset(request).select_related("feedback")

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Chat)
class ChatAdmin(ReadOnlyAdmin):
    list_display = ("title", "owner", "created_at", "active_at")
    list_select_related = ("user",)
    ordering = ("-active_at", "-id")
    search_fields = ("title",)
    search_help_text = f"A chat id, the name of a user, or words of a title ({NEWEST})."
    fields = ("id", "title", "owner", "created_at", "active_at")
    inlines = (MessageInline,)

    @admin.display(description="owner")
    def owner(self, chat: Chat) -> str:
        return chat.user.get_username() if chat.user else "anonymous"

    def search(self, request: HttpRequest, queryset: QuerySet[Any], term: str) -> QuerySet[Any]:
        if (chat_id := _as_uuid(term)) is not None:
            return queryset.filter(pk=chat_id)
        named = queryset.filter(**{f"user__{get_user_model().USERNAME_FIELD}": term})
        return named if named.exists() else super().search(request, queryset, term)


class FinishFilter(admin.SimpleListFilter):
    """Among the newest messages, because an outcome such as `error` is rare in the table."""

    title = "outcome (newest 10,000)"
    parameter_name = "outcome"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(reason, reason) for reason in ("stop", "length", "error", "interrupted")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() is None:
            return queryset
        newest = Message.objects.order_by("-pk").values("pk")[: big_lists.SEARCH_WINDOW]
        return queryset.filter(pk__in=newest, finish_reason=self.value())


@admin.register(Message)
class MessageAdmin(_Shown, ReadOnlyAdmin):
    list_display = (
        *("excerpt", "role", "outcome", "rated", "model", "tokens", "timings"),
        *("created_at", "in_chat"),
    )
    list_select_related = ("feedback",)
    list_filter = (FinishFilter,)
    search_fields = ("content",)
    search_help_text = f"A message id or words of its content ({NEWEST})."
    fields = ("in_chat", *MessageInline.fields, "suspects")

    def get_urls(self) -> list[URLPattern]:
        usage = self.admin_site.admin_view(self.usage_view)
        return [path("usage/", usage, name="chats_message_usage"), *super().get_urls()]

    def usage_view(self, request: HttpRequest) -> TemplateResponse:
        """What answers cost, by day."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        asked = request.GET.get("days", "")
        days = next((days for days in RANGES if str(days) == asked), RANGES[1])
        rows = usage_by_day(days)
        context = {
            **self.admin_site.each_context(request),
            "title": "Usage by day",
            "days": days,
            "ranges": RANGES,
            "rows": rows,
            "total": total_of(rows),
        }
        return TemplateResponse(request, "admin/chats/message/usage.html", context)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Message]:
        light = super().get_queryset(request).defer("content", "sources")
        rows: QuerySet[Message] = light.annotate(start=Substr("content", 1, 120))
        return rows

    def search(self, request: HttpRequest, queryset: QuerySet[Any], term: str) -> QuerySet[Any]:
        if (message_id := _as_uuid(term)) is not None:
            return queryset.filter(Q(pk=message_id))
        return super().search(request, queryset, term)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False  # questions and answers go with their chat

    @admin.display(description="content")
    def excerpt(self, message: Any) -> str:
        return message.start or "(empty)"

    @admin.display(description="sources that give orders to models")
    def suspects(self, message: Message) -> SafeString | str:
        pages = suspected_pages({str(source.get("url", "")) for source in message.sources})
        links = ((external_link(url, url),) for url in pages)
        return format_html_join(SafeString("<br>"), "⚠ {}", links) or "–"

    @admin.display(description="chat")
    def in_chat(self, message: Message) -> SafeString:
        url = reverse("admin:chats_chat_change", args=[message.chat_id])
        return format_html('<a href="{}">open</a>', url)


@admin.register(Generation)
class GenerationAdmin(ReadOnlyAdmin):
    """The journal: answers being written, and those whose worker died."""

    list_display = ("message_id", "asked", "started_at", "heartbeat_at", "stop_requested")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Generation]:
        light = super().get_queryset(request).defer("said", "sources", "question")
        rows: QuerySet[Generation] = light.annotate(start=Substr("question", 1, 120))
        return rows

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False  # settling stores the exchange and removes the row

    @admin.display(description="question")
    def asked(self, generation: Any) -> str:
        return str(generation.start)


def _as_uuid(term: str) -> UUID | None:
    try:
        return UUID(term)
    except ValueError:
        return None


def _source_link(source: dict[str, Any]) -> SafeString:
    """A stored source as a link that scrolls to its passages."""
    url, numbers = str(source.get("url", "")), source.get("positions", [])
    terms = [
        Fragment(start=term["start"], end=term.get("end")) for term in source.get("fragments", [])
    ]
    target = f"{url}#{directive(terms)}" if terms else url
    label = "".join(f"[{number}]" for number in numbers)
    return format_html("{} {}", label, external_link(target, str(source.get("title") or url)))
