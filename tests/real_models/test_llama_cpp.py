"""llama.cpp's server with SmolLM2-135M: a real model that streams, is stopped, and dies."""

from __future__ import annotations

import asyncio
import signal
import time
from contextlib import aclosing
from typing import Any

import pytest
from django.test import override_settings

from chats.generation.base import Finished, StopReason, Token, Turn
from chats.generation.errors import (
    ContextTooLong,
    GenerationTimeout,
    ModelError,
    UpstreamUnavailable,
)
from chats.generation.openai_compatible import OpenAICompatibleModel
from chats.rewriting import query_for
from tests.chats.generation.openai_parts import hear, model_at, prompt
from tests.chats.live_parts import Visitor, answers, env, first_text
from tests.live import ServerFactory, until
from tests.real_models.servers import CONTEXT, KEY, ModelServer

pytestmark = [pytest.mark.real_models, pytest.mark.timeout(600)]

LONG = "Write a long story about a river. Do not stop."


def model_of(server: ModelServer, **options: Any) -> OpenAICompatibleModel:
    values = {"model": "smollm2", "api_key": KEY, "context_window": CONTEXT, "max_tokens": 300}
    return model_at(server.base_url, **{**values, **options})


async def test_tokens_stream_one_by_one(llama: ModelServer) -> None:
    moments: list[float] = []
    async with aclosing(model_of(llama, max_tokens=30).stream(prompt(LONG))) as pieces:
        async for piece in pieces:
            moments.append(time.monotonic())
            last = piece
    assert len(moments) > 20
    assert len({round(moment, 3) for moment in moments}) > 20, "not all at once"
    assert isinstance(last, Finished) and last.reason is StopReason.LENGTH
    assert last.usage is not None
    assert last.usage.completion_tokens == 30 and last.usage.prompt_tokens > 30


async def test_an_answer_that_ends_by_itself_is_a_stop(llama: ModelServer) -> None:
    asked = prompt("Say hello.", passages=())
    heard = await hear(model_of(llama, temperature=0, extra_body={"stop": ["\n", "."]}), asked)
    assert heard.text
    assert heard.finished is not None and heard.finished.reason is StopReason.STOP


async def test_a_small_model_rewrites_a_follow_up_by_the_examples(llama: ModelServer) -> None:
    history = [Turn(question="How do I create a virtual environment?", answer="With venv.")]
    with override_settings(FASTRAG={"REWRITE_SECONDS": 300.0}):
        model = model_of(llama, temperature=0, read_seconds=300)
        said = await query_for("How do I install packages into it?", history, model)
    assert "packages" in said and "virtual environment" in said and " it" not in said


async def test_a_stopped_answer_closes_its_connection_within_a_second(llama: ModelServer) -> None:
    model = model_of(llama, max_tokens=700)
    for _ in range(20):
        stream = model.stream(prompt(LONG))
        assert isinstance(await anext(stream), Token)
        assert llama.clients() == 1
        moment = time.monotonic()
        await stream.aclose()
        until(lambda: llama.clients() == 0, 1.0 - (time.monotonic() - moment), "closed connection")
    assert (await hear(model_of(llama, max_tokens=5))).finished is not None


async def test_a_model_that_falls_silent_is_a_timeout(llama: ModelServer) -> None:
    model = model_of(llama, max_tokens=700, read_seconds=15.0)
    stream = model.stream(prompt(LONG))
    assert isinstance(await anext(stream), Token)
    llama.signal(signal.SIGSTOP)
    try:
        with pytest.raises(GenerationTimeout):
            async for _ in stream:
                pass
    finally:
        llama.signal(signal.SIGCONT)


async def test_a_wrong_key_is_a_model_error_that_readiness_explains(llama: ModelServer) -> None:
    model = model_of(llama, api_key="sk-wrong")
    assert isinstance((await hear(model)).failure, ModelError)
    with pytest.raises(UpstreamUnavailable, match="FASTRAG_CHAT_API_KEY"):
        await model.ping()


async def test_a_good_configuration_is_ready(llama: ModelServer) -> None:
    await model_of(llama).ping()


async def test_an_unknown_model_is_warned_of(
    llama: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    """This server answers to any name."""
    model = model_of(llama, model="unheard-of", max_tokens=5)
    assert (await hear(model)).finished is not None
    await model.ping()
    assert "FASTRAG_CHAT_MODEL_NAME" in caplog.text


async def test_a_prompt_beyond_the_window_is_context_too_long(llama: ModelServer) -> None:
    heard = await hear(model_of(llama), prompt("river " * 2_000))
    assert isinstance(heard.failure, ContextTooLong)


async def test_a_server_killed_in_mid_answer_is_a_model_error(mortal_llama: ModelServer) -> None:
    model = model_of(mortal_llama, max_tokens=700)
    stream = model.stream(prompt(LONG))
    assert isinstance(await anext(stream), Token)
    mortal_llama.signal(signal.SIGKILL)
    with pytest.raises(ModelError):
        async for _ in stream:
            pass
    await asyncio.to_thread(mortal_llama.process.wait, 5)
    assert isinstance((await hear(model)).failure, UpstreamUnavailable)


def test_a_site_keeps_what_was_said_before_its_model_was_killed(
    mortal_llama: ModelServer, real_server: ServerFactory
) -> None:
    settings: dict[str, Any] = {
        "chat_base_url": mortal_llama.base_url,
        "chat_model_name": "smollm2",
        "chat_api_key": KEY,
        "chat_context_window": CONTEXT,
        "answer_max_tokens": 700,
    }
    site = real_server(env=env(**settings))
    with Visitor(site).ask(LONG) as stream:
        stream.sock.settimeout(60)
        said = first_text(stream)
        mortal_llama.signal(signal.SIGKILL)
        while (event := stream.event()) is not None:
            last = event
            said += event.data["delta"]["text"] if event.name == "delta" else ""
    assert last.data["error"]["code"] == "MODEL_ERROR"
    assert answers(site) == [("error", said)]
