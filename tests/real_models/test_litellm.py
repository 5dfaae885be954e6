"""LiteLLM's proxy, which plays the faults of the providers behind it."""

from __future__ import annotations

from typing import Any

import pytest

from chats.generation.base import StopReason
from chats.generation.errors import (
    ContextTooLong,
    GenerationTimeout,
    ModelError,
    UpstreamUnavailable,
)
from chats.generation.openai_compatible import OpenAICompatibleModel
from tests.chats.generation.openai_parts import hear, model_at
from tests.real_models.servers import KEY, ModelServer

pytestmark = [pytest.mark.real_models, pytest.mark.timeout(600)]


def model_of(server: ModelServer, name: str, **options: Any) -> OpenAICompatibleModel:
    return model_at(server.base_url, **{"model": name, "api_key": KEY, "retries": 0, **options})


async def test_an_answer_streams_with_its_usage(proxy: ModelServer) -> None:
    heard = await hear(model_of(proxy, "mocked"))
    assert heard.text == "It is so, as it was made so."
    assert len(heard.texts) > 1
    assert heard.finished is not None and heard.finished.reason is StopReason.STOP
    usage = heard.finished.usage
    assert usage is not None and usage.prompt_tokens > 0 and usage.completion_tokens > 0


async def test_nothing_is_counted_where_it_was_not_asked_for(proxy: ModelServer) -> None:
    heard = await hear(model_of(proxy, "mocked", ask_usage=False))
    assert heard.finished is not None and heard.finished.usage is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("limited", UpstreamUnavailable),
        ("overflow", ContextTooLong),
        ("broken", ModelError),
        ("late", GenerationTimeout),
        ("unheard-of", ModelError),
    ],
)
async def test_each_fault_has_its_code(
    proxy: ModelServer, name: str, expected: type[Exception]
) -> None:
    assert type((await hear(model_of(proxy, name))).failure) is expected


async def test_a_wrong_key_is_a_model_error(proxy: ModelServer) -> None:
    heard = await hear(model_of(proxy, "mocked", api_key="sk-wrong"))
    assert isinstance(heard.failure, ModelError)


async def test_a_good_configuration_is_ready(proxy: ModelServer) -> None:
    await model_of(proxy, "mocked").ping()
