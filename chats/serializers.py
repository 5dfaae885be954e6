"""What the chat API takes and gives as JSON. Above: views. Below: selectors, models, conf."""

from __future__ import annotations

import unicodedata
from typing import Any

from rest_framework import serializers

from chats import selectors
from chats.event_schemas import FINISH_REASONS, SourceSerializer, StreamErrorSerializer
from chats.models import Chat, Feedback, Message
from fastrag_site.conf import conf

_INVISIBLE = {"Cc", "Cf", "Zl", "Zp", "Zs"}


class TextField(serializers.CharField):
    """Text that somebody wrote: a JSON string with something to see in it, kept as it is.

    NUL and lone surrogates are refused by the base class.
    """

    default_error_messages = {  # noqa: RUF012
        "not_a_string": "Not a string.",
        "max_length": "At most {max_length} characters.",
    }

    def __init__(self, *, limit: str, **options: Any) -> None:
        # The key of conf that holds the longest length. Fields are made anew for each serializer.
        options["max_length"] = getattr(conf(), limit)
        super().__init__(trim_whitespace=False, **options)

    def run_validation(self, data: Any = serializers.empty) -> Any:
        text = super().run_validation(data)
        if all(unicodedata.category(character) in _INVISIBLE for character in text):
            self.fail("blank")
        return text

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("not_a_string")
        text: str = super().to_internal_value(data)
        return text


class OptionalTextField(TextField):
    """The same, that may hold nothing to see."""

    def run_validation(self, data: Any = serializers.empty) -> Any:
        return serializers.CharField.run_validation(self, data)

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_blank=True, **options)


class QuestionSerializer(serializers.Serializer[Any]):
    content = TextField(limit="message_max_chars")


class ChatChangeSerializer(serializers.Serializer[Any]):
    title = TextField(limit="title_max_chars")


class ChatListQuerySerializer(serializers.Serializer[Any]):
    """The query string of `GET /api/chats`; the cursor is the paginator's."""

    search = serializers.CharField(required=False, allow_blank=True, default="", max_length=200)


class ExportQuerySerializer(serializers.Serializer[Any]):
    """The query string of the export; `as` is a word of Python's."""

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        return {"as": serializers.ChoiceField(choices=("markdown", "json"), default="markdown")}


class FeedbackSerializer(serializers.Serializer[Any]):
    rating = serializers.ChoiceField(choices=Feedback.Rating.values)
    comment = OptionalTextField(limit="feedback_max_chars", required=False, default="")


class StoppingSerializer(serializers.Serializer[Any]):
    """The answer that will end as `interrupted`."""

    message_id = serializers.UUIDField()


class UsageSerializer(serializers.Serializer[Any]):
    prompt_tokens = serializers.IntegerField()
    completion_tokens = serializers.IntegerField()


class AnswerSerializer(serializers.ModelSerializer[Message]):
    """An earlier answer to the same question."""

    finish_reason = serializers.ChoiceField(choices=FINISH_REASONS, allow_null=True)
    error = StreamErrorSerializer(allow_null=True)
    sources = SourceSerializer(many=True, allow_null=True)
    model = serializers.CharField(allow_null=True)
    usage = UsageSerializer(allow_null=True)
    feedback = FeedbackSerializer(allow_null=True)

    class Meta:
        model = Message
        fields: tuple[str, ...] = (
            "id",
            "role",
            "content",
            "created_at",
            "finish_reason",
            "error",
            "sources",
            "model",
            "usage",
            "first_token_ms",
            "duration_ms",
            "feedback",
        )
        read_only_fields = fields  # always there

    def to_representation(self, instance: Message) -> dict[str, Any]:
        answer = instance.role == Message.Role.ASSISTANT
        error = usage = None
        if instance.error_code:
            error = {"code": instance.error_code, "message": instance.error_message}
        if instance.completion_tokens is not None:
            usage = {
                "prompt_tokens": instance.prompt_tokens,
                "completion_tokens": instance.completion_tokens,
            }
        return {
            "id": str(instance.id),
            "role": instance.role,
            "content": instance.content,
            "created_at": _time(instance.created_at),
            "finish_reason": instance.finish_reason if answer else None,
            "error": error,
            "sources": instance.sources if answer else None,
            "model": instance.model if answer else None,
            "usage": usage,
            "first_token_ms": instance.first_token_ms,
            "duration_ms": instance.duration_ms,
            "feedback": feedback_shown(getattr(instance, "feedback", None)),
        }


class MessageSerializer(AnswerSerializer):
    """A question or an answer. What belongs to answers alone is null in questions."""

    alternatives = AnswerSerializer(
        many=True, help_text="earlier answers to the same question, newest first"
    )

    class Meta(AnswerSerializer.Meta):
        fields = (*AnswerSerializer.Meta.fields, "alternatives")
        read_only_fields = fields


class ChatSummarySerializer(serializers.ModelSerializer[Chat]):
    """A chat as the list shows it."""

    class Meta:
        model = Chat
        fields: tuple[str, ...] = ("id", "title", "created_at", "active_at")
        read_only_fields = fields


class ChatSerializer(ChatSummarySerializer):
    """A chat with its messages in order."""

    messages = MessageSerializer(many=True)

    class Meta(ChatSummarySerializer.Meta):
        fields = (*ChatSummarySerializer.Meta.fields, "messages")
        read_only_fields = fields


def chat_shown(chat: Chat) -> dict[str, Any]:
    """A chat with its messages, as ChatSerializer describes it."""
    earlier = selectors.alternatives_of(chat)
    shown = AnswerSerializer().to_representation
    return {
        **ChatSummarySerializer(chat).data,
        "messages": [
            shown(message)
            | {"alternatives": [shown(one) for one in earlier.get(message.position, [])]}
            for message in selectors.messages_of(chat)
        ],
    }


def feedback_shown(feedback: Feedback | None) -> dict[str, str] | None:
    if feedback is None:
        return None
    return {"rating": feedback.rating, "comment": feedback.comment}


_time = serializers.DateTimeField().to_representation
