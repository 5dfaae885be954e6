"""Writes. Each is one transaction; nothing here waits for a model.

Below: models, locks, selectors. Above: views and commands, answering (in a thread).
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import DatabaseError, IntegrityError, transaction
from django.db.models import Max
from django.utils import timezone

from chats import prompts, selectors, titles, workers
from chats.events import Failure, FinishReason
from chats.generation.base import Turn, Usage
from chats.ids import uuid7
from chats.locks import lock_owner
from chats.models import Chat, Generation, Message
from fastrag_site.conf import conf
from fastrag_site.errors import ChatBusy, ChatFull, ChatLimit, ChatNotFound, TooManyGenerations
from fastrag_site.owners import Owner

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """An accepted question: its journal row is written, its ids are final."""

    chat_id: UUID
    user_message_id: UUID
    message_id: UUID
    question: str
    history: tuple[Turn, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How an answer ended, as it is stored. `sources` as sent."""

    finish_reason: FinishReason
    content: str = ""
    sources: list[dict[str, Any]] = field(default_factory=list)
    failure: Failure | None = None
    model: str = ""
    usage: Usage | None = None
    first_token_ms: int | None = None
    duration_ms: int | None = None


def generation_open(
    *, owner: Owner, question: str, chat_id: UUID | None = None, model: str = ""
) -> Exchange:
    """Accept a question in a chat, or in a new one, and write its journal row.

    Raises ChatNotFound, ChatBusy, ChatFull, ChatLimit or TooManyGenerations.
    """
    sweep(owner=owner)
    with transaction.atomic():
        lock_owner(str(owner))
        running = Generation.objects.filter(**owner.fields())
        if chat_id is None:
            _refuse_if_chats_at_limit(owner)
        else:
            _refuse_if_not_ready(owner, chat_id)
        if running.count() >= conf().generations_per_owner:
            raise TooManyGenerations(retry_after=5)
        now = timezone.now()
        row = Generation(
            message_id=uuid7(),
            user_message_id=uuid7(),
            chat_id=chat_id or uuid7(),
            opens_chat=chat_id is None,
            question=question,
            model=model,
            worker=workers.this_worker(),
            started_at=now,
            heartbeat_at=now,
            **owner.fields(),
        )
        try:
            with transaction.atomic():
                row.save(force_insert=True)
        except IntegrityError as error:
            raise ChatBusy from error
        return Exchange(
            chat_id=row.chat_id,
            user_message_id=row.user_message_id,
            message_id=row.message_id,
            question=question,
            history=selectors.turns_of(chat_id=row.chat_id, limit=prompts.HISTORY_TURNS),
        )


def generation_heartbeat(
    *, message_id: UUID, said: str | None = None, sources: list[dict[str, Any]] | None = None
) -> bool:
    """Mark a journal row as alive, with what changed. False: nobody wants this answer any more."""
    changes: dict[str, Any] = {"heartbeat_at": timezone.now()}
    if said is not None:
        changes["said"] = said
    if sources is not None:
        changes["sources"] = sources
    rows = Generation.objects.filter(pk=message_id, stop_requested=False)
    return rows.update(**changes) > 0


def settle(*, message_id: UUID, outcome: Outcome) -> bool:
    """Store an exchange and delete its journal row. False when that had been done before.

    The exchange of a chat that was deleted meanwhile is dropped with its row.
    """
    with transaction.atomic():
        row = Generation.objects.select_for_update().filter(pk=message_id).first()
        if row is None:
            return False
        _store(row, outcome)
        return True


def sweep(*, owner: Owner | None = None) -> int:
    """Store what dead workers left behind as interrupted. Returns how many answers that were."""
    cutoff = timezone.now() - timedelta(seconds=conf().heartbeat_grace)
    rows = Generation.objects.all()
    if owner is not None:
        rows = rows.filter(**owner.fields())
    found = rows.values_list("pk", "worker", "heartbeat_at")
    orphans = [
        pk for pk, worker, beat in found.iterator() if beat < cutoff or workers.is_dead(worker)
    ]
    swept = 0
    for pk in orphans:
        try:
            swept += _sweep_one(pk, cutoff)
        except DatabaseError:  # the next reader tries again; this one came for something else
            logger.exception("answer %s is not swept", pk)
    return swept


