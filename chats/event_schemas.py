"""The frames of events.py, named for OpenAPI. Describes only; nothing is encoded with these.

Above: views. Each serializer is the data of the event of the same name.
"""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema_serializer
from rest_framework import serializers

from chats.events import FinishReason
from retrieval.serializers import FragmentSerializer

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


@extend_schema_serializer(component_name="MessageEndEvent")
class MessageEndEvent(serializers.Serializer[Any]):
    """`event: message_end`. Always last; with `finish_reason: "error"` it holds the error."""

    message_id = serializers.UUIDField()
    finish_reason = serializers.ChoiceField(choices=[reason.value for reason in FinishReason])
    error = StreamErrorSerializer(required=False)


STREAM = PolymorphicProxySerializer(
    component_name="StreamEvent",
    serializers=[MessageStartEvent, SourcesEvent, DeltaEvent, MessageEndEvent],
    resource_type_field_name=None,
)
