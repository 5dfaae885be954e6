"""How an answer ended, and writing that down. Inside a transaction of the caller's.

Below: models, titles. Above: services.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Max
from django.utils import timezone

from chats import titles
from chats.events import Failure, FinishReason
from chats.generation.base import Usage
from chats.models import Chat, Generation, Message


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


def store(row: Generation, outcome: Outcome) -> None:
    """Write the exchange of a journal row that the transaction holds, and delete the row."""
    now = timezone.now()
    chat = _chat_for(row, now)
    if chat is not None:
        if row.regenerates:
            _store_again(row, chat, outcome, now)
        else:
            _store_new(row, chat, outcome, now)
    row.delete()


def _store_new(row: Generation, chat: Chat, outcome: Outcome, now: datetime) -> None:
    last = None if row.opens_chat else chat.messages.aggregate(last=Max("position"))["last"]
    position = 0 if last is None else last + 1
    question = Message(
        id=row.user_message_id,
        chat=chat,
        position=position,
        role=Message.Role.USER,
        content=row.question,
        created_at=row.started_at,
    )
    Message.objects.bulk_create([question, _answer(row, chat, position + 1, outcome, now)])


def _store_again(row: Generation, chat: Chat, outcome: Outcome, now: datetime) -> None:
    """Beside the earlier answers to the same question, which stay as alternatives."""
    question = chat.messages.get(pk=row.user_message_id)
    position = question.position + 1
    chat.messages.filter(position=position, is_current=True).update(is_current=False)
    _answer(row, chat, position, outcome, now).save(force_insert=True)


def _answer(row: Generation, chat: Chat, position: int, outcome: Outcome, now: datetime) -> Message:
    failure, usage = outcome.failure, outcome.usage
    return Message(
        id=row.message_id,
        chat=chat,
        position=position,
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
    )


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
