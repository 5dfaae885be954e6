"""Reads. Everything is seen through its owner: another owner's chat is a missing one.

Below: models. Above: views, services, the ask command.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from chats.generation.base import Turn
from chats.models import Chat, Generation, Message
from fastrag_site.errors import ChatNotFound, MessageNotFound, NotFound
from fastrag_site.owners import Owner

SEARCH_WORDS = 8  # further ones are not looked for


def chat_id_from(text: str) -> UUID:
    """A chat id as a path holds it. Raises ChatNotFound when it cannot be one."""
    return _id_from(text, ChatNotFound)


def message_id_from(text: str) -> UUID:
    """Raises MessageNotFound."""
    return _id_from(text, MessageNotFound)


def _id_from(text: str, missing: type[NotFound]) -> UUID:
    try:
        found = UUID(text)
    except ValueError:
        raise missing from None
    if str(found) != text.lower():
        raise missing
    return found


def chat_get(*, owner: Owner, chat_id: UUID) -> Chat:
    """Raises ChatNotFound."""
    chat = Chat.objects.filter(pk=chat_id, **owner.fields()).first()
    if chat is None:
        raise ChatNotFound
    return chat


def chat_expect(*, owner: Owner, chat_id: UUID) -> None:
    """Raises ChatNotFound, unless the chat is stored or its first answer is being written."""
    mine = owner.fields()
    stored = Chat.objects.filter(pk=chat_id, **mine).exists()
    if not stored and not Generation.objects.filter(chat_id=chat_id, **mine).exists():
        raise ChatNotFound


def running_in(*, owner: Owner, chat_id: UUID) -> Generation | None:
    """The answer that is being written in a chat."""
    return Generation.objects.filter(chat_id=chat_id, **owner.fields()).first()


def chats_of(*, owner: Owner, search: str = "") -> QuerySet[Chat]:
    """Newest activity first; with `search`, those where each word is in the title or a message."""
    chats = Chat.objects.filter(**owner.fields())
    for word in search.split()[:SEARCH_WORDS]:
        said = Message.objects.filter(_holds("content", word), chat=OuterRef("pk"))
        chats = chats.filter(_holds("title", word) | Exists(said))
    return chats.order_by("-active_at", "-id")


def messages_of(chat: Chat) -> QuerySet[Message]:
    """Question, answer, question, answer; of several answers the newest."""
    return chat.messages.filter(is_current=True).select_related("feedback").order_by("position")


def alternatives_of(chat: Chat) -> dict[int, list[Message]]:
    """The earlier answers at each position that has any, newest first."""
    found: dict[int, list[Message]] = {}
    rows = chat.messages.filter(is_current=False).select_related("feedback")
    for message in rows.order_by("position", "-created_at", "-id"):
        found.setdefault(message.position, []).append(message)
    return found


def answer_get(*, owner: Owner, chat_id: UUID, message_id: UUID) -> Message:
    """An answer, current or not. Raises ChatNotFound or MessageNotFound."""
    chat_expect(owner=owner, chat_id=chat_id)
    rows = Message.objects.filter(chat_id=chat_id, role=Message.Role.ASSISTANT)
    answer = rows.filter(pk=message_id).first()
    if answer is None:
        raise MessageNotFound
    return answer


def sources_of(*, owner: Owner, chat_id: UUID, message_id: UUID) -> list[dict[str, Any]]:
    """Of an answer, stored or being written. Raises ChatNotFound or MessageNotFound."""
    running = running_in(owner=owner, chat_id=chat_id)
    if running is not None and running.message_id == message_id:
        return list(running.sources)
    return list(answer_get(owner=owner, chat_id=chat_id, message_id=message_id).sources)


def question_of(*, chat_id: UUID, message_id: UUID) -> Message:
    """The question of an answer. Raises MessageNotFound."""
    rows = Message.objects.filter(chat_id=chat_id)
    answer = rows.filter(pk=message_id, role=Message.Role.ASSISTANT).first()
    if answer is None:
        raise MessageNotFound
    return rows.get(position=answer.position - 1)


def exchange_get(*, owner: Owner, message_id: UUID) -> tuple[Message, Message]:
    """The question of an answer, and the answer. Raises ChatNotFound."""
    mine = {f"chat__{name}": value for name, value in owner.fields().items()}
    answer = Message.objects.filter(pk=message_id, **mine).first()
    if answer is None:
        raise ChatNotFound
    return question_of(chat_id=answer.chat_id, message_id=message_id), answer


def turns_of(*, chat_id: UUID, limit: int, before: int | None = None) -> tuple[Turn, ...]:
    """The last `limit` exchanges (before a position), oldest first; of answers the newest."""
    newest = Message.objects.filter(chat_id=chat_id, is_current=True).order_by("-position")
    if before is not None:
        newest = newest.filter(position__lt=before)
    rows = list(newest.values_list("role", "content")[: 2 * limit])[::-1]
    questions = (content for role, content in rows if role == Message.Role.USER)
    answers = (content for role, content in rows if role == Message.Role.ASSISTANT)
    return tuple(
        Turn(question=question, answer=answer)
        for question, answer in zip(questions, answers, strict=False)
    )


def _holds(field: str, text: str) -> Q:
    """Without regard to case. SQLite folds only ASCII, so the usual spellings are listed."""
    spellings = {text, text.lower(), text.upper(), text.capitalize(), text.title()}
    found = Q()
    for spelling in sorted(spellings):
        found |= Q(**{f"{field}__icontains": spelling})
    return found
