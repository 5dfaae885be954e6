"""The life of one answer, from acceptance to its stored end (CASES.md, Stream life cycle)."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncGenerator, Generator
from typing import Any
from unittest.mock import patch

import pytest
from django.db import OperationalError
from django.test import override_settings

from chats import answering, services, settling
from chats.answering import answer
from chats.capacity import Slot, slots_taken, take_slot
from chats.events import Delta, Event, MessageEnd, MessageStart, Sources
from chats.generation.base import Finished, StopReason, Turn
from chats.generation.errors import ContextTooLong, ModelError, UpstreamUnavailable
from chats.models import Chat, Generation, Message
from chats.services import Exchange
from chats.writing import Retrieve, Writing
from fastrag_site import shutdown
from fastrag_site.errors import ServiceUnavailable
from fastrag_site.owners import Owner
from fastrag_site.threads import in_thread
from retrieval.types import Query, Retrieved, Stage
from tests.chats.parts import EndlessModel, ScriptedModel, found, hit, retriever

pytestmark = pytest.mark.django_db(transaction=True)

ANN = Owner(session_key="a-session")
PAGES = found(hit(1), hit(2))
FINDS_PAGES = retriever(PAGES)


async def open_writing(
    model: Any, *, retrieve: Retrieve = FINDS_PAGES, question: str = "Why?", **where: Any
) -> Writing:
    asked = await in_thread(
        services.generation_open, owner=ANN, question=question, model=model.identity, **where
    )
    return Writing(asked, model=model, retrieve=retrieve, slot=Slot())


async def run(model: Any, **options: Any) -> list[Event]:
    return [event async for event in answer(await open_writing(model, **options))]


async def start(model: Any, **options: Any) -> tuple[AsyncGenerator[Event, None], Exchange]:
    writing = await open_writing(model, **options)
    return answer(writing), writing.exchange


async def stored() -> Message:
    """The one answer; nothing is left in the journal."""
    assert not await Generation.objects.aexists()
    return await Message.objects.aget(role="assistant")


def end_of(events: list[Event]) -> MessageEnd:
    assert isinstance(events[-1], MessageEnd)
    assert sum(isinstance(event, MessageEnd) for event in events) == 1
    return events[-1]


async def until_text(events: AsyncGenerator[Event, None], tokens: int = 1) -> str:
    said = ""
    if not tokens:
        return said
    async for event in events:
        if isinstance(event, Delta):
            said += event.text
            tokens -= 1
            if not tokens:
                break
    return said


async def test_an_answer_is_start_sources_deltas_end_and_is_stored_as_sent() -> None:
    model = ScriptedModel(["One ", "", "two."])
    events = await run(model)
    first, sources, *deltas, last = events
    assert isinstance(first, MessageStart) and isinstance(sources, Sources)
    assert [event.text for event in deltas if isinstance(event, Delta)] == ["One ", "two."]
    assert last == MessageEnd(message_id=first.message_id, finish_reason=StopReason.STOP)
    answered = await stored()
    assert (answered.id, answered.content) == (first.message_id, "One two.")
    assert answered.sources == sources.to_dict()["sources"]
    assert [source["positions"] for source in answered.sources] == [[1], [2]]
    assert (answered.finish_reason, answered.model) == ("stop", "scripted")
    assert (answered.prompt_tokens, answered.completion_tokens) == (3, 2)
    assert answered.first_token_ms is not None and answered.duration_ms is not None
    assert model.closed == 1


async def test_message_start_goes_out_before_the_search_begins() -> None:
    began = threading.Event()
    retrieve = retriever(PAGES, before=lambda query: began.set())
    events, _ = await start(ScriptedModel(), retrieve=retrieve)
    assert isinstance(await anext(events), MessageStart)
    await asyncio.sleep(0)
    assert not began.is_set()
    await anext(events)
    assert began.is_set()
    await events.aclose()


async def test_a_token_is_out_before_the_next_is_made() -> None:
    model = ScriptedModel(["One ", 3600.0, "two."])
    events, _ = await start(model)
    assert await until_text(events) == "One "
    await events.aclose()
    assert (await stored()).content == "One "


async def test_where_nothing_is_found_sources_are_sent_all_the_same() -> None:
    events = await run(ScriptedModel(), retrieve=retriever(found()))
    assert isinstance(events[1], Sources) and events[1].sources == ()


async def test_a_follow_up_is_searched_with_its_topic_and_stored_as_asked() -> None:
    queries: list[str] = []
    retrieve = retriever(PAGES, before=lambda query: queries.append(query.text))
    model = ScriptedModel()
    events = await run(model, retrieve=retrieve, question="Who was Alan Turing?")
    assert isinstance(events[0], MessageStart)
    again = {"chat_id": events[0].chat_id, "retrieve": retrieve}
    await run(model, question="When was he born?", **again)
    assert queries == ["Who was Alan Turing?", "When was he born? Who was Alan Turing?"]
    assert model.prompts[1].question == "When was he born?"
    assert model.prompts[1].history == (Turn(question=queries[0], answer="One two."),)
    contents = Message.objects.filter(role="user").order_by("position")
    assert [row.content async for row in contents] == ["Who was Alan Turing?", "When was he born?"]


async def test_the_token_limit_ends_with_length() -> None:
    events = await run(ScriptedModel(["One"], finished=Finished(reason=StopReason.LENGTH)))
    assert end_of(events).finish_reason == "length"


async def test_an_answer_of_reasoning_only_ends_with_length_and_no_text() -> None:
    events = await run(ScriptedModel([], finished=Finished(reason=StopReason.LENGTH)))
    assert end_of(events).finish_reason == "length"
    assert (await stored()).content == ""


# Failures


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ([UpstreamUnavailable()], "SERVICE_UNAVAILABLE"),
        (["Half ", ModelError()], "MODEL_ERROR"),
        ([ContextTooLong()], "CONTEXT_TOO_LONG"),
        (["Half ", OperationalError("secret")], "SERVICE_UNAVAILABLE"),
        (["Half ", RuntimeError("secret")], "INTERNAL_ERROR"),
        (["Half ", TimeoutError("secret")], "INTERNAL_ERROR"),
    ],
)
async def test_a_failure_ends_with_its_code_and_keeps_what_was_said(
    script: list[Any], code: str
) -> None:
    model = ScriptedModel(script)
    end = end_of(await run(model))
    assert end.finish_reason == "error" and end.error is not None
    assert end.error.code == code and "secret" not in end.error.message
    answered = await stored()
    assert (answered.finish_reason, answered.error_code) == ("error", code)
    assert answered.error_message == end.error.message
    assert answered.content == "".join(step for step in script if isinstance(step, str))
    assert model.closed == 1


async def test_an_unknown_failure_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    await run(ScriptedModel([RuntimeError("secret")]))
    assert [record.levelname for record in caplog.records] == ["ERROR"]


@pytest.mark.parametrize(
    "model",
    [ScriptedModel(["Half "], finished=None), ScriptedModel([]), ScriptedModel([], finished=None)],
)
async def test_an_end_without_a_reason_or_without_text_is_a_model_error(model: Any) -> None:
    end = end_of(await run(model))
    assert end.error is not None and end.error.code == "MODEL_ERROR"


def failing(error: Exception) -> Retrieve:
    def retrieve(query: Query) -> Generator[Stage, None, Retrieved]:
        yield Stage(name="recall", progress=0.5, message="")
        raise error

    return retrieve


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (OperationalError("secret"), "SERVICE_UNAVAILABLE"),
        (ValueError("secret"), "INTERNAL_ERROR"),
    ],
)
async def test_a_search_that_fails_ends_without_sources(error: Exception, code: str) -> None:
    events = await run(ScriptedModel(), retrieve=failing(error))
    assert [type(event) for event in events] == [MessageStart, MessageEnd]
    end = end_of(events)
    assert end.error is not None and end.error.code == code
    assert (await stored()).sources == []


@pytest.mark.parametrize(
    ("limits", "script", "said"),
    [
        ({"FIRST_TOKEN_SECONDS": 0.05}, [3600.0], ""),
        ({"TOKEN_SILENCE_SECONDS": 0.05}, ["One ", 3600.0], "One "),
        ({"GENERATION_SECONDS": 0.3}, ["One ", 3600.0], "One "),
    ],
)
async def test_silence_and_length_have_bounds(
    limits: dict[str, float], script: list[Any], said: str
) -> None:
    model = ScriptedModel(script)
    with override_settings(FASTRAG=limits):
        end = end_of(await run(model))
    assert end.error is not None and end.error.code == "TIMEOUT"
    assert (await stored()).content == said
    assert model.closed == 1


async def test_a_search_has_a_bound() -> None:
    go_on = threading.Event()
    retrieve = retriever(PAGES, before=lambda query: go_on.wait(10) and None)
    with override_settings(FASTRAG={"RETRIEVAL_SECONDS": 0.05}):
        end = end_of(await run(ScriptedModel(), retrieve=retrieve))
    go_on.set()
    assert end.error is not None and end.error.code == "TIMEOUT"


async def test_the_bound_holds_while_the_client_does_not_read() -> None:
    with override_settings(FASTRAG={"GENERATION_SECONDS": 0.2}):
        events, _ = await start(EndlessModel())
        await until_text(events)
        async with asyncio.timeout(5):
            while not await Message.objects.filter(error_code="TIMEOUT").aexists():
                await asyncio.sleep(0.01)
        end = end_of([event async for event in events])
    assert end.error is not None and end.error.code == "TIMEOUT"


async def test_what_no_database_can_store_is_left_out() -> None:
    await run(ScriptedModel(["a\0b", "\0", "\ud83d", "c"]))
    assert (await stored()).content == "ab?c"


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