def chat_rename(*, owner: Owner, chat_id: UUID, title: str) -> Chat:
    """Raises ChatNotFound."""
    chat = selectors.chat_get(owner=owner, chat_id=chat_id)
    chat.title = title
    chat.save(update_fields=["title"])
    return chat


def chat_delete(*, owner: Owner, chat_id: UUID) -> None:
    """Delete a chat with its messages; a running answer in it ends. Raises ChatNotFound."""
    with transaction.atomic():
        lock_owner(str(owner))
        mine = owner.fields()
        # The journal row first, as settle() does: one order of locks.
        running, _ = Generation.objects.filter(chat_id=chat_id, **mine).delete()
        stored, _ = Chat.objects.filter(pk=chat_id, **mine).delete()
        if not running and not stored:
            raise ChatNotFound


def _refuse_if_chats_at_limit(owner: Owner) -> None:
    mine = owner.fields()
    stored = Chat.objects.filter(**mine).count()
    opening = Generation.objects.filter(opens_chat=True, **mine).count()
    if stored + opening >= conf().chats_per_owner:
        raise ChatLimit


def _refuse_if_not_ready(owner: Owner, chat_id: UUID) -> None:
    if Generation.objects.filter(chat_id=chat_id, **owner.fields()).exists():
        raise ChatBusy
    chat = selectors.chat_get(owner=owner, chat_id=chat_id)
    if chat.messages.count() + 2 > conf().chat_max_messages:
        raise ChatFull


def _sweep_one(message_id: UUID, cutoff: datetime) -> bool:
    with transaction.atomic():
        row = Generation.objects.select_for_update().filter(pk=message_id).first()
        if row is None or (row.heartbeat_at >= cutoff and not workers.is_dead(row.worker)):
            return False
        outcome = Outcome(
            finish_reason=FinishReason.INTERRUPTED,
            content=row.said,
            sources=row.sources,
            model=row.model,
        )
        _store(row, outcome)
        return True


def _store(row: Generation, outcome: Outcome) -> None:
    """Inside the transaction that holds `row`: write the exchange, delete the row."""
    now = timezone.now()
    chat = _chat_for(row, now)
    if chat is not None:
        last = chat.messages.aggregate(last=Max("position"))["last"]
        position = 0 if last is None else last + 1
        failure, usage = outcome.failure, outcome.usage
        Message.objects.bulk_create(
            [
                Message(
                    id=row.user_message_id,
                    chat=chat,
                    position=position,
                    role=Message.Role.USER,
                    content=row.question,
                    created_at=row.started_at,
                ),
                Message(
                    id=row.message_id,
                    chat=chat,
                    position=position + 1,
                    role=Message.Role.ASSISTANT,
                    content=outcome.content,
                    created_at=now,
                    finish_reason=outcome.finish_reason,
                    error_code=failure.code if failure else "",
                    error_message=failure.message if failure else "",
                    sources=outcome.sources,
                    model=outcome.model,
                    prompt_tokens=usage.prompt_tokens if usage else None,
                    completion_tokens=usage.completion_tokens if usage else None,
                    first_token_ms=outcome.first_token_ms,
                    duration_ms=outcome.duration_ms,
                ),
            ]
        )
    row.delete()


def _chat_for(row: Generation, now: datetime) -> Chat | None:
    """The chat that the exchange belongs to, marked active; None when it was deleted meanwhile."""
    if row.opens_chat:
        return Chat.objects.create(
            id=row.chat_id,
            user_id=row.user_id,
            session_key=row.session_key,
            title=titles.title_from(row.question),
            active_at=now,
        )
    chat = Chat.objects.select_for_update().filter(pk=row.chat_id).first()
    if chat is not None:
        chat.active_at = now
        chat.save(update_fields=["active_at"])
    return chat
