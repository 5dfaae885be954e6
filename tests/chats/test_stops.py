"""Stopping an answer: who may, what ends, and how a process notices (CASES.md, Chat state)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection
from django.test import Client, override_settings
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chats import services, stops
from chats.answering import answer
from chats.capacity import Slot
from chats.events import Delta, FinishReason, MessageEnd
from chats.ids import uuid7
from chats.models import Generation, Message
from chats.writing import Writing
from fastrag_site.owners import Owner
from fastrag_site.threads import in_thread
from tests.chats.parts import EndlessModel, found, hit, retriever
from tests.chats.test_views import ann, error_of
from tests.factories import ChatFactory, GenerationFactory

__all__ = ["ann"]

ANN = Owner(session_key="a-session")


async def written(model: Any) -> Any:
    exchange = await in_thread(
        services.generation_open, owner=ANN, question="Why?", model=model.identity
    )
    writing = Writing(exchange, model=model, retrieve=retriever(found(hit(1))), slot=Slot())
    return answer(writing), exchange


async def ended(events: Any, model_seconds: float = 5.0) -> MessageEnd:
    async with asyncio.timeout(model_seconds):
        *_, end = [event async for event in events]
    assert isinstance(end, MessageEnd)
    return end


@pytest.mark.django_db
def test_a_stop_is_accepted_with_the_id_of_what_will_end(ann: Client) -> None:
    running = GenerationFactory(heartbeat_at=timezone.now())
    for _ in range(2):
        response = ann.post(f"/api/chats/{running.chat_id}/stop")
        assert response.status_code == 202
        assert response.json() == {"message_id": str(running.message_id)}
    assert Generation.objects.get().stop_requested


@pytest.mark.django_db
def test_where_nothing_is_written_nothing_can_be_stopped(ann: Client) -> None:
    error = error_of(ann.post(f"/api/chats/{ChatFactory().id}/stop"), 409)
    assert error["code"] == "NOT_RUNNING"


@pytest.mark.django_db
def test_what_a_dead_worker_was_writing_is_not_running(ann: Client) -> None:
    running = GenerationFactory(opens_chat=True)
    error = error_of(ann.post(f"/api/chats/{running.chat_id}/stop"), 409)
    assert error["code"] == "NOT_RUNNING"
    assert Message.objects.filter(pk=running.message_id, finish_reason="interrupted").exists()


@pytest.mark.django_db
def test_another_owners_answer_goes_on(ann: Client) -> None:
    running = GenerationFactory(session_key="another", heartbeat_at=timezone.now())
    missing = error_of(ann.post(f"/api/chats/{uuid7()}/stop"), 404)
    assert error_of(ann.post(f"/api/chats/{running.chat_id}/stop"), 404) == missing
    assert not Generation.objects.get().stop_requested


@pytest.mark.django_db(transaction=True)
@override_settings(FASTRAG={"STOP_POLL_SECONDS": 3600.0})
async def test_in_the_same_process_a_stop_is_told_at_once() -> None:
    events, exchange = await written(EndlessModel())
    async for event in events:
        if isinstance(event, Delta):
            break
    await in_thread(services.generation_stop, owner=ANN, chat_id=exchange.chat_id)
    end = await ended(events)
    assert end.finish_reason is FinishReason.INTERRUPTED
    stored = await Message.objects.aget(pk=exchange.message_id)
    assert stored.finish_reason == "interrupted" and stored.content.startswith("xxxx")


@pytest.mark.django_db(transaction=True)
@override_settings(FASTRAG={"STOP_POLL_SECONDS": 3600.0})
async def test_deleting_a_chat_ends_its_answer_at_once() -> None:
    events, exchange = await written(EndlessModel(silent=True))
    await anext(events)
    await anext(events)
    await in_thread(services.chat_delete, owner=ANN, chat_id=exchange.chat_id)
    assert (await ended(events)).finish_reason is FinishReason.INTERRUPTED
    assert not await Message.objects.aexists()


@pytest.mark.django_db(transaction=True)
@override_settings(FASTRAG={"STOP_POLL_SECONDS": 0.02})
async def test_what_another_process_asked_for_is_noticed_in_the_journal() -> None:
    events, _ = await written(EndlessModel(silent=True))
    await anext(events)
    await anext(events)
    await Generation.objects.aupdate(stop_requested=True)
    assert (await ended(events)).finish_reason is FinishReason.INTERRUPTED


@pytest.mark.django_db(transaction=True)
@override_settings(FASTRAG={"STOP_POLL_SECONDS": 0.02})
async def test_a_stop_before_the_answer_began_is_noticed_as_well() -> None:
    events, exchange = await written(EndlessModel())
    await in_thread(services.generation_stop, owner=ANN, chat_id=exchange.chat_id)
    assert (await ended(events)).finish_reason is FinishReason.INTERRUPTED


@contextmanager
def listening(*ids: Any) -> Iterator[list[Any]]:
    """Register without the poll."""
    heard: list[Any] = []
    loop = asyncio.get_running_loop()
    for one in ids:
        stops._listeners[one] = (loop, lambda one=one: heard.append(one))  # type: ignore[misc]
    try:
        yield heard
    finally:
        for one in ids:
            stops._take(one)


async def test_who_listens_is_told_once() -> None:
    one, other = uuid7(), uuid7()
    with listening(one, other) as heard:
        assert [stops.stop_here(one), stops.stop_here(one)] == [True, False]
        await asyncio.sleep(0)
        assert heard == [one]


@pytest.mark.django_db
def test_all_running_answers_of_a_process_cost_one_query() -> None:
    rows = [GenerationFactory(stop_requested=number % 2 == 0) for number in range(10)]
    gone = uuid7()
    with CaptureQueriesContext(
        connection,
    ) as queries:
        found_ = stops.unwanted([*(row.message_id for row in rows), gone])
    assert len(queries) == 1
    assert found_ == {gone, *(row.message_id for row in rows[::2])}
