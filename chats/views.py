"""The routes of chats: parse, call, wrap. Every refusal happens here, before a stream starts.

Below: answering, services, selectors, schema, wire. Beside: message_views. Above: urls.
"""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from chats import answering, selectors, services
from chats.schema import IDEMPOTENCY_KEY, stream_responses
from chats.serializers import (
    ChatChangeSerializer,
    ChatListQuerySerializer,
    ChatSerializer,
    ChatSummarySerializer,
    QuestionSerializer,
    chat_shown,
)
from chats.wire import idempotency_of, parsed, stream_of
from fastrag_site.owners import owner_of
from fastrag_site.pagination import CursorPages
from fastrag_site.streaming import EventStreamResponse


class ChatPages(CursorPages):
    ordering = ("-active_at", "-id")  # type: ignore[assignment]


class ChatsView(APIView):
    pagination_class = ChatPages  # for the schema: cursor, limit and the page around the results

    @extend_schema(  # type: ignore[untyped-decorator]
        operation_id="chats_list",
        summary="Your chats, newest activity first",
        parameters=[ChatListQuerySerializer],
        responses=ChatSummarySerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        query = parsed(ChatListQuerySerializer, request.query_params)
        owner = owner_of(request)
        services.sweep(owner=owner)
        pages = self.pagination_class()
        chats = selectors.chats_of(owner=owner, search=query["search"])
        page = pages.paginate_queryset(chats, request, view=self)
        return pages.get_paginated_response(ChatSummarySerializer(page, many=True).data)

    @extend_schema(  # type: ignore[untyped-decorator]
        operation_id="chats_create",
        summary="Ask in a new chat",
        parameters=[IDEMPOTENCY_KEY],
        request=QuestionSerializer,
        responses=stream_responses("CHAT_BUSY", "CHAT_LIMIT", "IDEMPOTENCY_CONFLICT"),
    )
    def post(self, request: Request) -> EventStreamResponse:
        owner = owner_of(request)
        question = parsed(QuestionSerializer, request.data)["content"]
        repeatable = idempotency_of(request, "ask", None, question)
        return stream_of(answering.begin(owner=owner, question=question, request=repeatable))


class ChatView(APIView):
    @extend_schema(  # type: ignore[untyped-decorator]
        operation_id="chats_retrieve", summary="A chat with its messages", responses=ChatSerializer
    )
    def get(self, request: Request, chat_id: str) -> Response:
        owner = owner_of(request)
        found = selectors.chat_id_from(chat_id)
        services.sweep(owner=owner)
        return Response(chat_shown(selectors.chat_get(owner=owner, chat_id=found)))

    @extend_schema(  # type: ignore[untyped-decorator]
        operation_id="chats_update",
        summary="Rename a chat",
        request=ChatChangeSerializer,
        responses=ChatSerializer,
    )
    def patch(self, request: Request, chat_id: str) -> Response:
        owner = owner_of(request)
        found = selectors.chat_id_from(chat_id)
        selectors.chat_get(owner=owner, chat_id=found)
        change = parsed(ChatChangeSerializer, request.data)
        chat = services.chat_rename(owner=owner, chat_id=found, title=change["title"])
        return Response(chat_shown(chat))

    @extend_schema(  # type: ignore[untyped-decorator]
        operation_id="chats_destroy",
        summary="Delete a chat with its messages",
        responses={204: None},
    )
    def delete(self, request: Request, chat_id: str) -> Response:
        found = selectors.chat_id_from(chat_id)
        services.chat_delete(owner=owner_of(request), chat_id=found)
        return Response(status=status.HTTP_204_NO_CONTENT)
