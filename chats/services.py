"""Writes. Each is one transaction; nothing here waits for a model.

Below: models, locks, selectors. Above: views and commands, answering (in a thread).
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

from django.db import DatabaseError, IntegrityError, transaction
from django.utils import timezone

from chats import idempotency, prompts, selectors, stops, workers
from chats.events import FinishReason
from chats.generation.base import Turn
from chats.idempotency import Idempotency, busy_with
from chats.ids import uuid7
from chats.locks import lock_owner
from chats.models import Chat, Feedback, Generation
from chats.storing import Outcome, store
from fastrag_site.conf import conf
from fastrag_site.errors import (
    ChatBusy,
    ChatFull,
    ChatLimit,
    ChatNotFound,
    NotRunning,
    TooManyGenerations,
)
from fastrag_site.owners import Owner

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """An accepted question: its journal row is written, its ids are final."""

    chat_id: UUID
    user_message_id: UUID
    message_id: UUID
    question: str
    opens_chat: bool = False
    history: tuple[Turn, ...] = ()


def generation_open(
    *,
    owner: Owner,
    question: str,
    chat_id: UUID | None = None,
    model: str = "",
    request: Idempotency | None = None,
) -> Exchange:
    """Accept a question in a chat, or in a new one, and write its journal row.

    Raises ChatNotFound, ChatBusy, ChatFull, ChatLimit, TooManyGenerations, IdempotencyConflict,
    or Repeated for a request that was answered before.
    """
    sweep(owner=owner)
    with transaction.atomic():
        _accept(owner, request)
        if chat_id is None:
            _refuse_if_chats_at_limit(owner)
        else:
            _refuse_if_not_ready(owner, chat_id, more=2)
        row = Generation(
            user_message_id=uuid7(),
            chat_id=chat_id or uuid7(),
            opens_chat=chat_id is None,
            question=question,
            model=model,
        )
        return _journal(row, owner, request)


def generation_reopen(
    *,
    owner: Owner,
    chat_id: UUID,
    message_id: UUID,
    model: str = "",
    request: Idempotency | None = None,
) -> Exchange:
    """Accept the question of an answer again; its new answer will stand in the old one's place.

    Raises the same, or MessageNotFound.
    """
    sweep(owner=owner)
    with transaction.atomic():
        _accept(owner, request)
        _refuse_if_not_ready(owner, chat_id, more=1)
        question = selectors.question_of(chat_id=chat_id, message_id=message_id)
        row = Generation(
            user_message_id=question.id,
            chat_id=chat_id,
            regenerates=True,
            question=question.content,
            model=model,
        )
        return _journal(row, owner, request, before=question.position)


def generation_stop(*, owner: Owner, chat_id: UUID) -> UUID:
    """Ask for the end of the answer that is being written; it may run in any process.

    Returns its id. Raises ChatNotFound or NotRunning.
    """
    sweep(owner=owner)
    running = Generation.objects.filter(chat_id=chat_id, **owner.fields())
    message_id = running.values_list("pk", flat=True).first()
    if message_id is None or not running.filter(pk=message_id).update(stop_requested=True):
        selectors.chat_expect(owner=owner, chat_id=chat_id)
        raise NotRunning
    stops.stop_here(message_id)
    return message_id


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
        store(row, outcome)
        return True


def sweep(*, owner: Owner | None = None) -> int:
    """Store what dead workers left behind as interrupted. Returns how many answers that were."""
    cutoff = timezone.now() - timedelta(seconds=conf().heartbeat_grace)
    rows = Generation.objects.all()
    if owner is None:
        idempotency.forget_old()
    else:
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


def chat_name(*, chat_id: UUID, title: str, instead_of: str) -> bool:
    """Give a chat a better title than the one it was made with, unless that was changed."""
    return Chat.objects.filter(pk=chat_id, title=instead_of).update(title=title) > 0


def chat_delete(*, owner: Owner, chat_id: UUID) -> None:
    """Delete a chat with its messages; a running answer in it ends. Raises ChatNotFound."""
    with transaction.atomic():
        lock_owner(str(owner))
        mine = owner.fields()
        # The journal row first, as settle() does: one order of locks.
        rows = Generation.objects.filter(chat_id=chat_id, **mine)
        message_id = rows.values_list("pk", flat=True).first()
        running, _ = rows.delete()
        stored, _ = Chat.objects.filter(pk=chat_id, **mine).delete()
        if not running and not stored:
            raise ChatNotFound
    if message_id is not None:
        stops.stop_here(message_id)


def feedback_give(
    *, owner: Owner, chat_id: UUID, message_id: UUID, rating: str, comment: str = ""
) -> Feedback:
    """Instead of what was given before. Raises ChatNotFound or MessageNotFound."""
    answer = selectors.answer_get(owner=owner, chat_id=chat_id, message_id=message_id)
    feedback, _ = Feedback.objects.update_or_create(
        message=answer,
        defaults={"rating": rating, "comment": comment, "given_at": timezone.now()},
    )
    return feedback


def feedback_take_back(*, owner: Owner, chat_id: UUID, message_id: UUID) -> None:
    """Raises ChatNotFound or MessageNotFound."""
    answer = selectors.answer_get(owner=owner, chat_id=chat_id, message_id=message_id)
    Feedback.objects.filter(message=answer).delete()


def _accept(owner: Owner, request: Idempotency | None) -> None:
    """What is refused whatever is asked for; from here on the owner's requests queue."""
    lock_owner(str(owner))
    if request is not None:
        idempotency.refuse_repeated(owner, request)


def _journal(
    row: Generation, owner: Owner, request: Idempotency | None, *, before: int | None = None
) -> Exchange:
    if Generation.objects.filter(**owner.fields()).count() >= conf().generations_per_owner:
        raise TooManyGenerations(retry_after=5)
    row.message_id = uuid7()
    row.user_id, row.session_key = owner.user_id, owner.session_key
    row.worker = workers.this_worker()
    row.started_at = row.heartbeat_at = timezone.now()
    try:
        with transaction.atomic():
            row.save(force_insert=True)
    except IntegrityError as error:
        raise ChatBusy from error
    if request is not None:
        idempotency.remember(owner, request, row.message_id)
    turns = partial(selectors.turns_of, chat_id=row.chat_id, limit=prompts.HISTORY_TURNS)
    return Exchange(
        chat_id=row.chat_id,
        user_message_id=row.user_message_id,
        message_id=row.message_id,
        question=row.question,
        opens_chat=row.opens_chat,
        history=() if row.opens_chat else turns(before=before),
    )


def _refuse_if_chats_at_limit(owner: Owner) -> None:
    mine = owner.fields()
    stored = Chat.objects.filter(**mine).count()
    opening = Generation.objects.filter(opens_chat=True, **mine).count()
    if stored + opening >= conf().chats_per_owner:
        raise ChatLimit


def _refuse_if_not_ready(owner: Owner, chat_id: UUID, *, more: int) -> None:
    """For an exchange that will store so many messages more."""
    running = Generation.objects.filter(chat_id=chat_id, **owner.fields()).first()
    if running is not None:
        raise busy_with(running)
    chat = selectors.chat_get(owner=owner, chat_id=chat_id)
    if chat.messages.count() + more > conf().chat_max_messages:
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
        store(row, outcome)
        return True
