"""Reads. Everything is seen through its owner: another owner's chat is a missing one.

Below: models. Above: views, services, the ask command.
"""

from __future__ import annotations

from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from chats.generation.base import Turn
from chats.models import Chat, Generation, Message
from fastrag_site.errors import ChatNotFound
from fastrag_site.owners import Owner


def chat_id_from(text: str) -> UUID:
    """A chat id as a path holds it. Raises ChatNotFound when it cannot be one."""
    try:
        chat_id = UUID(text)
    except ValueError:
        raise ChatNotFound from None
    if str(chat_id) != text.lower():
        raise ChatNotFound
    return chat_id


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


def chats_of(*, owner: Owner, search: str = "") -> QuerySet[Chat]:
    """Newest activity first; with `search`, those whose title or a message holds the text."""
    chats = Chat.objects.filter(**owner.fields())
    if search:
        said = Message.objects.filter(_holds("content", search), chat=OuterRef("pk"))
        chats = chats.filter(_holds("title", search) | Exists(said))
    return chats.order_by("-active_at", "-id")


def messages_of(chat: Chat) -> QuerySet[Message]:
    return chat.messages.order_by("position")


def turns_of(*, chat_id: UUID, limit: int) -> tuple[Turn, ...]:
    """The last `limit` exchanges, oldest first."""
    newest = Message.objects.filter(chat_id=chat_id).order_by("-position")
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
