"""Whoever stops listening frees the upstream within a second, as seen at the upstream's socket."""

from __future__ import annotations

import asyncio
import gc
import threading
import time

import pytest

from chats.generation.base import Token
from chats.generation.openai_compatible import OpenAICompatibleModel
from tests.chats.generation.openai_parts import hear, model_at, prompt
from tests.upstream import (
    CHUNKED_HEAD,
    DONE,
    HEAD,
    KEEP,
    LAST_CHUNK,
    STALL,
    Forever,
    Script,
    Until,
    Upstream,
    answer,
    chunked,
    finish,
    thought,
    token,
    upstream,
)

BUSY: list[tuple[str, Script]] = [
    ("before the head", [STALL]),
    ("before the first token", [HEAD, STALL]),
    ("between tokens", [HEAD, token("One"), STALL]),
    ("while tokens flow", [HEAD, Forever(token("One"))]),
    ("while it thinks", [HEAD, Forever(thought("hm"))]),
    ("while comments flow", [HEAD, Forever(b": PROCESSING\n\n")]),
    ("in chunked coding", [CHUNKED_HEAD, chunked(token("One")), STALL]),
    ("after the finish reason", [HEAD, token("One"), finish(), STALL]),
]
parametrized = pytest.mark.parametrize(
    "script", [script for _, script in BUSY], ids=[name for name, _ in BUSY]
)


async def seconds_to_close(server: Upstream, moment: float) -> float:
    return await asyncio.to_thread(server.closed_after, moment)


@parametrized
async def test_a_cancelled_answer_frees_the_upstream_within_a_second(script: Script) -> None:
    with upstream(script) as server:
        listening = asyncio.create_task(hear(model_at(server)))
        await asyncio.to_thread(server.wait_for_requests)
        await asyncio.sleep(0.05)  # into whatever the script then does
        moment = time.monotonic()
        listening.cancel()
        await asyncio.wait((listening,))
        assert time.monotonic() - moment < 0.5
        assert await seconds_to_close(server, moment) < 1


@pytest.mark.parametrize(
    "script", [[HEAD, token("One"), STALL], [HEAD, Forever(token("One"))]], ids=["silent", "busy"]
)
async def test_a_closed_stream_frees_the_upstream_within_a_second(script: Script) -> None:
    with upstream(script) as server:
        stream = model_at(server).stream(prompt())
        assert await anext(stream) == Token(text="One")
        moment = time.monotonic()
        await stream.aclose()
        assert await seconds_to_close(server, moment) < 1


async def test_a_time_out_around_the_stream_frees_the_upstream_within_a_second() -> None:
    with upstream([HEAD, token("One"), STALL]) as server:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await hear(model_at(server))
        assert await seconds_to_close(server, time.monotonic()) < 1


async def test_a_failed_reply_frees_the_upstream_within_a_second() -> None:
    with upstream([HEAD, token("One"), b"data: {broken\n\n", STALL]) as server:
        heard = await hear(model_at(server))
        assert heard.failure is not None
        assert await seconds_to_close(server, time.monotonic()) < 1


async def test_stopping_one_of_many_leaves_the_others_alone() -> None:
    go_on = threading.Event()
    script: Script = [HEAD, token("One "), Until(go_on), token("two."), finish(), DONE]
    with upstream(script) as server:
        model = model_at(server)
        answers = [asyncio.create_task(hear(model)) for _ in range(10)]
        await asyncio.to_thread(server.wait_for_requests, 10)
        moment = time.monotonic()
        answers[0].cancel()
        assert await seconds_to_close(server, moment) < 1
        go_on.set()
        heard = await asyncio.gather(*answers[1:])
    assert {one.text for one in heard} == {"One two."}


async def test_a_hundred_stops_leave_no_connection_behind() -> None:
    with upstream([HEAD, Forever(token("One"), every=0.05)]) as server:
        model = model_at(server)
        for _ in range(10):
            streams = [model.stream(prompt()) for _ in range(10)]
            await asyncio.gather(*map(anext, streams))
            await asyncio.gather(*(stream.aclose() for stream in streams))
        await asyncio.to_thread(server.closed_after, 0.0, times=100)
        assert server.connections == 100


def test_the_end_of_an_event_loop_closes_its_kept_connections() -> None:
    kept = [chunked(part) for part in (token("Yes."), finish(), DONE)]
    with upstream([CHUNKED_HEAD, *kept, LAST_CHUNK, KEEP]) as server:
        model = model_at(server)
        for _ in range(3):
            assert asyncio.run(hear(model)).text == "Yes."
        gc.collect()  # an unclosed connection would warn now, and warnings are errors
        assert server.connections == 3


def test_several_event_loops_share_a_model() -> None:
    with upstream(answer("Yes.")) as server:
        model = model_at(server)
        texts: list[str] = []

        def run() -> None:
            texts.append(asyncio.run(hear(model)).text)

        threads = [threading.Thread(target=run) for _ in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert texts == ["Yes."] * 5


async def test_a_model_can_be_closed_and_used_again() -> None:
    with upstream(answer("Yes.")) as server:
        model: OpenAICompatibleModel = model_at(server)
        assert (await hear(model)).text == "Yes."
        await model.close()
        await model.close()
        assert (await hear(model)).text == "Yes."
