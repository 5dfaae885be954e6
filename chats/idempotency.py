"""Idempotency-Key: the same request twice is one answer.

Below: models, conf. Above: services (under the owner's lock), answering. Keys belong to their
owner and are kept for `idempotency_hours`.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.utils import timezone

from chats.models import Generation, IdempotentRequest
from fastrag_site.conf import conf
from fastrag_site.errors import ChatBusy, IdempotencyConflict
from fastrag_site.owners import Owner

HEADER = "Idempotency-Key"
MAX_CHARS = 255


@dataclass(frozen=True, slots=True, kw_only=True)
class Idempotency:
    """The key of a request, and what the request asks for."""

    key: str
    fingerprint: str


class Repeated(Exception):
    """Not an error: this request has been answered before, under that id."""

    def __init__(self, message_id: UUID) -> None:
        self.message_id = message_id
        super().__init__(str(message_id))


def fingerprint_of(*parts: object) -> str:
    """Of what a request asks for: route and body, in parts that cannot run together."""
    text = json.dumps([None if part is None else str(part) for part in parts])
    return hashlib.sha256(text.encode()).hexdigest()


def refuse_repeated(owner: Owner, request: Idempotency) -> None:
    """Raises Repeated, ChatBusy while the first is answered, or IdempotencyConflict."""
    rows = IdempotentRequest.objects.filter(
        key=request.key, created_at__gte=_oldest(), **owner.fields()
    )
    earlier = rows.first()
    if earlier is None:
        return
    if earlier.fingerprint != request.fingerprint:
        raise IdempotencyConflict
    running = Generation.objects.filter(pk=earlier.message_id).first()
    if running is not None:
        raise busy_with(running)
    raise Repeated(earlier.message_id)


def remember(owner: Owner, request: Idempotency, message_id: UUID) -> None:
    """In the transaction that accepts the question. Forgets keys of this owner that are old."""
    mine = IdempotentRequest.objects.filter(**owner.fields())
    mine.filter(created_at__lt=_oldest()).delete()
    IdempotentRequest.objects.create(
        key=request.key,
        fingerprint=request.fingerprint,
        message_id=message_id,
        created_at=timezone.now(),
        **owner.fields(),
    )


def forget_old() -> None:
    """Whoever owns them: for owners that never come back."""
    IdempotentRequest.objects.filter(created_at__lt=_oldest()).delete()


def busy_with(running: Generation) -> ChatBusy:
    """The refusal that names the answer that is being written."""
    ids = {"chat_id": str(running.chat_id), "message_id": str(running.message_id)}
    return ChatBusy(details=ids, retry_after=None)


def _oldest() -> object:
    return timezone.now() - timedelta(hours=conf().idempotency_hours)
