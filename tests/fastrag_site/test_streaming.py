"""EventStreamResponse without a server."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest
from django.http import HttpRequest
from django.middleware.gzip import GZipMiddleware
from django.test import override_settings

from fastrag_site import shutdown, sse
from fastrag_site.streaming import EventStreamResponse


class Source:
    """A source that records its steps; it waits for `go` before each frame but the first."""

    def __init__(self, *frames: bytes, waits: bool = False) -> None:
        self.frames, self.waits = frames, waits
        self.steps: list[str] = []
        self.go = asyncio.Event()
        self.tasks: set[asyncio.Task[Any] | None] = set()

    async def run(self) -> AsyncGenerator[bytes, None]:
        self.steps.append("start")
        self.tasks.add(asyncio.current_task())
        try:
            for number, frame in enumerate(self.frames):
                if self.waits and number:
                    await self.go.wait()
                    self.go.clear()
                self.steps.append(frame.decode())
                self.tasks.add(asyncio.current_task())
                yield frame
        except GeneratorExit:
            self.steps.append("exit")
            raise
        except asyncio.CancelledError:
            self.steps.append("cancelled")
            raise
        finally:
            self.tasks.add(asyncio.current_task())
            self.steps.append("closed")


async def test_frames_come_in_order_and_the_source_is_closed_at_the_end() -> None:
    source = Source(b"a", b"b")
    assert [frame async for frame in EventStreamResponse(source.run())] == [b"a", b"b"]
    assert source.steps == ["start", "a", "b", "closed"]


async def test_the_source_runs_and_closes_in_one_task_that_is_not_the_readers() -> None:
    source = Source(b"a", b"b")
    async with aclosing(aiter(EventStreamResponse(source.run()))) as frames:
        await anext(frames)
    assert len(source.tasks) == 1
    assert asyncio.current_task() not in source.tasks


async def test_a_frame_is_made_only_when_the_one_before_was_taken() -> None:
    source = Source(b"a", b"b")
    async with aclosing(aiter(EventStreamResponse(source.run()))) as frames:
        assert await anext(frames) == b"a"
        await asyncio.sleep(0)
        assert source.steps == ["start", "a"]
    assert source.steps == ["start", "a", "exit", "closed"]


async def test_a_source_that_waits_is_cancelled_before_the_close_returns() -> None:
    source = Source(b"a", b"b", waits=True)
    async with aclosing(aiter(EventStreamResponse(source.run(), keepalive=0.01))) as frames:
        assert await anext(frames) == b"a"
        assert await anext(frames) == sse.KEEP_ALIVE
    assert source.steps == ["start", "a", "cancelled", "closed"]


async def test_keep_alives_fill_silences_and_lose_nothing() -> None:
    source = Source(b"a", b"b", waits=True)
    response = EventStreamResponse(source.run(), keepalive=0.01)
    seen = []
    async for frame in response:
        seen.append(frame)
        if seen.count(sse.KEEP_ALIVE) == 3:
            source.go.set()
    assert seen[:4] == [b"a", *[sse.KEEP_ALIVE] * 3]
    assert [frame for frame in seen if frame != sse.KEEP_ALIVE] == [b"a", b"b"]


async def test_the_last_cleanup_may_await() -> None:
    settled = []

    async def source() -> AsyncGenerator[bytes, None]:
        try:
            yield b"a"
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.01)
            settled.append(True)

    async with aclosing(aiter(EventStreamResponse(source(), keepalive=0.01))) as frames:
        assert [await anext(frames), await anext(frames)] == [b"a", sse.KEEP_ALIVE]
    assert settled == [True]


async def test_an_error_of_the_source_reaches_the_server() -> None:
    async def source() -> AsyncGenerator[bytes, None]:
        yield b"a"
        raise RuntimeError("broken")

    frames = aiter(EventStreamResponse(source()))
    assert await anext(frames) == b"a"
    with pytest.raises(RuntimeError, match="broken"):
        await anext(frames)


async def test_an_error_while_closing_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def source() -> AsyncGenerator[bytes, None]:
        try:
            yield b"a"
            yield b"b"
        finally:
            raise RuntimeError("cannot close")

    async with aclosing(aiter(EventStreamResponse(source()))) as frames:
        await anext(frames)
    assert [record.levelno for record in caplog.records] == [logging.ERROR]


async def test_middleware_that_wraps_the_content_leaves_the_source_closable() -> None:
    source = Source(b"a", b"b")
    response = EventStreamResponse(source.run())

    async def wrapped(content: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        async for part in content:
            yield part.upper()

    response.streaming_content = wrapped(response.streaming_content)  # type: ignore[arg-type]
    async with aclosing(aiter(response)) as frames:
        assert await anext(frames) == b"A"
    assert source.steps == ["start", "a", "exit", "closed"]


def test_compression_middleware_leaves_a_stream_alone() -> None:
    request = HttpRequest()
    request.META["HTTP_ACCEPT_ENCODING"] = "gzip"
    response = EventStreamResponse(Source(b"a").run())
    processed = GZipMiddleware(lambda _: response).process_response(request, response)
    assert processed["Content-Encoding"] == "identity"
    assert response.getvalue() == b"a"


async def test_a_response_that_nobody_reads_starts_and_closes_its_source() -> None:
    source = Source(b"a", b"b")
    EventStreamResponse(source.run()).close()
    for _ in range(5):
        await asyncio.sleep(0)
    assert source.steps == ["start", "a", "exit", "closed"]


@pytest.mark.django_db
def test_a_response_that_nobody_reads_does_so_without_a_loop_too() -> None:
    source = Source(b"a", b"b")
    EventStreamResponse(source.run()).close()
    assert source.steps == ["start", "a", "exit", "closed"]


async def test_a_reader_that_leaves_before_the_first_step_has_the_source_started_and_closed() -> (
    None
):
    source = Source(b"a", b"b")
    response = EventStreamResponse(source.run())
    reader = asyncio.create_task(anext(aiter(response)))
    await asyncio.sleep(0)
    reader.cancel()
    await asyncio.wait((reader,))
    assert source.steps == ["start", "a", "exit", "closed"]


async def test_closing_a_read_response_does_nothing_more() -> None:
    source = Source(b"a")
    response = EventStreamResponse(source.run())
    assert [frame async for frame in response] == [b"a"]
    response.close()
    await asyncio.sleep(0)
    assert source.steps == ["start", "a", "closed"]


def test_it_can_be_read_synchronously_step_by_step() -> None:
    source = Source(b"a", b"b")
    frames = iter(EventStreamResponse(source.run()))
    assert next(frames) == b"a"
    assert source.steps == ["start", "a"]
    frames.close()  # type: ignore[attr-defined]
    assert source.steps == ["start", "a", "exit", "closed"]


async def test_draining_closes_a_source_that_goes_on_after_the_grace_time() -> None:
    source = Source(b"a", b"b", waits=True)
    with override_settings(FASTRAG={"SHUTDOWN_GRACE_SECONDS": 0.01}):
        frames = aiter(EventStreamResponse(source.run()))
        assert await anext(frames) == b"a"
        shutdown.begin()
        assert await anext(frames, None) is None
    assert source.steps == ["start", "a", "cancelled", "closed"]


async def test_a_source_may_end_by_itself_while_draining() -> None:
    stop = asyncio.Event()

    async def source() -> AsyncGenerator[bytes, None]:
        with shutdown.told(stop.set):
            yield b"a"
            await stop.wait()
            yield b"end"

    frames = aiter(EventStreamResponse(source()))
    assert await anext(frames) == b"a"
    shutdown.begin()
    assert [frame async for frame in frames] == [b"end"]
