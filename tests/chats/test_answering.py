"""The life of one answer, from acceptance to its stored end (CASES.md, Stream life cycle)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Generator
from typing import Any

import pytest
from django.db import OperationalError
from django.test import override_settings

from chats import services
from chats.answering import answer
from chats.capacity import Slot
from chats.events import Delta, Event, MessageEnd, MessageStart, Sources
from chats.generation.base import Finished, StopReason, Turn
from chats.generation.errors import ContextTooLong, ModelError, UpstreamUnavailable
from chats.models import Generation, Message
from chats.services import Exchange
from chats.writing import Retrieve, Writing
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
