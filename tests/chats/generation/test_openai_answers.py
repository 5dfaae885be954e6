"""Upstream failures seen from outside: one `message_end`, and the partial answer stored."""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing
from typing import Any

import pytest

from chats import services
from chats.answering import answer
from chats.capacity import Slot
from chats.events import Delta, Event, MessageEnd
from chats.generation.openai_compatible import OpenAICompatibleModel
from chats.models import Message
from chats.writing import Writing
from fastrag_site.owners import Owner
from fastrag_site.threads import in_thread
from tests.chats.generation.openai_parts import KEY, model_at
from tests.chats.live_parts import env
from tests.chats.parts import found, hit, retriever
from tests.live import ServerFactory
from tests.upstream import (
    DONE,
    HEAD,
    RESET,
    STALL,
    Forever,
    Script,
    error,
    finish,
    frame,
    thought,
    token,
    upstream,
    usage,
)

pytestmark = pytest.mark.django_db(transaction=True)

TWO = [HEAD, token("One "), token("two.")]


async def writing_with(model: OpenAICompatibleModel) -> Writing:
    owner = Owner(session_key="a-session")
    exchange = await in_thread(
        services.generation_open, owner=owner, question="Why?", model=model.identity
    )
    return Writing(exchange, model=model, retrieve=retriever(found(hit(1))), slot=Slot())


async def events_of(model: OpenAICompatibleModel) -> list[Event]:
    return [event async for event in answer(await writing_with(model))]


@pytest.mark.parametrize(
    ("script", "text", "reason", "code"),
    [
        ([*TWO, finish(), usage(), DONE], "One two.", "stop", ""),
        ([*TWO, finish("length"), DONE], "One two.", "length", ""),
        ([HEAD, thought("hm"), finish("length"), DONE], "", "length", ""),
        ([HEAD], "", "error", "MODEL_ERROR"),
        (TWO, "One two.", "error", "MODEL_ERROR"),
        ([*TWO, RESET], "One two.", "error", "MODEL_ERROR"),
        ([*TWO, STALL], "One two.", "error", "TIMEOUT"),
        ([*TWO, frame({"error": {"code": 429}})], "One two.", "error", "SERVICE_UNAVAILABLE"),
        ([*TWO, frame({"error": {"message": "boom"}})], "One two.", "error", "MODEL_ERROR"),
        (error(503, Retry_After=60), "", "error", "SERVICE_UNAVAILABLE"),
        (error(401), "", "error", "MODEL_ERROR"),
        (error(400, {"code": "context_length_exceeded"}), "", "error", "CONTEXT_TOO_LONG"),
    ],
)
async def test_each_outcome_ends_once_and_is_stored_with_what_was_said(
    script: Script, text: str, reason: str, code: str
) -> None:
    with upstream(script) as server:
        events = await events_of(model_at(server, read_seconds=0.3))
    ends = [event for event in events if isinstance(event, MessageEnd)]
    assert [*ends] == [events[-1]]
    assert "".join(event.text for event in events if isinstance(event, Delta)) == text
    stored = await Message.objects.aget(role="assistant")
    assert (stored.content, stored.finish_reason, stored.error_code) == (text, reason, code)
    assert stored.model == "openai-compatible:scripted"
    assert KEY not in stored.error_message
    if reason == "stop":
        assert (stored.prompt_tokens, stored.completion_tokens) == (3, 2)


async def test_a_reader_who_leaves_frees_the_upstream_and_has_the_partial_stored() -> None:
    with upstream([HEAD, Forever(token("One "))]) as server:
        async with aclosing(answer(await writing_with(model_at(server)))) as events:
            async for event in events:
                if isinstance(event, Delta):
                    moment = time.monotonic()
                    break
        assert await asyncio.to_thread(server.closed_after, moment) < 1
    stored = await Message.objects.aget(role="assistant")
    assert stored.finish_reason == "interrupted"
    assert stored.content.startswith("One ")


def test_a_site_set_up_by_environment_answers_and_frees_the_upstream_of_who_leaves(
    real_server: ServerFactory,
) -> None:
    whole = [*TWO, finish(), DONE]  # twice: readiness asks for a token of its own
    with upstream(whole, whole, [HEAD, Forever(token("One "))]) as server:
        settings: dict[str, Any] = {
            "chat_base_url": server.base_url,
            "chat_model_name": "scripted",
            "chat_api_key": KEY,
            "chat_temperature": 0.2,
            "chat_extra_body": {"top_k": 5},
        }
        site = real_server(env={**env(**settings), "LOG_LEVEL": "INFO"})
        with site.get("/readyz") as ready:
            assert ready.json()["checks"]["chat_model"] == "ok"
        with site.post("/api/chats", {"content": "Why?"}) as stream:
            names = []
            while (event := stream.event()) is not None:
                names.append(event.name)
        assert names == ["message_start", "sources", "delta", "delta", "message_end"]
        with site.post("/api/chats", {"content": "Why?"}) as stream:
            while (event := stream.event()) is not None and event.name != "delta":
                pass
            moment = time.monotonic()
            stream.reset()
        assert server.closed_after(moment) < 1
        sent = [one for one in server.requests if one.method == "POST"][1].json
        assert (sent["temperature"], sent["top_k"]) == (0.2, 5)
        assert KEY not in site.output()
        assert server.base_url not in site.output()
