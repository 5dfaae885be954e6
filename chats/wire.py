"""What the chat views share: reading a request, and an answer's events as a stream.

Below: events, idempotency, fastrag_site. Above: views, message_views.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from rest_framework.request import Request
from rest_framework.serializers import Serializer

from chats.events import Event
from chats.idempotency import HEADER, MAX_CHARS, Idempotency, fingerprint_of
from fastrag_site import sse
from fastrag_site.errors import ValidationFailed
from fastrag_site.streaming import EventStreamResponse

_KEY = re.compile(rf"[\x21-\x7e]{{1,{MAX_CHARS}}}")


def idempotency_of(request: Request, *asked: object) -> Idempotency | None:
    """Where the request has a key. `asked`: all that tells what it asks for.

    Raises ValidationFailed.
    """
    key = request.headers.get(HEADER)
    if key is None:
        return None
    if not _KEY.fullmatch(key):
        problem = f"Send 1 to {MAX_CHARS} visible ASCII characters."
        raise ValidationFailed(fields={HEADER: [problem]})
    return Idempotency(key=key, fingerprint=fingerprint_of(*asked))


def stream_of(events: AsyncGenerator[Event, None]) -> EventStreamResponse:
    return EventStreamResponse(_frames(events))


async def _frames(events: AsyncGenerator[Event, None]) -> AsyncGenerator[bytes, None]:
    async with aclosing(events):
        async for event in events:
            yield sse.encode(event.to_dict(), event=event.name)


def parsed(kind: type[Serializer[Any]], data: Any) -> dict[str, Any]:
    serializer = kind(data=data)
    serializer.is_valid(raise_exception=True)
    values: dict[str, Any] = serializer.validated_data
    return values
