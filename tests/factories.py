"""Model factories, one shared file. Every factory makes a row that the product could have made."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from typing import Any

import factory
from factory.django import DjangoModelFactory

from chats.ids import uuid7
from chats.models import Chat, Generation, Message
from retrieval.models import Chunk, Page, Site

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


class SiteFactory(DjangoModelFactory[Site]):
    class Meta:
        model = Site

    location = factory.Sequence(lambda n: f"https://site-{n}.example/")


class PageFactory(DjangoModelFactory[Page]):
    class Meta:
        model = Page

    site = factory.SubFactory(SiteFactory)
    url = factory.Sequence(lambda n: f"https://site.example/page-{n}")
    title = factory.Sequence(lambda n: f"Page {n}")
    fetched_url = factory.SelfAttribute("url")
    fetched_at = changed_at = EPOCH


class ChunkFactory(DjangoModelFactory[Chunk]):
    class Meta:
        model = Chunk

    page = factory.SubFactory(PageFactory)
    position = factory.Sequence(int)
    text = factory.Sequence(lambda n: f"The text of chunk {n}.")
    word_count = factory.LazyAttribute(lambda chunk: len(chunk.text.split()))
    content_hash = factory.LazyAttribute(
        lambda chunk: hashlib.sha256(chunk.text.encode()).hexdigest()
    )


class ChatFactory(DjangoModelFactory[Chat]):
    class Meta:
        model = Chat

    id = factory.LazyFunction(uuid7)
    session_key = "a-session"
    title = factory.Sequence(lambda n: f"Chat {n}")
    active_at = factory.Sequence(lambda n: EPOCH + timedelta(seconds=n))


class MessageFactory(DjangoModelFactory[Message]):
    """Alternates question and answer by position."""

    class Meta:
        model = Message

    id = factory.LazyFunction(uuid7)
    chat = factory.SubFactory(ChatFactory)
    position = 0
    role = factory.LazyAttribute(lambda row: "assistant" if row.position % 2 else "user")
    content = factory.Sequence(lambda n: f"Content {n}")
    created_at = EPOCH
    finish_reason = factory.LazyAttribute(lambda row: "stop" if row.position % 2 else "")


class GenerationFactory(DjangoModelFactory[Generation]):
    class Meta:
        model = Generation

    message_id = factory.LazyFunction(uuid7)
    user_message_id = factory.LazyFunction(uuid7)
    chat_id = factory.LazyFunction(uuid7)
    session_key = "a-session"
    question = "What is being asked?"
    started_at = heartbeat_at = EPOCH


def exchange(chat: Chat, position: int, **answer: Any) -> tuple[Message, Message]:
    """A question and its answer."""
    question = MessageFactory(chat=chat, position=position)
    return question, MessageFactory(chat=chat, position=position + 1, **answer)
