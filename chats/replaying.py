"""A stored exchange as the events of a stream: the answer's text is one delta.

Below: selectors, models. Above: answering, for a request that comes again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from uuid import UUID

from chats import selectors
from chats.events import (
    Batches,
    Delta,
    Event,
    Failure,
    FinishReason,
    MessageEnd,
    MessageStart,
    Source,
    Sources,
)
from chats.models import Message
from fastrag_site.owners import Owner


def replay(*, owner: Owner, message_id: UUID) -> Batches:
    """Reads before the stream starts. Raises ChatNotFound when the chat has been deleted."""
    question, answer = selectors.exchange_get(owner=owner, message_id=message_id)
    return _at_once(tuple(events_of(question, answer)))


def events_of(question: Message, answer: Message) -> Iterable[Event]:
    yield MessageStart(chat_id=answer.chat_id, user_message_id=question.id, message_id=answer.id)
    sources = tuple(Source.from_dict(source) for source in answer.sources)
    yield Sources(message_id=answer.id, sources=sources)
    if answer.content:
        yield Delta(message_id=answer.id, text=answer.content)
    failure = None
    if answer.error_code:
        failure = Failure(code=answer.error_code, message=answer.error_message)
    reason = FinishReason(answer.finish_reason)
    yield MessageEnd(message_id=answer.id, finish_reason=reason, error=failure)


async def _at_once(events: Sequence[Event]) -> Batches:
    yield events
