"""The routes inside a chat: ask, stop, regenerate, feedback, export.

Below: answering, services, selectors, schema, wire. Above: urls.
"""

from __future__ import annotations

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from chats import answering, exporting, selectors, services
from chats.schema import IDEMPOTENCY_KEY, conflicts, stream_responses
from chats.serializers import (
    ChatSerializer,
    ExportQuerySerializer,
    FeedbackSerializer,
    QuestionSerializer,
    StoppingSerializer,
    chat_shown,
    feedback_shown,
)
from chats.wire import idempotency_of, parsed, stream_of
from fastrag_site.owners import owner_of
from fastrag_site.streaming import EventStreamResponse


class MessagesView(APIView):
    @extend_schema(  # type: ignore[untyped-decorator]
        operation_id="chats_messages_create",
        summary="Ask a follow-up",
        parameters=[IDEMPOTENCY_KEY],
        request=QuestionSerializer,
        responses=stream_responses("CHAT_BUSY", "CHAT_FULL", "IDEMPOTENCY_CONFLICT"),
    )
    def post(self, request: Request, chat_id: str) -> EventStreamResponse:
        owner, found = owner_of(request), selectors.chat_id_from(chat_id)
        selectors.chat_expect(owner=owner, chat_id=found)
        question = parsed(QuestionSerializer, request.data)["content"]
        events = answering.begin(
            owner=owner,
            question=question,
            chat_id=found,
            request=idempotency_of(request, "ask", found, question),
        )
        return stream_of(events)


class RegenerateView(APIView):
    @extend_schema(  # type: ignore[untyped-decorator]
        operation_id="chats_messages_regenerate",
        summary="Answer the same question again",
        description="The earlier answer stays, among the `alternatives` of the new one.",
        parameters=[IDEMPOTENCY_KEY],
        request=None,
        responses=stream_responses("CHAT_BUSY", "CHAT_FULL", "IDEMPOTENCY_CONFLICT"),
    )
    def post(self, request: Request, chat_id: str, message_id: str) -> EventStreamResponse:
        owner, chat = owner_of(request), selectors.chat_id_from(chat_id)
        selectors.chat_expect(owner=owner, chat_id=chat)
        message = selectors.message_id_from(message_id)
        events = answering.begin_again(
            owner=owner,
            chat_id=chat,
            message_id=message,
            request=idempotency_of(request, "regenerate", chat, message),
        )
        return stream_of(events)


class StopView(APIView):
    @extend_schema(  # type: ignore[untyped-decorator]
        operation_id="chats_stop",
        summary="Stop the answer that is being written",
        description="Its stream ends as `interrupted`, and what was said so far is stored.",
        request=None,
        responses={202: StoppingSerializer, 409: conflicts("NOT_RUNNING")},
    )
    def post(self, request: Request, chat_id: str) -> Response:
        found = selectors.chat_id_from(chat_id)
        message_id = services.generation_stop(owner=owner_of(request), chat_id=found)
        return Response({"message_id": str(message_id)}, status=status.HTTP_202_ACCEPTED)


class FeedbackView(APIView):
    @extend_schema(  # type: ignore[untyped-decorator]
        operation_id="chats_messages_feedback_update",
        summary="Say what you think of an answer",
        request=FeedbackSerializer,
        responses=FeedbackSerializer,
    )
    def put(self, request: Request, chat_id: str, message_id: str) -> Response:
        owner, chat = owner_of(request), selectors.chat_id_from(chat_id)
        selectors.chat_expect(owner=owner, chat_id=chat)
        message = selectors.message_id_from(message_id)
        given = parsed(FeedbackSerializer, request.data)
        feedback = services.feedback_give(owner=owner, chat_id=chat, message_id=message, **given)
        return Response(feedback_shown(feedback))

    @extend_schema(  # type: ignore[untyped-decorator]
        operation_id="chats_messages_feedback_destroy",
        summary="Take it back",
        responses={204: None},
    )
    def delete(self, request: Request, chat_id: str, message_id: str) -> Response:
        owner, chat = owner_of(request), selectors.chat_id_from(chat_id)
        selectors.chat_expect(owner=owner, chat_id=chat)
        message = selectors.message_id_from(message_id)
        services.feedback_take_back(owner=owner, chat_id=chat, message_id=message)
        return Response(status=status.HTTP_204_NO_CONTENT)


class ExportView(APIView):
    @extend_schema(  # type: ignore[untyped-decorator]
        operation_id="chats_export",
        summary="The conversation with its sources, as a file",
        parameters=[ExportQuerySerializer],
        responses={
            (200, "application/json"): ChatSerializer,
            (200, "text/markdown"): OpenApiTypes.STR,
        },
    )
    def get(self, request: Request, chat_id: str) -> HttpResponse | Response:
        owner, found = owner_of(request), selectors.chat_id_from(chat_id)
        services.sweep(owner=owner)
        chat = selectors.chat_get(owner=owner, chat_id=found)
        kind = parsed(ExportQuerySerializer, request.query_params)["as"]
        if kind == "json":
            response: HttpResponse = Response(chat_shown(chat))
        else:
            text = exporting.as_markdown(chat.title, selectors.messages_of(chat))
            response = HttpResponse(text, content_type="text/markdown; charset=utf-8")
        name = exporting.file_name(chat.title, "json" if kind == "json" else "md")
        response["Content-Disposition"] = exporting.disposition(name)
        return response
