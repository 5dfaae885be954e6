"""How an answer ends before its end: leaving, stopping, a database that is out."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncGenerator
from typing import Any
from unittest.mock import patch

import pytest
from django.db import OperationalError
from django.test import override_settings

from chats import answering, services, settling
from chats.answering import answer
from chats.capacity import slots_taken, take_slot
from chats.events import MessageStart
from chats.generation.base import Finished
from chats.models import Chat, Generation, Message
from fastrag_site import shutdown
from fastrag_site.errors import ServiceUnavailable
from fastrag_site.threads import in_thread
from retrieval.types import Query
from tests.chats.parts import EndlessModel, ScriptedModel, retriever
from tests.chats.test_answering import (
    ANN,
    PAGES,
    end_of,
    open_writing,
    run,
    start,
    stored,
    until_text,
)

pytestmark = pytest.mark.django_db(transaction=True)


# Leaving


@pytest.mark.parametrize("tokens", [0, 1, 5])
async def test_a_client_that_leaves_has_its_answer_interrupted(tokens: int) -> None:
    events, asked = await start(EndlessModel())
    assert isinstance(await anext(events), MessageStart)
    said = await until_text(events, tokens)
    await events.aclose()
    answered = await stored()
    assert (answered.id, answered.finish_reason) == (asked.message_id, "interrupted")
    assert answered.content.startswith(said)


async def test_a_client_that_leaves_during_the_search_has_its_answer_interrupted() -> None:
    searching, go_on = threading.Event(), threading.Event()

    def search(query: Query) -> None:
        searching.set()
        go_on.wait(10)

    events, _ = await start(ScriptedModel(), retrieve=retriever(PAGES, before=search))
    await anext(events)
    step = asyncio.ensure_future(anext(events))
    await asyncio.to_thread(searching.wait, 10)
    step.cancel()
    with pytest.raises(asyncio.CancelledError):
        await step
    go_on.set()
    assert ((await stored()).finish_reason, (await stored()).content) == ("interrupted", "")


async def test_a_model_is_let_go_of_when_its_client_leaves() -> None:
    model = ScriptedModel(["One ", 3600.0])
    events, _ = await start(model)
    await until_text(events)
    step = asyncio.ensure_future(anext(events))
    await asyncio.sleep(0)
    step.cancel()
    with pytest.raises(asyncio.CancelledError):
        await step
    assert model.closed == 1
    assert (await stored()).content == "One "


async def test_settling_is_not_stopped_by_a_second_cancellation() -> None:
    inside, go_on = threading.Event(), threading.Event()
    settle = services.settle

    def slow_settle(**values: Any) -> bool:
        inside.set()
        go_on.wait(10)
        return settle(**values)

    events, _ = await start(EndlessModel())
    await until_text(events)
    with patch.object(services, "settle", slow_settle):
        closing = asyncio.ensure_future(events.aclose())
        await asyncio.to_thread(inside.wait, 10)
        closing.cancel()
        await asyncio.sleep(0)
        closing.cancel()
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await closing
    assert (await stored()).finish_reason == "interrupted"


async def test_a_model_that_does_not_let_go_is_left_behind(
    caplog: pytest.LogCaptureFixture,
) -> None:
    release = asyncio.Event()

    class Stubborn:
        identity = "stubborn"

        async def stream(self, prompt: Any) -> AsyncGenerator[Any, None]:
            while not release.is_set():
                try:
                    await release.wait()
                except asyncio.CancelledError:
                    continue
            yield Finished()

    events, _ = await start(Stubborn())
    await anext(events)
    await anext(events)
    step = asyncio.ensure_future(anext(events))
    await asyncio.sleep(0.05)
    async with asyncio.timeout(3):
        step.cancel()
        with pytest.raises(asyncio.CancelledError):
            await step
    assert (await stored()).finish_reason == "interrupted"
    assert "ignores cancellation" in caplog.text
    release.set()
    await asyncio.sleep(0)


async def test_a_shutdown_ends_the_answer_as_interrupted_and_tells_the_client() -> None:
    events, _ = await start(ScriptedModel(["One ", 3600.0]))
    await until_text(events)
    shutdown.begin()
    end = end_of([event async for event in events])
    assert end.finish_reason == "interrupted"
    assert (await stored()).content == "One "


async def test_nothing_is_left_after_a_hundred_interrupted_answers() -> None:
    tasks, slots = len(asyncio.all_tasks()), slots_taken()
    with override_settings(FASTRAG={"GENERATIONS_PER_OWNER": 200}):
        for number in range(100):
            writing = await open_writing(EndlessModel(delay=0.001))
            events = answer(writing)
            await anext(events)
            await until_text(events, number % 3)
            await events.aclose()
    await asyncio.sleep(0)
    assert len(asyncio.all_tasks()) == tasks
    assert slots_taken() == slots
    assert not await Generation.objects.aexists()
    assert await Message.objects.filter(finish_reason="interrupted").acount() == 100


# Heartbeats


async def test_heartbeats_save_what_was_said_so_far() -> None:
    with override_settings(FASTRAG={"HEARTBEAT_SECONDS": 0.02}):
        events, asked = await start(ScriptedModel(["One ", 3600.0]))
        await until_text(events)
        async with asyncio.timeout(5):
            while not (row := await Generation.objects.aget(pk=asked.message_id)).said:
                await asyncio.sleep(0.01)
        first = row.heartbeat_at
        async with asyncio.timeout(5):
            while (await Generation.objects.aget(pk=asked.message_id)).heartbeat_at == first:
                await asyncio.sleep(0.01)
        await events.aclose()
    assert row.said == "One " and len(row.sources) == 2


@pytest.mark.parametrize("reason", ["deleted", "swept", "stopped"])
async def test_an_answer_that_nobody_wants_ends_by_itself(reason: str) -> None:
    with override_settings(FASTRAG={"HEARTBEAT_SECONDS": 0.02, "HEARTBEAT_GRACE": -1}):
        events, asked = await start(ScriptedModel(["One ", 3600.0]))
        await until_text(events)
        if reason == "deleted":
            await in_thread(services.chat_delete, owner=ANN, chat_id=asked.chat_id)
        elif reason == "swept":
            assert await in_thread(services.sweep) == 1
        else:
            await Generation.objects.aupdate(stop_requested=True)
        async with asyncio.timeout(5):
            end = end_of([event async for event in events])
    assert end.finish_reason == "interrupted"
    assert not await Generation.objects.aexists()
    assert await Message.objects.acount() == (0 if reason == "deleted" else 2)


# The database


async def test_a_database_that_is_out_for_a_moment_loses_nothing() -> None:
    settle, failures = services.settle, iter([OperationalError("locked")] * 2)

    def flaky_settle(**values: Any) -> bool:
        for failure in failures:
            raise failure
        return settle(**values)

    with patch.object(services, "settle", flaky_settle), patch.object(settling, "PAUSES", (0, 0)):
        end = end_of(await run(ScriptedModel()))
    assert end.finish_reason == "stop"
    assert (await stored()).content == "One two."


async def test_an_answer_that_cannot_be_stored_stays_in_the_journal(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def no_settle(**values: Any) -> bool:
        raise OperationalError("out")

    with patch.object(services, "settle", no_settle), patch.object(settling, "PAUSES", (0,)):
        end = end_of(await run(ScriptedModel()))
    assert end.error is not None and end.error.code == "INTERNAL_ERROR"
    assert await Generation.objects.acount() == 1
    assert any(record.levelno == logging.ERROR for record in caplog.records)
    with override_settings(FASTRAG={"HEARTBEAT_GRACE": -1}):
        assert await in_thread(services.sweep) == 1
    assert (await stored()).finish_reason == "interrupted"


# Acceptance


async def test_a_refused_question_takes_no_slot() -> None:
    before = slots_taken()
    with (
        override_settings(FASTRAG={"GENERATIONS_PER_OWNER": 0}),
        pytest.raises(Exception, match="Too many answers"),
    ):
        await in_thread(answering.begin, owner=ANN, question="Why?")
    assert slots_taken() == before


async def test_a_full_worker_and_a_leaving_worker_refuse() -> None:
    with override_settings(FASTRAG={"GENERATIONS_PER_WORKER": 1}):
        slot = take_slot()
        with pytest.raises(ServiceUnavailable):
            await in_thread(answering.begin, owner=ANN, question="Why?")
        slot.release()
    shutdown.begin()
    with pytest.raises(ServiceUnavailable):
        await in_thread(answering.begin, owner=ANN, question="Why?")
    assert not await Generation.objects.aexists() and not await Chat.objects.aexists()
