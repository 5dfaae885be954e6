"""From an accepted question to its stored answer, as events on the way.

MessageStart → Sources → Delta* → MessageEnd, in batches of those that are ready together, and
exactly one settled outcome whatever happens.
Below: services (in threads), retrieval, the chat model. Above: views, the ask command.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from functools import partial
from uuid import UUID

from chats import services
from chats.capacity import take_slot
from chats.events import Batches, Event, MessageEnd, MessageStart
from chats.generation.base import ChatModel
from chats.handover import one_by_one
from chats.idempotency import Idempotency, Repeated, refuse_repeated
from chats.replaying import replay
from chats.services import Exchange
from chats.writing import Retrieve, Writing
from fastrag_site import shutdown
from fastrag_site.backends import load_backend
from fastrag_site.owners import Owner
from retrieval.services import retrieve as retrieve_from_index


def begin(
    *,
    owner: Owner,
    question: str,
    chat_id: UUID | None = None,
    request: Idempotency | None = None,
    retrieve: Retrieve = retrieve_from_index,
) -> Batches:
    """Accept a question, or raise the RequestRefused that says why not.

    The generator must be started, and then run to its end or closed: that settles the answer.
    """
    accept = partial(services.generation_open, question=question, chat_id=chat_id)
    return _begin(accept, owner, request, retrieve)


def begin_again(
    *,
    owner: Owner,
    chat_id: UUID,
    message_id: UUID,
    request: Idempotency | None = None,
    retrieve: Retrieve = retrieve_from_index,
) -> Batches:
    """The same for the question of an answer that is to be written again."""
    accept = partial(services.generation_reopen, chat_id=chat_id, message_id=message_id)
    return _begin(accept, owner, request, retrieve)


def _begin(
    accept: Callable[..., Exchange],
    owner: Owner,
    request: Idempotency | None,
    retrieve: Retrieve,
) -> Batches:
    shutdown.refuse_if_draining()
    try:
        if request is not None:  # a repeated request needs no slot
            services.sweep(owner=owner)
            refuse_repeated(owner, request)
        slot = take_slot()
        try:
            model: ChatModel = load_backend("chat_model")
            exchange = accept(owner=owner, model=model.identity, request=request)
        except BaseException:
            slot.release()
            raise
    except Repeated as repeated:
        return replay(owner=owner, message_id=repeated.message_id)
    return batches(Writing(exchange, model=model, retrieve=retrieve, slot=slot))


def answer(writing: Writing) -> AsyncGenerator[Event, None]:
    """The events of one answer, one by one."""
    return one_by_one(batches(writing))


async def batches(writing: Writing) -> Batches:
    """The events of one answer. Closing it early settles what was said as interrupted."""
    exchange = writing.exchange
    try:
        start = MessageStart(
            chat_id=exchange.chat_id,
            user_message_id=exchange.user_message_id,
            message_id=exchange.message_id,
        )
        yield (start,)
        async with aclosing(writing.batches()) as written:
            async for batch in written:
                yield batch
        outcome = await writing.finish()
        end = MessageEnd(
            message_id=exchange.message_id,
            finish_reason=outcome.finish_reason,
            error=outcome.failure,
        )
        yield (end,)
    finally:
        await writing.finish()
