"""What the chat views share: reading a request, and an answer's events as a stream.

Below: events, idempotency, fastrag_site. Above: views, message_views.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from rest_framework.request import Request
from rest_framework.serializers import Serializer

from chats.events import Batches, Delta
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


def stream_of(batches: Batches) -> EventStreamResponse:
    return EventStreamResponse(_frames(batches))


async def _frames(batches: Batches) -> AsyncGenerator[bytes, None]:
    """The frames of events that are ready together are sent together."""
    async with aclosing(batches):
        deltas: sse.Template | None = None
        async for batch in batches:
            parts = []
            for event in batch:
                if type(event) is Delta:  # nearly all are
                    deltas = deltas or _template(event)
                    parts.append(deltas.encode(event.text))
                else:
                    parts.append(sse.encode(event.to_dict(), event=event.name))
            yield b"".join(parts)


def _template(delta: Delta) -> sse.Template:
    """All deltas of an answer differ in their text alone."""
    alike = replace(delta, text=sse.Template.MARK)
    return sse.Template(alike.to_dict(), event=alike.name)


def parsed(kind: type[Serializer[Any]], data: Any) -> dict[str, Any]:
    serializer = kind(data=data)
    serializer.is_valid(raise_exception=True)
    values: dict[str, Any] = serializer.validated_data
    return values
