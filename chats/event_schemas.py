"""The frames of events.py, named for OpenAPI. Describes only; nothing is encoded with these.

Above: chats.schema, and SPECTACULAR_SETTINGS (the hook). Each `…Event` is the data of the event of
that name.
"""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema_serializer
from rest_framework import serializers

from chats.events import FinishReason
from fastrag_site.schema_errors import reference
from retrieval.serializers import FragmentSerializer

FINISH_REASONS = tuple(reason.value for reason in FinishReason)
# The narrower vocabulary of a generation (chats.generation.errors).
STREAM_ERROR_CODES = (
    "TIMEOUT",
    "CONTEXT_TOO_LONG",
    "SERVICE_UNAVAILABLE",
    "MODEL_ERROR",
    "INTERNAL_ERROR",
)


@extend_schema_serializer(component_name="MessageStartEvent")
class MessageStartEvent(serializers.Serializer[Any]):
    """`event: message_start`. Sent at once, before the search."""

    chat_id = serializers.UUIDField()
    user_message_id = serializers.UUIDField()
    message_id = serializers.UUIDField()


class SourceSerializer(serializers.Serializer[Any]):
    """A retrieved page; one for each url."""

    url = serializers.CharField()
    title = serializers.CharField()
    site_name = serializers.CharField(allow_null=True)
    favicon_url = serializers.CharField(allow_null=True)
    positions = serializers.ListField(
        child=serializers.IntegerField(min_value=1), help_text="the n that it is cited by as [n]"
    )
    fragments = FragmentSerializer(many=True)


@extend_schema_serializer(component_name="SourcesEvent")
class SourcesEvent(serializers.Serializer[Any]):
    """`event: sources`. Sent once, before any delta; empty where nothing was found."""

    message_id = serializers.UUIDField()
    sources = SourceSerializer(many=True)


class TextDeltaSerializer(serializers.Serializer[Any]):
    type = serializers.ChoiceField(choices=("text",))
    text = serializers.CharField()


@extend_schema_serializer(component_name="DeltaEvent")
class DeltaEvent(serializers.Serializer[Any]):
    """`event: delta`. One for each token."""

    message_id = serializers.UUIDField()
    delta = TextDeltaSerializer()


class StreamErrorSerializer(serializers.Serializer[Any]):
    """Why an answer failed."""

    code = serializers.ChoiceField(choices=STREAM_ERROR_CODES)
    message = serializers.CharField()


@extend_schema_serializer(component_name="AnswerEnded")
class AnswerEndedSerializer(serializers.Serializer[Any]):
    """The answer is stored, as far as it came."""

    message_id = serializers.UUIDField()
    finish_reason = serializers.ChoiceField(
        choices=[reason for reason in FINISH_REASONS if reason != FinishReason.ERROR]
    )


@extend_schema_serializer(component_name="AnswerFailed")
class AnswerFailedSerializer(serializers.Serializer[Any]):
    """The answer is stored, as far as it came, and why it failed."""

    message_id = serializers.UUIDField()
    finish_reason = serializers.ChoiceField(choices=[FinishReason.ERROR.value])
    error = StreamErrorSerializer()


# Names the parts for add_frames, which puts them together.
STREAM = PolymorphicProxySerializer(
    component_name="StreamEvent",
    serializers=[
        MessageStartEvent,
        SourcesEvent,
        DeltaEvent,
        AnswerEndedSerializer,
        AnswerFailedSerializer,
    ],
    resource_type_field_name=None,
)
_FRAMES = {
    "message_start": "MessageStart",
    "sources": "Sources",
    "delta": "Delta",
    "message_end": "MessageEnd",
}


def add_frames(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Postprocessing hook: a stream is frames, `{event, data}`, told apart by the event's name.

    In a `message_end`, `finish_reason` tells whether there is an `error`.
    """
    schemas = result["components"]["schemas"]
    schemas["MessageEndEvent"] = {
        "description": '`event: message_end`. Always last; `finish_reason: "error"` says why.',
        "oneOf": [reference("AnswerEnded"), reference("AnswerFailed")],
    }
    for event, name in _FRAMES.items():
        schemas[f"{name}Frame"] = {
            "type": "object",
            "description": f"The two lines `event: {event}` and `data: <JSON>`, and a blank line.",
            "properties": {
                "event": {"type": "string", "enum": [event]},
                "data": reference(f"{name}Event"),
            },
            "required": ["event", "data"],
        }
    frames = {event: reference(f"{name}Frame") for event, name in _FRAMES.items()}
    schemas["StreamEvent"] = {
        "description": "One event of the stream: message_start, sources, delta for each token, "
        "message_end. Comment lines (`: keep-alive`) may come between them, and are to be ignored.",
        "oneOf": list(frames.values()),
        "discriminator": {
            "propertyName": "event",
            "mapping": {event: frame["$ref"] for event, frame in frames.items()},
        },
    }
    result["components"]["schemas"] = dict(sorted(schemas.items()))
    return result
