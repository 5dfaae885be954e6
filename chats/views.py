"""The chat routes: parse, call, wrap. Every refusal happens here, before a stream starts.

Below: answering, services, selectors, serializers. Above: urls.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from chats import answering, selectors, services
from chats.event_schemas import STREAM
from chats.events import Event
from chats.models import Chat
from chats.serializers import (
    ChatChangeSerializer,
    ChatListQuerySerializer,
    ChatSerializer,
    ChatSummarySerializer,
    QuestionSerializer,
)
from fastrag_site import sse
from fastrag_site.owners import owner_of
from fastrag_site.pagination import CursorPages
from fastrag_site.schema import ENVELOPE
from fastrag_site.streaming import EventStreamResponse

BUSY = OpenApiResponse(
    response={"$ref": f"#/components/schemas/{ENVELOPE}"},
    description="`CHAT_BUSY`, `CHAT_FULL` or `CHAT_LIMIT`",
)
STREAM_RESPONSES = {(200, "text/event-stream"): STREAM, 409: BUSY}


class ChatPages(CursorPages):
    ordering = ("-active_at", "-id")  # type: ignore[assignment]


class ChatsView(APIView):
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
        pages = ChatPages()
        chats = selectors.chats_of(owner=owner, search=query["search"])
        page = pages.paginate_queryset(chats, request, view=self)
        return pages.get_paginated_response(ChatSummarySerializer(page, many=True).data)

    @extend_schema(  # type: ignore[untyped-decorator]
        operation_id="chats_create",
        summary="Ask in a new chat",
        request=QuestionSerializer,
        responses=STREAM_RESPONSES,
    )
    def post(self, request: Request) -> EventStreamResponse:
        return streamed(request)


class ChatView(APIView):
    @extend_schema(  # type: ignore[untyped-decorator]
        operation_id="chats_retrieve", summary="A chat with its messages", responses=ChatSerializer
    )
    def get(self, request: Request, chat_id: str) -> Response:
        owner = owner_of(request)
        found = selectors.chat_id_from(chat_id)
        services.sweep(owner=owner)
        return Response(presented(selectors.chat_get(owner=owner, chat_id=found)))

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
        return Response(presented(chat))

    @extend_schema(  # type: ignore[untyped-decorator]
        operation_id="chats_destroy",
        summary="Delete a chat with its messages",
        responses={204: None},
    )
    def delete(self, request: Request, chat_id: str) -> Response:
        found = selectors.chat_id_from(chat_id)
        services.chat_delete(owner=owner_of(request), chat_id=found)
        return Response(status=status.HTTP_204_NO_CONTENT)


class MessagesView(APIView):
    @extend_schema(  # type: ignore[untyped-decorator]
        operation_id="chats_messages_create",
        summary="Ask a follow-up",
        request=QuestionSerializer,
        responses=STREAM_RESPONSES,
    )
    def post(self, request: Request, chat_id: str) -> EventStreamResponse:
        return streamed(request, selectors.chat_id_from(chat_id))


def streamed(request: Request, chat_id: UUID | None = None) -> EventStreamResponse:
    """Accept the question and stream its answer. Raises RequestRefused."""
    owner = owner_of(request)
    if chat_id is not None:
        selectors.chat_expect(owner=owner, chat_id=chat_id)
    question = parsed(QuestionSerializer, request.data)["content"]
    events = answering.begin(owner=owner, question=question, chat_id=chat_id)
    return EventStreamResponse(frames(events))


async def frames(events: AsyncGenerator[Event, None]) -> AsyncGenerator[bytes, None]:
    async with aclosing(events):
        async for event in events:
            yield sse.encode(event.to_dict(), event=event.name)


def parsed(kind: type[Serializer[Any]], data: Any) -> dict[str, Any]:
    serializer = kind(data=data)
    serializer.is_valid(raise_exception=True)
    values: dict[str, Any] = serializer.validated_data
    return values


def presented(chat: Chat) -> Any:
    return ChatSerializer(chat).data
